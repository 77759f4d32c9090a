#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace voussoir::job {

/// Finds shapes by their corners, whatever the order of these: faces of elements among those of a surface. Shapes with
/// the same corners may be entered many times; each is kept. Everything takes constant time on average.
template <int MaxCorners>
class CornerTable {
 public:
  using Corners = std::array<std::int32_t, MaxCorners>;

  explicit CornerTable(std::size_t count) {
    std::size_t size = 16;
    while (size < 2 * count) size *= 2;
    first_.assign(size, -1);
    entries_.reserve(count);
  }

  /// The key of a shape: its corners in ascending order, −1 where it has fewer.
  template <class CornerAt>
  static Corners key(int count, CornerAt corner_at) {
    Corners corners;
    corners.fill(-1);
    for (int i = 0; i < count; ++i) {
      const std::int32_t corner = corner_at(i);
      int at = i;
      for (; at > 0 && corners[at - 1] > corner; --at) corners[at] = corners[at - 1];
      corners[at] = corner;
    }
    return corners;
  }

  /// Enters a shape; shapes are numbered from 0 in this order.
  void add(const Corners& corners) {
    const std::size_t slot = slot_of(corners);
    entries_.push_back({corners, first_[slot]});
    first_[slot] = static_cast<std::int32_t>(entries_.size() - 1);
  }

  /// Calls `found(number)` for every shape that has these corners.
  template <class Found>
  void find(const Corners& corners, Found found) const {
    for (std::int32_t at = first_[slot_of(corners)]; at >= 0; at = entries_[at].next)
      if (entries_[at].corners == corners) found(at);
  }
  bool contains(const Corners& corners) const {
    for (std::int32_t at = first_[slot_of(corners)]; at >= 0; at = entries_[at].next)
      if (entries_[at].corners == corners) return true;
    return false;
  }

 private:
  struct Entry {
    Corners corners;
    std::int32_t next;
  };
  std::size_t slot_of(const Corners& corners) const {
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    for (const std::int32_t c : corners) {
      h = (h ^ static_cast<std::uint32_t>(c)) * 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h) & (first_.size() - 1);
  }

  std::vector<std::int32_t> first_;
  std::vector<Entry> entries_;
};

}  // namespace voussoir::job
