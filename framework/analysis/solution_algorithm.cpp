#include <voussoir/framework/analysis/solution_algorithm.hpp>

#include <cmath>

namespace voussoir {

std::vector<SolveReport> LinearAlgorithm::solve(const AnalysisModel& model, const Integrator& integrator,
                                                LinearSOE& soe, Solver& solver, std::span<StepState> steps) const {
  Backend& backend = model.backend();
  integrator.form_tangent(model, steps.front(), soe);
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

std::vector<SolveReport> NewtonRaphsonAlgorithm::solve(const AnalysisModel& model, const Integrator& integrator,
                                                       LinearSOE& soe, Solver& solver,
                                                       std::span<StepState> steps) const {
  Backend& backend = model.backend();
  std::vector<SolveReport> reports;
  soe.set_columns(1);
  for (StepState& state : steps) {
    SolveReport total;
    total.reason = "not in equilibrium after " + std::to_string(max_iterations_) + " iterations";
    double first = 0;
    double left_by_solver = 0;  // what the last solve left of its right-hand side: the best that its balance can be
    for (int iteration = 0; iteration <= max_iterations_; ++iteration) {
      integrator.form_unbalance(model, state, soe.b());
      const double unbalance = backend.norm(soe.b());
      if (iteration == 0) first = unbalance;
      total.history.push_back(first > 0 ? unbalance / first : 0.0);
      total.true_residual = total.history.back();
      if (!std::isfinite(unbalance)) {
        total.reason = "the unbalanced force is not finite after " + std::to_string(iteration) + " iterations";
        break;
      }
      if (unbalance <= std::max(tolerance_ * first, 1.5 * left_by_solver)) {
        total.converged = true;
        total.reason = "in balance after " + std::to_string(iteration) + " iterations";
        break;
      }
      if (iteration == max_iterations_) break;
      integrator.form_tangent(model, state, soe);
      backend.fill(soe.x(), 0.0);
      const SolveReport inner = solver.solve(soe);
      total.solver = "newton-raphson, " + inner.solver;
      total.choice = inner.choice;
      total.iterations += std::max(1, inner.iterations);
      total.setup_seconds += inner.setup_seconds;
      total.solve_seconds += inner.solve_seconds;
      total.memory_bytes = std::max(total.memory_bytes, inner.memory_bytes);
      total.note = inner.note;
      if (!inner.converged) {
        total.reason = inner.reason;
        total.advice = inner.advice;
        total.free_motions = inner.free_motions;
        total.not_positive_definite = inner.not_positive_definite;
        break;
      }
      left_by_solver = inner.true_residual * unbalance;
      integrator.update(model, soe.x(), state);
    }
    reports.push_back(std::move(total));
  }
  return reports;
}

std::vector<SolveReport> AutomaticAlgorithm::solve(const AnalysisModel& model, const Integrator& integrator,
                                                   LinearSOE& soe, Solver& solver, std::span<StepState> steps) const {
  if (model.is_linear()) return LinearAlgorithm().solve(model, integrator, soe, solver, steps);
  return NewtonRaphsonAlgorithm().solve(model, integrator, soe, solver, steps);
}

}  // namespace voussoir
