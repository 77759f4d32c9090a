#pragma once
#include <voussoir/elements/kernel/thermal_expansion.hpp>

// Functions shared by trusses, beams, springs and masses.

namespace voussoir {

/// The index of entry (i, j ≥ i) of a symmetric m × m matrix in its upper triangle, stored by rows.
VSR_FN int upper_index(int m, int i, int j) { return i * m - i * (i - 1) / 2 + j - i; }

/// 1 if x > 0, else −1, also for NaN.
template <class R>
VSR_FN R positive(R x) {
  return select_less(R(0.0), x, R(1.0), R(-1.0));
}

/// 1 if x ≥ 0, else −1, also for NaN.
template <class R>
VSR_FN R not_negative(R x) {
  return select_less(R(-1e-300), x, R(1.0), R(-1.0));
}

/// 1 if |x| < 1e300, else −1, also for NaN.
template <class R>
VSR_FN R finite_number(R x) {
  return select_less(abs(x), R(1e300), R(1.0), R(-1.0));
}

/// The axis of a two-node element, from its first node to its second.
template <class R>
struct Axis {
  Vec3<R> direction;  ///< unit vector
  R length;           ///< distance of the nodes
};

/// The axis between two points, which must not coincide.
template <class R>
VSR_FN Axis<R> axis_between(const Vec3<R>& from, const Vec3<R>& to) {
  Axis<R> axis;
  for (int i = 0; i < 3; ++i) axis.direction[i] = to[i] - from[i];
  axis.length = sqrt(dot(axis.direction, axis.direction));
  for (int i = 0; i < 3; ++i) axis.direction[i] /= axis.length;
  return axis;
}

/// The force per mass of a body load at x: the acceleration plus ω² times the vector from the axis. `Load` has the
/// members of BodyLoad.
template <class R, class Load>
VSR_FN Vec3<R> force_per_mass(const Load& load, const Vec3<R>& x) {
  Vec3<R> arm;
  R along = R(0.0);
  for (int i = 0; i < 3; ++i) {
    arm[i] = x[i] - R(load.axis_point[i]);
    along += arm[i] * R(load.axis_direction[i]);
  }
  Vec3<R> a;
  for (int i = 0; i < 3; ++i)
    a[i] = R(load.acceleration[i]) + R(load.angular_velocity_squared) * (arm[i] - along * R(load.axis_direction[i]));
  return a;
}

/// The mean temperature of the nodes of a two-node element.
template <class R, int components, int parameter_count>
VSR_FN R mean_temperature(const ElementInput<R, 2, components, parameter_count>& e) {
  return R(0.5) * (e.temperature[0] + e.temperature[1]);
}
/// The mean initial temperature of the nodes of a two-node element.
template <class R, int components, int parameter_count>
VSR_FN R mean_initial_temperature(const ElementInput<R, 2, components, parameter_count>& e) {
  return R(0.5) * (e.initial_temperature[0] + e.initial_temperature[1]);
}

}  // namespace voussoir
