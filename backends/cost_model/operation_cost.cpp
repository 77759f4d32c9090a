#include <voussoir/backends/cost_model/operation_cost.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

/// Whether a measurement can be used at all.
bool is_measurement(const CostSample& s) {
  return std::isfinite(s.units) && s.units > 0 && std::isfinite(s.seconds) && s.seconds > 0 &&
         std::isfinite(s.working_set) && s.working_set >= 0;
}

/// Σ ((a + b x_i − t_i) / t_i)² / m, and its root.
double line_deviation(double a, double b, std::span<const double> x, std::span<const double> t) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = (a + b * x[i] - t[i]) / t[i];
    sum += e * e;
  }
  return std::sqrt(sum / static_cast<double>(x.size()));
}

/// The relative least-squares line with a, b ≥ 0: the free minimum where it is allowed, else the better of the two
/// lines with one coefficient.
LineFit relative_line(std::span<const double> x, std::span<const double> t) {
  double s11 = 0, s12 = 0, s22 = 0, r1 = 0, r2 = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = 1 / t[i], v = x[i] / t[i];  // the equation a u + b v = 1
    s11 += u * u;
    s12 += u * v;
    s22 += v * v;
    r1 += u;
    r2 += v;
  }
  const double determinant = s11 * s22 - s12 * s12;
  if (determinant > 1e-12 * s11 * s22) {
    const double a = (r1 * s22 - r2 * s12) / determinant, b = (r2 * s11 - r1 * s12) / determinant;
    if (a >= 0 && b >= 0) return {a, b, line_deviation(a, b, x, t)};
  }
  const LineFit constant{r1 / s11, 0, line_deviation(r1 / s11, 0, x, t)};
  const LineFit proportional{0, r2 / s22, line_deviation(0, r2 / s22, x, t)};
  return constant.deviation < proportional.deviation ? constant : proportional;
}

}  // namespace

double OperationCost::seconds_per_unit(double working_set) const {
  if (levels.empty()) return 0;
  if (working_set <= levels.front().working_set) return levels.front().seconds_per_unit;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const Level &low = levels[i - 1], &high = levels[i];
    if (working_set > high.working_set) continue;
    const double from = std::log(std::max(low.working_set, 1.0)), to = std::log(std::max(high.working_set, 1.0));
    const double share = to > from ? (std::log(std::max(working_set, 1.0)) - from) / (to - from) : 1;
    const double a = low.seconds_per_unit, b = high.seconds_per_unit;
    if (a > 0 && b > 0) return a * std::pow(b / a, share);  // also right where the time does not depend on the size
    return a + share * (b - a);
  }
  return levels.back().seconds_per_unit;
}

double OperationCost::seconds(double units, double working_set) const {
  if (!(units > 0)) return 0;
  const double work = work_seconds(units, working_set);
  return queued ? std::max(latency, work) : latency + work;
}

double OperationCost::work_seconds(double units, double working_set) const {
  return units > 0 ? std::ceil(units / width) * width * seconds_per_unit(working_set) : 0;
}

double OperationCost::streaming_rate() const { return levels.empty() ? 0 : levels.back().seconds_per_unit; }

namespace {

/// Whether the time of a level shows its rate: the work is not hidden by the latency.
bool shows_rate(const OperationCost& cost, const OperationCost::Level& level) {
  return level.units <= 0 || level.units * level.seconds_per_unit >= (cost.queued ? 1.0 : 0.5) * cost.latency;
}

}  // namespace

bool OperationCost::resolved() const { return !levels.empty() && shows_rate(*this, levels.back()); }

std::optional<double> OperationCost::cached_rate() const {
  if (!resolved()) return std::nullopt;
  double least = streaming_rate();
  for (const Level& level : levels)
    if (level.seconds_per_unit > 0 && shows_rate(*this, level)) least = std::min(least, level.seconds_per_unit);
  if (!(least < 0.9 * streaming_rate())) return std::nullopt;
  return least;
}

std::optional<double> OperationCost::cache_bytes() const {
  const auto cached = cached_rate();
  if (!cached) return std::nullopt;
  const double middle = std::sqrt(*cached * streaming_rate());
  // From the largest size down: small sizes may be slow again, where threads have little to do.
  for (std::size_t i = levels.size() - 1; i-- > 0;) {
    const Level &low = levels[i], &high = levels[i + 1];
    if (!(low.seconds_per_unit > 0) || low.seconds_per_unit > middle) continue;
    const double share =
        std::log(middle / low.seconds_per_unit) / std::log(high.seconds_per_unit / low.seconds_per_unit);
    const double from = std::max(low.working_set, 1.0);
    return from * std::pow(std::max(high.working_set, 1.0) / from, std::clamp(share, 0.0, 1.0));
  }
  return std::nullopt;
}

LineFit fit_line(std::span<const CostSample> samples) {
  std::vector<double> x, t;
  for (const CostSample& s : samples) {
    if (!is_measurement(s))
      throw Error(ErrorCode::bad_input, "sizes and times of measurements must be positive numbers");
    x.push_back(s.units);
    t.push_back(s.seconds);
  }
  if (x.empty() || *std::min_element(x.begin(), x.end()) == *std::max_element(x.begin(), x.end()))
    throw Error(ErrorCode::bad_input, "a line needs measurements of at least two different sizes");
  return relative_line(x, t);
}

OperationCost fit_operation(const std::string& name, std::vector<CostSample> samples, double width) {
  if (samples.empty()) throw Error(ErrorCode::bad_input, "there are no measurements", name);
  for (const CostSample& s : samples)
    if (!is_measurement(s))
      throw Error(ErrorCode::bad_input, "sizes and times of measurements must be positive numbers", name);
  if (!(width >= 1) || !std::isfinite(width))
    throw Error(ErrorCode::bad_input, "the number of units in progress at once must be at least 1", name);
  std::sort(samples.begin(), samples.end(), [](const CostSample& a, const CostSample& b) { return a.units < b.units; });
  const double growth = samples.back().units / samples.front().units;
  if (growth >= 100 && samples.back().seconds < 1.2 * samples.front().seconds)
    throw Error(ErrorCode::bad_input,
                "the times do not grow with the size, so nothing can be predicted from them; measure again when the "
                "machine is idle",
                name);
  for (std::size_t i = samples.size() - 1; i-- > 0;)
    samples[i].seconds = std::min(samples[i].seconds, samples[i + 1].seconds);

  OperationCost cost;
  cost.width = width;
  for (const CostSample& s : samples) cost.noise = std::max(cost.noise, s.noise);
  if (growth > 1) {
    const auto smallest = std::span(samples).first(std::min<std::size_t>(4, samples.size()));
    std::vector<double> x, t;
    for (const CostSample& s : smallest) {
      x.push_back(std::ceil(s.units / width) * width);
      t.push_back(s.seconds);
    }
    // Where all of them are one round of threads, nothing separates the call from its work.
    cost.latency = x.front() < x.back() ? std::min(relative_line(x, t).intercept, samples.front().seconds) : t.front();
  }
  for (const CostSample& s : samples) {
    const double rate = (s.seconds - cost.latency) / (std::ceil(s.units / width) * width);
    if (!cost.levels.empty() && s.working_set <= cost.levels.back().working_set) continue;  // one level per working set
    cost.levels.push_back({s.working_set, std::max(rate, 0.0), s.units});
  }
  return cost;
}

OperationCost queued_operation(const std::string& name, double launch, std::vector<CostSample> execution) {
  if (execution.empty()) throw Error(ErrorCode::bad_input, "there are no measurements", name);
  for (const CostSample& s : execution)
    if (!is_measurement(s))
      throw Error(ErrorCode::bad_input, "sizes and times of measurements must be positive numbers", name);
  if (!(launch >= 0) || !std::isfinite(launch))
    throw Error(ErrorCode::bad_input, "the latency of a launch must be a positive number", name);
  std::sort(execution.begin(), execution.end(),
            [](const CostSample& a, const CostSample& b) { return a.units < b.units; });
  OperationCost cost;
  cost.latency = launch;
  cost.queued = true;
  for (const CostSample& s : execution) {
    cost.noise = std::max(cost.noise, s.noise);
    if (!cost.levels.empty() && s.working_set <= cost.levels.back().working_set) continue;
    cost.levels.push_back({s.working_set, s.seconds / s.units, s.units});
  }
  return cost;
}

double fit_width(std::span<const CostSample> samples, double grain) {
  if (samples.size() < 8 || !(grain >= 1)) return 1;
  std::vector<double> t, x;
  double largest = 0;
  for (const CostSample& s : samples) {
    if (!is_measurement(s)) return 1;
    x.push_back(s.units);
    t.push_back(s.seconds);
    largest = std::max(largest, s.units);
  }
  double best = 0.7 * relative_line(x, t).deviation, width = 1;
  for (double s = grain; s <= largest / 2; s += grain) {
    std::vector<double> rounds;
    for (const double units : x) rounds.push_back(std::ceil(units / s));
    if (const LineFit fit = relative_line(rounds, t); fit.slope > 0 && fit.deviation < best) {
      best = fit.deviation;
      width = s;
    }
  }
  return width;
}

double normalised_deviation(std::span<const double> measured, std::span<const double> predicted) {
  if (measured.empty() || measured.size() != predicted.size())
    throw Error(ErrorCode::bad_input, "a deviation needs as many predictions as measurements, and at least one");
  double sum = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!(measured[i] > 0) || !std::isfinite(measured[i]) || !std::isfinite(predicted[i]))
      throw Error(ErrorCode::bad_input, "measured times must be positive numbers and predictions finite");
    const double e = (measured[i] - predicted[i]) / measured[i];
    sum += e * e;
  }
  return std::sqrt(sum / static_cast<double>(measured.size()));
}

}  // namespace voussoir
