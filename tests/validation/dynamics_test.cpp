// Direct integration over time against published and closed-form cases.
#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/solvers/transient_problem.hpp>

#include "support/transient_models.hpp"
#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

using testing::add_bar;
using testing::add_oscillator;
using testing::entry;
using testing::field_at;
using testing::options_of;
using testing::zero_field;

Analysis::Collaborators on_one_thread() {
  Analysis::Collaborators parts;
  parts.backend = Backend::open("openmp:1");
  return parts;
}

/// Chopra, Dynamics of Structures, example 5.3: m = 0.2533, k = 10, ζ = 0.05 under a half sine of 10 and 0.6 s, by
/// average acceleration in steps of 0.1 s. Example 5.4 is about linear acceleration, which is not stable for all steps
/// and is refused.
TEST(DirectIntegration, NewmarkAsInChoprasBook) {
  const double published[] = {.0437, .2326, .6121, 1.0825, 1.4309, 1.4231, .9622, .1908, -.6044, -1.1442};
  Domain domain;
  const double mass = 0.2533, stiffness = 10, damping = 2 * 0.05 * std::sqrt(mass * stiffness);
  add_oscillator(domain, stiffness, mass);
  domain.add_load_case("push").nodal_at(2, "ux", 10);
  auto analysis = make_transient_analysis(domain, options_of("newmark", {damping / mass, 0}));
  analysis->loads().add_load_case("push", [](double t) { return t < 0.6 ? std::sin(pi * t / 0.6) : 0.0; });
  analysis->set_steps({.end = 1, .step = 0.1});
  const auto history = std::make_shared<HistoryRecorder>();
  history->add(2, "ux");
  analysis->add_recorder(history);
  analysis->run();
  ASSERT_EQ(history->values(0).size(), 11u);
  // The book has four digits after the point, of numbers that were rounded on the way.
  for (std::size_t k = 0; k < 10; ++k)
    EXPECT_NEAR(history->values(0)[k + 1], published[k], 2e-4) << 0.1 * static_cast<double>(k + 1);
  EXPECT_THROW(make_transient_analysis(domain, options_of("newmark:beta=0.16666666666666667,gamma=0.5")), Error);
}

/// The oscillation of an undamped oscillator advances by 2 atan(ωh/2) in a step of average acceleration, and by
/// 2 asin(ωh/2) in one of central differences.
TEST(DirectIntegration, PhasesPerStepAreThoseOfTheMethods) {
  for (const double omega_h : {0.1, 0.7, 1.9}) {
    Domain domain;
    add_oscillator(domain, omega_h * omega_h, 1);
    auto implicit = make_transient_analysis(domain, options_of("newmark"));
    implicit->set_initial_displacement(field_at(implicit->model(), 2, "ux", 1));
    implicit->set_steps({.end = 40, .step = 1});
    ExplicitAnalysis central(domain, on_one_thread());
    central.set_initial_displacement(field_at(central.model(), 2, "ux", 1));
    central.set_steps({.end = 40, .step = 1});
    const double u = implicit->run().back().unknowns.at(1, "ux"), v = central.run().back().unknowns.at(1, "ux");
    EXPECT_NEAR(u, std::cos(40 * 2 * std::atan(omega_h / 2)), 1e-10) << omega_h;
    EXPECT_NEAR(v, std::cos(40 * 2 * std::asin(omega_h / 2)), 1e-10) << omega_h;
  }
}

/// ½ v(n+½)·M v(n+½) + ½ u(n)·K u(n+1) is conserved by central differences in linear models without damping.
TEST(DirectIntegration, CentralDifferencesConserveTheirEnergy) {
  const int n = 15;
  const double length = 1.0 / n, h = 0.9 * length;
  Domain domain;
  add_bar(domain, n);
  ExplicitAnalysis analysis(domain, on_one_thread());
  NodalField u0 = zero_field(analysis.model()), v0 = u0;
  for (int i = 1; i <= n; ++i) {
    entry(u0, i, "ux") = 0.01 * i * i * length;
    entry(v0, i, "ux") = i % 4 == 0 ? -0.3 : 0.1;
  }
  analysis.set_initial_displacement(u0);
  analysis.set_initial_velocity(v0);
  analysis.set_steps({.end = 1000 * h, .step = h});
  analysis.start();
  const auto displacements = [&] {
    const std::vector<double> all = analysis.state().unknowns.to_host();
    std::vector<double> u;
    for (int i = 0; i <= n; ++i) u.push_back(all[static_cast<std::size_t>(analysis.model().equation(i, "ux"))]);
    return u;
  };
  const auto energy = [&](const std::vector<double>& u, const std::vector<double>& next) {
    double sum = 0;
    for (std::size_t i = 1; i < u.size(); ++i) {
      const double mass = i + 1 == u.size() ? length / 2 : length, v = (next[i] - u[i]) / h;
      sum += mass * v * v / 2 + (u[i] - u[i - 1]) * (next[i] - next[i - 1]) / (2 * length);
    }
    return sum;
  };
  std::vector<double> now = displacements();
  double first = 0;
  for (int k = 0; k < 400; ++k) {
    analysis.advance(1);
    const std::vector<double> next = displacements();
    const double e = energy(now, next);
    if (k == 0) first = e;
    ASSERT_NEAR(e, first, 1e-12 * first) << k;
    now = next;
  }
  EXPECT_GT(first, 1e-3);
}

/// NAFEMS 5T, as in modes_test.cpp, by direct integration with steps of 1e-4 s.
TEST(DirectIntegration, Nafems5tDeepBeamOfHex20) {
  Domain domain;
  const Id centre = build_deep_beam(domain);
  for (const char* method : {"newmark", "hht", "generalised-alpha"}) {
    auto analysis = make_transient_analysis(domain, options_of(method, {5.36, 7.46e-5}));
    analysis->loads().add_load_case("load");
    analysis->set_steps({.end = 0.02, .step = 1e-4});
    const auto history = std::make_shared<HistoryRecorder>();
    history->add(centre, "uy");
    analysis->add_recorder(history);
    analysis->set_recovery(false);
    analysis->run();
    const std::vector<double>& u = history->values(0);
    const auto peak = static_cast<std::size_t>(std::min_element(u.begin(), u.end()) - u.begin());
    expect_relative(-u[peak], 1.0510e-3, 1e-3, std::string(method) + ", peak");
    EXPECT_NEAR(history->times()[peak], 0.0117, 1.01e-4) << method;
    expect_relative(-u[peak], 1.043e-3, 0.02, std::string(method) + ", NAFEMS");
  }
  expect_relative(-solve(domain).unknowns.at(domain.node_index(centre), "uy"), 0.5402e-3, 2e-4, "at rest");
}

}  // namespace
}  // namespace voussoir::validation
