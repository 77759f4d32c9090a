#include <voussoir/framework/analysis/analysis_state.hpp>

#include <gtest/gtest.h>

#include <sstream>

#include <voussoir/framework/analysis/state_record.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include "remembering_spring.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

/// Seven springs in a row, of two kinds; the first node is fixed.
void build_chain(Domain& d) {
  testing::register_remembering_spring();
  for (int i = 0; i < 8; ++i) d.add_node(10 * (i + 1), i, 0, 0);
  for (int b = 0; b < 2; ++b) {
    auto& block = d.add_block(b ? "soft" : "hard", "remembering_spring");
    block.set_section("stiffness", b ? 50 : 100).set_section("yield", b ? 3 : 2).set_section("hardening", 10);
    for (int i = 4 * b; i < 4 + 3 * b; ++i) block.add(100 + i, {Id(10 * (i + 1)), Id(10 * (i + 2))});
  }
  d.add_node_set("wall", {10});
  d.add_node_set("end", {80});
  d.prescribe("wall", "ux");
  d.add_load_case("pull").nodal("end", "ux", 1);
  d.add_load_case("other").nodal("end", "ux", 1);
}

/// A state of the chain, loaded step by step by the static integrator.
struct Path {
  Path(const Domain& d, const std::string& backend, const DofNumberer& numberer = PlainNumberer())
      : model(d, Backend::open(backend), TransformationHandler(), numberer),
        soe(make_soe("csr")),
        solver(make_solver("direct")),
        state(std::move(step_states(d, {{"path", {{"pull", 0}}}}).front())) {
    soe->set_model(model);
  }
  void go_to(double load) {
    state.case_factors[0] = load;
    state.time += 1;
    state.time_step = 1;
    integrator.begin_step(model, state);
    const auto report = NewtonRaphsonAlgorithm(1e-12).solve(model, integrator, *soe, *solver, {&state, 1}).front();
    ASSERT_TRUE(report.converged) << report.reason << ", " << report.true_residual << " at " << load;
    integrator.commit(model, state);
  }
  double end() const { return state.unknowns.to_host()[model.equation(model.domain().node_index(80), "ux")]; }

  AnalysisModel model;
  std::shared_ptr<LinearSOE> soe;
  std::shared_ptr<Solver> solver;
  StaticIntegrator integrator;
  AnalysisState state;
};

/// Displacement of the chain's end under a load that was reached by increasing magnitudes `most` of either sign, in
/// closed form: each spring has slipped by (most − yield) / hardening whenever it yielded anew.
double slip(double from, double to, double yield) {
  return to > std::max(from, yield) ? (to - std::max(from, yield)) / 10 : 0.0;
}

TEST(AnalysisState, ALoadingCycleFollowsTheClosedForm) {
  Domain d;
  build_chain(d);
  for (const char* backend : {"openmp:2", "debug:2"}) {
    SCOPED_TRACE(backend);
    Path path(d, backend);
    const auto elastic = [](double p) { return 4 * p / 100 + 3 * p / 50; };
    const double first = 4 * slip(0, 5, 2) + 3 * slip(0, 5, 3);
    path.go_to(1.5);
    EXPECT_NEAR(path.end(), elastic(1.5), 1e-12);
    path.go_to(5);
    EXPECT_NEAR(path.end(), elastic(5) + first, 1e-11);
    path.go_to(0);
    EXPECT_NEAR(path.end(), first, 1e-11);
    path.go_to(-5);  // isotropic hardening: yields at 5 now, whatever the sign
    EXPECT_NEAR(path.end(), elastic(-5) + first, 1e-11);
    path.go_to(-7);
    EXPECT_NEAR(path.end(), elastic(-7) + first - 7 * slip(5, 7, 3), 1e-11);
  }
}

TEST(AnalysisState, StepsOfAStaticAnalysisFollowFromEachOtherWhereElementsRemember) {
  Domain d;
  build_chain(d);
  struct Loads : Recorder {
    void record(const CommittedState& now) override {
      seen.push_back(now.state.case_factors[0]);
      EXPECT_TRUE(now.state.is_committed());
      EXPECT_TRUE(now.report.converged);
    }
    std::vector<double> seen;
  };
  auto analysis = make_static_analysis(d, {.backend = "openmp:2"});
  const auto loads = std::make_shared<Loads>();
  analysis->add_recorder(loads);
  analysis->add_step({"up", {{"pull", 5}}});
  analysis->add_step({"down", {{"pull", 0}}});
  for (int run = 0; run < 2; ++run) {  // each run starts anew
    const auto results = analysis->run();
    const double left = 4 * slip(0, 5, 2) + 3 * slip(0, 5, 3);
    EXPECT_NEAR(results.at(0).unknowns.at(7, "ux"), 4 * 0.05 + 3 * 0.1 + left, 1e-7);
    EXPECT_NEAR(results.at(1).unknowns.at(7, "ux"), left, 1e-7);
    EXPECT_NEAR(results.at(0).reaction_sum[0], -5, 1e-6);
  }
  EXPECT_EQ(loads->seen, (std::vector<double>{5, 0, 5, 0}));
}

TEST(AnalysisState, RevertsToWhatWasCommittedAndClonesAreIndependent) {
  Domain d;
  build_chain(d);
  for (const char* backend : {"openmp:1", "debug:2"}) {
    Path path(d, backend);
    expect_error(ErrorCode::misuse, {"committed"}, [&] { path.state.revert(path.model); });
    path.go_to(4);
    const AnalysisState kept = path.state.clone();
    EXPECT_EQ(difference(path.model, kept, path.state), "");
    path.go_to(6);
    EXPECT_NE(difference(path.model, kept, path.state).find("node 20, ux"), std::string::npos);
    const double six = path.end();
    // A trial leaves no trace: neither in the unknowns nor in the history.
    path.state.case_factors[0] = 20;
    path.integrator.begin_step(path.model, path.state);
    NewtonRaphsonAlgorithm().solve(path.model, path.integrator, *path.soe, *path.solver, {&path.state, 1});
    EXPECT_GT(path.end(), six + 1);
    path.integrator.revert(path.model, path.state);
    EXPECT_EQ(path.end(), six);
    EXPECT_EQ(path.state.case_factors[0], 6);
    path.go_to(0);
    EXPECT_NEAR(path.end(), 4 * slip(0, 6, 2) + 3 * slip(0, 6, 3), 1e-11);
    AnalysisState other = kept.clone();
    other.unknowns.from_host(std::vector<double>(8, 1.0));
    EXPECT_NE(difference(path.model, kept, other), "");
    EXPECT_EQ(difference(path.model, kept, other, 10), "");
  }
}

std::string saved(const Path& path) {
  std::ostringstream out;
  save_state(path.model, path.state, out);
  return out.str();
}

AnalysisState restored(const AnalysisModel& model, const std::string& bytes) {
  std::istringstream in(bytes);
  return restore_state(model, in);
}

TEST(AnalysisState, RecordsGiveNumbersWithTheirNodesAndElements) {
  Domain d;
  build_chain(d);
  Path path(d, "debug:3", ReverseCuthillMcKeeNumberer());
  path.go_to(5);
  std::istringstream in(saved(path));
  StateRecord record = read_record(in);
  const StatePlaces places = state_places(path.model);
  EXPECT_EQ(record.time, 1);
  EXPECT_EQ(record.case_factors, (std::vector<std::pair<std::string, double>>{{"pull", 5}, {"other", 0}}));
  ASSERT_EQ(record.vectors[0].values.size(), 8u);
  EXPECT_EQ(places.nodes, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(places.unknowns, std::vector<std::int32_t>(8, 0));
  EXPECT_EQ(record.vectors[0].values.back(), path.end());
  for (std::size_t i = 1; i < 8; ++i) EXPECT_GT(record.vectors[0].values[i], record.vectors[0].values[i - 1]);
  EXPECT_FALSE(record.vectors[0].are_shares);
  EXPECT_TRUE(record.vectors[3].are_shares);
  // History of both blocks, element by element; it alone fits every model with these blocks.
  ASSERT_EQ(record.history.size(), 2u);
  EXPECT_EQ(record.history[0].block, "hard");
  EXPECT_EQ(record.history[1].numbers.size() * 4, record.history[0].numbers.size() * 3);
  StateRecord history;
  history.history = record.history;
  std::ostringstream out;
  write_record(history, out);
  EXPECT_NE(restored(path.model, out.str()).history, nullptr);
  history.history[1].numbers.pop_back();
  std::ostringstream shorter;
  write_record(history, shorter);
  expect_error(ErrorCode::bad_input, {"soft", "other elements"}, [&] { restored(path.model, shorter.str()); });
  record.model->fingerprint += 1;
  std::ostringstream other;
  write_record(record, other);
  expect_error(ErrorCode::bad_input, {"other numbers"}, [&] { restored(path.model, other.str()); });
}

TEST(AnalysisState, ContinuesOnOtherDevicesAndNumberings) {
  Domain d;
  build_chain(d);
  Path whole(d, "openmp:1");
  for (const double load : {3.0, 5.0, -6.0}) whole.go_to(load);
  Path before(d, "debug:3");
  for (const double load : {3.0, 5.0}) before.go_to(load);
  const std::string bytes = saved(before);
  // One device writes the same bytes as three.
  Path one(d, "openmp:1");
  for (const double load : {3.0, 5.0}) one.go_to(load);
  EXPECT_EQ(saved(one), bytes);
  for (const char* backend : {"openmp:1", "debug:2"}) {
    Path after(d, backend, ReverseCuthillMcKeeNumberer());
    after.state = restored(after.model, bytes);
    EXPECT_EQ(after.state.time, 2);
    EXPECT_EQ(after.state.name, "path");
    EXPECT_TRUE(after.state.is_committed());
    EXPECT_EQ(saved(after), bytes);
    after.go_to(-6);
    EXPECT_NEAR(after.end(), whole.end(), 1e-13);
  }
}

TEST(AnalysisState, DamagedBytesAndOtherModelsAreRefused) {
  Domain d;
  build_chain(d);
  Path path(d, "openmp:1");
  path.go_to(5);
  const std::string bytes = saved(path);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    expect_error(ErrorCode::bad_input, {"cannot be restored"}, [&] { restored(path.model, damaged); });
    expect_error(ErrorCode::bad_input, {"cannot be restored"}, [&] { restored(path.model, bytes.substr(0, i)); });
  }
  Domain renumbered;
  testing::register_remembering_spring();
  for (int i = 0; i < 8; ++i) renumbered.add_node(i + 1, i, 0, 0);
  auto& block = renumbered.add_block("hard", "remembering_spring");
  block.set_section("stiffness", 1).set_section("yield", 1).set_section("hardening", 1);
  for (int i = 0; i < 7; ++i) block.add(i + 1, {Id(i + 1), Id(i + 2)});
  const AnalysisModel other(renumbered, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
  expect_error(ErrorCode::bad_input, {"other numbers"}, [&] { restored(other, bytes); });
  renumbered.add_node(9, 9, 0, 0);
  const AnalysisModel larger(renumbered, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
  expect_error(ErrorCode::bad_input, {"8 nodes", "has 9"}, [&] { restored(larger, bytes); });
}

TEST(AnalysisState, TemperaturesAreSavedByNode) {
  Domain d;
  BoxMesh mesh;
  mesh.cells = {4, 2, 2};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1e5, 0.3, 2, 1e-5));
  d.prescribe("xmin", "all");
  d.add_load_case("hot").temperature("xmax", 50);
  const AnalysisModel two(d, Backend::open("debug:2"), TransformationHandler(), PlainNumberer());
  const AnalysisModel one(d, Backend::open("openmp:1"), TransformationHandler(), ReverseCuthillMcKeeNumberer());
  StaticIntegrator integrator;
  AnalysisState state = std::move(step_states(d, {}).front());
  integrator.begin_step(two, state);
  ASSERT_NE(state.temperature, nullptr);
  std::ostringstream out;
  save_state(two, state, out);
  AnalysisState expected = std::move(step_states(d, {}).front());
  integrator.begin_step(one, expected);
  EXPECT_EQ(difference(one, restored(one, out.str()), expected), "");
}

/// A load case's density follows temperature in its own step, whatever the step before.
TEST(AnalysisState, WeightIsThatOfTheStepsOwnTemperature) {
  const auto run = [](const std::vector<Step>& steps) {
    Domain d;
    BoxMesh mesh;
    mesh.cells = {2, 1, 1};
    auto gas = std::make_shared<Material>("gas");
    gas->set("young", 1e5).set("poisson", 0.3).set_table("density", {{0, 4}, {100, 2}});
    add_box_mesh(d, mesh).set_material(gas);
    d.prescribe("xmin", "all");
    d.add_load_case("weight").gravity("", {0, 0, -1});
    d.add_node_set_where("all", [](double, double, double) { return true; });
    d.add_load_case("hot").temperature("all", 100);
    auto analysis = make_static_analysis(d, {.backend = "openmp:1"});
    for (const Step& step : steps) analysis->add_step(step);
    std::vector<double> weights;
    for (const auto& result : analysis->run()) weights.push_back(-result.load_sum[2]);
    return weights;
  };
  const Step cold{"cold", {{"weight", 1}}}, hot{"hot", {{"weight", 1}, {"hot", 1}}};
  const auto cold_first = run({cold, hot}), hot_first = run({hot, cold});
  EXPECT_NEAR(cold_first[0], 4, 1e-12);
  EXPECT_NEAR(cold_first[1], 2, 1e-12);
  EXPECT_NEAR(hot_first[0], 2, 1e-12);
  EXPECT_NEAR(hot_first[1], 4, 1e-12);
}

}  // namespace
}  // namespace voussoir
