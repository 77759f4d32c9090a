#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/solvers/amg/detail/divided_nodes.hpp>

// Rows of matrices that devices send to each other, through the host, while a divided hierarchy is set up.

namespace voussoir::detail {

/// Block rows on the host; columns are numbers among all nodes.
struct HostRows {
  int height = 1;                      ///< rows of a block
  int width = 1;                       ///< columns of a block
  std::vector<std::int64_t> start{0};  ///< first block of each row, and the number of blocks
  std::vector<std::int64_t> column;    ///< of each block
  std::vector<double> value;           ///< as in LevelMatrix
  /// The rows as a matrix on a device, whose columns are these; blocks of a row are sorted by column.
  LevelMatrix upload(const std::shared_ptr<DeviceMemory>& memory, std::int32_t columns) const;
};

/// A matrix whose row i has a unit block in column pick[i], and none where that is −1.
LevelMatrix selection(const std::shared_ptr<DeviceMemory>& memory, std::span<const std::int32_t> pick,
                      std::int32_t columns, int size);

/// The columns of a device's rows that it owns: a square matrix.
LevelMatrix own_columns(MultigridServices& services, const std::shared_ptr<DeviceMemory>& memory, const LevelMatrix& a);

/// All rows of a device's matrix. `columns` numbers its columns.
HostRows rows_to_host(const LevelMatrix& a, const DividedNodes& columns, int device);

/// For each device, the rows of other devices that `wanted` lists, in that order. `rows` numbers the rows of the
/// matrices and `columns` their columns.
std::vector<HostRows> fetch_rows(Backend& backend, const DeviceMatrices& matrices, const DividedNodes& rows,
                                 const std::vector<std::vector<std::int64_t>>& wanted, const DividedNodes& columns);

/// A device's matrix followed by more rows. Columns that the device does not have yet become ghosts.
LevelMatrix stack_rows(const std::shared_ptr<DeviceMemory>& memory, const LevelMatrix& own, const HostRows& more,
                       DividedNodes& columns, int device);

/// The first rows of a matrix in double precision.
LevelMatrix first_rows(const std::shared_ptr<DeviceMemory>& memory, const LevelMatrix& a, std::int32_t rows);

/// All rows of a level on the first device, in the order of the nodes.
LevelMatrix gather_rows(const std::shared_ptr<DeviceMemory>& memory, const DeviceMatrices& matrices,
                        const DividedNodes& nodes);

}  // namespace voussoir::detail
