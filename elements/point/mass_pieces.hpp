#pragma once
#include <voussoir/elements/point/integration_points.hpp>

// The mass of a point element in parts, and products with it, for backends that do not keep whole matrices.

namespace voussoir::detail {

/// `exists`: the law has a density, the same for every component.
template <class Element, bool exists>
struct MassPieces {
  static constexpr bool has_mass = false;
};

template <class Kernel, class Shape, class Formulation>
struct MassPieces<PointElement<Kernel, Shape, Formulation>, true> {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using MassRule = typename Element::MassRule;
  template <class R>
  using Input = ElementInput<R, Shape::nodes, Kernel::components, Element::parameter_count>;
  static constexpr bool has_mass = true;
  static constexpr int nodes = Shape::nodes, components = Kernel::components, dofs = nodes * components;

  /// The consistent mass of nodes a and b ≥ a, the same for every component: visit(a, b, mass).
  template <class R, class Visit>
  VSR_FN static R mass_pairs(const Input<R>& e, const Visit& visit) {
    const auto& table = shape_table<Shape, MassRule>();
    R mass[MassRule::points];
    const R health = Points::over_mass_points(e, [&](int q, R weight) { mass[q] = weight; });
    VSR_ROLLED
    for (int a = 0; a < nodes; ++a) {
      R row[MassRule::points];
      VSR_UNROLLED
      for (int q = 0; q < MassRule::points; ++q) row[q] = mass[q] * R(table.value[q][a]);
      VSR_ROLLED
      for (int b = a; b < nodes; ++b) {
        R sum = row[0] * R(table.value[0][b]);
        VSR_UNROLLED
        for (int q = 1; q < MassRule::points; ++q) sum += row[q] * R(table.value[q][b]);
        visit(a, b, sum);
      }
    }
    return health;
  }

  /// The consistent or the lumped mass times du.
  template <class R>
  VSR_LARGE_FN static R mass_action(const Input<R>& e, const R* du, R* r) {
    const auto& table = shape_table<Shape, MassRule>();
    for (int i = 0; i < dofs; ++i) r[i] = R(0.0);
    return Points::over_mass_points(e, [&](int q, R weight) {
      for (int i = 0; i < components; ++i) {
        R value = R(table.value[q][0]) * du[i];
        for (int a = 1; a < nodes; ++a) value += R(table.value[q][a]) * du[a * components + i];
        value *= weight;
        for (int a = 0; a < nodes; ++a) r[a * components + i] += R(table.value[q][a]) * value;
      }
    });
  }
  template <class R>
  VSR_LARGE_FN static R lumped_action(const Input<R>& e, const R* du, R* r) {
    R mass[nodes];
    const R health = Element::node_masses(e, mass);
    for (int i = 0; i < dofs; ++i) r[i] = mass[i / components] * du[i];
    return health;
  }
};

}  // namespace voussoir::detail
