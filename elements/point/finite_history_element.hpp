#pragma once
#include <voussoir/elements/physics/plastic_finite_solid.hpp>
#include <voussoir/elements/point/finite_element.hpp>
#include <voussoir/elements/point/one_point_element.hpp>

// Elements for large strains that FiniteElement does not cover: those of laws with plastic strain, and the hexahedron
// with one point. A law has deformation(), green(), cauchy() and energy() like those of finite_elasticity.hpp, or
// volume_ratio() and strain() in place of the first two, if its strains may be small; one with history has "peeq" and
// "plastic_energy" as its last two variables.

namespace voussoir {

namespace detail {

/// The determinant that is not positive at a point of an inverted element.
template <class Law, class R>
VSR_FN R volume_ratio(const Point<R>& p, const Mat3<R>& grad) {
  if constexpr (requires { Law::volume_ratio(p, grad); })
    return Law::volume_ratio(p, grad);
  else
    return determinant(Law::deformation(grad));
}
/// The strain that is reported.
template <class Law, class R>
VSR_FN Mat3<R> reported_strain(const Point<R>& p, const Mat3<R>& grad) {
  if constexpr (requires { Law::strain(p, grad); })
    return Law::strain(p, grad);
  else
    return Law::green(grad);
}

/// Position, volume, Green–Lagrange strain, Cauchy stress and stored energy; then the equivalent plastic strain
/// and the plastic work per volume at rest of laws with history. Returns the end of what it wrote.
template <class Law, class R>
VSR_FN R* write_finite_point(const Point<R>& p, const R& volume, const Mat3<R>& grad, R* out) {
  for (int k = 0; k < 3; ++k) *out++ = p.x[k];
  *out++ = volume;
  out = write_tensor(reported_strain<Law>(p, grad), out);
  out = write_tensor(Law::cauchy(p, grad), out);
  *out++ = Law::energy(p, grad);
  if constexpr (constexpr int count = history_numbers_of<Law>(); count > 0) {
    R next[count];
    Law::advance(p, grad, next);
    *out++ = next[count - 2];
    *out++ = next[count - 1];
  }
  return out;
}

}  // namespace detail

/// The element of a large-strain law with history: a PointElement that reports the Green–Lagrange strain, the Cauchy
/// stress and the plastic strain. It counts as inverted if its deformed shape is. With a law whose strains are small,
/// it reports the small strain, and counts as inverted if its undeformed shape is.
template <class Law_, class Shape, class Formulation>
struct FiniteHistoryElement : PointElement<Law_, Shape, Formulation> {
  using Base = PointElement<Law_, Shape, Formulation>;  ///< integrates the law
  static constexpr int points = Base::points,           ///< integration points
      law_history = Base::law_history,                  ///< history variables per point
      recovered_count = 19;                             ///< results per point
  /// Names of the results at a point. Positions and volumes are those of the undeformed body, energies are per
  /// undeformed volume.
  static constexpr const char* recovered[recovered_count] = {
      "x",   "y",   "z",   "volume", "exx", "eyy", "ezz",    "exy",  "eyz",           "exz",
      "sxx", "syy", "szz", "sxy",    "syz", "sxz", "energy", "peeq", "plastic_energy"};
  /// The data of an element.
  template <class R>
  using Input = typename Base::template Input<R>;

  /// Internal forces. Returns the smallest Jacobian determinant of the undeformed and of the deformed element.
  template <class R>
  VSR_LARGE_FN static R residual(const Input<R>& e, R* r) {
    R health = Base::residual(e, r);
    over_points(e, [&](const auto&, const Point<R>& p, const Mat3<R>& grad) {
      health = min(health, detail::volume_ratio<Law_>(p, grad));
    });
    return health;
  }

  /// Results at the integration points.
  template <class R>
  VSR_LARGE_FN static R recover(const Input<R>& e, R* out) {
    R least = R(1e300);
    const R health = over_points(e, [&](const auto& basis, const Point<R>& p, const Mat3<R>& grad) {
      least = min(least, detail::volume_ratio<Law_>(p, grad));
      out = detail::write_finite_point<Law_>(p, basis.volume, grad, out);
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
    R history[law_history];
    p.history = history;
    for (int q = 0; q < points; ++q) {
      material.move(e, Points::value_at(q), p);
      for (int k = 0; k < law_history; ++k) history[k] = e.history_at(q * law_history + k);
      visit(basis[q], p, Functions::gradient_of(basis[q], e.u));
    }
    return health;
  }
};

namespace detail {

/// Names of the results of a FiniteOnePointElement.
template <bool history>
struct FiniteOnePointNames {
  static constexpr int recovered_count = 18;
  static constexpr const char* recovered[recovered_count] = {
      "x",   "y",   "z",   "volume", "exx", "eyy", "ezz", "exy",    "eyz",
      "exz", "sxx", "syy", "szz",    "sxy", "syz", "sxz", "energy", "hourglass_energy"};
};
template <>
struct FiniteOnePointNames<true> {
  static constexpr int recovered_count = 20;
  static constexpr const char* recovered[recovered_count] = {"x",
                                                             "y",
                                                             "z",
                                                             "volume",
                                                             "exx",
                                                             "eyy",
                                                             "ezz",
                                                             "exy",
                                                             "eyz",
                                                             "exz",
                                                             "sxx",
                                                             "syy",
                                                             "szz",
                                                             "sxy",
                                                             "syz",
                                                             "sxz",
                                                             "energy",
                                                             "peeq",
                                                             "plastic_energy",
                                                             "hourglass_energy"};
};

}  // namespace detail

/// A OnePointElement of a large-strain law that reports what the other elements of these laws report, and the energy of
/// its hourglass control per volume at rest. It counts as inverted if its mean deformation is.
template <class Law_>
struct FiniteOnePointElement : OnePointElement<Law_> {
  using Base = OnePointElement<Law_>;                                  ///< integrates the law
  using Names = detail::FiniteOnePointNames<(Base::law_history > 0)>;  ///< of the results
  static constexpr int recovered_count = Names::recovered_count;       ///< results of the point
  static constexpr auto& recovered = Names::recovered;                 ///< names of the results
  /// The data of an element.
  template <class R>
  using Input = typename Base::template Input<R>;

  /// Internal forces. Returns the smallest Jacobian determinant of the undeformed element, or the mean one of its
  /// deformation if that is smaller.
  template <class R>
  VSR_LARGE_FN static R residual(const Input<R>& e, R* r) {
    typename Base::template Rest<R> rest;
    typename Base::template Place<R> place;
    const R health = Base::prepare(e, rest, place);
    const Mat3<R> grad = Base::gradient_of(rest, e.u);
    Base::put_forces(rest, Base::Response::answer(place.p, zero_vector<R, 3>(), grad).flux, e.u, r);
    return min(health, detail::volume_ratio<Law_>(place.p, grad));
  }

  /// Results at the point.
  template <class R>
  VSR_LARGE_FN static R recover(const Input<R>& e, R* out) {
    typename Base::template Rest<R> rest;
    typename Base::template Place<R> place;
    const R health = Base::prepare(e, rest, place);
    const Mat3<R> grad = Base::gradient_of(rest, e.u);
    out = detail::write_finite_point<Law_>(place.p, rest.volume, grad, out);
    R squares = R(0.0);
    for (int h = 0; h < 4; ++h)
      for (int i = 0; i < 3; ++i) {
        R amplitude = rest.gamma[h][0] * e.u[i];
        for (int a = 1; a < Base::nodes; ++a) amplitude += rest.gamma[h][a] * e.u[a * 3 + i];
        squares += amplitude * amplitude;
      }
    *out = R(0.5) * rest.stiffness * squares / rest.volume;
    return min(health, detail::volume_ratio<Law_>(place.p, grad));
  }
};

}  // namespace voussoir
