#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/detail/readable_bytes.hpp>
#include <voussoir/backends/openmp/sparse_kernels.hpp>
#include <voussoir/backends/operator.hpp>

namespace voussoir::cpu {

/// Block rows on one device.
struct StoredRows {
  std::int32_t rows = 0;  ///< block rows
  Array<std::int64_t> row_start;
  Array<std::int32_t> column;
  Array<double> value;

  BlockRows read(int block_size) const {
    return {block_size, row_start.read_device(), column.read_device(), value.read_device()};
  }
  std::size_t bytes() const { return row_start.bytes() + column.bytes() + value.bytes(); }
};

/// Where the blocks of an element matrix go: for element e and its nodes a and b, where the columns of node b stand in
/// the first row of node a, counted in stored columns from the start of that row, or `nowhere` where the block is below
/// the diagonal and its mirror image is stored instead. One, two or four bytes each, the fewest that hold the longest
/// row.
struct BlockPositions {
  int bytes_each = 1;
  Array<std::uint8_t> data;
};
template <class Position>
inline constexpr Position nowhere = static_cast<Position>(-1);

/// What the matrices of this backend have in common, however they are stored.
class CpuMatrix : public SparseMatrix {
 public:
  const std::shared_ptr<const Layout>& layout() const override { return layout_; }
  int block_size() const override { return block_size_; }
  std::string describe() const override;
  int threads() const { return threads_; }
  /// ModelRevision::matrices of the model that the pattern was made for.
  std::uint64_t pattern_revision() const { return pattern_revision_; }
  void set_pattern_revision(std::uint64_t revision) { pattern_revision_ = revision; }
  /// Blocks of `block_size` on the diagonal of a device's rows, inside a section.
  virtual void copy_diagonal(int device, int block_size, double* values) const = 0;

 protected:
  CpuMatrix(std::shared_ptr<const Layout> layout, int block_size, int threads);
  /// The kind of storage, for people: follows "CSR matrix" and its like.
  virtual std::string storage() const = 0;
  void require_fitting(const Vector& x, const Vector& y, const char* what) const;
  /// x is read and y written once.
  std::size_t vector_bytes() const;

  std::shared_ptr<const Layout> layout_;
  int block_size_;
  int threads_;
  std::uint64_t pattern_revision_ = 0;
};

/// Cuts pieces of rows into one run per thread, of about equal numbers of blocks: the first piece of each, and the end.
/// Piece p begins with row p · rows_per_piece; row r with block start[r].
std::vector<std::int32_t> share_pieces(const std::int64_t* start, std::int32_t rows, std::int32_t rows_per_piece,
                                       int threads);

using detail::readable_bytes;

}  // namespace voussoir::cpu
