#include <cmath>

#include <voussoir/solvers/krylov/krylov_solver.hpp>

namespace voussoir {

BicgstabSolver::BicgstabSolver(std::shared_ptr<Preconditioner> preconditioner, const Options& options)
    : KrylovSolver(std::move(preconditioner), options) {}

KrylovSolver::Stop BicgstabSolver::iterate(System& system) {
  const AnalysisModel& model = system.soe.model();
  Backend& backend = model.backend();
  Vector r = model.make_vector(), shadow = model.make_vector(), p = model.make_vector(), v = model.make_vector(),
         z = model.make_vector(), t = model.make_vector();
  double norm = system.residual(r);
  if (!std::isfinite(norm)) return Stop::not_finite;
  if (norm <= system.target) return Stop::target;
  backend.copy(r, shadow);
  backend.copy(r, p);
  double rho = norm * norm;
  while (system.products + 2 <= system.limit) {
    system.precondition(p, z);
    system.soe.matrix().apply(z, v);
    ++system.products;
    const double along = backend.dot(shadow, v);
    if (!std::isfinite(along)) return Stop::not_finite;
    if (std::abs(along) <= 1e-30 * rho) return Stop::stalled;  // the shadow residual has lost its meaning
    const double alpha = rho / along;
    backend.axpy(alpha, z, system.x);
    backend.axpy(-alpha, v, r);
    norm = backend.norm(r);
    if (norm > system.target) {
      system.precondition(r, z);
      system.soe.matrix().apply(z, t);
      ++system.products;
      const double size = backend.dot(t, t);
      if (!(size > 0)) return std::isfinite(size) ? Stop::stalled : Stop::not_finite;
      const double omega = backend.dot(t, r) / size;
      backend.axpy(omega, z, system.x);
      backend.axpy(-omega, t, r);
      norm = backend.norm(r);
      if (!std::isfinite(norm)) return Stop::not_finite;
      const double next = backend.dot(shadow, r);
      if (norm > system.target && (omega == 0 || std::abs(next) <= 1e-30 * rho)) return Stop::stalled;
      const double beta = next / rho * (alpha / omega);
      rho = next;
      // p = r + beta (p − omega v).
      backend.axpy(-omega, v, p);
      backend.axpby(1.0, r, beta, p);
    }
    system.history.push_back(norm / system.size);
    if (!tell(system, norm)) return Stop::cancelled;
    if (norm <= system.target) return Stop::target;
  }
  return Stop::limit;
}

}  // namespace voussoir
