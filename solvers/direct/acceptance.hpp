#pragma once
#include <functional>

namespace voussoir {

/// A solution of a direct solver with a relative residual below this is accepted without further checks.
inline constexpr double small_residual = 1e-6;

/// Whether a solution by elimination may be believed.
struct Acceptance {
  bool accepted = false;
  double residual = 0;  ///< the relative residual of what is there in the end
};

/// Checks a solution of a direct solver. A relative residual below small_residual is accepted. If it is
/// larger, it need not be wrong: next to very stiff springs, rounding of the correct solution alone leaves a residual
/// that is large compared with the load. A correct solution is distinguished from a wrong one by how far a step of
/// iterative refinement still moves it, so one is made, and the solution accepted where it moved by less than 1e-4 of
/// its size: parts that differ by 1e10 in stiffness leave about six digits, a matrix without an inverse leaves none.
///
/// `residual` computes the relative residual of the present solution; `refine` improves that solution by one step and
/// returns ‖change‖ / ‖solution‖, the largest over all columns.
Acceptance check_solution(const std::function<double()>& residual, const std::function<double()>& refine);

}  // namespace voussoir
