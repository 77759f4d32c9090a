#pragma once
#include <cstdint>
#include <memory>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>

namespace voussoir::cuda {

/// Rows side by side in a slice: one for each lane of a warp.
inline constexpr int slice_rows = 32;
/// Rows are sorted by length within windows of this many, so that rows of a slice are about equally long.
inline constexpr int sort_window = 1024;
/// Rows of a tile of half a matrix (symmetric_tiles.hpp), within which they are sorted there.
inline constexpr int tile_rows = 256;
/// Slices wider than this are long: a thread alone would be at them when all others have finished.
inline constexpr int long_width = 512;
/// A matrix with more of them is wide altogether, and they are slices like others.
inline constexpr std::int32_t most_long_slices = 256;

/// Rows in slices, as kernels see them. Place p is lane p % 32 of slice p / 32. A slice is as wide as its longest row;
/// its entries k of all lanes are a cell, and cells are counted through all slices: entry k of a row at place p is in
/// cell slice_first[p / 32] + k, lane p % 32.
struct SlicedView {
  std::int32_t rows = 0;
  std::int32_t slices = 0;
  const std::uint32_t* slice_first = nullptr;  ///< per slice, its first cell, and the total
  const std::int32_t* row = nullptr;           ///< per place, or −1 behind the last row
  const std::int32_t* length = nullptr;        ///< per place
  const std::int32_t* place = nullptr;         ///< per row
  const std::int32_t* column = nullptr;        ///< per cell and lane, ascending in a row; behind its end the row itself
};

/// The pattern of rows on one device, in slices.
struct SlicedRows {
  std::int32_t rows = 0;
  std::int32_t slices = 0;
  std::int64_t cells = 0;
  std::int64_t entries = 0;  ///< without padding
  Array<std::uint32_t> slice_first;
  Array<std::int32_t> row;
  Array<std::int32_t> length;
  Array<std::int32_t> place;
  Array<std::int32_t> column;
  Array<std::int32_t> long_slices;
  mutable std::int32_t interior_slices = -1;  ///< as interior_slices() has counted them; −1: not yet

  /// Inside a section.
  SlicedView view() const;
  /// Numbers in an array with one per cell and lane.
  std::size_t room() const { return static_cast<std::size_t>(cells) * slice_rows; }
  std::size_t bytes() const;
};

/// Slices for `rows` rows of these lengths (on the device), without columns yet. `window` is `sort_window` or
/// `tile_rows`. Inside a section; waits.
SlicedRows make_slices(const std::shared_ptr<DeviceMemory>& memory, std::int32_t rows, const std::int32_t* length,
                       int window = sort_window);

/// The number of first slices of a whole matrix none of whose rows has a column of another device; these are numbered
/// after the rows. 0 where there are long slices. Counted once; waits then. Called inside no section.
std::int32_t interior_slices(const SlicedRows& rows, const std::shared_ptr<DeviceMemory>& memory);

/// Copies one number of the device to the host. Inside a section; waits.
std::uint32_t fetch(const std::shared_ptr<DeviceMemory>& memory, const std::uint32_t* number);

}  // namespace voussoir::cuda
