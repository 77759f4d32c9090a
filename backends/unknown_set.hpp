#pragma once
#include <bit>
#include <cstdint>

namespace voussoir {

/// The unknowns of a node: a set of indices into the model's list of unknown names. The node's equations are in the
/// order of these indices; slot() is the position of an unknown's equation among those of the node.
class UnknownSet {
 public:
  static constexpr int most = 32;  ///< largest number of unknown names in a model

  constexpr UnknownSet() = default;
  /// The first `count` unknowns of the list.
  static constexpr UnknownSet first(int count) {
    UnknownSet set;
    for (int unknown = 0; unknown < count; ++unknown) set.add(unknown);
    return set;
  }

  constexpr void add(int unknown) { bits_ |= 1u << unknown; }                     ///< adds an index below `most`
  constexpr void add(UnknownSet other) { bits_ |= other.bits_; }                  ///< adds all unknowns of another set
  constexpr bool has(int unknown) const { return (bits_ >> unknown & 1u) != 0; }  ///< whether an index is in the set
  constexpr bool empty() const { return bits_ == 0; }                             ///< true for a node without unknowns
  constexpr int count() const { return std::popcount(bits_); }                    ///< equations of the node
  /// Whether the set consists of the first unknowns of the list, so that slots equal indices.
  constexpr bool is_first_few() const { return (bits_ & (bits_ + 1)) == 0; }
  /// The position, from 0, of an unknown's equation among those of the node. The set must contain the unknown.
  constexpr int slot(int unknown) const { return std::popcount(bits_ & ((1u << unknown) - 1)); }
  /// The unknown at a slot below count(): the inverse of slot().
  constexpr int unknown(int slot) const {
    std::uint32_t rest = bits_;
    for (; slot > 0; --slot) rest &= rest - 1;
    return std::countr_zero(rest);
  }
  constexpr std::uint32_t bits() const { return bits_; }  ///< bit i is set if unknown i is in the set

  /// Whether two sets have the same unknowns.
  friend constexpr bool operator==(UnknownSet, UnknownSet) = default;

 private:
  std::uint32_t bits_ = 0;
};

}  // namespace voussoir
