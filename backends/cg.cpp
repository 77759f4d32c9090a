#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <voussoir/backends/backend.hpp>

// Conjugate gradients, written once over the services of a backend. Hestenes and Stiefel (1952) in the preconditioned
// form of Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 9.1.

namespace voussoir {

namespace {

/// The Lanczos matrix that CG builds without saying so (Saad, section 6.7.3): its eigenvalues approach those of the
/// preconditioned matrix, the outer ones first.
struct LanczosMatrix {
  std::vector<double> diagonal;
  std::vector<double> side_squared;  // squares of the off-diagonal entries

  /// `beta` carried the last direction into this one.
  void add(double alpha, double previous_alpha, double beta) {
    if (!diagonal.empty()) side_squared.push_back(beta / (previous_alpha * previous_alpha));
    diagonal.push_back(1 / alpha + (diagonal.empty() ? 0 : beta / previous_alpha));
  }

  /// How many eigenvalues lie below x: negative pivots of T − x I (Sturm's sequence).
  std::size_t below(double x) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      pivot = diagonal[i] - x - (i > 0 ? side_squared[i - 1] / pivot : 0.0);
      if (pivot == 0) pivot = -std::numeric_limits<double>::min();
      if (pivot < 0) ++count;
    }
    return count;
  }

  /// Eigenvalue number `index`, ascending, by bisection between Gershgorin's bounds.
  double eigenvalue(std::size_t index) const {
    double low = 0, high = 0;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      const double radius =
          (i > 0 ? std::sqrt(side_squared[i - 1]) : 0) + (i < side_squared.size() ? std::sqrt(side_squared[i]) : 0);
      low = i == 0 ? diagonal[i] - radius : std::min(low, diagonal[i] - radius);
      high = i == 0 ? diagonal[i] + radius : std::max(high, diagonal[i] + radius);
    }
    low = std::max(low, 0.0);  // the matrix is positive definite as long as CG runs
    for (int step = 0; step < 80 && high - low > 1e-13 * high; ++step) {
      const double middle = 0.5 * (low + high);
      (below(middle) > index ? high : low) = middle;
    }
    return 0.5 * (low + high);
  }
};

/// Calls the user back not too often: every 50 iterations or 0.2 s, whichever comes first.
class Progress {
 public:
  explicit Progress(const CgRequest& request) : request_(request) {}
  /// False where the user wants to stop.
  bool tell(int iteration, double residual) {
    if (!request_.progress) return true;
    const auto now = Clock::now();
    if (iteration > 0 && iteration - told_ < 50 && now - last_ < std::chrono::milliseconds(200)) return true;
    told_ = iteration;
    last_ = now;
    return request_.progress(iteration, residual);
  }

 private:
  using Clock = std::chrono::steady_clock;
  const CgRequest& request_;
  int told_ = 0;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

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

  Vector r(a.layout()), p(a.layout()), q(a.layout()), z;
  if (preconditioner) z = Vector(a.layout());
  a.apply(x, q);
  copy(b, r);
  axpy(-1, q, r);
  double r_r = dot(r, r);
  outcome.residual = std::sqrt(r_r);
  if (request.keep_history) outcome.history.push_back(outcome.residual);

  LanczosMatrix lanczos;
  Progress progress(request);
  double rho = 0, alpha = 0, beta = 0;
  const auto iterate = [&]() -> CgOutcome::Stop {
    for (;;) {
      if (!std::isfinite(outcome.residual)) return CgOutcome::Stop::not_finite;
      if (outcome.residual <= goal) return CgOutcome::Stop::converged;
      if (outcome.iterations >= request.max_iterations) return CgOutcome::Stop::max_iterations;
      if (!progress.tell(outcome.iterations, outcome.residual)) return CgOutcome::Stop::cancelled;

      const double previous_rho = rho;
      rho = preconditioner ? preconditioner->apply_dot(r, z) : r_r;
      if (!std::isfinite(rho)) return CgOutcome::Stop::not_finite;
      if (rho <= 0) return CgOutcome::Stop::breakdown;  // the preconditioner is not positive definite
      const Vector& direction = preconditioner ? z : r;
      if (outcome.iterations == 0) {
        copy(direction, p);
      } else {
        beta = rho / previous_rho;
        axpby(1, direction, beta, p);
      }
      const double p_a_p = a.apply_dot(p, q);
      if (!std::isfinite(p_a_p)) return CgOutcome::Stop::not_finite;
      if (p_a_p <= 0) return CgOutcome::Stop::breakdown;  // the matrix is not positive definite
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
