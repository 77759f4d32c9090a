#pragma once
#include <voussoir/elements/kernel/fn.hpp>
#include <voussoir/elements/kernel/math.hpp>
#include <voussoir/elements/kernel/pack.hpp>

// Small fixed-size vectors and matrices for kernels.

namespace voussoir {

/// A vector of n components.
template <class R, int n>
struct Vec {
  R v[n];                                                   ///< components
  VSR_FN R& operator[](int i) { return v[i]; }              ///< component i, from 0; not checked
  VSR_FN const R& operator[](int i) const { return v[i]; }  ///< component i, from 0; not checked
};

/// A row-major m × n matrix.
template <class R, int m, int n>
struct Mat {
  R v[m][n];                                                          ///< entries by rows
  VSR_FN R& operator()(int i, int j) { return v[i][j]; }              ///< entry (i, j), from 0; not checked
  VSR_FN const R& operator()(int i, int j) const { return v[i][j]; }  ///< entry (i, j), from 0; not checked
};

/// A vector in space.
template <class R>
using Vec3 = Vec<R, 3>;
/// A second-order tensor in space.
template <class R>
using Mat3 = Mat<R, 3, 3>;

/// The zero vector.
template <class R, int n>
VSR_FN Vec<R, n> zero_vector() {
  Vec<R, n> r;
  for (int i = 0; i < n; ++i) r[i] = R(0.0);
  return r;
}

/// The zero matrix.
template <class R, int m, int n>
VSR_FN Mat<R, m, n> zero_matrix() {
  Mat<R, m, n> r;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) r(i, j) = R(0.0);
  return r;
}

/// The scalar product a · b.
template <class R, int n>
VSR_FN R dot(const Vec<R, n>& a, const Vec<R, n>& b) {
  R s = a[0] * b[0];
  for (int i = 1; i < n; ++i) s += a[i] * b[i];
  return s;
}

/// The vector product a × b.
template <class R>
VSR_FN Vec3<R> cross(const Vec3<R>& a, const Vec3<R>& b) {
  return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

/// The sum of two matrices.
template <class R, int m, int n>
VSR_FN Mat<R, m, n> operator+(const Mat<R, m, n>& a, const Mat<R, m, n>& b) {
  Mat<R, m, n> c;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c(i, j) = a(i, j) + b(i, j);
  return c;
}

/// A matrix times a scalar.
template <class R, int m, int n>
VSR_FN Mat<R, m, n> operator*(R s, const Mat<R, m, n>& a) {
  Mat<R, m, n> c;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c(i, j) = s * a(i, j);
  return c;
}

/// The product of two matrices.
template <class R, int m, int k, int n>
VSR_FN Mat<R, m, n> operator*(const Mat<R, m, k>& a, const Mat<R, k, n>& b) {
  Mat<R, m, n> c;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      R s = a(i, 0) * b(0, j);
      for (int l = 1; l < k; ++l) s += a(i, l) * b(l, j);
      c(i, j) = s;
    }
  return c;
}

/// The transpose aᵀ.
template <class R, int m, int n>
VSR_FN Mat<R, n, m> transpose(const Mat<R, m, n>& a) {
  Mat<R, n, m> c;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c(j, i) = a(i, j);
  return c;
}

/// The sum of the diagonal entries.
template <class R>
VSR_FN R trace(const Mat3<R>& a) {
  return a(0, 0) + a(1, 1) + a(2, 2);
}

/// The determinant.
template <class R>
VSR_FN R determinant(const Mat3<R>& a) {
  return a(0, 0) * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1)) - a(0, 1) * (a(1, 0) * a(2, 2) - a(1, 2) * a(2, 0)) +
         a(0, 2) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0));
}

/// The inverse of `a`, whose determinant `det` the caller provides; it must not be zero.
template <class R>
VSR_FN Mat3<R> inverse(const Mat3<R>& a, R det) {
  const R f = R(1.0) / det;
  Mat3<R> c;
  c(0, 0) = f * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1));
  c(0, 1) = f * (a(0, 2) * a(2, 1) - a(0, 1) * a(2, 2));
  c(0, 2) = f * (a(0, 1) * a(1, 2) - a(0, 2) * a(1, 1));
  c(1, 0) = f * (a(1, 2) * a(2, 0) - a(1, 0) * a(2, 2));
  c(1, 1) = f * (a(0, 0) * a(2, 2) - a(0, 2) * a(2, 0));
  c(1, 2) = f * (a(0, 2) * a(1, 0) - a(0, 0) * a(1, 2));
  c(2, 0) = f * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0));
  c(2, 1) = f * (a(0, 1) * a(2, 0) - a(0, 0) * a(2, 1));
  c(2, 2) = f * (a(0, 0) * a(1, 1) - a(0, 1) * a(1, 0));
  return c;
}

}  // namespace voussoir
