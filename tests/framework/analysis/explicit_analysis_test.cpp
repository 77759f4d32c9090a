#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include <voussoir/framework/analysis/detail/initial_motion.hpp>
#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "support/error_text.hpp"
#include "support/transient_models.hpp"

// Element types of support/finite_strain_laws.hpp, which are registered by a source file of their own.

namespace voussoir {
namespace {

using testing::add_bar;
using testing::add_bar_on_a_moving_wall;
using testing::add_oscillator;
using testing::entry;
using testing::error_of;
using testing::expect_part;
using testing::options_of;
using testing::oscillator_on_a_ramp;
using testing::zero_field;

constexpr double pi = 3.14159265358979323846;

Analysis::Collaborators on(const std::string& backend = "openmp:1") {
  Analysis::Collaborators parts;
  parts.backend = Backend::open(backend);
  return parts;
}

/// Options of an implicit analysis to compare with: as options_of(), with the lumped mass of explicit dynamics.
TransientOptions lumped_options(const RayleighDamping& damping = {}) {
  TransientOptions options = options_of("newmark", damping);
  options.mass = MassKind::lumped;
  return options;
}

TEST(ExplicitAnalysis, StepsFollowTheCoefficients) {
  // The coefficients a0, a1 and a2 of central differences, written down for a bar whose forces are known.
  const int n = 7;
  const double alpha = 0.8, h = 0.05, length = 1.0 / n, k = n;
  Domain d;
  add_bar(d, n, {0.3, 0});
  ExplicitAnalysis a(d, on());
  a.set_damping({0.5, 0});
  a.loads().add_load_case("end", Amplitude({{0, 0.5}, {10, 10.5}}));
  a.set_steps({.end = 4, .step = h, .report_every = 7});
  NodalField u0 = zero_field(a.model()), v0 = u0;
  entry(u0, 4, "ux") = 0.01;
  entry(v0, 2, "ux") = -0.2;
  a.set_initial_displacement(u0);
  a.set_initial_velocity(v0);
  const StepResult end = a.run().back();
  EXPECT_EQ(a.report().steps, 80);

  std::vector<double> m(n + 1, length), now(n + 1, 0.0), before(n + 1, 0.0), force(n + 1);
  m[n] = 0.5 * length;
  const auto form_forces = [&](const std::vector<double>& u, double t) {
    std::fill(force.begin(), force.end(), 0.0);
    for (int e = 0; e < n; ++e) {
      const double tension = k * (u[e + 1] - u[e]);
      force[e] += tension;
      force[e + 1] -= tension;
    }
    force[n] += 0.5 + t;
  };
  now[4] = 0.01;
  form_forces(now, 0);
  for (int i = 1; i <= n; ++i) {
    const double v = i == 2 ? -0.2 : 0, acceleration = force[i] / m[i] - alpha * v;
    before[i] = now[i] - h * v + 0.5 * h * h * acceleration;
  }
  for (int step = 0; step < 80; ++step) {
    form_forces(now, step * h);
    std::vector<double> next(n + 1, 0.0);
    for (int i = 1; i <= n; ++i) {
      const double damping = alpha * m[i], a0 = 1 / (damping / (2 * h) + m[i] / (h * h)), a1 = 2 * a0 * m[i] / (h * h),
                   a2 = a0 * damping / (2 * h) - a1 / 2;
      next[i] = a0 * force[i] + a1 * now[i] + a2 * before[i];
    }
    before = now;
    now = next;
  }
  for (int i = 0; i <= n; ++i) EXPECT_NEAR(end.unknowns.at(i, "ux"), now[i], 1e-12) << i;
  // Works by the trapezoidal rule leave what the velocities of half steps differ by.
  EXPECT_LT(a.report().worst_balance, 0.05);
  EXPECT_GT(a.energies().damping, 0.1);
}

TEST(ExplicitAnalysis, IsOfSecondOrder) {
  const auto error = [](double h) {
    Domain d;
    add_oscillator(d, 4, 1);
    d.add_load_case("ramp").nodal_at(2, "ux", 3);
    ExplicitAnalysis a(d, on());
    a.set_damping({0.4, 0});
    a.loads().add_load_case("ramp", Amplitude({{0, 0}, {100, 100}}));
    NodalField u0 = zero_field(a.model()), v0 = u0;
    entry(u0, 1, "ux") = 0.3;
    entry(v0, 1, "ux") = 1;
    a.set_initial_displacement(u0);
    a.set_initial_velocity(v0);
    a.set_steps({.end = 3.2, .step = h});
    const double u = a.run().back().unknowns.at(1, "ux");
    EXPECT_NEAR(a.report().limit, 1.0, 1e-9);  // 2 / ω
    return std::abs(u - oscillator_on_a_ramp(0.4, 3.2));
  };
  const double coarse = error(0.04), fine = error(0.02);
  EXPECT_LT(fine, 1e-3);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1) << coarse << " " << fine;
}

TEST(ExplicitAnalysis, TheLimitIsThatOfTheHighestFrequency) {
  for (const int n : {1, 2, 3, 17, 60}) {
    Domain d;
    add_bar(d, n);
    ExplicitAnalysis a(d, on());
    a.set_steps({.end = 0.1});
    a.start();
    // Lumped bar, one end held: ω = 2 n sin((2n − 1) π / 4n).
    const double exact = 1 / (n * std::sin((2 * n - 1) * pi / (4 * n)));
    EXPECT_LE(a.report().limit, exact * (1 + 1e-9)) << n;
    EXPECT_GE(a.report().limit, exact * 0.97) << n;
    EXPECT_LE(a.report().products, 80);
  }
}

TEST(ExplicitAnalysis, AWaveArrivesOnTime) {
  // A step load on the end of a bar with c = 1, L = 1: the wall feels nothing until t = 1, then twice the load.
  Domain d;
  add_bar(d, 200);
  ExplicitAnalysis a(d, on());
  a.loads().add_load_case("end");
  a.set_steps({.end = 2.5, .report_every = 1});
  const auto history = std::make_shared<HistoryRecorder>();
  const auto wall = history->add(1, "ux", HistoryRecorder::Quantity::reaction);
  const auto tip = history->add(201, "ux");
  a.add_recorder(history);
  a.run();
  const auto at = [&](double t) {
    std::size_t k = 0;
    while (history->times()[k] < t) ++k;
    return k;
  };
  double mean = 0;
  int count = 0;
  std::size_t arrival = 0;
  for (std::size_t k = 0; k < history->times().size(); ++k) {
    const double t = history->times()[k], force = history->values(wall)[k];
    if (t < 0.95) {
      EXPECT_NEAR(force, 0, 0.02);
    }
    if (t > 1.2 && t < 1.9) mean += force, ++count;
    if (arrival == 0 && force < -1) arrival = k;
  }
  EXPECT_NEAR(history->times()[arrival], 1, 0.01);
  EXPECT_NEAR(mean / count, -2, 0.02);
  EXPECT_NEAR(history->values(tip)[at(1.8)], 1.8, 0.01);  // velocity 1 until the wave is back at t = 2
  EXPECT_LT(std::abs(a.energies().numerical()), 0.05 * a.energies().scale());
  EXPECT_EQ(a.report().estimates, 1);
  EXPECT_EQ(a.state().time, 2.5);
}

std::shared_ptr<Material> finite_material(double lambda, double mu, double rho) {
  auto m = std::make_shared<Material>("solid");
  m->set("lambda", lambda).set("mu", mu).set("rho", rho);
  return m;
}

/// A block that flies and spins freely, and vibrates because it is stretched at first.
struct SpinningBlock {
  static constexpr double density = 2, flight[3] = {0.5, -0.2, 0.1};
  Domain domain;
  std::unique_ptr<ExplicitAnalysis> analysis;

  SpinningBlock(const std::string& type, const ExplicitSteps& steps) {
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {2, 3, 2};
    mesh.lower = {-0.5, -1, -0.3};
    mesh.upper = {0.5, 1, 0.3};
    add_box_mesh(domain, mesh).set_material(finite_material(60, 40, density));
    analysis = std::make_unique<ExplicitAnalysis>(domain, on());
    NodalField v0 = zero_field(analysis->model());
    const double spin[3] = {0.4, 0.3, 1.0};
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const auto x = domain.coordinates().subspan(3 * static_cast<std::size_t>(n), 3);
      const double v[3] = {spin[1] * x[2] - spin[2] * x[1], spin[2] * x[0] - spin[0] * x[2],
                           spin[0] * x[1] - spin[1] * x[0]};
      entry(v0, n, "ux") = v[0] + flight[0];
      entry(v0, n, "uy") = v[1] + flight[1] + 0.3 * x[1];
      entry(v0, n, "uz") = v[2] + flight[2];
    }
    analysis->set_initial_velocity(v0);
    analysis->set_steps(steps);
    analysis->start();
  }

  /// Linear and angular momentum.
  std::array<double, 6> momenta() const {
    ExplicitAnalysis& a = *analysis;
    const std::vector<double> u = a.state().unknowns.to_host(), v = a.state().rate.to_host(),
                              root = a.integrator().inverse_root_mass(a.model()).to_host();
    std::array<double, 6> sum{};
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      double x[3], m[3], p[3];
      const auto place = domain.coordinates().subspan(3 * static_cast<std::size_t>(n), 3);
      const char* const names[] = {"ux", "uy", "uz"};
      for (int i = 0; i < 3; ++i) {
        const auto e = static_cast<std::size_t>(a.model().equation(n, names[i]));
        m[i] = 1 / (root[e] * root[e]);
        x[i] = place[i] + u[e];
        p[i] = m[i] * v[e];
        sum[i] += p[i];
      }
      for (int i = 0; i < 3; ++i) sum[3 + i] += x[(i + 1) % 3] * p[(i + 2) % 3] - x[(i + 2) % 3] * p[(i + 1) % 3];
    }
    return sum;
  }
};

TEST(ExplicitAnalysis, AFreeSpinningBlockKeepsItsMomentaAndEnergy) {
  for (const char* type : {"st_venant_kirchhoff.hex8", "st_venant_kirchhoff.tet4", "heavy_neo_hooke.hex8"}) {
    const SpinningBlock block(type, {.end = 60, .factor = 0.5, .report_every = 100});
    ExplicitAnalysis& a = *block.analysis;
    const std::array<double, 6> begin = block.momenta();
    EXPECT_NEAR(begin[0], SpinningBlock::density * 1.2 * SpinningBlock::flight[0], 1e-12);  // mass 1 · 2 · 0.6 · ρ
    const double energy = a.energies().kinetic;
    double lowest = energy, highest = energy, most_internal = 0;
    while (!a.at_end()) {
      a.advance(100);
      const std::array<double, 6> now = block.momenta();
      for (std::size_t i = 0; i < 6; ++i) ASSERT_NEAR(now[i], begin[i], 1e-11) << type << " " << i;
      const EnergyBalance& e = a.energies();
      lowest = std::min(lowest, e.kinetic + e.internal);
      highest = std::max(highest, e.kinetic + e.internal);
      most_internal = std::max(most_internal, e.internal);
      // The work of the forces over time is the strain energy of the law, integrated along a straight path. That of
      // neo-Hooke would pass through inverted elements where the block is upside down.
      if (std::string(type).starts_with("st_venant")) {
        EXPECT_NEAR(e.internal, detail::strain_energy_of(a.model(), a.state()), 2e-3 * energy) << type;
      }
    }
    EXPECT_GT(a.report().steps, 2000) << type;
    EXPECT_GT(most_internal, 0.01 * energy) << type;
    EXPECT_LT(highest - lowest, 1e-3 * energy) << type;
    EXPECT_GT(a.report().estimates, 3) << type;
  }
}

/// Over many turns: what is lost or gained does not add up, with steps of a quarter of the limit.
TEST(ExplicitAnalysis, AFreeSpinningBlockKeepsItsEnergyOverAHundredThousandSteps) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "too slow under a sanitizer";
#endif
  const SpinningBlock block("st_venant_kirchhoff.hex8", {.end = 1e6, .factor = 0.25, .report_every = 100000});
  ExplicitAnalysis& a = *block.analysis;
  const std::array<double, 6> begin = block.momenta();
  const double energy = a.energies().kinetic;
  double lowest = energy, highest = energy;
  while (a.report().steps < 100000) {
    a.advance(500);
    lowest = std::min(lowest, a.energies().kinetic + a.energies().internal);
    highest = std::max(highest, a.energies().kinetic + a.energies().internal);
  }
  const std::array<double, 6> now = block.momenta();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(now[i], begin[i], i < 3 ? 1e-13 : 1e-10) << i;
  EXPECT_LT(highest - lowest, 1e-3 * energy);
}

/// A beam of finite strain whose free end is pulled sideways far: the deflection at the end by one of both methods.
double deflection(bool explicitly, const char* type) {
  Domain d;
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {6, 1, 1};
  mesh.upper = {6, 1, 1};
  add_box_mesh(d, mesh).set_material(finite_material(600, 400, 1));
  d.prescribe("xmin", "all");
  auto& pull = d.add_load_case("pull");
  pull.traction("xmax", {0, 0, 1});
  const Amplitude course({{0, 0}, {2, 2.5}, {4, 0}});
  if (explicitly) {
    ExplicitAnalysis a(d, on());
    a.loads().add_load_case("pull", course);
    a.set_steps({.end = 3, .factor = 0.5});
    a.set_recovery(false);
    const double u = a.run().back().unknowns.at(d.node_count() - 1, "uz");
    EXPECT_LT(a.report().worst_balance, 1e-2);
    return u;
  }
  auto a = make_transient_analysis(d, lumped_options());
  a->loads().add_load_case("pull", course);
  a->set_steps({.end = 3, .step = 0.01});
  a->set_recovery(false);
  return a->run().back().unknowns.at(d.node_count() - 1, "uz");
}

TEST(ExplicitAnalysis, AgreesWithImplicitDynamicsAtLargeDisplacement) {
  for (const char* type : {"st_venant_kirchhoff.hex8", "heavy_neo_hooke.hex8"}) {
    const double is = deflection(true, type), expected = deflection(false, type);
    EXPECT_GT(std::abs(expected), 0.5) << type;  // of a height of 1
    EXPECT_NEAR(is, expected, 2e-3 * std::abs(expected)) << type;
  }
}

TEST(ExplicitAnalysis, PlasticityKeepsItsHistory) {
  // A bar of J2 whose end is pulled beyond yield and pushed back, explicitly and implicitly.
  const auto run = [](bool explicitly, EnergyBalance& energies) {
    Domain d;
    BoxMesh mesh;
    mesh.type = "heavy_j2.hex8";
    mesh.cells = {4, 1, 1};
    mesh.upper = {4, 1, 1};
    auto m = std::make_shared<Material>("metal");
    m->set("lambda", 120).set("mu", 80).set("yield", 1).set("hardening", 20).set("rho", 1);
    add_box_mesh(d, mesh).set_material(m);
    d.prescribe("xmin", "ux");
    d.prescribe("xmax", "ux", 1);
    d.prescribe("ymin", "uy");
    d.prescribe("zmin", "uz");
    std::vector<Amplitude::Point> points;  // slowly, so that both see the same equilibrium in the end
    for (int i = 0; i <= 800; ++i) points.emplace_back(0.01 * i, 0.04 * std::sin(2 * pi * i / 640.0));
    const Amplitude course(points);
    const auto moved = [&](TimeLoads& loads) {
      loads.move_supports(d, "xmax", "ux", SupportMotion::by_displacement(course));
    };
    const auto values = [&](const StepResult& result) {
      std::vector<double> all = result.unknowns.values;
      double force = 0;
      for (const std::int32_t n : d.node_set("xmin")) force += result.reactions.at(n, "ux");
      all.push_back(0.1 * force);
      return all;
    };
    if (explicitly) {
      ExplicitAnalysis a(d, on());
      moved(a.loads());
      a.set_damping({2, 0});
      a.set_steps({.end = 6, .factor = 0.5});
      const StepResult end = a.run().back();
      energies = a.energies();
      EXPECT_LT(a.report().worst_balance, 0.02);
      EXPECT_LE(a.report().limit, a.report().smallest_limit);
      return values(end);
    }
    auto a = make_transient_analysis(d, lumped_options({2, 0}));
    moved(a->loads());
    a->set_steps({.end = 6, .step = 0.01});
    const StepResult end = a->run().back();
    energies = a->energies();
    return values(end);
  };
  EnergyBalance ours, theirs;
  const auto is = run(true, ours), expected = run(false, theirs);
  // Displacements are some hundredths; a tenth of the yield force is 0.1.
  for (std::size_t i = 0; i < is.size(); ++i) EXPECT_NEAR(is[i], expected[i], 5e-4) << i;
  // Most of the work was dissipated by flow: pulling an elastic bar back would return it.
  EXPECT_GT(ours.external, 0.05);
  EXPECT_NEAR(ours.internal, theirs.internal, 0.02 * theirs.internal);
  EXPECT_NEAR(ours.external, theirs.external, 0.02 * theirs.external);
}

TEST(ExplicitAnalysis, SupportsThatMoveWorkAsInImplicitDynamics) {
  Domain d;
  add_bar_on_a_moving_wall(d, 30);
  std::vector<Amplitude::Point> points;
  for (int i = 0; i <= 400; ++i) points.emplace_back(0.01 * i, 0.05 * (1 - std::cos(0.02 * i)));
  const auto motion = SupportMotion::by_displacement(Amplitude(points));
  ExplicitAnalysis a(d, on());
  a.loads().move_supports(motion);
  a.set_damping({0.3, 0});
  a.set_steps({.end = 3, .factor = 0.8});
  const StepResult is = a.run().back();
  auto b = make_transient_analysis(d, lumped_options({0.3, 0}));
  b->loads().move_supports(motion);
  b->set_steps({.end = 3, .step = 0.005});
  const StepResult expected = b->run().back();
  for (int n = 0; n <= 30; ++n) EXPECT_NEAR(is.unknowns.at(n, "ux"), expected.unknowns.at(n, "ux"), 2e-4) << n;
  EXPECT_NEAR(a.energies().external, b->energies().external, 0.01 * b->energies().scale());
  EXPECT_NEAR(a.energies().damping, b->energies().damping, 0.01 * b->energies().scale());
  EXPECT_LT(a.report().worst_balance, 0.01);
  EXPECT_NEAR(is.reactions.at(0, "ux"), expected.reactions.at(0, "ux"), 0.02);
}

TEST(ExplicitAnalysis, BaseAccelerationsAreLoads) {
  Domain d;
  add_bar(d, 10);
  const Amplitude quake({{0, 0}, {0.5, 1}, {1.5, -1}, {2, 0}});
  ExplicitAnalysis a(d, on());
  a.loads().add_base_acceleration("x", quake);
  a.set_steps({.end = 1.2, .factor = 0.5});
  const double is = a.run().back().unknowns.at(10, "ux");
  auto b = make_transient_analysis(d, lumped_options());
  b->loads().add_base_acceleration("x", quake);
  b->set_steps({.end = 1.2, .step = 0.002});
  const double expected = b->run().back().unknowns.at(10, "ux");
  EXPECT_GT(std::abs(expected), 0.05);
  EXPECT_NEAR(is, expected, 5e-3 * std::abs(expected));
  EXPECT_NEAR(a.energies().external, b->energies().external, 0.01 * b->energies().scale());
}

TEST(ExplicitAnalysis, StepsMeetTheirTimesAndMayChange) {
  Domain d;
  add_bar(d, 10);
  const auto run = [&](std::vector<double> times) {
    ExplicitAnalysis a(d, on());
    a.loads().add_load_case("end", Amplitude({{0, 0}, {1, 1}}));
    a.set_steps({.end = 1, .step = 0.02, .times = std::move(times)});
    std::vector<double> met;
    a.finished = [&](double time, StepResult) { met.push_back(time); };
    a.set_recovery(false);
    EXPECT_TRUE(a.run().empty());
    EXPECT_LE(a.report().largest_step, 0.02 * (1 + 1e-9));
    return std::pair(met, a.result().unknowns.at(10, "ux"));
  };
  const auto [end, plain] = run({});
  EXPECT_EQ(end, (std::vector<double>{1}));
  const auto [met, varied] = run({0.013, 0.5, 0.777, 1});
  EXPECT_EQ(met, (std::vector<double>{0.013, 0.5, 0.777, 1}));
  EXPECT_NEAR(varied, plain, 1e-3 * std::abs(plain));
}

TEST(ExplicitAnalysis, AnInstabilityIsFound) {
  Domain d;
  add_bar(d, 20);
  const auto run = [&](double step, bool limited, double tolerance = 0.95) {
    ExplicitAnalysis a(d, on());
    a.loads().add_load_case("end");
    a.set_steps({.end = 20, .step = step, .limited = limited, .report_every = 10, .balance_tolerance = tolerance});
    a.run();
  };
  const double limit = 0.05 / std::sin(39 * pi / 80);
  // The limit is named, and it is a safe one.
  expect_part(error_of([&] { run(1.03 * limit, true); }), "stable up to 0.0499");
  const std::string text = error_of([&] { run(1.01 * limit, false); });
  expect_part(text, "out of balance");
  expect_part(text, "appeared from nothing");
  expect_part(text, "time ");
  EXPECT_EQ(error_of([&] { run(0.99 * limit, false); }), "");
  // Whoever asks for accuracy gets told that a sudden load excites frequencies that steps do not resolve.
  expect_part(error_of([&] { run(0.99 * limit, false, 1e-3); }), "allowed are 0.1 %");
}

TEST(ExplicitAnalysis, AnOscillatorAtTheLimitIsNotTakenForUnstable) {
  Domain d;
  add_bar(d, 1);
  ExplicitAnalysis a(d, on());
  a.loads().add_load_case("end");
  a.set_steps({.end = 200, .report_every = 1});
  a.run();
  EXPECT_LT(a.report().worst_balance, 0.85);
}

TEST(ExplicitAnalysis, RefusesWhatItCannotDo) {
  const auto run = [](Domain& d, const RayleighDamping& damping = {}) {
    return error_of([&] {
      ExplicitAnalysis a(d, on());
      a.set_damping(damping);
      a.set_steps({.end = 0.1});
      a.run();
    });
  };
  Domain tied;
  add_bar(tied, 4);
  EXPECT_EQ(run(tied), "");
  expect_part(run(tied, {0, 0.1}), "damping by the stiffness");
  expect_part(run(tied, {0, 0.1}), "block 'bar'");
  expect_part(run(tied, {-0.1, 0}), "negative");
  tied.add_equation({{3, "ux", 1}, {5, "ux", -1}});
  expect_part(run(tied), "multi-point equation");
  Domain oblique;
  add_bar(oblique, 4);
  oblique.clear_supports();
  oblique.prescribe_along(2, {0.6, 0.8, 0}, 0);
  expect_part(run(oblique), "another direction");
  Domain light;
  add_bar(light, 2);
  light.add_node(9, 2, 0, 0);
  auto& weightless = light.add_block("thread", "truss");
  weightless.set_material(std::make_shared<IsotropicMaterial>("thread", 1, 0.3, 0)).set_section("area", 1);
  weightless.add(7, {3, 9});
  expect_part(run(light), "node 9");
  expect_part(run(light), "has no mass");
  Domain d;
  add_bar(d, 2);
  ExplicitAnalysis a(d, on());
  expect_part(error_of([&] { a.set_steps({.end = 0}); }), "after the start");
  expect_part(error_of([&] { a.set_steps({.factor = 1.2}); }), "factor");
  expect_part(error_of([&] { a.set_steps({.limited = false}); }), "must be given");
  expect_part(error_of([&] { a.set_steps({.step = -1}); }), "greater than 0");
  expect_part(error_of([&] { a.set_steps({.times = {0.5, 0.4}}); }), "increase");
  expect_part(error_of([&] { a.set_steps({.end = 1e30}), a.run(); }), "too many");
  expect_part(error_of([&] { a.state(); }), "start()");
  Analysis::Collaborators other = on();
  other.integrator = std::make_shared<NewmarkIntegrator>();
  expect_part(error_of([&] { ExplicitAnalysis(d, other); }), "CentralDifferences");
  Domain heat;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  add_box_mesh(heat, mesh);
  EXPECT_NE(run(heat), "");
}

}  // namespace
}  // namespace voussoir
