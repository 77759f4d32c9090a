#pragma once
#include <bit>
#include <cstdint>

namespace voussoir {

/// The unknowns of a node, as a set of indices into a model's list of names. The node's equations are in the order of
/// these indices: `slot` converts an unknown to the place of its equation among those of the node.
class UnknownSet {
 public:
  static constexpr int most = 32;  ///< unknowns that a model can have

  constexpr UnknownSet() = default;
  /// The first `count` unknowns of the list.
  static constexpr UnknownSet first(int count) {
    UnknownSet set;
    for (int unknown = 0; unknown < count; ++unknown) set.add(unknown);
    return set;
  }

  constexpr void add(int unknown) { bits_ |= 1u << unknown; }
  constexpr void add(UnknownSet other) { bits_ |= other.bits_; }
  constexpr bool has(int unknown) const { return (bits_ >> unknown & 1u) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int count() const { return std::popcount(bits_); }
  /// Whether it consists of the first unknowns of the list, so that slots and indices are the same.
  constexpr bool is_first_few() const { return (bits_ & (bits_ + 1)) == 0; }
  /// Which of the node's equations belongs to an unknown that it has.
  constexpr int slot(int unknown) const { return std::popcount(bits_ & ((1u << unknown) - 1)); }
  /// The unknown whose equation is at a slot.
  constexpr int unknown(int slot) const {
    std::uint32_t rest = bits_;
    for (; slot > 0; --slot) rest &= rest - 1;
    return std::countr_zero(rest);
  }
  constexpr std::uint32_t bits() const { return bits_; }

  friend constexpr bool operator==(UnknownSet, UnknownSet) = default;

 private:
  std::uint32_t bits_ = 0;
};

}  // namespace voussoir
