#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <voussoir/framework/analysis/detail/stable_step.hpp>
#include <voussoir/framework/analysis/detail/viscous_forces.hpp>
#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "support/expect_error.hpp"
#include "support/transient_models.hpp"

// Bulk viscosity of explicit dynamics: forces by their definition, stability, shocks, energies, saved states. Laws are
// those of support/finite_strain_laws.hpp.

namespace voussoir {
namespace {

using testing::entry;
using testing::expect_error;
using testing::zero_field;

Analysis::Collaborators parts_on(const std::string& backend = "openmp:1") {
  Analysis::Collaborators parts;
  parts.backend = Backend::open(backend);
  return parts;
}

/// A box of one material with E = 2, ν = 0.25, ρ = 3: λ = µ = 0.8, c² = (λ + 2µ) / ρ = 0.8.
void add_body(Domain& d, const std::string& type, std::array<int, 3> cells, std::array<double, 3> upper,
              double distortion = 0) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = cells;
  mesh.upper = upper;
  mesh.distortion = distortion;
  if (type.starts_with("solid")) {
    add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("m", 2, 0.25, 3));
    return;
  }
  auto m = std::make_shared<Material>("m");
  m->set("lambda", 0.8).set("mu", 0.8).set("rho", 3);
  add_box_mesh(d, mesh).set_material(m);
}

/// The power Σ f · v of bulk viscosity for the velocities v_i = rates_i x_i at displacements u_i = stretch_i x_i.
double power(const std::string& type, const BulkViscosity& viscosity, std::array<double, 3> rates,
             std::array<double, 3> stretch = {}) {
  Domain d;
  add_body(d, type, {2, 1, 1}, {1, 0.4, 0.3});
  ExplicitAnalysis a(d, parts_on());
  const AnalysisModel& model = a.model();
  detail::ViscousForces forces(model, viscosity);
  Vector u = model.make_vector(), v = model.make_vector(), f = model.make_vector();
  std::vector<double> moved(static_cast<std::size_t>(model.equation_count())), rate(moved);
  const char* const names[] = {"ux", "uy", "uz"};
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    for (std::size_t i = 0; i < 3; ++i) {
      const double x = d.coordinates()[3 * static_cast<std::size_t>(n) + i];
      const auto e = static_cast<std::size_t>(model.equation(n, names[i]));
      moved[e] = stretch[i] * x;
      rate[e] = rates[i] * (1 + stretch[i]) * x;  // the velocity gradient of the deformed body is `rates`
    }
  u.from_host(moved);
  v.from_host(rate);
  forces.form(u, v, f);
  const std::vector<double> force = f.to_host();
  double sum = 0;
  for (std::size_t e = 0; e < force.size(); ++e) sum += force[e] * rate[e];
  return sum;
}

TEST(BulkViscosity, StressesFollowTheDefinition) {
  // Two bricks of 0.5 × 0.4 × 0.3: L = 0.3, volume 0.12 in all.
  const double rho = 3, c = std::sqrt(0.8), length = 0.3, volume = 0.12;
  const auto expected = [&](double linear, double quadratic, double rate) {
    const double stress = linear * rho * c * length * rate +
                          rho * quadratic * quadratic * length * length * std::abs(rate) * std::min(rate, 0.0);
    return volume * stress * rate;
  };
  for (const double sign : {1.0, -1.0}) {
    const double rate = sign * 0.6;  // 0.1 + 0.2 + 0.3
    const std::array<double, 3> rates{sign * 0.1, sign * 0.2, sign * 0.3};
    EXPECT_NEAR(power("solid.hex8", {0.06, 0}, rates), expected(0.06, 0, rate), 1e-14);
    EXPECT_NEAR(power("solid.hex8.reduced", {0, 1.2}, rates), expected(0, 1.2, rate), 1e-14);
    EXPECT_NEAR(power("st_venant_kirchhoff.hex8", {0.06, 1.2}, rates), expected(0.06, 1.2, rate), 1e-14);
  }
  EXPECT_EQ(power("solid.hex8", {0, 1.2}, {0.1, 0.2, 0.3}), 0);
  // No change of volume, no viscosity.
  EXPECT_NEAR(power("solid.hex8", {0.06, 1.2}, {0.3, -0.1, -0.2}), 0, 1e-16);
}

TEST(BulkViscosity, LargeStrainsUseTheDeformedElement) {
  // Stretched to 1 × 0.4 × 0.15 each: mass as before, L = 0.15, current density and volume.
  const std::array<double, 3> stretch{1, 0, -0.5};
  const double mass = 3 * 0.12, c = std::sqrt(0.8), rate = -0.6;
  const double expected = mass * 0.15 * (0.06 * c * rate - 1.44 * 0.15 * rate * rate) * rate;
  EXPECT_NEAR(power("st_venant_kirchhoff.hex8", {0.06, 1.2}, {-0.1, -0.2, -0.3}, stretch), expected, 1e-14);
  // A linear body has the shape that it had at rest.
  const double of_linear = mass * 0.3 * (0.06 * c - 1.44 * 0.3 * -0.05) * 0.0025;
  EXPECT_NEAR(power("solid.hex8", {0.06, 1.2}, {0, 0, -0.1}, stretch), of_linear, 1e-14);
}

TEST(BulkViscosity, TetrahedraAndWedgesDissipateAsWell) {
  // Lengths of these shapes are their own; they are shorter than the brick that they are cut from.
  for (const char* type : {"solid.tet4", "solid.wedge6"}) {
    const double linear = power(type, {0.06, 0}, {0.1, 0.2, 0.3}),
                 whole = power("solid.hex8", {0.06, 0}, {0.1, 0.2, 0.3});
    EXPECT_GT(linear, 0.1 * whole) << type;
    EXPECT_LT(linear, whole) << type;
    EXPECT_NEAR(power(type, {0.12, 0}, {-0.1, -0.2, -0.3}), 2 * linear, 1e-15) << type;
    EXPECT_EQ(power(type, {0, 1.2}, {0.1, 0.2, 0.3}), 0) << type;
    EXPECT_GT(power(type, {0, 1.2}, {-0.1, -0.2, -0.3}), 0) << type;
  }
}

/// A bar along x of cubes that strain along x alone, with c = 1 and ρ = 1; free at x = 1, held at x = 0. Its end is
/// pressed from time 0 on.
void add_cube_bar(Domain& d, int cells, double pressure, const std::string& type = "solid.hex8") {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {cells, 1, 1};
  mesh.upper = {1, 1.0 / cells, 1.0 / cells};
  if (type.starts_with("solid")) {
    add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("m", 1, 0, 1));
  } else {
    auto m = std::make_shared<Material>("m");
    m->set("lambda", 0).set("mu", 0.5).set("rho", 1);
    add_box_mesh(d, mesh).set_material(m);
  }
  d.add_node_set_where("all", [](double, double, double) { return true; });
  d.prescribe("xmin", "ux");
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  d.add_load_case("press").pressure("xmax", pressure);
}

TEST(BulkViscosity, ReducesTheStableStep) {
  for (const double linear : {0.06, 0.3, 1.0}) {
    Domain d;
    add_cube_bar(d, 20, 1e-3);
    const auto start = [&](ExplicitAnalysis& a) {
      a.loads().add_load_case("press");
      a.set_bulk_viscosity({linear, 0});
    };
    ExplicitAnalysis a(d, parts_on());
    start(a);
    a.set_steps({.end = 0.1});
    a.start();
    // The highest mode of the bar: ω = 40 sin(39 π / 80), and C = linear · L / c · K there.
    const double w = 40 * std::sin(39 * 3.14159265358979323846 / 80), xi = 0.5 * linear * 0.05 * w;
    const double exact = 2 / w * (std::sqrt(1 + xi * xi) - xi);
    EXPECT_LE(a.report().limit, exact * (1 + 1e-9)) << linear;
    EXPECT_GE(a.report().limit, exact * 0.97) << linear;
    const auto blows_up = [&](double step) {
      ExplicitAnalysis b(d, parts_on());
      start(b);
      b.set_steps({.end = 400 * step, .step = step, .limited = false, .report_every = 10});
      try {
        b.run();
      } catch (const Error&) {
        return true;
      }
      return false;
    };
    EXPECT_TRUE(blows_up(1.02 * exact)) << linear;
    EXPECT_FALSE(blows_up(0.99 * exact)) << linear;
  }
}

/// How a step wave passes the middle of a bar.
struct Passage {
  double arrival = 0;    // when the velocity is half of that behind the front
  double overshoot = 0;  // largest velocity behind the front, relative
  double ringing = 0;    // root of the mean square of the difference from it, before the reflected wave comes
  EnergyBalance energies;
  ExplicitReport report;
};

Passage pass_wave(const BulkViscosity& viscosity, double pressure, const std::string& type = "solid.hex8") {
  Domain d;
  add_cube_bar(d, 100, pressure, type);
  ExplicitAnalysis a(d, parts_on());
  a.loads().add_load_case("press");
  a.set_bulk_viscosity(viscosity);
  a.set_steps({.end = 1.4, .report_every = 1});
  a.set_recovery(false);
  const auto history = std::make_shared<HistoryRecorder>();
  const std::int32_t node = [&] {
    for (std::int32_t n = 0; n < d.node_count(); ++n)
      if (std::abs(d.coordinates()[3 * static_cast<std::size_t>(n)] - 0.5) < 1e-9) return n;
    return -1;
  }();
  const auto middle = history->add(d.node_id(node), "ux", HistoryRecorder::Quantity::velocity);
  a.add_recorder(history);
  a.run();
  Passage found;
  double squares = 0;
  int count = 0;
  for (std::size_t k = 0; k < history->times().size(); ++k) {
    const double t = history->times()[k], v = -history->values(middle)[k] / pressure;
    if (found.arrival == 0 && v > 0.5) found.arrival = t;
    found.overshoot = std::max(found.overshoot, v - 1);
    if (t > 0.8 && t < 1.2) squares += (v - 1) * (v - 1), ++count;
  }
  found.ringing = std::sqrt(squares / count);
  found.energies = a.energies();
  found.report = a.report();
  return found;
}

TEST(BulkViscosity, ShocksRingLessAndArriveOnTime) {
  const double pressure = 0.05;  // particle velocity 5 % of c
  const Passage bare = pass_wave({}, pressure), linear = pass_wave({0.06, 0}, pressure),
                both = pass_wave({0.06, 1.2}, pressure), strong = pass_wave({0.3, 1.2}, pressure);
  for (const Passage& p : {bare, linear, both, strong}) EXPECT_NEAR(p.arrival, 0.5, 0.01);
  EXPECT_GT(bare.overshoot, 0.15);
  EXPECT_GT(bare.ringing, 0.005);
  for (const Passage& p : {linear, both, strong}) {
    EXPECT_LT(p.overshoot, 0.1 * bare.overshoot);
    EXPECT_LT(p.ringing, 0.1 * bare.ringing);
  }
  EXPECT_EQ(bare.energies.viscous, 0);
  EXPECT_GT(linear.energies.viscous, 0);
  EXPECT_GT(both.energies.viscous, linear.energies.viscous);
  // What loads have brought in is kinetic, stored or dissipated by viscosity.
  for (const Passage& p : {linear, both, strong}) {
    EXPECT_LT(std::abs(p.energies.numerical()), 0.01 * p.energies.scale());
    EXPECT_LT(p.report.worst_balance, 0.6);  // the sudden load is not resolved in time
    EXPECT_LT(p.energies.viscous, 0.1 * p.energies.external);
  }
  EXPECT_LT(both.report.smallest_step, linear.report.smallest_step);
  EXPECT_LT(linear.report.smallest_step, bare.report.smallest_step);
  const Passage large = pass_wave({0.06, 1.2}, 0.01, "st_venant_kirchhoff.hex8"), small = pass_wave({0.06, 1.2}, 0.01);
  EXPECT_NEAR(large.arrival, small.arrival, 0.02);
  EXPECT_NEAR(large.energies.viscous, small.energies.viscous, 0.1 * small.energies.viscous);
}

TEST(BulkViscosity, ZeroCoefficientsChangeNoBit) {
  const auto run = [](bool set) {
    Domain d;
    add_cube_bar(d, 30, 0.02, "st_venant_kirchhoff.hex8");
    ExplicitAnalysis a(d, parts_on());
    a.loads().add_load_case("press");
    if (set) a.set_bulk_viscosity({0, 0});
    a.set_steps({.end = 0.8});
    a.set_recovery(false);
    const StepResult end = a.run().back();
    return std::pair(end.unknowns.values, a.energies());
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(BulkViscosity, StepsFollowTheRateOfCompression) {
  // A block that hits a wall: the first rate is that of the impact, and later ones are smaller.
  Domain d;
  add_cube_bar(d, 20, 1);
  ExplicitAnalysis a(d, parts_on());
  a.set_bulk_viscosity({0.06, 1.2});
  NodalField v0 = zero_field(a.model());
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    if (d.coordinates()[3 * static_cast<std::size_t>(n)] > 1e-9) entry(v0, n, "ux") = -0.1;
  a.set_initial_velocity(v0);
  a.set_steps({.end = 0.6, .estimate_every = 5, .report_every = 1});
  a.start();
  // The element at the wall: L |θ| / c = 0.1, planned for 1.5 times that.
  const double w = 40 * std::sin(39 * 3.14159265358979323846 / 80), xi = 0.5 * 0.05 * w * (0.06 + 1.5 * 2.88 * 0.1);
  EXPECT_NEAR(a.report().limit, 2 / w * (std::sqrt(1 + xi * xi) - xi), 0.02 * a.report().limit);
  a.finish();
  EXPECT_GT(a.report().largest_step, 1.2 * a.report().smallest_step);
  EXPECT_LT(std::abs(a.energies().numerical()), 0.02 * a.energies().scale());
  // Steps of a given size that are stable without viscosity, but not with it, are rejected.
  ExplicitAnalysis fixed(d, parts_on());
  fixed.set_bulk_viscosity({0.06, 1.2});
  fixed.set_initial_velocity(v0);
  fixed.set_steps({.end = 0.6, .step = 0.045});
  expect_error(ErrorCode::bad_input, {"stable up to"}, [&] { fixed.run(); });
}

TEST(BulkViscosity, AFreeBodyKeepsItsMomenta) {
  Domain d;
  add_body(d, "st_venant_kirchhoff.hex8", {2, 2, 1}, {1, 1, 0.5}, 0.1);
  ExplicitAnalysis a(d, parts_on());
  a.set_bulk_viscosity({0.5, 1.2});
  NodalField v0 = zero_field(a.model());
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const auto x = d.coordinates().subspan(3 * static_cast<std::size_t>(n), 3);
    entry(v0, n, "ux") = 0.2 - 0.5 * x[1];
    entry(v0, n, "uy") = 0.5 * x[0] - 0.3 * x[1];
    entry(v0, n, "uz") = 0.1 * x[0] * x[1];
  }
  a.set_initial_velocity(v0);
  a.set_steps({.end = 8, .factor = 0.5});
  a.start();
  const auto momenta = [&] {
    const std::vector<double> u = a.state().unknowns.to_host(), v = a.state().rate.to_host();
    std::array<double, 6> sum{};
    const char* const names[] = {"ux", "uy", "uz"};
    for (std::int32_t n = 0; n < d.node_count(); ++n) {
      double x[3], p[3];
      for (int i = 0; i < 3; ++i) {
        const auto e = static_cast<std::size_t>(a.model().equation(n, names[i]));
        x[i] = d.coordinates()[3 * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)] + u[e];
        p[i] = a.integrator().masses()[e] * v[e];
        sum[static_cast<std::size_t>(i)] += p[i];
      }
      for (int i = 0; i < 3; ++i)
        sum[static_cast<std::size_t>(3 + i)] += x[(i + 1) % 3] * p[(i + 2) % 3] - x[(i + 2) % 3] * p[(i + 1) % 3];
    }
    return sum;
  };
  const std::array<double, 6> begin = momenta();
  while (!a.at_end()) a.advance(50);
  const std::array<double, 6> end = momenta();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(end[i], begin[i], 1e-12) << i;
  EXPECT_GT(a.energies().viscous, 1e-3 * a.energies().kinetic);
  EXPECT_LT(a.report().worst_balance, 1e-2);
}

TEST(BulkViscosity, ASavedRunContinuesToTheSameBits) {
  for (const char* backend : {"openmp", "openmp:1", "debug", "debug:2"}) {
    Domain d;
    add_body(d, "st_venant_kirchhoff.hex8", {4, 2, 1}, {2, 1, 0.5}, 0.1);
    d.prescribe("xmin", "all");
    d.prescribe("xmax", "ux", 0.1);
    d.add_load_case("wind").pressure("ymax", 0.02);
    const auto prepare = [&](ExplicitAnalysis& a) {
      a.set_bulk_viscosity({0.06, 1.2});
      a.set_damping({0.1, 0});
      a.loads().add_load_case("wind");
      a.loads().move_supports(d, "xmax", "ux", SupportMotion::by_displacement(Amplitude({{0, 0}, {10, -1}, {30, 1}})));
      a.set_steps({.end = 20, .estimate_every = 7, .report_every = 5});
      a.set_recovery(false);
    };
    ExplicitAnalysis whole(d, parts_on(backend));
    prepare(whole);
    std::stringstream saved;
    whole.start();
    whole.advance(13);
    whole.save(saved);
    const auto expected = whole.finish().back().unknowns.values;
    ExplicitAnalysis second(d, parts_on(backend));
    prepare(second);
    second.restore(saved);
    EXPECT_EQ(second.finish().back().unknowns.values, expected) << backend;
    EXPECT_EQ(second.energies(), whole.energies()) << backend;
    EXPECT_EQ(second.report().smallest_limit, whole.report().smallest_limit) << backend;
    EXPECT_GT(whole.energies().viscous, 0) << backend;
    ExplicitAnalysis again(d, parts_on(backend));
    prepare(again);
    EXPECT_EQ(again.run().back().unknowns.values, expected) << backend;
  }
}

TEST(BulkViscosity, WhatHasNoneIsRefused) {
  Domain d;
  add_body(d, "solid.hex20", {1, 1, 1}, {1, 1, 1});
  ExplicitAnalysis a(d, parts_on());
  expect_error(ErrorCode::bad_input, {"negative"}, [&] { a.set_bulk_viscosity({-0.1, 0}); });
  expect_error(ErrorCode::bad_input, {"finite"}, [&] { a.set_bulk_viscosity({0, std::nan("")}); });
  a.set_bulk_viscosity({0.06, 1.2});
  a.set_steps({.end = 1});
  expect_error(ErrorCode::bad_input, {"solid.hex20", "8, 6 and 4 nodes"}, [&] { a.start(); });
  // Trusses have none, and a model without solids is as it was.
  Domain bar;
  testing::add_bar(bar, 4);
  ExplicitAnalysis b(bar, parts_on());
  b.set_bulk_viscosity({0.06, 1.2});
  b.set_steps({.end = 0.1});
  b.run();
  EXPECT_EQ(b.energies().viscous, 0);
}

TEST(BulkViscosity, HourglassEnergyIsReported) {
  // A brick whose free face is bent like a saddle: uz = x y there has no strain at the centre of its elements.
  Domain d;
  add_body(d, "solid.hex8.reduced", {1, 1, 1}, {2, 2, 2});
  ExplicitAnalysis a(d, parts_on());
  NodalField u0 = zero_field(a.model());
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const auto x = d.coordinates().subspan(3 * static_cast<std::size_t>(n), 3);
    entry(u0, n, "uz") = 0.01 * (x[0] - 1) * (x[1] - 1);
    entry(u0, n, "ux") = 0.02 * x[0];
  }
  a.set_initial_displacement(u0);
  a.set_steps({.end = 0.1});
  a.start();
  // 0.1 µ V Σ|∇N|² / 64 with Σ|∇N|² = 3 / 8, amplitude Σ ξη uz = 8 · 0.01; uniaxial strain stores the rest.
  const double hourglass = 0.5 * 0.1 * 0.8 * 8 * (3.0 / 8) / 64 * 0.08 * 0.08;
  EXPECT_NEAR(a.energies().hourglass, hourglass, 1e-12 + 1e-9 * hourglass);
  EXPECT_NEAR(a.energies().internal, hourglass + 0.5 * 2.4 * 0.02 * 0.02 * 8, 1e-12);
  EXPECT_EQ(a.energies().plastic, 0);
}

}  // namespace
}  // namespace voussoir
