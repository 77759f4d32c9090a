#pragma once
#include <memory>

#include <voussoir/backends/cuda/sparse_matrix.hpp>
#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/multigrid.hpp>

namespace voussoir::cuda {

// Three ways from an assembled matrix to the block rows of the finest level. Each has a first time, which makes the
// pattern as well, and a way to bring new numbers into a pattern that was made before.

/// A matrix on one device whose block rows are the nodes: whole rows or half of them, in slices. New numbers come in
/// the precision that there is room for.
void take_block_rows(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);
void refill_block_rows(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);

/// A matrix on one device whose rows are equations, while nodes may have different numbers of them.
void take_equation_rows(const DeviceModel& model, const CudaSparseMatrix& matrix,
                        const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);
void refill_equation_rows(const DeviceModel& model, const CudaSparseMatrix& matrix,
                          const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);

/// A matrix on several devices, through the host.
void take_gathered_rows(const DeviceModel& model, const SparseMatrix& matrix,
                        const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);
void refill_gathered_rows(const DeviceModel& model, const SparseMatrix& matrix,
                          const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);

}  // namespace voussoir::cuda
