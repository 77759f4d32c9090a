#include <voussoir/framework/analysis/solution_algorithm.hpp>

#include <voussoir/framework/analysis/detail/newton_iteration.hpp>

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

NewtonRaphsonAlgorithm::NewtonRaphsonAlgorithm(double tolerance, int max_iterations) : max_iterations_(max_iterations) {
  auto test = std::make_shared<ConvergenceTest>();
  test->force = tolerance;
  test_ = std::move(test);
}

NewtonRaphsonAlgorithm::NewtonRaphsonAlgorithm(std::shared_ptr<const ConvergenceTest> test, int max_iterations)
    : test_(std::move(test)), max_iterations_(max_iterations) {
  if (!test_) throw Error(ErrorCode::misuse, "Newton's method needs a convergence test");
}

void NewtonRaphsonAlgorithm::set_line_search(const LineSearchOptions& options) {
  if (!(options.decrease >= 0 && options.decrease < 1) || options.max_trials < 1)
    throw Error(ErrorCode::misuse, "a line search needs a decrease from 0 to less than 1, and at least one trial");
  line_search_ = options;
}

std::vector<SolveReport> NewtonRaphsonAlgorithm::solve(const AnalysisModel& model, Integrator& integrator,
                                                       LinearSOE& soe, Solver& solver,
                                                       std::span<AnalysisState> steps) const {
  std::vector<SolveReport> reports;
  soe.set_columns(1);
  for (AnalysisState& state : steps) {
    detail::NewtonIteration iteration(model, integrator, soe, solver, state);
    if (whole_pressure_tangent_) iteration.complete_followers();
    reports.push_back(iteration.run(*test_, max_iterations_, line_search_));
  }
  return reports;
}

std::vector<SolveReport> AutomaticAlgorithm::solve(const AnalysisModel& model, Integrator& integrator, LinearSOE& soe,
                                                   Solver& solver, std::span<AnalysisState> steps) const {
  if (model.is_linear()) return LinearAlgorithm().solve(model, integrator, soe, solver, steps);
  return NewtonRaphsonAlgorithm().solve(model, integrator, soe, solver, steps);
}

}  // namespace voussoir
