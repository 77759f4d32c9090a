// The program of write_an_analysis.md: implicit dynamics by Newmark's method, as an integrator and an analysis of the
// user's own. A bar that is fixed at one end swings in its first mode; displacements are compared with the closed form,
// on two backends, and must be second order in the time step.

#include <voussoir/framework/analysis/analysis.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/solvers/static_problem.hpp>
#include <voussoir/voussoir.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using namespace voussoir;

// [integrator] Newmark's method with β = 1/4 and γ = 1/2: no numerical damping, stable for every step size.
class Newmark : public Integrator {
 public:
  std::string name() const override { return "newmark"; }

  TangentCoefficients coefficients() const override { return {1, gamma / (beta * step_), 1 / (beta * step_ * step_)}; }

  /// Predicts the end of a step with an acceleration of zero; increments bring the acceleration.
  void begin_step(const AnalysisModel& model, AnalysisState& state) override {
    Backend& backend = model.backend();
    step_ = state.time_step;
    backend.axpy(step_, state.rate, state.unknowns);
    backend.axpy(step_ * step_ * (0.5 - beta), state.second_rate, state.unknowns);
    backend.axpy(step_ * (1 - gamma), state.second_rate, state.rate);
    backend.fill(state.second_rate, 0.0);
    set_prescribed(model, state);
    form_loads(model, state);
  }

  void update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) override {
    const TangentCoefficients c = coefficients();
    add_increment(model, c.stiffness, increment, state.unknowns);
    add_increment(model, c.damping, increment, state.rate);
    add_increment(model, c.mass, increment, state.second_rate);
  }

 private:
  static constexpr double beta = 0.25, gamma = 0.5;
  double step_ = 1;
};
// [integrator]

// [analysis] Steps of equal size from a given velocity.
class Dynamics : public Analysis {
 public:
  Dynamics(const Domain& domain, Collaborators collaborators) : Analysis(domain, std::move(collaborators)) {
    require_system();
  }
  double end_time = 0;
  int steps = 1;
  /// Initial velocity along x, as a function of x.
  std::function<double(double)> velocity;

  std::vector<StepResult> run() override {
    prepare();
    AnalysisState state = start();
    SolveReport report;
    for (int n = 1; n <= steps; ++n) {
      state.time_step = end_time / steps;
      state.time = n * state.time_step;
      parts_.integrator->begin_step(*model_, state);
      report = parts_.algorithm->solve(*model_, *parts_.integrator, *parts_.soe, *parts_.solver, {&state, 1}).front();
      if (!report.converged) throw NotConverged(report, {}, "at time " + std::to_string(state.time));
      commit(state, report);  // recorders see it
    }
    std::vector<StepResult> results;
    results.push_back(make_step_result(*model_, *parts_.integrator, state, report, true));
    return results;
  }

 private:
  AnalysisState start() {
    AnalysisState state = std::move(step_states(domain(), {}).front());  // all load cases, at factor 1
    state.name = "dynamics";
    std::vector<double> v(static_cast<std::size_t>(model_->equation_count()), 0.0);
    for (const std::int32_t node : model_->numbered_nodes())
      if (const std::int32_t e = model_->equation(node, "ux"); model_->is_free(e))
        v[static_cast<std::size_t>(e)] = velocity(domain().coordinates()[3 * static_cast<std::size_t>(node)]);
    state.unknowns = model_->initial_unknowns(1);
    state.rate = model_->make_vector();
    state.rate.from_host(v);
    state.second_rate = model_->make_vector();  // at rest without load: no acceleration yet
    model_->backend().fill(state.second_rate, 0.0);
    return state;
  }
};
// [analysis]

// [recorder] The motion of one node, step by step.
class NodeMotion : public Recorder {
 public:
  explicit NodeMotion(Id node) : node_(node) {}
  void record(const CommittedState& now) override {
    const std::int32_t e = now.model.equation(now.model.domain().node_index(node_), "ux");
    displacements.push_back(now.state.unknowns.to_host()[static_cast<std::size_t>(e)]);
  }
  std::vector<double> displacements;

 private:
  Id node_;
};
// [recorder]

namespace {

constexpr double pi = 3.14159265358979323846, length = 2.0, young = 210e9, density = 7850.0, area = 1e-4;
constexpr int elements = 16;

void build(Domain& domain) {
  for (int i = 0; i <= elements; ++i) domain.add_node(i + 1, length * i / elements, 0, 0);
  auto& bar = domain.add_block("bar", "truss");
  bar.set_material(std::make_shared<IsotropicMaterial>("steel", young, 0.3, density)).set_section("area", area);
  for (int i = 1; i <= elements; ++i) bar.add(i, {i, i + 1});
  domain.add_node_set_where("all", [](double, double, double) { return true; });
  domain.add_node_set("wall", {1});
  domain.prescribe("all", "uy");
  domain.prescribe("all", "uz");
  domain.prescribe("wall", "ux");
}

/// The first circular frequency of the bar, as linear elements with consistent masses have it: in closed form, since
/// their first mode is a sine as well.
double frequency() {
  const double h = length / elements, phi = pi * h / (2 * length), c2 = young / density;
  return std::sqrt(6 * c2 / (h * h) * (1 - std::cos(phi)) / (2 + std::cos(phi)));
}

/// Solves one quarter of a period and a bit, and returns the largest error of the tip's displacement over all steps,
/// relative to the amplitude.
double error_of(const Domain& domain, const std::string& backend, int steps) {
  const double omega = frequency(), amplitude = 1e-3, end = 0.3 * 2 * pi / omega;
  Analysis::Collaborators parts;
  parts.backend = Backend::open(backend);
  parts.soe = make_soe("csr");
  parts.solver = make_solver("direct");
  auto newmark = std::make_shared<Newmark>();
  newmark->keep_matrix_over_time();  // one factorisation for all steps
  parts.integrator = newmark;
  Dynamics analysis(domain, parts);
  analysis.end_time = end;
  analysis.steps = steps;
  analysis.velocity = [&](double x) { return amplitude * omega * std::sin(pi * x / (2 * length)); };
  const auto tip = std::make_shared<NodeMotion>(elements + 1);
  analysis.add_recorder(tip);
  const StepResult last = analysis.run().front();

  double error = 0;
  for (int n = 1; n <= steps; ++n) {
    const double exact = amplitude * std::sin(omega * end * n / steps);
    error = std::max(error, std::abs(tip->displacements[static_cast<std::size_t>(n - 1)] - exact) / amplitude);
  }
  // The wall bears the inertia of the whole bar: reaction = Σ mass · acceleration, here E A times the strain at the
  // wall and the share of the node there in the inertia of its element.
  const double h = length / elements, u1 = last.unknowns.at(domain.node_index(2), "ux");
  const double reaction = last.reaction_sum[0], a1 = -omega * omega * u1;
  const double expected = -young * area / h * u1 + density * area * h / 6 * a1;
  if (std::abs(reaction - expected) > 1e-6 * std::abs(expected) || tip->displacements.size() != std::size_t(steps)) {
    std::printf("the reaction is %g, not %g\n", reaction, expected);
    return 1;
  }
  return error;
}

}  // namespace

int main(int count, char** names) {
  std::vector<std::string> backends{"openmp:2", "debug:2"};
  if (count > 1) backends.assign(names + 1, names + count);
  Domain domain;
  build(domain);
  int failures = 0;
  for (const std::string& backend : backends) {
    double before = 0;
    for (const int steps : {10, 20, 40, 80}) {
      const double error = error_of(domain, backend, steps);
      std::printf("%-8s %3d steps: error %.2e", backend.c_str(), steps, error);
      if (before > 0) std::printf(", %.2f times smaller", before / error);
      std::printf("\n");
      failures += before > 0 && (before / error < 3.9 || before / error > 4.1);
      before = error;
    }
    failures += !(before < 1e-3);
  }
  std::printf(failures ? "WRONG\n" : "second order, as Newmark's method is\n");
  return failures;
}
