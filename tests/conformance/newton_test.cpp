#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/domain/host_element.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "backends_under_test.hpp"

// Newton's method where whole increments lead nowhere: its line search, on every backend.

namespace voussoir::conformance {
namespace {

struct NewtonOn : ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, NewtonOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

/// A bar of three elements of a metal that hardens, stretched to each of the strains in one step.
std::vector<StepResult> stretch(const std::string& backend, const std::vector<double>& strains,
                                const std::shared_ptr<SolutionAlgorithm>& algorithm = nullptr) {
  Domain d;
  BoxMesh mesh;
  mesh.type = "j2.hex8";
  mesh.cells = {3, 1, 1};
  auto m = std::make_shared<Material>("metal");
  m->set("lambda", 200 * 0.3 / (1.3 * 0.4)).set("mu", 200 / 2.6).set("yield", 1).set("hardening", 20);
  add_box_mesh(d, mesh).set_material(m);
  d.prescribe("xmin", "ux");
  d.prescribe("ymin", "uy");
  d.prescribe("zmin", "uz");
  d.prescribe("xmax", "ux", 1.0);
  auto parts = make_static_analysis(d, Backend::open(backend))->collaborators();
  if (algorithm) parts.algorithm = algorithm;
  StaticAnalysis analysis(d, parts);
  for (const double strain : strains) analysis.add_step({"strain " + std::to_string(strain), {}, strain});
  return analysis.run();
}

TEST_P(NewtonOn, UnloadingAPlasticBarInOneStepIsItsClosedForm) {
  const double young = 200, yield = 1, hardening = 20;
  const std::vector<double> strains{0.010, 0, 0.012, -0.012, 0.05, 0};
  const std::vector<StepResult> results = stretch(GetParam(), strains);
  double plastic = 0, hardened = 0;
  for (std::size_t i = 0; i < strains.size(); ++i) {
    const double trial = young * (strains[i] - plastic);
    const double flow = std::max(0.0, std::abs(trial) - yield - hardening * hardened) / (young + hardening);
    plastic += trial > 0 ? flow : -flow;
    hardened += flow;
    const double exact = young * (strains[i] - plastic);
    for (int e = 0; e < 3; ++e) EXPECT_NEAR(results[i].points.front().at(e, 0, "sxx"), exact, 1e-6) << strains[i];
    EXPECT_LT(results[i].report.history.size(), 25u);
    // A step begins on the yield surface, where rounding decides whether Newton's first step has to be shortened.
    if (results[i].report.line_searches > 0) {
      EXPECT_NE(results[i].report.reason.find("shortened by the line search"), std::string::npos)
          << results[i].report.reason;
    }
  }
}

/// A spring of one node along x that is soft, engages at a displacement of 1 and then slips: Newton's whole steps jump
/// to and fro across the place where it engages.
class Latch final : public HostElement {
 public:
  int nodes() const override { return 1; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  std::vector<std::string> parameter_names() const override { return {"k"}; }
  void tangent(const HostElementData& e, std::span<double> m) const override {
    const double t = std::tanh(10 * (e.u[0] - 1));
    m[0] = e.parameters[0] + 10 * (1 - t * t);
  }
  void residual(const HostElementData& e, std::span<double> r) const override {
    r[0] = e.parameters[0] * e.u[0] + std::tanh(10 * (e.u[0] - 1)) + std::tanh(10.0);
  }
};

TEST_P(NewtonOn, ASpringOnWhichWholeStepsCycleConverges) {
  static const bool registered = [] {
    register_host_element("latch", "", std::make_shared<Latch>());
    return true;
  }();
  ASSERT_TRUE(registered);
  const auto solve = [&](const LineSearchOptions& options, bool by_increments = false) {
    Domain d;
    d.add_node(1, 0, 0);
    d.add_block("latch", "latch").set_section("k", 0.01).add(1, {1});
    d.add_node_set("end", {1});
    d.prescribe("end", "uy");
    d.prescribe("end", "uz");
    d.add_load_case("pull").nodal("end", "ux", 1);
    auto parts = make_static_analysis(d, Backend::open(GetParam()))->collaborators();
    auto test = std::make_shared<ConvergenceTest>();
    if (by_increments) {
      test->force.reset();
      test->displacement = 1e-9;
    }
    auto newton = std::make_shared<NewtonRaphsonAlgorithm>(test);
    newton->set_line_search(options);
    parts.algorithm = newton;
    return StaticAnalysis(d, parts).run().front();
  };
  LineSearchOptions none;
  none.enabled = false;
  EXPECT_THROW(solve(none), NotConverged);
  // 0.01 u + tanh(10 (u − 1)) + tanh(10) = 1, by bisection.
  double low = 0, high = 2;
  for (int k = 0; k < 60; ++k) {
    const double u = (low + high) / 2;
    (0.01 * u + std::tanh(10 * (u - 1)) + std::tanh(10.0) < 1 ? low : high) = u;
  }
  for (const double decrease : {0.0, 1e-4, 0.3}) {
    LineSearchOptions options;
    options.decrease = decrease;
    const StepResult result = solve(options);
    EXPECT_NEAR(result.unknowns.at(0, "ux"), low, 1e-8);
    EXPECT_GT(result.report.line_searches, 0);
    EXPECT_LT(result.report.history.size(), 20u);
  }
  // A short step is no sign of convergence.
  EXPECT_NEAR(solve({}, true).unknowns.at(0, "ux"), low, 1e-8);
}

/// A spring in the plane that answers with `size` times the displacement turned by an angle, while its tangent is 1.
/// With a size of 5/3 and no angle, increments overshoot, but converge; with 120°, no part of an increment reduces the
/// unbalance.
class TurnedSpring final : public HostElement {
 public:
  TurnedSpring(double size, double degrees) : size_(size), angle_(degrees * 3.14159265358979323846 / 180) {}
  int nodes() const override { return 1; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy"}; }
  void tangent(const HostElementData&, std::span<double> m) const override { m[0] = m[3] = 1; }
  void residual(const HostElementData& e, std::span<double> r) const override {
    r[0] = size_ * (std::cos(angle_) * e.u[0] - std::sin(angle_) * e.u[1]);
    r[1] = size_ * (std::sin(angle_) * e.u[0] + std::cos(angle_) * e.u[1]);
  }

 private:
  double size_, angle_;
};

TEST(NewtonRaphson, IncrementsThatReduceTheUnbalanceOrThatNothingImprovesAreTakenWhole) {
  register_host_element("soft_tangent", "", std::make_shared<TurnedSpring>(5.0 / 3, 0));
  register_host_element("wrong_tangent", "", std::make_shared<TurnedSpring>(1, 120));
  const auto solve = [](const std::string& type, bool search) {
    Domain d;
    d.add_node(1, 0, 0);
    d.add_block("spring", type).add(1, {1});
    d.add_node_set("end", {1});
    d.add_load_case("pull").nodal("end", "ux", 1);
    auto parts = make_static_analysis(d, {.backend = oracle})->collaborators();
    auto newton = std::make_shared<NewtonRaphsonAlgorithm>(1e-8, type == "soft_tangent" ? 60 : 5);
    LineSearchOptions options;
    options.enabled = search;
    newton->set_line_search(options);
    parts.algorithm = newton;
    StaticAnalysis analysis(d, parts);
    try {
      return analysis.run().front().report;
    } catch (const NotConverged& error) {
      return error.report();
    }
  };
  for (const char* type : {"soft_tangent", "wrong_tangent"}) {
    const SolveReport with = solve(type, true), without = solve(type, false);
    EXPECT_EQ(with.line_searches, 0) << type;
    EXPECT_EQ(with.history, without.history) << type << ": the same bits";
    EXPECT_GT(with.history.size(), 5u);
  }
}

TEST(NewtonRaphson, WrongOptionsOfALineSearchAreRefused) {
  NewtonRaphsonAlgorithm newton;
  for (const LineSearchOptions& wrong :
       {LineSearchOptions{true, 1, 10}, LineSearchOptions{true, -0.1, 10}, LineSearchOptions{true, 0.1, 0}}) {
    EXPECT_THROW(newton.set_line_search(wrong), Error);
  }
}

}  // namespace
}  // namespace voussoir::conformance
