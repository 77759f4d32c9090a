#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/transient_problem.hpp>

#include "support/expect_error.hpp"

// Transient heat: orders in time against closed forms, NAFEMS T3, the heat balance, nonlinear conductivity, capacity
// and radiation, automatic steps, saved states, and what is refused.

namespace voussoir {
namespace {

using testing::expect_error;

const double pi = std::acos(-1.0);
const std::vector<std::string> methods{"backward-euler", "crank-nicolson", "bdf2"};

int order_of(const std::string& method) { return method == "backward-euler" ? 1 : 2; }

std::shared_ptr<Material> heat_material(double conductivity, double density, double specific_heat) {
  auto m = std::make_shared<Material>("m");
  m->set("conductivity", conductivity).set("density", density).set("specific_heat", specific_heat);
  return m;
}

/// A bar of one cell across.
ElementBlock& add_bar(Domain& d, const std::string& type, int cells, double length = 1, double width = 0.1) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {cells, 1, 1};
  mesh.upper = {length, width, width};
  return add_box_mesh(d, mesh);
}

std::unique_ptr<TransientAnalysis> transient(const Domain& d, const std::string& method) {
  TransientOptions options;
  options.backend = "openmp:1";
  options.method = method;
  options.solver = "direct";
  auto a = make_transient_analysis(d, options);
  a->set_recovery(false);
  return a;
}

double coordinate(const Domain& d, std::int32_t node, int axis) { return d.coordinates()[3 * node + axis]; }

/// The temperature at the node nearest to x on the axis.
double at(const Domain& d, const StepResult& result, double x) {
  std::int32_t nearest = 0;
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    if (std::abs(coordinate(d, n, 0) - x) < std::abs(coordinate(d, nearest, 0) - x)) nearest = n;
  return result.unknowns.at(nearest, "T");
}

/// A decaying sine between walls of temperature 0: T = sin(πx) exp(−λt), with the eigenvalue λ of the mesh itself, so
/// that the error is that of the integration in time alone.
double sine_error(const std::string& method, int steps) {
  Domain d;
  constexpr int cells = 6;
  add_bar(d, "heat.hex8", cells).set_material(heat_material(1, 1, 1));
  d.prescribe("xmin", "T", 0);
  d.prescribe("xmax", "T", 0);
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    d.set_initial_temperature_at(d.node_id(n), std::sin(pi * coordinate(d, n, 0)));
  const double h = 1.0 / cells, c = std::cos(pi * h), lambda = 6 / (h * h) * (1 - c) / (2 + c);
  auto a = transient(d, method);
  a->set_steps({.end = 0.1, .step = 0.1 / steps});
  const StepResult end = a->run().back();
  EXPECT_EQ(a->report().steps, steps);
  return std::abs(at(d, end, 0.5) - std::exp(-lambda * 0.1));
}

TEST(TransientHeat, DecaysWithTheOrderOfTheMethod) {
  for (const std::string& method : methods) {
    const double coarse = sine_error(method, 20), fine = sine_error(method, 40);
    EXPECT_GT(coarse, 0) << method;
    EXPECT_NEAR(std::log2(coarse / fine), order_of(method), 0.1) << method;
    EXPECT_LT(fine, method == "backward-euler" ? 6e-3 : 2e-4) << method;
  }
}

/// A wall of half thickness 1 at 1 that cools by a film of 2 from t = 0 on: Σ aₙ cos(βₙ x) exp(−βₙ² t), βₙ tan βₙ = 2.
double wall(double x, double t) {
  double sum = 0;
  for (int n = 0; n < 40; ++n) {
    double low = n * pi + 1e-9, high = n * pi + pi / 2 - 1e-9;
    for (int k = 0; k < 200; ++k) {
      const double b = 0.5 * (low + high);
      (b * std::tan(b) < 2 ? low : high) = b;
    }
    const double b = low;
    sum += 4 * std::sin(b) / (2 * b + std::sin(2 * b)) * std::cos(b * x) * std::exp(-b * b * t);
  }
  return sum;
}

TEST(TransientHeat, AWallCoolsAsTheSeriesSays) {
  for (const std::string& method : methods) {
    Domain d;
    add_bar(d, "heat.hex20", 12).set_material(heat_material(1, 2, 0.5));
    d.set_initial_temperature(1);
    d.add_load_case("film").convection("xmax", 2, 0);
    auto a = transient(d, method);
    a->loads().add_load_case("film");
    a->set_steps({.end = 0.5, .step = 0.5 / 100});
    const StepResult end = a->run().back();
    const double tolerance = method == "backward-euler" ? 3e-3 : 5e-5;
    EXPECT_NEAR(at(d, end, 1), wall(1, 0.5), tolerance) << method;
    EXPECT_NEAR(at(d, end, 0), wall(0, 0.5), tolerance) << method;
    EXPECT_EQ(a->report().factorisations, method == "bdf2" ? 2 : 1) << method;  // its first step is another one
    EXPECT_NEAR(a->heat().missing(), 0, 1e-12) << method;
    EXPECT_LT(a->heat().stored, -0.001);
  }
}

TEST(TransientHeat, NafemsT3OnSeveralElements) {
  for (const char* type :
       {"heat.hex8", "heat.hex20", "heat.tet10", "heat.wedge15", "plane_heat.quad8", "axisymmetric_heat.quad4"}) {
    Domain d;
    const std::string shape = type;
    // About the y axis the bar lies along y, so that its flow is plane.
    BoxMesh mesh;
    mesh.type = shape;
    mesh.cells = {20, 1, 1};
    mesh.upper = {0.1, 0.01, 0.01};
    const bool round = shape.starts_with("axisymmetric");
    if (round) mesh.map = [](double x, double y, double z) { return std::array<double, 3>{0.05 - y, x, z}; };
    add_box_mesh(d, mesh).set_material(heat_material(35, 7200, 440.5));
    d.set_initial_temperature(0);
    d.prescribe("xmin", "T", 0);
    d.prescribe("xmax", "T", 100);
    std::vector<Amplitude::Point> wave;
    for (int k = 0; k <= 400; ++k) wave.emplace_back(0.1 * k, std::sin(pi * 0.1 * k / 40));
    auto a = transient(d, "bdf2");
    a->loads().move_supports(d, "xmax", "T", SupportMotion::by_displacement(Amplitude(wave)));
    a->set_steps({.end = 32, .step = 0.25});
    const StepResult end = a->run().back();
    double found = 0, best = 1;
    for (std::int32_t n = 0; n < d.node_count(); ++n)
      if (const double off = std::abs(coordinate(d, n, round ? 1 : 0) - 0.08); off < best) {
        best = off;
        found = end.unknowns.at(n, "T");
      }
    EXPECT_LT(best, 1e-9) << type;
    EXPECT_NEAR(found, 36.60, shape.ends_with("hex8") || shape.ends_with("quad4") ? 0.25 : 0.06) << type;
  }
}

/// Fluxes, a source and a film by amplitude, a temperature that jumps at the start and another that moves, an equation.
void build_balanced(Domain& d) {
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {5, 3, 2};
  mesh.upper = {5, 3, 2};
  mesh.distortion = 0.15;
  add_box_mesh(d, mesh).set_material(heat_material(2, 3, 0.5));
  d.set_initial_temperature(20);
  d.prescribe("xmin", "T", 60);
  d.add_node_set("corner", {d.node_id(d.node_set("xmax").front())});
  d.prescribe("corner", "T", 30);
  d.add_equation({{d.node_id(d.node_set("xmax")[4]), "T", 1}, {d.node_id(d.node_set("xmax")[7]), "T", -1}});
  d.add_load_case("flux").heat_flux("ymax", 7);
  d.add_load_case("source").heat_source("", 1.5);
  d.add_load_case("film").convection("zmax", 3, 5);
}

std::unique_ptr<TransientAnalysis> balanced(const Domain& d, const std::string& method) {
  auto a = transient(d, method);
  a->loads().add_load_case("flux", Amplitude({{0, 0}, {0.3, 1}, {0.6, 0.2}}));
  a->loads().add_load_case("source", [](double t) { return t * t; });
  a->loads().add_load_case("film", Amplitude({{0, 1}, {1, 2}}));
  a->loads().move_supports(d, "corner", "T", SupportMotion::by_displacement(Amplitude({{0, 0.5}, {1, 1}})));
  a->set_steps({.end = 1, .step = 0.0625});
  return a;
}

TEST(TransientHeat, StoresWhatComesIn) {
  for (const std::string& method : methods) {
    Domain d;
    build_balanced(d);
    auto a = balanced(d, method);
    const StepResult end = a->run().back();
    const HeatAccount& heat = a->heat();
    const double scale = std::abs(heat.loads) + std::abs(heat.supports);
    EXPECT_GT(std::abs(heat.loads), 0.05 * scale);
    EXPECT_GT(std::abs(heat.supports), 0.05 * scale);
    EXPECT_NEAR(heat.missing(), 0, 1e-12 * scale) << method;
    if (method != "backward-euler") continue;
    // What is stored is ρ c times the change of the temperatures, integrated over the volume with the elements' C.
    Vector change = a->state().unknowns.clone(), ones = a->model().make_vector(), product = a->model().make_vector();
    Backend& backend = a->model().backend();
    backend.fill(ones, 20.0);
    backend.axpy(-1.0, ones, change);
    auto mass =
        backend.make_element_operator(a->model().device_model(), ElementProduct::matrix_free, OperatorEquations::all);
    MatrixTerms terms;
    terms.stiffness = 0;
    terms.mass = 1;
    std::vector<double> factors;
    for (const BatchOrigin& origin : a->model().batches())
      factors.push_back(origin.kind == BatchOrigin::Kind::block ? 1 : 0);
    terms.batch_factors = factors;
    backend.assemble(a->model().device_model(), ElementState{}, terms, *mass);
    mass->apply(change, product);
    backend.fill(ones, 1.0);
    EXPECT_NEAR(backend.dot(ones, product), heat.stored, 1e-11 * scale);
  }
}

/// Conductivity and capacity that double over 100 degrees, a film and radiation.
StepResult nonlinear(const std::string& method, int steps, Domain& d, TransientReport* report = nullptr) {
  auto m = std::make_shared<Material>("steel");
  m->set_table("conductivity", {{0, 1}, {100, 2}}).set("density", 2.0);
  m->set_table("specific_heat", {{0, 0.5}, {100, 1}});
  add_bar(d, "heat.hex8", 6).set_material(m);
  d.set_initial_temperature(100);
  auto& out = d.add_load_case("out");
  out.convection("xmax", 0.5, 20);
  out.radiation("xmax", 2e-9, 20, -273.15);
  auto a = transient(d, method);
  a->loads().add_load_case("out");
  a->set_steps({.end = 0.8, .step = 0.8 / steps});
  StepResult end = a->run().back();
  if (report) *report = a->report();
  const HeatAccount& heat = a->heat();
  EXPECT_NEAR(heat.missing(), 0, 1e-8 * std::abs(heat.stored)) << method;
  return end;
}

TEST(TransientHeat, ALoadThatJumpsDoesNotActBefore) {
  // Heat 3 per second from t = 50 on, in a body of capacity 1 that is as warm everywhere.
  Domain d;
  add_bar(d, "heat.hex8", 2, 1, 1).set_material(heat_material(1e6, 1, 1));
  d.add_load_case("source").heat_source("", 3);
  for (const std::string& method : methods)
    for (const bool automatic : {false, true}) {
      if (method == "bdf2" && !automatic) continue;  // remembers the step before the jump
      auto a = transient(d, method);
      a->loads().add_load_case("source", Amplitude({{0, 0}, {50, 0}, {50, 1}}));
      a->set_steps({.end = 100, .step = 25, .automatic = automatic});
      EXPECT_NEAR(at(d, a->run().back(), 0.5), 150, method == "backward-euler" ? 1e-3 : 1.0)
          << method << ", " << automatic;
    }
}

TEST(TransientHeat, AutomaticStepsTakeInTheWholeOfAPulse) {
  Domain d;
  add_bar(d, "heat.hex8", 2, 1, 1).set_material(heat_material(1e6, 1, 1));
  d.add_load_case("source").heat_source("", 3);
  for (const double step : {5.0, 50.0}) {
    auto a = transient(d, "backward-euler");
    a->loads().add_load_case("source", Amplitude({{0, 0}, {30, 0}, {30.5, 1}, {31, 0}}));
    a->set_steps({.end = 100, .step = step, .automatic = true});
    EXPECT_NEAR(at(d, a->run().back(), 0.5), 1.5, 1e-6) << step;
  }
}

TEST(TransientHeat, NonlinearProblemsKeepTheOrder) {
  Domain fine;
  const double reference = at(fine, nonlinear("crank-nicolson", 640, fine), 1);
  EXPECT_GT(reference, 30);
  EXPECT_LT(reference, 90);
  for (const std::string& method : methods) {
    Domain a, b;
    TransientReport report;
    const double coarse = std::abs(at(a, nonlinear(method, 40, a, &report), 1) - reference),
                 finer = std::abs(at(b, nonlinear(method, 80, b), 1) - reference);
    EXPECT_NEAR(std::log2(coarse / finer), order_of(method), 0.25) << method << " " << coarse << " " << finer;
    EXPECT_LT(report.iterations, 40 * 12) << method;
  }
}

TEST(TransientHeat, AutomaticStepsFollowTheError) {
  for (const std::string& method : methods) {
    const auto run = [&](double tolerance, TransientReport& report) {
      Domain d;
      add_bar(d, "heat.hex8", 10).set_material(heat_material(1, 1, 1));
      d.set_initial_temperature(0);
      d.prescribe("xmin", "T", 1);
      auto a = transient(d, method);
      a->set_steps({.end = 2, .step = 1e-3, .automatic = true, .tolerance = tolerance});
      const double found = at(d, a->run().back(), 1);
      report = a->report();
      return found;
    };
    double exact = 1;
    for (int n = 0; n < 50; ++n) {
      const double b = (n + 0.5) * pi;
      exact -= 2 / b * (n % 2 == 0 ? 1 : -1) * std::exp(-b * b * 2);
    }
    TransientReport loose, tight;
    const double first = std::abs(run(1e-2, loose) - exact), second = std::abs(run(1e-4, tight) - exact);
    EXPECT_LT(first, 2e-2) << method;
    EXPECT_LT(second, 2e-3) << method;
    EXPECT_GT(tight.steps, loose.steps) << method;
    EXPECT_GT(loose.largest_step, 8 * loose.smallest_step) << method;
    EXPECT_LT(loose.steps, 400) << method;
  }
}

TEST(TransientHeat, NoTemperatureChangesByMoreThanAllowed) {
  Domain d;
  add_bar(d, "heat.hex8", 6).set_material(heat_material(1, 1, 1));
  d.set_initial_temperature(0);
  d.add_load_case("flux").heat_flux("xmax", 100);
  auto a = transient(d, "backward-euler");
  a->loads().add_load_case("flux");
  a->set_steps({.end = 1, .step = 0.1, .automatic = true, .tolerance = 1, .shortest = 1e-6, .largest_change = 5});
  auto history = std::make_shared<HistoryRecorder>();
  history->add(d.node_id(d.node_set("xmax").front()), "T");
  a->add_recorder(history);
  a->run();
  double largest = 0;
  const auto& values = history->values(0);
  for (std::size_t i = 1; i < values.size(); ++i) largest = std::max(largest, values[i] - values[i - 1]);
  EXPECT_LE(largest, 5 * (1 + 1e-9));
  EXPECT_GT(largest, 2);
  EXPECT_GT(a->report().rejected, 0);
  // All heat stays in the body: 100 · 0.01 per unit of time.
  EXPECT_NEAR(a->heat().stored, 1, 1e-10);

  auto b = transient(d, "backward-euler");
  b->loads().add_load_case("flux");
  b->set_steps({.end = 1, .step = 0.1, .automatic = true, .tolerance = 1, .shortest = 0.1, .largest_change = 5});
  expect_error(ErrorCode::not_converged, {"temperature changes"}, [&] { b->run(); });
}

TEST(TransientHeat, RestsInASteadyState) {
  Domain d;
  add_bar(d, "heat.hex8", 3).set_material(heat_material(3, 1, 2));
  d.set_initial_temperature(25);
  d.prescribe("xmin", "T", 25);
  d.add_load_case("film").convection("xmax", 4, 25);
  for (const std::string& method : methods) {
    auto a = transient(d, method);
    a->loads().add_load_case("film");
    a->set_steps({.end = 1e4, .step = 1e3, .automatic = true});
    const StepResult end = a->run().back();
    for (const double value : end.unknowns.values) EXPECT_NEAR(value, 25, 1e-10);
    EXPECT_NEAR(a->heat().stored, 0, 1e-10);
  }
}

TEST(TransientHeat, RestsWhereItIsNotLinear) {
  Domain d;
  auto m = std::make_shared<Material>("steel");
  m->set_table("conductivity", {{0, 1}, {100, 2}}).set("density", 2.0).set("specific_heat", 0.5);
  add_bar(d, "heat.hex8", 3).set_material(m);
  d.set_initial_temperature(25);
  for (const double step : {1e-6, 1.0, 1e5}) {
    auto a = transient(d, "backward-euler");
    a->set_steps({.end = 3 * step, .step = step});
    const StepResult end = a->run().back();
    for (const double value : end.unknowns.values) EXPECT_NEAR(value, 25, 1e-8);
  }
}

TEST(TransientHeat, ContinuesASavedStateWithTheSameBits) {
  for (const std::string& method : methods) {
    Domain d;
    build_balanced(d);
    auto whole = balanced(d, method);
    const StepResult expected = whole->run().back();
    auto first = balanced(d, method);
    first->set_steps({.end = 0.4375, .step = 0.0625});
    first->run();
    std::stringstream file;
    first->save(file);
    auto second = balanced(d, method);
    second->restore(file);
    const StepResult found = second->finish().back();
    EXPECT_EQ(found.unknowns.values, expected.unknowns.values) << method;
    EXPECT_EQ(second->heat(), whole->heat()) << method;
    EXPECT_EQ(found.reactions.values.size(), expected.reactions.values.size());
    for (std::size_t i = 0; i < found.reactions.values.size(); ++i)
      if (!std::isnan(expected.reactions.values[i])) {
        EXPECT_EQ(found.reactions.values[i], expected.reactions.values[i]) << method;
      }
  }
}

TEST(TransientHeat, RefusesWhatItCannotDo) {
  Domain solid;
  add_bar(solid, "solid.hex8", 2).set_material(std::make_shared<IsotropicMaterial>("m", 1, 0.3, 1));
  expect_error(ErrorCode::bad_input, {"temperatures", "newmark"}, [&] { transient(solid, "bdf2")->run(); });
  Domain heat;
  auto& block = add_bar(heat, "heat.hex8", 2);
  block.set_material(heat_material(1, 1, 1));
  expect_error(ErrorCode::bad_input, {"dynamics", "bdf2"}, [&] { transient(heat, "newmark")->run(); });
  expect_error(ErrorCode::bad_input, {"no options"}, [&] { transient(heat, "bdf2:order=3"); });
  expect_error(ErrorCode::not_found, {"bdf2"}, [&] { transient(heat, "bdf3"); });
  auto based = transient(heat, "bdf2");
  based->loads().add_base_acceleration("x", Amplitude());
  expect_error(ErrorCode::bad_input, {}, [&] { based->run(); });
  Domain bare;
  auto m = std::make_shared<Material>("stone");
  m->set("conductivity", 1).set("density", 2);
  add_bar(bare, "heat.hex8", 2).set_material(m);
  expect_error(ErrorCode::bad_input, {"specific heat", "stone"}, [&] { transient(bare, "bdf2")->run(); });
}

}  // namespace
}  // namespace voussoir
