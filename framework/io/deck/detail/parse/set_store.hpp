#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/io/deck/detail/deck.hpp>

namespace voussoir::deck {

/// Sets of nodes or elements while a deck is read. What a set holds is known only when all nodes are: a range may be
/// written far wider than the model is ("1, 1000000000"), and means those that exist.
class SetStore {
 public:
  struct Range {
    Id first, last, step;
    bool listed;  ///< one by one rather than by GENERATE: each of them should exist
    bool operator==(const Range&) const = default;
    auto operator<=>(const Range&) const = default;
  };
  struct Pieces {
    std::vector<Range> ranges;
    Place place;            ///< where the set was named first
    bool unsorted = false;  ///< generators take its members in the order of the deck
    bool open = false;      ///< more will come when the whole deck is known
    /// Sets that it holds and that were not there, or not whole, when they were named.
    std::vector<std::pair<std::string, Place>> later;

    bool is_whole() const { return later.empty() && !open; }
    void add(Id id);
    void add_range(Id first, Id last, Id step) { ranges.push_back({first, last, step, false}); }

   private:
    friend class SetStore;
    std::size_t compact_at_ = 1024;
  };

  /// The set of this name, which is made where it does not exist.
  Pieces& at(const std::string& name, Place place);
  /// Adds everything that another set holds by now.
  void add_all(Pieces& set, const Pieces& other);
  const Pieces* find(std::string_view name) const;
  std::vector<std::string> names() const;
  /// Lets no range of the sets whose names begin with `prefix` reach further than `last`.
  void clip(const std::string& prefix, Id last);
  struct Unsettled {
    std::string set, member;
    Place place;
  };
  /// Adds what was to be added later. Returns the first member that does not exist, or that holds the set itself.
  std::optional<Unsettled> settle();

  struct Resolved {
    Named<std::vector<Id>> sets;
    struct Missing {
      std::string set;
      Place place;
      Id first;  ///< the smallest that is listed and does not exist
      std::size_t count;
    };
    std::vector<Missing> missing;
  };
  /// Members of all sets. `existing` is sorted. An Error (bad_input) where the sets would hold absurdly many.
  Resolved resolve(const std::vector<Id>& existing) const;

 private:
  Named<Pieces> sets_;
  std::size_t copied_ = 0, largest_ = 0;
};

}  // namespace voussoir::deck
