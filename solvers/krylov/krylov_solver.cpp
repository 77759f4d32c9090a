#include <voussoir/solvers/krylov/krylov_solver.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/detail/residual_text.hpp>
#include <voussoir/solvers/detail/scaled_loads.hpp>

namespace voussoir {
namespace {

/// Restarts in a row after which the residual is not a tenth below its least value so far: the iteration does not
/// converge. It may go up and down near the limit of rounding, so the restart before is no measure.
constexpr int most_idle_restarts = 5;

}  // namespace

KrylovSolver::KrylovSolver(std::shared_ptr<Preconditioner> preconditioner, const Options& options)
    : preconditioner_(std::move(preconditioner)), options_(options) {
  if (options_.restart < 1) throw Error(ErrorCode::misuse, "GMRES needs at least one direction between restarts");
}

void KrylovSolver::System::precondition(const Vector& r, Vector& z) const {
  if (inverse)
    inverse->apply(r, z);
  else
    soe.model().backend().copy(r, z);
}

double KrylovSolver::System::residual(Vector& r) {
  Backend& backend = soe.model().backend();
  soe.matrix().apply(x, r);
  ++products;
  backend.axpby(1.0, b, -1.0, r);
  return backend.norm(r);
}

bool KrylovSolver::tell(const System& system, double residual) const {
  return !progress ||
         progress(system.done_before + system.products, system.size > 0 ? residual / system.size : residual);
}

SolveReport KrylovSolver::solve(LinearSOE& soe) {
  SolveReport report;
  report.solver = name() + " on " + soe.name();
  if (preconditioner_ && preconditioner_->is_flexible())
    throw Error(ErrorCode::bad_input,
                "preconditioner '" + preconditioner_->name() +
                    "' varies from step to step, which this solver does not allow; use block-jacobi, jacobi or none, "
                    "or an exact part solver",
                "solver '" + name() + "'");
  if (preconditioner_ && preconditioner_->needs_symmetry() && !soe.model().device_model().symmetric())
    throw Error(ErrorCode::bad_input,
                "preconditioner '" + preconditioner_->name() +
                    "' is made for symmetric matrices, and that of this model is not; use ras2, asm2, block-jacobi, "
                    "jacobi or none, or the solver direct",
                "solver '" + name() + "'");
  const Stopwatch setting_up;
  if (ready_for_ != &soe || version_ != soe.version()) {
    ready_for_ = nullptr;
    if (preconditioner_) preconditioner_->set_up(soe);
    ready_for_ = &soe;
    version_ = soe.version();
  }
  report.setup_seconds = setting_up.seconds();
  if (preconditioner_) report.preconditioner = preconditioner_->summary();
  const Stopwatch solving;
  for (int c = 0; c < soe.b().columns(); ++c) {
    report.columns.push_back(solve_column(soe, c));
    report.iterations += report.columns.back().iterations;
    if (!report.columns.back().converged) break;
  }
  report.column_residuals = column_residuals(soe);
  report.true_residual = largest_or_nan(report.column_residuals);
  report.solve_seconds = solving.seconds();
  const ColumnReport& last = report.columns.back();
  report.converged = last.converged;
  report.reason = last.reason;
  report.history = report.columns.front().history;
  report.memory_bytes = preconditioner_ ? preconditioner_->bytes() : 0;
  if (!report.converged)
    report.advice =
        "Try gmres with another preconditioner, or the direct solver, which factorises the whole matrix (LU)";
  return report;
}

ColumnReport KrylovSolver::solve_column(LinearSOE& soe, int column) {
  const Stopwatch solving;
  Backend& backend = soe.model().backend();
  detail::ScaledLoads loads(soe, column, 1);
  ColumnReport own;
  System system{
      soe, preconditioner_ ? preconditioner_->inverse() : nullptr, loads.b(), loads.x(), 0, loads.norm(0), 0, 0, {}, 0,
      {}};
  if (!(system.size > 0)) {
    // Nothing acts: the solution is zero, wherever the iteration was to start.
    backend.fill(loads.x(), 0.0);
    own.converged = true;
    own.reason = "converged: no load";
    loads.finish();
    return own;
  }
  const double wanted = options_.relative_tolerance;
  system.target = loads.tolerance(0, wanted) * system.size;
  Vector r = soe.model().make_vector();
  double left = 0, least = 0;
  int idle = 0, met = 0;
  Stop stop = Stop::target;
  for (bool first = true;; first = false) {
    const double norm = system.residual(r);
    left = loads.ratios(r).front();
    if (first) system.history.push_back(norm / system.size);
    if (!std::isfinite(left)) {
      stop = Stop::not_finite;
      break;
    }
    own.converged = left <= detail::residual_slack * wanted;
    if (own.converged || stop == Stop::cancelled) break;
    idle = !first && left > 0.9 * least ? idle + 1 : 0;
    // The method's own residual has reached the target, the true one has not: rounding parts them.
    met = idle > 0 && stop == Stop::target ? met + 1 : 0;
    least = first ? left : std::min(least, left);
    system.done_before += system.products;
    system.products = 0;
    system.limit = options_.max_iterations - system.done_before;
    if (system.limit <= 0 || idle >= most_idle_restarts) {
      stop = system.limit <= 0 ? Stop::limit : Stop::stalled;
      break;
    }
    stop = iterate(system);
  }
  loads.finish();
  own.iterations = system.done_before + system.products;
  own.history = std::move(system.history);
  own.solve_seconds = solving.seconds();
  const std::string after = " after " + std::to_string(own.iterations) + " products with the matrix";
  if (own.converged)
    own.reason = "converged" + after;
  else if (stop == Stop::not_finite)
    own.reason = "a NaN or infinity appeared" + after;
  else if (stop == Stop::cancelled)
    own.reason = "cancelled" + after;
  else if (stop == Stop::stalled)
    own.reason = "the residual stays at " + detail::residual_text(left) + after +
                 (met > 0 ? ": rounding errors of products with this matrix allow no less; use a larger tolerance"
                          : ": restarts gain less than a tenth; use another preconditioner");
  else
    own.reason = "the residual is " + detail::residual_text(left) + after;
  return own;
}

}  // namespace voussoir
