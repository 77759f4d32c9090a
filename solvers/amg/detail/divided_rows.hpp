#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/solvers/amg/detail/device_threads.hpp>
#include <voussoir/solvers/amg/detail/divided_nodes.hpp>

// Rows of matrices that devices take from each other while a divided hierarchy is set up. Values go from device to
// device; the host sees the numbers of rows and columns at the borders.

namespace voussoir::detail {

/// The columns of a device's rows that it owns: a square matrix.
LevelMatrix own_columns(DividedMultigrid& services, const LevelMatrix& a, int device);

/// The matrices of all devices, each followed by the rows of other devices that `wanted` lists, in that order. `rows`
/// numbers the rows of the matrices and `columns` their columns; those that a device does not have yet become ghosts.
DeviceMatrices stack_rows(Backend& backend, DeviceThreads& threads, const DeviceMatrices& matrices,
                          const DividedNodes& rows, const std::vector<std::vector<std::int64_t>>& wanted,
                          DividedNodes& columns);

/// The nodes of other devices, ascending, whose rows have a block in a column that the device owns; by devices.
std::vector<std::vector<std::int64_t>> rows_that_reach(DividedMultigrid& services, DeviceThreads& threads,
                                                       const DeviceMatrices& matrices, const DividedNodes& rows,
                                                       const DividedNodes& columns);

/// The first rows of a matrix in double precision.
LevelMatrix first_rows(const std::shared_ptr<DeviceMemory>& memory, const LevelMatrix& a, std::int32_t rows);

/// All rows of a level on the first device, in the order of the nodes.
LevelMatrix gather_rows(Backend& backend, DeviceThreads& threads, const DeviceMatrices& matrices,
                        const DividedNodes& nodes);

}  // namespace voussoir::detail
