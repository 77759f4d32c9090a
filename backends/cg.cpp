#include <algorithm>
#include <cmath>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/detail/cg_parts.hpp>

// Conjugate gradients, written once over the services of a backend. Hestenes and Stiefel (1952) in the preconditioned
// form of Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 9.1.

namespace voussoir {

CgOutcome Backend::cg(const Operator& a, const Operator* preconditioner, const Vector& b, Vector& x,
                      const CgRequest& request) {
  if (b.columns() != 1 || x.columns() != 1)
    throw Error(ErrorCode::misuse, "cg: solves for one right-hand side at a time");
  CgOutcome outcome;
  outcome.right_hand_side = norm(b);
  const auto finish = [&](CgOutcome::Stop stop) -> CgOutcome& {
    outcome.stop = stop;
    return outcome;
  };
  if (!std::isfinite(outcome.right_hand_side)) return finish(CgOutcome::Stop::not_finite);
  const double goal = std::max(request.relative_tolerance * outcome.right_hand_side, request.absolute_tolerance);
  if (outcome.right_hand_side == 0) {  // the answer is known, and relative accuracy has no meaning
    fill(x, 0);
    if (request.keep_history) outcome.history.push_back(0);
    return finish(CgOutcome::Stop::converged);
  }

  Vector r(a.layout()), p(a.layout()), q(a.layout()), z, previous_r;
  if (preconditioner) z = Vector(a.layout());
  const bool flexible = request.flexible && preconditioner;
  if (flexible) previous_r = Vector(a.layout());
  a.apply(x, q);
  copy(b, r);
  axpy(-1, q, r);
  double r_r = dot(r, r);
  outcome.residual = std::sqrt(r_r);
  if (request.keep_history) outcome.history.push_back(outcome.residual);

  const double first_residual = outcome.residual;
  LanczosMatrix lanczos;
  detail::Progress progress(request);
  double rho = 0, alpha = 0, beta = 0;
  const auto iterate = [&]() -> CgOutcome::Stop {
    for (;;) {
      if (!std::isfinite(outcome.residual)) return CgOutcome::Stop::not_finite;
      if (outcome.residual <= goal) return CgOutcome::Stop::converged;
      if (outcome.iterations >= request.max_iterations) return CgOutcome::Stop::max_iterations;
      if (detail::is_slow(request, outcome.iterations, outcome.residual, first_residual)) return CgOutcome::Stop::slow;
      if (!progress.tell(outcome.iterations, outcome.residual)) return CgOutcome::Stop::cancelled;

      const double previous_rho = rho;
      rho = preconditioner ? preconditioner->apply_dot(r, z) : r_r;
      if (!std::isfinite(rho)) return CgOutcome::Stop::not_finite;
      if (rho <= 0) return CgOutcome::Stop::bad_preconditioner;
      const Vector& direction = preconditioner ? z : r;
      if (outcome.iterations == 0) {
        copy(direction, p);
      } else {
        // The new direction is made conjugate to the last one, even where z·(last r) is not zero.
        beta = (flexible ? rho - dot(z, previous_r) : rho) / previous_rho;
        axpby(1, direction, beta, p);
      }
      if (flexible) copy(r, previous_r);
      const double p_a_p = a.apply_dot(p, q);
      if (!std::isfinite(p_a_p)) return CgOutcome::Stop::not_finite;
      if (p_a_p <= 0) return CgOutcome::Stop::breakdown;
      const double previous_alpha = alpha;
      alpha = rho / p_a_p;
      lanczos.add(alpha, previous_alpha, beta);
      r_r = cg_update(alpha, p, q, x, r);
      outcome.residual = std::sqrt(r_r);
      ++outcome.iterations;
      if (request.keep_history) outcome.history.push_back(outcome.residual);
    }
  };
  const CgOutcome::Stop stop = iterate();
  if (request.progress && stop != CgOutcome::Stop::cancelled) request.progress(outcome.iterations, outcome.residual);
  if (!lanczos.diagonal.empty() && stop != CgOutcome::Stop::not_finite) {
    outcome.smallest_ritz = lanczos.eigenvalue(0);
    outcome.largest_ritz = lanczos.eigenvalue(lanczos.diagonal.size() - 1);
  }
  return finish(stop);
}

}  // namespace voussoir
