#include <voussoir/framework/response/accelerogram.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir {

Accelerogram::Accelerogram(std::vector<double> times, std::vector<double> values, const std::string& name)
    : times_(std::move(times)), values_(std::move(values)) {
  if (times_.size() != values_.size())
    throw Error(ErrorCode::bad_input,
                std::to_string(times_.size()) + " times but " + std::to_string(values_.size()) +
                    " values: give one value for each time",
                name);
  if (times_.size() < 2) throw Error(ErrorCode::bad_input, "an accelerogram needs at least two points", name);
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const auto fail = [&](const std::string& text) {
      throw Error(ErrorCode::bad_input, "point " + std::to_string(i + 1) + ": " + text, name);
    };
    if (!std::isfinite(times_[i]) || !std::isfinite(values_[i])) fail("time and value must be finite numbers");
    if (i > 0 && !(times_[i] > times_[i - 1]))
      fail("the time " + short_number(times_[i], 9) + " is not after the previous one; times must increase");
  }
}

Accelerogram Accelerogram::evenly_spaced(double step, std::vector<double> values, double start,
                                         const std::string& name) {
  if (!(step > 0) || !std::isfinite(step))
    throw Error(ErrorCode::bad_input, "the time step must be positive, but is " + short_number(step, 9), name);
  // Products, not sums: the n-th time is not off by n roundings.
  std::vector<double> times(values.size());
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = start + static_cast<double>(i) * step;
  return Accelerogram(std::move(times), std::move(values), name);
}

double Accelerogram::at(double time) const {
  if (time < times_.front() || time > times_.back()) return 0;
  const auto high = std::upper_bound(times_.begin(), times_.end(), time);
  if (high == times_.end()) return values_.back();
  const auto i = static_cast<std::size_t>(high - times_.begin());
  return values_[i - 1] + (time - times_[i - 1]) / (times_[i] - times_[i - 1]) * (values_[i] - values_[i - 1]);
}

Peak Accelerogram::peak() const {
  Peak peak{values_.front(), times_.front()};
  for (std::size_t i = 1; i < values_.size(); ++i)
    if (std::abs(values_[i]) > std::abs(peak.value)) peak = {values_[i], times_[i]};
  return peak;
}

Accelerogram Accelerogram::scaled(double factor) const {
  std::vector<double> values = values_;
  for (double& value : values) value *= factor;
  return Accelerogram(times_, std::move(values), "accelerogram scaled by " + short_number(factor, 9));
}

Accelerogram Accelerogram::shifted(double delay) const {
  std::vector<double> times = times_;
  for (double& time : times) time += delay;
  return Accelerogram(std::move(times), values_, "accelerogram shifted by " + short_number(delay, 9));
}

Amplitude Accelerogram::amplitude() const {
  std::vector<Amplitude::Point> points;
  points.reserve(times_.size() + 2);
  if (values_.front() != 0) points.emplace_back(times_.front(), 0.0);
  for (std::size_t i = 0; i < times_.size(); ++i) points.emplace_back(times_[i], values_[i]);
  if (values_.back() != 0) points.emplace_back(times_.back(), 0.0);
  return Amplitude(std::move(points), "accelerogram");
}

}  // namespace voussoir
