#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/dense_block_services.hpp>

namespace voussoir::detail {

/// Rows of dense blocks whose equations a device owns, sorted by equation, and for one equation by block.
struct DenseBlockRows {
  std::int32_t equations = 0;        ///< that the device owns
  Array<std::int64_t> row_start;     ///< first row of each owned equation, and the number of rows
  Array<std::int64_t> value_start;   ///< first number of each row
  Array<std::int32_t> column_start;  ///< where the columns of the row's block begin in `column`
  Array<std::int32_t> length;        ///< numbers of each row
  Array<std::int32_t> column;        ///< local equations of each block
  Array<double> value;               ///< row by row
  std::size_t bytes() const;
};

/// Checks the blocks and makes the rows of each device of a layout.
std::vector<DenseBlockRows> dense_block_rows(const Layout& layout, std::span<const DenseBlock> blocks);

/// "3 dense blocks of 27 to 81 equations, 0.1 MB"
std::string describe_dense_blocks(std::span<const DenseBlock> blocks, std::size_t bytes);

}  // namespace voussoir::detail
