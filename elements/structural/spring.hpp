#pragma once
#include <voussoir/elements/structural/axis.hpp>

namespace voussoir {

/// A spring along the line between its two nodes ("spring_axial", "plane_spring_axial"): force = stiffness ·
/// elongation, tension positive, small displacements.
template <int dimension>
struct AxialSpringKernel {
  /// Name of the element type.
  static constexpr const char* name = dimension == 2 ? "plane_spring_axial" : "spring_axial";
  static constexpr const char* shape = "line2";    ///< name of the shape
  static constexpr int nodes = 2,                  ///< nodes per element
      components = dimension,                      ///< unknowns per node
      parameter_count = 1,                         ///< number of parameters
      points = 1;                                  ///< points with results
  static constexpr int dofs = nodes * components;  ///< degrees of freedom per element
  static constexpr bool linear = true,             ///< the residual is linear in the unknowns
      reads_temperature = false;                   ///< temperature acts only through parameters and thermal strain
  /// Names of the unknowns; the first `components` are used.
  static constexpr const char* unknowns[3] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"stiffness"};       ///< force per elongation
  static constexpr const char* recovered[] = {"elongation", "N"};  ///< elongation and axial force
  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// Positive if the nodes do not coincide and the stiffness is not negative.
  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    R k;
    e.parameters_at(mean_temperature(e), &k);
    return min(positive(axis_between(e.x[0], e.x[1]).length), not_negative(k));
  }

  /// The stiffness: the upper triangle, by rows. Returns the length.
  template <class R>
  VSR_FN static R tangent(const Input<R>& e, R* upper) {
    R k;
    e.parameters_at(mean_temperature(e), &k);
    const Axis<R> axis = axis_between(e.x[0], e.x[1]);
    int at = 0;
    for (int i = 0; i < dofs; ++i)
      for (int j = i; j < dofs; ++j) {
        const R s = (i < components) == (j < components) ? k : -k;
        upper[at++] = s * axis.direction[i % components] * axis.direction[j % components];
      }
    return axis.length;
  }

  /// Elongation and axial force. Returns the length.
  template <class R>
  VSR_FN static R recover(const Input<R>& e, R* out) {
    R k;
    e.parameters_at(mean_temperature(e), &k);
    const Axis<R> axis = axis_between(e.x[0], e.x[1]);
    out[0] = R(0.0);
    for (int i = 0; i < components; ++i) out[0] += axis.direction[i] * (e.u[components + i] - e.u[i]);
    out[1] = k * out[0];
    return axis.length;
  }
};

using AxialSpring = AxialSpringKernel<3>;       ///< "spring_axial"
using PlaneAxialSpring = AxialSpringKernel<2>;  ///< "plane_spring_axial"

/// Independent springs in the global directions, between two nodes (force on node 2 from its motion relative to node 1)
/// or between one node and the ground. `component_count` 2: kx, ky; 3: kx, ky, kz; 6: and krx, kry, krz against
/// rotation. The nodes may coincide.
template <int node_count, int component_count>
struct SpringKernel {
  /// Name of the element type.
  static constexpr const char* name = node_count == 2 ? (component_count == 2   ? "plane_spring"
                                                         : component_count == 3 ? "spring"
                                                                                : "spring_rotary")
                                                      : (component_count == 2   ? "plane_spring_to_ground"
                                                         : component_count == 3 ? "spring_to_ground"
                                                                                : "spring_to_ground_rotary");
  static constexpr const char* shape = node_count == 2 ? "line2" : "";  ///< name of the shape; a single node has none
  static constexpr int nodes = node_count,                              ///< nodes per element
      components = component_count,                                     ///< unknowns per node
      points = 1;                                                       ///< points with results
  static constexpr int parameter_count = component_count,               ///< number of parameters
      recovered_count = component_count;                                ///< number of results
  static constexpr int dofs = nodes * components;                       ///< degrees of freedom per element
  static constexpr bool linear = true,                                  ///< the residual is linear in the unknowns
      reads_temperature = false;  ///< temperature acts only through parameters and thermal strain
  /// Names of the unknowns; the first `components` are used.
  static constexpr const char* unknowns[6] = {"ux", "uy", "uz", "rx", "ry", "rz"};
  /// Stiffnesses against displacements and rotations; the first `parameter_count` are used.
  static constexpr const char* parameters[6] = {"kx", "ky", "kz", "krx", "kry", "krz"};
  /// Forces and moments of the springs: stiffness times relative motion. The first `recovered_count` are used.
  static constexpr const char* recovered[6] = {"Fx", "Fy", "Fz", "Mx", "My", "Mz"};
  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// Writes the stiffnesses at the mean temperature.
  template <class R>
  VSR_FN static void stiffness(const Input<R>& e, R* k) {
    e.parameters_at(R(0.5) * (e.temperature[0] + e.temperature[nodes - 1]), k);
  }

  /// Positive if no stiffness is negative.
  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    R k[components];
    stiffness(e, k);
    R good = R(1.0);
    for (int c = 0; c < components; ++c) good = min(good, not_negative(k[c]));
    return good;
  }

  /// The stiffness matrix: the upper triangle, by rows.
  template <class R>
  VSR_FN static R tangent(const Input<R>& e, R* upper) {
    R k[components];
    stiffness(e, k);
    int at = 0;
    for (int i = 0; i < dofs; ++i)
      for (int j = i; j < dofs; ++j)
        upper[at++] = i == j ? k[i % components] : (j - i == components ? -k[i % components] : R(0.0));
    return R(1.0);
  }

  /// Forces and moments of the springs.
  template <class R>
  VSR_FN static R recover(const Input<R>& e, R* out) {
    R k[components];
    stiffness(e, k);
    for (int c = 0; c < components; ++c)
      out[c] = k[c] * (nodes == 2 ? e.u[(nodes - 1) * components + c] - e.u[c] : e.u[c]);
    return R(1.0);
  }
};

using PlaneSpring = SpringKernel<2, 2>;           ///< "plane_spring"
using Spring = SpringKernel<2, 3>;                ///< "spring"
using RotarySpring = SpringKernel<2, 6>;          ///< "spring_rotary"
using PlaneSpringToGround = SpringKernel<1, 2>;   ///< "plane_spring_to_ground"
using SpringToGround = SpringKernel<1, 3>;        ///< "spring_to_ground"
using RotarySpringToGround = SpringKernel<1, 6>;  ///< "spring_to_ground_rotary"

}  // namespace voussoir
