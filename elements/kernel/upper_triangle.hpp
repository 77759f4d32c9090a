#pragma once
#include <voussoir/elements/kernel/pack.hpp>

// The storage of element matrices: the upper triangle by rows, or the whole matrix by rows if a tangent is not
// symmetric.

namespace voussoir::detail {

/// result = symmetric matrix · vector.
template <class R, int n>
VSR_LARGE_FN void multiply_upper(const R* upper, const R* vector, R* result) {
  for (int i = 0; i < n; ++i) result[i] = R(0.0);
  int k = 0;
  for (int i = 0; i < n; ++i) {
    result[i] += upper[k++] * vector[i];
    R sum = R(0.0);
    for (int j = i + 1; j < n; ++j, ++k) {
      sum += upper[k] * vector[j];
      result[j] += upper[k] * vector[i];
    }
    result[i] += sum;
  }
}

/// result = matrix · vector, the matrix stored whole.
template <class R, int n>
VSR_LARGE_FN void multiply_whole(const R* matrix, const R* vector, R* result) {
  for (int i = 0; i < n; ++i) {
    R sum = R(0.0);
    for (int j = 0; j < n; ++j) sum += matrix[i * n + j] * vector[j];
    result[i] = sum;
  }
}

/// Number of stored entries of a tangent with n unknowns.
VSR_FN constexpr int tangent_entries(int n, bool symmetric) { return symmetric ? n * (n + 1) / 2 : n * n; }

/// result = tangent · vector, for a tangent stored by its symmetry.
template <class R, int n, bool symmetric>
VSR_FN void multiply_tangent(const R* matrix, const R* vector, R* result) {
  if constexpr (symmetric)
    multiply_upper<R, n>(matrix, vector, result);
  else
    multiply_whole<R, n>(matrix, vector, result);
}

/// Expands an upper triangle to the whole matrix in place; the array must be large enough.
template <class R, int n>
VSR_LARGE_FN void make_whole(R* matrix) {
  for (int i = n - 1; i >= 0; --i)
    for (int j = n - 1; j >= i; --j) matrix[i * n + j] = matrix[i * (n - 1) - i * (i - 1) / 2 + j];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) matrix[i * n + j] = matrix[j * n + i];
}

/// HRZ lumping in place: the diagonal, scaled for each component so that the element keeps its mass.
/// (Hinton, Rock, Zienkiewicz, A note on mass lumping and related processes in the finite element method, 1976.)
template <class R, int nodes, int components>
VSR_LARGE_FN void lump(R* upper) {
  constexpr int n = nodes * components;
  R total[components], diagonal[components];
  for (int c = 0; c < components; ++c) total[c] = diagonal[c] = R(0.0);
  int k = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j, ++k) {
      const int c = i % components;
      if (j % components == c) total[c] += i == j ? upper[k] : upper[k] + upper[k];
      if (i == j) diagonal[c] += upper[k];
    }
  for (int c = 0; c < components; ++c)  // a component without mass keeps none, instead of 0/0
    total[c] = select_less(R(0.0), diagonal[c], total[c] / max(diagonal[c], R(1e-300)), R(0.0));
  k = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j, ++k) upper[k] = i == j ? upper[k] * total[i % components] : R(0.0);
}

}  // namespace voussoir::detail
