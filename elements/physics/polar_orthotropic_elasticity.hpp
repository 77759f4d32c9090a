#pragma once
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>

// Orthotropic elasticity whose axes follow a cylindrical system within an element: wound tubes, hoops, growth rings.
//
// The stiffness is prepared once, in the axes at the element centre. At a point at a polar angle φ from the centre, it
// is rotated by φ: with Q the rotation about the axis of the cylinder,
//
//   σ = Q σ̄(Qᵀ ∇u Q) Qᵀ
//
// where σ̄ is the law at the centre.

namespace voussoir {

/// An orthotropic solid with cylindrical material axes, evaluated at each integration point.
struct PolarOrthotropicSolid : detail::OrthotropicElasticity {
  static constexpr const char* name = "polar_orthotropic_solid";  ///< first part of element type names
  static constexpr int components = 3;                            ///< unknowns per node
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};   ///< unknowns of a node
  /// The parameters of the orthotropic solid, a point on the axis of the cylinder, and two unit vectors: the direction
  /// of the axis, and the radial direction at the element centre.
  static constexpr const char* parameters[] = {"E1",
                                               "E2",
                                               "E3",
                                               "nu12",
                                               "nu13",
                                               "nu23",
                                               "G12",
                                               "G13",
                                               "G23",
                                               "density",
                                               "expansion1",
                                               "expansion2",
                                               "expansion3",
                                               "axis11",
                                               "axis12",
                                               "axis13",
                                               "axis21",
                                               "axis22",
                                               "axis23",
                                               "axis31",
                                               "axis32",
                                               "axis33",
                                               "polar_x",
                                               "polar_y",
                                               "polar_z",
                                               "polar_axis_x",
                                               "polar_axis_y",
                                               "polar_axis_z",
                                               "polar_radial_x",
                                               "polar_radial_y",
                                               "polar_radial_z"};
  static constexpr int first_polar = 22;  ///< index of "polar_x" among the parameters

  /// The rotation about the axis of the cylinder from the element centre to a point.
  template <class R>
  VSR_FN static Mat3<R> turn(const Point<R>& p) {
    const R* const at = p.parameters + first_polar;
    const R* const a = at + 3;
    const R* const middle = at + 6;
    Vec3<R> r;
    for (int i = 0; i < 3; ++i) r[i] = p.x[i] - at[i];
    const R along = r[0] * a[0] + r[1] * a[1] + r[2] * a[2];
    for (int i = 0; i < 3; ++i) r[i] = r[i] - along * a[i];
    // On the axis itself the radial direction is undefined: that of the element centre is used.
    const R square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    const R on_axis = R(1e-200);
    const R scale = select_less(square, on_axis, R(0.0), R(1.0) / sqrt(max(square, on_axis)));
    const R is_on_axis = select_less(square, on_axis, R(1.0), R(0.0));
    const R c = is_on_axis + scale * (r[0] * middle[0] + r[1] * middle[1] + r[2] * middle[2]);
    const R s = scale * (a[0] * (middle[1] * r[2] - middle[2] * r[1]) + a[1] * (middle[2] * r[0] - middle[0] * r[2]) +
                         a[2] * (middle[0] * r[1] - middle[1] * r[0]));
    Mat3<R> q;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) q(i, j) = (R(1.0) - c) * a[i] * a[j];
    for (int i = 0; i < 3; ++i) q(i, i) += c;
    q(0, 1) = q(0, 1) - s * a[2];
    q(0, 2) = q(0, 2) + s * a[1];
    q(1, 0) = q(1, 0) + s * a[2];
    q(1, 2) = q(1, 2) - s * a[0];
    q(2, 0) = q(2, 0) - s * a[1];
    q(2, 1) = q(2, 1) + s * a[0];
    return q;
  }

  // No pair_block: it is evaluated once per element, but the axes differ from point to point.

  /// Stress from the displacement gradient and the temperature change.
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    const Mat3<R> q = turn(p);
    return q * stress(p.constants, transpose(q) * grad * q, p.temperature_change) * transpose(q);
  }
  /// Change of the stress when the gradient changes by `dgrad`.
  template <class R>
  VSR_FN static Mat3<R> dflux(const Point<R>& p, const Mat3<R>&, const Mat3<R>& dgrad) {
    const Mat3<R> q = turn(p);
    return q * stress(p.constants, transpose(q) * dgrad * q, R(0.0)) * transpose(q);
  }
  /// Elastic strain energy per volume, ½ σ : (ε − ε_th).
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    const Mat3<R> q = turn(p), local = transpose(q) * grad * q;
    return half_product(p.constants, stress(p.constants, local, p.temperature_change), local, p.temperature_change);
  }
};

}  // namespace voussoir
