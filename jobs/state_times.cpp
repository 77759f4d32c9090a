#include <voussoir/jobs/detail/state_times.hpp>

#include <algorithm>
#include <cmath>

namespace voussoir::detail {
namespace {

/// Viewers are asked to open no more files than this, unless somebody says so.
constexpr std::size_t most_states = 100;

/// The times of the list within rounding of this one are the same time.
bool same(double a, double b, double increment) { return std::abs(a - b) <= 1e-9 * increment; }

}  // namespace

bool StateTimes::Use::any() const {
  return for_viewers || std::any_of(prints.begin(), prints.end(), [](char wanted) { return wanted != 0; });
}

StateTimes state_times(const JobStep& step, const ModalDynamicStep& request) {
  StateTimes all;
  // Increments are counted, so that a period of so many of them has no short one at its end.
  const auto whole = static_cast<std::size_t>(std::floor(request.period / request.increment * (1 + 1e-9)));
  std::vector<std::pair<double, std::size_t>> marks;  // time, number of the increment; 0: not an increment
  for (std::size_t k = 1; k <= whole; ++k) marks.emplace_back(static_cast<double>(k) * request.increment, k);
  if (marks.empty() || !same(marks.back().first, request.period, request.increment))
    marks.emplace_back(request.period, whole + 1);
  const std::size_t increments = marks.size();
  for (const PrintRequest& print : step.prints)
    for (const double time : print.times) marks.emplace_back(time, 0);
  for (const double time : request.states.times) marks.emplace_back(time, 0);
  std::stable_sort(marks.begin(), marks.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t every = static_cast<std::size_t>(std::max(request.states.every, 1));
  if (request.states.every == 0 && request.states.times.empty() && increments > most_states) {
    every = (increments + most_states - 1) / most_states;
    all.notes.push_back("files for viewers have every " + std::to_string(every) + " of " + std::to_string(increments) +
                        " increments; choose others by *NODE FILE, FREQUENCY=N or TIME POINTS= in a deck, "
                        "\"states_every\" in a job file");
  }
  const auto listed = [&](const std::vector<double>& times, double time) {
    return std::any_of(times.begin(), times.end(), [&](double t) { return same(t, time, request.increment); });
  };
  for (std::size_t i = 0; i < marks.size();) {
    std::size_t end = i, increment = 0;
    for (; end < marks.size() && same(marks[end].first, marks[i].first, request.increment); ++end)
      increment = std::max(increment, marks[end].second);
    const double time = marks[i].first;
    const auto wanted = [&](std::size_t step_of, const std::vector<double>& times) {
      if (!times.empty()) return listed(times, time);
      return increment > 0 && (increment % step_of == 0 || increment == increments);
    };
    StateTimes::Use use;
    use.for_viewers = wanted(every, request.states.times);
    for (const PrintRequest& print : step.prints)
      use.prints.push_back(wanted(static_cast<std::size_t>(std::max(print.every, 1)), print.times));
    all.times.push_back(time);
    all.uses.push_back(std::move(use));
    i = end;
  }
  return all;
}

}  // namespace voussoir::detail
