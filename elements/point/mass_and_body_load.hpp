#pragma once
#include <voussoir/elements/point/integration_points.hpp>

// Volume integrals of a point element: its mass, consistent or lumped, and body loads.

namespace voussoir::detail {

/// Implements mass, lumped mass and body load of PointElement. Formulations whose integrals are those of Full share
/// them: see VolumeFormulation.
template <class Kernel, class Shape, class Formulation>
struct MassAndBodyLoad {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using MassRule = typename Element::MassRule;
  template <class R>
  using Input = typename Element::template Input<R>;
  /// Lumping of quadratic shapes takes the exact rule also where integration is reduced: the diagonal of a consistent
  /// mass with too few points has lighter corners.
  using LumpingRule = typename ElementRules<Shape, Element::geometry>::Mass;
  static constexpr int nodes = Element::nodes, components = Element::components;
  static constexpr int dofs = Element::dofs, entries = Element::entries;

  template <class R>
  VSR_LARGE_FN static R mass(const Input<R>& e, R* upper) {
    for (int i = 0; i < entries; ++i) upper[i] = R(0.0);
    const auto& table = shape_table<Shape, MassRule>();
    return Points::over_mass_points(e, [&](int q, R weight) {
      for (int a = 0; a < nodes; ++a) {
        const R row = weight * R(table.value[q][a]);
        for (int b = a; b < nodes; ++b) {
          const R m = row * R(table.value[q][b]);
          for (int i = 0; i < components; ++i) upper[upper_index<dofs>(a * components + i, b * components + i)] += m;
        }
      }
    });
  }

  template <class R>
  VSR_FN static R node_masses(const Input<R>& e, R (&m)[nodes]) {
    const auto& table = shape_table<Shape, LumpingRule>();
    R total = R(0.0), diagonal = R(0.0);
    for (int a = 0; a < nodes; ++a) m[a] = R(0.0);
    const R health = Points::template over_points<LumpingRule>(e, [&](int q, R volume, const Point<R>& p) {
      const R weight = volume * Kernel::density(p);
      total += weight;
      for (int a = 0; a < nodes; ++a) {
        const double n = table.value[q][a];
        m[a] += weight * R(Shape::order == 1 ? n : n * n);
      }
    });
    if constexpr (Shape::order > 1) {
      // The mass of a curved element is that of its other integrals, so that it falls with the acceleration of gravity.
      if constexpr (!same<LumpingRule, MassRule>) {
        total = R(0.0);
        Points::over_mass_points(e, [&](int, R weight) { total += weight; });
      }
      for (int a = 0; a < nodes; ++a) diagonal += m[a];
      // A body without mass keeps none, instead of 0/0.
      const R scale = select_less(R(0.0), diagonal, total / max(diagonal, R(1e-300)), R(0.0));
      for (int a = 0; a < nodes; ++a) m[a] *= scale;
    }
    return health;
  }
  template <class R>
  VSR_LARGE_FN static R lumped_mass(const Input<R>& e, R* upper) {
    R m[nodes];
    const R health = node_masses(e, m);
    for (int i = 0; i < entries; ++i) upper[i] = R(0.0);
    for (int i = 0; i < dofs; ++i) upper[upper_index<dofs>(i, i)] = m[i / components];
    return health;
  }

  template <class R, class Load>
  VSR_LARGE_FN static R body_load(const Input<R>& e, const Load& load, R* f) {
    const auto& table = shape_table<Shape, MassRule>();
    for (int i = 0; i < dofs; ++i) f[i] = R(0.0);
    if constexpr (components == 1) {
      return Points::template over_points<MassRule>(e, [&](int q, R volume, const Point<R>&) {
        const R source = volume * R(load.source);
        for (int a = 0; a < nodes; ++a) f[a] += source * R(table.value[q][a]);
      });
    } else {
      return Points::template over_points<MassRule>(e, [&](int q, R volume, const Point<R>& p) {
        Vec3<R> arm;
        R along = R(0.0);
        for (int k = 0; k < 3; ++k) {
          arm[k] = p.x[k] - R(load.axis_point[k]);
          along += arm[k] * R(load.axis_direction[k]);
        }
        const R weight = volume * Kernel::density(p);
        for (int i = 0; i < components; ++i) {
          const R pull =
              R(load.acceleration[i]) + R(load.angular_velocity_squared) * (arm[i] - along * R(load.axis_direction[i]));
          for (int a = 0; a < nodes; ++a) f[a * components + i] += weight * pull * R(table.value[q][a]);
        }
      });
    }
  }
};

}  // namespace voussoir::detail
