#include <voussoir/framework/response/artificial_earthquake.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/backends/splitmix64.hpp>
#include <voussoir/framework/response/detail/coordinate_product.hpp>
#include <voussoir/framework/response/oscillator.hpp>

namespace voussoir {
namespace {

constexpr const char* earthquake_place = "artificial earthquake";
constexpr double pi = std::numbers::pi;
constexpr double most_steps = 20000;
constexpr int classical_iterations = 4, most_iterations = 24;

void check(const ArtificialEarthquake& o) {
  const auto fail = [](const std::string& text) { throw Error(ErrorCode::bad_input, text, earthquake_place); };
  const auto text = [](double value) { return short_number(value, 9); };
  if (!std::isfinite(o.step) || !std::isfinite(o.duration) || !(o.step > 0) || !(o.duration > 0))
    fail("duration and step must be positive; they are " + text(o.duration) + " and " + text(o.step));
  const double steps = o.duration / o.step;
  if (!(steps <= most_steps)) fail(text(steps) + " steps are more than " + text(most_steps) + ": choose a longer step");
  if (std::abs(steps - std::round(steps)) > 1e-6)
    fail("the duration " + text(o.duration) + " is not a whole number of steps of " + text(o.step));
  if (!(o.damping_ratio >= 0.03) || !(o.damping_ratio <= 0.2))
    fail("the damping ratio must be between 0.03 and 0.2, but is " + text(o.damping_ratio));
  if (!(o.shortest_period >= 3 * o.step * (1 - 1e-9)))
    fail("the shortest period, " + text(o.shortest_period) + ", must be at least three steps, " + text(3 * o.step));
  if (!(o.longest_period > o.shortest_period) || !(o.longest_period <= o.duration / 5 * (1 + 1e-9)))
    fail("the longest period, " + text(o.longest_period) + ", must be above the shortest, " + text(o.shortest_period) +
         ", and at most a fifth of the duration, " + text(o.duration / 5));
  if (!(o.strong_begin > 0) || !(o.strong_end >= o.strong_begin) || !(o.strong_end < o.duration))
    fail("the strong phase, from " + text(o.strong_begin) + " to " + text(o.strong_end) +
         ", must begin after 0 and end before the record, at " + text(o.duration));
  if (!(o.decay > 0) || !std::isfinite(o.decay)) fail("the decay must be positive, but is " + text(o.decay));
  if (!(o.tolerance > 0) || !(o.tolerance < 1))
    fail("the tolerance must be between 0 and 1, but is " + text(o.tolerance));
}

/// The next of a sequence of evenly distributed numbers in [0, 1).
double next_random(std::uint64_t& state) {
  state += splitmix_increment;
  return static_cast<double>(splitmix64(state) >> 11) * 0x1p-53;
}

/// A quadratic rise, a constant phase, and an exponential decay that is lowered by its last value, so that the record
/// ends without a jump.
double envelope(const ArtificialEarthquake& o, double time) {
  if (time < o.strong_begin) return time / o.strong_begin * (time / o.strong_begin);
  if (time < o.strong_end) return 1;
  // (e^(d (T − t)) − 1) / (e^(d (T − t₁)) − 1), without the large exponentials
  return std::exp(-o.decay * (time - o.strong_end)) * std::expm1(-o.decay * (o.duration - time)) /
         std::expm1(-o.decay * (o.duration - o.strong_end));
}

/// A smooth function of time that brings the ground to rest where it began: sin²(πs) (c₀ + c₁ (s − ½)), s = t/T.
class Baseline {
 public:
  explicit Baseline(std::size_t count) : even_(count), odd_(count) {
    for (std::size_t i = 1; i + 1 < count; ++i) {
      const double s = static_cast<double>(i) / static_cast<double>(count - 1), root = std::sin(pi * s);
      even_[i] = root * root;
      odd_[i] = even_[i] * (s - 0.5);
    }
  }

  void correct(std::vector<double>& values) const {
    const auto [v, d] = motion_at_end(values);
    const auto [v0, d0] = motion_at_end(even_);
    const auto [v1, d1] = motion_at_end(odd_);
    const double determinant = v0 * d1 - v1 * d0;
    const double c0 = (v1 * d - v * d1) / determinant, c1 = (v * d0 - v0 * d) / determinant;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += c0 * even_[i] + c1 * odd_[i];
  }

 private:
  /// Velocity and displacement at the end, ∫ a dt and ∫ (T − t) a dt, for an acceleration that is linear between its
  /// values and zero at both ends, with the step as the unit of time.
  static std::pair<double, double> motion_at_end(const std::vector<double>& values) {
    double velocity = 0, displacement = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      velocity += values[i];
      displacement += static_cast<double>(values.size() - 1 - i) * values[i];
    }
    return {velocity, displacement};
  }

  std::vector<double> even_, odd_;
};

/// Sines of random phases under an envelope, whose amplitudes are to be found.
class SineSum {
 public:
  SineSum(const ArtificialEarthquake& options, const std::vector<double>& periods)
      : step_(options.step),
        count_(static_cast<std::size_t>(std::lround(options.duration / options.step)) + 1),
        baseline_(count_) {
    std::uint64_t state = options.seed;
    for (const double period : periods) {
      const double phase = next_random(state);
      std::vector<double>& sine = sines_.emplace_back(count_);
      for (std::size_t i = 1; i + 1 < count_; ++i) {
        const double time = static_cast<double>(i) * step_;
        sine[i] = envelope(options, time) * std::sin(2 * pi * (time / period + phase));
      }
      baseline_.correct(sine);
    }
  }

  const std::vector<double>& sine(std::size_t k) const { return sines_[k]; }

  Accelerogram record(const std::vector<double>& amplitudes) const {
    std::vector<double> values(count_);
    for (std::size_t k = 0; k < sines_.size(); ++k)
      for (std::size_t i = 0; i < count_; ++i) values[i] += amplitudes[k] * sines_[k][i];
    baseline_.correct(values);  // of the roundings of the sum
    return Accelerogram::evenly_spaced(step_, std::move(values), 0, earthquake_place);
  }

 private:
  double step_;
  std::size_t count_;
  Baseline baseline_;
  std::vector<std::vector<double>> sines_;
};

/// The periods of the sines, at which the spectrum is matched too: so dense that several of them lie within the
/// resonance of an oscillator, whose width is 2 ζ of its frequency, but not much denser than a record of this duration
/// can tell apart.
std::vector<double> sine_periods(const ArtificialEarthquake& options) {
  std::vector<double> periods{options.longest_period};
  for (;;) {
    const double frequency = 1 / periods.back();
    const double next = frequency + std::max(0.5 * options.damping_ratio * frequency, 0.25 / options.duration);
    if (next * options.shortest_period >= 1) break;
    periods.push_back(1 / next);
  }
  periods.push_back(options.shortest_period);
  std::reverse(periods.begin(), periods.end());
  return periods;
}

/// How the displacement of an oscillator, at the time of its peak under a record, depends on the values of the record.
class PeakWeights {
 public:
  PeakWeights(const Accelerogram& record, double step, double period, double damping_ratio)
      : oscillator_(Oscillator::with_ratio(2 * pi / period, damping_ratio)),
        parts_(static_cast<std::size_t>(std::ceil(24 * step / period))),
        part_(oscillator_, step / static_cast<double>(parts_)) {
    find_peak(record.values());
    // The response to one value of the record, a hat of two steps, until it has died down.
    const auto memory = static_cast<std::size_t>(15 / (oscillator_.decay * step)) + 2;
    OscillatorState state;
    for (std::size_t i = 0; i <= std::min(step_of_peak_, memory); ++i)
      advance(state, i == 1 ? 1 : 0, i == 0 ? 1 : 0, [&](std::size_t part, double q) {
        if (part == part_of_peak_) weights_.push_back(std::copysign(1, peak_) * q);
      });
  }

  /// The pseudo-acceleration that a component of the record contributes to the peak; negative if it reduces it.
  double of(const std::vector<double>& component) const {
    double sum = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) sum += weights_[i] * component[step_of_peak_ - i];
    return oscillator_.omega * oscillator_.omega * sum;
  }

 private:
  /// The response over one step from a0 to a1, seen after each of its parts.
  template <class See>
  void advance(OscillatorState& state, double a0, double a1, const See& see) const {
    const double rise = (a1 - a0) / static_cast<double>(parts_);
    for (std::size_t part = 0; part < parts_; ++part) {
      state = part_.advance(state, a0 + static_cast<double>(part) * rise, a0 + static_cast<double>(part + 1) * rise);
      see(part, state.displacement);
    }
  }

  void find_peak(std::span<const double> values) {
    OscillatorState state;
    for (std::size_t i = 1; i < values.size(); ++i)
      advance(state, values[i - 1], values[i], [&](std::size_t part, double q) {
        if (std::abs(q) <= std::abs(peak_)) return;
        peak_ = q;
        step_of_peak_ = i;
        part_of_peak_ = part;
      });
  }

  Oscillator oscillator_;
  std::size_t parts_, step_of_peak_ = 0, part_of_peak_ = 0;
  OscillatorStep part_;
  double peak_ = 0;
  std::vector<double> weights_;
};

using Rows = std::vector<std::vector<double>>;

/// Solves A x = b in place; A is symmetric and positive definite, and its lower triangle is given.
void solve_by_cholesky(Rows& a, std::vector<double>& x) {
  const std::size_t n = x.size();
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j; i < n; ++i) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= a[i][k] * x[k];
    x[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[k][i] * x[k];
    x[i] /= a[i][i];
  }
}

/// The smallest x, in the sense of least squares, with J x ≈ b: Jᵀ (J Jᵀ + μ I)⁻¹ b, with μ a hundredth of the mean of
/// the diagonal, since neighbours of a period ask for nearly the same.
std::vector<double> least_change(const Rows& j, std::vector<double> b) {
  const std::size_t n = b.size();
  Rows product(n);
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t l = 0; l <= i; ++l)
      product[i].push_back(std::inner_product(j[i].begin(), j[i].end(), j[l].begin(), 0.0));
    trace += product[i][i];
  }
  for (std::size_t i = 0; i < n; ++i) product[i][i] += 0.01 * trace / static_cast<double>(n);
  solve_by_cholesky(product, b);
  std::vector<double> x(j.front().size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += j[i][k] * b[i];
  return x;
}

/// Finds the amplitudes.
class SpectrumMatch {
 public:
  explicit SpectrumMatch(const ArtificialEarthquake& options)
      : options_(options), periods_(sine_periods(options)), sines_(options, periods_) {
    for (const double period : periods_) target_.push_back(target_at(period));
    // White noise of the density G has S_a² = r² G ω π/(4ζ) with a peak factor r of about 2.7, and a sine stands for
    // the amplitude √(2 G Δω) with Δω = ζω/2.
    for (const double value : target_) amplitudes_.push_back(0.4 * options.damping_ratio * value);
  }

  Accelerogram find() {
    Accelerogram best = sines_.record(amplitudes_);
    double least = std::numeric_limits<double>::infinity();
    for (int iteration = 0; iteration < most_iterations && least > options_.tolerance / 2; ++iteration) {
      const Accelerogram record = sines_.record(amplitudes_);
      const std::vector<double> ratios = ratios_of(record, periods_);
      if (const double deviation = largest_deviation(ratios); deviation < least) {
        least = deviation;
        best = record;
      }
      if (iteration < classical_iterations)
        for (std::size_t k = 0; k < ratios.size(); ++k) amplitudes_[k] /= ratios[k];
      else
        correct(record, ratios);
    }
    check(best);
    return best;
  }

 private:
  double target_at(double period) const {
    const double value = options_.target.at_period(period);
    if (!(value > 0))
      throw Error(ErrorCode::bad_input,
                  "the target must be positive, but is 0 at the period " + short_number(period, 6), earthquake_place);
    return value;
  }

  /// The spectrum of a record, relative to the target.
  std::vector<double> ratios_of(const Accelerogram& record, std::span<const double> periods) const {
    std::vector<double> ratios;
    for (const OscillatorPeaks& peaks : oscillator_peaks(record, periods, options_.damping_ratio))
      ratios.push_back(peaks.pseudo_acceleration / target_at(peaks.period));
    return ratios;
  }

  static double largest_deviation(const std::vector<double>& ratios) {
    double largest = 0;
    for (const double ratio : ratios)
      largest = std::isfinite(ratio) ? std::max(largest, std::abs(ratio - 1)) : std::numeric_limits<double>::infinity();
    return largest;
  }

  /// Multiplication by the ratio treats each sine as if it acted on the oscillator of its own period alone and ends at
  /// deviations of some 15 %. At the time of its peak, the response of an oscillator is a linear function of all
  /// amplitudes: their least relative change that leads to the target.
  void correct(const Accelerogram& record, const std::vector<double>& ratios) {
    const std::size_t n = periods_.size();
    Rows shares(n);
    detail::for_each_index(n, true, [&](std::size_t i) {
      const PeakWeights weights(record, options_.step, periods_[i], options_.damping_ratio);
      for (std::size_t k = 0; k < n; ++k) shares[i].push_back(amplitudes_[k] * weights.of(sines_.sine(k)) / target_[i]);
    });
    std::vector<double> missing;
    for (const double ratio : ratios) missing.push_back(1 - ratio);
    const std::vector<double> change = least_change(shares, std::move(missing));
    for (std::size_t k = 0; k < n; ++k) amplitudes_[k] *= 1 + change[k];
  }

  /// Between the periods of the sines, too, the record must have the spectrum.
  void check(const Accelerogram& record) const {
    std::vector<double> periods = periods_;
    for (std::size_t k = 1; k < periods_.size(); ++k) periods.push_back(std::sqrt(periods_[k - 1] * periods_[k]));
    const std::vector<double> ratios = ratios_of(record, periods);
    std::size_t worst = 0;
    for (std::size_t k = 1; k < ratios.size(); ++k)
      if (std::abs(ratios[k] - 1) > std::abs(ratios[worst] - 1)) worst = k;
    if (std::abs(ratios[worst] - 1) <= options_.tolerance) return;
    throw Error(ErrorCode::not_converged,
                "the spectrum of the record is " + short_number(ratios[worst], 3) + " of the target at the period " +
                    short_number(periods[worst], 4) + ", beyond the tolerance of " +
                    short_number(options_.tolerance, 3) +
                    ": try another seed, a longer strong phase or a smoother target, or raise the tolerance",
                earthquake_place);
  }

  const ArtificialEarthquake& options_;
  std::vector<double> periods_;
  SineSum sines_;
  std::vector<double> target_, amplitudes_;
};

}  // namespace

Accelerogram artificial_earthquake(const ArtificialEarthquake& options) {
  check(options);
  return SpectrumMatch(options).find();
}

}  // namespace voussoir
