#include <algorithm>
#include <array>
#include <cmath>

#include <voussoir/backends/detail/aggregation_rules.hpp>
#include <voussoir/backends/openmp/multigrid/block_norms.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Sparse factors of the inverse: a small dense system for each row.

namespace voussoir::cpu {

namespace {

constexpr int room = largest_factor_rows;

/// Neighbours of a node with lower numbers: the strongest of them, ascending.
void choose_neighbours(const LevelRows<const double>& a, int size, std::int32_t row, const std::vector<double>& norm,
                       int most, std::vector<std::uint64_t>& words, std::vector<std::int32_t>& chosen) {
  const std::int64_t start = a.start[row];
  const std::int32_t n = a.length(row);
  words.clear();
  for (std::int32_t k = 0; k < n && a.column[start + k] < row; ++k) {
    const std::int32_t j = a.column[start + k];
    const double between = block_norm2(a.value + start * size * size + k * size, n, size);
    const std::uint32_t step =
        detail::strength_step(between, norm[static_cast<std::size_t>(row)], norm[static_cast<std::size_t>(j)]);
    if (step > 0) words.push_back(detail::neighbour_word(step, static_cast<std::uint32_t>(j)));
  }
  const auto count = std::min(words.size(), static_cast<std::size_t>(most));
  std::partial_sort(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count), words.end(), std::greater<>());
  chosen.clear();
  for (std::size_t k = 0; k < count; ++k) chosen.push_back(static_cast<std::int32_t>(words[k] & 0xffffffffu));
  std::sort(chosen.begin(), chosen.end());
}

/// The matrix on some nodes: its lower triangle in columns, made a Cholesky factor of it with a unit diagonal.
class SmallFactor {
 public:
  /// `count` nodes, ascending.
  void take(const LevelRows<const double>& a, int size, const std::int32_t* node, std::int32_t count) {
    rows_ = count * size;
    for (std::int32_t p = 0; p < count; ++p) {
      const std::int64_t start = a.start[node[p]];
      const std::int32_t n = a.length(node[p]);
      const double* value = a.value + start * size * size;
      std::int32_t k = 0;
      for (std::int32_t q = 0; q <= p; ++q) {  // both lists ascend
        while (k < n && a.column[start + k] < node[q]) ++k;
        const bool there = k < n && a.column[start + k] == node[q];
        for (int r = 0; r < size; ++r)
          for (int c = 0; c < size; ++c)
            l_[q * size + c][p * size + r] = there ? value[(static_cast<std::int64_t>(r) * n + k) * size + c] : 0.0;
      }
    }
  }

  /// The row at which the matrix is not positive definite, or −1.
  int factorise() {
    for (int i = 0; i < rows_; ++i) {
      if (!(l_[i][i] > 0) || !std::isfinite(l_[i][i])) return i;
      scale_[i] = 1 / std::sqrt(l_[i][i]);
    }
    for (int k = 0; k < rows_; ++k)
      for (int i = k; i < rows_; ++i) l_[k][i] *= scale_[k] * scale_[i];
    for (int j = 0; j < rows_; ++j) {
      take_away_columns_before(j);
      double* own = l_[j].data();
      if (!(own[j] > 1e-13)) return j;
      const double inverse = 1 / std::sqrt(own[j]);
      for (int i = j; i < rows_; ++i) own[i] *= inverse;
    }
    return -1;
  }

  /// A row of the factor's inverse, for the matrix without scaling.
  void inverse_row(int row, double* target) const {
    std::fill(target, target + rows_, 0.0);
    for (int j = row; j >= 0; --j) {
      double sum = j == row ? 1 : 0;
      for (int i = j + 1; i <= row; ++i) sum -= l_[j][i] * target[i];
      target[j] = sum / l_[j][j];
    }
    for (int j = 0; j <= row; ++j) target[j] *= scale_[j];
  }

 private:
  /// Four of them at a time: a column is loaded and stored less often.
  void take_away_columns_before(int j) {
    double* __restrict__ own = l_[j].data();
    int k = 0;
    for (; k + 4 <= j; k += 4) {
      const double *a = l_[k].data(), *b = l_[k + 1].data(), *c = l_[k + 2].data(), *d = l_[k + 3].data();
      const double fa = a[j], fb = b[j], fc = c[j], fd = d[j];
      for (int i = j; i < rows_; ++i) own[i] -= fa * a[i] + fb * b[i] + fc * c[i] + fd * d[i];
    }
    for (; k < j; ++k) {
      const double* a = l_[k].data();
      const double factor = a[j];
      for (int i = j; i < rows_; ++i) own[i] -= factor * a[i];
    }
  }

  int rows_ = 0;
  std::array<std::array<double, room>, room> l_;  // by columns
  std::array<double, room> scale_;
};

}  // namespace

LevelMatrix CpuMultigrid::inverse_factor_pattern(const LevelMatrix& a, int most) {
  require_square_numbers(a, "inverse_factor_pattern");
  detail::require_factor_room(a.height, most);
  const int size = a.height;
  LevelMatrix g;
  g.rows = g.columns = a.rows;
  g.height = g.width = size;
  g.start = array<std::int64_t>(a.rows + std::int64_t{1});
  DeviceSection section(*memory());
  const LevelRows<const double> rows = read_rows(a);
  const std::vector<double> norm = diagonal_norms(rows, size, threads_);
  const auto stride = static_cast<std::size_t>(most) + 1;
  std::vector<std::int32_t> chosen(static_cast<std::size_t>(a.rows) * stride);
  std::int64_t* start = g.start.write_device();
  start[0] = 0;
  ExceptionKeeper keeper;
#pragma omp parallel num_threads(threads_)
  {
    std::vector<std::uint64_t> words;
    std::vector<std::int32_t> neighbours;
#pragma omp for schedule(static)
    for (std::int32_t i = 0; i < a.rows; ++i)
      keeper.guard([&] {
        choose_neighbours(rows, size, i, norm, most, words, neighbours);
        neighbours.push_back(i);
        std::copy(neighbours.begin(), neighbours.end(), chosen.begin() + static_cast<std::ptrdiff_t>(stride) * i);
        start[i + 1] = static_cast<std::int64_t>(neighbours.size());
      });
  }
  keeper.rethrow();
  for (std::int32_t i = 0; i < a.rows; ++i) start[i + 1] += start[i];
  g.column = array<std::int32_t>(start[a.rows]);
  std::int32_t* column = g.column.write_device();
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::int32_t i = 0; i < a.rows; ++i)
    std::copy_n(chosen.begin() + static_cast<std::ptrdiff_t>(stride) * i, start[i + 1] - start[i], column + start[i]);
  return g;
}

std::int64_t CpuMultigrid::inverse_factor(const LevelMatrix& a, LevelMatrix& g) {
  require_square_numbers(a, "inverse_factor");
  const int size = a.height;
  if (g.rows != a.rows || g.columns != a.rows || g.height != size || g.width != size)
    throw Error(ErrorCode::misuse, "inverse_factor: this is not a pattern for that matrix");
  g.single_value = {};
  if (static_cast<std::int64_t>(g.value.size()) != g.entries()) g.value = array<double>(g.entries());
  DeviceSection section(*memory());
  const LevelRows<const double> from = read_rows(a);
  const LevelRows<double> rows{g.rows, g.start.read_device(), g.column.read_device(), g.value.write_device()};
  const std::int64_t none = static_cast<std::int64_t>(a.rows) * size;
  std::int64_t failed = none;
#pragma omp parallel num_threads(threads_)
  {
    SmallFactor small;
#pragma omp for schedule(static) reduction(min : failed)
    for (std::int32_t i = 0; i < a.rows; ++i) {
      const std::int32_t n = rows.length(i);
      double* target = rows.value + rows.start[i] * size * size;
      small.take(from, size, rows.column + rows.start[i], n);
      if (const int bad = small.factorise(); bad >= 0) {
        const std::int32_t node = rows.column[rows.start[i] + bad / size];
        failed = std::min(failed, static_cast<std::int64_t>(node) * size + bad % size);
        std::fill_n(target, static_cast<std::int64_t>(n) * size * size, 0.0);
        continue;
      }
      for (int r = 0; r < size; ++r)
        small.inverse_row((n - 1) * size + r, target + static_cast<std::int64_t>(r) * n * size);
    }
  }
  return failed == none ? -1 : failed;
}

}  // namespace voussoir::cpu
