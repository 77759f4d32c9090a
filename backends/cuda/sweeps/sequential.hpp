#pragma once
#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/cuda/sweeps/sweep_task.hpp>

namespace voussoir::cuda {

/// The classical sweep: a thread for each system, one pass forward, one backward. Inside a section.
template <class T>
void solve_sequentially(const SweepTask<T>& task, const std::shared_ptr<DeviceMemory>& memory);

}  // namespace voussoir::cuda
