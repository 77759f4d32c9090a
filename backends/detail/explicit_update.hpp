#pragma once
#include <voussoir/backends/detail/any_side.hpp>

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
    const double mean = 0.5 * (at.before + at.velocity), along = step * mean;
    internal += at.internal * along;
    external += at.external * along;
    damping += damping_factor * mean * along;
  }
};

/// w₊ = gain (p − f) + keep w₋. Several kernels compute it and must give the same bits: on GPUs it says itself which
/// product is not rounded.
VSR_ANY_SIDE inline double next_explicit_velocity(double gain, double external, double internal, double keep,
                                                  double before) {
#if defined(__CUDA_ARCH__)
  return fma(gain, external - internal, keep * before);
#else
  return gain * (external - internal) + keep * before;
#endif
}

}  // namespace voussoir::detail
