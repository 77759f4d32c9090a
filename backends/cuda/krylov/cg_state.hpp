#pragma once
#include <voussoir/backends/cuda/runtime/runtime.hpp>

namespace voussoir::cuda {

enum class CgStop : int { none, converged, max_iterations, breakdown, not_finite, bad_preconditioner };

/// The scalars of CG on one device. All devices compute the same ones.
struct CgState {
  double rho[2];  ///< r·z of even and odd iterations: kernels write the one and read the other
  double alpha;   ///< of the step that was taken last; between advance() and turn() x has yet to take it
  double goal;    ///< of the residual norm
  int iteration;
  int most_iterations;
  int stop;  ///< CgStop
};

/// What the host wants to know of the latest iterations, by iteration modulo `kept_iterations`.
inline constexpr int kept_iterations = 128;
struct CgRecord {
  double residual[kept_iterations];  ///< norm before the iteration
  double alpha[kept_iterations];
  double beta[kept_iterations];
};

__device__ inline bool is_finite(double x) { return x - x == 0; }

/// What the sums before an iteration say.
__device__ inline CgStop judge_sums(const CgState& state, int iteration, double residual, double rho) {
  if (!is_finite(residual)) return CgStop::not_finite;
  if (residual <= state.goal) return CgStop::converged;
  if (iteration >= state.most_iterations) return CgStop::max_iterations;
  if (!is_finite(rho)) return CgStop::not_finite;
  return rho <= 0 ? CgStop::bad_preconditioner : CgStop::none;
}

}  // namespace voussoir::cuda
