#pragma once
#include <cstdint>
#include <span>
#include <vector>

// A sparse symmetric matrix on the host, the input of direct solvers.

namespace voussoir {

/// The upper triangle of a sparse symmetric matrix, by rows.
///
/// Row i has the entries (i, j) with j ≥ i at positions row_start[i] … row_start[i+1] − 1 of `column` and `value`.
/// Columns ascend within a row, and the diagonal entry is always present (it may be zero) and comes first.
/// Equations count from 0.
struct SymmetricCsr {
  std::int64_t n = 0;                   ///< number of equations
  std::vector<std::int64_t> row_start;  ///< n + 1 positions, the first of which is 0
  std::vector<std::int32_t> column;     ///< column of each entry
  std::vector<double> value;            ///< value of each entry

  std::int64_t entries() const { return row_start.empty() ? 0 : row_start.back(); }  ///< number of stored entries
};

/// Throws Error (bad_input) if the arrays violate the conditions of SymmetricCsr: wrong lengths, a column outside the
/// matrix or below the diagonal, columns that do not ascend, a missing diagonal entry. The text names the equation.
void check_pattern(const SymmetricCsr& matrix);

/// Throws Error (not_finite) at the first NaN or infinity; the text names its row and column.
void check_values(const SymmetricCsr& matrix);

/// Whether both matrices have entries at the same positions, whatever their values.
bool same_pattern(const SymmetricCsr& a, const SymmetricCsr& b);

/// y = A x.
void multiply(const SymmetricCsr& matrix, std::span<const double> x, std::span<double> y);

/// ‖b − A x‖₂ / ‖b‖₂, or ‖A x‖₂ if b is zero.
double relative_residual(const SymmetricCsr& matrix, std::span<const double> x, std::span<const double> b);

/// The largest sum of absolute values in a row: ‖A‖∞ (= ‖A‖₁).
double infinity_norm(const SymmetricCsr& matrix);

}  // namespace voussoir
