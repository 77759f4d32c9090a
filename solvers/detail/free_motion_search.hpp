#pragma once
#include <span>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir::detail {

/// Looks for vectors that the matrix of an SOE all but annihilates: free motions.
class FreeMotionSearch {
 public:
  explicit FreeMotionSearch(const LinearSOE& soe);

  /// What rounding makes of A x in each body, for the norms of x by body and column: a few times this is left of any
  /// residual, however good x is.
  std::vector<double> rounding(std::span<const double> norms_of_x) const;
  /// Whether a solution is so large against its load, in one body, that no regular matrix has it.
  bool is_absurd(std::span<const double> norms_of_x, std::span<const double> norms_of_b) const;

  /// A motion that nothing resists, of norm 1, or nothing. `x` is where CG gave up on `b`; one column each. Looks at x
  /// and its residual and, if `thorough`, iterates.
  std::vector<double> find(const Operator* preconditioner, bool flexible, const Vector& b, const Vector& x,
                           bool thorough);

  std::vector<double> normalised(const Vector& x) const;

 private:
  /// Where CG has failed, this little resistance is none.
  static constexpr double failed = 1e-11;
  /// No solution of a regular matrix is so large against its load.
  static constexpr double converged = 1e-14;

  bool is_free(const Vector& x, double tolerance);

  const LinearSOE& soe_;
  Backend& backend_;
  Vector image_;
  double scale_ = 0;
  std::vector<double> scales_;  // by body
};

}  // namespace voussoir::detail
