#include <algorithm>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/detail/checks.hpp>

// Operations on each column of a block of vectors by itself. Entries of one equation stand side by side. Threads
// stride over whole rows, so that each of them stays in its column.

namespace voussoir::cuda {

using voussoir::detail::require_alike;
using voussoir::detail::require_columns;
using voussoir::detail::require_layout;
using voussoir::detail::require_own;
using voussoir::detail::require_per_column;

namespace {

constexpr int width = 256;  // threads per block
constexpr int most_parts = 256;
constexpr std::int64_t fewest_rows = 128;

/// Factors that travel as arguments of a kernel.
struct ColumnFactors {
  static constexpr int most = 32;
  double a[most], b[most];
};

/// y_c = a_c x_c + b_c y_c for `count` columns from `first` on. What a factor of zero multiplies is not read.
__global__ void __launch_bounds__(width) combine_columns(std::int64_t rows, int columns, int first, int count,
                                                         ColumnFactors factors, const double* x, double* y) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * width + threadIdx.x;
  const std::int64_t row = i / count;
  if (row >= rows) return;
  const int c = static_cast<int>(i - row * count);
  const std::int64_t at = row * columns + first + c;
  const double a = factors.a[c], b = factors.b[c];
  y[at] = (a == 0 ? 0.0 : a * x[at]) + (b == 0 ? 0.0 : b * y[at]);
}

/// Sums of products of `count` columns from `first` on over one part of the rows: block = part. A row is taken by
/// `count` neighbouring threads; the rows' sums are added in order.
__global__ void __launch_bounds__(width)
    column_dot_parts(std::int64_t rows, std::int64_t rows_per_part, int columns, int first, int count, const double* x,
                     const double* y, double* partials) {
  VSR_SHARED double sums[width];
  const int thread = static_cast<int>(threadIdx.x), groups = width / count;
  const int group = thread / count, c = thread - group * count;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * rows_per_part;
  const std::int64_t end = begin + rows_per_part < rows ? begin + rows_per_part : rows;
  double sum = 0;
  if (group < groups)
    for (std::int64_t row = begin + group; row < end; row += groups) {
      const std::int64_t at = row * columns + first + c;
      sum += x[at] * y[at];
    }
  sums[thread] = sum;
  __syncthreads();
  if (thread < count) {
    double total = 0;
    for (int g = 0; g < groups; ++g) total += sums[g * count + thread];
    partials[static_cast<std::int64_t>(blockIdx.x) * columns + first + thread] = total;
  }
}

/// The parts of each column, in order: a thread per column.
__global__ void __launch_bounds__(width)
    add_column_parts(int parts, int columns, const double* partials, double* result) {
  const int c = static_cast<int>(blockIdx.x) * width + static_cast<int>(threadIdx.x);
  if (c >= columns) return;
  double total = 0;
  for (int p = 0; p < parts; ++p) total += partials[static_cast<std::int64_t>(p) * columns + c];
  result[c] = total;
}

/// Columns from … of x to columns to … of y.
__global__ void __launch_bounds__(width) copy_some_columns(std::int64_t rows, int count, const double* x, int x_columns,
                                                           int from, double* y, int y_columns, int to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * width + threadIdx.x;
  const std::int64_t row = i / count;
  if (row >= rows) return;
  const std::int64_t c = i - row * count;
  y[row * y_columns + to + c] = x[row * x_columns + from + c];
}

}  // namespace

void CudaBackend::column_dots(const Vector& x, const Vector& y, std::span<double> result) {
  require_own(*this, x, "column_dots");
  require_alike(x, y, "column_dots");
  require_per_column(result.size(), x, "column_dots");
  const int columns = x.columns();
  std::vector<Array<double>> shares;
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const cudaStream_t stream = stream_of(memory(d));
    const std::int64_t rows = x.layout()->owned(d);
    // How many parts there are depends on the length alone, so the order of additions does too.
    const std::int64_t per_part = std::max(fewest_rows, (rows + most_parts - 1) / most_parts);
    const auto parts = static_cast<int>((rows + per_part - 1) / per_part);
    shares.emplace_back(memory(d), static_cast<std::size_t>(columns));
    Array<double> partials(memory(d), std::max<std::size_t>(1, static_cast<std::size_t>(parts)) * result.size());
    const double* px = x.part(d).read_device();
    const double* py = y.part(d).read_device();
    double* sums = partials.write_device();
    for (int first = 0; parts > 0 && first < columns; first += width)
      launch(column_dot_parts, Grid{parts, width, 0}, stream, rows, per_part, columns, first,
             std::min(width, columns - first), px, py, sums);
    launch(add_column_parts, Grid{grid_for(columns, width).blocks, width, 0}, stream, parts, columns, sums,
           shares.back().write_device());
  }
  std::fill(result.begin(), result.end(), 0.0);
  for (const Array<double>& share : shares) {
    const auto values = share.read_host();
    for (std::size_t c = 0; c < result.size(); ++c) result[c] += values[c];
  }
}

void CudaBackend::column_axpby(std::span<const double> a, const Vector& x, std::span<const double> b, Vector& y) {
  require_own(*this, x, "column_axpby");
  require_alike(x, y, "column_axpby");
  require_per_column(a.size(), x, "column_axpby");
  require_per_column(b.size(), y, "column_axpby");
  const int columns = x.columns();
  const bool fresh = std::all_of(b.begin(), b.end(), [](double factor) { return factor == 0; }) && &x != &y;
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const std::int64_t rows = x.layout()->owned(d);
    const double* px = x.part(d).read_device();
    double* py = fresh ? y.part(d).write_device() : y.part(d).update_device();
    for (int first = 0; rows > 0 && first < columns; first += ColumnFactors::most) {
      const int count = std::min(ColumnFactors::most, columns - first);
      ColumnFactors factors = {};
      std::copy_n(a.begin() + first, count, factors.a);
      std::copy_n(b.begin() + first, count, factors.b);
      launch(combine_columns, Grid{grid_for(rows * count, width).blocks, width, 0}, stream_of(memory(d)), rows, columns,
             first, count, factors, px, py);
    }
  }
}

void CudaBackend::copy_columns(const Vector& x, int from, int count, Vector& y, int to) {
  require_own(*this, x, "copy_columns");
  require_layout(*x.layout(), y, "copy_columns");
  require_columns(x, from, count, "copy_columns");
  require_columns(y, to, count, "copy_columns");
  if (&x == &y) throw Error(ErrorCode::misuse, "copy_columns: the two blocks of vectors must be different objects");
  if (count == 0) return;
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const std::int64_t rows = x.layout()->owned(d);
    const double* px = x.part(d).read_device();
    double* py = count == y.columns() ? y.part(d).write_device() : y.part(d).update_device();
    if (rows > 0)
      launch(copy_some_columns, Grid{grid_for(rows * count, width).blocks, width, 0}, stream_of(memory(d)), rows, count,
             px, x.columns(), from, py, y.columns(), to);
  }
}

}  // namespace voussoir::cuda
