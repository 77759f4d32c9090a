#include <voussoir/framework/response/oscillator.hpp>

#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir {
namespace {

/// Responses at the end of a step of length 1 to: an initial displacement, an impulse (and its derivative), a step and
/// a ramp, for x = ω h and y = a h.
struct UnitResponses {
  double free, impulse, impulse_rate, step, ramp;
};

/// By the power series of the impulse response g(τ) = Σ c_n τⁿ/n!, whose coefficients follow from the equation of
/// motion: c_{n+2} = −2 y c_{n+1} − x² c_n. It does not distinguish the kinds of damping, and no digits cancel while x,
/// y ≤ 1: the characteristic roots are at most 2 in magnitude, so that 28 terms reach the last place.
UnitResponses by_series(double x, double y) {
  constexpr int terms = 28;
  double c = 0, next = 1, inverse_factorial = 1;  // c_0, c_1; 1/0!
  double rate = 0, impulse = 0, step = 0, ramp = 0;
  for (int n = 0; n < terms; ++n) {
    rate += next * inverse_factorial;  // Σ c_{n+1}/n!
    impulse += c * inverse_factorial;
    step += c * inverse_factorial / (n + 1);
    ramp += c * inverse_factorial / ((n + 1.0) * (n + 2.0));
    const double after = -2 * y * next - x * x * c;
    c = next;
    next = after;
    inverse_factorial /= n + 1;
  }
  return {1 - x * x * step, impulse, rate, step, ramp};
}

/// From impulse response and free response where x is not small: the step response is (1 − free)/x², and the ramp
/// response satisfies the equation of motion.
UnitResponses from_free(double x, double y, double free, double impulse, double rate) {
  const double step = (1 - free) / x / x;
  return {free, impulse, rate, step, (1 - impulse - 2 * y * step) / x / x};
}

UnitResponses under_damped(double x, double y) {
  const double damped = std::sqrt((x - y) * (x + y)), decay = std::exp(-y);
  const double sine = damped > 0 ? decay * std::sin(damped) / damped : decay, cosine = decay * std::cos(damped);
  return from_free(x, y, cosine + y * sine, sine, cosine - y * sine);
}

/// Over-damped by little: the two roots are too close for differences of their exponentials, unless these are far
/// apart.
UnitResponses near_critical(double x, double y, double d) {
  double sine, cosine;
  if (d <= 1) {
    const double decay = std::exp(-y);
    sine = d > 0 ? decay * std::sinh(d) / d : decay;
    cosine = decay * std::cosh(d);
  } else {
    const double slow = std::exp(-(y - d)), fast = std::exp(-(y + d));
    sine = (slow - fast) / (2 * d);
    cosine = (slow + fast) / 2;
  }
  return from_free(x, y, cosine + y * sine, sine, cosine - y * sine);
}

/// (1 − e^{−r})/r
double phi1(double r) { return r > 0 ? -std::expm1(-r) / r : 1; }
/// (e^{−r} − 1 + r)/r²
double phi2(double r) {
  if (r > 1) return (1 - phi1(r)) / r;
  double sum = 0, term = 0.5;
  for (int n = 3; n < 21; ++n) {
    sum += term;
    term *= -r / n;
  }
  return sum;
}

/// Two real roots −fast and −slow that are well apart: responses are differences of those of first-order systems, which
/// stay accurate where the slow root vanishes (x → 0).
UnitResponses over_damped(double x, double y, double d) {
  const double fast = y + d, slow = x / fast * x, distance = 2 * d;
  const double es = std::exp(-slow), ef = std::exp(-fast);
  return {(fast * es - slow * ef) / distance, (es - ef) / distance, (fast * ef - slow * es) / distance,
          (phi1(slow) - phi1(fast)) / distance, (phi2(slow) - phi2(fast)) / distance};
}

UnitResponses unit_responses(double x, double y) {
  if (x <= 1 && y <= 1) return by_series(x, y);
  if (y <= x) return under_damped(x, y);
  const double d = std::sqrt(y - x) * std::sqrt(y + x);
  return d <= y / 2 ? near_critical(x, y, d) : over_damped(x, y, d);
}

}  // namespace

Oscillator Oscillator::with_ratio(double omega, double damping_ratio) {
  const auto valid = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!valid(omega) || !valid(damping_ratio))
    throw Error(ErrorCode::bad_input,
                "circular frequency and damping ratio must be finite and not negative; they are " +
                    short_number(omega, 9) + " and " + short_number(damping_ratio, 9),
                "oscillator");
  return {omega, damping_ratio * omega};
}

OscillatorStep::OscillatorStep(const Oscillator& oscillator, double h) {
  const double x = oscillator.omega * h, y = oscillator.decay * h;
  if (!(oscillator.omega >= 0) || !(oscillator.decay >= 0) || !(h >= 0) || !std::isfinite(h) || !(x < 1e150) ||
      !(y < 1e150))
    throw Error(ErrorCode::bad_input,
                "a step of " + short_number(h, 9) + " with the circular frequency " +
                    short_number(oscillator.omega, 9) + " and the decay " + short_number(oscillator.decay, 9) +
                    " cannot be computed; all must be finite and not negative",
                "oscillator");
  const UnitResponses r = unit_responses(x, y);
  qq = r.free;
  qv = h * r.impulse;
  q0 = h * h * (r.step - r.ramp);
  q1 = h * h * r.ramp;
  vq = -oscillator.omega * x * r.impulse;
  vv = r.impulse_rate;
  v0 = h * (r.impulse - r.step);
  v1 = h * r.step;
}

}  // namespace voussoir
