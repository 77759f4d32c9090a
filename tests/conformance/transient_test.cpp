#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/transient_problem.hpp>

#include "backends_under_test.hpp"

// Implicit dynamics on every backend: base motion, a support that moves, an oblique support, an equation, damping of
// the model and of a material, pressure by amplitude, automatic steps.

namespace voussoir::conformance {
namespace {

struct TransientOn : ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, TransientOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

/// A box on a wall; one of its far nodes follows a support, another slides along a direction.
void build_box(Domain& d) {
  BoxMesh mesh;
  mesh.cells = {4, 2, 2};
  mesh.upper = {4, 2, 2};
  mesh.distortion = 0.1;
  auto material = std::make_shared<IsotropicMaterial>("m", 100, 0.3, 1);
  material->set_damping({0.1, 0.002});
  add_box_mesh(d, mesh).set_material(material);
  d.prescribe("xmin", "all");
  const auto far = d.node_set("xmax");
  const Id moved = d.node_id(far[0]), slides = d.node_id(far[2]), tied = d.node_id(far[4]), leads = d.node_id(far[5]);
  d.add_node_set("moved", {moved});
  d.prescribe("moved", "uz", 0.02);
  d.prescribe_along(slides, {0, 0.6, 0.8}, 0);
  d.add_equation({{tied, "ux", 1}, {leads, "ux", -0.5}});
  auto& wind = d.add_load_case("wind");
  wind.pressure("ymax", 0.4);
  wind.nodal_at(leads, "ux", 0.3);
}

struct Outcome {
  std::vector<double> values;
  EnergyBalance energies;
  TransientReport report;
};

Outcome integrate(const std::string& backend, const std::string& solver, const std::string& method, bool automatic) {
  Domain d;
  build_box(d);
  TransientOptions options;
  options.backend = backend;
  options.solver = solver;
  options.method = method;
  options.relative_tolerance = 1e-12;
  options.damping = {0.05, 0.001};
  auto a = make_transient_analysis(d, options);
  a->loads().add_load_case("wind", Amplitude({{0, 0}, {0.05, 1}, {0.1, 1}, {0.1, 0}}));
  a->loads().add_base_acceleration("y", Amplitude({{0, 0}, {0.15, 2}, {0.3, -1}}));
  a->loads().move_supports(d, "moved", "uz", SupportMotion::by_displacement(Amplitude({{0, 0}, {0.3, 1}})));
  a->set_steps({.end = 0.15, .step = 0.01, .automatic = automatic, .tolerance = 1e-2});
  a->set_recovery(false);
  const StepResult end = a->run().back();
  Outcome found{end.unknowns.values, a->energies(), a->report()};
  const NodalField v = a->integrator().motion(a->model(), a->state(), 1, true);
  const NodalField acceleration = a->integrator().motion(a->model(), a->state(), 2);
  for (const auto* field : {&v, &acceleration, &end.reactions})
    found.values.insert(found.values.end(), field->values.begin(), field->values.end());
  return found;
}

void expect_same(const Outcome& a, const Outcome& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.values.size(), b.values.size());
  const std::size_t part = a.values.size() / 4;  // displacements, velocities, accelerations, reactions
  for (std::size_t first = 0; first < a.values.size(); first += part) {
    double largest = 0, difference = 0;
    for (std::size_t i = first; i < first + part; ++i) {
      if (std::isnan(b.values[i])) continue;
      largest = std::max(largest, std::abs(b.values[i]));
      difference = std::max(difference, std::abs(a.values[i] - b.values[i]));
    }
    EXPECT_GT(largest, 0) << what;
    EXPECT_LE(difference, tolerance * largest) << what << ", quantity " << first / part;
  }
  EXPECT_NEAR(a.energies.kinetic, b.energies.kinetic, tolerance * b.energies.scale()) << what;
  EXPECT_NEAR(a.energies.internal, b.energies.internal, tolerance * b.energies.scale()) << what;
  EXPECT_NEAR(a.energies.external, b.energies.external, tolerance * b.energies.scale()) << what;
  EXPECT_NEAR(a.energies.damping, b.energies.damping, tolerance * b.energies.scale()) << what;
}

TEST_P(TransientOn, AgreesWithTheOracle) {
  struct Case {
    const char *solver, *method;
    bool automatic;
  };
  for (const Case& c : {Case{"direct", "generalised-alpha:radius=0.8", false}, Case{"direct", "hht", true},
                        Case{"cg", "newmark", false}}) {
    if (GetParam().starts_with("emulated") && std::string(c.method) != "newmark") continue;  // the emulation is slow
    static std::map<std::string, Outcome> oracles;
    const std::string key = std::string(c.solver) + c.method;
    if (!oracles.contains(key)) oracles[key] = integrate(oracle, "direct", c.method, c.automatic);
    const Outcome found = integrate(GetParam(), c.solver, c.method, c.automatic);
    expect_same(found, oracles[key], 1e-10, key);
    EXPECT_EQ(found.report.steps, oracles[key].report.steps) << key;
    if (!c.automatic) {
      EXPECT_EQ(found.report.factorisations, 1) << key;
    }
  }
}

TEST_P(TransientOn, GivesTheSameBitsEachTime) {
  const Outcome once = integrate(GetParam(), "cg", "newmark", false),
                again = integrate(GetParam(), "cg", "newmark", false);
  for (std::size_t i = 0; i < once.values.size(); ++i)
    if (!std::isnan(once.values[i])) {
      ASSERT_EQ(once.values[i], again.values[i]);
    }
  EXPECT_EQ(once.energies, again.energies);
}

TEST_P(TransientOn, ExtrapolationSavesIterations) {
  if (GetParam() != oracle) return;
  Domain d;
  build_box(d);
  TransientOptions options;
  options.backend = GetParam();
  options.solver = "cg";
  auto a = make_transient_analysis(d, options);
  a->loads().add_base_acceleration("y", Amplitude({{0, 0}, {1, 2}}));
  const double step = 0.002;
  a->set_steps({.end = 40 * step, .step = step});
  a->run();
  // One more step, solved from zero and from the extrapolation.
  TimeIntegrator& method = a->integrator();
  AnalysisState next = a->state().clone();
  next.time += step;
  next.time_step = step;
  method.begin_step(a->model(), next);
  LinearSOE& soe = *a->collaborators().soe;
  ASSERT_TRUE(method.has_formed(a->model(), next, soe));
  method.form_unbalance(a->model(), next, soe.b());
  a->backend().fill(soe.x(), 0.0);
  const SolveReport cold = a->collaborators().solver->solve(soe);
  method.extrapolate(a->model(), next, soe.x());
  const SolveReport warm = a->collaborators().solver->solve(soe);
  EXPECT_TRUE(cold.converged && warm.converged);
  EXPECT_LT(warm.iterations, 0.9 * cold.iterations) << cold.iterations;
}

}  // namespace
}  // namespace voussoir::conformance
