#pragma once
#include <voussoir/elements/structural/axis.hpp>

namespace voussoir {

/// A straight bar of two nodes that carries only axial force, small displacements. `dimension` 3: unknowns ux, uy, uz
/// ("truss"); 2: ux, uy, in the plane z = 0 ("plane_truss").
///
/// Strain ε = (u₂ − u₁)·n / L with n from node 1 to node 2; stress σ = E (ε − α ΔT), ΔT the mean temperature change of
/// the two nodes from their initial temperatures; axial force N = σ A, tension positive. Stiffness E A / L · n⊗n
/// between the nodes. Consistent mass ρ A L / 6 · (2, 1; 1, 2) in every direction; lumped: half the mass at each node.
template <int dimension>
struct TrussKernel {
  static constexpr const char* name = dimension == 2 ? "plane_truss" : "truss";  ///< name of the element type
  static constexpr const char* shape = "line2";                                  ///< name of the shape
  static constexpr int nodes = 2,                                                ///< nodes per element
      components = dimension,                                                    ///< unknowns per node
      parameter_count = 4,                                                       ///< number of parameters
      points = 1;                                                                ///< points with results
  static constexpr int dofs = nodes * components;                                ///< degrees of freedom per element
  static constexpr bool linear = true,  ///< the residual is linear in the unknowns
      reads_temperature = false;        ///< temperature acts only through parameters and thermal strain
  /// Names of the unknowns; the first `components` are used.
  static constexpr const char* unknowns[3] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"young", "area", "density", "expansion"};  ///< names of the parameters
  /// Results: total strain, thermal strain included; stress; axial force; stored energy per volume; volume.
  static constexpr const char* recovered[] = {"strain", "stress", "N", "energy", "volume"};
  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// Positive if length, modulus and area are positive, and the density is not negative.
  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    R p[parameter_count];
    e.parameters_at(mean_temperature(e), p);
    const R length = axis_between(e.x[0], e.x[1]).length;
    return min(min(positive(length), positive(p[0])),
               min(positive(p[1]), min(not_negative(p[2]), finite_number(p[3]))));
  }

  /// The stiffness: the upper triangle, by rows. Returns the length.
  template <class R>
  VSR_FN static R tangent(const Input<R>& e, R* upper) {
    R p[parameter_count];
    e.parameters_at(mean_temperature(e), p);
    const Axis<R> axis = axis_between(e.x[0], e.x[1]);
    const R k = p[0] * p[1] / axis.length;
    int at = 0;
    for (int i = 0; i < dofs; ++i)
      for (int j = i; j < dofs; ++j) {
        const R s = (i < components) == (j < components) ? k : -k;
        upper[at++] = s * axis.direction[i % components] * axis.direction[j % components];
      }
    return axis.length;
  }

  /// The axial force at both nodes, thermal strain included. Returns the length.
  template <class R>
  VSR_FN static R residual(const Input<R>& e, R* r) {
    R result[5];
    const R length = recover(e, result);
    const Axis<R> axis = axis_between(e.x[0], e.x[1]);
    for (int i = 0; i < components; ++i) {
      r[i] = -result[2] * axis.direction[i];
      r[components + i] = result[2] * axis.direction[i];
    }
    return length;
  }

  /// The stiffness times `du`. Returns the length.
  template <class R>
  VSR_FN static R action(const Input<R>& e, const R* du, R* r) {
    R p[parameter_count];
    e.parameters_at(mean_temperature(e), p);
    const Axis<R> axis = axis_between(e.x[0], e.x[1]);
    R stretch = R(0.0);
    for (int i = 0; i < components; ++i) stretch += axis.direction[i] * (du[components + i] - du[i]);
    const R force = p[0] * p[1] / axis.length * stretch;
    for (int i = 0; i < components; ++i) {
      r[i] = -force * axis.direction[i];
      r[components + i] = force * axis.direction[i];
    }
    return axis.length;
  }

  /// The consistent mass: the upper triangle, by rows. Returns the length.
  template <class R>
  VSR_FN static R mass(const Input<R>& e, R* upper) {
    R p[parameter_count];
    e.parameters_at(mean_temperature(e), p);
    const R length = axis_between(e.x[0], e.x[1]).length;
    const R sixth = p[2] * p[1] * length / R(6.0);
    int at = 0;
    for (int i = 0; i < dofs; ++i)
      for (int j = i; j < dofs; ++j) upper[at++] = i == j ? sixth + sixth : (j - i == components ? sixth : R(0.0));
    return length;
  }

  /// The nodal forces of a body load. Returns the length.
  template <class R, class Load>
  VSR_FN static R body_load(const Input<R>& e, const Load& load, R* f) {
    R p[parameter_count];
    e.parameters_at(mean_temperature(e), p);
    const R length = axis_between(e.x[0], e.x[1]).length;
    const R sixth = p[2] * p[1] * length / R(6.0);
    // Gravity is constant and the centrifugal force linear along the bar, so both are exact.
    const Vec3<R> first = force_per_mass(load, e.x[0]), second = force_per_mass(load, e.x[1]);
    for (int i = 0; i < components; ++i) {
      f[i] = sixth * (R(2.0) * first[i] + second[i]);
      f[components + i] = sixth * (first[i] + R(2.0) * second[i]);
    }
    return length;
  }

  /// The results named by `recovered`. Returns the length.
  template <class R>
  VSR_FN static R recover(const Input<R>& e, R* out) {
    R p[parameter_count];
    const R temperature = mean_temperature(e), initial = mean_initial_temperature(e);
    parameters_between<TrussKernel>(e, initial, temperature, p);
    const Axis<R> axis = axis_between(e.x[0], e.x[1]);
    R strain = R(0.0);
    for (int i = 0; i < components; ++i) strain += axis.direction[i] * (e.u[components + i] - e.u[i]);
    strain /= axis.length;
    const R thermal = p[3] * (temperature - initial);
    out[0] = strain;
    out[1] = p[0] * (strain - thermal);
    out[2] = out[1] * p[1];
    out[3] = R(0.5) * out[1] * (strain - thermal);
    out[4] = p[1] * axis.length;
    return axis.length;
  }
};

using Truss = TrussKernel<3>;       ///< "truss"
using PlaneTruss = TrussKernel<2>;  ///< "plane_truss"

}  // namespace voussoir
