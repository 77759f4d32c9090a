#include <gtest/gtest.h>
#include <voussoir/elements/physics/finite_plasticity.hpp>
#include <voussoir/elements/point/law.hpp>

#include <array>
#include <cmath>

// Plasticity at large strains: closed forms, rotation, the limit of small strains, volume, tangent, work.

namespace voussoir {
namespace {

using History = std::array<double, 8>;

/// The law at one point with E = 200, ν = 0.3 and the given yield stress and hardening.
struct Metal {
  double parameters[5];
  double constants[2];
  Metal(double yield, double hardening) : parameters{200, 0.3, yield, hardening, 1} {
    FinitePlasticity::prepare(parameters, constants);
  }
  Point<double> at(const History& history) const {
    Point<double> p;
    p.parameters = parameters;
    p.constants = constants;
    p.history = history.data();
    return p;
  }
  Mat3<double> flux(const History& history, const Mat3<double>& f) const {
    return FinitePlasticity::flux(at(history), gradient(f));
  }
  History advance(const History& history, const Mat3<double>& f) const {
    History next;
    FinitePlasticity::advance(at(history), gradient(f), next.data());
    return next;
  }
  static Mat3<double> gradient(Mat3<double> f) {
    for (int i = 0; i < 3; ++i) f(i, i) -= 1;
    return f;
  }
};

Mat3<double> identity() {
  Mat3<double> one = zero_matrix<double, 3, 3>();
  for (int i = 0; i < 3; ++i) one(i, i) = 1;
  return one;
}

/// A rotation about a skew axis.
Mat3<double> rotation(double angle) {
  const double n[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7}, c = std::cos(angle), s = std::sin(angle);
  Mat3<double> q;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) q(i, k) = (1 - c) * n[i] * n[k] + (i == k ? c : 0);
  q(0, 1) -= s * n[2];
  q(1, 0) += s * n[2];
  q(0, 2) += s * n[1];
  q(2, 0) -= s * n[1];
  q(1, 2) -= s * n[0];
  q(2, 1) += s * n[0];
  return q;
}

/// A deformation that stretches, shears and swells far beyond yield.
Mat3<double> deformed(double t) {
  Mat3<double> f = identity();
  f(0, 0) += 0.9 * t;
  f(1, 1) -= 0.3 * t;
  f(2, 2) -= 0.2 * std::sin(3 * t);
  f(0, 1) = 0.7 * t * t;
  f(1, 2) = -0.3 * t;
  f(2, 0) = 0.2 * std::sin(5 * t);
  return f;
}

double determinant_of_plastic(const History& h) {
  Mat3<double> c = identity();
  const int at[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) c(i, k) += h[static_cast<std::size_t>(at[i][k])];
  return determinant(c);
}

TEST(FinitePlasticity, UniaxialTensionHasItsClosedForm) {
  // Kirchhoff stress τ = σy + H εp and ln λ = τ/E + εp, up to a stretch of 3 and down to a third.
  const double young = 200, poisson = 0.3, yield = 0.4, hardening = 3;
  const Metal metal(yield, hardening);
  for (const double log_stretch : {1.0986, -1.0986, 0.1, 0.001}) {
    History h{};
    const int steps = 50;
    Mat3<double> f = identity();
    double side = 0;
    for (int step = 1; step <= steps; ++step) {
      f(0, 0) = std::exp(log_stretch * step / steps);
      // The logarithm of the lateral stretch for which nothing acts there, by the secant method.
      const auto lateral = [&](double x) {
        f(1, 1) = f(2, 2) = std::exp(x);
        return metal.flux(h, f)(1, 1);
      };
      double x0 = side - 0.4 * log_stretch / steps, x1 = side - 0.5 * log_stretch / steps, y0 = lateral(x0);
      for (int k = 0; k < 60 && x1 != x0; ++k) {
        const double y1 = lateral(x1), x2 = y1 == y0 ? x1 : x1 - y1 * (x1 - x0) / (y1 - y0);
        x0 = x1;
        y0 = y1;
        x1 = x2;
      }
      side = x1;
      lateral(side);
      h = metal.advance(h, f);
    }
    const double tau = metal.flux(h, f)(0, 0) * f(0, 0), size = std::abs(log_stretch);
    const double flow = std::max(0.0, (size - yield / young) / (1 + hardening / young));
    EXPECT_NEAR(std::abs(tau), flow > 0 ? yield + hardening * flow : young * size, 1e-10) << log_stretch;
    EXPECT_NEAR(h[6], flow, 1e-11) << log_stretch;
    // Elastic contraction by ν, plastic by ½.
    const double sign = log_stretch > 0 ? 1 : -1;
    EXPECT_NEAR(side, -sign * (poisson * std::abs(tau) / young + 0.5 * flow), 1e-11) << log_stretch;
  }
}

TEST(FinitePlasticity, RotationsDuringFlowChangeNothing) {
  const Metal metal(0.4, 3);
  History still{}, turning{};
  for (int step = 1; step <= 40; ++step) {
    const double t = step / 40.0;
    const Mat3<double> f = deformed(t), q = rotation(9 * t);
    const Mat3<double> p = metal.flux(still, f), turned = metal.flux(turning, q * f), expected = q * p;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(turned(i, k), expected(i, k), 1e-10) << step;
    still = metal.advance(still, f);
    turning = metal.advance(turning, q * f);
    for (std::size_t k = 0; k < 8; ++k) EXPECT_NEAR(turning[k], still[k], 1e-12 * (1 + std::abs(still[k]))) << step;
  }
  EXPECT_GT(still[6], 0.5);
  // A rotation alone is no deformation.
  const Mat3<double> p = metal.flux({}, rotation(2));
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(p(i, k), 0, 1e-12);
}

TEST(FinitePlasticity, FlowKeepsTheVolume) {
  const Metal metal(0.4, 3);
  History h{};
  for (int step = 1; step <= 400; ++step) {
    const double t = step / 400.0;
    const Mat3<double> f = deformed(t), p = metal.flux(h, f);
    // The mean Kirchhoff stress is elastic whatever has flowed: K ln J.
    const Mat3<double> tau = p * transpose(f);
    EXPECT_NEAR(trace(tau) / 3, 200 / 1.2 * std::log(determinant(f)), 1e-9);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < i; ++k) EXPECT_NEAR(tau(i, k), tau(k, i), 1e-10);
    h = metal.advance(h, f);
  }
  EXPECT_GT(h[6], 0.5);
  EXPECT_NEAR(determinant_of_plastic(h), 1, 1e-12);
  // A step that is too small to flow changes no bit of the history.
  const History next = metal.advance(h, deformed(1));
  EXPECT_EQ(metal.advance(next, deformed(1 - 1e-5)), metal.advance(next, deformed(1 - 2e-5)));
}

TEST(FinitePlasticity, StressesAreAtYieldAfterFlow) {
  const Metal metal(0.4, 3);
  History h{};
  for (int step = 1; step <= 10; ++step) {
    const Mat3<double> f = deformed(0.1 * step);
    Mat3<double> tau = metal.flux(h, f) * transpose(f);
    h = metal.advance(h, f);
    const double mean = trace(tau) / 3;
    double square = 0;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) square += (tau(i, k) - (i == k ? mean : 0)) * (tau(i, k) - (i == k ? mean : 0));
    EXPECT_NEAR(std::sqrt(1.5 * square), 0.4 + 3 * h[6], 1e-10);
    // The new state is in balance with its history: it flows no further.
    const History again = metal.advance(h, f);
    EXPECT_NEAR(again[6], h[6], 1e-8);
  }
}

/// Small-strain J2 by return mapping (Simo and Hughes 1998, box 3.1) for a path of strains: the stress at its end.
Mat3<double> small_strain_stress(double yield, double hardening, double size, int steps, double& flow) {
  const double mu = 200 / 2.6, bulk = 200 / 1.2, root = std::sqrt(2.0 / 3);
  Mat3<double> plastic = zero_matrix<double, 3, 3>(), stress = plastic;
  flow = 0;
  for (int step = 1; step <= steps; ++step) {
    const Mat3<double> g = Metal::gradient(deformed(double(step) / steps));
    Mat3<double> s;
    double square = 0;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        s(i, k) = 2 * mu * (0.5 * size * (g(i, k) + g(k, i)) - (i == k ? size * trace(g) / 3 : 0) - plastic(i, k));
        square += s(i, k) * s(i, k);
      }
    const double norm = std::sqrt(square);
    const double gamma = std::max(0.0, norm - root * (yield + hardening * flow)) / (2 * mu + 2 * hardening / 3);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        plastic(i, k) += gamma * s(i, k) / norm;
        stress(i, k) = s(i, k) * (1 - 2 * mu * gamma / norm) + (i == k ? bulk * size * trace(g) : 0);
      }
    flow += root * gamma;
  }
  return stress;
}

TEST(FinitePlasticity, SmallStrainsHaveTheSmallStrainLaw) {
  double former = 0;
  for (const double size : {1e-3, 1e-4, 1e-5}) {
    const double yield = 20 * size, hardening = 3;  // yields at the same share of the path
    const Metal metal(yield, hardening);
    History h{};
    Mat3<double> p;
    for (int step = 1; step <= 20; ++step) {
      Mat3<double> f = identity();
      const Mat3<double> g = Metal::gradient(deformed(step / 20.0));
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) f(i, k) += size * g(i, k);
      p = metal.flux(h, f);
      h = metal.advance(h, f);
    }
    double flow = 0, difference = 0;
    const Mat3<double> expected = small_strain_stress(yield, hardening, size, 20, flow);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) difference = std::max(difference, std::abs(p(i, k) - expected(i, k)));
    EXPECT_GT(flow, 0.3 * size);
    EXPECT_NEAR(h[6], flow, 5 * size * flow);
    EXPECT_LT(difference, 20 * size * yield);
    if (former > 0) {
      EXPECT_NEAR(difference / former, 0.01, 0.002);  // the difference is of second order
    }
    former = difference;
  }
}

TEST(FinitePlasticity, TheTangentIsTheDerivativeAndSymmetric) {
  const Metal metal(0.4, 3);
  History h{};
  for (int step = 1; step <= 5; ++step) h = metal.advance(h, deformed(0.1 * step));
  using Response = detail::LawResponse<FinitePlasticity, 5>;
  // Elastic after unloading, flowing, and at rest.
  const auto check = [&](const History& history, const Mat3<double>& f) {
    const Vec3<double> still = zero_vector<double, 3>();
    double tangent[9][9];
    for (int b = 0; b < 9; ++b) {
      Mat3<double> unit = zero_matrix<double, 3, 3>();
      unit(b / 3, b % 3) = 1;
      const auto change = Response::change(metal.at(history), still, Metal::gradient(f), still, unit).flux;
      const double step = 1e-6;
      Mat3<double> up = f, down = f;
      up(b / 3, b % 3) += step;
      down(b / 3, b % 3) -= step;
      const Mat3<double> high = metal.flux(history, up), low = metal.flux(history, down);
      for (int a = 0; a < 9; ++a) {
        tangent[a][b] = change(a / 3, a % 3);
        EXPECT_NEAR(tangent[a][b], (high(a / 3, a % 3) - low(a / 3, a % 3)) / (2 * step), 2e-6 * 200);
      }
    }
    for (int a = 0; a < 9; ++a)
      for (int b = 0; b < a; ++b) EXPECT_NEAR(tangent[a][b], tangent[b][a], 1e-10 * 200) << a << b;
  };
  check({}, identity());
  check(h, deformed(0.5 - 1e-3));
  check(h, deformed(0.6));
  check({}, deformed(0.3));
}

TEST(FinitePlasticity, WorkIsStoredOrDissipated) {
  // The work of P along a path is the elastic energy at its end plus the plastic work.
  const Metal metal(0.4, 3);
  const auto missing = [&](int steps) {
    History h{};
    double work = 0;
    Mat3<double> f = identity(), p = metal.flux(h, f);
    for (int step = 1; step <= steps; ++step) {
      const Mat3<double> next = deformed(double(step) / steps), stress = metal.flux(h, next);
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) work += 0.5 * (p(i, k) + stress(i, k)) * (next(i, k) - f(i, k));
      h = metal.advance(h, next);
      f = next;
      p = stress;
    }
    // ½ K (ln J)² + |s|² / 4μ with |s| at yield.
    const double log_j = std::log(determinant(f)), size = std::sqrt(2.0 / 3) * (0.4 + 3 * h[6]);
    const double elastic = 0.5 * 200 / 1.2 * log_j * log_j + size * size / (4 * 200 / 2.6);
    EXPECT_GT(h[7], 0.2);
    // Of linear hardening: ∫ (σy + H α) dα.
    EXPECT_NEAR(h[7], 0.4 * h[6] + 1.5 * h[6] * h[6], 3.0 / steps);
    return std::abs(work - elastic - h[7]);
  };
  const double coarse = missing(200), fine = missing(2000);
  EXPECT_LT(fine, 2e-3);
  EXPECT_LT(fine, 0.2 * coarse);
}

}  // namespace
}  // namespace voussoir
