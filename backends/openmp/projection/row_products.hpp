#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

// Products of small matrices with rows of X, in tiles that stay in registers.

namespace voussoir::cpu {

/// Columns are taken so many at a time, and rows of X are padded to a multiple of them.
inline constexpr int column_tile = 8;
/// Rows of a tile.
inline constexpr int row_tile = 4;

/// Columns of a tile as the compiler keeps them: in registers, whatever their width.
typedef double WideColumns __attribute__((vector_size(column_tile * sizeof(double))));
typedef double LooseColumns __attribute__((vector_size(column_tile * sizeof(double)), aligned(8)));

inline WideColumns wide_at(const double* p) { return *reinterpret_cast<const LooseColumns*>(p); }
inline void set_wide(double* p, WideColumns value) { *reinterpret_cast<LooseColumns*>(p) = value; }

inline int padded_columns(int columns) { return (columns + column_tile - 1) / column_tile * column_tile; }

/// Rows of X and of A X, as many as are multiplied together, and the sum of their products.
class RowProducts {
 public:
  /// For `columns` columns of X. `upper`: only the upper triangle of the sum is wanted.
  RowProducts(int columns, bool upper);

  int columns() const { return columns_; }
  int stride() const { return stride_; }  ///< from a row to the next
  /// Makes room for `rows` more rows. If the buffer is full, its rows are added to the sums first.
  void open(int rows);
  double* x() { return x_.data() + static_cast<std::ptrdiff_t>(rows_) * stride_; }  ///< the rows that were opened
  double* y() { return y_.data() + static_cast<std::ptrdiff_t>(rows_) * stride_; }  ///< those of A X
  /// The rows that were opened last have been written.
  void close(int rows) { rows_ += rows; }
  /// Adds XᵀY of all rows to `sum`, columns × columns by rows.
  void finish(double* sum);

 private:
  void flush();

  int columns_, stride_;
  bool upper_;
  int rows_ = 0, most_rows_;
  std::vector<double> x_, y_, sum_;
};

/// y = a x: a is rows × rows, whole; x and y have `stride` numbers per row, a multiple of column_tile.
void multiply_rows(const double* a, int rows, const double* x, int stride, double* y);

}  // namespace voussoir::cpu
