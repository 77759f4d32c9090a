#include <voussoir/framework/io/deck/detail/parse/set_store.hpp>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace voussoir::deck {
namespace {

using Range = SetStore::Range;
using Ids = std::vector<Id>::const_iterator;

// A short deck can ask for sets that fill any memory, by naming one large set in each of very many.
constexpr std::size_t members_for_free = 5'000'000;
constexpr std::size_t memberships_each = 200;  // of a node or an element
constexpr std::size_t copies_each = 20;        // of the largest set of numbers that are no ranges
constexpr std::size_t most_work = 200'000'000;

Error too_many(std::size_t most) {
  return {ErrorCode::bad_input, "the sets of the deck contain more than " + std::to_string(most) +
                                    " members in total, far more than the model; does a large set occur in every "
                                    "other one?"};
}

void sort_unique(std::vector<Id>& ids) {
  if (!std::is_sorted(ids.begin(), ids.end())) std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

/// Members of a range with a step above 1: those that exist are looked at, or those that the range names, whichever
/// are fewer.
void add_steps(const Range& range, Ids begin, Ids end, std::vector<Id>& ids, std::size_t& work) {
  const auto existing = static_cast<std::size_t>(end - begin);
  const Id last = std::min(range.last, *(end - 1));
  const std::size_t named = static_cast<std::size_t>((last - range.first) / range.step) + 1;
  work += std::min(existing, named);
  if (work > most_work)
    throw Error(ErrorCode::bad_input,
                "the sets of the deck have too many ranges with an increment: list their members");
  if (existing <= named) {
    for (; begin != end; ++begin)
      if ((*begin - range.first) % range.step == 0) ids.push_back(*begin);
    return;
  }
  Id id = range.first;
  for (std::size_t k = 0; k < named; ++k, id += k < named ? range.step : 0) {
    begin = std::lower_bound(begin, end, id);
    if (*begin == id) ids.push_back(id);
  }
}

/// Puts overlapping ranges of GENERATE into one, so that wide ones given many times cost no more than once.
std::vector<Range> merged(std::vector<Range> ranges) {
  const auto same_class = [](const Range& range) {
    return std::tuple(range.listed, range.step, range.first % range.step);
  };
  std::sort(ranges.begin(), ranges.end(), [&](const Range& a, const Range& b) {
    return std::tuple(same_class(a), a.first, a.last) < std::tuple(same_class(b), b.first, b.last);
  });
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (!range.listed && !result.empty() && same_class(result.back()) == same_class(range) &&
        range.first <= result.back().last)
      result.back().last = std::max(result.back().last, range.last);
    else
      result.push_back(range);
  }
  return result;
}

}  // namespace

void SetStore::Pieces::add(Id id) {
  if (!ranges.empty() && ranges.back().listed && ranges.back().last < id && id - ranges.back().last == 1)
    ranges.back().last = id;
  else
    ranges.push_back({id, id, 1, true});
}

void SetStore::add_all(Pieces& set, const Pieces& other) {
  if (&other == &set) return;
  copied_ += other.ranges.size();
  largest_ = std::max(largest_, other.ranges.size());
  if (const std::size_t most = members_for_free + copies_each * largest_; copied_ > most) throw too_many(most);
  set.ranges.insert(set.ranges.end(), other.ranges.begin(), other.ranges.end());
  // Sets of sets of sets would otherwise double at every turn.
  if (set.ranges.size() > set.compact_at_) {
    std::sort(set.ranges.begin(), set.ranges.end());
    set.ranges.erase(std::unique(set.ranges.begin(), set.ranges.end()), set.ranges.end());
    set.compact_at_ = 2 * set.ranges.size() + 1024;
  }
}

SetStore::Pieces& SetStore::at(const std::string& name, Place place) {
  const auto [entry, is_new] = sets_.try_emplace(name);
  if (is_new) entry->second.place = place;
  return entry->second;
}

const SetStore::Pieces* SetStore::find(std::string_view name) const {
  const auto found = sets_.find(name);
  return found == sets_.end() ? nullptr : &found->second;
}

std::vector<std::string> SetStore::names() const {
  std::vector<std::string> result;
  for (const auto& [name, pieces] : sets_) result.push_back(name);
  return result;
}

void SetStore::clip(const std::string& prefix, Id last) {
  for (auto set = sets_.lower_bound(prefix); set != sets_.end() && set->first.starts_with(prefix); ++set)
    for (Range& range : set->second.ranges)
      if (!range.listed) range.last = std::max(range.first, std::min(range.last, last));
}

std::optional<SetStore::Unsettled> SetStore::settle() {
  // Depth first, by hand: a chain of sets may be as long as the deck.
  struct Frame {
    Named<Pieces>::iterator set;
    std::size_t next = 0;
  };
  std::vector<Frame> stack;
  std::unordered_set<std::string_view> on_stack;
  for (auto start = sets_.begin(); start != sets_.end(); ++start) {
    if (start->second.later.empty()) continue;
    stack.push_back({start});
    on_stack.insert(start->first);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      Pieces& set = frame.set->second;
      if (frame.next == set.later.size()) {
        set.later.clear();
        on_stack.erase(frame.set->first);
        stack.pop_back();
        continue;
      }
      const auto& [name, place] = set.later[frame.next];
      const auto member = sets_.find(name);
      if (member == sets_.end() || (member != frame.set && on_stack.contains(member->first)))
        return Unsettled{frame.set->first, name, place};
      if (member != frame.set && !member->second.later.empty()) {
        stack.push_back({member});
        on_stack.insert(member->first);
        continue;
      }
      add_all(set, member->second);
      ++frame.next;
    }
  }
  return std::nullopt;
}

SetStore::Resolved SetStore::resolve(const std::vector<Id>& existing) const {
  Resolved resolved;
  const std::size_t most = members_for_free + memberships_each * existing.size();
  std::size_t total = 0, work = 0;
  for (const auto& [name, pieces] : sets_) {
    std::vector<Id>& ids = resolved.sets[name];
    Resolved::Missing missing{name, pieces.place, 0, 0};
    for (const Range& range : merged(pieces.ranges)) {
      const auto begin = std::lower_bound(existing.begin(), existing.end(), range.first);
      const auto end = std::upper_bound(begin, existing.end(), range.last);
      const std::size_t before = ids.size();
      if (range.step == 1)
        ids.insert(ids.end(), begin, end);
      else if (begin != end)
        add_steps(range, begin, end, ids, work);
      const auto asked = static_cast<std::size_t>(range.last - range.first) + 1;
      if (range.listed && ids.size() - before < asked) {
        if (missing.count == 0) {
          missing.first = range.first;
          for (auto id = begin; id != end && *id == missing.first; ++id) ++missing.first;
        }
        missing.count += asked - (ids.size() - before);
      }
      if (ids.size() > 2 * existing.size() + 1024) sort_unique(ids);
    }
    sort_unique(ids);
    if (missing.count > 0) resolved.missing.push_back(missing);
    total += ids.size();
    if (total > most) throw too_many(most);
  }
  return resolved;
}

}  // namespace voussoir::deck
