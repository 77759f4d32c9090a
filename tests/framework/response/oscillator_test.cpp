#include <voussoir/framework/response/oscillator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include <voussoir/framework/response/accelerogram.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using Real = long double;
constexpr double pi = std::numbers::pi;

/// Coefficients of a step of length 1 by x = ω h and y = a h: qq qv q0 q1 vq vv v0 v1.
using Coefficients = std::array<Real, 8>;

/// From the responses to an initial displacement, an impulse, a step and a ramp.
Coefficients assemble(Real x, Real free, Real impulse, Real rate, Real step, Real ramp) {
  return {free, impulse, step - ramp, ramp, -x * x * impulse, rate, impulse - step, step};
}

/// The closed forms of textbooks, kind by kind. They lose digits for small x.
Coefficients closed_form(Real x, Real y) {
  Real sine, cosine;
  if (y < x) {
    const Real d = std::sqrt((x - y) * (x + y));
    sine = std::exp(-y) * std::sin(d) / d;
    cosine = std::exp(-y) * std::cos(d);
  } else if (y == x) {
    sine = cosine = std::exp(-y);
  } else {
    const Real d = std::sqrt((y - x) * (y + x));
    sine = (std::exp(d - y) - std::exp(-d - y)) / (2 * d);
    cosine = (std::exp(d - y) + std::exp(-d - y)) / 2;
  }
  const Real free = cosine + y * sine, step = (1 - free) / (x * x), ramp = (1 - sine - 2 * y * step) / (x * x);
  return assemble(x, free, sine, cosine - y * sine, step, ramp);
}

using Matrix = std::array<std::array<Real, 4>, 4>;
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

/// The exponential of the matrix of the system (q, v, p, p′), by scaling and squaring: no distinction of cases.
Coefficients by_exponential(Real x, Real y) {
  constexpr int squarings = 6;
  Matrix a{};
  a[0][1] = 1, a[1][0] = -x * x, a[1][1] = -2 * y, a[1][2] = 1, a[2][3] = 1;
  for (auto& row : a)
    for (Real& value : row) value /= Real(1 << squarings);
  Matrix sum{}, term{};
  for (int i = 0; i < 4; ++i) sum[i][i] = term[i][i] = 1;
  for (int n = 1; n < 30; ++n) {
    term = product(term, a);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        term[i][j] /= n;
        sum[i][j] += term[i][j];
      }
  }
  for (int k = 0; k < squarings; ++k) sum = product(sum, sum);
  // The load starts at p0 and has the rate p1 − p0.
  return {sum[0][0], sum[0][1], sum[0][2] - sum[0][3], sum[0][3],
          sum[1][0], sum[1][1], sum[1][2] - sum[1][3], sum[1][3]};
}

/// Compares the coefficients for a step h with those of length 1. Each is measured against the largest that its row
/// becomes under a unit load or state of that kind.
void compare(double x, double y, const Coefficients& expected, double tolerance, double h = 1) {
  const OscillatorStep s({x / h, y / h}, h);
  const double computed[] = {s.qq, s.qv / h, s.q0 / h / h, s.q1 / h / h, s.vq * h, s.vv, s.v0 / h, s.v1 / h};
  for (int row = 0; row < 8; row += 4)
    for (int k = 0; k < 4; ++k) {
      const bool load = k > 1;
      Real scale = load ? std::abs(expected[row + 2]) + std::abs(expected[row + 3])
                        : std::max<Real>(std::abs(expected[row + k]), std::exp(-Real(y)));
      if (load && x > 1) scale = std::max<Real>(scale, 1 / (Real(x) * x));
      if (row == 4 && k == 0) scale = std::max<Real>(scale, x * std::exp(-Real(y)));
      scale = std::max<Real>(scale, 1e-290L);  // below are numbers that a double does not have
      EXPECT_NEAR(static_cast<double>((computed[row + k] - expected[row + k]) / scale), 0, tolerance)
          << "coefficient " << row + k << " at x = " << x << ", y = " << y << ": " << computed[row + k]
          << " instead of " << static_cast<double>(expected[row + k]);
    }
}

TEST(OscillatorStep, AgreesWithTheClosedFormOfEachKindOfDamping) {
  for (const double x : {0.2, 0.7, 0.999999, 1.0, 1.000001, 1.3, 2.0, pi, 6.0, 30.0, 1e3})
    for (const double ratio : {0.0, 1e-4, 0.02, 0.3, 0.9, 0.99999, 1.0, 1.5, 5.0}) {
      const double y = ratio * x;
      compare(x, y, closed_form(x, y), 1e-13 * std::max(1.0, x));  // a rounding error of x moves the phase by x ε
    }
}

TEST(OscillatorStep, AgreesWithTheMatrixExponentialFromTinyToModerateSteps) {
  for (const double x : {0.0, 1e-300, 1e-160, 1e-9, 1e-5, 1e-3, 0.03, 0.2, 0.9, 1.0, 1.1, 2.0, 3.0})
    for (const double y : {0.0, 1e-200, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.99, 1.0, 1.01, 1.5, 2.0, 3.0})
      compare(x, y, by_exponential(x, y), 5e-15);
}

TEST(OscillatorStep, HasNoGapWhereTheKindOfEvaluationChanges) {
  constexpr double e = 1e-9;
  for (const auto& [x, y] :
       {std::pair{1.0, 0.3}, {0.3, 1.0}, {1.0, 1.0}, {2.0, 2.0}, {1.5, std::sqrt(3.0)}, {0.9, 1.04}})
    for (const double dx : {-e, 0.0, e})
      for (const double dy : {-e, 0.0, e}) compare(x + dx, y + dy, by_exponential(x + dx, y + dy), 5e-15);
}

TEST(OscillatorStep, DoesNotDependOnTheUnitOfTime) {
  for (const double h : {1e-120, 1e-6, 1e7})
    for (const double x : {1e-3, 0.5, 2.0}) compare(x, 0.1, by_exponential(x, 0.1), 1e-14, h);
}

TEST(OscillatorStep, FollowsTheLoadStaticallyInVeryLongSteps) {
  // e^{−y} vanishes: only the particular solution is left, q = p/ω² − 2 a p′/ω⁴ and v = p′/ω².
  for (const double x : {1e3, 1e6, 1e100})
    for (const double ratio : {0.9, 1.0, 1.1, 3.0}) {
      const OscillatorStep s({x, ratio * x}, 1);
      const OscillatorState end = s.advance({1, 1}, 2, 5);
      const double p = 5 - 2 * ratio / x * 3;
      EXPECT_NEAR(end.displacement * x * x, p, 1e-14 * 5);
      EXPECT_NEAR(end.velocity * x * x, 3, 1e-13) << x << " " << ratio;
    }
}

TEST(OscillatorStep, RigidMotionIsThatOfAFreeMass) {
  const OscillatorState end = OscillatorStep({0, 0}, 2).advance({3, 5}, 0.6, 1.2);
  EXPECT_DOUBLE_EQ(end.displacement, 3 + 5 * 2 + 4 * (0.6 / 3 + 1.2 / 6));
  EXPECT_DOUBLE_EQ(end.velocity, 5 + 2 * (0.6 + 1.2) / 2);
}

TEST(OscillatorStep, DampedRigidMotionApproachesItsTerminalVelocity) {
  // v′ + c v = p with c = 2 a: v = p/c + (v₀ − p/c) e^{−ct}, q = q₀ + p t/c + (v₀ − p/c)(1 − e^{−ct})/c.
  for (const double a : {1e-4, 0.2, 0.9, 30.0, 1e5}) {
    const double c = 2 * a, p = 7, t = 1.7, v0 = 2, q0 = 1;
    const OscillatorState end = OscillatorStep({0, a}, t).advance({q0, v0}, p, p);
    const double q = q0 + (v0 * -std::expm1(-c * t) / c) + p * (c * t + std::expm1(-c * t)) / c / c;
    const double accuracy = a < 1e-3 ? 1e-8 : 1e-13;  // of the formula just written
    EXPECT_NEAR(end.displacement, q, accuracy * std::abs(q));
    EXPECT_NEAR(end.velocity, p / c + (v0 - p / c) * std::exp(-c * t), accuracy * 10);
  }
}

TEST(OscillatorStep, IsTheSameInOnePieceAndInSeveral) {
  for (const double omega : {0.0, 1e-3, 0.4, 3.0, 40.0})
    for (const double decay : {0.0, 0.01, 0.4, 3.0, 50.0}) {
      const Oscillator oscillator{omega, decay};
      const double h = 1.3, p0 = -2, p1 = 4;
      const OscillatorState whole = OscillatorStep(oscillator, h).advance({0.5, -1}, p0, p1);
      OscillatorState parts{0.5, -1};
      double at = 0;
      for (const double next : {0.1, 0.1000001, 0.3, 0.77, 1.0}) {
        parts = OscillatorStep(oscillator, h * (next - at)).advance(parts, p0 + at * (p1 - p0), p0 + next * (p1 - p0));
        at = next;
      }
      EXPECT_NEAR(parts.displacement, whole.displacement, 1e-14 * (1 + std::abs(whole.displacement)));
      EXPECT_NEAR(parts.velocity, whole.velocity, 2e-14 * (1 + omega)) << omega << " " << decay;
    }
}

TEST(Oscillator, KeepsItsEnergyWithoutDampingAndLosesItAtTheKnownRateWithDamping) {
  const Oscillator undamped{2 * pi, 0}, damped = Oscillator::with_ratio(2 * pi, 0.03);
  const double h = 0.0137;
  const OscillatorStep free(undamped, h), decaying(damped, h);
  OscillatorState a{1, 0}, b{1, -damped.decay};
  const int steps = 100000;
  for (int i = 0; i < steps; ++i) a = free.advance(a, 0, 0);
  EXPECT_NEAR(a.velocity * a.velocity / (4 * pi * pi) + a.displacement * a.displacement, 1, 1e-10);
  // This initial velocity makes q = e^{−at} cos(ω_d t).
  for (int i = 1; i <= 1000; ++i) {
    b = decaying.advance(b, 0, 0);
    const double t = i * h, w = 2 * pi * std::sqrt(1 - 0.03 * 0.03);
    ASSERT_NEAR(b.displacement, std::exp(-damped.decay * t) * std::cos(w * t), 1e-12);
  }
}

TEST(Oscillator, BalancesEnergyUnderAnyLoad) {
  // d/dt (v²/2 + ω² q²/2) = p v − 2 a v², integrated by Simpson's rule over a fine grid.
  const Oscillator oscillator = Oscillator::with_ratio(9, 0.1);
  const double h = 1e-3;
  const OscillatorStep step(oscillator, h), half(oscillator, h / 2);
  OscillatorState state;
  double supplied = 0;
  // Lines over 100 steps each, with jumps between them.
  const auto load = [](int line, int i) { return line % 7 - 2.5 + (line % 3 - 0.5) * 0.02 * i; };
  for (int i = 0; i < 4000; ++i) {
    const double p0 = load(i / 100, i % 100), p1 = load(i / 100, i % 100 + 1);
    const OscillatorState middle = half.advance(state, p0, (p0 + p1) / 2), end = step.advance(state, p0, p1);
    const auto power = [&](double p, double v) { return p * v - 2 * oscillator.decay * v * v; };
    supplied +=
        h / 6 * (power(p0, state.velocity) + 4 * power((p0 + p1) / 2, middle.velocity) + power(p1, end.velocity));
    state = end;
  }
  const double energy = state.velocity * state.velocity / 2 + 81 * state.displacement * state.displacement / 2;
  EXPECT_GT(energy, 1e-3);
  EXPECT_NEAR(supplied, energy, 1e-10);
}

TEST(Oscillator, RespondsToAStepAndARampAsInTextbooks) {
  const double w = 5;
  const OscillatorState step = OscillatorStep({w, 0}, 0.9).advance({}, 2, 2);
  EXPECT_NEAR(step.displacement, 2 / (w * w) * (1 - std::cos(w * 0.9)), 1e-16);
  const OscillatorState ramp = OscillatorStep({w, 0}, 0.9).advance({}, 0, 2);
  EXPECT_NEAR(ramp.displacement, 2 / (w * w) * (1 - std::sin(w * 0.9) / (w * 0.9)), 1e-16);
  EXPECT_NEAR(ramp.velocity, 2 / 0.9 / (w * w) * (1 - std::cos(w * 0.9)), 1e-15);
}

TEST(Oscillator, GrowsLinearlyInResonance) {
  // p = sin ωt from rest, undamped: q = (sin ωt − ωt cos ωt)/(2 ω²). Chords of the sine cost (ωh)²/12.
  const double w = 3, h = 2 * pi / w / 2000;
  const OscillatorStep step({w, 0}, h);
  OscillatorState state;
  for (int i = 0; i < 20000; ++i) state = step.advance(state, std::sin(w * i * h), std::sin(w * (i + 1) * h));
  const double t = 20000 * h;
  EXPECT_NEAR(state.displacement, -w * t / (2 * w * w), 1e-6 * t);
}

TEST(Oscillator, AHalfSineShockLeavesTheKnownFreeVibration) {
  // Shock sin(πt/T_d), T_d = 0.8 T: amplitude afterwards 2 β |cos(π T_d/T)|/(1 − β²) of the static one, β = T/(2 T_d).
  const double period = 1.5, w = 2 * pi / period, duration = 0.8 * period, beta = period / (2 * duration);
  const int steps = 4000;
  const OscillatorStep step({w, 0}, duration / steps);
  OscillatorState s;
  for (int i = 0; i < steps; ++i) s = step.advance(s, std::sin(pi * i / steps), std::sin(pi * (i + 1.0) / steps));
  const double amplitude = w * w * std::hypot(s.displacement, s.velocity / w);
  EXPECT_NEAR(amplitude, std::abs(2 * beta * std::cos(pi * duration / period) / (1 - beta * beta)), 1e-6);
}

TEST(Oscillator, RefusesWhatItCannotCompute) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Oscillator& o :
       {Oscillator{-1, 0}, Oscillator{nan, 0}, Oscillator{1, -1}, Oscillator{1, nan}, Oscillator{1e200, 0}})
    testing::expect_error(ErrorCode::bad_input, {"oscillator"}, [&] { OscillatorStep(o, 1); });
  testing::expect_error(ErrorCode::bad_input, {"step of -1"}, [] { OscillatorStep({1, 0}, -1); });
  testing::expect_error(ErrorCode::bad_input, {"damping ratio"}, [] { Oscillator::with_ratio(1, -0.1); });
}

}  // namespace
}  // namespace voussoir
