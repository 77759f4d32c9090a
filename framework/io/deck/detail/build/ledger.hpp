#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include <voussoir/framework/io/deck/detail/deck.hpp>

namespace voussoir::deck {

/// Something that acts: on what (`key`), since which step, how much.
struct Acting {
  std::uint64_t key = 0;
  std::int32_t step = 0;
  bool fixed = false;      ///< *BOUNDARY, FIXED
  bool imaginary = false;  ///< LOAD CASE=2; the key says so too, as both parts act side by side
  double value = 0, extra = 0;
  const AmplitudeCard* amplitude = nullptr;
  const AmplitudeCard* extra_amplitude = nullptr;  ///< of `extra`: FILM AMPLITUDE, RADIATION AMPLITUDE
  Place place;
};

/// What acts on nodes, faces or elements, as cards of one kind and later steps change it. Within a step, loads on the
/// same thing add up and supports replace each other; a later step replaces what earlier steps said of it.
class Ledger {
 public:
  enum class Repeated { adds, replaces };
  explicit Ledger(Repeated repeated = Repeated::adds) : repeated_(repeated) {}

  void clear() { acting_.clear(); }
  bool empty() const { return acting_.empty(); }
  bool follows_amplitudes() const {
    return std::any_of(acting_.begin(), acting_.end(),
                       [](const Acting& a) { return a.amplitude != nullptr || a.extra_amplitude != nullptr; });
  }
  /// Gives each entry to a function; what later cards replace may be among them unless acting() was called.
  template <class Look>
  void visit(Look&& look) const {
    for (const Acting& a : acting_) look(a);
  }
  /// Gives each entry to a function that may change anything but its key and step.
  template <class Change>
  void change(Change&& change) {
    for (Acting& a : acting_) change(a);
    settled_ = false;
  }
  void add(const Acting& acting) {
    acting_.push_back(acting);
    settled_ = false;
    // Cards may speak of the same nodes again and again; what they replace is not kept.
    if (acting_.size() > limit_) {
      settle();
      limit_ = std::max<std::size_t>(limit_, 2 * acting_.size());
    }
  }

  /// In the order of their keys; what was replaced is gone.
  const std::vector<Acting>& acting() {
    if (!settled_) settle();
    return acting_;
  }

 private:
  void settle() {
    const auto before = [](const Acting& a, const Acting& b) { return a.key < b.key; };
    std::stable_sort(acting_.begin(), acting_.end(), before);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < acting_.size();) {
      std::size_t end = i;
      while (end < acting_.size() && acting_[end].key == acting_[i].key) ++end;
      const std::int32_t latest = acting_[end - 1].step;
      std::size_t first = end - 1;
      while (repeated_ == Repeated::adds && first > i && acting_[first - 1].step == latest) --first;
      const std::size_t group = kept;
      for (; first < end; ++first) {
        // Those that follow the same amplitude become one.
        std::size_t same = group;
        while (same < kept && acting_[same].amplitude != acting_[first].amplitude) ++same;
        if (same < kept)
          acting_[same].value += acting_[first].value;
        else
          acting_[kept++] = acting_[first];
      }
      i = end;
    }
    acting_.resize(kept);
    settled_ = true;
  }

  Repeated repeated_;
  bool settled_ = true;
  std::size_t limit_ = 1u << 20;
  std::vector<Acting> acting_;
};

}  // namespace voussoir::deck
