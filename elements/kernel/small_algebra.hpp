#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Small fixed-size algebra of point elements: Jacobians, trilinear fields at Gauss points, a dense LDLᵀ, and symmetric
// tensors as six numbers.

namespace voussoir::detail {

/// inv[k][m] = ∂ξ_m/∂x_k from j[m][k] = ∂x_k/∂ξ_m. Returns the determinant of j.
template <int dim, class R>
VSR_FN R invert_jacobian(const R (&j)[dim][dim], R (&inv)[dim][dim]) {
  if constexpr (dim == 2) {
    const R det = j[0][0] * j[1][1] - j[0][1] * j[1][0];
    const R f = R(1.0) / det;
    inv[0][0] = f * j[1][1];
    inv[0][1] = -(f * j[0][1]);
    inv[1][0] = -(f * j[1][0]);
    inv[1][1] = f * j[0][0];
    return det;
  } else {
    const R c00 = j[1][1] * j[2][2] - j[1][2] * j[2][1];
    const R c01 = j[1][2] * j[2][0] - j[1][0] * j[2][2];
    const R c02 = j[1][0] * j[2][1] - j[1][1] * j[2][0];
    const R det = j[0][0] * c00 + j[0][1] * c01 + j[0][2] * c02;
    const R f = R(1.0) / det;
    inv[0][0] = f * c00;
    inv[1][0] = f * c01;
    inv[2][0] = f * c02;
    inv[0][1] = f * (j[0][2] * j[2][1] - j[0][1] * j[2][2]);
    inv[1][1] = f * (j[0][0] * j[2][2] - j[0][2] * j[2][0]);
    inv[2][1] = f * (j[0][1] * j[2][0] - j[0][0] * j[2][1]);
    inv[0][2] = f * (j[0][1] * j[1][2] - j[0][2] * j[1][1]);
    inv[1][2] = f * (j[0][2] * j[1][0] - j[0][0] * j[1][2]);
    inv[2][2] = f * (j[0][0] * j[1][1] - j[0][1] * j[1][0]);
    return det;
  }
}

// A field that is trilinear over a Hex8 has few different reference derivatives at the 2 × 2 × 2 points: ∂/∂ξ does not
// depend on ξ, and so on. Direction by direction they cost a quarter of the sum over nodes at every point.

/// Place, among the four values of a derivative in direction m, of point q = i + 2j + 4k.
VSR_FN constexpr int trilinear_place(int m, int q) {
  return m == 0 ? q >> 1 : m == 1 ? (q & 1) + ((q >> 1) & 2) : q & 3;
}
/// Node at an end of the edge in direction m that belongs to a place.
VSR_FN constexpr int trilinear_edge(int m, int place, int end) {
  constexpr int node[8] = {0, 1, 3, 2, 4, 5, 7, 6};  // of the corner i + 2j + 4k
  const int i = place & 1, j = place >> 1;
  return m == 0 ? node[end + 2 * place] : m == 1 ? node[i + 2 * end + 4 * j] : node[place + 4 * end];
}
/// Values at the two Gauss points from values at the two ends, or the transposed operation.
template <class R>
VSR_FN void gauss_pair(R& low, R& high) {
  constexpr double near = 0.78867513459481288225, far = 0.21132486540518711775;  // (1 ± 1/√3)/2
  const R a = low, b = high;
  low = R(near) * a + R(far) * b;
  high = R(far) * a + R(near) * b;
}
/// d[m][place]: derivatives of the field with the value v(n) at node n.
template <class R, class Value>
VSR_FN void trilinear_derivatives(const Value& v, R (&d)[3][4]) {
  for (int m = 0; m < 3; ++m) {
    for (int i = 0; i < 4; ++i) d[m][i] = R(0.5) * (v(trilinear_edge(m, i, 1)) - v(trilinear_edge(m, i, 0)));
    gauss_pair(d[m][0], d[m][1]);
    gauss_pair(d[m][2], d[m][3]);
    gauss_pair(d[m][0], d[m][2]);
    gauss_pair(d[m][1], d[m][3]);
  }
}
/// The transpose: nodal forces r from fluxes d that work on the derivatives. d is used up.
template <int stride, class R>
VSR_FN void trilinear_forces(R (&d)[3][4], R* r) {
  for (int a = 0; a < 8; ++a) r[stride * a] = R(0.0);
  for (int m = 0; m < 3; ++m) {
    gauss_pair(d[m][0], d[m][1]);
    gauss_pair(d[m][2], d[m][3]);
    gauss_pair(d[m][0], d[m][2]);
    gauss_pair(d[m][1], d[m][3]);
    for (int i = 0; i < 4; ++i) {
      const R half = R(0.5) * d[m][i];
      r[stride * trilinear_edge(m, i, 0)] -= half;
      r[stride * trilinear_edge(m, i, 1)] += half;
    }
  }
}

/// Place of entry (i, j ≥ i) of an n × n matrix in its upper triangle by rows.
template <int n>
VSR_FN constexpr int upper_index(int i, int j) {
  return i * n - i * (i - 1) / 2 + j - i;
}
/// K = L D Lᵀ in place: Lᵀ above the diagonal, 1/D on it.
template <int n, class R>
VSR_LARGE_FN void factorise(R* k) {
  VSR_UNROLLED
  for (int i = 0; i < n; ++i) {
    const R inverse_pivot = R(1.0) / k[upper_index<n>(i, i)];
    VSR_UNROLLED
    for (int r = i + 1; r < n; ++r) {
      const R f = k[upper_index<n>(i, r)] * inverse_pivot;
      VSR_UNROLLED
      for (int c = r; c < n; ++c) k[upper_index<n>(r, c)] -= f * k[upper_index<n>(i, c)];
    }
    for (int r = i + 1; r < n; ++r) k[upper_index<n>(i, r)] *= inverse_pivot;
    k[upper_index<n>(i, i)] = inverse_pivot;
  }
}
/// Solves with the factors computed by factorise().
template <int n, class R>
VSR_LARGE_FN void solve(const R* k, R* x) {
  for (int i = 0; i < n; ++i)
    for (int r = i + 1; r < n; ++r) x[r] -= k[upper_index<n>(i, r)] * x[i];
  for (int i = n - 1; i >= 0; --i) {
    x[i] *= k[upper_index<n>(i, i)];
    for (int r = i + 1; r < n; ++r) x[i] -= k[upper_index<n>(i, r)] * x[r];
  }
}

/// The components xx yy zz xy yz xz of a symmetric tensor. Returns the place behind them.
template <class R>
VSR_FN R* write_tensor(const Mat3<R>& t, R* out) {
  for (int i = 0; i < 3; ++i) *out++ = t(i, i);
  *out++ = t(0, 1);
  *out++ = t(1, 2);
  *out++ = t(0, 2);
  return out;
}
template <class R>
VSR_FN Mat3<R> read_tensor(const R* v) {
  return {{{v[0], v[3], v[5]}, {v[3], v[1], v[4]}, {v[5], v[4], v[2]}}};
}

}  // namespace voussoir::detail
