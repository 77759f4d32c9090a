#pragma once
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/cuda/sweeps/sweep_task.hpp>

namespace voussoir::cuda {

/// A matrix that contiguous systems share, factored for solve_shared_rows(): chunks, cyclic reduction and the closing
/// of the period have all been done, and only right-hand sides are left to compute with.
template <class T>
struct SharedFactors {
  int parts = 0, steps = 0;  ///< chunks, and steps of the reduction; no parts: the matrix is too long
  Array<T> rows;             ///< per row: inverse pivot, lower / pivot, upper / pivot, one array behind the other
  Array<T> chunks;           ///< per chunk: coupling, lower, scale, a, c; then two multipliers for each step
  /// The unknowns before and behind the rows, from the ends (fz, f): a matrix of 2 × 2.
  T closing[4] = {};
  T last_l = 0;  ///< of the last chunk
};

/// Factors a matrix on the host. Returns its lowest fault, of system 0; the factors are then not usable.
template <class T>
voussoir::detail::SweepWord factor_shared(std::span<const T> lower, std::span<const T> diagonal,
                                          std::span<const T> upper, bool periodic, T tolerance,
                                          const std::shared_ptr<DeviceMemory>& memory, SharedFactors<T>& factors);

/// As solve_rows(), for systems that share a matrix; task.lower is null.
template <class T>
bool solve_shared_rows(const SweepTask<T>& task, const SharedFactors<T>& factors,
                       const std::shared_ptr<DeviceMemory>& memory);

}  // namespace voussoir::cuda
