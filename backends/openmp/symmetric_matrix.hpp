#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/openmp/cpu_matrix.hpp>
#include <voussoir/backends/openmp/symmetric_kernels.hpp>

namespace voussoir::cpu {

/// A stretch of the concatenated lists of outer columns.
struct OuterRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

/// The pattern of half a matrix as pointers, and how to find one's way in it.
struct SymmetricView {
  SymmetricRows half;
  std::int32_t rows = 0;
  std::int32_t tile_rows = 1;
  const std::int32_t* outer_column = nullptr;  ///< local columns, tile by tile, ascending within a tile
  const std::int32_t* outer_start = nullptr;   ///< per tile, where its outer columns start, and the total

  RowRange tile(std::int32_t t) const { return {t * tile_rows, std::min(rows, (t + 1) * tile_rows)}; }
  /// Where the columns outside the tile begin in a row.
  std::int64_t split(std::int32_t row) const { return half.rows.row_start[row + 1] - half.outer[row]; }
  /// Local block column of stored block k, which is in `row`.
  std::int32_t column(std::int32_t row, std::int64_t k) const {
    const std::int32_t at = half.rows.column[k];
    return k < split(row) ? at : outer_column[outer_start[row / tile_rows] + at];
  }
  /// The stored block at `row` and a column not left of it, or −1.
  std::int64_t find(std::int32_t row, std::int32_t column) const;
};

/// The matrix of a model whose elements all give symmetric matrices: of each block and its mirror image only the one
/// with the larger column is stored. Columns that other devices own are stored too; their mirror
/// images are rows of those devices.
///
/// Rows are cut in tiles. A tile's product touches entries of y beyond its own rows, where it meets other tiles: those
/// shares are kept apart and handed over when all tiles are done, in the order of the tiles. Tiles follow from the
/// number of rows alone, so that results do not depend on threads.
class CpuSymmetricMatrix final : public CpuMatrix {
 public:
  struct Part : StoredRows {
    std::int32_t tile_rows = 1;
    Array<std::int32_t> outer;                ///< per row, how many of its columns lie outside its tile
    Array<std::int32_t> outer_column;         ///< see SymmetricView
    std::vector<std::int32_t> outer_start;    ///< see SymmetricView
    std::vector<OuterRange> arrivals;         ///< outer columns of other tiles, grouped by the tile that has these rows
    std::vector<std::int32_t> arrival_start;  ///< per tile, its first arrival, and the total
    std::vector<std::int32_t> first_tile;     ///< per thread, its first tile
    std::vector<BlockPositions> positions;    ///< per batch
    mutable Array<double> handed;             ///< shares of y for outer columns

    std::int32_t tiles() const { return (rows + tile_rows - 1) / tile_rows; }
    /// Inside a section.
    SymmetricView view(int block_size) const;
    SymmetricView host_view(int block_size) const;
    /// Cuts tiles, once row_start and column (local, ascending, none left of the diagonal) are there; inside a section.
    void cut(const std::shared_ptr<DeviceMemory>& memory, int block_size, int threads);
  };

  /// Without a pattern yet: the parts are for the one who makes it to fill.
  CpuSymmetricMatrix(const DeviceModel& model, int block_size, int threads);

  void apply(const Vector& x, Vector& y) const override;
  double apply_dot(const Vector& x, Vector& y) const override;
  std::size_t bytes() const override;
  std::size_t bytes_moved() const override;
  /// Blocks in memory: those on and right of the diagonal, and those in columns of other devices.
  std::int64_t stored_blocks() const override;
  HostMatrix to_host() const override;
  void copy_diagonal(int device, int block_size, double* values) const override;

  Part& part(int device) { return parts_[static_cast<std::size_t>(device)]; }
  const Part& part(int device) const { return parts_[static_cast<std::size_t>(device)]; }
  const DeviceModel& model() const { return model_; }

 private:
  std::string storage() const override { return ", symmetric half"; }
  /// y = A x on one device; finish(tile, rows, x, y) follows each tile that is complete.
  template <class Finish>
  void multiply(int device, const Vector& x, Vector& y, Finish&& finish) const;

  const DeviceModel& model_;
  std::vector<Part> parts_;
};

}  // namespace voussoir::cpu
