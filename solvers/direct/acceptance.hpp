#pragma once
#include <functional>

namespace voussoir {

/// A solution of a direct solver with a relative residual below this is accepted without further checks.
inline constexpr double small_residual = 1e-6;

/// The result of check_solution().
struct Acceptance {
  bool accepted = false;  ///< whether the solution can be trusted
  double residual = 0;    ///< relative residual of the final solution
};

/// Checks a solution of a direct solver. It is accepted if its relative residual is below small_residual. A larger
/// residual need not mean a wrong solution: next to very stiff springs, rounding alone leaves a residual that is large
/// compared with the load. Therefore one step of iterative refinement is made, and the solution is accepted if it
/// changes by less than 1e-4 of its norm: parts that differ by 1e10 in stiffness leave about six correct digits, a
/// singular matrix leaves none.
///
/// `residual` computes the relative residual of the present solution; `refine` improves the solution by one step and
/// returns ‖change‖ / ‖solution‖, the largest over all columns.
Acceptance check_solution(const std::function<double()>& residual, const std::function<double()>& refine);

}  // namespace voussoir
