#pragma once
#include <voussoir/elements/kernel/small_algebra.hpp>
#include <voussoir/elements/point/formulation.hpp>
#include <voussoir/elements/point/point_material.hpp>

// The integration points of a point element: Jacobians, volumes, and loops over the points.

namespace voussoir {

template <class Kernel, class Shape, class Formulation = Full>
struct PointElement;

}  // namespace voussoir

namespace voussoir::detail {

template <class Kernel, class Shape, class Formulation>
struct IntegrationPoints {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Rule = typename Element::Rule;
  using MassRule = typename Element::MassRule;
  template <class R>
  using Input = typename Element::template Input<R>;
  template <class R>
  using Material = PointMaterial<Kernel, Shape, Formulation, R>;
  static constexpr int dim = Element::dim, nodes = Element::nodes;
  static constexpr bool uniform = Element::uniform, ring = Element::ring, trilinear = Element::trilinear;

  /// The one-point rule of squares and cubes.
  template <int d, class = void>
  struct CentreRule {
    using type = GaussQuad<1>;
  };
  template <class Unused>
  struct CentreRule<3, Unused> {
    using type = GaussHex<1>;
  };
  using Centre = typename CentreRule<dim>::type;

  /// Shape functions at point q of the formulation, for interpolation.
  VSR_FN static const double* value_at(int q) {
    if constexpr (uniform)
      return shape_table<Shape, Centre>().value[0];
    else
      return shape_table<Shape, Rule>().value[q];
  }

  /// Inverse and determinant of the Jacobian at point q of a table.
  template <class Table, class R>
  VSR_FN static R invert(const Input<R>& e, const Table& table, int q, R (&inv)[dim][dim]) {
    R j[dim][dim];
    for (int m = 0; m < dim; ++m)
      for (int k = 0; k < dim; ++k) j[m][k] = R(table.gradient[q][0][m]) * e.x[0][k];
    for (int a = 1; a < nodes; ++a)
      for (int m = 0; m < dim; ++m)
        for (int k = 0; k < dim; ++k) j[m][k] += R(table.gradient[q][a][m]) * e.x[a][k];
    return invert_jacobian<dim>(j, inv);
  }

  template <class Table, class R>
  VSR_FN static R radius(const Input<R>& e, const Table& table, int q) {
    R r = R(table.value[q][0]) * e.x[0][0];
    for (int a = 1; a < nodes; ++a) r += R(table.value[q][a]) * e.x[a][0];
    return r;
  }

  /// Volume per area of the reference cell: thickness, or the length of the circle.
  template <class R>
  VSR_FN static R depth(const Input<R>& e, R r) {
    if constexpr (ring)
      return R(6.28318530717958647693) * r;
    else if constexpr (Element::geometry == Geometry::plane)
      return e.table[Element::parameter_count];
    else
      return R(1.0);
  }

  /// Calls visit(q, volume, point) at the points of a rule.
  template <class AnyRule, class R, class Visit>
  VSR_FN static R over_points(const Input<R>& e, const Visit& visit) {
    const auto& table = shape_table<Shape, AnyRule>();
    Material<R> material;
    Point<R> p = material.begin(e);
    R health = R(1e300);
    for (int q = 0; q < AnyRule::points; ++q) {
      R inv[dim][dim];
      const R det = invert(e, table, q, inv);
      material.move(e, table.value[q], p);
      health = min(health, ring ? min(det, p.x[0]) : det);
      visit(q, R(table.weight[q]) * det * depth(e, p.x[0]), p);
    }
    return health;
  }
  /// Calls visit(q, mass) at the points of the mass rule.
  template <class R, class Visit>
  VSR_FN static R over_mass_points(const Input<R>& e, const Visit& visit) {
    return over_points<MassRule>(e, [&](int q, R volume, const Point<R>& p) { visit(q, volume * Kernel::density(p)); });
  }

  /// Jacobians at the points of the stiffness rule.
  template <class R>
  struct Jacobians {
    R dx[trilinear ? 3 : 1][3][4];
    VSR_FN explicit Jacobians(const Input<R>& e) {
      if constexpr (trilinear)
        for (int k = 0; k < 3; ++k) trilinear_derivatives([&](int a) { return e.x[a][k]; }, dx[k]);
    }
    VSR_FN R invert(const Input<R>& e, int q, R (&inv)[dim][dim]) const {
      if constexpr (trilinear) {
        R j[3][3];
        for (int m = 0; m < 3; ++m)
          for (int k = 0; k < 3; ++k) j[m][k] = dx[k][m][trilinear_place(m, q)];
        return invert_jacobian<3>(j, inv);
      } else {
        return IntegrationPoints::invert(e, shape_table<Shape, Rule>(), q, inv);
      }
    }
  };
};

}  // namespace voussoir::detail
