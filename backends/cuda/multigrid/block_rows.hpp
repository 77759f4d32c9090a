#pragma once
#include <memory>

#include <voussoir/backends/cuda/matrix/sparse_matrix.hpp>

namespace voussoir::cuda {

/// The block columns of one device by their numbers among all: its own from `first` on, then those of other devices.
/// Without `others` they keep the numbers that they have on the device, in whose order they stand.
struct ColumnNumbers {
  std::int32_t own = 0;
  std::int32_t first = 0;
  const std::int32_t* others = nullptr;

  __device__ std::int32_t operator()(std::int32_t column) const {
    return !others ? column : column < own ? first + column : others[column - own];
  }
};

/// The block rows of a matrix on one of its devices, each of them one stretch, columns by their numbers among all and
/// ascending.
struct BlockRowPattern {
  Array<std::int64_t> start;   ///< per row, and the total
  Array<std::int32_t> column;  ///< per block
  Array<std::int32_t> source;  ///< which block of the device's row it is; empty: they stand in the same order
};

/// Inside a section of the device; waits.
BlockRowPattern list_block_rows(const CudaSparseMatrix& matrix, int device, const ColumnNumbers& numbers);

/// The numbers of these rows, in the layout of a LevelMatrix, in double or single precision. Inside a section of the
/// device.
template <class Number>
void copy_block_rows(const CudaSparseMatrix& matrix, int device, const std::int64_t* start, const std::int32_t* source,
                     Number* target);

}  // namespace voussoir::cuda
