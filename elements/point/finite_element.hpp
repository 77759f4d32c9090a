#pragma once
#include <voussoir/elements/physics/finite_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir {

namespace detail {

/// Temperatures are interpolated to the order of the strains, as in the element of small strain: a body that expands
/// freely has no spurious stresses.
template <class Shape, class Formulation, class R>
struct PointMaterial<FiniteSolid, Shape, Formulation, R> : PointMaterial<Solid, Shape, Formulation, R> {};

}  // namespace detail

/// The element of a law of finite_elasticity.hpp: a PointElement that reports the strain of Green and Lagrange and the
/// Cauchy stress, and that is inverted where the deformed body is: det F is not positive at a point.
template <class Law_, class Shape, class Formulation>
struct FiniteElement : PointElement<Law_, Shape, Formulation> {
  using Base = PointElement<Law_, Shape, Formulation>;  ///< integrates the law
  static constexpr int points = Base::points,           ///< integration points
      recovered_count = 17;                             ///< results per point
  /// Names of the results at a point: as those of small strain. Positions and volumes are those of the undeformed body,
  /// the energy is per undeformed volume.
  static constexpr const char* recovered[recovered_count] = {"x",   "y",   "z",   "volume", "exx",   "eyy",
                                                             "ezz", "exy", "eyz", "exz",    "sxx",   "syy",
                                                             "szz", "sxy", "syz", "sxz",    "energy"};
  /// The data of an element.
  template <class R>
  using Input = typename Base::template Input<R>;

  /// Internal forces. Returns the smallest Jacobian determinant of the undeformed and of the deformed element.
  template <class R>
  VSR_LARGE_FN static R residual(const Input<R>& e, R* r) {
    R health = Base::residual(e, r);
    over_points(e, [&](const auto&, const Point<R>&, const Mat3<R>& grad) {
      health = min(health, determinant(Law_::deformation(grad)));
    });
    return health;
  }

  /// Strains, stresses and energy at the integration points.
  template <class R>
  VSR_LARGE_FN static R recover(const Input<R>& e, R* out) {
    R least = R(1e300);
    const R health = over_points(e, [&](const auto& basis, const Point<R>& p, const Mat3<R>& grad) {
      least = min(least, determinant(Law_::deformation(grad)));
      for (int k = 0; k < 3; ++k) *out++ = p.x[k];
      *out++ = basis.volume;
      out = detail::write_tensor(Law_::green(grad), out);
      out = detail::write_tensor(Law_::cauchy(p, grad), out);
      *out++ = Law_::energy(p, grad);
    });
    return min(health, least);
  }

 private:
  template <class R, class Visit>
  VSR_FN static R over_points(const Input<R>& e, const Visit& visit) {
    using Functions = detail::PointFunctions<Law_, Shape, Formulation>;
    using Points = detail::IntegrationPoints<Law_, Shape, Formulation>;
    typename Functions::template Basis<R> basis[points];
    const R health = Functions::make_basis(e, basis);
    detail::PointMaterial<Law_, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    for (int q = 0; q < points; ++q) {
      material.move(e, Points::value_at(q), p);
      visit(basis[q], p, Functions::gradient_of(basis[q], e.u));
    }
    return health;
  }
};

}  // namespace voussoir
