#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Small-strain linear elasticity, orthotropic. In the material's own axes 1, 2, 3
//
//   ε_11 = σ_11/E1 − ν12 σ_22/E1 − ν13 σ_33/E1 + α1 (T − T₀),  …,   2 ε_12 = σ_12/G12,  …
//
// so ν12 is the contraction along 2 under tension along 1, and ν21 = ν12 E2/E1. The axes are the last nine parameters:
// unit vectors 1, 2, 3, each with its components x, y, z. In plane elements axis 3 is z; in an axisymmetric body an
// axis is the hoop direction, z. (Component 33 is then the one normal to the plane.)

namespace voussoir {

namespace detail {

struct OrthotropicElasticity {
  static constexpr const char* parameters[] = {"E1",         "E2",     "E3",     "nu12",    "nu13",       "nu23",
                                               "G12",        "G13",    "G23",    "density", "expansion1", "expansion2",
                                               "expansion3", "axis11", "axis12", "axis13",  "axis21",     "axis22",
                                               "axis23",     "axis31", "axis32", "axis33"};
  /// Stiffness in global axes, upper triangle by rows over (xx, yy, zz, xy, yz, xz); thermal strain per degree,
  /// likewise, as a tensor.
  static constexpr int gradient_rows = 3, stiffness_entries = 21, constants = stiffness_entries + 6;
  static constexpr bool symmetric_gradient = true, linear = true, reads_temperature = false;

  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[9];
  }

  /// Moduli positive, the stiffness positive definite, density not negative, axes of unit length and at right angles.
  template <class R>
  VSR_LARGE_FN static R valid(const R* p) {
    R least = R(1.0);
    for (int i = 0; i < 3; ++i) least = min(least, min(p[i], p[6 + i]));
    const R s12 = p[3] * p[3] * p[1] / p[0], s13 = p[4] * p[4] * p[2] / p[0], s23 = p[5] * p[5] * p[2] / p[1];
    least = min(least, min(R(1.0) - s12, min(R(1.0) - s13, R(1.0) - s23)));
    least = min(least, R(1.0) - s12 - s13 - s23 - R(2.0) * p[3] * p[4] * p[5] * p[2] / p[0]);
    least = select_less(p[9], R(0.0), R(-1.0), least);
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) {
        R product = R(i == j ? -1.0 : 0.0);
        for (int k = 0; k < 3; ++k) product += p[13 + 3 * i + k] * p[13 + 3 * j + k];
        least = min(least, R(1e-6) - abs(product));
      }
    return least;
  }

  template <class R>
  VSR_LARGE_FN static void prepare(const R* p, R* c) {
    // Stiffness in the material's axes: the inverse of the 3 × 3 compliance, and three shear moduli.
    Mat3<R> compliance;
    for (int i = 0; i < 3; ++i) compliance(i, i) = R(1.0) / p[i];
    compliance(0, 1) = compliance(1, 0) = -p[3] / p[0];
    compliance(0, 2) = compliance(2, 0) = -p[4] / p[0];
    compliance(1, 2) = compliance(2, 1) = -p[5] / p[1];
    const Mat3<R> normal = inverse(compliance, determinant(compliance));
    const R shear[3] = {p[6], p[8], p[7]};  // of the pairs 12, 23, 13
    const R* axis = p + 13;
    // q[m] maps a global strain (xx, yy, zz and the sums xy + yx, …) to the local component m, again shears as sums.
    R q[6][6];
    for (int m = 0; m < 6; ++m)
      for (int n = 0; n < 6; ++n) {
        const R* a = axis + 3 * first(m);
        const R* b = axis + 3 * second(m);
        const int k = first(n), l = second(n);
        q[m][n] = m < 3 ? a[k] * b[l] : a[k] * b[l] + a[l] * b[k];
      }
    int at = 0;
    for (int i = 0; i < 6; ++i)
      for (int j = i; j < 6; ++j, ++at) {
        R sum = R(0.0);
        for (int m = 0; m < 3; ++m) {
          for (int n = 0; n < 3; ++n) sum += q[m][i] * normal(m, n) * q[n][j];
          sum += q[3 + m][i] * shear[m] * q[3 + m][j];
        }
        c[at] = sum;
      }
    for (int n = 0; n < 6; ++n) {
      R sum = R(0.0);
      for (int m = 0; m < 3; ++m) sum += p[10 + m] * axis[3 * m + first(n)] * axis[3 * m + second(n)];
      c[stiffness_entries + n] = sum;
    }
  }

  /// Row and column of component m of (xx, yy, zz, xy, yz, xz).
  VSR_FN static constexpr int first(int m) { return m < 3 ? m : m == 4 ? 1 : 0; }
  VSR_FN static constexpr int second(int m) { return m < 3 ? m : m == 3 ? 1 : 2; }
  /// Component of the pair (i, j).
  VSR_FN static constexpr int component(int i, int j) { return i == j ? i : i + j == 1 ? 3 : i + j == 3 ? 4 : 5; }
  /// Place of entry (i, j) in the stiffness.
  VSR_FN static constexpr int entry(int i, int j) {
    const int r = i < j ? i : j, s = i < j ? j : i;
    return r * 6 - r * (r - 1) / 2 + s - r;
  }

  template <class R>
  VSR_FN static Mat3<R> stress(const R* c, const Mat3<R>& grad, R degrees) {
    R e[6];
    for (int m = 0; m < 3; ++m) {
      e[m] = grad(m, m) - degrees * c[stiffness_entries + m];
      const int i = first(3 + m), j = second(3 + m);
      e[3 + m] = grad(i, j) + grad(j, i) - R(2.0) * degrees * c[stiffness_entries + 3 + m];
    }
    Mat3<R> s;
    for (int m = 0; m < 6; ++m) {
      R sum = c[entry(m, 0)] * e[0];
      for (int n = 1; n < 6; ++n) sum += c[entry(m, n)] * e[n];
      s(first(m), second(m)) = s(second(m), first(m)) = sum;
    }
    return s;
  }

  template <class R>
  VSR_FN static R half_product(const R* c, const Mat3<R>& stress, const Mat3<R>& grad, R degrees) {
    R sum = R(0.0);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) sum += stress(i, j) * (grad(i, j) - degrees * c[stiffness_entries + component(i, j)]);
    return R(0.5) * sum;
  }

  /// Σ_kl C_ikjl outer_kl for n components.
  template <int n, class R>
  VSR_FN static Mat<R, n, n> block(const R* c, const Mat3<R>& outer) {
    Mat<R, n, n> result;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        R sum = R(0.0);
        for (int k = 0; k < n; ++k)
          for (int l = 0; l < n; ++l) sum += c[entry(component(i, k), component(j, l))] * outer(k, l);
        result(i, j) = sum;
      }
    return result;
  }
};

template <int n>
struct FullOrthotropicElasticity : OrthotropicElasticity {
  static constexpr int components = n;

  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return stress(p.constants, grad, p.temperature_change);
  }
  template <class R>
  VSR_FN static Mat3<R> dflux(const Point<R>& p, const Mat3<R>&, const Mat3<R>& dgrad) {
    return stress(p.constants, dgrad, R(0.0));
  }
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    return half_product(p.constants, flux(p, grad), grad, p.temperature_change);
  }
  template <class R>
  VSR_FN static Mat<R, n, n> pair_block(const Point<R>& p, const Mat3<R>& outer) {
    return block<n>(p.constants, outer);
  }
};

}  // namespace detail

/// An orthotropic elastic solid.
struct OrthotropicSolid : detail::FullOrthotropicElasticity<3> {
  static constexpr const char* name = "orthotropic_solid";       ///< first part of element type names
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};  ///< unknowns of a node
};

/// An orthotropic body in plane strain.
struct OrthotropicPlaneStrain : detail::FullOrthotropicElasticity<2> {
  static constexpr const char* name = "orthotropic_plane_strain";  ///< first part of element type names
  static constexpr const char* unknowns[] = {"ux", "uy"};          ///< unknowns of a node
  static constexpr Geometry geometry = Geometry::plane;            ///< volume is area times thickness
};

/// An orthotropic body of revolution.
struct OrthotropicAxisymmetric : detail::FullOrthotropicElasticity<2> {
  static constexpr const char* name = "orthotropic_axisymmetric";  ///< first part of element type names
  static constexpr const char* unknowns[] = {"ux", "uy"};          ///< unknowns of a node
  static constexpr Geometry geometry = Geometry::axisymmetric;     ///< the plane (x, y) revolved about y
};

/// An orthotropic plate in plane stress.
struct OrthotropicPlaneStress : detail::OrthotropicElasticity {
  static constexpr const char* name = "orthotropic_plane_stress";  ///< first part of element type names
  static constexpr int components = 2;                             ///< unknowns per node
  /// Number of values that prepare() writes: the stiffness condensed by σ_zz = 0 and the thermal strains, as for the
  /// other bodies, then ε_zz per unit of each strain.
  static constexpr int constants = OrthotropicElasticity::constants + 6;
  static constexpr const char* unknowns[] = {"ux", "uy"};  ///< unknowns of a node
  static constexpr Geometry geometry = Geometry::plane;    ///< volume is area times thickness

  /// Writes the constants: the stiffness in global axes, condensed by σ_zz = 0, thermal strains and out-of-plane
  /// strains.
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    OrthotropicElasticity::prepare(p, c);
    R* across = c + OrthotropicElasticity::constants;
    const R f = R(1.0) / c[entry(2, 2)];
    for (int m = 0; m < 6; ++m) across[m] = m == 2 ? R(0.0) : -f * c[entry(2, m)];
    for (int m = 0; m < 6; ++m)
      for (int n = m; n < 6; ++n)
        if (m != 2 && n != 2) c[entry(m, n)] += across[m] * c[entry(2, n)];
    for (int m = 0; m < 6; ++m) c[entry(2, m)] = R(0.0);
  }

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
  /// The strain with its out-of-plane component ε_zz.
  template <class R>
  VSR_FN static Mat3<R> strain(const Point<R>& p, const Mat3<R>& grad) {
    const R* thermal = p.constants + stiffness_entries;
    const R* across = p.constants + OrthotropicElasticity::constants;
    const R t = p.temperature_change, shear = grad(0, 1) + grad(1, 0);
    Mat3<R> e = zero_matrix<R, 3, 3>();
    e(0, 0) = grad(0, 0);
    e(1, 1) = grad(1, 1);
    e(0, 1) = e(1, 0) = R(0.5) * shear;
    e(2, 2) = t * thermal[2] + across[0] * (grad(0, 0) - t * thermal[0]) + across[1] * (grad(1, 1) - t * thermal[1]) +
              across[3] * (shear - R(2.0) * t * thermal[3]);
    return e;
  }
  /// Elastic strain energy per volume, ½ σ : (ε − ε_th).
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    return half_product(p.constants, flux(p, grad), grad, p.temperature_change);
  }
  /// Tangent of a pair of nodes from outer = ∇N_a ⊗ ∇N_b.
  template <class R>
  VSR_FN static Mat<R, 2, 2> pair_block(const Point<R>& p, const Mat3<R>& outer) {
    return block<2>(p.constants, outer);
  }
};

}  // namespace voussoir
