#include <algorithm>
#include <type_traits>

#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Operations on each column of a block of vectors by itself. Entries of one equation stand side by side, so that a
// loop over rows has an inner loop over columns; the widths that CG works with have their number of columns known to
// the compiler.

namespace voussoir {
namespace {

/// Rows whose products are added together; how many depends on the number of columns alone.
std::size_t rows_of_block(int columns) {
  return std::max<std::size_t>(1, cpu::block_entries / static_cast<std::size_t>(columns));
}

/// Calls work with the number of columns as a constant where it is a usual one, else with 0.
template <class Work>
void with_columns(int columns, const Work& work) {
  switch (columns) {
    case 1:
      return work(std::integral_constant<int, 1>());
    case 2:
      return work(std::integral_constant<int, 2>());
    case 3:
      return work(std::integral_constant<int, 3>());
    case 4:
      return work(std::integral_constant<int, 4>());
    case 6:
      return work(std::integral_constant<int, 6>());
    case 8:
      return work(std::integral_constant<int, 8>());
    default:
      return work(std::integral_constant<int, 0>());
  }
}

template <int Columns>
void add_products(const double* x, const double* y, std::size_t rows, int columns, double* result) {
  if constexpr (Columns > 0) {
    // Two rows at a time: their sums do not wait for each other.
    double even[Columns] = {}, odd[Columns] = {};
    std::size_t r = 0;
    for (; r + 2 <= rows; r += 2, x += 2 * Columns, y += 2 * Columns)
      for (int c = 0; c < Columns; ++c) {
        even[c] += x[c] * y[c];
        odd[c] += x[Columns + c] * y[Columns + c];
      }
    if (r < rows)
      for (int c = 0; c < Columns; ++c) even[c] += x[c] * y[c];
    for (int c = 0; c < Columns; ++c) result[c] = even[c] + odd[c];
  } else {
    std::fill(result, result + columns, 0.0);
    for (std::size_t r = 0; r < rows; ++r, x += columns, y += columns)
      for (int c = 0; c < columns; ++c) result[c] += x[c] * y[c];
  }
}

template <int Columns>
void combine(const double* a, const double* x, const double* b, double* y, std::size_t rows, int columns) {
  const int width = Columns > 0 ? Columns : columns;
  for (std::size_t r = 0; r < rows; ++r, x += width, y += width)
#pragma omp simd
    for (int c = 0; c < width; ++c) y[c] = a[c] * x[c] + b[c] * y[c];
}

/// The same where factors are zero: what they multiply may be anything.
void combine_some(const double* a, const double* x, const double* b, double* y, std::size_t rows, int columns) {
  for (std::size_t r = 0; r < rows; ++r, x += columns, y += columns)
    for (int c = 0; c < columns; ++c) y[c] = (a[c] == 0 ? 0 : a[c] * x[c]) + (b[c] == 0 ? 0 : b[c] * y[c]);
}

}  // namespace

void CpuBackend::column_dots(const Vector& x, const Vector& y, std::span<double> result) {
  cpu::require_own(*this, x, "column_dots");
  cpu::require_alike(x, y, "column_dots");
  const int columns = x.columns();
  const auto width = static_cast<std::size_t>(columns);
  detail::require_per_column(result.size(), x, "column_dots");
  std::fill(result.begin(), result.end(), 0.0);
  const std::size_t rows_at_once = rows_of_block(columns);
  for (int d = 0; d < devices(); ++d) {
    const auto rows = static_cast<std::size_t>(x.layout()->owned(d));
    const auto blocks = static_cast<std::ptrdiff_t>((rows + rows_at_once - 1) / rows_at_once);
    std::vector<double> partial(static_cast<std::size_t>(blocks) * width);
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    const double* py = y.part(d).read_device();
    with_columns(columns, [&](auto constant) {
#pragma omp parallel for num_threads(threads_) schedule(static) if (blocks >= cpu::fewest_blocks)
      for (std::ptrdiff_t b = 0; b < blocks; ++b) {
        const std::size_t first = static_cast<std::size_t>(b) * rows_at_once;
        add_products<decltype(constant)::value>(px + first * width, py + first * width,
                                                std::min(rows_at_once, rows - first), columns,
                                                partial.data() + static_cast<std::size_t>(b) * width);
      }
    });
    // Neighbours first, as cpu::sum_pairwise adds.
    for (auto n = static_cast<std::size_t>(blocks); n > 1; n = (n + 1) / 2)
      for (std::size_t i = 0; i < (n + 1) / 2; ++i)
        for (std::size_t c = 0; c < width; ++c)
          partial[i * width + c] =
              partial[2 * i * width + c] + (2 * i + 1 < n ? partial[(2 * i + 1) * width + c] : 0.0);
    if (blocks > 0)
      for (std::size_t c = 0; c < width; ++c) result[c] += partial[c];
  }
}

void CpuBackend::column_axpby(std::span<const double> a, const Vector& x, std::span<const double> b, Vector& y) {
  cpu::require_own(*this, x, "column_axpby");
  cpu::require_alike(x, y, "column_axpby");
  const int columns = x.columns();
  const auto width = static_cast<std::size_t>(columns);
  detail::require_per_column(a.size(), x, "column_axpby");
  detail::require_per_column(b.size(), y, "column_axpby");
  const auto is_zero = [](double factor) { return factor == 0; };
  const bool some = std::any_of(a.begin(), a.end(), is_zero) || std::any_of(b.begin(), b.end(), is_zero);
  const bool fresh = std::all_of(b.begin(), b.end(), is_zero) && &x != &y;
  const std::size_t rows_at_once = rows_of_block(columns);
  for (int d = 0; d < devices(); ++d) {
    const auto rows = static_cast<std::size_t>(x.layout()->owned(d));
    const auto blocks = static_cast<std::ptrdiff_t>((rows + rows_at_once - 1) / rows_at_once);
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    double* py = fresh ? y.part(d).write_device() : y.part(d).update_device();
    with_columns(columns, [&](auto constant) {
#pragma omp parallel for num_threads(threads_) schedule(static) if (blocks >= cpu::fewest_blocks)
      for (std::ptrdiff_t k = 0; k < blocks; ++k) {
        const std::size_t first = static_cast<std::size_t>(k) * rows_at_once;
        const std::size_t count = std::min(rows_at_once, rows - first);
        if (some)
          combine_some(a.data(), px + first * width, b.data(), py + first * width, count, columns);
        else
          combine<decltype(constant)::value>(a.data(), px + first * width, b.data(), py + first * width, count,
                                             columns);
      }
    });
  }
}

void CpuBackend::copy_columns(const Vector& x, int from, int count, Vector& y, int to) {
  cpu::require_own(*this, x, "copy_columns");
  cpu::require_layout(*x.layout(), y, "copy_columns");
  detail::require_columns(x, from, count, "copy_columns");
  detail::require_columns(y, to, count, "copy_columns");
  if (&x == &y) throw Error(ErrorCode::misuse, "copy_columns: the two blocks of vectors must be different objects");
  const auto from_width = static_cast<std::size_t>(x.columns()), to_width = static_cast<std::size_t>(y.columns());
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device() + from;
    double* py = (count == y.columns() ? y.part(d).write_device() : y.part(d).update_device()) + to;
    cpu::for_blocks(static_cast<std::size_t>(x.layout()->owned(d)), threads_, [=](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row)
        for (int c = 0; c < count; ++c) py[row * to_width + c] = px[row * from_width + c];
    });
  }
}

}  // namespace voussoir
