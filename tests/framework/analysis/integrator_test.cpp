// Integrators, algorithms and analyses of users' own: inertia, damping, convergence, impossible states, lifetimes.

#include <voussoir/framework/analysis/integrator.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/domain/host_element.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include "support/expect_error.hpp"
#include "support/newmark.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using testing::Newmark;

constexpr double pi = 3.14159265358979323846;

/// A bar of n trusses along x with E = A = ρ = L = 1, fixed at x = 0.
void build_bar(Domain& d, int n) {
  for (int i = 0; i <= n; ++i) d.add_node(i + 1, double(i) / n, 0, 0);
  auto& bar = d.add_block("bar", "truss");
  bar.set_material(std::make_shared<IsotropicMaterial>("unit", 1, 0.3, 1)).set_section("area", 1);
  for (int i = 1; i <= n; ++i) bar.add(i, {i, i + 1});
  d.add_node_set_where("all", [](double, double, double) { return true; });
  d.add_node_set("wall", {1});
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  d.prescribe("wall", "ux");
}

/// ω of the first mode sin(πx/2) of n linear elements, with consistent or lumped masses, in closed form.
double frequency(int n, bool lumped) {
  const double h = 1.0 / n, phi = pi * h / 2;
  return std::sqrt((lumped ? 2.0 : 6.0 / (2 + std::cos(phi))) / (h * h) * (1 - std::cos(phi)));
}

/// The state at rest, with the velocity ω sin(πx/2) along the bar.
AnalysisState moving(const AnalysisModel& model, double omega) {
  AnalysisState state = std::move(step_states(model.domain(), {}).front());
  std::vector<double> v(model.equation_count(), 0.0);
  for (const std::int32_t n : model.numbered_nodes())
    if (const auto e = model.equation(n, "ux"); model.is_free(e))
      v[e] = omega * std::sin(pi / 2 * model.domain().coordinates()[3 * n]);
  state.unknowns = model.initial_unknowns(1);
  state.rate = model.make_vector();
  state.rate.from_host(v);
  state.second_rate = model.make_vector();
  model.backend().fill(state.second_rate, 0.0);
  return state;
}

double tip_of(const AnalysisModel& model, const AnalysisState& state) {
  return state.unknowns.to_host()[model.equation(model.domain().node_count() - 1, "ux")];
}

TEST(Integrator, RayleighDampingIsThatOfTheOscillator) {
  constexpr int n = 8, steps = 100;
  Domain d;
  build_bar(d, n);
  for (const char* backend : {"openmp:1", "debug:2"})
    for (const RayleighDamping damping :
         {RayleighDamping{0.4, 0}, RayleighDamping{0, 0.05}, RayleighDamping{0.2, 0.03}})
      for (const bool lumped : {false, true}) {
        if (std::string(backend) == "debug:2" && (lumped || damping.mass == 0 || damping.stiffness == 0)) continue;
        AnalysisModel model(d, Backend::open(backend), TransformationHandler(), PlainNumberer());
        const auto soe = make_soe("csr");
        soe->set_model(model);
        const auto solver = make_solver("direct");
        Newmark newmark;
        newmark.set_damping(damping);
        newmark.set_mass_kind(lumped ? MassKind::lumped : MassKind::consistent);
        newmark.keep_matrix_over_time();
        const double omega = frequency(n, lumped), decay = (damping.mass + damping.stiffness * omega * omega) / 2;
        const double damped = std::sqrt(omega * omega - decay * decay), end = 1.3 * 2 * pi / omega;
        AnalysisState state = moving(model, omega);
        // The velocity's first acceleration: of damping alone, as nothing is strained yet.
        model.backend().axpy(-2 * decay, state.rate, state.second_rate);
        std::uint64_t formed = 0;
        for (int k = 1; k <= steps; ++k) {
          state.time_step = end / steps;
          state.time += state.time_step;
          newmark.begin_step(model, state);
          const auto report = LinearAlgorithm().solve(model, newmark, *soe, *solver, {&state, 1}).front();
          ASSERT_TRUE(report.converged);
          newmark.commit(model, state);
          if (k == 1) formed = soe->version();
        }
        EXPECT_EQ(soe->version(), formed) << "one matrix for all steps";
        const double exact = omega / damped * std::exp(-decay * end) * std::sin(damped * end);
        EXPECT_NEAR(tip_of(model, state), exact, 3e-3) << backend << " " << lumped;
        // Reactions contain inertia and damping: all forces on the bar together.
        const StepResult result = make_step_result(model, newmark, state, {}, false);
        const auto force = newmark.out_of_balance(model, state).to_host();
        double sum = 0;
        for (std::int32_t e = 0; e < model.equation_count(); ++e)
          if (model.place(e).component == 0) sum += force[e];
        EXPECT_NEAR(result.reaction_sum[0], sum, 1e-8);
        double inertia = 0;
        const auto inertial = newmark.inertial_forces(model, state).to_host();
        for (std::int32_t e = 0; e < model.equation_count(); ++e)
          if (model.place(e).component == 0) inertia += inertial[e];
        EXPECT_NEAR(result.reaction_sum[0], inertia, 1e-8) << "internal forces have no sum";
      }
}

/// Central differences with lumped masses: no matrix, no solver.
class Explicit : public Analysis {
 public:
  using Analysis::Analysis;
  double end_time = 1;
  int steps = 100;
  double tip = 0;
  std::vector<StepResult> run() override {
    prepare();
    Backend& b = backend();
    const auto op =
        b.make_element_operator(model_->device_model(), ElementProduct::matrix_free, OperatorEquations::all);
    b.assemble(model_->device_model(), {}, {0, 1, MassKind::lumped, {}}, *op);
    Vector ones = model_->make_vector(), mass = model_->make_vector(), force = model_->make_vector();
    b.fill(ones, 1.0);
    op->apply(ones, mass);
    std::vector<double> inverse = mass.to_host();
    for (double& m : inverse) m = 1 / m;
    mass.from_host(inverse);
    AnalysisState state = moving(*model_, frequency(model_->domain().node_count() - 1, true));
    state.loads = model_->make_vector();
    b.fill(state.loads, 0.0);
    state.time_step = end_time / steps;
    StaticIntegrator forces;       // of elements and loads
    state.second_rate = Vector();  // which know nothing of inertia
    const auto accelerate = [&] {  // half a step
      forces.form_unbalance(*model_, state, force);
      b.multiply(mass, force, force);
      b.axpy(0.5 * state.time_step, force, state.rate);
    };
    for (int n = 0; n < steps; ++n) {
      accelerate();
      b.axpy(state.time_step, state.rate, state.unknowns);
      accelerate();
    }
    tip = tip_of(*model_, state);
    return {};
  }
};

TEST(Analysis, OneWithoutAMatrixNeedsNeitherSystemNorSolver) {
  Domain d;
  build_bar(d, 8);
  for (const char* backend : {"openmp:1", "debug:2"}) {
    Analysis::Collaborators parts;
    parts.backend = Backend::open(backend);
    Explicit analysis(d, parts);
    const double omega = frequency(8, true);
    analysis.end_time = 0.4 * 2 * pi / omega;
    analysis.run();
    EXPECT_NEAR(analysis.tip, std::sin(omega * analysis.end_time), 2e-4);
    std::vector<std::string> stages;
    for (const auto& time : analysis.stage_times()) stages.push_back(time.stage);
    EXPECT_EQ(stages, std::vector<std::string>{"number"});
  }
}

TEST(Analysis, ADomainThatIsGoneIsNoticed) {
  auto options = StaticOptions{.backend = "openmp:1"};
  std::unique_ptr<StaticAnalysis> analysis;
  {
    Domain d;
    build_bar(d, 2);
    analysis = make_static_analysis(d, options);
  }
  expect_error(ErrorCode::misuse, {"Domain", "no longer exists"}, [&] { analysis->run(); });
  expect_error(ErrorCode::misuse, {"no longer exists"}, [&] { analysis->domain(); });
  static_assert(!std::is_constructible_v<StaticAnalysis, Domain, Analysis::Collaborators>, "a temporary Domain");
  // Shared, it lives as long as the analysis.
  auto shared = std::make_shared<Domain>();
  build_bar(*shared, 2);
  shared->add_node_set("end", {3});
  shared->add_load_case("pull").nodal("end", "ux", 2);
  StaticAnalysis keeper(std::shared_ptr<const Domain>(shared), make_static_analysis(*shared, options)->collaborators());
  shared.reset();
  EXPECT_NEAR(keeper.run().front().unknowns.largest("ux").value, 2, 1e-12);
}

/// A rod of unit length along x that cannot be pressed to nothing: force = k ln(1 + d), defined for d > −1.
class LogRod : public HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  std::vector<std::string> parameter_names() const override { return {"k"}; }
  void tangent(const HostElementData& e, std::span<double> m) const override {
    const double k = e.parameters[0] / (1 + e.u[3] - e.u[0]);
    m[0] = m[3 * 6 + 3] = k;
    m[3] = m[3 * 6] = -k;
  }
  void residual(const HostElementData& e, std::span<double> r) const override {
    r[3] = e.parameters[0] * std::log(1 + e.u[3] - e.u[0]);
    r[0] = -r[3];
  }
  double health(const HostElementData& e) const override { return 1 + e.u[3] - e.u[0]; }
};

/// A rod that bears no motion at all.
class BrittleRod final : public LogRod {
 public:
  double health(const HostElementData& e) const override { return e.u[3] == e.u[0] ? 1 : -1; }
};

void build_rod(Domain& d, const std::string& type, double load) {
  register_host_element("log_rod", "line2", [] {
    static const auto rod = std::make_shared<LogRod>();
    return rod;
  }());
  register_host_element("brittle_rod", "line2", [] {
    static const auto rod = std::make_shared<BrittleRod>();
    return rod;
  }());
  d.add_node(1, 0, 0);
  d.add_node(2, 1, 0);
  d.add_block("rod", type).set_section("k", 10).add(77, {1, 2});
  d.add_node_set("wall", {1});
  d.add_node_set("end", {2});
  d.prescribe("wall", "all");
  d.prescribe("end", "uy");
  d.prescribe("end", "uz");
  d.add_load_case("press").nodal("end", "ux", load);
}

TEST(NewtonRaphson, AnIncrementIntoAnImpossibleStateIsReduced) {
  Domain d;
  build_rod(d, "log_rod", -20);  // the first increment would turn the rod inside out
  const StepResult result = make_static_analysis(d, {.backend = "openmp:1"})->run().front();
  EXPECT_NEAR(result.unknowns.at(1, "ux"), std::exp(-2.0) - 1, 1e-8);
  EXPECT_GE(result.report.reduced_increments, 2);
  EXPECT_TRUE(result.report.converged);
}

TEST(NewtonRaphson, AStateThatStaysImpossibleIsReportedWithItsElement) {
  Domain d;
  build_rod(d, "brittle_rod", -20);
  try {
    make_static_analysis(d, {.backend = "openmp:1"})->run();
    FAIL() << "a brittle rod was pressed";
  } catch (const NotConverged& error) {
    EXPECT_TRUE(error.report().impossible_state);
    const std::string text = error.what();
    for (const char* piece : {"element 77", "impossible state", "smaller steps"})
      EXPECT_NE(text.find(piece), std::string::npos) << text;
  }
}

TEST(ConvergenceTest, EachCriterionHasItsToleranceAndAllOrAnyMustBeMet) {
  IterationMeasures m;
  m.iteration = 3;
  m.unbalance = 1e-5, m.first_unbalance = 1, m.increment = 1e-7, m.total = 1, m.energy = 1e-12, m.first_energy = 1;
  ConvergenceTest test;
  EXPECT_FALSE(test.converged(m));
  test.force = 1e-4;
  EXPECT_TRUE(test.converged(m));
  test.displacement = 1e-8;
  EXPECT_FALSE(test.converged(m));
  test.rule = ConvergenceTest::Rule::any;
  EXPECT_TRUE(test.converged(m));
  EXPECT_EQ(test.describe(), "force 0.0001 or displacement 1e-08");
  test = {};
  test.force.reset();
  expect_error(ErrorCode::misuse, {"criterion"}, [&] { test.converged(m); });
  test.energy = 1e-11;
  EXPECT_TRUE(test.converged(m));
  test.energy = 1e-13;
  EXPECT_FALSE(test.converged(m));
  m.iteration = 0;
  test.energy = 1;
  EXPECT_FALSE(test.converged(m)) << "there is no increment yet";
}

TEST(ConvergenceTest, NewtonStopsWhereItIsToldTo) {
  const auto iterations = [](std::shared_ptr<const ConvergenceTest> test) {
    Domain d;
    build_rod(d, "log_rod", 5);
    auto parts = make_static_analysis(d, {.backend = "openmp:1"})->collaborators();
    parts.algorithm = std::make_shared<NewtonRaphsonAlgorithm>(test);
    StaticAnalysis analysis(d, parts);
    const auto report = analysis.run().front().report;
    EXPECT_TRUE(report.converged) << report.reason;
    return report.history.size();
  };
  auto loose = std::make_shared<ConvergenceTest>(), displacement = std::make_shared<ConvergenceTest>(),
       energy = std::make_shared<ConvergenceTest>();
  loose->force = 1e-2;
  displacement->force.reset();
  displacement->displacement = 1e-10;
  energy->force.reset();
  energy->energy = 1e-3;
  const auto usual = iterations(std::make_shared<ConvergenceTest>());
  EXPECT_LT(iterations(loose), usual);
  EXPECT_GE(iterations(displacement), usual);
  EXPECT_LT(iterations(energy), usual);
}

}  // namespace
}  // namespace voussoir
