#include <algorithm>

#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Products of tall, narrow matrices: blocks of vectors, entries of one equation side by side.

namespace voussoir {

namespace {

constexpr int tile = 4;                    // a tile of Xᵀ Y is kept in registers
constexpr std::ptrdiff_t strip_rows = 64;  // rows that stay in cache while all tiles pass over them
constexpr std::ptrdiff_t most_parts = 128;

void full_tile(const double* x, int m, const double* y, int n, std::ptrdiff_t rows, double* result) {
  double sum[tile][tile] = {};
  for (std::ptrdiff_t r = 0; r < rows; ++r, x += m, y += n)
    for (int i = 0; i < tile; ++i)
      for (int j = 0; j < tile; ++j) sum[i][j] += x[i] * y[j];
  for (int i = 0; i < tile; ++i)
    for (int j = 0; j < tile; ++j) result[i * n + j] += sum[i][j];
}

void edge_tile(const double* x, int m, const double* y, int n, std::ptrdiff_t rows, int height, int width,
               double* result) {
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j) {
      double sum = 0;
      for (std::ptrdiff_t r = 0; r < rows; ++r) sum += x[r * m + i] * y[r * n + j];
      result[i * n + j] += sum;
    }
}

void add_products(const double* x, int m, const double* y, int n, std::ptrdiff_t rows, double* result) {
  for (std::ptrdiff_t first = 0; first < rows; first += strip_rows) {
    const std::ptrdiff_t count = std::min(strip_rows, rows - first);
    for (int i = 0; i < m; i += tile)
      for (int j = 0; j < n; j += tile) {
        const int height = std::min(tile, m - i), width = std::min(tile, n - j);
        const double* xs = x + first * m + i;
        const double* ys = y + first * n + j;
        if (height == tile && width == tile)
          full_tile(xs, m, ys, n, count, result + i * n + j);
        else
          edge_tile(xs, m, ys, n, count, height, width, result + i * n + j);
      }
  }
}

}  // namespace

void CpuBackend::block_dot(const Vector& x, const Vector& y, std::span<double> result) {
  cpu::require_own(*this, x, "block_dot");
  cpu::require_layout(*x.layout(), y, "block_dot");
  const int m = x.columns(), n = y.columns();
  const auto entries = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  if (result.size() != entries)
    throw Error(ErrorCode::misuse,
                "block_dot: " + std::to_string(result.size()) + " places for " + std::to_string(entries) + " products");
  std::fill(result.begin(), result.end(), 0.0);
  for (int d = 0; d < devices(); ++d) {
    const std::ptrdiff_t rows = x.layout()->owned(d);
    // How many parts there are depends on the length alone, so the order of additions does too.
    const std::ptrdiff_t per_part = std::max(strip_rows, (rows + most_parts - 1) / most_parts);
    const std::ptrdiff_t parts = (rows + per_part - 1) / per_part;
    std::vector<double> partial(static_cast<std::size_t>(parts) * entries, 0.0);
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    const double* py = y.part(d).read_device();
#pragma omp parallel for num_threads(threads_) schedule(static) if (parts > 1)
    for (std::ptrdiff_t p = 0; p < parts; ++p) {
      const std::ptrdiff_t first = p * per_part;
      add_products(px + first * m, m, py + first * n, n, std::min(per_part, rows - first),
                   partial.data() + static_cast<std::size_t>(p) * entries);
    }
    for (std::ptrdiff_t p = 0; p < parts; ++p)
      for (std::size_t k = 0; k < entries; ++k) result[k] += partial[static_cast<std::size_t>(p) * entries + k];
  }
}

void CpuBackend::block_axpy(const Vector& x, std::span<const double> c, Vector& y) {
  cpu::require_own(*this, x, "block_axpy");
  cpu::require_layout(*x.layout(), y, "block_axpy");
  const int m = x.columns(), n = y.columns();
  if (&x == &y) throw Error(ErrorCode::misuse, "block_axpy: the two blocks of vectors must be different objects");
  if (c.size() != static_cast<std::size_t>(m) * static_cast<std::size_t>(n))
    throw Error(ErrorCode::misuse, "block_axpy: " + std::to_string(c.size()) + " factors where " + std::to_string(m) +
                                       " × " + std::to_string(n) + " are needed");
  const double* pc = c.data();
  for (int d = 0; d < devices(); ++d) {
    const std::ptrdiff_t rows = x.layout()->owned(d);
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    double* py = y.part(d).update_device();
    const std::ptrdiff_t strips = (rows + strip_rows - 1) / strip_rows;
#pragma omp parallel for num_threads(threads_) schedule(static) if (strips > 4)
    for (std::ptrdiff_t s = 0; s < strips; ++s)
      for (std::ptrdiff_t r = s * strip_rows; r < std::min(rows, (s + 1) * strip_rows); ++r) {
        const double* xr = px + r * m;
        double* yr = py + r * n;
        for (int i = 0; i < m; ++i) {
          const double factor = xr[i];
          const double* ci = pc + static_cast<std::ptrdiff_t>(i) * n;
#pragma omp simd
          for (int j = 0; j < n; ++j) yr[j] += factor * ci[j];
        }
      }
  }
}

}  // namespace voussoir
