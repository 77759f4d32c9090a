#pragma once
#include <cstdint>

#include <voussoir/backends/detail/any_side.hpp>

namespace voussoir::detail {

/// Local equations of the unknowns of a batch of elements, as plain arrays of the side that reads them.
struct ElementEquations {
  const std::int32_t* first = nullptr;  ///< first equation of each local node
  const std::uint8_t* slot = nullptr;   ///< ElementBatch::slot, or null: components are the node's first equations
  int components = 0;

  /// Which of a node's equations belongs to component `c` of the elements.
  VSR_ANY_SIDE int slot_of(std::int32_t node, int c) const {
    return slot ? slot[static_cast<std::int64_t>(node) * components + c] : c;
  }
  VSR_ANY_SIDE std::int32_t of(std::int32_t node, int c) const { return first[node] + slot_of(node, c); }
};

/// Which of a node's equations belongs to an unknown, or −1 where it lacks it: `set` points to the bits of its
/// UnknownSet, or is null where it has the first `count`.
VSR_ANY_SIDE inline int slot_of_unknown(const std::uint32_t* set, int count, int unknown) {
  if (!set) return unknown < count ? unknown : -1;
  if ((*set >> unknown & 1u) == 0) return -1;
  int slot = 0;
  for (int other = 0; other < unknown; ++other) slot += static_cast<int>(*set >> other & 1u);
  return slot;
}

}  // namespace voussoir::detail
