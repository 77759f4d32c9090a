#pragma once
#include <voussoir/elements/structural/axis.hpp>

namespace voussoir {

/// A mass at a node. `component_count` 2: "plane_mass"; 3: "mass"; 6: "mass_rotary", whose moments of inertia are about
/// the global axes. It has no stiffness; gravity and rotation pull at it.
template <int component_count>
struct PointMassKernel {
  static constexpr const char* name = component_count == 2   ? "plane_mass"
                                      : component_count == 3 ? "mass"
                                                             : "mass_rotary";
  static constexpr int nodes = 1, components = component_count, dofs = component_count;
  static constexpr int parameter_count = component_count == 6 ? 4 : 1;
  static constexpr int translations = component_count == 2 ? 2 : 3;
  static constexpr bool has_tangent = false, reads_temperature = false;
  static constexpr const char* unknowns[6] = {"ux", "uy", "uz", "rx", "ry", "rz"};
  static constexpr const char* parameters[4] = {"mass", "inertia_x", "inertia_y", "inertia_z"};
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    R p[parameter_count];
    e.parameters_at(e.temperature[0], p);
    R good = R(1.0);
    for (int i = 0; i < parameter_count; ++i) good = min(good, not_negative(p[i]));
    return good;
  }

  template <class R>
  VSR_FN static R residual(const Input<R>&, R* r) {
    for (int i = 0; i < dofs; ++i) r[i] = R(0.0);
    return R(1.0);
  }

  template <class R>
  VSR_FN static R mass(const Input<R>& e, R* upper) {
    R p[parameter_count];
    e.parameters_at(e.temperature[0], p);
    int at = 0;
    for (int i = 0; i < dofs; ++i)
      for (int j = i; j < dofs; ++j) {
        const int number = i < translations ? 0 : i - 2;  // mass, then the moments of inertia
        upper[at++] = i == j ? p[number] : R(0.0);
      }
    return R(1.0);
  }

  /// A diagonal mass is lumped already.
  template <class R>
  VSR_FN static R lumped_mass(const Input<R>& e, R* upper) {
    return mass(e, upper);
  }

  template <class R, class Load>
  VSR_FN static R body_load(const Input<R>& e, const Load& load, R* f) {
    R p[parameter_count];
    e.parameters_at(e.temperature[0], p);
    const Vec3<R> pull = force_per_mass(load, e.x[0]);
    for (int i = 0; i < dofs; ++i) f[i] = i < translations ? p[0] * pull[i < 3 ? i : 0] : R(0.0);
    return R(1.0);
  }
};

using PlaneMass = PointMassKernel<2>;
using PointMass = PointMassKernel<3>;
using RotaryMass = PointMassKernel<6>;

}  // namespace voussoir
