#pragma once
#include <memory>

#include <voussoir/framework/analysis/linear_soe.hpp>

// Polynomial preconditioners. M is an approximate inverse, usually inverse_diagonal().

namespace voussoir {

/// A lower estimate of the largest eigenvalue of M A: the largest Ritz value after at most `iterations` steps of CG for
/// a fixed pseudo-random right-hand side without components in constrained equations. The same bits on every run of a
/// backend. 1 if no step could be taken.
double largest_eigenvalue(const LinearSOE& soe, const Operator& inverse, int iterations = 12);

/// z = p(M A) M r with the Chebyshev polynomial of the given degree (at least 1) for eigenvalues of M A in [low, high],
/// 0 < low < high: `degree` steps of Chebyshev's iteration for A z = r from z = 0. A fixed linear map, symmetric, and
/// positive definite where no eigenvalue exceeds `high`. The SOE must outlive the operator, which uses the SOE's
/// current matrix.
std::unique_ptr<Operator> chebyshev_operator(const LinearSOE& soe, std::unique_ptr<Operator> inverse, int degree,
                                             double low, double high);

}  // namespace voussoir
