#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/model/constraint_handler.hpp>

namespace voussoir::detail {

/// What elimination makes of the multi-point equations.
struct EliminatedEquations {
  std::vector<AffineDependency> dependent;  ///< ascending by equation
  std::vector<std::string> notes;           ///< equations that were dropped or are hardly independent, in words
};

/// Solves the multi-point equations for as many unknowns as their rank, x_dependent = constant + T x_other, so that the
/// coefficients of T are small and few.
///
/// Sparse Gaussian elimination. A pivot must be at least half as large as any other coefficient of its row, and of
/// those allowed the one that causes least fill is taken (Markowitz), the first term of the user's equation where that
/// leaves a choice. H. M. Markowitz: The elimination form of the inverse. Management Science 3 (1957).
///
/// What T then has in excess of a limit is exchanged, a dependent unknown against the one it depends on most, which
/// ends because each exchange multiplies the determinant of the pivots by the coefficient that was too large. S. A.
/// Goreinov et al.: How to find a good submatrix. In: Matrix Methods, World Scientific (2010).
///
/// Coefficients of unknowns of different kinds are compared through NumberedConstraints::scale. With each coefficient
/// goes the size of what it was summed from: one that is small against that is what cancellation left. An equation of
/// which only that is left follows from others. It is dropped with a note, or refused with an Error (bad_input) where
/// its constant contradicts them.
///
/// `held` and `value` are those of a ConstraintPlan: held unknowns are never solved for.
EliminatedEquations eliminate_equations(const NumberedConstraints& constraints,
                                        const std::vector<std::uint8_t>& prescribed, const std::vector<double>& value);

}  // namespace voussoir::detail
