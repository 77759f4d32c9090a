#pragma once
#include <voussoir/elements/kernel/fn.hpp>

// A trilinear field over a Hex8 by its coefficients, for processors with many threads and few registers: seven numbers
// of a field give all its derivatives at the 2 × 2 × 2 Gauss points by additions. With signs ξ, η, ζ = ±1 of a point,
//
//   8 ∂v/∂ξ = c_ξ + η c_ξη + ζ c_ξζ + ηζ c_ξηζ,   and so on,
//
// where the distance 1/√3 of the points is in the coefficients of products.

namespace voussoir::detail {

template <class R>
struct TrilinearCoefficients {
  R x, y, z, xy, yz, zx, xyz;

  /// From (or, transposed, for) the values at the corners i + 2j + 4k; corner(n) is the value at node n.
  template <class Corner>
  VSR_FN static TrilinearCoefficients of(const Corner& corner) {
    constexpr double g = 0.57735026918962576451, gg = 1.0 / 3.0;
    TrilinearCoefficients c = signed_sums(corner);
    c.xy = R(g) * c.xy;
    c.yz = R(g) * c.yz;
    c.zx = R(g) * c.zx;
    c.xyz = R(gg) * c.xyz;
    return c;
  }
  /// Sums of the values at the corners with the signs of ξ, η, ζ, ξη, ηζ, ζξ and ξηζ there: coefficients of a field
  /// whose points are at the corners.
  template <class Corner>
  VSR_FN static TrilinearCoefficients signed_sums(const Corner& corner) {
    constexpr int node[8] = {0, 1, 3, 2, 4, 5, 7, 6};
    R sum[4], change[4];
    for (int jk = 0; jk < 4; ++jk) {
      const R low = corner(node[2 * jk]), high = corner(node[2 * jk + 1]);
      sum[jk] = high + low;
      change[jk] = high - low;
    }
    const R s0 = sum[1] + sum[0], s1 = sum[3] + sum[2], d0 = sum[1] - sum[0], d1 = sum[3] - sum[2];
    const R t0 = change[1] + change[0], t1 = change[3] + change[2], e0 = change[1] - change[0],
            e1 = change[3] - change[2];
    return {t1 + t0, d1 + d0, s1 - s0, e1 + e0, d1 - d0, t1 - t0, e1 - e0};
  }

  /// The numbers one by one, to and from places at(n).
  static constexpr int count = 7;
  template <class Place>
  VSR_FN void store(const Place& at) const {
    at(0) = x;
    at(1) = y;
    at(2) = z;
    at(3) = xy;
    at(4) = yz;
    at(5) = zx;
    at(6) = xyz;
  }
  template <class Place>
  VSR_FN void load(const Place& at) {
    x = at(0);
    y = at(1);
    z = at(2);
    xy = at(3);
    yz = at(4);
    zx = at(5);
    xyz = at(6);
  }

  VSR_FN R along_x(R j, R k) const { return (x + j * xy) + k * (zx + j * xyz); }
  VSR_FN R along_y(R i, R k) const { return (y + k * yz) + i * (xy + k * xyz); }
  VSR_FN R along_z(R i, R j) const { return (z + j * yz) + i * (zx + j * xyz); }

  VSR_FN void clear() { x = y = z = xy = yz = zx = xyz = R(0.0); }

  /// Adds the work of the fluxes at the two points ξ = −1 and ξ = 1 of a line with signs j, k on the coefficients, but
  /// for the distances of the points.
  VSR_FN void add_line(const R (&low)[3], const R (&high)[3], R j, R k) {
    const R fx = high[0] + low[0], fy = high[1] + low[1], fz = high[2] + low[2];
    const R gy = high[1] - low[1], gz = high[2] - low[2];
    x += fx;
    y += fy;
    z += fz;
    xy = (xy + gy) + j * fx;
    yz = (yz + k * fy) + j * fz;
    zx = (zx + gz) + k * fx;
    xyz = (xyz + k * (j * fx + gy)) + j * gz;
  }

  /// The corner forces equivalent to the sums of add_line(): put(n, force) at node n. `scale` is of
  /// all.
  template <class Put>
  VSR_FN void forces(double scale, const Put& put) const {
    constexpr double g = 0.57735026918962576451, gg = 1.0 / 3.0;
    const TrilinearCoefficients at_corners = {R(scale) * x,       R(scale) * y,      R(scale) * z,
                                              R(scale * g) * xy,  R(scale * g) * yz, R(scale * g) * zx,
                                              R(scale * gg) * xyz};
    at_corners.put_signed_sums(put);
  }
  /// The transpose of signed_sums(): put(n, value) at node n. All seven coefficients enter every value.
  template <class Put>
  VSR_FN void put_signed_sums(const Put& put) const {
    constexpr int node[8] = {0, 1, 3, 2, 4, 5, 7, 6};
    for (int jk = 0; jk < 4; ++jk) {
      const bool j = (jk & 1) != 0, k = (jk & 2) != 0;
      const R even_j = j ? y : -y, odd_j = j ? x + xy : x - xy;
      const R even_k = j ? z + yz : z - yz, odd_k = j ? zx + xyz : zx - xyz;
      const R even = k ? even_j + even_k : even_j - even_k;
      const R odd = k ? odd_j + odd_k : odd_j - odd_k;
      put(node[2 * jk], even - odd);
      put(node[2 * jk + 1], even + odd);
    }
  }
};

/// Cofactors of eight times the Jacobian of a field of positions x, cofactor[k][m] that of ∂x_k/∂ξ_m, at the point with
/// signs i, j, k. Returns its determinant.
template <class R>
VSR_FN R trilinear_cofactors(const TrilinearCoefficients<R> (&x)[3], R i, R j, R k, R (&cofactor)[3][3]) {
  const R a0 = x[0].along_x(j, k), a1 = x[1].along_x(j, k), a2 = x[2].along_x(j, k);
  const R b0 = x[0].along_y(i, k), b1 = x[1].along_y(i, k), b2 = x[2].along_y(i, k);
  const R c0 = x[0].along_z(i, j), c1 = x[1].along_z(i, j), c2 = x[2].along_z(i, j);
  cofactor[0][0] = b1 * c2 - b2 * c1;
  cofactor[0][1] = c1 * a2 - c2 * a1;
  cofactor[0][2] = a1 * b2 - a2 * b1;
  cofactor[1][0] = b2 * c0 - b0 * c2;
  cofactor[1][1] = c2 * a0 - c0 * a2;
  cofactor[1][2] = a2 * b0 - a0 * b2;
  cofactor[2][0] = b0 * c1 - b1 * c0;
  cofactor[2][1] = c0 * a1 - c1 * a0;
  cofactor[2][2] = a0 * b1 - a1 * b0;
  return a0 * cofactor[0][0] + a1 * cofactor[1][0] + a2 * cofactor[2][0];
}

/// 1 / x where x is an ordinary number: on a device without the branch for all others.
VSR_FN double reciprocal(double x) {
#if defined(__CUDA_ARCH__)
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  r = fma(r, fma(-x, r, 1.0), r);
  return fma(r, fma(-x, r, 1.0), r);
#else
  return 1.0 / x;
#endif
}

template <class R>
VSR_FN R reciprocal(const R& x) {
  return R(1.0) / x;
}

}  // namespace voussoir::detail
