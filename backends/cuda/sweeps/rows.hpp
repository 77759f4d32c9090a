#pragma once
#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/cuda/sweeps/sweep_task.hpp>

namespace voussoir::cuda {

/// Whether the systems of a batch are contiguous and so aligned that each of them can be copied as a whole stretch.
template <class T>
bool has_bulk_rows(const SweepTask<T>& task);

/// Solves contiguous systems that stay on the chip from the first to the last access: everything is read once and
/// written once, in whole stretches, while the block computes with the systems before. False where the systems or
/// the GPU do not allow it. Inside a section.
template <class T>
bool solve_rows(const SweepTask<T>& task, const std::shared_ptr<DeviceMemory>& memory);

}  // namespace voussoir::cuda
