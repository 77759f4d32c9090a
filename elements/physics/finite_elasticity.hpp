#pragma once
#include <voussoir/elements/physics/elasticity.hpp>

// Elasticity with large displacements and rotations, total Lagrangian: the law of small strain, applied to the strain
// of Green and Lagrange (St Venant–Kirchhoff),
//
//   F = 1 + ∇u,   E = ½ (FᵀF − 1),   S = C : E,   flux = F S
//
// with the second Piola–Kirchhoff stress S and derivatives with respect to the undeformed body. Thermal expansion
// stretches the body by 1 + θ, θ = α (T − T₀), before it deforms elastically: F = F_e (1 + θ), and the law is that of
// F_e on the heated body,
//
//   S = C : (E − (θ + ½ θ²) 1) / (1 + θ)
//
// Reports have E and the Cauchy stress σ = F S Fᵀ / det F. Strains should stay moderate: under compression to less than
// 1/√3 of its length along an axis, a body of this law softens.

namespace voussoir {

namespace detail {

/// The St Venant–Kirchhoff law whose stiffness is that of a law of small strain in three dimensions.
template <class Small>
struct FiniteElasticity {
  static constexpr int components = 3, gradient_rows = 3, constants = Small::constants;
  static constexpr auto& parameters = Small::parameters;
  static constexpr bool linear = false, reads_temperature = false;

  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return Small::density(p);
  }
  template <class R>
  VSR_FN static R valid(const R* p) {
    return Small::valid(p);
  }
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    Small::prepare(p, c);
  }

  /// F = 1 + ∇u.
  template <class R>
  VSR_FN static Mat3<R> deformation(const Mat3<R>& grad) {
    Mat3<R> f = grad;
    for (int i = 0; i < 3; ++i) f(i, i) += R(1.0);
    return f;
  }
  /// E = ½ (∇u + ∇uᵀ + ∇uᵀ ∇u), without the cancellation of FᵀF − 1.
  template <class R>
  VSR_FN static Mat3<R> green(const Mat3<R>& grad) {
    Mat3<R> e;
    for (int i = 0; i < 3; ++i)
      for (int k = i; k < 3; ++k) {
        R sum = grad(i, k) + grad(k, i);
        for (int j = 0; j < 3; ++j) sum += grad(j, i) * grad(j, k);
        e(i, k) = e(k, i) = R(0.5) * sum;
      }
    return e;
  }
  /// 1 + θ.
  template <class R>
  VSR_FN static R thermal_stretch(const Point<R>& p) {
    return R(1.0) + p[Small::expansion] * p.temperature_change;
  }
  /// E − (θ + ½ θ²) 1.
  template <class R>
  VSR_FN static Mat3<R> elastic_strain(const Point<R>& p, const Mat3<R>& grad) {
    const R theta = p[Small::expansion] * p.temperature_change;
    Mat3<R> e = green(grad);
    for (int i = 0; i < 3; ++i) e(i, i) -= theta + R(0.5) * theta * theta;
    return e;
  }
  /// The second Piola–Kirchhoff stress S.
  template <class R>
  VSR_FN static Mat3<R> stress(const Point<R>& p, const Mat3<R>& grad) {
    const Mat3<R> e = elastic_strain(p, grad);
    return (R(1.0) / thermal_stretch(p)) * Small::dflux(p, e, e);
  }
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return deformation(grad) * stress(p, grad);
  }
  template <class R>
  VSR_FN static Mat3<R> dflux(const Point<R>& p, const Mat3<R>& grad, const Mat3<R>& dgrad) {
    const Mat3<R> f = deformation(grad);
    const Mat3<R> turned = transpose(f) * dgrad;  // its symmetric part is dE
    const Mat3<R> change = R(0.5) * (turned + transpose(turned));
    return dgrad * stress(p, grad) + (R(1.0) / thermal_stretch(p)) * (f * Small::dflux(p, change, change));
  }
  /// ½ S : (E − (θ + ½ θ²) 1).
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    const Mat3<R> s = stress(p, grad), e = elastic_strain(p, grad);
    R sum = R(0.0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) sum += s(i, k) * e(i, k);
    return R(0.5) * sum;
  }
  /// σ = F S Fᵀ / det F.
  template <class R>
  VSR_FN static Mat3<R> cauchy(const Point<R>& p, const Mat3<R>& grad) {
    const Mat3<R> f = deformation(grad);
    return (R(1.0) / determinant(f)) * (f * stress(p, grad) * transpose(f));
  }
};

}  // namespace detail

/// An isotropic elastic body with large displacements and rotations.
struct FiniteSolid : detail::FiniteElasticity<Solid> {
  static constexpr const char* name = "finite_solid";            ///< first part of element type names
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};  ///< unknowns of a node
};

}  // namespace voussoir
