#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/eigen/mode_superposition_problem.hpp>

#include "support/error_text.hpp"
#include "support/transient_models.hpp"

// Implicit dynamics: energies, waves, loads, supports that move, saved states, and what is refused.

namespace voussoir {
namespace {

using testing::add_bar;
using testing::add_bar_on_a_moving_wall;
using testing::add_oscillator;
using testing::error_of;
using testing::expect_part;
using testing::field_at;
using testing::options_of;

constexpr double pi = 3.14159265358979323846;

TEST(TransientAnalysis, AverageAccelerationKeepsTheEnergyToRounding) {
  Domain d;
  add_bar(d, 12);
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->set_initial_displacement(field_at(a->model(), 13, "ux", 0.05));
  a->set_initial_velocity(field_at(a->model(), 7, "ux", 0.4));
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
  a->set_initial_displacement(field_at(a->model(), 3, "ux", 0.2));
  a->set_initial_velocity(field_at(a->model(), 5, "ux", -0.7));
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

TEST(TransientAnalysis, BaseAccelerationsAndMovingSupportsAreTheSameMotion) {
  // Ground acceleration sin 3t: relative to the base, and as a motion of the support.
  const auto run = [](int way, double step, double& energy) {
    Domain d;
    if (way == 0)
      add_bar(d, 6);
    else
      add_bar_on_a_moving_wall(d, 6);
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
  add_bar_on_a_moving_wall(d, 40);
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

TEST(TransientAnalysis, HeatedBarsOscillateAboutTheirNewLength) {
  // ω = 2, α ΔT = 1e-3 · 50: u = α ΔT (1 − cos 2t) after a jump of the temperature, α ΔT (t − ½ sin 2t) as it rises.
  for (const bool rises : {false, true}) {
    Domain d;
    add_oscillator(d, 4, 1);
    d.block(0).set_material(std::make_shared<IsotropicMaterial>("spring", 4, 0.3, 0, 1e-3));
    d.set_initial_temperature(20);
    d.add_load_case("hot").temperature("all", 70);
    auto a = make_transient_analysis(d, options_of("newmark"));
    a->loads().add_load_case("hot", rises ? Amplitude({{0, 0}, {10, 10}}) : Amplitude());
    a->set_steps({.end = 1.3, .step = 0.005});
    const StepResult end = a->run().back();
    const double exact = 0.05 * (rises ? 1.3 - std::sin(2.6) / 2 : 1 - std::cos(2.6));
    EXPECT_NEAR(end.unknowns.at(1, "ux"), exact, 1e-4 * exact) << rises;
    EXPECT_EQ(a->report().factorisations, 1);
  }
}

TEST(TransientAnalysis, ObliqueSupportsAndEquationsChangeNothingOfTheMechanics) {
  // The same bar along x, and turned by 30° with supports across its axis; its last node is tied to another mass.
  const auto run = [](double angle) {
    Domain d;
    const double c = std::cos(angle), s = std::sin(angle);
    for (int i = 0; i <= 6; ++i) d.add_node(i + 1, c * i / 6.0, s * i / 6.0, 0);
    d.add_node(8, 5, 5, 0);
    auto& bar = d.add_block("bar", "truss");
    bar.set_material(std::make_shared<IsotropicMaterial>("m", 1, 0.3, 1)).set_section("area", 1);
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

TEST(TransientAnalysis, RefusesWhatIsWrong) {
  expect_part(error_of([] { make_time_integrator("hht:alpha=0.1"); }), "from -1/3 to 0");
  expect_part(error_of([] { make_time_integrator("newmark:gamma=0.4"); }), "gamma");
  expect_part(error_of([] { make_time_integrator("newmark:delta=0.5"); }), "delta");
  expect_part(error_of([] { make_time_integrator("generalised-alpha:radius=1.1"); }), "0 to 1");
  expect_part(error_of([] { make_time_integrator("newmak"); }), "newmark");
  expect_part(error_of([] { make_time_integrator("hht:alpha=x"); }), "not a number");
  Domain d;
  add_bar(d, 3);
  auto a = make_transient_analysis(d, options_of("newmark"));
  expect_part(error_of([&] { a->set_steps({.end = 0, .step = 0.1}); }), "after the start");
  expect_part(error_of([&] { a->set_steps({.end = 1, .step = -1}); }), "greater than 0");
  expect_part(error_of([&] { a->state(); }), "start()");
  a->loads().add_load_case("nothing");
  expect_part(error_of([&] { a->run(); }), "nothing");
  auto b = make_transient_analysis(d, options_of("newmark"));
  b->loads().move_supports(d, "all", "ux", SupportMotion::by_displacement(Amplitude({{0, 0}, {1, 1}})));
  expect_part(error_of([&] { b->run(); }), "not prescribed");
  auto c = make_transient_analysis(d, options_of("newmark"));
  c->loads().add_base_acceleration("w", Amplitude());
  expect_part(error_of([&] { c->run(); }), "direction 'w'");
  Domain light;
  add_oscillator(light, 1, 0);
  expect_part(error_of([&] { make_transient_analysis(light, options_of("newmark"))->run(); }), "mass");
  Analysis::Collaborators parts = make_static_analysis(d, options_of("newmark"))->collaborators();
  expect_part(error_of([&] { TransientAnalysis(d, parts); }), "TimeIntegrator");
}

}  // namespace
}  // namespace voussoir
