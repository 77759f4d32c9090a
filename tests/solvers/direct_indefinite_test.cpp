#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/solvers/direct/factorization.hpp>

#include "support/expect_error.hpp"

// Matrices K − σM: the inertia counts the eigenvalues below a shift.

namespace voussoir::test {
namespace {

/// Tridiagonal (−1, 2 − shift, −1): the eigenvalues of the string are 2 − 2 cos(kπ/(n + 1)).
SymmetricCsr shifted_string(int n, double shift) {
  SymmetricCsr a;
  a.n = n;
  a.row_start.push_back(0);
  for (int i = 0; i < n; ++i) {
    a.column.push_back(i);
    a.value.push_back(2 - shift);
    if (i + 1 < n) {
      a.column.push_back(i + 1);
      a.value.push_back(-1);
    }
    a.row_start.push_back(static_cast<std::int64_t>(a.column.size()));
  }
  return a;
}

TEST(IndefiniteFactor, CountsTheEigenvaluesBelowAShift) {
  const int n = 40;
  for (const DirectMethod method : {DirectMethod::mumps, DirectMethod::eigen, DirectMethod::multifrontal}) {
    if (!why_unavailable(method).empty()) continue;
    const auto factor = Factorization::make(method);
    for (const int below : {0, 1, 7, 20, 39, 40}) {
      // Half-way between two eigenvalues.
      const double shift = 2 - 2 * std::cos((below + 0.5) * 3.14159265358979 / (n + 1));
      const SymmetricCsr a = shifted_string(n, shift);
      factor->factorise_indefinite(a);
      EXPECT_EQ(factor->inertia().negative, below) << to_string(method);
      EXPECT_EQ(factor->inertia().zero, 0);
      EXPECT_EQ(factor->inertia().positive, n - below);
      if (method != DirectMethod::mumps) continue;  // without pivoting, solutions may have lost all digits
      std::vector<double> b(static_cast<std::size_t>(n), 1.0), x = b;
      factor->solve(x);
      EXPECT_LT(relative_residual(a, x, b), 1e-10) << to_string(method) << ", " << below;
    }
  }
}

TEST(IndefiniteFactor, HasNoBoundary) {
  const SymmetricCsr a = shifted_string(5, 0.3);
  const auto factor = Factorization::make();
  const std::vector<std::int32_t> boundary{4};
  factor->analyse(a, boundary);
  testing::expect_error(ErrorCode::misuse, {"boundary"}, [&] { factor->factorise_indefinite(a); });
}

}  // namespace
}  // namespace voussoir::test
