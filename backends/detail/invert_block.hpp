#pragma once
#include <voussoir/backends/detail/any_side.hpp>

// The inverse of a small block, for hosts and devices.

namespace voussoir::detail {

inline constexpr int largest_block = 6;

enum class Inversion : int { fine, singular, not_finite };

/// Inverts an n × n block (by rows) in place by Gauss and Jordan with row pivoting, after scaling rows and columns so
/// that the diagonal is one: rotations and displacements have different units. A diagonal entry of at most `tiny` is
/// none. `at` is the row where it failed.
VSR_ANY_SIDE inline Inversion invert_block(double* block, int n, double tiny, int& at) {
  const auto magnitude = [](double x) { return x < 0 ? -x : x; };
  const auto finite = [](double x) { return x - x == 0; };
  double scale[largest_block];
  double a[largest_block][2 * largest_block];
  for (int i = 0; i < n; ++i) {
    const double diagonal = magnitude(block[i * n + i]);
    at = i;
    if (!finite(diagonal)) return Inversion::not_finite;
    if (diagonal <= tiny) return Inversion::singular;
    scale[i] = 1 / __builtin_sqrt(diagonal);
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      a[i][j] = block[i * n + j] * scale[i] * scale[j];
      a[i][n + j] = i == j;
      at = i;
      if (!finite(a[i][j])) return Inversion::not_finite;
    }
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (magnitude(a[i][k]) > magnitude(a[pivot][k])) pivot = i;
    at = k;
    if (magnitude(a[pivot][k]) < 1e-13) return Inversion::singular;
    if (pivot != k)
      for (int j = 0; j < 2 * n; ++j) {
        const double kept = a[pivot][j];
        a[pivot][j] = a[k][j];
        a[k][j] = kept;
      }
    const double factor = 1 / a[k][k];
    for (int j = 0; j < 2 * n; ++j) a[k][j] *= factor;
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      const double share = a[i][k];
      for (int j = 0; j < 2 * n; ++j) a[i][j] -= share * a[k][j];
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) block[i * n + j] = a[i][n + j] * scale[i] * scale[j];
  return Inversion::fine;
}

}  // namespace voussoir::detail
