#pragma once
#include <cstdint>
#include <memory>

#include <voussoir/backends/cuda/matrix/sliced_rows.hpp>
#include <voussoir/backends/cuda/matrix/sparse_product.hpp>

namespace voussoir::cuda {

/// Where the blocks that half a matrix leaves out are to be found: see MirrorView. Products with many columns read
/// blocks twice rather than hand over sums for every column.
struct MirroredBlocks {
  Array<std::uint32_t> slice_first;
  Array<std::int32_t> length;
  Array<std::int32_t> column;
  Array<std::uint32_t> stored;

  /// Inside a section.
  MirrorView view() const {
    return {slice_first.read_device(), length.read_device(), column.read_device(), stored.read_device()};
  }
  std::size_t bytes() const { return slice_first.bytes() + length.bytes() + column.bytes() + stored.bytes(); }
};

/// Inside a section; waits.
MirroredBlocks make_mirrored(const SlicedRows& half, const std::shared_ptr<DeviceMemory>& memory);

/// Calls visit(k, column) for the blocks of the row at a place of half a matrix that have a mirror image on this
/// device.
template <class Visit>
__device__ inline void for_mirrored(const SlicedView& rows, std::int64_t p, Visit visit) {
  if (p >= static_cast<std::int64_t>(rows.slices) * slice_rows) return;
  const std::int32_t length = rows.length[p];
  const std::int32_t* own =
      rows.column + static_cast<std::int64_t>(rows.slice_first[p / slice_rows]) * slice_rows + p % slice_rows;
  for (std::int32_t k = 1; k < length; ++k) {
    const std::int32_t column = own[static_cast<std::int64_t>(k) * slice_rows];
    if (column >= rows.rows) return;  // and those behind it
    visit(k, column);
  }
}

}  // namespace voussoir::cuda
