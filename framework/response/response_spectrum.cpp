#include <voussoir/framework/response/response_spectrum.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/response/detail/coordinate_product.hpp>
#include <voussoir/framework/response/oscillator.hpp>

namespace voussoir {
namespace {

/// Steps per period in which an oscillator is integrated: cubic interpolation between them is then accurate to
/// (2π/24)⁴/384 ≈ 1e-5 of the amplitude.
constexpr double steps_per_period = 24;
constexpr double most_periods = 1e7;

/// The magnitude of a function over one step, given its values and derivatives at both ends, by the cubic through
/// these.
double largest(double f0, double rate0, double f1, double rate1, double h) {
  double peak = std::max(std::abs(f0), std::abs(f1));
  // f(s) = f0 + a s + b s² + c s³ over 0 ≤ s ≤ 1; extremes where a + 2 b s + 3 c s² = 0.
  const double a = h * rate0, end = h * rate1, rise = f1 - f0;
  const double b = 3 * rise - 2 * a - end, c = a + end - 2 * rise;
  const double discriminant = b * b - 3 * a * c;
  if (!(discriminant >= 0)) return peak;
  const double root = -(b + std::copysign(std::sqrt(discriminant), b));
  for (const double s : {c != 0 ? root / (3 * c) : -1, root != 0 ? a / root : -1})
    if (s > 0 && s < 1) peak = std::max(peak, std::abs(f0 + s * (a + s * (b + s * c))));
  return peak;
}

/// An oscillator on a moving base, with its peaks so far.
class MovingOscillator {
 public:
  MovingOscillator(double period, double damping_ratio)
      : oscillator_(Oscillator::with_ratio(2 * std::numbers::pi / period, damping_ratio)),
        longest_step_(period / steps_per_period) {
    peaks_.period = period;
  }

  /// Integrates over a time in which the acceleration of the base varies linearly.
  void advance(double duration, double base0, double base1) {
    const double count = std::max(1.0, std::ceil(duration / longest_step_));
    const double h = duration / count;
    if (h != h_) {
      step_ = OscillatorStep(oscillator_, h);
      h_ = h;
    }
    for (double k = 0; k < count; ++k)
      advance_step(-(base0 + k / count * (base1 - base0)), -(base0 + (k + 1) / count * (base1 - base0)));
  }

  OscillatorPeaks peaks() const {
    OscillatorPeaks peaks = peaks_;
    peaks.pseudo_velocity = oscillator_.omega * peaks.displacement;
    peaks.pseudo_acceleration = oscillator_.omega * peaks.pseudo_velocity;
    return peaks;
  }

 private:
  void advance_step(double p0, double p1) {
    const OscillatorState next = step_.advance(state_, p0, p1);
    const double rate0 = oscillator_.acceleration(state_, p0), rate1 = oscillator_.acceleration(next, p1);
    const double total0 = rate0 - p0, total1 = rate1 - p1;
    const auto total_rate = [&](double rate, double velocity) {
      return -2 * oscillator_.decay * rate - oscillator_.omega * oscillator_.omega * velocity;
    };
    const auto update = [&](double& peak, double f0, double r0, double f1, double r1) {
      peak = std::max(peak, largest(f0, r0, f1, r1, h_));
    };
    update(peaks_.displacement, state_.displacement, state_.velocity, next.displacement, next.velocity);
    update(peaks_.velocity, state_.velocity, rate0, next.velocity, rate1);
    update(peaks_.acceleration, total0, total_rate(rate0, state_.velocity), total1, total_rate(rate1, next.velocity));
    state_ = next;
  }

  Oscillator oscillator_;
  double longest_step_, h_ = -1;
  OscillatorStep step_;
  OscillatorState state_;
  OscillatorPeaks peaks_;
};

OscillatorPeaks peaks_of(const Accelerogram& accelerogram, double period, double damping_ratio) {
  if (period == 0) {
    const double peak = std::abs(accelerogram.peak().value);
    return {0, 0, 0, peak, 0, peak};
  }
  MovingOscillator oscillator(period, damping_ratio);
  const auto times = accelerogram.times(), values = accelerogram.values();
  for (std::size_t i = 1; i < times.size(); ++i) oscillator.advance(times[i] - times[i - 1], values[i - 1], values[i]);
  oscillator.advance(period, 0, 0);
  return oscillator.peaks();
}

}  // namespace

ResponseSpectrum::ResponseSpectrum(std::vector<Point> points, Axis axis, Interpolation interpolation, Beyond beyond,
                                   const std::string& name)
    : points_(std::move(points)), axis_(axis), interpolation_(interpolation), beyond_(beyond), name_(name) {
  const std::string what = axis == Axis::period ? "period" : "frequency";
  if (points_.size() < 2) throw Error(ErrorCode::bad_input, "a spectrum needs at least two points", name);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const auto [x, y] = points_[i];
    const auto fail = [&](const std::string& text) {
      throw Error(ErrorCode::bad_input, "point " + std::to_string(i + 1) + ": " + text, name);
    };
    if (!std::isfinite(x) || !std::isfinite(y) || x < 0 || y < 0)
      fail(what + " and value must be finite and not negative; they are " + short_number(x, 9) + " and " +
           short_number(y, 9));
    if (i > 0 && !(x > points_[i - 1].first))
      fail("the " + what + " " + short_number(x, 9) + " is not above the previous one");
    if (interpolation == Interpolation::logarithmic && (x == 0 || y == 0))
      fail("zero has no logarithm: interpolate linearly, or begin above zero");
  }
}

double ResponseSpectrum::at_period(double period) const {
  if (!std::isfinite(period) || period < 0)
    throw Error(ErrorCode::bad_input, "there is no period of " + short_number(period, 9), name_);
  if (axis_ == Axis::period) return at(period);
  if (period > 0) return at(1 / period);
  if (beyond_ == Beyond::nearest) return points_.back().second;
  throw Error(
      ErrorCode::bad_input,
      "the frequency is infinite at period 0, beyond the table, which ends at " + short_number(points_.back().first, 6),
      name_);
}

double ResponseSpectrum::at_frequency(double frequency) const {
  if (!std::isfinite(frequency) || !(frequency > 0))
    throw Error(ErrorCode::bad_input, "a spectrum has no value at the frequency " + short_number(frequency, 9), name_);
  return at(axis_ == Axis::frequency ? frequency : 1 / frequency);
}

double ResponseSpectrum::at(double x) const {
  // A period that is computed from a tabulated frequency may miss the end of the table by a rounding error.
  const double low_end = points_.front().first, high_end = points_.back().first;
  if (std::abs(x - low_end) <= 1e-12 * low_end) x = low_end;
  if (std::abs(x - high_end) <= 1e-12 * high_end) x = high_end;
  if ((x < low_end || x > high_end) && beyond_ == Beyond::refuse)
    throw Error(ErrorCode::bad_input,
                std::string("the ") + (axis_ == Axis::period ? "period " : "frequency ") + short_number(x, 6) +
                    " is outside the table, which goes from " + short_number(low_end, 6) + " to " +
                    short_number(high_end, 6) + ": extend the table, or choose the value at the nearer end",
                name_);
  if (x <= low_end) return points_.front().second;
  if (x >= high_end) return points_.back().second;
  const auto high =
      std::upper_bound(points_.begin(), points_.end(), x, [](double v, const Point& p) { return v < p.first; });
  const auto low = high - 1;
  if (interpolation_ == Interpolation::linear)
    return low->second + (x - low->first) / (high->first - low->first) * (high->second - low->second);
  const double share = std::log(x / low->first) / std::log(high->first / low->first);
  return low->second * std::pow(high->second / low->second, share);
}

std::vector<OscillatorPeaks> oscillator_peaks(const Accelerogram& accelerogram, std::span<const double> periods,
                                              double damping_ratio) {
  constexpr const char* spectrum_place = "spectrum of an accelerogram";
  if (!(damping_ratio >= 0) || !(damping_ratio < 1))
    throw Error(ErrorCode::bad_input,
                "the damping ratio must be at least 0 and below 1, but is " + short_number(damping_ratio, 9),
                spectrum_place);
  for (const double period : periods)
    if (!std::isfinite(period) || period < 0 || (period > 0 && accelerogram.duration() / period > most_periods))
      throw Error(ErrorCode::bad_input,
                  "the period " + short_number(period, 9) + " cannot be integrated over " +
                      short_number(accelerogram.duration(), 9) + ": give periods above " +
                      short_number(accelerogram.duration() / most_periods, 3) + ", or 0 for a rigid oscillator",
                  spectrum_place);
  std::vector<OscillatorPeaks> result(periods.size());
  detail::for_each_index(periods.size(), periods.size() > 1,
                         [&](std::size_t i) { result[i] = peaks_of(accelerogram, periods[i], damping_ratio); });
  return result;
}

ResponseSpectrum response_spectrum(const Accelerogram& accelerogram, std::span<const double> periods,
                                   double damping_ratio) {
  std::vector<ResponseSpectrum::Point> points;
  for (const OscillatorPeaks& peaks : oscillator_peaks(accelerogram, periods, damping_ratio))
    points.emplace_back(peaks.period, peaks.pseudo_acceleration);
  return ResponseSpectrum(std::move(points), ResponseSpectrum::Axis::period, ResponseSpectrum::Interpolation::linear,
                          ResponseSpectrum::Beyond::refuse, "spectrum of an accelerogram");
}

std::vector<double> logarithmic_periods(double shortest, double longest, std::size_t count) {
  if (!(shortest > 0) || !(longest > shortest) || !std::isfinite(longest) || count < 2)
    throw Error(ErrorCode::bad_input,
                std::to_string(count) + " periods from " + short_number(shortest, 9) + " to " +
                    short_number(longest, 9) + " are not possible",
                "periods");
  std::vector<double> periods(count);
  for (std::size_t i = 0; i < count; ++i)
    periods[i] = shortest * std::pow(longest / shortest, static_cast<double>(i) / static_cast<double>(count - 1));
  periods.back() = longest;
  return periods;
}

}  // namespace voussoir
