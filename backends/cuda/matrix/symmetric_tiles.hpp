#pragma once
#include <cstdint>
#include <memory>

#include <voussoir/backends/cuda/matrix/sliced_rows.hpp>
#include <voussoir/backends/cuda/matrix/symmetric_mirror.hpp>

namespace voussoir::cuda {

/// Eight numbers of the lists of a tile, read at once.
struct alignas(16) ListGroup {
  std::uint16_t number[8];
};

/// How half a matrix is multiplied. The matrix is symmetric, and of each block and its mirror image only the one with
/// the larger column is stored; columns of other devices, whose mirror images are rows of those devices, all are. So
/// the first block of a row is the one on the diagonal.
///
/// Rows are cut in tiles of `tile_rows`, sorted within them, a thread per row. Block k of the row at place p of a tile
/// times x gives a share of y in its own row, and its mirror image one in another, which goes to slot (k, p) of shared
/// memory. Receivers collect what is theirs: number r below tile_rows is the row at place r of the tile, the others are
/// the outer columns, those behind the tile, ascending. What is collected for outer columns is handed over in memory,
/// and rows add what arrives for them when all tiles are done, in the order of the tiles.
struct SymmetricTiles {
  std::int32_t tiles = 0;
  int longest = 0;               ///< row
  std::int64_t outer_count = 0;  ///< outer columns of all tiles
  std::uint32_t most_groups = 0;
  Array<std::uint32_t> outer_start;  ///< per tile, its first outer column, and the total
  /// Per tile, where its lists begin in `lists`: receivers + 1 numbers that say where the slots of a receiver begin,
  /// counted from the first slot, then the slots, k << 8 | p each, ascending for each receiver.
  Array<std::uint32_t> list_start;
  Array<ListGroup> lists;
  Array<std::uint32_t> arrival_start;    ///< per row, its first arrival, and the total
  Array<std::uint32_t> arrival;          ///< numbers of outer columns, ascending for each row
  mutable Array<double> handed;          ///< shares of y for outer columns
  mutable Array<double> handed_several;  ///< the same for several columns of y
  mutable MirroredBlocks mirrored;       ///< made for the first product with many columns
  std::int32_t interior_tiles = 0;       ///< first ones, none of whose rows has a column of another device

  std::size_t bytes() const {
    return outer_start.bytes() + list_start.bytes() + lists.bytes() + arrival_start.bytes() + arrival.bytes() +
           handed.bytes() + handed_several.bytes() + mirrored.bytes();
  }
  /// Bytes of them that a product of one column moves; what is handed over is written and read again.
  std::size_t bytes_moved(int block_size) const;
};

/// Whether it is worth while to look for tiles for a matrix of so many rows.
bool prefers_half(std::int32_t rows, int block_size);

/// The rows of a pattern from the diagonal on, sorted within tiles. Inside a section; waits.
SlicedRows take_half(const SlicedRows& whole, const std::shared_ptr<DeviceMemory>& memory);

/// The tiles of half a pattern, or null where the whole matrix is the better choice: where it is small, where rows are
/// very long, or where neighbouring rows have so little in common that much would have to be handed over. Inside a
/// section; waits.
std::unique_ptr<SymmetricTiles> make_tiles(const SlicedRows& half, int block_size,
                                           const std::shared_ptr<DeviceMemory>& memory);

}  // namespace voussoir::cuda
