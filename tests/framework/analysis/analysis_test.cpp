#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

struct Cantilever : ::testing::Test {
  Cantilever() {
    BoxMesh mesh;
    mesh.cells = {8, 2, 2};
    mesh.upper = {8, 1, 1};
    add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1e5, 0.3, 2, 1e-5));
    d.prescribe("xmin", "all");
    d.add_load_case("tip").traction("xmax", {0, 0, 1});
    d.add_load_case("weight").gravity("", {0, 0, -10});
    d.add_load_case("hot").temperature("xmax", 50);
    options.backend = "openmp:2";
  }
  Domain d;
  StaticOptions options;
};

TEST_F(Cantilever, TheObserverSeesTheStagesInOrder) {
  auto a = make_static_analysis(d, options);
  std::vector<std::string> stages;
  double last = 0;
  a->observer = [&](const Progress& p) {
    EXPECT_GE(p.seconds, last);
    last = p.seconds;
    if (stages.empty() || stages.back() != p.stage) stages.push_back(p.stage);
    return true;
  };
  a->run();
  EXPECT_EQ(stages, (std::vector<std::string>{"number", "pattern", "check supports", "loads", "assemble and solve",
                                              "recover"}));
  std::vector<std::string> timed;
  for (const auto& t : a->stage_times()) timed.push_back(t.stage);
  EXPECT_EQ(timed, stages);
}

TEST_F(Cantilever, TheObserverSeesIterations) {
  options.solver = "cg";
  auto a = make_static_analysis(d, options);
  int calls = 0;
  a->observer = [&](const Progress& p) {
    if (p.stage == "solve") {
      ++calls;
      EXPECT_GT(p.residual, 0);
      EXPECT_LT(p.residual, 10);
    }
    return true;
  };
  a->run();
  EXPECT_GT(calls, 0);
}

TEST_F(Cantilever, EveryStageCanBeCancelled) {
  options.solver = "cg";
  for (const char* stop : {"number", "pattern", "check supports", "loads", "assemble and solve", "solve", "recover"}) {
    auto a = make_static_analysis(d, options);
    a->observer = [&](const Progress& p) { return p.stage != stop; };
    SCOPED_TRACE(stop);
    expect_error(ErrorCode::cancelled, {"cancelled"}, [&] { a->run(); });
  }
}

TEST_F(Cantilever, StepsCombineLoadCasesLinearly) {
  auto a = make_static_analysis(d, options);
  a->add_step({"tip", {{"tip", 1}}});
  a->add_step({"weight", {{"weight", 1}}});
  a->add_step({"both", {{"tip", 2}, {"weight", -0.5}}});
  a->add_step({"hot", {{"hot", 1}, {"tip", 1}}});
  a->add_step({"nothing", {}});
  const auto r = a->run();
  ASSERT_EQ(r.size(), 5u);
  const double size = std::abs(r[0].unknowns.largest("uz").value);
  for (std::size_t i = 0; i < r[0].unknowns.values.size(); ++i) {
    const double tip = r[0].unknowns.values[i], weight = r[1].unknowns.values[i];
    EXPECT_NEAR(r[2].unknowns.values[i], 2 * tip - 0.5 * weight, 1e-10 * size);
    EXPECT_EQ(r[4].unknowns.values[i], 0);
  }
  EXPECT_EQ(r[2].step, "both");
  EXPECT_NEAR(r[2].load_sum[2], 2 * 1 - 0.5 * (-10 * 2 * 8), 1e-9);
  // Warmth at the end stretches the last row of elements, without any force.
  EXPECT_GT(r[3].unknowns.largest("ux").value, r[0].unknowns.largest("ux").value + 1e-5);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(r[3].reaction_sum[i], r[0].reaction_sum[i], 1e-8);
}

TEST_F(Cantilever, StepsAreTheSameOneByOneAndWhateverStandsBetween) {
  const auto run = [&](std::vector<Step> steps) {
    auto a = make_static_analysis(d, options);
    for (auto& s : steps) a->add_step(s);
    return a->run();
  };
  const Step tip{"tip", {{"tip", 1}}}, weight{"weight", {{"weight", 1}}}, hot{"hot", {{"hot", 1}}};
  const auto all = run({tip, hot, weight, tip});
  const auto alone = {run({tip}), run({hot}), run({weight}), run({tip})};
  std::size_t s = 0;
  for (const auto& one : alone) {
    const auto &x = all[s].unknowns.values, &y = one[0].unknowns.values;
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-12) << "step " << s;
    const auto &p = all[s].points[0].values, &q = one[0].points[0].values;
    for (std::size_t i = 0; i < p.size(); ++i) ASSERT_NEAR(p[i], q[i], 1e-7) << "step " << s;
    ++s;
  }
}

TEST_F(Cantilever, WithoutStepsAllLoadCasesAct) {
  auto one = make_static_analysis(d, options);
  one->add_step({"static", {{"tip", 1}, {"weight", 1}, {"hot", 1}}});
  EXPECT_EQ(make_static_analysis(d, options)->run()[0].unknowns.values, one->run()[0].unknowns.values);
}

TEST_F(Cantilever, AStepNamesItsUnknownLoadCase) {
  auto a = make_static_analysis(d, options);
  a->add_step({"s", {{"tpi", 1}}});
  expect_error(ErrorCode::not_found, {"load case 'tpi'"}, [&] { a->run(); });
}

TEST_F(Cantilever, PrescribedValuesFollowTheirFactor) {
  d.prescribe("xmax", "uz", 0.01);
  auto a = make_static_analysis(d, options);
  a->add_step({"half", {}, 0.5});
  a->add_step({"back", {}, -1});
  const auto r = a->run();
  const std::int32_t end = d.node_set("xmax")[0];
  EXPECT_DOUBLE_EQ(r[0].unknowns.at(end, "uz"), 0.005);
  EXPECT_DOUBLE_EQ(r[1].unknowns.at(end, "uz"), -0.01);
  EXPECT_NEAR(r[1].energy / r[0].energy, 4, 1e-9);
}

TEST_F(Cantilever, AnInvertedElementIsNamedByTheUsersId) {
  auto& more = d.add_block("more", "solid.tet4");
  more.set_material(d.block(0).material());
  d.add_node(5000, 20, 0, 0);
  d.add_node(5001, 21, 0, 0);
  d.add_node(5002, 20, 1, 0);
  d.add_node(5003, 20, 0, 1);
  more.add(900, {5000, 5001, 5002, 5003});
  more.add(800, {5000, 5002, 5001, 5003});  // the wrong way round
  d.add_node_set("more", {5000, 5001, 5002});
  d.prescribe("more", "all");
  expect_error(ErrorCode::inverted, {"element 800 (block 'more', solid.tet4)", "inverted"},
               [&] { make_static_analysis(d, options)->run(); });
}

TEST_F(Cantilever, ADerivedAnalysisAddsToResults) {
  struct Counting : StaticAnalysis {
    using StaticAnalysis::StaticAnalysis;
    int made = 0;
    StepResult make_result(const AnalysisState& state, const SolveReport& report) override {
      ++made;
      StepResult r = StaticAnalysis::make_result(state, report);
      r.step += "!";
      return r;
    }
  };
  Analysis::Collaborators c;
  c.backend = Backend::open("openmp:1");
  c.soe = make_soe("csr");
  c.solver = make_solver("direct");
  Counting a(d, c);
  a.set_recovery(false);
  const auto r = a.run();
  EXPECT_EQ(a.made, 1);
  EXPECT_EQ(r[0].step, "static!");
  EXPECT_TRUE(r[0].points.empty());
  EXPECT_EQ(a.model().equation_count(), 3 * d.node_count());
}

TEST_F(Cantilever, CollaboratorsMustBeThere) {
  Analysis::Collaborators c;
  expect_error(ErrorCode::misuse, {"backend"}, [&] { StaticAnalysis(d, c); });
  c.backend = Backend::open("openmp:1");
  expect_error(ErrorCode::misuse, {"SOE", "solver"}, [&] { StaticAnalysis(d, c); });
  c.soe = make_soe("csr");
  expect_error(ErrorCode::misuse, {"has no model yet"}, [&] { c.soe->model(); });
}

TEST_F(Cantilever, ADerivedAnalysisFindsEveryCollaborator) {
  struct Plain : Analysis {
    using Analysis::Analysis;
    std::vector<StepResult> run() override {
      prepare();
      auto states = step_states(domain(), {{"tip", {{"tip", 1}}, 1}});
      parts_.integrator->begin_step(*model_, states[0]);
      const auto reports = parts_.algorithm->solve(*model_, *parts_.integrator, *parts_.soe, *parts_.solver, states);
      EXPECT_TRUE(reports.at(0).converged);
      std::vector<StepResult> results;
      results.push_back(make_step_result(*model_, *parts_.integrator, states[0], reports[0], false));
      return results;
    }
  };
  Analysis::Collaborators c;
  c.backend = Backend::open("openmp:1");
  c.soe = make_soe("csr");
  c.solver = make_solver("direct");
  Plain a(d, c);
  EXPECT_NE(a.collaborators().handler, nullptr);
  EXPECT_NE(a.collaborators().numberer, nullptr);
  EXPECT_NE(a.collaborators().integrator, nullptr);
  ASSERT_NE(a.collaborators().algorithm, nullptr);
  auto usual = make_static_analysis(d, options);
  usual->add_step({"tip", {{"tip", 1}}});
  EXPECT_NEAR(a.run()[0].unknowns.largest("uz").value, usual->run()[0].unknowns.largest("uz").value, 1e-12);
  c.solver = nullptr;
  expect_error(ErrorCode::misuse, {"SOE", "solver"}, [&] { Plain(d, c); });
}

TEST(SteadyHeat, ConductivityThatDependsOnTemperatureIsBalanced) {
  // A wall of thickness 1 with k = 1 + T/100 between 0 and 100 degrees: by Kirchhoff's transformation the heat flow is
  // the integral of k, 150 per area, and T(x) = 100 (√(1 + 3x) − 1).
  Domain d;
  BoxMesh mesh;
  mesh.type = "plane_heat.quad8";
  mesh.cells = {16, 1, 1};
  auto m = std::make_shared<Material>("wall");
  m->set_table("conductivity", {{0, 1}, {100, 2}});
  add_box_mesh(d, mesh).set_material(m);
  d.prescribe("xmin", "T", 0);
  d.prescribe("xmax", "T", 100);
  StaticOptions options;
  options.backend = "openmp:1";
  const auto r = make_static_analysis(d, options)->run();
  EXPECT_TRUE(r[0].report.converged);
  EXPECT_NE(r[0].report.solver.find("newton"), std::string::npos);
  double inflow = 0;
  for (std::int32_t n : d.node_set("xmax")) inflow += r[0].reactions.at(n, "T");
  EXPECT_NEAR(inflow, 150, 1e-3);
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    EXPECT_NEAR(r[0].unknowns.at(n, "T"), 100 * (std::sqrt(1 + 3 * d.coordinates()[3 * n]) - 1), 0.01);
}

}  // namespace
}  // namespace voussoir
