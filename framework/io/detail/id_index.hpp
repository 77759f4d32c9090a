#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <voussoir/framework/domain/id.hpp>

namespace voussoir {

/// Finds places by ids: a plain table where the ids lie close together, as they mostly do, and a sorted list otherwise,
/// so that a file that numbers its nodes 1 and 10¹² costs no memory. Both take a few bytes per id, where a hash table
/// takes fifty. Of equal ids the last one counts.
class IdIndex {
 public:
  IdIndex() = default;
  explicit IdIndex(std::span<const Id> ids);

  /// The place of an id, or −1.
  std::int32_t find(Id id) const {
    if (table_.empty()) return find_sorted(id);
    const std::uint64_t offset = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(first_);
    return offset < table_.size() ? table_[offset] : -1;
  }
  /// An id that is there twice; nothing where all differ.
  std::optional<Id> duplicate() const { return duplicate_; }

 private:
  std::int32_t find_sorted(Id id) const;

  Id first_ = 0;
  std::vector<std::int32_t> table_;
  std::vector<std::pair<Id, std::int32_t>> sorted_;
  std::optional<Id> duplicate_;
};

}  // namespace voussoir
