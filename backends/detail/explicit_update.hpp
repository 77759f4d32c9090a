#pragma once

// What central differences do with one equation (ExplicitStepper in explicit_services.hpp), for CPUs and GPUs.

namespace voussoir::detail {

/// The values of one equation at a state.
struct ExplicitEntry {
  double internal, external;  ///< forces
  double before, velocity;    ///< w in the middle of the steps before and after
};

/// Work of the internal, external and damping forces at a state, over half of the step before and half of the step
/// after.
struct ExplicitWorks {
  double internal = 0, external = 0, damping = 0;

  constexpr void add(const ExplicitEntry& at, double damping_factor, double step) {
    const double along = 0.5 * step * at.before + 0.5 * step * at.velocity;
    internal += at.internal * along;
    external += at.external * along;
    damping += damping_factor * (0.5 * at.before + 0.5 * at.velocity) * along;
  }
};

/// w₊ = gain (p − f) + keep w₋
constexpr double next_explicit_velocity(double gain, double external, double internal, double keep, double before) {
  return gain * (external - internal) + keep * before;
}

}  // namespace voussoir::detail
