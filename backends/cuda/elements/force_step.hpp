#pragma once
#include <voussoir/backends/cuda/elements/cluster_view.hpp>

// What kernels of internal forces and of explicit steps are given. Compiled by g++, nvcc and NVRTC: nothing of the
// standard library here.

namespace voussoir::cuda {

/// Unknowns of the largest element that a thread computes alone.
inline constexpr int most_force_dofs = 32;

/// Numbers in shared memory that an element may take: its forces, or the coefficients of a Hex8 from which they are
/// computed (elements/point/compact_forces.hpp).
constexpr int most_force_numbers(int nodes, int components) {
  const int dofs = nodes * components, coefficients = nodes == 8 ? 7 * (3 + components) : 0;
  return dofs > coefficients ? dofs : coefficients;
}

/// From a node to the next in shared memory, in numbers: odd, so that 16 nodes whose seats differ modulo 16 lie in
/// different banks.
constexpr int seat_width(int components) { return components | 1; }

/// What a cluster has.
struct alignas(16) ForceHead {
  int nodes;                      ///< how many
  int seats;                      ///< of its nodes in shared memory; there may be empty ones
  int turns;                      ///< in which its elements add their forces
  short first_end, second_begin;  ///< turns of the first half of its places end before, those of the second begin with
};

/// Clusters of one batch, arranged for forces. Elements of a cluster that have a node in common add their forces in
/// different turns, so that all of one turn can add at once and every sum has a fixed order; or, where that would take
/// more time, nodes look up the forces of their elements. Nodes have seats in shared memory that are chosen so
/// that the elements of half a warp seldom meet in a bank. Cluster c has the places c · size + i of elements and
/// c · most_nodes + n of nodes.
struct ForceView {
  int size = 0;                             ///< elements of a cluster; a multiple of 32
  int most_nodes = 0;                       ///< seats, at least as many as any cluster has nodes; a multiple of 16
  int count = 0;                            ///< elements
  int numbers = 0;                          ///< of an element in shared memory
  const ForceHead* head = nullptr;          ///< of each cluster
  const int* element = nullptr;             ///< of each place
  const int* record = nullptr;              ///< of parameters, of each place; null: record 0 for all
  const ClusterNode* node = nullptr;        ///< of each place, ascending
  const unsigned short* seat = nullptr;     ///< of each place of a node
  const double* position = nullptr;         ///< coordinate k at seat s at 3 · (c · most_nodes + s) + k
  const ClusterWords* corner = nullptr;     ///< seats of the nodes of an element, as ClusterView::corner
  const unsigned char* turn = nullptr;      ///< of each place of an element; null: nodes look up forces
  const unsigned short* first = nullptr;    ///< then, of each place of a node: where its incidences begin
  const ClusterWords* incidence = nullptr;  ///< as ClusterView::incidence, in the order of the nodes
};

/// The time at a state, as kernels of recorded steps find it on the device.
struct StepClock {
  double time = 0;    ///< at the state
  double step = 0;    ///< size of the step that led there
  long long row = 0;  ///< number of that step among those that were asked for
};

/// What a kernel of internal forces is given besides a job and clusters.
struct ForceStep {
  const StepClock* clock = nullptr;
  const double* u = nullptr;
  double* internal = nullptr;  ///< forces at nodes that no other cluster has
  double* partial = nullptr;   ///< those at the others, sums of a cluster
  int partial_components = 0;  ///< room of each
  /// Committed, in groups of 32 elements in the order of the clusters' places; a kernel that advances puts the new one
  /// there. Null where the elements have none.
  double* history = nullptr;
};

}  // namespace voussoir::cuda
