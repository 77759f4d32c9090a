#pragma once

// Clusters of elements as kernels see them. Compiled by g++, nvcc and NVRTC: nothing of the standard library here.

namespace voussoir::cuda {

/// Elements of a cluster, by the unknowns of each: its vectors have to find room on the chip.
constexpr int cluster_size(int dofs) { return dofs <= 32 ? 128 : 64; }

/// Columns that a product does at once, at most.
inline constexpr int most_cluster_columns = 4;

/// Vectors of an element that have room on the chip, in a product with so many columns.
constexpr int cluster_vectors(int dofs, int width) { return width > 1 && dofs <= 32 ? 2 : 1; }

/// Eight numbers of 16 bits in one access, the first in the low half of words[0].
struct alignas(16) ClusterWords {
  unsigned words[4];
};
/// One of these numbers, alone.
#if defined(VSR_CUDA_EMULATED)
using ClusterNumber __attribute__((may_alias)) = unsigned short;
#else
using ClusterNumber = unsigned short;
#endif

/// A node of a cluster.
struct alignas(8) ClusterNode {
  int equation;  ///< its first one; −1: there is no such node
  int target;    ///< place among the partial sums, or `straight` or `nowhere`

  static constexpr int straight = -1;  ///< no other cluster has the node: its sum is the result
  static constexpr int nowhere = -2;   ///< another device's row
};

/// Clusters of one batch, and the product that is asked for. A block of `size` threads does one cluster, a thread per
/// element. All clusters have the same room for everything, so that a block knows where its own begins and all its
/// loads can be on their way at once: cluster c has the places c · size + i of elements and c · most_nodes + n of
/// nodes.
struct ClusterView {
  int size = 0;                       ///< elements of a cluster, and threads of a block; a multiple of 32
  int most_nodes = 0;                 ///< more than any cluster has; a multiple of 16
  int count = 0;                      ///< elements
  const int* element = nullptr;       ///< of each place, ascending within a cluster
  const int* record = nullptr;        ///< of parameters, of each place; null: record 0 for all
  const int* node_count = nullptr;    ///< of each cluster, with places that have no node
  const ClusterNode* node = nullptr;  ///< of each place
  /// Of each place of a node: where its incidences begin among those of the cluster, those of the next node following;
  /// bit 16 + i: equation i of the node is not free.
  const unsigned* first = nullptr;
  const double* position = nullptr;  ///< coordinate k of node n at (3 · c + k) · most_nodes + n
  /// Which node of which element: node · size + place of the element in the cluster, elements ascending. Room for
  /// nodes · size numbers.
  const ClusterWords* incidence = nullptr;
  /// Where the nodes of an element stand in its cluster: nodes 8 · w … of element i at (c · words + w) · size + i.
  const ClusterWords* corner = nullptr;

  // The first column of a product; each of those that are done with it stands so many numbers further on.
  int width = 1;
  const double* x = nullptr;
  double* y = nullptr;
  int x_columns = 1, x_column = 0;
  long long x_step = 1;
  int columns = 1, column = 0;  ///< of y, where the next column is the next number
  int conditions = 0;           ///< 1: entries of x that are not free count as zero, and y takes them over
  double* partial = nullptr;    ///< sums of the nodes that clusters share; null: these nodes add to y in any order
  int partial_components = 0;   ///< room of each
  long long partial_step = 0;
  double* dot = nullptr;  ///< null, or a share of x·y for every cluster
  int dot_step = 0;
};

}  // namespace voussoir::cuda
