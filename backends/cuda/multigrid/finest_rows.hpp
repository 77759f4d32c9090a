#pragma once
#include <memory>

#include <voussoir/backends/cuda/matrix/sparse_matrix.hpp>
#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/multigrid.hpp>

namespace voussoir::cuda {

// From an assembled matrix to the block rows of the finest level, on the first device. Each way has a first time, which
// makes the pattern as well, and a way to bring new numbers into a pattern that was made before, in the precision that
// there is room for.

/// A matrix on one device whose block rows are the nodes: whole rows or half of them, in slices.
void take_block_rows(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);
void refill_block_rows(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);

/// The same of a matrix that is spread over several devices.
void take_gathered_rows(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);
void refill_gathered_rows(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory,
                          LevelMatrix& rows);

/// A matrix whose rows are equations, while nodes have several of them, or different numbers of them. New numbers come
/// in double precision.
void take_equation_rows(const DeviceModel& model, const CudaSparseMatrix& matrix,
                        const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);
void refill_equation_rows(const DeviceModel& model, const CudaSparseMatrix& matrix,
                          const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows);

}  // namespace voussoir::cuda
