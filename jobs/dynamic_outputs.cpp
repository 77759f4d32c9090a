#include <voussoir/jobs/detail/dynamic_outputs.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>

namespace voussoir::detail {
namespace {

/// Files for viewers, unless somebody says how many.
constexpr double usual_states = 100;

}  // namespace

std::vector<double> times_within(std::vector<double> all, const DynamicTimes& times) {
  std::sort(all.begin(), all.end());
  std::vector<double> list;
  const double near = 1e-9 * times.increment;
  for (const double time : all)
    if (time > near && time < times.period - near && (list.empty() || time > list.back() + near)) list.push_back(time);
  return list;
}

DynamicOutputs::DynamicOutputs(const JobStep& step, const DynamicStep& request) : step_(step), request_(request) {
  const DynamicTimes& times = request.times;
  every_ = request.states.every;
  const double increments = std::ceil(times.period / times.increment * (1 - 1e-9));
  if (every_ > 0 || !request.states.times.empty() || request.states.change > 0) return;
  if (request.states.interval > 0) {
    spacing_ = next_ = request.states.interval;
    return;
  }
  if (times.automatic) {
    spacing_ = times.period / usual_states;
    return;
  }
  every_ = std::max(1, static_cast<int>(std::ceil(increments / usual_states)));
  if (every_ > 1)
    note_ = "files for viewers have every " + std::to_string(every_) + " of " + short_number(increments, 12) +
            " increments; choose others by *NODE FILE, FREQUENCY=N or TIME POINTS= in a deck, \"states_every\" in "
            "a job file";
}

std::vector<double> DynamicOutputs::targets() const {
  std::vector<double> all = request_.states.times;
  for (const PrintRequest& print : step_.prints) all.insert(all.end(), print.times.begin(), print.times.end());
  return times_within(std::move(all), request_.times);
}

bool DynamicOutputs::same_time(double a, double b) const { return std::abs(a - b) <= 1e-9 * request_.times.increment; }

bool DynamicOutputs::listed(const std::vector<double>& times, double time) const {
  return std::any_of(times.begin(), times.end(), [&](double t) { return same_time(t, time); });
}

void DynamicOutputs::decide(std::int64_t increment, double time, StepState& state) {
  const bool last = is_last(time);
  if (!request_.states.times.empty()) {
    state.for_viewers = listed(request_.states.times, time);
  } else if (every_ > 0) {
    state.for_viewers = last || increment % every_ == 0;
  } else if (request_.states.change > 0) {
    state.for_viewers = last;  // or as the recorder finds it
  } else {
    state.for_viewers = last || time >= next_ - 1e-9 * spacing_;
    while (time >= next_ - 1e-9 * spacing_) next_ += spacing_;
  }
  for (const PrintRequest& print : step_.prints)
    state.prints.push_back(!print.times.empty() ? listed(print.times, time)
                                                : last || increment % std::max(print.every, 1) == 0);
}

}  // namespace voussoir::detail
