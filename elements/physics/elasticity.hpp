#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Small-strain linear elasticity, isotropic:
//
//   σ = λ tr(ε − ε_th) 1 + 2μ (ε − ε_th),   ε = ½ (∇u + ∇uᵀ),   ε_th = α (T − T₀) 1
//   λ = E ν / ((1 + ν)(1 − 2ν)),   μ = E / (2 (1 + ν))
//
// Solids, plane strain and axisymmetric bodies share this law. Plane stress requires σ_zz = 0, which replaces λ by
// 2λμ/(λ + 2μ).

namespace voussoir {

namespace detail {

/// The parameters of every isotropic elastic body, and the constants derived from them.
struct IsotropicElasticity {
  static constexpr const char* parameters[] = {"young", "poisson", "density", "expansion"};
  enum : int { young, poisson, mass_density, expansion };  // their places
  static constexpr int gradient_rows = 3, constants = 3;
  static constexpr bool symmetric_gradient = true, linear = true, reads_temperature = false;

  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[mass_density];
  }

  /// Young's modulus positive, Poisson's ratio between −1 and ½, density not negative.
  template <class R>
  VSR_FN static R valid(const R* p) {
    const R elastic = min(p[young], min(p[poisson] + R(1.0), R(0.5) - p[poisson]));
    return select_less(p[mass_density], R(0.0), R(-1.0), elastic);
  }

  /// λ, μ, and the stress 3Kα per degree of a fully restrained body, in this order.
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    c[1] = R(0.5) * p[young] / (R(1.0) + p[poisson]);
    c[0] = R(2.0) * c[1] * p[poisson] / (R(1.0) - R(2.0) * p[poisson]);
    c[2] = (R(3.0) * c[0] + R(2.0) * c[1]) * p[expansion];
  }

  template <class R>
  VSR_FN static Mat3<R> hooke(R lambda, R mu, const Mat3<R>& g, R pressure) {
    const R volumetric = lambda * trace(g) - pressure;
    const R twice = mu + mu;
    Mat3<R> s;
    for (int i = 0; i < 3; ++i) {
      s(i, i) = volumetric + twice * g(i, i);
      for (int j = i + 1; j < 3; ++j) s(i, j) = s(j, i) = mu * (g(i, j) + g(j, i));
    }
    return s;
  }

  /// Half of stress times elastic strain.
  template <class R>
  VSR_FN static R half_product(const Mat3<R>& stress, const Mat3<R>& grad, R thermal) {
    R sum = R(0.0);
    for (int i = 0; i < 3; ++i) {
      sum += stress(i, i) * (grad(i, i) - thermal);
      for (int j = i + 1; j < 3; ++j) sum += stress(i, j) * (grad(i, j) + grad(j, i));
    }
    return R(0.5) * sum;
  }

  /// λ ∇N_a ⊗ ∇N_b + μ (∇N_b ⊗ ∇N_a + ∇N_a · ∇N_b 1) for n components.
  template <int n, class R>
  VSR_FN static Mat<R, n, n> isotropic_block(R lambda, R mu, const Mat3<R>& outer) {
    R sum = outer(0, 0);
    for (int i = 1; i < n; ++i) sum += outer(i, i);
    const R diagonal = mu * sum;
    Mat<R, n, n> k;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        k(i, j) = lambda * outer(i, j) + mu * outer(j, i);
        if (i == j) k(i, j) += diagonal;
      }
    return k;
  }
};

/// The law of a body in which all three normal strains are known: solid, plane strain, axisymmetric.
template <int n>
struct FullIsotropicElasticity : IsotropicElasticity {
  static constexpr int components = n;

  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return hooke(p.constants[0], p.constants[1], grad, p.constants[2] * p.temperature_change);
  }
  template <class R>
  VSR_FN static Mat3<R> dflux(const Point<R>& p, const Mat3<R>&, const Mat3<R>& dgrad) {
    return hooke(p.constants[0], p.constants[1], dgrad, R(0.0));
  }
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    return half_product(flux(p, grad), grad, p[expansion] * p.temperature_change);
  }
  template <class R>
  VSR_FN static Mat<R, n, n> pair_block(const Point<R>& p, const Mat3<R>& outer) {
    return isotropic_block<n>(p.constants[0], p.constants[1], outer);
  }
};

}  // namespace detail

/// A three-dimensional isotropic elastic body.
struct Solid : detail::FullIsotropicElasticity<3> {
  static constexpr const char* name = "solid";                   ///< first part of element type names
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};  ///< unknowns of a node
};

/// Plane strain, isotropic: no strain normal to the plane.
struct PlaneStrain : detail::FullIsotropicElasticity<2> {
  static constexpr const char* name = "plane_strain";      ///< first part of element type names
  static constexpr const char* unknowns[] = {"ux", "uy"};  ///< unknowns of a node
  static constexpr Geometry geometry = Geometry::plane;    ///< volume is area times thickness
};

/// An isotropic body of revolution about the y axis: x is the radius, and forces are those of the full circle.
struct Axisymmetric : detail::FullIsotropicElasticity<2> {
  static constexpr const char* name = "axisymmetric";           ///< first part of element type names
  static constexpr const char* unknowns[] = {"ux", "uy"};       ///< unknowns of a node
  static constexpr Geometry geometry = Geometry::axisymmetric;  ///< the plane (x, y) revolved about y
};

/// Plane stress, isotropic: no stress normal to the plane.
struct PlaneStress : detail::IsotropicElasticity {
  static constexpr const char* name = "plane_stress";      ///< first part of element type names
  static constexpr int components = 2,                     ///< unknowns per node
      constants = 4;                                       ///< values that prepare() writes
  static constexpr const char* unknowns[] = {"ux", "uy"};  ///< unknowns of a node
  static constexpr Geometry geometry = Geometry::plane;    ///< volume is area times thickness

  /// Writes λ for plane stress, μ, the stress per degree, and the out-of-plane strain per unit of in-plane strain.
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    c[1] = R(0.5) * p[young] / (R(1.0) + p[poisson]);
    c[0] = R(2.0) * c[1] * p[poisson] / (R(1.0) - p[poisson]);
    c[2] = R(2.0) * (c[0] + c[1]) * p[expansion];
    c[3] = -p[poisson] / (R(1.0) - p[poisson]);
  }

  /// Stress from the displacement gradient and the temperature change.
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return in_plane(p.constants[0], p.constants[1], grad, p.constants[2] * p.temperature_change);
  }
  /// Change of the stress when the gradient changes by `dgrad`.
  template <class R>
  VSR_FN static Mat3<R> dflux(const Point<R>& p, const Mat3<R>&, const Mat3<R>& dgrad) {
    return in_plane(p.constants[0], p.constants[1], dgrad, R(0.0));
  }
  /// The strain with its out-of-plane component ε_zz = ε_th − ν/(1 − ν) (ε_xx + ε_yy − 2 ε_th).
  template <class R>
  VSR_FN static Mat3<R> strain(const Point<R>& p, const Mat3<R>& grad) {
    const R thermal = p[expansion] * p.temperature_change;
    Mat3<R> e = zero_matrix<R, 3, 3>();
    e(0, 0) = grad(0, 0);
    e(1, 1) = grad(1, 1);
    e(0, 1) = e(1, 0) = R(0.5) * (grad(0, 1) + grad(1, 0));
    e(2, 2) = thermal + p.constants[3] * (grad(0, 0) + grad(1, 1) - R(2.0) * thermal);
    return e;
  }
  /// Elastic strain energy per volume, ½ σ : (ε − ε_th).
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    return half_product(flux(p, grad), grad, p[expansion] * p.temperature_change);
  }
  /// Tangent of a pair of nodes from outer = ∇N_a ⊗ ∇N_b.
  template <class R>
  VSR_FN static Mat<R, 2, 2> pair_block(const Point<R>& p, const Mat3<R>& outer) {
    return isotropic_block<2>(p.constants[0], p.constants[1], outer);
  }

 private:
  template <class R>
  VSR_FN static Mat3<R> in_plane(R lambda, R mu, const Mat3<R>& g, R pressure) {
    const R volumetric = lambda * (g(0, 0) + g(1, 1)) - pressure;
    Mat3<R> s = zero_matrix<R, 3, 3>();
    s(0, 0) = volumetric + R(2.0) * mu * g(0, 0);
    s(1, 1) = volumetric + R(2.0) * mu * g(1, 1);
    s(0, 1) = s(1, 0) = mu * (g(0, 1) + g(1, 0));
    return s;
  }
};

}  // namespace voussoir
