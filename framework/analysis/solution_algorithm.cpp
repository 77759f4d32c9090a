#include <voussoir/framework/analysis/solution_algorithm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace voussoir {

std::vector<SolveReport> LinearAlgorithm::solve(const AnalysisModel& model, Integrator& integrator, LinearSOE& soe,
                                                Solver& solver, std::span<AnalysisState> steps) const {
  Backend& backend = model.backend();
  if (!integrator.has_formed(model, steps.front(), soe)) integrator.form_tangent(model, steps.front(), soe);
  const int columns = static_cast<int>(steps.size());
  soe.set_columns(columns);
  backend.fill(soe.x(), 0.0);
  Vector one;
  if (columns == 1) {
    integrator.form_unbalance(model, steps.front(), soe.b());
  } else {
    one = model.make_vector();
    backend.fill(soe.b(), 0.0);
    for (int c = 0; c < columns; ++c) {
      integrator.form_unbalance(model, steps[c], one);
      backend.copy_columns(one, 0, 1, soe.b(), c);
    }
  }
  const SolveReport report = solver.solve(soe);
  std::vector<SolveReport> reports;
  for (int c = 0; c < columns; ++c) {
    reports.push_back(report.of_column(c));
    if (columns > 1) backend.copy_columns(soe.x(), c, 1, one, 0);
    integrator.update(model, columns > 1 ? one : soe.x(), steps[c]);
  }
  return reports;
}

namespace {

/// Halvings of an increment that leads to an impossible state.
constexpr int most_halvings = 10;

/// A state whose elements cannot be computed: inverted, or with values that are not finite.
bool is_impossible(const Error& error) {
  return error.code() == ErrorCode::inverted || error.code() == ErrorCode::not_finite;
}

/// Newton's iteration of one step.
class NewtonIteration {
 public:
  NewtonIteration(const AnalysisModel& model, Integrator& integrator, LinearSOE& soe, Solver& solver,
                  AnalysisState& state)
      : model_(model), backend_(model.backend()), integrator_(integrator), soe_(soe), solver_(solver), state_(state) {}

  SolveReport run(const ConvergenceTest& test, int max_iterations) {
    report_.reason = "not in equilibrium after " + std::to_string(max_iterations) + " iterations";
    for (int iteration = 0; iteration <= max_iterations; ++iteration) {
      measures_.iteration = iteration;
      if (!form_unbalance(iteration)) break;
      if (iteration == 0) measures_.first_unbalance = measures_.unbalance;
      const double first = measures_.first_unbalance;
      report_.history.push_back(first > 0 ? measures_.unbalance / first : 0.0);
      report_.true_residual = report_.history.back();
      if (test.converged(measures_)) {
        report_.converged = true;
        report_.reason = "in balance after " + std::to_string(iteration) + " iterations";
        break;
      }
      if (iteration == max_iterations || !solve()) break;
      if (test.needs_increments()) measure_increment();
      integrator_.update(model_, soe_.x(), state_);
    }
    return std::move(report_);
  }

 private:
  /// The unbalance of the trial state, whose last increment is halved as long as it is impossible. False where there is
  /// no possible state on the way.
  bool form_unbalance(int iteration) {
    std::string cause;
    for (int halvings = 0; halvings <= most_halvings; ++halvings) {
      if (halvings > 0) halve_increment();
      try {
        integrator_.form_unbalance(model_, state_, soe_.b());
        measures_.unbalance = measure_unbalance(iteration);
        if (std::isfinite(measures_.unbalance)) return true;
        cause = "the unbalanced force is not finite";
      } catch (const Error& error) {
        // Where the step begins, it is the model that is wrong; later, it is the increment.
        if (iteration == 0 || !is_impossible(error)) throw;
        cause = error.where() + ": " + error.text();
      }
      if (iteration == 0) break;
    }
    report_.impossible_state = iteration > 0;
    report_.reason = iteration == 0 ? cause + " after 0 iterations"
                                    : "iteration " + std::to_string(iteration) + " leads to an impossible state, " +
                                          "however small its increment: " + cause;
    if (iteration > 0) report_.advice = "Apply the load in smaller steps";
    return false;
  }

  /// ‖b‖, but scaled so that its ratio to the first one is the worst of the bodies: a body under a small load beside a
  /// heavily loaded one must be in balance too. What rounding leaves in a body counts as none.
  double measure_unbalance(int iteration) {
    const double all = backend_.norm(soe_.b());
    if (iteration == 0) first_of_body_.clear();
    if (!std::isfinite(all) || soe_.bodies().count() == 1) return all;
    const std::vector<double> norms = soe_.bodies().norms(backend_, soe_.b());
    if (iteration == 0) {
      first_of_body_ = norms;
      return all;
    }
    const std::vector<double> rounding = rounding_of_bodies();
    double worst = 0;
    for (std::size_t body = 0; body < norms.size(); ++body)
      if (norms[body] > rounding[body])
        worst = std::max(worst, norms[body] / (first_of_body_[body] > rounding[body] ? first_of_body_[body]
                                                                                     : measures_.first_unbalance));
    return worst * measures_.first_unbalance;
  }

  /// What rounding may leave of the forces of each body: a multiple of the largest terms of K u that cancel.
  std::vector<double> rounding_of_bodies() {
    const BlockDiagonal diagonal = soe_.sparse_matrix()
                                       ? backend_.block_diagonal(*soe_.sparse_matrix(), 1)
                                       : backend_.block_diagonal(model_.device_model(), *soe_.element_operator(), 1);
    std::vector<double> values;
    for (int d = 0; d < backend_.devices(); ++d) {
      const auto part = diagonal.blocks[static_cast<std::size_t>(d)].read_host();
      values.insert(values.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(diagonal.layout->owned(d)));
    }
    Vector stiffness = model_.make_vector(), terms = model_.make_vector();
    stiffness.from_host(values);
    backend_.multiply(stiffness, state_.unknowns, terms);
    std::vector<double> norms = soe_.bodies().norms(backend_, terms);
    for (double& norm : norms) norm *= 100 * std::numeric_limits<double>::epsilon();
    return norms;
  }

  /// Goes half of the last increment back: what is left of it is half as long.
  void halve_increment() {
    backend_.scale(0.5, soe_.x());
    Vector back = soe_.x().clone();
    backend_.scale(-1.0, back);
    integrator_.update(model_, back, state_);
    ++report_.reduced_increments;
    measures_.reachable = 0;  // the solve was for all of it
    measures_.increment *= 0.5;
  }

  bool solve() {
    integrator_.form_tangent(model_, state_, soe_);
    backend_.fill(soe_.x(), 0.0);
    const SolveReport inner = solver_.solve(soe_);
    report_.solver = "newton-raphson, " + inner.solver;
    report_.choice = inner.choice;
    report_.iterations += std::max(1, inner.iterations);
    report_.setup_seconds += inner.setup_seconds;
    report_.solve_seconds += inner.solve_seconds;
    report_.memory_bytes = std::max(report_.memory_bytes, inner.memory_bytes);
    report_.note = inner.note;
    if (!inner.converged) {
      report_.reason = inner.reason;
      report_.advice = inner.advice;
      report_.free_motions = inner.free_motions;
      report_.not_positive_definite = inner.not_positive_definite;
      return false;
    }
    measures_.reachable = inner.true_residual * measures_.unbalance;
    return true;
  }

  void measure_increment() {
    if (!total_.layout()) {
      total_ = model_.make_vector();
      backend_.fill(total_, 0.0);
    }
    backend_.axpy(1.0, soe_.x(), total_);
    measures_.increment = backend_.norm(soe_.x());
    measures_.total = backend_.norm(total_);
    measures_.energy = std::abs(backend_.dot(soe_.x(), soe_.b()));
    if (measures_.iteration == 0) measures_.first_energy = measures_.energy;
  }

  const AnalysisModel& model_;
  Backend& backend_;
  Integrator& integrator_;
  LinearSOE& soe_;
  Solver& solver_;
  AnalysisState& state_;
  SolveReport report_;
  IterationMeasures measures_;
  Vector total_;                       // increments of the step together
  std::vector<double> first_of_body_;  // unbalance before the first increment
};

}  // namespace

NewtonRaphsonAlgorithm::NewtonRaphsonAlgorithm(double tolerance, int max_iterations) : max_iterations_(max_iterations) {
  auto test = std::make_shared<ConvergenceTest>();
  test->force = tolerance;
  test_ = std::move(test);
}

NewtonRaphsonAlgorithm::NewtonRaphsonAlgorithm(std::shared_ptr<const ConvergenceTest> test, int max_iterations)
    : test_(std::move(test)), max_iterations_(max_iterations) {
  if (!test_) throw Error(ErrorCode::misuse, "Newton's method needs a convergence test");
}

std::vector<SolveReport> NewtonRaphsonAlgorithm::solve(const AnalysisModel& model, Integrator& integrator,
                                                       LinearSOE& soe, Solver& solver,
                                                       std::span<AnalysisState> steps) const {
  std::vector<SolveReport> reports;
  soe.set_columns(1);
  for (AnalysisState& state : steps)
    reports.push_back(NewtonIteration(model, integrator, soe, solver, state).run(*test_, max_iterations_));
  return reports;
}

std::vector<SolveReport> AutomaticAlgorithm::solve(const AnalysisModel& model, Integrator& integrator, LinearSOE& soe,
                                                   Solver& solver, std::span<AnalysisState> steps) const {
  if (model.is_linear()) return LinearAlgorithm().solve(model, integrator, soe, solver, steps);
  return NewtonRaphsonAlgorithm().solve(model, integrator, soe, solver, steps);
}

}  // namespace voussoir
