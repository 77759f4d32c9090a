#include <voussoir/solvers/direct/detail/dense_ldlt.hpp>

#include <algorithm>
#include <cstring>

namespace voussoir::detail {
namespace {

#if defined(__AVX512F__)
constexpr int lanes = 8;
#elif defined(__AVX__)
constexpr int lanes = 4;
#else
constexpr int lanes = 2;
#endif
typedef double Lanes __attribute__((vector_size(lanes * sizeof(double))));

// A tile of C lives in registers: 8 × 4 numbers in registers of two lanes, 8 × 6 in those of four, 16 × 6 in those of
// eight. With more columns, GCC keeps some sums in memory.
constexpr int tile_rows = lanes == 8 ? 16 : 8;
constexpr int tile_columns = lanes == 2 ? 4 : 6;
constexpr int tile_vectors = tile_rows / lanes;
// Sizes of the packed blocks: a strip of B stays in the first-level cache, a block of A in the second.
constexpr std::int64_t block_rows = 96, block_columns = 480, block_depth = 256;

Lanes load(const double* from) {
  Lanes v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
void store(double* to, const Lanes& v) { std::memcpy(to, &v, sizeof v); }

/// Rows of A or B in strips of `strip` rows, depth by depth, filled up with zeros.
void pack(const double* from, std::int64_t stride, std::int64_t rows, std::int64_t depth, int strip, double* to) {
  for (std::int64_t i = 0; i < rows; i += strip) {
    const std::int64_t some = std::min<std::int64_t>(strip, rows - i);
    for (std::int64_t k = 0; k < depth; ++k, to += strip) {
      const double* const column = from + k * stride + i;
      for (std::int64_t r = 0; r < some; ++r) to[r] = column[r];
      for (std::int64_t r = some; r < strip; ++r) to[r] = 0;
    }
  }
}

/// C −= a b for one tile.
void multiply_tile(const double* a, const double* b, std::int64_t depth, double* c, std::int64_t stride,
                   std::int64_t rows, std::int64_t columns) {
  Lanes sum[tile_columns][tile_vectors];
  for (auto& column : sum)
    for (Lanes& v : column) v = Lanes{};
  for (std::int64_t k = 0; k < depth; ++k, a += tile_rows, b += tile_columns) {
    Lanes left[tile_vectors];
    for (int v = 0; v < tile_vectors; ++v) left[v] = load(a + v * lanes);
    for (int j = 0; j < tile_columns; ++j)
      for (int v = 0; v < tile_vectors; ++v) sum[j][v] += left[v] * b[j];
  }
  if (rows == tile_rows && columns == tile_columns) {
    for (int j = 0; j < tile_columns; ++j)
      for (int v = 0; v < tile_vectors; ++v) {
        double* const to = c + j * stride + v * lanes;
        store(to, load(to) - sum[j][v]);
      }
    return;
  }
  double tile[tile_columns][tile_rows];
  for (int j = 0; j < tile_columns; ++j)
    for (int v = 0; v < tile_vectors; ++v) store(&tile[j][v * lanes], sum[j][v]);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) c[j * stride + i] -= tile[j][i];
}

void grow(std::vector<double>& buffer, std::int64_t size) {
  if (static_cast<std::int64_t>(buffer.size()) < size) buffer.resize(static_cast<std::size_t>(size));
}

/// A diagonal block, in place. Returns the number of columns done.
std::int64_t factorise_block(double* a, std::int64_t stride, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) {
    double* const column = a + j * stride;
    const double pivot = column[j];
    if (pivot == 0) return j;
    for (std::int64_t c = j + 1; c < n; ++c) {
      const double factor = column[c] / pivot;
      double* const other = a + c * stride;
      for (std::int64_t i = c; i < n; ++i) other[i] -= factor * column[i];
    }
    for (std::int64_t i = j + 1; i < n; ++i) column[i] /= pivot;
  }
  return n;
}

/// X = A L₁₁⁻ᵀ for the rows below a diagonal block of n columns; X goes to `x`, X D⁻¹ stays in place.
void solve_rows(double* below, std::int64_t stride, const double* block, std::int64_t rows, std::int64_t n, double* x,
                std::int64_t x_stride) {
  constexpr std::int64_t chunk = 64;
  for (std::int64_t first = 0; first < rows; first += chunk) {
    const std::int64_t some = std::min(chunk, rows - first);
    for (std::int64_t j = 0; j < n; ++j) {
      double sum[chunk];
      double* const column = below + j * stride + first;
      for (std::int64_t i = 0; i < some; ++i) sum[i] = column[i];
      for (std::int64_t c = 0; c < j; ++c) {
        const double factor = block[c * stride + j];
        const double* const other = x + c * x_stride + first;
        for (std::int64_t i = 0; i < some; ++i) sum[i] -= factor * other[i];
      }
      const double inverse = 1 / block[j * stride + j];
      double* const to = x + j * x_stride + first;
      for (std::int64_t i = 0; i < some; ++i) {
        to[i] = sum[i];
        column[i] = sum[i] * inverse;
      }
    }
  }
}

/// y −= L t for `some` neighbouring columns of L.
template <int some>
void subtract_columns(const double* l, std::int64_t stride, const double* t, double* y, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = y[i];
    for (int c = 0; c < some; ++c) sum -= l[c * stride + i] * t[c];
    y[i] = sum;
  }
}

/// The products of `some` neighbouring columns of L with y, each in the same order of terms.
template <int some>
void column_products(const double* l, std::int64_t stride, const double* y, std::int64_t rows, double* result) {
  constexpr int at_once = 2 * lanes;
  Lanes sum[some][2];
  for (auto& one : sum) one[0] = one[1] = Lanes{};
  std::int64_t i = 0;
  for (; i + at_once <= rows; i += at_once) {
    const Lanes low = load(y + i), high = load(y + i + lanes);
    for (int c = 0; c < some; ++c) {
      sum[c][0] += load(l + c * stride + i) * low;
      sum[c][1] += load(l + c * stride + i + lanes) * high;
    }
  }
  for (int c = 0; c < some; ++c) {
    const Lanes both = sum[c][0] + sum[c][1];
    double total = 0;
    for (int v = 0; v < lanes; ++v) total += both[v];
    for (std::int64_t r = i; r < rows; ++r) total += l[c * stride + r] * y[r];
    result[c] = total;
  }
}

constexpr std::int64_t columns_at_once = 4;

void forwards_one(const double* panel, std::int64_t height, std::int64_t width, double* x) {
  for (std::int64_t j = 0; j < width; j += columns_at_once) {
    const std::int64_t some = std::min(columns_at_once, width - j);
    for (std::int64_t c = j; c < j + some; ++c)
      for (std::int64_t r = c + 1; r < j + some; ++r) x[r] -= panel[c * height + r] * x[c];
    const std::int64_t below = j + some;
    const double* const l = panel + j * height + below;
    if (some == columns_at_once)
      subtract_columns<columns_at_once>(l, height, x + j, x + below, height - below);
    else
      for (std::int64_t c = 0; c < some; ++c)
        subtract_columns<1>(l + c * height, height, x + j + c, x + below, height - below);
  }
}

void backwards_one(const double* panel, std::int64_t height, std::int64_t width, double* x) {
  const std::int64_t last = width > 0 ? (width - 1) / columns_at_once * columns_at_once : -1;
  for (std::int64_t j = last; j >= 0; j -= columns_at_once) {
    const std::int64_t some = std::min(columns_at_once, width - j), below = j + some;
    double product[columns_at_once];
    const double* const l = panel + j * height + below;
    if (some == columns_at_once)
      column_products<columns_at_once>(l, height, x + below, height - below, product);
    else
      for (std::int64_t c = 0; c < some; ++c)
        column_products<1>(l + c * height, height, x + below, height - below, product + c);
    for (std::int64_t c = below - 1; c >= j; --c) {
      double value = x[c] / panel[c * height + c] - product[c - j];
      for (std::int64_t r = c + 1; r < below; ++r) value -= panel[c * height + r] * x[r];
      x[c] = value;
    }
  }
}

/// x₂ −= L t for some neighbouring columns of L and a block of right-hand sides.
template <int some>
void subtract_columns_of_many(const double* l, std::int64_t stride, const double* t, double* x, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i, x += solve_block) {
    double sum[solve_block];
    for (int c = 0; c < solve_block; ++c) sum[c] = x[c];
    for (int k = 0; k < some; ++k)
      for (int c = 0; c < solve_block; ++c) sum[c] -= l[k * stride + i] * t[k * solve_block + c];
    for (int c = 0; c < solve_block; ++c) x[c] = sum[c];
  }
}

/// t −= Lᵀ x₂
template <int some>
void subtract_products_of_many(const double* l, std::int64_t stride, const double* x, std::int64_t rows, double* t) {
  double sum[some][solve_block] = {};
  for (std::int64_t i = 0; i < rows; ++i, x += solve_block)
    for (int k = 0; k < some; ++k)
      for (int c = 0; c < solve_block; ++c) sum[k][c] += l[k * stride + i] * x[c];
  for (int k = 0; k < some; ++k)
    for (int c = 0; c < solve_block; ++c) t[k * solve_block + c] -= sum[k][c];
}

void forwards_many(const double* panel, std::int64_t height, std::int64_t width, double* x) {
  for (std::int64_t j = 0; j < width; j += columns_at_once) {
    const std::int64_t some = std::min(columns_at_once, width - j), below = j + some;
    for (std::int64_t k = j; k < below; ++k)
      subtract_columns_of_many<1>(panel + k * height + k + 1, height, x + k * solve_block, x + (k + 1) * solve_block,
                                  below - k - 1);
    const double* const l = panel + j * height + below;
    if (some == columns_at_once)
      subtract_columns_of_many<columns_at_once>(l, height, x + j * solve_block, x + below * solve_block,
                                                height - below);
    else
      for (std::int64_t k = 0; k < some; ++k)
        subtract_columns_of_many<1>(l + k * height, height, x + (j + k) * solve_block, x + below * solve_block,
                                    height - below);
  }
}

void backwards_many(const double* panel, std::int64_t height, std::int64_t width, double* x) {
  const std::int64_t last = width > 0 ? (width - 1) / columns_at_once * columns_at_once : -1;
  for (std::int64_t j = last; j >= 0; j -= columns_at_once) {
    const std::int64_t some = std::min(columns_at_once, width - j), below = j + some;
    for (std::int64_t k = j; k < below; ++k)
      for (int c = 0; c < solve_block; ++c) x[k * solve_block + c] /= panel[k * height + k];
    const double* const l = panel + j * height + below;
    if (some == columns_at_once)
      subtract_products_of_many<columns_at_once>(l, height, x + below * solve_block, height - below,
                                                 x + j * solve_block);
    else
      for (std::int64_t k = 0; k < some; ++k)
        subtract_products_of_many<1>(l + k * height, height, x + below * solve_block, height - below,
                                     x + (j + k) * solve_block);
    for (std::int64_t k = below - 1; k >= j; --k)
      subtract_products_of_many<1>(panel + k * height + k + 1, height, x + (k + 1) * solve_block, below - k - 1,
                                   x + k * solve_block);
  }
}

}  // namespace

void subtract_product(double* c, std::int64_t c_stride, const double* a, std::int64_t a_stride, const double* b,
                      std::int64_t b_stride, std::int64_t m, std::int64_t n, std::int64_t k, ProductBuffers& buffers) {
  if (m <= 0 || n <= 0 || k <= 0) return;
  grow(buffers.a, (block_rows + tile_rows) * block_depth);
  grow(buffers.b, (block_columns + tile_columns) * block_depth);
  for (std::int64_t k0 = 0; k0 < k; k0 += block_depth) {
    const std::int64_t depth = std::min(block_depth, k - k0);
    for (std::int64_t j0 = 0; j0 < n; j0 += block_columns) {
      const std::int64_t columns = std::min(block_columns, n - j0);
      pack(b + k0 * b_stride + j0, b_stride, columns, depth, tile_columns, buffers.b.data());
      for (std::int64_t i0 = 0; i0 < m; i0 += block_rows) {
        const std::int64_t rows = std::min(block_rows, m - i0);
        pack(a + k0 * a_stride + i0, a_stride, rows, depth, tile_rows, buffers.a.data());
        for (std::int64_t j = 0; j < columns; j += tile_columns)
          for (std::int64_t i = 0; i < rows; i += tile_rows)
            multiply_tile(buffers.a.data() + i * depth, buffers.b.data() + j * depth, depth,
                          c + (j0 + j) * c_stride + i0 + i, c_stride, std::min<std::int64_t>(tile_rows, rows - i),
                          std::min<std::int64_t>(tile_columns, columns - j));
      }
    }
  }
}

void subtract_lower_product(double* c, std::int64_t c_stride, const double* a, std::int64_t a_stride, const double* b,
                            std::int64_t b_stride, std::int64_t n, std::int64_t k, ProductBuffers& buffers) {
  constexpr std::int64_t step = 96;
  for (std::int64_t j = 0; j < n; j += step)
    subtract_product(c + j * c_stride + j, c_stride, a + j, a_stride, b + j, b_stride, n - j, std::min(step, n - j), k,
                     buffers);
}

PanelOutcome factorise_panel(double* panel, std::int64_t height, std::int64_t width, std::vector<double>& scaled,
                             ProductBuffers& buffers) {
  constexpr std::int64_t step = 48;
  const std::int64_t below = height - width;
  grow(scaled, below * width + height * step);
  double* const own = scaled.data() + below * width;  // X of this step, all rows below its diagonal block
  for (std::int64_t first = 0; first < width; first += step) {
    const std::int64_t some = std::min(step, width - first), next = first + some, rows = height - next;
    double* const block = panel + first * height + first;
    if (const std::int64_t done = factorise_block(block, height, some); done < some) return {first + done};
    solve_rows(block + some, height, block, rows, some, own, rows);
    for (std::int64_t j = 0; j < some; ++j)
      std::copy_n(own + j * rows + (width - next), below, scaled.data() + (first + j) * below);
    // The other columns of the panel, on and below the diagonal.
    for (std::int64_t j = next; j < width; j += step) {
      const std::int64_t columns = std::min(step, width - j);
      subtract_product(panel + j * height + j, height, own + (j - next), rows, panel + first * height + j, height,
                       height - j, columns, some, buffers);
    }
  }
  return {width};
}

void solve_panel_forwards(const double* panel, std::int64_t height, std::int64_t width, double* x, int columns) {
  if (columns == 1)
    forwards_one(panel, height, width, x);
  else
    forwards_many(panel, height, width, x);
}

void solve_panel_backwards(const double* panel, std::int64_t height, std::int64_t width, double* x, int columns) {
  if (columns == 1)
    backwards_one(panel, height, width, x);
  else
    backwards_many(panel, height, width, x);
}

}  // namespace voussoir::detail
