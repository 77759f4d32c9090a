#include <voussoir/backends/sweep_services.hpp>

#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir {

const char* to_string(SweepMethod method) {
  switch (method) {
    case SweepMethod::sequential:
      return "sequential";
    case SweepMethod::partitioned:
      return "partitioned";
    default:
      return "auto";
  }
}

void SweepOutcome::require(std::int64_t first_system) const {
  if (good()) return;
  const std::string where = "system " + std::to_string(first_system + system) + ", row " + std::to_string(row);
  switch (fault) {
    case SweepFault::singular:
      throw Error(
          ErrorCode::singular,
          "a pivot of this tridiagonal system is zero to working precision: the matrix is singular, or it cannot "
          "be eliminated without exchanging rows; check its coefficients",
          where);
    case SweepFault::inaccurate:
      throw Error(ErrorCode::singular,
                  "elimination without pivoting loses too many digits in this tridiagonal system, which is not "
                  "diagonally dominant; try the method sequential, make the diagonal larger, or allow a larger loss "
                  "(SweepOptions::largest_loss)",
                  where);
    default:
      throw Error(ErrorCode::not_finite,
                  "this tridiagonal system has a coefficient, a right-hand side or a solution that is not finite",
                  where);
  }
}

}  // namespace voussoir
