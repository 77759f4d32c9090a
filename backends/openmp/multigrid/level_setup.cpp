#include <algorithm>
#include <cmath>

#include <voussoir/backends/detail/invert_positive.hpp>
#include <voussoir/backends/openmp/multigrid/services.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// What sets a level up besides products of matrices: smoothed prolongators, transposes, diagonals, rounding.

namespace voussoir::cpu {

namespace {

/// Place of a column in a row, or −1.
std::int32_t find_column(const std::int32_t* column, std::int32_t length, std::int32_t wanted) {
  const std::int32_t* found = std::lower_bound(column, column + length, wanted);
  return found == column + length || *found != wanted ? -1 : static_cast<std::int32_t>(found - column);
}

/// row = − factor · D row, for `size` stretches of `length` numbers.
void scale_row(const double* d, int size, double factor, std::int64_t length, double* row, std::vector<double>& old) {
  old.assign(row, row + size * length);
  for (int r = 0; r < size; ++r) {
    double* target = row + r * length;
    std::fill(target, target + length, 0.0);
    for (int t = 0; t < size; ++t) {
      const double share = -factor * d[r * size + t];
      const double* source = old.data() + t * length;
      for (std::int64_t k = 0; k < length; ++k) target[k] += share * source[k];
    }
  }
}

/// Calls visit(column, row, place) for all blocks, rows ascending. Each thread has a stretch of columns, so that what
/// is kept by columns belongs to one thread.
template <class Visit>
void for_columns(std::int32_t columns, std::int32_t rows, const std::int64_t* start, const std::int32_t* column,
                 int threads, const Visit& visit) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    const auto first = static_cast<std::int32_t>(static_cast<std::int64_t>(columns) * t / threads);
    const auto last = static_cast<std::int32_t>(static_cast<std::int64_t>(columns) * (t + 1) / threads);
    for (std::int32_t i = 0; i < rows; ++i)
      for (std::int64_t k = start[i]; k < start[i + 1]; ++k)
        if (column[k] >= first && column[k] < last) visit(column[k], i, k);
  }
}

}  // namespace

void CpuMultigrid::smooth_prolongator(const LevelDiagonal& inverse, const LevelMatrix& tentative, double factor,
                                      LevelMatrix& p) {
  const int size = p.height, width = p.width;
  if (tentative.rows != p.rows || tentative.columns != p.columns || tentative.height != size ||
      tentative.width != width || inverse.size != size)
    throw Error(ErrorCode::misuse, "smooth_prolongator: the shapes of the diagonal and the two prolongators differ");
  require_numbers<double>(inverse, static_cast<std::int64_t>(p.rows) * size * size, "the diagonal");
  require_numbers<double>(tentative, tentative.entries(), "the tentative prolongator");
  require_numbers<double>(p, p.entries(), "the prolongator");
  DeviceSection section(*memory());
  const LevelRows<const double> t = read_rows(tentative);
  const double* d = inverse.value.read_device();
  const LevelRows<double> rows{p.rows, p.start.read_device(), p.column.read_device(), p.value.update_device()};
  ExceptionKeeper keeper;
#pragma omp parallel num_threads(threads_)
  {
    std::vector<double> old;
#pragma omp for schedule(static)
    for (std::int32_t i = 0; i < p.rows; ++i)
      keeper.guard([&] {
        const std::int32_t n = rows.length(i), nt = t.length(i);
        double* row = rows.value + rows.start[i] * size * width;
        scale_row(d + static_cast<std::int64_t>(i) * size * size, size, factor, static_cast<std::int64_t>(n) * width,
                  row, old);
        for (std::int32_t k = 0; k < nt; ++k) {
          const std::int32_t at = find_column(rows.column + rows.start[i], n, t.column[t.start[i] + k]);
          if (at < 0)
            throw Error(ErrorCode::misuse,
                        "smooth_prolongator: row " + std::to_string(i) +
                            " of the product lacks the block of the tentative prolongator; the matrix "
                            "must have its diagonal");
          const double* block = t.value + t.start[i] * size * width;
          for (int r = 0; r < size; ++r)
            for (int c = 0; c < width; ++c)
              row[(static_cast<std::int64_t>(r) * n + at) * width + c] +=
                  block[(static_cast<std::int64_t>(r) * nt + k) * width + c];
        }
      });
  }
  keeper.rethrow();
}

LevelMatrix CpuMultigrid::transposed(const LevelMatrix& p) {
  LevelMatrix t;
  t.rows = p.columns;
  t.columns = p.rows;
  t.height = p.width;
  t.width = p.height;
  t.start = array<std::int64_t>(t.rows + std::int64_t{1});
  t.column = array<std::int32_t>(p.blocks());
  t.value = array<double>(p.entries());
  {
    DeviceSection section(*memory());
    const std::int64_t* from_start = p.start.read_device();
    const std::int32_t* from_column = p.column.read_device();
    std::int64_t* start = t.start.write_device();
    std::int32_t* column = t.column.write_device();
    std::fill(start, start + t.rows + 1, std::int64_t{0});
    for_columns(t.rows, p.rows, from_start, from_column, threads_,
                [=](std::int32_t c, std::int32_t, std::int64_t) { ++start[c + 1]; });
    for (std::int32_t i = 0; i < t.rows; ++i) start[i + 1] += start[i];
    std::vector<std::int32_t> arrived(static_cast<std::size_t>(t.rows), 0);
    std::int32_t* count = arrived.data();
    for_columns(t.rows, p.rows, from_start, from_column, threads_,
                [=](std::int32_t c, std::int32_t i, std::int64_t) { column[start[c] + count[c]++] = i; });
  }
  update_transposed(p, t);
  return t;
}

void CpuMultigrid::update_transposed(const LevelMatrix& p, LevelMatrix& transposed) {
  if (transposed.rows != p.columns || transposed.columns != p.rows || transposed.height != p.width ||
      transposed.width != p.height || transposed.blocks() != p.blocks())
    throw Error(ErrorCode::misuse, "update_transposed: this is not the transpose of a matrix of that pattern");
  require_numbers<double>(p, p.entries(), "the matrix to be transposed");
  transposed.single_value = {};
  if (static_cast<std::int64_t>(transposed.value.size()) != p.entries()) transposed.value = array<double>(p.entries());
  std::vector<std::int32_t> arrived(static_cast<std::size_t>(transposed.rows), 0);
  std::int32_t* count = arrived.data();
  DeviceSection section(*memory());
  const LevelRows<const double> from = read_rows(p);
  const std::int64_t* start = transposed.start.read_device();
  double* value = transposed.value.write_device();
  const int height = p.width, width = p.height;
  for_columns(transposed.rows, p.rows, from.start, from.column, threads_,
              [=](std::int32_t c, std::int32_t i, std::int64_t k) {
                const std::int64_t length = from.length(i), n = start[c + 1] - start[c], at = count[c]++;
                const double* source = from.value + (from.start[i] * width + (k - from.start[i])) * height;
                double* target = value + (start[c] * height + at) * width;
                for (int r = 0; r < height; ++r)
                  for (int q = 0; q < width; ++q) target[r * n * width + q] = source[q * length * height + r];
              });
}

void CpuMultigrid::set_unit_diagonal_of_empty_rows(LevelMatrix& a) {
  require_own_rows(a, "set_unit_diagonal_of_empty_rows");
  const int size = a.height;
  DeviceSection section(*memory());
  const LevelRows<double> rows{a.rows, a.start.read_device(), a.column.read_device(), a.value.update_device()};
  ExceptionKeeper keeper;
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::int32_t i = 0; i < a.rows; ++i)
    keeper.guard([&] {
      const std::int64_t length = static_cast<std::int64_t>(rows.length(i)) * size;
      for (int r = 0; r < size; ++r) {
        double* row = rows.value + rows.start[i] * size * size + r * length;
        if (std::any_of(row, row + length, [](double x) { return x != 0; })) continue;
        const std::int32_t at = find_column(rows.column + rows.start[i], rows.length(i), i);
        if (at < 0)
          throw Error(ErrorCode::misuse,
                      "set_unit_diagonal_of_empty_rows: block row " + std::to_string(i) + " has no diagonal block");
        row[at * size + r] = 1;
      }
    });
  keeper.rethrow();
}

std::int64_t CpuMultigrid::invert_diagonal(const LevelMatrix& a, LevelDiagonal& inverse) {
  require_own_rows(a, "invert_diagonal");
  const int size = a.height;
  if (size > largest_level_block)
    throw Error(ErrorCode::misuse, "invert_diagonal: blocks of at most " + std::to_string(largest_level_block) +
                                       " rows can be inverted, not " + std::to_string(size));
  inverse.size = size;
  inverse.single_value = {};
  const std::int64_t entries = static_cast<std::int64_t>(a.rows) * size * size;
  if (static_cast<std::int64_t>(inverse.value.size()) != entries) inverse.value = array<double>(entries);
  DeviceSection section(*memory());
  const LevelRows<const double> rows = read_rows(a);
  double* target = inverse.value.write_device();
  const auto invert = size == 3   ? detail::invert_positive<3>
                      : size == 6 ? detail::invert_positive<6>
                      : size == 1 ? detail::invert_positive<1>
                                  : detail::invert_positive<0>;
  const std::int64_t none = static_cast<std::int64_t>(a.rows) * size;
  std::int64_t failed = none;
#pragma omp parallel for num_threads(threads_) schedule(static) reduction(min : failed)
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const std::int32_t n = rows.length(i);
    const std::int32_t at = find_column(rows.column + rows.start[i], n, i);
    double* block = target + static_cast<std::int64_t>(i) * size * size;
    const int bad = at < 0 ? 0
                           : invert(rows.value + (rows.start[i] * size + at) * size,
                                    static_cast<std::ptrdiff_t>(n) * size, size, block);
    if (bad < 0) continue;
    std::fill(block, block + size * size, 0.0);
    failed = std::min(failed, static_cast<std::int64_t>(i) * size + bad);
  }
  return failed == none ? -1 : failed;
}

void CpuMultigrid::invert_row_sums(const LevelMatrix& a, LevelDiagonal& inverse) {
  require_own_rows(a, "invert_row_sums");
  const int size = a.height;
  inverse.size = size;
  inverse.single_value = {};
  const std::int64_t entries = static_cast<std::int64_t>(a.rows) * size * size;
  if (static_cast<std::int64_t>(inverse.value.size()) != entries) inverse.value = array<double>(entries);
  DeviceSection section(*memory());
  const LevelRows<const double> rows = read_rows(a);
  double* target = inverse.value.write_device();
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const std::int64_t length = static_cast<std::int64_t>(rows.length(i)) * size;
    double* block = target + static_cast<std::int64_t>(i) * size * size;
    std::fill(block, block + size * size, 0.0);
    for (int r = 0; r < size; ++r) {
      const double* row = rows.value + rows.start[i] * size * size + r * length;
      double sum = 0;
      for (std::int64_t k = 0; k < length; ++k) sum += std::fabs(row[k]);
      block[r * size + r] = sum > 0 ? 1 / sum : 0;
    }
  }
}

template <class Holder>
void CpuMultigrid::round(Holder& holder) const {
  if (holder.value.empty()) return;
  Array<float> rounded(memory(), holder.value.size());
  {
    DeviceSection section(*memory());
    const double* source = holder.value.read_device();
    float* target = rounded.write_device();
    for_blocks(rounded.size(), threads_, [=](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) target[k] = static_cast<float>(source[k]);
    });
  }
  holder.single_value = std::move(rounded);
  holder.value = {};
}

void CpuMultigrid::to_single(LevelMatrix& a) { round(a); }
void CpuMultigrid::to_single(LevelDiagonal& d) { round(d); }
void CpuMultigrid::to_single(DenseInverse& d) { round(d); }

}  // namespace voussoir::cpu
