#pragma once
#include <voussoir/elements/kernel/small_algebra.hpp>
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>

// Small-strain linear elasticity without material symmetry: 21 independent elastic constants. In the material axes
//
//   σ_ij = D_ijkl (ε_kl − α_k δ_kl (T − T₀)),   with 2 ε_12, 2 ε_13, 2 ε_23 as shear strains
//
// The constants are in the order of Abaqus and CalculiX: the upper triangle, column by column, over (11, 22, 33, 12,
// 13, 23). The axes are the last nine parameters, as for orthotropic bodies.

namespace voussoir {

namespace detail {

struct AnisotropicElasticity : OrthotropicElasticity {
  static constexpr const char* parameters[] = {
      "D1111",  "D1122",  "D2222",  "D1133",   "D2233",      "D3333",      "D1112",      "D2212",  "D3312",
      "D1212",  "D1113",  "D2213",  "D3313",   "D1213",      "D1313",      "D1123",      "D2223",  "D3323",
      "D1223",  "D1323",  "D2323",  "density", "expansion1", "expansion2", "expansion3", "axis11", "axis12",
      "axis13", "axis21", "axis22", "axis23",  "axis31",     "axis32",     "axis33"};
  static constexpr int density_at = 21, expansion_at = 22, axes_at = 25;

  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[density_at];
  }

  /// The position of component m of (11, 22, 33, 12, 23, 13), the order used here, in the order of the parameters.
  VSR_FN static constexpr int place(int m) { return m < 4 ? m : 9 - m; }
  /// The parameter that couples two components in the order used here.
  VSR_FN static constexpr int parameter(int m, int n) {
    const int a = place(m), b = place(n), i = a < b ? a : b, j = a < b ? b : a;
    return j * (j + 1) / 2 + i;
  }

  /// The stiffness positive definite, density not negative, axes of unit length and at right angles.
  template <class R>
  VSR_LARGE_FN static R valid(const R* p) {
    R stiffness[21];
    for (int m = 0; m < 6; ++m)
      for (int n = m; n < 6; ++n) stiffness[upper_index<6>(m, n)] = p[parameter(m, n)];
    factorise<6>(stiffness);
    R least = R(1.0);
    for (int m = 0; m < 6; ++m)
      least = select_less(R(0.0), stiffness[upper_index<6>(m, m)], least, R(-1.0));  // the inverse of a pivot
    least = select_less(p[density_at], R(0.0), R(-1.0), least);
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) {
        R product = R(i == j ? -1.0 : 0.0);
        for (int k = 0; k < 3; ++k) product += p[axes_at + 3 * i + k] * p[axes_at + 3 * j + k];
        least = min(least, R(1e-6) - abs(product));
      }
    return least;
  }

  template <class R>
  VSR_LARGE_FN static void prepare(const R* p, R* c) {
    const R* axis = p + axes_at;
    // As for orthotropic bodies: q[m] maps a global strain to the local component m, shears as sums.
    R q[6][6];
    for (int m = 0; m < 6; ++m)
      for (int n = 0; n < 6; ++n) {
        const R* a = axis + 3 * first(m);
        const R* b = axis + 3 * second(m);
        const int k = first(n), l = second(n);
        q[m][n] = m < 3 ? a[k] * b[l] : a[k] * b[l] + a[l] * b[k];
      }
    for (int i = 0; i < stiffness_entries; ++i) c[i] = R(0.0);
    for (int n = 0; n < 6; ++n) {
      R column[6];  // D q for the strain n
      for (int m = 0; m < 6; ++m) {
        R sum = R(0.0);
        for (int k = 0; k < 6; ++k) sum += p[parameter(m, k)] * q[k][n];
        column[m] = sum;
      }
      for (int i = 0; i <= n; ++i)
        for (int m = 0; m < 6; ++m) c[entry(i, n)] += q[m][i] * column[m];
    }
    for (int n = 0; n < 6; ++n) {
      R sum = R(0.0);
      for (int m = 0; m < 3; ++m) sum += p[expansion_at + m] * axis[3 * m + first(n)] * axis[3 * m + second(n)];
      c[stiffness_entries + n] = sum;
    }
  }
};

}  // namespace detail

/// An anisotropic elastic solid with 21 independent constants in its material axes.
struct AnisotropicSolid : detail::AnisotropicElasticity {
  static constexpr const char* name = "anisotropic_solid";       ///< first part of element type names
  static constexpr int components = 3;                           ///< unknowns per node
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};  ///< unknowns of a node

  /// Stress from the displacement gradient and the temperature change.
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return stress(p.constants, grad, p.temperature_change);
  }
  /// Change of the stress when the gradient changes by `dgrad`.
  template <class R>
  VSR_FN static Mat3<R> dflux(const Point<R>& p, const Mat3<R>&, const Mat3<R>& dgrad) {
    return stress(p.constants, dgrad, R(0.0));
  }
  /// Elastic strain energy per volume, ½ σ : (ε − ε_th).
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    return half_product(p.constants, flux(p, grad), grad, p.temperature_change);
  }
  /// Tangent of a pair of nodes from outer = ∇N_a ⊗ ∇N_b.
  template <class R>
  VSR_FN static Mat<R, 3, 3> pair_block(const Point<R>& p, const Mat3<R>& outer) {
    return block<3>(p.constants, outer);
  }
};

}  // namespace voussoir
