#include <voussoir/framework/response/amplitude.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir {
namespace {

double between(const Amplitude::Point& low, const Amplitude::Point& high, double time) {
  return low.second + (time - low.first) / (high.first - low.first) * (high.second - low.second);
}

}  // namespace

Amplitude::Amplitude(std::vector<Point> points, const std::string& name) : points_(std::move(points)) {
  const auto fail = [&](std::size_t i, const std::string& text) {
    throw Error(ErrorCode::bad_input, "point " + std::to_string(i + 1) + ": " + text, name);
  };
  if (points_.empty()) throw Error(ErrorCode::bad_input, "there are no points: give at least one (time, value)", name);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (!std::isfinite(points_[i].first) || !std::isfinite(points_[i].second))
      fail(i, "time and value must be finite numbers");
    if (i > 0 && points_[i].first < points_[i - 1].first)
      fail(i, "the time " + short_number(points_[i].first, 9) + " is before the previous one; times must increase");
    if (i > 1 && points_[i].first == points_[i - 2].first)
      fail(i, "a third point at the time " + short_number(points_[i].first, 9) + "; a jump has two");
  }
}

double Amplitude::at(double time) const {
  const auto high =
      std::upper_bound(points_.begin(), points_.end(), time, [](double t, const Point& p) { return t < p.first; });
  if (high == points_.begin()) return points_.front().second;
  if (high == points_.end()) return points_.back().second;
  return between(*(high - 1), *high, time);
}

double Amplitude::before(double time) const {
  const auto high =
      std::lower_bound(points_.begin(), points_.end(), time, [](const Point& p, double t) { return p.first < t; });
  if (high == points_.begin()) return points_.front().second;
  if (high == points_.end()) return points_.back().second;
  return high->first == time ? high->second : between(*(high - 1), *high, time);
}

}  // namespace voussoir
