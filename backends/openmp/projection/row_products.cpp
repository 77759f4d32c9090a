#include <voussoir/backends/openmp/projection/row_products.hpp>

#include <algorithm>

namespace voussoir::cpu {

namespace {

/// Numbers of X that are kept together: with those of A X a part of a second-level cache.
constexpr int kept_numbers = 6144;

/// sum (row_tile × column_tile) += Σ x[r][0 … row_tile] y[r][0 … column_tile]
void add_tile(const double* x, const double* y, int rows, int stride, double* sum) {
  WideColumns a = {}, b = {}, c = {}, d = {};
  static_assert(row_tile == 4);
  for (int r = 0; r < rows; ++r, x += stride, y += stride) {
    const WideColumns right = wide_at(y);
    a += x[0] * right;
    b += x[1] * right;
    c += x[2] * right;
    d += x[3] * right;
  }
  set_wide(sum, wide_at(sum) + a);
  set_wide(sum + stride, wide_at(sum + stride) + b);
  set_wide(sum + 2 * stride, wide_at(sum + 2 * stride) + c);
  set_wide(sum + 3 * stride, wide_at(sum + 3 * stride) + d);
}

/// row_tile rows of a x, for one tile of columns.
void multiply_tile(const double* matrix, int size, const double* x, int stride, double* y) {
  WideColumns a = {}, b = {}, c = {}, d = {};
  for (int k = 0; k < size; ++k, x += stride) {
    const WideColumns right = wide_at(x);
    a += matrix[k] * right;
    b += matrix[size + k] * right;
    c += matrix[2 * size + k] * right;
    d += matrix[3 * size + k] * right;
  }
  set_wide(y, a);
  set_wide(y + stride, b);
  set_wide(y + 2 * stride, c);
  set_wide(y + 3 * stride, d);
}

void multiply_row(const double* matrix, int size, const double* x, int stride, double* y) {
  WideColumns a = {};
  for (int k = 0; k < size; ++k, x += stride) a += matrix[k] * wide_at(x);
  set_wide(y, a);
}

}  // namespace

RowProducts::RowProducts(int columns, bool upper)
    : columns_(columns), stride_(padded_columns(columns)), upper_(upper), most_rows_(kept_numbers / stride_) {
  sum_.assign(static_cast<std::size_t>(stride_) * static_cast<std::size_t>(stride_), 0.0);
}

void RowProducts::open(int rows) {
  if (rows_ > 0 && rows_ + rows > most_rows_) flush();
  const auto room = static_cast<std::size_t>(std::max(most_rows_, rows)) * static_cast<std::size_t>(stride_);
  if (x_.size() < room) {  // zeros, as padding is never written
    x_.resize(room, 0.0);
    y_.resize(room, 0.0);
  }
}

void RowProducts::flush() {
  for (int i = 0; i < columns_; i += row_tile)
    for (int j = upper_ ? i / column_tile * column_tile : 0; j < columns_; j += column_tile)
      add_tile(x_.data() + i, y_.data() + j, rows_, stride_,
               sum_.data() + static_cast<std::ptrdiff_t>(i) * stride_ + j);
  rows_ = 0;
}

void RowProducts::finish(double* sum) {
  flush();
  for (int i = 0; i < columns_; ++i)
    for (int j = upper_ ? i : 0; j < columns_; ++j)
      sum[static_cast<std::ptrdiff_t>(i) * columns_ + j] +=
          sum_[static_cast<std::size_t>(i) * static_cast<std::size_t>(stride_) + static_cast<std::size_t>(j)];
  std::fill(sum_.begin(), sum_.end(), 0.0);
}

void multiply_rows(const double* a, int rows, const double* x, int stride, double* y) {
  for (int j = 0; j < stride; j += column_tile) {
    int i = 0;
    for (; i + row_tile <= rows; i += row_tile)
      multiply_tile(a + static_cast<std::ptrdiff_t>(i) * rows, rows, x + j, stride,
                    y + static_cast<std::ptrdiff_t>(i) * stride + j);
    for (; i < rows; ++i)
      multiply_row(a + static_cast<std::ptrdiff_t>(i) * rows, rows, x + j, stride,
                   y + static_cast<std::ptrdiff_t>(i) * stride + j);
  }
}

}  // namespace voussoir::cpu
