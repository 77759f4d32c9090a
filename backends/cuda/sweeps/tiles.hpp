#pragma once
#include <memory>

#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/cuda/sweeps/sweep_task.hpp>

namespace voussoir::cuda {

/// Solves systems that lie side by side, rectangles of which the copy engine brings. Returns false, and does nothing,
/// where the GPU cannot do that, the layout does not allow it or the systems are too long.
template <class T>
bool solve_tiles(const SweepTask<T>& task, const std::shared_ptr<DeviceMemory>& memory);

}  // namespace voussoir::cuda
