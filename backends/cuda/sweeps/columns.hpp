#pragma once
#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/cuda/sweeps/sweep_task.hpp>

namespace voussoir::cuda {

/// Solves systems of any length and strides, straight from and to memory: neighbouring threads have neighbouring
/// systems, and the rows of a system are distributed over the threads of a block, of a cluster of blocks, or, in two
/// passes, of as many blocks as it takes. Inside a section.
template <class T>
void solve_columns(const SweepTask<T>& task, const std::shared_ptr<DeviceMemory>& memory);

}  // namespace voussoir::cuda
