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
  double absolute_tolerance = 0;     ///< … or ≤ this
  int max_iterations = 10000;        ///< after which it stops unconverged
  /// Stops after this many iterations if the residual has not been reduced by checkpoint_reduction; 0 disables the
  /// check.
  int checkpoint = 0;
  double checkpoint_reduction = 1;  ///< fraction of the first ‖r‖ that must be reached at the checkpoint
  bool keep_history = true;         ///< whether CgOutcome::history is filled
  /// Flexible CG, for a preconditioner that varies between iterations (Notay 2000): one more dot product.
  bool flexible = false;
  /// Called every few iterations with (iteration, residual norm); returning false stops the iteration.
  std::function<bool(int, double)> progress;
};

/// The outcome of a CG solve.
struct CgOutcome {
  enum class Stop {
    converged,
    max_iterations,
    breakdown,  ///< p·A p ≤ 0: the matrix is not positive definite
    not_finite,
    cancelled,
    bad_preconditioner,  ///< r·M r ≤ 0: the preconditioner is not positive definite
    slow                 ///< the residual was not reduced enough at the checkpoint
  } stop = Stop::max_iterations;
  int iterations = 0;           ///< that were made
  double residual = 0;          ///< ‖r‖ of the recurrence at the end
  double right_hand_side = 0;   ///< ‖b‖
  std::vector<double> history;  ///< ‖r‖ at each iteration, the start included
  /// Ritz values of the preconditioned matrix from the CG coefficients: smallest and largest, 0 where unknown.
  double smallest_ritz = 0;
  double largest_ritz = 0;  ///< as smallest_ritz
};

/// Krylov methods that a backend may run as a whole, with scalars on its devices.
class KrylovServices : public Service {
 public:
  static constexpr std::string_view service_name = "krylov";

  /// Preconditioned conjugate gradients for A x = b from the given x. `preconditioner` may be null.
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
