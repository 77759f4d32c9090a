#include <voussoir/framework/io/detail/id_index.hpp>

#include <algorithm>

namespace voussoir {

IdIndex::IdIndex(std::span<const Id> ids) {
  if (ids.empty()) return;
  const auto [low, high] = std::minmax_element(ids.begin(), ids.end());
  first_ = *low;
  const std::uint64_t span = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(first_);
  if (span < 4 * static_cast<std::uint64_t>(ids.size()) + 1024) {
    table_.assign(span + 1, -1);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::int32_t& place = table_[static_cast<std::uint64_t>(ids[i]) - static_cast<std::uint64_t>(first_)];
      if (place >= 0 && !duplicate_) duplicate_ = ids[i];
      place = static_cast<std::int32_t>(i);
    }
    return;
  }
  sorted_.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) sorted_.emplace_back(ids[i], static_cast<std::int32_t>(i));
  std::sort(sorted_.begin(), sorted_.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end(), same); twice != sorted_.end())
    duplicate_ = twice->first;
}

std::int32_t IdIndex::find_sorted(Id id) const {
  // Past the last of this id, whatever its place, and one back.
  const auto it = std::upper_bound(sorted_.begin(), sorted_.end(), std::pair<Id, std::int32_t>{id, INT32_MAX});
  return it == sorted_.begin() || (it - 1)->first != id ? -1 : (it - 1)->second;
}

}  // namespace voussoir
