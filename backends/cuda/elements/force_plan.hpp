#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/cuda/elements/clusters.hpp>
#include <voussoir/backends/cuda/elements/force_step.hpp>

namespace voussoir::cuda {

/// The clusters of a batch, arranged for kernels of forces (ForceView). Places of partial sums are those of the
/// clusters that it was made from.
struct ForcePlan {
  /// Most turns of a cluster, in the mean of a batch: with more, nodes look up the forces of their elements.
  static constexpr int most_turns = 16;

  int size = 0;  ///< elements of a cluster
  std::int32_t clusters = 0;
  std::int32_t elements = 0;
  std::int32_t most_nodes = 0;
  int nodes = 0, components = 0;      ///< of the element type
  bool looked_up = false;             ///< nodes look up forces
  const ClusterPlan* from = nullptr;  ///< whose nodes it has; must outlive it
  // As ForceView has them.
  Array<ForceHead> head;
  Array<std::int32_t> element, record;
  Array<std::uint16_t> seat;
  Array<double> position;
  Array<std::uint16_t> corner;
  Array<std::uint8_t> turn;
  Array<std::uint16_t> first, incidence;

  /// Dynamic shared memory of a kernel that takes so many numbers for an element.
  std::size_t bytes(int numbers) const;
  ForceView view(int numbers) const;
};

/// Arranges clusters for forces. `by_turns`: elements may add their forces by turns, if these are few; otherwise nodes
/// look them up.
ForcePlan make_force_plan(const std::shared_ptr<DeviceMemory>& memory, const ClusterPlan& plan, bool by_turns);

/// For each element of a cluster, in which turn it adds its forces: elements of one turn have no node in common.
/// `corner(i, a)` is node a of element i, less than `nodes`. Returns how many turns there are; 0: more than 64.
int choose_turns(std::size_t elements, std::size_t width, std::size_t nodes, std::span<const std::uint16_t> corners,
                 std::vector<std::uint8_t>& turns);

/// Seats of the nodes of a cluster in shared memory, less than `room`, a multiple of 16: those of the same corner of 16
/// elements that follow each other, from a multiple of 16 on, differ modulo 16 as far as can be. Returns the seats that
/// are needed.
int choose_seats(std::size_t elements, std::size_t width, std::size_t nodes, std::size_t room,
                 std::span<const std::uint16_t> corners, std::vector<std::uint16_t>& seats);

}  // namespace voussoir::cuda
