#pragma once
#include <cstdint>

#include <voussoir/backends/detail/any_side.hpp>
#include <voussoir/backends/multigrid.hpp>

// The inverse of a small positive definite block, for hosts and devices.

// Loops over registers must be unrolled on a device; a host compiler needs no telling.
#if defined(__CUDACC__)
#define VSR_UNROLL _Pragma("unroll")
#else
#define VSR_UNROLL
#endif

namespace voussoir::detail {

/// Inverts a symmetric block, whose rows are `stride` numbers apart, by Cholesky, after scaling rows and columns so
/// that the diagonal is one: rotations and displacements have different units. Returns the row at which it is not
/// positive definite, or −1. Size 0 stands for all sizes up to the largest.
template <int Size>
VSR_ANY_SIDE int invert_positive(const double* a, std::int64_t stride, int size, double* inverse) {
  constexpr int room = Size > 0 ? Size : largest_level_block;
  const int n = Size > 0 ? Size : size;
  double scale[room], l[room][room];
  VSR_UNROLL
  for (int i = 0; i < n; ++i) {
    const double diagonal = a[i * stride + i];
    if (!(diagonal > 0) || diagonal - diagonal != 0) return i;
    scale[i] = 1 / __builtin_sqrt(diagonal);
  }
  VSR_UNROLL
  for (int i = 0; i < n; ++i) {
    VSR_UNROLL
    for (int j = 0; j < i; ++j) {
      double sum = a[i * stride + j] * scale[i] * scale[j];
      VSR_UNROLL
      for (int k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = sum * l[j][j];  // the diagonal of l holds reciprocals
    }
    double pivot = 1;
    VSR_UNROLL
    for (int k = 0; k < i; ++k) pivot -= l[i][k] * l[i][k];
    if (!(pivot > 1e-13)) return i;
    l[i][i] = 1 / __builtin_sqrt(pivot);
  }
  // The inverse of the factor, in its place.
  VSR_UNROLL
  for (int j = 0; j < n; ++j) VSR_UNROLL
  for (int i = j + 1; i < n; ++i) {
    double sum = 0;
    VSR_UNROLL
    for (int k = j; k < i; ++k) sum -= l[i][k] * l[k][j];
    l[i][j] = sum * l[i][i];
  }
  VSR_UNROLL
  for (int i = 0; i < n; ++i) VSR_UNROLL
  for (int j = 0; j <= i; ++j) {
    double sum = 0;
    VSR_UNROLL
    for (int k = i; k < n; ++k) sum += l[k][i] * l[k][j];
    inverse[i * n + j] = inverse[j * n + i] = sum * scale[i] * scale[j];
  }
  return -1;
}

}  // namespace voussoir::detail

#undef VSR_UNROLL
