#pragma once
#include <voussoir/elements/structural/axis.hpp>

namespace voussoir {

/// A point mass at a node. `component_count` 2: "plane_mass"; 3: "mass"; 6: "mass_rotary", with moments of inertia
/// about the global axes. It has no stiffness; gravity and centrifugal loads act on it.
template <int component_count>
struct PointMassKernel {
  /// Name of the element type.
  static constexpr const char* name = component_count == 2   ? "plane_mass"
                                      : component_count == 3 ? "mass"
                                                             : "mass_rotary";
  static constexpr int nodes = 1,                                       ///< nodes per element
      components = component_count,                                     ///< unknowns per node
      dofs = component_count;                                           ///< degrees of freedom per element
  static constexpr int parameter_count = component_count == 6 ? 4 : 1;  ///< number of parameters that are used
  static constexpr int translations = component_count == 2 ? 2 : 3;     ///< unknowns that are displacements
  static constexpr bool has_tangent = false,                            ///< there is no stiffness
      reads_temperature = false;                                        ///< temperature acts only through parameters
  /// Names of the unknowns; the first `components` are used.
  static constexpr const char* unknowns[6] = {"ux", "uy", "uz", "rx", "ry", "rz"};
  /// Names of the parameters; the first `parameter_count` are used.
  static constexpr const char* parameters[4] = {"mass", "inertia_x", "inertia_y", "inertia_z"};
  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// Positive if neither mass nor moments of inertia are negative.
  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    R p[parameter_count];
    e.parameters_at(e.temperature[0], p);
    R good = R(1.0);
    for (int i = 0; i < parameter_count; ++i) good = min(good, not_negative(p[i]));
    return good;
  }

  /// Zero: a mass exerts no force at rest.
  template <class R>
  VSR_FN static R residual(const Input<R>&, R* r) {
    for (int i = 0; i < dofs; ++i) r[i] = R(0.0);
    return R(1.0);
  }

  /// The diagonal mass: the upper triangle, by rows.
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

  /// The same as mass(), which is diagonal.
  template <class R>
  VSR_FN static R lumped_mass(const Input<R>& e, R* upper) {
    return mass(e, upper);
  }

  /// The force of a body load: mass times force per mass.
  template <class R, class Load>
  VSR_FN static R body_load(const Input<R>& e, const Load& load, R* f) {
    R p[parameter_count];
    e.parameters_at(e.temperature[0], p);
    const Vec3<R> pull = force_per_mass(load, e.x[0]);
    for (int i = 0; i < dofs; ++i) f[i] = i < translations ? p[0] * pull[i < 3 ? i : 0] : R(0.0);
    return R(1.0);
  }
};

using PlaneMass = PointMassKernel<2>;   ///< "plane_mass"
using PointMass = PointMassKernel<3>;   ///< "mass"
using RotaryMass = PointMassKernel<6>;  ///< "mass_rotary"

}  // namespace voussoir
