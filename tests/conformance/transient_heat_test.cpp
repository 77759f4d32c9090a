#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/transient_problem.hpp>

#include "backends_under_test.hpp"

// Transient heat on every backend: a flux and a film by amplitude, a temperature that moves, an equation; and the same
// with radiation, conductivity and capacity over temperature.

namespace voussoir::conformance {
namespace {

struct TransientHeatOn : ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, TransientHeatOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

void build_block(Domain& d, bool nonlinear) {
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {4, 3, 2};
  mesh.upper = {4, 3, 2};
  mesh.distortion = 0.15;
  auto m = std::make_shared<Material>("m");
  m->set("density", 3);
  if (nonlinear) {
    m->set_table("conductivity", {{0, 1}, {100, 3}});
    m->set_table("specific_heat", {{0, 0.4}, {100, 0.8}});
  } else {
    m->set("conductivity", 2).set("specific_heat", 0.5);
  }
  add_box_mesh(d, mesh).set_material(m);
  d.set_initial_temperature(20);
  d.prescribe("xmin", "T", 60);
  const auto far = d.node_set("xmax");
  d.add_equation({{d.node_id(far[4]), "T", 1}, {d.node_id(far[7]), "T", -1}});
  d.add_load_case("flux").heat_flux("ymax", 7);
  d.add_load_case("film").convection("zmax", 3, 5);
  if (nonlinear) d.add_load_case("radiation").radiation("xmax", 5e-9, 10, -273.15);
}

struct HeatOutcome {
  std::vector<double> values;
  HeatAccount heat;
  TransientReport report;
};

HeatOutcome run_heat(const std::string& backend, const std::string& solver, const std::string& method, bool nonlinear,
                     bool automatic) {
  Domain d;
  build_block(d, nonlinear);
  TransientOptions options;
  options.backend = backend;
  options.solver = solver;
  options.method = method;
  options.relative_tolerance = 1e-13;
  auto a = make_transient_analysis(d, options);
  a->loads().add_load_case("flux", Amplitude({{0, 0}, {0.25, 1}, {0.5, 0.2}}));
  a->loads().add_load_case("film", Amplitude({{0, 1}, {1, 1}}));
  if (nonlinear) a->loads().add_load_case("radiation", Amplitude({{0, 0.5}, {0.5, 1}}));
  a->loads().move_supports(d, "xmin", "T", SupportMotion::by_displacement(Amplitude({{0, 0.5}, {1, 1}})));
  a->set_steps({.end = 0.5, .step = 0.0625, .automatic = automatic, .tolerance = 1e-2});
  a->set_recovery(false);
  const StepResult end = a->run().back();
  HeatOutcome found{end.unknowns.values, a->heat(), a->report()};
  found.values.insert(found.values.end(), end.reactions.values.begin(), end.reactions.values.end());
  return found;
}

void expect_same_heat(const HeatOutcome& a, const HeatOutcome& b, const std::string& what) {
  ASSERT_EQ(a.values.size(), b.values.size());
  const std::size_t part = a.values.size() / 2;  // temperatures, heat flows
  for (std::size_t first = 0; first < a.values.size(); first += part) {
    double largest = 0, difference = 0;
    for (std::size_t i = first; i < first + part; ++i) {
      if (std::isnan(b.values[i])) continue;
      largest = std::max(largest, std::abs(b.values[i]));
      difference = std::max(difference, std::abs(a.values[i] - b.values[i]));
    }
    EXPECT_GT(largest, 0) << what;
    EXPECT_LE(difference, 1e-10 * largest) << what << ", quantity " << first / part;
  }
  EXPECT_NEAR(a.heat.stored, b.heat.stored, 1e-10 * std::abs(b.heat.stored)) << what;
  EXPECT_NEAR(a.heat.supports, b.heat.supports, 1e-10 * std::abs(b.heat.stored)) << what;
  EXPECT_EQ(a.report.steps, b.report.steps) << what;
}

TEST_P(TransientHeatOn, AgreesWithTheOracle) {
  struct Case {
    const char *solver, *method;
    bool nonlinear, automatic;
  };
  for (const Case& c : {Case{"direct", "bdf2", false, true}, Case{"cg", "backward-euler", false, false},
                        Case{"direct", "crank-nicolson", true, false}, Case{"direct", "bdf2", true, false}}) {
    const std::string what = std::string(c.solver) + " " + c.method + (c.nonlinear ? ", nonlinear" : "");
    static std::map<std::string, HeatOutcome> oracles;
    if (!oracles.contains(what)) oracles[what] = run_heat(oracle, "direct", c.method, c.nonlinear, c.automatic);
    expect_same_heat(run_heat(GetParam(), c.solver, c.method, c.nonlinear, c.automatic), oracles[what], what);
  }
}

TEST_P(TransientHeatOn, GivesTheSameBitsEachTime) {
  const HeatOutcome once = run_heat(GetParam(), "cg", "bdf2", false, false),
                    again = run_heat(GetParam(), "cg", "bdf2", false, false);
  for (std::size_t i = 0; i < once.values.size(); ++i)
    if (!std::isnan(once.values[i])) {
      ASSERT_EQ(once.values[i], again.values[i]);
    }
  EXPECT_EQ(once.heat, again.heat);
}

}  // namespace
}  // namespace voussoir::conformance
