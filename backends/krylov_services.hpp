#pragma once
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <voussoir/backends/operator.hpp>
#include <voussoir/backends/service.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// Settings of a CG solve.
struct CgRequest {
  double relative_tolerance = 1e-8;  ///< stop when ‖b − A x‖ ≤ relative_tolerance · ‖b‖ …
  double absolute_tolerance = 0;     ///< … or ‖b − A x‖ ≤ absolute_tolerance
  int max_iterations = 10000;        ///< number of iterations after which it stops unconverged
  /// Stops after this many iterations if the residual has not been reduced by checkpoint_reduction; 0 disables the
  /// check.
  int checkpoint = 0;
  double checkpoint_reduction = 1;  ///< fraction of the first ‖r‖ that must be reached at the checkpoint
  bool keep_history = true;         ///< whether CgOutcome::history is recorded
  /// Flexible CG, for a preconditioner that varies between iterations (Notay 2000): one more dot product.
  bool flexible = false;
  /// Called every few iterations with (iteration, residual norm); returning false stops the iteration.
  std::function<bool(int, double)> progress;
};

/// The outcome of a CG solve.
struct CgOutcome {
  /// Why the iteration ended.
  enum class Stop {
    converged,                    ///< a tolerance was reached
    max_iterations,               ///< the limit of iterations was reached
    breakdown,                    ///< p·A p ≤ 0: the matrix is not positive definite
    not_finite,                   ///< a NaN or an infinity appeared
    cancelled,                    ///< CgRequest::progress returned false
    bad_preconditioner,           ///< r·M r ≤ 0: the preconditioner is not positive definite
    slow                          ///< the residual was not reduced enough at the checkpoint
  } stop = Stop::max_iterations;  ///< why the iteration ended
  int iterations = 0;             ///< number of iterations performed
  double residual = 0;          ///< final ‖r‖ of the recurrence, which may differ from ‖b − A x‖ by rounding
  double right_hand_side = 0;   ///< ‖b‖
  std::vector<double> history;  ///< ‖r‖ before the first iteration and after each one
  /// The smallest Ritz value of the preconditioned matrix, an upper bound of its smallest eigenvalue, from the CG
  /// coefficients; 0 where it is unknown.
  double smallest_ritz = 0;
  double largest_ritz = 0;  ///< the largest Ritz value, a lower bound of the largest eigenvalue; 0 where unknown
};

/// Krylov methods that a backend runs as a whole, so that it can keep the scalars on its devices.
class KrylovServices : public Service {
 public:
  static constexpr std::string_view service_name = "krylov";  ///< by which Backend::service() finds it

  /// Preconditioned conjugate gradients for A x = b, with x as the starting vector and the result. A null
  /// `preconditioner` means none.
  virtual CgOutcome cg(const Operator& a, const Operator* preconditioner, const Vector& b, Vector& x,
                       const CgRequest& request) = 0;
  /// The same for all columns of b at once: the matrix and the preconditioner are read once for all of them. Each
  /// column has its own scalars, its own tolerance (relative_tolerances[c] instead of the request's; infinity leaves a
  /// column as it is) and its own outcome, without Ritz values, and leaves the iteration when it stops. Where one
  /// column is slow at the checkpoint, all stop. The request's progress is called with the largest ‖r‖ / ‖b‖ of a
  /// column.
  virtual std::vector<CgOutcome> cg_columns(const Operator& a, const Operator* preconditioner, const Vector& b,
                                            Vector& x, const CgRequest& request,
                                            std::span<const double> relative_tolerances) = 0;
};

}  // namespace voussoir
