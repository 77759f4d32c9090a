#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>

#include <voussoir/elements/register.hpp>

#include "support/green_truss.hpp"
#include "support/transient_models.hpp"

VSR_REGISTER_ELEMENT(voussoir::testing::GreenTruss);

// Orders of accuracy and numerical damping of the implicit methods.

namespace voussoir {
namespace {

using testing::add_bar;
using testing::add_oscillator;
using testing::entry;
using testing::field_at;
using testing::options_of;
using testing::oscillator_on_a_ramp;
using testing::zero_field;

constexpr double pi = 3.14159265358979323846;

/// u at the end of a damped oscillator with ω = 2, u(0) = 0.3, v(0) = 1 and the ramp load 3 t, m = 1.
double oscillator_error(const std::string& method, double step) {
  Domain d;
  add_oscillator(d, 4, 1);
  d.add_load_case("ramp").nodal_at(2, "ux", 3);
  const RayleighDamping damping{0.4, 0.05};
  auto a = make_transient_analysis(d, options_of(method, damping));
  a->loads().add_load_case("ramp", Amplitude({{0, 0}, {100, 100}}));
  a->set_initial_displacement(field_at(a->model(), 2, "ux", 0.3));
  a->set_initial_velocity(field_at(a->model(), 2, "ux", 1));
  const double end = 3.2;
  a->set_steps({.end = end, .step = step});
  const double u = a->run().back().unknowns.at(1, "ux");
  // The truss has no mass of its own, so that α acts on the point mass, if points damp at all: m u″ + c u′ + 4 u = 3 t.
  return std::abs(u - oscillator_on_a_ramp(damping.mass * 1 + damping.stiffness * 4, end));
}

TEST(TransientOrder, MethodsAreOfSecondOrderOnAnOscillator) {
  for (const char* method : {"newmark", "hht", "hht:alpha=-0.3", "generalised-alpha", "generalised-alpha:radius=0.5"}) {
    const double coarse = oscillator_error(method, 0.04), fine = oscillator_error(method, 0.02);
    EXPECT_LT(fine, 2e-3) << method;
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.2) << method << " " << coarse << " " << fine;
  }
  // γ > ½ is of first order.
  const double coarse = oscillator_error("newmark:beta=0.36,gamma=0.7", 0.02),
               fine = oscillator_error("newmark:beta=0.36,gamma=0.7", 0.01);
  EXPECT_NEAR(std::log2(coarse / fine), 1, 0.15);
}

/// The amplification of (u, h v, h² a) of an undamped oscillator by one step, written down from the method's equations.
Eigen::Matrix3d amplification(const TimeIntegrator::Coefficients& c, double omega_h) {
  const double w2 = omega_h * omega_h;
  Eigen::Matrix3d left = Eigen::Matrix3d::Zero(), right = left;
  left << 1, 0, -c.beta, 0, 1, -c.gamma, (1 - c.alpha_f) * w2, 0, 1 - c.alpha_m;
  right << 1, 1, 0.5 - c.beta, 0, 1, 1 - c.gamma, -c.alpha_f * w2, 0, -c.alpha_m;
  return left.inverse() * right;
}

double spectral_radius(const Eigen::Matrix3d& a) { return a.eigenvalues().cwiseAbs().maxCoeff(); }

TEST(TransientOrder, NumericalDampingIsThatOfTheAmplificationMatrix) {
  struct Case {
    const char* method;
    double at_infinity;
  };
  for (const Case& c : {Case{"newmark", 1}, Case{"hht:alpha=-0.1", 0.9 / 1.1}, Case{"hht:alpha=-0.3", 0.7 / 1.3},
                        Case{"generalised-alpha:radius=0.8", 0.8}, Case{"generalised-alpha:radius=0.3", 0.3}}) {
    for (const double omega_h : {0.3, 2.0, 40.0}) {
      Domain d;
      add_oscillator(d, omega_h * omega_h, 1);
      auto a = make_transient_analysis(d, options_of(c.method));
      a->set_initial_displacement(field_at(a->model(), 2, "ux", 1));
      a->set_steps({.end = 100, .step = 1});
      a->start();
      const Eigen::Matrix3d matrix = amplification(a->integrator().method(), omega_h);
      Eigen::Vector3d x(1, 0, -omega_h * omega_h);
      const std::int32_t e = a->model().equation(1, "ux");
      for (int k = 0; k < 12; ++k) {
        a->advance(1);
        x = matrix * x;
        const double scale = std::max(1e-12, x.cwiseAbs().maxCoeff());
        EXPECT_NEAR(a->state().unknowns.to_host()[e], x[0], 1e-11 * scale) << c.method << " " << omega_h;
        EXPECT_NEAR(a->state().rate.to_host()[e], x[1], 1e-11 * scale) << c.method << " " << omega_h;
        EXPECT_NEAR(a->state().second_rate.to_host()[e], x[2], 1e-11 * scale) << c.method << " " << omega_h;
      }
    }
    // The eigenvalue at infinity is a double one: rounding moves it by about its square root.
    EXPECT_NEAR(spectral_radius(amplification(make_time_integrator(c.method)->method(), 1e4)), c.at_infinity, 2e-3)
        << c.method;
  }
}

/// A pendulum of length 1 under the weight 1, released at an angle: a bar without mass (node 1 is the pivot) and a
/// point mass 1 (node 2).
void add_pendulum(Domain& d, double angle, double stiffness) {
  d.add_node(1, 0, 0, 0);
  d.add_node(2, std::sin(angle), -std::cos(angle), 0);
  auto bar_material = std::make_shared<Material>("bar");
  bar_material->set("young", stiffness).set("area", 1).set("density", 0);
  auto& bar = d.add_block("bar", "green_truss");
  bar.set_material(bar_material);
  bar.add(1, {1, 2});
  auto& mass = d.add_block("mass", "plane_mass");
  mass.set_section("mass", 1);
  mass.add(2, {2});
  d.add_node_set("pivot", {1});
  d.prescribe("pivot", "ux");
  d.prescribe("pivot", "uy");
  d.add_load_case("weight").nodal_at(2, "uy", -1);
}

/// A pendulum of a stiff bar, released at rest: the time of a quarter of its period.
double quarter_period(double angle, double step, const std::string& method, TransientReport* report = nullptr) {
  Domain d;
  add_pendulum(d, angle, 1e5);
  auto a = make_transient_analysis(d, options_of(method));
  a->loads().add_load_case("weight");
  a->set_steps({.end = 4, .step = step});
  const auto history = std::make_shared<HistoryRecorder>();
  history->add(2, "ux");
  a->add_recorder(history);
  a->set_recovery(false);
  a->run();
  if (report) *report = a->report();
  EXPECT_LT(std::abs(a->energies().numerical()), 0.05);
  // Where x = sin(angle) + ux passes zero.
  const auto& x = history->values(0);
  for (std::size_t k = 1; k < x.size(); ++k) {
    const double before = std::sin(angle) + x[k - 1], after = std::sin(angle) + x[k];
    if (after <= 0)
      return history->times()[k - 1] + (history->times()[k] - history->times()[k - 1]) * before / (before - after);
  }
  return 0;
}

TEST(TransientOrder, ALargePendulumHasThePeriodOfTheEllipticIntegral) {
  const double angle = 2.0, exact = std::comp_ellint_1(std::sin(angle / 2));  // √(L/g) = 1
  TransientReport report;
  const double fine = quarter_period(angle, 0.01, "newmark", &report);
  EXPECT_NEAR(fine, exact, 1e-3 * exact);
  EXPECT_GT(report.iterations, report.steps);
  EXPECT_NEAR(quarter_period(angle, 0.01, "generalised-alpha:radius=0.8"), exact, 1e-3 * exact);
  EXPECT_NEAR(quarter_period(0.05, 0.01, "hht"), pi / 2 * (1 + 0.05 * 0.05 / 16), 2e-4);
}

/// The position of an elastic pendulum at time t by the method of Runge and Kutta: x″ = −E ε x, y″ = −E ε y − 1 with
/// Green's strain ε = (x² + y² − 1) / 2.
std::array<double, 2> pendulum_position(double angle, double stiffness, double t) {
  using State = std::array<double, 4>;
  const auto rate = [&](const State& s) {
    const double force = stiffness * (s[0] * s[0] + s[1] * s[1] - 1) / 2;
    return State{s[2], s[3], -force * s[0], -force * s[1] - 1};
  };
  const auto moved = [](const State& s, double h, const State& r) {
    State next = s;
    for (std::size_t i = 0; i < 4; ++i) next[i] += h * r[i];
    return next;
  };
  State s{std::sin(angle), -std::cos(angle), 0, 0};
  const int steps = 20000;
  const double h = t / steps;
  for (int k = 0; k < steps; ++k) {
    const State a = rate(s), b = rate(moved(s, h / 2, a)), c = rate(moved(s, h / 2, b)), d = rate(moved(s, h, c));
    for (std::size_t i = 0; i < 4; ++i) s[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  }
  return {s[0], s[1]};
}

double pendulum_error(const std::string& method, double step) {
  const double angle = 1.5, stiffness = 50, end = 1.6;
  Domain d;
  add_pendulum(d, angle, stiffness);
  auto a = make_transient_analysis(d, options_of(method));
  a->loads().add_load_case("weight");
  a->set_steps({.end = end, .step = step});
  a->set_recovery(false);
  const StepResult result = a->run().back();
  const auto exact = pendulum_position(angle, stiffness, end);
  return std::hypot(std::sin(angle) + result.unknowns.at(1, "ux") - exact[0],
                    -std::cos(angle) + result.unknowns.at(1, "uy") - exact[1]);
}

TEST(TransientOrder, MethodsAreOfSecondOrderOnAnElasticPendulum) {
  for (const char* method : {"newmark", "hht", "hht:alpha=-0.3", "generalised-alpha", "generalised-alpha:radius=0.5"}) {
    const double coarse = pendulum_error(method, 0.01), fine = pendulum_error(method, 0.005);
    EXPECT_LT(fine, 5e-3) << method;
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.2) << method << " " << coarse << " " << fine;
  }
  const double coarse = pendulum_error("newmark:beta=0.36,gamma=0.7", 0.002),
               fine = pendulum_error("newmark:beta=0.36,gamma=0.7", 0.001);
  EXPECT_NEAR(std::log2(coarse / fine), 1, 0.15) << coarse << " " << fine;
}

TEST(TransientOrder, MethodsAreOfSecondOrderOnABar) {
  // The third mode of a bar with one end free: sin(q i) is a mode of the mesh itself, with q = 5π / 2n and
  // ω² = 6n² (1 − cos q) / (2 + cos q) for the consistent mass, so that the error is that of the integration alone.
  const int n = 12;
  const double q = 5 * pi / (2 * n), omega = n * std::sqrt(6 * (1 - std::cos(q)) / (2 + std::cos(q))), end = 1.1;
  const auto error = [&](const std::string& method, double step) {
    Domain d;
    add_bar(d, n);
    auto a = make_transient_analysis(d, options_of(method));
    NodalField shape = zero_field(a->model());
    for (int i = 0; i <= n; ++i) entry(shape, i, "ux") = std::sin(q * i);
    a->set_initial_displacement(shape);
    a->set_steps({.end = end, .step = step});
    const StepResult result = a->run().back();
    double largest = 0;
    for (int i = 0; i <= n; ++i)
      largest = std::max(largest, std::abs(result.unknowns.at(i, "ux") - std::cos(omega * end) * std::sin(q * i)));
    return largest;
  };
  for (const char* method : {"newmark", "hht", "hht:alpha=-0.3", "generalised-alpha", "generalised-alpha:radius=0.5"}) {
    const double coarse = error(method, 0.01), fine = error(method, 0.005);
    EXPECT_LT(fine, 1e-2) << method;
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.2) << method << " " << coarse << " " << fine;
  }
}

TEST(TransientOrder, ANonlinearBarIsOfSecondOrder) {
  const auto run = [](double step) {
    Domain d;
    auto m = std::make_shared<Material>("bar");
    m->set("young", 1).set("area", 1).set("density", 1);
    for (int i = 0; i <= 4; ++i) d.add_node(i + 1, i * 0.25, 0, 0);
    auto& bar = d.add_block("bar", "green_truss");
    bar.set_material(m);
    for (int i = 0; i < 4; ++i) bar.add(i + 1, {i + 1, i + 2});
    d.add_node_set("wall", {1});
    d.add_node_set("all", {1, 2, 3, 4, 5});
    d.prescribe("wall", "ux");
    d.prescribe("all", "uy");
    d.add_load_case("end").nodal_at(5, "ux", 1);
    auto a = make_transient_analysis(d, options_of("generalised-alpha:radius=0.9"));
    a->loads().add_load_case("end", Amplitude({{0, 0}, {1, 0.4}}));
    a->set_steps({.end = 1, .step = step});
    return a->run().back().unknowns.at(4, "ux");
  };
  const double reference = run(1.0 / 1280), coarse = run(1.0 / 40) - reference, fine = run(1.0 / 80) - reference;
  EXPECT_NEAR(std::log2(std::abs(coarse / fine)), 2, 0.2) << coarse << " " << fine;
}

}  // namespace
}  // namespace voussoir
