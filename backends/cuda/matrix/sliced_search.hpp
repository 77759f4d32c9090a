#pragma once
#include <voussoir/backends/cuda/matrix/sliced_rows.hpp>

namespace voussoir::cuda {

/// Which entry of the row at `place` has this column, or −1. The columns of the row ascend.
__device__ inline std::int32_t find_column(const SlicedView& rows, std::int32_t place, std::int32_t column) {
  const std::int32_t* own =
      rows.column + static_cast<std::int64_t>(rows.slice_first[place / slice_rows]) * slice_rows + place % slice_rows;
  std::int32_t low = 0, high = rows.length[place];
  while (low < high) {
    const std::int32_t middle = (low + high) / 2;
    if (own[static_cast<std::int64_t>(middle) * slice_rows] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < rows.length[place] && own[static_cast<std::int64_t>(low) * slice_rows] == column ? low : -1;
}

}  // namespace voussoir::cuda
