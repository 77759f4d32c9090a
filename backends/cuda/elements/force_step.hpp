#pragma once

// What kernels of internal forces are given. Compiled by g++, nvcc and NVRTC: nothing of the standard library here.

namespace voussoir::cuda {

/// Unknowns of the largest element that a thread computes alone.
inline constexpr int most_force_dofs = 32;

/// Numbers in shared memory that an element may take: its forces, or the coefficients of a Hex8 from which they are
/// computed (elements/point/compact_forces.hpp).
constexpr int most_force_numbers(int nodes, int components) {
  const int dofs = nodes * components, coefficients = nodes == 8 ? 7 * (3 + components) : 0;
  return dofs > coefficients ? dofs : coefficients;
}

/// The time at a state, as kernels of recorded steps find it on the device.
struct StepClock {
  double time = 0;    ///< at the state
  double step = 0;    ///< size of the step that led there
  long long row = 0;  ///< number of that step among those that were asked for
};

/// What a kernel of internal forces is given besides a job and clusters.
struct ForceStep {
  const StepClock* clock = nullptr;
  /// Committed, in groups of 32 elements in the order of the clusters' places; a kernel that advances puts the new one
  /// there. Null where the elements have none.
  double* history = nullptr;
};

}  // namespace voussoir::cuda
