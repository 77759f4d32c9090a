#pragma once
#include <voussoir/elements/kernel/pack.hpp>

// The storage of element matrices: the upper triangle, by rows.

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
