#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>
#include <sstream>

#include <voussoir/elements/register.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/eigen/mode_superposition_problem.hpp>
#include <voussoir/solvers/transient_problem.hpp>

#include "support/expect_error.hpp"
#include "support/green_truss.hpp"

VSR_REGISTER_ELEMENT(voussoir::testing::GreenTruss);

namespace voussoir {
namespace {

constexpr double pi = 3.14159265358979323846;

std::shared_ptr<Material> unit_material(double density = 1) {
  return std::make_shared<IsotropicMaterial>("m", 1, 0.3, density);
}

/// A mass at the end of a spring along x: ω = √(stiffness / mass). Node 1 is the support, node 2 the mass.
void add_oscillator(Domain& d, double stiffness, double mass) {
  d.add_node(1, 0, 0, 0);
  d.add_node(2, 1, 0, 0);
  auto& spring = d.add_block("spring", "truss");
  spring.set_material(std::make_shared<IsotropicMaterial>("spring", stiffness, 0.3, 0)).set_section("area", 1);
  spring.add(1, {1, 2});
  auto& point = d.add_block("mass", "mass");
  point.set_section("mass", mass);
  point.add(2, {2});
  d.add_node_set("support", {1});
  d.add_node_set("all", {1, 2});
  d.prescribe("support", "ux");
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
}

NodalField field_at(TransientAnalysis& a, Id node, const std::string& unknown, double value) {
  const AnalysisModel& model = a.model();
  NodalField f{"displacement", model.unknown_names(), {}};
  f.values.assign(static_cast<std::size_t>(model.domain().node_count()) * f.components.size(), 0.0);
  f.values[static_cast<std::size_t>(model.domain().node_index(node)) * f.components.size() +
           static_cast<std::size_t>(f.component_index(unknown))] = value;
  return f;
}

TransientOptions options_of(const std::string& method, const RayleighDamping& damping = {}) {
  TransientOptions options;
  options.backend = "openmp:1";
  options.solver = "direct";
  options.method = method;
  options.damping = damping;
  return options;
}

/// A bar of trusses along x, E = A = ρ = L = 1, held at x = 0; load case "end" pulls its end with 1.
void add_bar(Domain& d, int cells, const std::string& type = "truss") {
  for (int i = 0; i <= cells; ++i) d.add_node(i + 1, double(i) / cells, 0, 0);
  auto& bar = d.add_block("bar", type);
  bar.set_material(unit_material()).set_section("area", 1);
  for (int i = 0; i < cells; ++i) bar.add(i + 1, {i + 1, i + 2});
  d.add_node_set("wall", {1});
  d.add_node_set_where("all", [](double, double, double) { return true; });
  d.prescribe("wall", "ux");
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  d.add_load_case("end").nodal_at(cells + 1, "ux", 1);
}

/// u at the end of a damped oscillator with ω = 2, u(0) = 0.3, v(0) = 1 and the ramp load 3 t, m = 1.
double oscillator_error(const std::string& method, double step) {
  Domain d;
  add_oscillator(d, 4, 1);
  d.add_load_case("ramp").nodal_at(2, "ux", 3);
  const RayleighDamping damping{0.4, 0.05};
  auto a = make_transient_analysis(d, options_of(method, damping));
  a->loads().add_load_case("ramp", Amplitude({{0, 0}, {100, 100}}));
  a->set_initial_displacement(field_at(*a, 2, "ux", 0.3));
  a->set_initial_velocity(field_at(*a, 2, "ux", 1));
  const double end = 3.2;
  a->set_steps({.end = end, .step = step});
  const double u = a->run().back().unknowns.at(1, "ux");
  // The truss has no mass of its own, so that α acts on the point mass, if points damp at all: m u″ + c u′ + 4 u = 3 t.
  const double c = damping.mass * 1 + damping.stiffness * 4, decay = c / 2, w = std::sqrt(4 - decay * decay);
  const double p1 = 3.0 / 4, p0 = -c * p1 / 4;  // particular solution p0 + p1 t
  const double a0 = 0.3 - p0, b0 = (1 - p1 + decay * a0) / w;
  const double exact = std::exp(-decay * end) * (a0 * std::cos(w * end) + b0 * std::sin(w * end)) + p0 + p1 * end;
  return std::abs(u - exact);
}

TEST(TransientAnalysis, MethodsAreOfSecondOrderOnAnOscillator) {
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

TEST(TransientAnalysis, NumericalDampingIsThatOfTheAmplificationMatrix) {
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
      a->set_initial_displacement(field_at(*a, 2, "ux", 1));
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

TEST(TransientAnalysis, AverageAccelerationKeepsTheEnergyToRounding) {
  Domain d;
  add_bar(d, 12);
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->set_initial_displacement(field_at(*a, 13, "ux", 0.05));
  a->set_initial_velocity(field_at(*a, 7, "ux", 0.4));
  a->set_steps({.end = 40, .step = 0.05});
  const auto history = std::make_shared<HistoryRecorder>();
  a->add_recorder(history);
  a->run();
  ASSERT_EQ(history->energies().size(), 801u);
  const double initial = history->energies().front().initial;
  EXPECT_GT(initial, 0);
  for (const EnergyBalance& e : history->energies()) {
    EXPECT_LE(std::abs(e.numerical()), 1e-11 * initial);
    EXPECT_LE(std::abs(e.kinetic + e.internal - initial), 1e-11 * initial);
  }
  EXPECT_EQ(a->report().factorisations, 1);
  EXPECT_EQ(a->report().steps, 800);
}

TEST(TransientAnalysis, EnergyBalancesWithLoadsDampingAndAJump) {
  Domain d;
  add_bar(d, 10);
  auto a = make_transient_analysis(d, options_of("newmark", {0.3, 0.02}));
  a->loads().add_load_case("end", Amplitude({{0, 1}, {1, 1}, {1, -2}, {2, 0}}));
  a->set_steps({.end = 5, .step = 0.02});
  a->run();
  const EnergyBalance& e = a->energies();
  EXPECT_GT(e.damping, 0.1);
  EXPECT_LE(std::abs(e.numerical()), 1e-11 * e.scale());
  // Numerical damping takes energy out, and it is reported as such.
  auto b = make_transient_analysis(d, options_of("generalised-alpha:radius=0.5"));
  b->loads().add_load_case("end", Amplitude({{0, 1}, {1, 1}, {1, -2}, {2, 0}}));
  b->set_steps({.end = 5, .step = 0.02});
  b->run();
  EXPECT_GT(b->energies().numerical(), 1e-6 * b->energies().scale());
}

TEST(TransientAnalysis, AWaveArrivesOnTimeAndDoublesAtTheWall) {
  // A step load on the end of a bar with c = 1, L = 1: the wall feels nothing until t = 1, then twice the load.
  Domain d;
  add_bar(d, 200);
  auto a = make_transient_analysis(d, options_of("generalised-alpha:radius=0.6"));
  a->loads().add_load_case("end");
  a->set_steps({.end = 2.5, .step = 0.0025});
  const auto history = std::make_shared<HistoryRecorder>();
  const auto wall = history->add(1, "ux", HistoryRecorder::Quantity::reaction);
  const auto tip = history->add(201, "ux");
  a->add_recorder(history);
  a->run();
  const auto at = [&](double t) { return static_cast<std::size_t>(std::lround(t / 0.0025)); };
  EXPECT_NEAR(history->values(wall)[at(0.9)], 0, 0.02);
  EXPECT_NEAR(history->values(wall)[at(1.5)], -2, 0.05);
  std::size_t arrival = 0;
  while (history->values(wall)[arrival] > -1) ++arrival;
  EXPECT_NEAR(history->times()[arrival], 1, 0.01);
  // The tip moves with velocity 1 until the wave is back at t = 2.
  EXPECT_NEAR(history->values(tip)[at(1.8)], 1.8, 0.01);
}

TEST(TransientAnalysis, InitialAccelerationsBalanceTheForces) {
  Domain d;
  add_bar(d, 5);
  auto a = make_transient_analysis(d, options_of("newmark", {0.2, 0.1}));
  a->loads().add_load_case("end", Amplitude({{0, 3}}));
  a->set_initial_displacement(field_at(*a, 3, "ux", 0.2));
  a->set_initial_velocity(field_at(*a, 5, "ux", -0.7));
  a->set_steps({.end = 1, .step = 0.1});
  a->start();
  Vector b = a->model().make_vector();
  Vector r = a->integrator().out_of_balance(a->model(), a->state());
  a->backend().copy(r, b);
  a->backend().reduce_dependencies(a->model().device_model(), b);
  a->backend().clear_constrained(a->model().device_model(), b);
  EXPECT_LE(a->backend().norm(b), 1e-12 * a->backend().norm(r));
  EXPECT_GT(a->backend().norm(a->state().second_rate), 1);
}

TEST(TransientAnalysis, MasslessUnknownsFollowTheOthers) {
  // Two equal springs in a row, a mass at the end alone: ω = √(k / 2m).
  Domain d;
  d.add_node(1, 0, 0, 0);
  d.add_node(2, 1, 0, 0);
  d.add_node(3, 2, 0, 0);
  auto& springs = d.add_block("springs", "truss");
  springs.set_material(std::make_shared<IsotropicMaterial>("m", 8, 0.3, 0)).set_section("area", 1);
  springs.add(1, {1, 2});
  springs.add(2, {2, 3});
  auto& mass = d.add_block("mass", "mass");
  mass.set_section("mass", 1);
  mass.add(3, {3});
  d.add_node_set("wall", {1});
  d.add_node_set("all", {1, 2, 3});
  d.prescribe("wall", "ux");
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  d.add_load_case("pull").nodal_at(3, "ux", 1);
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->loads().add_load_case("pull");
  a->set_steps({.end = pi / 2, .step = pi / 200});  // half a period of ω = 2
  const StepResult end = a->run().back();
  EXPECT_NEAR(end.unknowns.at(2, "ux"), 0.5, 1e-4);
  EXPECT_NEAR(end.unknowns.at(1, "ux"), 0.25, 1e-4);
}

TEST(TransientAnalysis, LoadsWithoutMassAreNoAccelerations) {
  // The same with the load at the node without mass: the mass has half of it, and moves by 0.125 (1 − cos 2t).
  Domain d;
  d.add_node(1, 0, 0, 0);
  d.add_node(2, 1, 0, 0);
  d.add_node(3, 2, 0, 0);
  auto& springs = d.add_block("springs", "truss");
  springs.set_material(std::make_shared<IsotropicMaterial>("m", 8, 0.3, 0)).set_section("area", 1);
  springs.add(1, {1, 2});
  springs.add(2, {2, 3});
  auto& mass = d.add_block("mass", "mass");
  mass.set_section("mass", 1);
  mass.add(3, {3});
  d.add_node_set("wall", {1});
  d.add_node_set("all", {1, 2, 3});
  d.prescribe("wall", "ux");
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  d.add_load_case("pull").nodal_at(2, "ux", 1);
  for (const char* method : {"newmark", "hht:alpha=-0.05", "hht:alpha=-0.3", "generalised-alpha"}) {
    auto a = make_transient_analysis(d, options_of(method));
    a->loads().add_load_case("pull");
    a->set_steps({.end = pi / 2, .step = pi / 400});
    const StepResult end = a->run().back();
    EXPECT_NEAR(end.unknowns.at(2, "ux"), 0.25, 1e-3) << method;
    EXPECT_NEAR(end.unknowns.at(1, "ux"), 0.1875, 1e-3) << method;
  }
}

TEST(TransientAnalysis, AutomaticStepsRefuseWhatFliesAway) {
  Domain d;
  d.add_node(1, 0, 0, 0);
  d.add_node(2, 1, 0, 0);
  auto& bar = d.add_block("bar", "truss");
  bar.set_material(std::make_shared<IsotropicMaterial>("m", 8, 0.3, 1)).set_section("area", 1);
  bar.add(1, {1, 2});
  d.add_node_set("all", {1, 2});
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->set_steps({.end = 1, .step = 0.01, .automatic = true});
  testing::expect_error(ErrorCode::bad_input, {"move freely", "size of steps"}, [&] { a->run(); });
  a->set_steps({.end = 1, .step = 0.01});
  EXPECT_NO_THROW(a->run());
}

TEST(TransientAnalysis, AutomaticStepsEndWhereLoadsAreNotSmooth) {
  // A body at rest is hit late and briefly.
  Domain d;
  d.add_node(1, 0, 0, 0);
  d.add_node(2, 1, 0, 0);
  auto& spring = d.add_block("spring", "truss");
  spring.set_material(std::make_shared<IsotropicMaterial>("m", 4, 0.3, 0)).set_section("area", 1);
  spring.add(1, {1, 2});
  auto& mass = d.add_block("mass", "mass");
  mass.set_section("mass", 1);
  mass.add(2, {2});
  d.add_node_set("wall", {1});
  d.add_node_set("all", {1, 2});
  d.prescribe("wall", "ux");
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  d.add_load_case("hit").nodal_at(2, "ux", 1);
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->loads().add_load_case("hit", Amplitude({{0, 0}, {0.4, 0}, {0.42, 1}, {0.44, 0}}));
  a->set_steps({.end = 0.42 + pi / 4, .step = 0.01, .automatic = true, .tolerance = 1e-5});
  const StepResult end = a->run().back();
  EXPECT_NEAR(end.unknowns.at(1, "ux"), 0.02 / 2, 1e-4);  // a quarter of a period of ω = 2 after the impulse of 0.02
}

TEST(TransientAnalysis, BaseAccelerationsAndMovingSupportsAreTheSameMotion) {
  // Ground acceleration sin 3t: relative to the base, and as a motion of the support.
  const auto run = [](int way, double step, double& energy) {
    Domain d;
    add_bar(d, 6);
    if (way == 1) {
      d.clear_supports();
      d.prescribe("wall", "ux", 1);
      d.prescribe("all", "uy");
      d.prescribe("all", "uz");
    }
    auto a = make_transient_analysis(d, options_of("newmark", {0, 0.05}));
    std::vector<Amplitude::Point> points;
    for (int i = 0; i <= 4000; ++i) points.emplace_back(i * 1e-3, std::sin(3e-3 * i));
    if (way == 0)
      a->loads().add_base_acceleration("x", Amplitude(points));
    else
      a->loads().move_supports(d, "wall", "ux", SupportMotion::by_acceleration(Amplitude(points)));
    a->set_steps({.end = 4, .step = step});
    const auto history = std::make_shared<HistoryRecorder>();
    history->add(7, "ux", HistoryRecorder::Quantity::displacement, true);
    history->add(7, "ux", HistoryRecorder::Quantity::velocity, true);
    history->add(7, "ux", HistoryRecorder::Quantity::acceleration, true);
    history->add(1, "ux", HistoryRecorder::Quantity::reaction);
    a->add_recorder(history);
    a->run();
    energy = a->energies().numerical() / a->energies().scale();
    std::vector<double> end;
    for (std::size_t i = 0; i < 4; ++i) end.push_back(history->values(i).back());
    return end;
  };
  double e0, e1, e2;
  const auto relative = run(0, 0.01, e0), absolute = run(1, 0.01, e1), finer = run(1, 0.005, e2);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(relative[i], absolute[i], 2e-3 * std::max(1.0, std::abs(relative[i])));
  EXPECT_LT(std::abs(e0), 1e-10);  // −M r a(t) is a load like another
  EXPECT_LT(std::abs(e1), 1e-3);
  EXPECT_LT(std::abs(e2), 0.3 * std::abs(e1));
  (void)finer;
}

TEST(TransientAnalysis, AMovedSupportOfPiecewiseLinearDisplacementDoesNotRing) {
  // A bar whose wall is pulled at constant speed from t = 1 on: rates of the wall are clean, and the far end follows.
  Domain d;
  add_bar(d, 40);
  d.clear_supports();
  d.prescribe("wall", "ux", 1);
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  auto a = make_transient_analysis(d, options_of("newmark", {0, 0.01}));
  a->loads().move_supports(SupportMotion::by_displacement(Amplitude({{1, 0}, {3, 2}})));
  a->set_steps({.end = 3, .step = 0.01});
  const auto history = std::make_shared<HistoryRecorder>();
  const auto v = history->add(1, "ux", HistoryRecorder::Quantity::velocity);
  const auto end = history->add(41, "ux", HistoryRecorder::Quantity::velocity);
  a->add_recorder(history);
  a->run();
  EXPECT_NEAR(history->values(v)[50], 0, 1e-12);
  EXPECT_NEAR(history->values(v)[100], 0.5, 1e-9);
  for (int k = 101; k < 300; ++k) EXPECT_NEAR(history->values(v)[k], 1, 1e-9);
  EXPECT_NEAR(history->values(end)[170], 0, 0.05);  // not yet there
  EXPECT_NEAR(history->values(end)[250], 2, 0.15);  // a free end moves twice as fast
}

TEST(TransientAnalysis, ObliqueSupportsAndEquationsChangeNothingOfTheMechanics) {
  // The same bar along x, and turned by 30° with supports across its axis; its last node is tied to another mass.
  const auto run = [](double angle) {
    Domain d;
    const double c = std::cos(angle), s = std::sin(angle);
    for (int i = 0; i <= 6; ++i) d.add_node(i + 1, c * i / 6.0, s * i / 6.0, 0);
    d.add_node(8, 5, 5, 0);
    auto& bar = d.add_block("bar", "truss");
    bar.set_material(unit_material()).set_section("area", 1);
    for (int i = 0; i < 6; ++i) bar.add(i + 1, {i + 1, i + 2});
    auto& mass = d.add_block("mass", "mass");
    mass.set_section("mass", 0.3);
    mass.add(20, {8});
    d.add_node_set("all", {1, 2, 3, 4, 5, 6, 7, 8});
    d.prescribe("all", "uz");
    for (int i = 2; i <= 7; ++i) d.prescribe_along(i, {-s, c, 0}, 0);
    d.add_node_set("ends", {1});
    d.prescribe("ends", "ux");
    d.prescribe("ends", "uy");
    for (const char* u : {"ux", "uy"}) d.add_equation({{8, u, 1}, {7, u, -2}});
    auto& load = d.add_load_case("end");
    load.nodal_at(7, "ux", c);
    load.nodal_at(7, "uy", s);
    auto a = make_transient_analysis(d, options_of("hht", {0.1, 0.01}));
    a->loads().add_load_case("end", Amplitude({{0, 0}, {0.4, 1}}));
    a->set_steps({.end = 2, .step = 0.02});
    const StepResult r = a->run().back();
    EXPECT_NEAR(r.unknowns.at(7, "ux"), 2 * r.unknowns.at(6, "ux"), 1e-12);
    EXPECT_LE(std::abs(a->energies().numerical()), 2e-3 * a->energies().scale());
    return r.unknowns.at(6, "ux") * c + r.unknowns.at(6, "uy") * s;
  };
  const double straight = run(0);
  EXPECT_GT(std::abs(straight), 0.1);
  EXPECT_NEAR(run(pi / 6), straight, 1e-11);
}

TEST(TransientAnalysis, AllModesAndDirectIntegrationAgree) {
  Domain d;
  BoxMesh mesh;
  mesh.cells = {3, 1, 1};
  mesh.upper = {3, 1, 1};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("m", 100, 0.3, 1));
  d.prescribe("xmin", "all");
  auto& load = d.add_load_case("tip");
  for (const std::int32_t n : d.node_set("xmax")) load.nodal_at(d.node_id(n), "uz", 0.25);
  d.add_load_case("side").nodal_at(d.node_id(d.node_set("xmax").front()), "uy", 0.5);
  const Amplitude pulse({{0, 0}, {0.3, 1}, {0.6, 0}}), ramp({{0, 0}, {1, 1}});
  auto modal = make_modal_analysis(d, Backend::open("openmp:1"));
  const double alpha = 0.2, beta = 0.004, end = 1.5;
  const auto superpose = [&](int modes) {
    EigenRequest request;
    request.modes = modes;
    modal->solve(request);
    ModeSuperposition sum = make_mode_superposition(*modal);
    sum.set_damping(ModalDamping::rayleigh(alpha, beta));
    sum.set_static_correction(false);
    sum.add_load_case("tip", pulse);
    sum.add_load_case("side", ramp, 2);
    sum.add_base_acceleration("x", ramp, 3);
    const std::vector<double> times{end};
    std::pair<NodalField, double> found{sum.time_history(times).field(0, ModalQuantity::displacement), 0};
    for (const LoadCoverage& load : sum.truncation().loads) found.second = std::max(found.second, load.static_error);
    return found;
  };
  const auto integrate = [&](double step) {
    auto a = make_transient_analysis(d, options_of("newmark", {alpha, beta}));
    a->loads().add_load_case("tip", pulse);
    a->loads().add_load_case("side", ramp, 2);
    a->loads().add_base_acceleration("x", ramp, 3);
    a->set_steps({.end = end, .step = step});
    a->set_recovery(false);
    return a->run().back().unknowns;
  };
  const auto difference = [](const NodalField& a, const NodalField& b) {
    double largest = 0, size = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      largest = std::max(largest, std::abs(a.values[i] - b.values[i]));
      size = std::max(size, std::abs(b.values[i]));
    }
    return largest / size;
  };
  const NodalField all = superpose(36).first;  // 12 free nodes
  const double coarse = difference(integrate(0.01), all), fine = difference(integrate(0.005), all);
  EXPECT_LT(fine, 2e-3);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.3) << coarse << " " << fine;
  // A few modes miss what the truncation says of the static response.
  const auto [few, missing] = superpose(6);
  const double truncated = difference(few, integrate(0.0025));
  EXPECT_GT(missing, 1e-4);
  EXPECT_LT(truncated, 3 * missing + fine);
}

/// A pendulum of a stiff bar without mass and a point mass, released at rest: the time of a quarter of its period.
double quarter_period(double angle, double step, const std::string& method, TransientReport* report = nullptr) {
  Domain d;
  d.add_node(1, 0, 0, 0);
  d.add_node(2, std::sin(angle), -std::cos(angle), 0);
  auto bar_material = std::make_shared<Material>("bar");
  bar_material->set("young", 1e5).set("area", 1).set("density", 0);
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

TEST(TransientAnalysis, ALargePendulumHasThePeriodOfTheEllipticIntegral) {
  const double angle = 2.0, exact = std::comp_ellint_1(std::sin(angle / 2));  // √(L/g) = 1
  TransientReport report;
  const double fine = quarter_period(angle, 0.01, "newmark", &report);
  EXPECT_NEAR(fine, exact, 1e-3 * exact);
  EXPECT_GT(report.iterations, report.steps);
  EXPECT_NEAR(quarter_period(angle, 0.01, "generalised-alpha:radius=0.8"), exact, 1e-3 * exact);
  EXPECT_NEAR(quarter_period(0.05, 0.01, "hht"), pi / 2 * (1 + 0.05 * 0.05 / 16), 2e-4);
}

TEST(TransientAnalysis, ANonlinearBarIsOfSecondOrder) {
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

TEST(TransientAnalysis, AutomaticStepsFollowTheErrorAndEndOnTime) {
  Domain d;
  add_oscillator(d, 4 * pi * pi, 1);  // period 1
  d.add_load_case("kick").nodal_at(2, "ux", 1);
  const auto run = [&](double tolerance, double first, double& error) {
    auto a = make_transient_analysis(d, options_of("newmark"));
    a->set_initial_displacement(field_at(*a, 2, "ux", 1));
    a->set_steps({.end = 2.25, .step = first, .automatic = true, .tolerance = tolerance});
    error = std::abs(a->run().back().unknowns.at(1, "ux"));  // cos(2π · 2.25) = 0
    EXPECT_EQ(a->state().time, 2.25);
    return a->report();
  };
  double loose = 0, tight = 0, far = 0;
  const TransientReport few = run(1e-3, 0.01, loose), many = run(1e-5, 0.01, tight), cut = run(1e-4, 0.5, far);
  EXPECT_GT(many.steps, 2 * few.steps);
  EXPECT_LT(tight, 0.2 * loose);
  EXPECT_LT(loose, 0.3);
  EXPECT_GT(cut.rejected, 0);
  EXPECT_LT(far, 0.1);
  EXPECT_GT(few.largest_step, 0.01);
}

TEST(TransientAnalysis, ASavedStateContinuesWithTheSameBits) {
  for (const char* backend : {"openmp:1", "debug:2"}) {
    Domain d;
    add_bar(d, 8);
    TransientOptions options = options_of("hht", {0.1, 0.02});
    options.backend = backend;
    options.solver = "cg";
    const auto make = [&] {
      auto a = make_transient_analysis(d, options);
      a->loads().add_load_case("end", Amplitude({{0, 0}, {0.2, 1}, {0.3, 0}}));
      a->set_steps({.end = 0.5, .step = 0.02, .automatic = true, .tolerance = 1e-3});
      return a;
    };
    auto whole = make();
    whole->run();
    auto first = make();
    std::stringstream saved;
    int count = 0;
    first->watch = [&](const TransientProgress& p) {
      EXPECT_LE(p.time, p.end);
      if (++count == 8) first->save(saved);
      return count < 10;
    };
    EXPECT_THROW(first->run(), Error);
    auto second = make();
    second->restore(saved);
    EXPECT_EQ(second->report().steps, 8);
    second->finish();
    EXPECT_EQ(difference(whole->model(), whole->state(), second->state()), "") << backend;
    EXPECT_EQ(whole->energies(), second->energies()) << backend;
    EXPECT_EQ(whole->report().steps, second->report().steps);
    std::string damaged = saved.str();
    damaged[damaged.size() / 2] ^= 1;
    std::istringstream bad(damaged);
    EXPECT_THROW(make()->restore(bad), Error);
  }
}

TEST(TransientAnalysis, FixedStepsAreCountedAndMeetTheirTimes) {
  Domain d;
  add_bar(d, 3);
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->set_steps({.end = 1, .step = 0.1, .times = {0.25}});
  const auto history = std::make_shared<HistoryRecorder>();
  a->add_recorder(history);
  EXPECT_EQ(a->run().size(), 2u);
  const std::vector<double> expected{0, 0.1, 0.2, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95, 1};
  ASSERT_EQ(history->times().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(history->times()[i], expected[i], 1e-15);
  auto b = make_transient_analysis(d, options_of("newmark"));
  b->set_steps({.end = 0.7, .step = 0.0007});
  b->run();
  EXPECT_EQ(b->report().steps, 1000);
  EXPECT_EQ(b->report().factorisations, 1);
}

template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TransientAnalysis, RefusesWhatIsWrong) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of([] { make_time_integrator("hht:alpha=0.1"); }), "from -1/3 to 0");
  has(error_of([] { make_time_integrator("newmark:gamma=0.4"); }), "gamma");
  has(error_of([] { make_time_integrator("newmark:delta=0.5"); }), "delta");
  has(error_of([] { make_time_integrator("generalised-alpha:radius=1.1"); }), "0 to 1");
  has(error_of([] { make_time_integrator("newmak"); }), "newmark");
  has(error_of([] { make_time_integrator("hht:alpha=x"); }), "not a number");
  Domain d;
  add_bar(d, 3);
  auto a = make_transient_analysis(d, options_of("newmark"));
  has(error_of([&] { a->set_steps({.end = 0, .step = 0.1}); }), "after the start");
  has(error_of([&] { a->set_steps({.end = 1, .step = -1}); }), "greater than 0");
  has(error_of([&] { a->state(); }), "start()");
  a->loads().add_load_case("nothing");
  has(error_of([&] { a->run(); }), "nothing");
  auto b = make_transient_analysis(d, options_of("newmark"));
  b->loads().move_supports(d, "all", "ux", SupportMotion::by_displacement(Amplitude({{0, 0}, {1, 1}})));
  has(error_of([&] { b->run(); }), "not prescribed");
  auto c = make_transient_analysis(d, options_of("newmark"));
  c->loads().add_base_acceleration("w", Amplitude());
  has(error_of([&] { c->run(); }), "direction 'w'");
  Domain light;
  add_oscillator(light, 1, 0);
  has(error_of([&] { make_transient_analysis(light, options_of("newmark"))->run(); }), "mass");
  Analysis::Collaborators parts = make_static_analysis(d, options_of("newmark"))->collaborators();
  has(error_of([&] { TransientAnalysis(d, parts); }), "TimeIntegrator");
}

}  // namespace
}  // namespace voussoir
