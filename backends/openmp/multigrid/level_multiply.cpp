#include <algorithm>

#include <voussoir/backends/openmp/multigrid/services.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Products of two matrices by rows (Gustavson 1978). A row of the product is summed in the order of the rows that it is
// made of, by one thread.

namespace voussoir::cpu {

namespace {

/// A block of the left factor times all blocks of a row of the right one, C += A B. Rows of the three are so many
/// numbers apart; `place` says where in C's row a column of B stands.
struct RowProduct {
  const double* a;
  std::ptrdiff_t a_step;
  const double* b;
  std::ptrdiff_t b_step;
  const std::int32_t* column;  ///< of the blocks of b
  std::int32_t blocks;
  const std::int32_t* place;
  double* c;
  std::ptrdiff_t c_step;
};

/// Two neighbouring numbers, wherever they lie.
typedef double Pair __attribute__((vector_size(16)));
typedef double LoosePair __attribute__((vector_size(16), aligned(8)));

[[gnu::always_inline]] inline Pair pair_at(const double* p) { return *reinterpret_cast<const LoosePair*>(p); }

template <int H, int I, int W>
struct FixedShape {
  static constexpr int height() { return H; }
  static constexpr int inner() { return I; }
  static constexpr int width() { return W; }

  [[gnu::always_inline]] void add(const RowProduct& p) const {
    constexpr int pairs = W / 2;
    double a[H][I];
#pragma GCC unroll 6
    for (int r = 0; r < H; ++r)
#pragma GCC unroll 6
      for (int t = 0; t < I; ++t) a[r][t] = p.a[r * p.a_step + t];
    for (std::int32_t m = 0; m < p.blocks; ++m) {
      const double* b = p.b + m * W;
      double* c = p.c + static_cast<std::ptrdiff_t>(p.place[p.column[m]]) * W;
      Pair from[I][pairs + 1];
      double last[I];
#pragma GCC unroll 6
      for (int t = 0; t < I; ++t) {
#pragma GCC unroll 3
        for (int j = 0; j < pairs; ++j) from[t][j] = pair_at(b + t * p.b_step + 2 * j);
        if constexpr (W % 2 == 1) last[t] = b[t * p.b_step + W - 1];
      }
#pragma GCC unroll 6
      for (int r = 0; r < H; ++r) {
        double* target = c + r * p.c_step;
        Pair sum[pairs + 1];
        double last_sum = 0;
#pragma GCC unroll 3
        for (int j = 0; j < pairs; ++j) sum[j] = pair_at(target + 2 * j);
        if constexpr (W % 2 == 1) last_sum = target[W - 1];
#pragma GCC unroll 6
        for (int t = 0; t < I; ++t) {
#pragma GCC unroll 3
          for (int j = 0; j < pairs; ++j) sum[j] += Pair{a[r][t], a[r][t]} * from[t][j];
          if constexpr (W % 2 == 1) last_sum += a[r][t] * last[t];
        }
#pragma GCC unroll 3
        for (int j = 0; j < pairs; ++j) *reinterpret_cast<LoosePair*>(target + 2 * j) = sum[j];
        if constexpr (W % 2 == 1) target[W - 1] = last_sum;
      }
    }
  }
};

struct AnyShape {
  int h, i, w;
  int height() const { return h; }
  int inner() const { return i; }
  int width() const { return w; }

  void add(const RowProduct& p) const {
    for (std::int32_t m = 0; m < p.blocks; ++m) {
      double* c = p.c + static_cast<std::ptrdiff_t>(p.place[p.column[m]]) * w;
      for (int r = 0; r < h; ++r)
        for (int t = 0; t < i; ++t) {
          const double factor = p.a[r * p.a_step + t];
          for (int j = 0; j < w; ++j) c[r * p.c_step + j] += factor * p.b[t * p.b_step + m * w + j];
        }
    }
  }
};

/// Where `upper`, blocks of C left of the diagonal are left 0.
template <class Shape>
void multiply_rows(const Shape& shape, const LevelRows<const double>& a, const LevelRows<const double>& b,
                   const LevelRows<double>& c, std::int32_t columns, bool upper, int threads) {
  const int height = shape.height(), inner = shape.inner(), width = shape.width();
  ExceptionKeeper keeper;
#pragma omp parallel num_threads(threads)
  {
    std::vector<std::int32_t> place;
    keeper.guard([&] { place.resize(static_cast<std::size_t>(columns)); });
#pragma omp for schedule(dynamic, 64)
    for (std::int32_t row = 0; row < a.rows; ++row) {
      if (place.size() != static_cast<std::size_t>(columns)) continue;
      const std::int32_t na = a.length(row), nc = c.length(row);
      double* target = c.value + c.start[row] * height * width;
      std::fill(target, target + static_cast<std::int64_t>(nc) * height * width, 0.0);
      for (std::int32_t k = 0; k < nc; ++k) place[static_cast<std::size_t>(c.column[c.start[row] + k])] = k;
      const double* from = a.value + a.start[row] * height * inner;
      for (std::int32_t k = 0; k < na; ++k) {
        const std::int64_t through = a.column[a.start[row] + k];
        const std::int32_t nb = b.length(through);
        const std::int32_t* column = b.column + b.start[through];
        const auto first = upper ? static_cast<std::int32_t>(std::lower_bound(column, column + nb, row) - column) : 0;
        shape.add({from + k * inner, static_cast<std::ptrdiff_t>(na) * inner,
                   b.value + b.start[through] * inner * width + first * width, static_cast<std::ptrdiff_t>(nb) * width,
                   column + first, nb - first, place.data(), target, static_cast<std::ptrdiff_t>(nc) * width});
      }
    }
  }
  keeper.rethrow();
}

/// What is left of the diagonal from what is right of it.
void mirror_rows(const LevelRows<double>& c, int size, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
  for (std::int32_t row = 0; row < c.rows; ++row) {
    const std::int32_t n = c.length(row);
    const std::int32_t* column = c.column + c.start[row];
    double* own = c.value + c.start[row] * size * size;
    for (std::int32_t k = 0; k < n && column[k] <= row; ++k) {
      const std::int32_t* others = c.column + c.start[column[k]];
      const std::int32_t length = c.length(column[k]);
      const std::ptrdiff_t at = std::lower_bound(others, others + length, row) - others;
      const double* source = c.value + c.start[column[k]] * size * size;
      for (int r = 0; r < size; ++r)
        for (int s = 0; s < (column[k] < row ? size : r); ++s)
          own[(static_cast<std::ptrdiff_t>(r) * n + k) * size + s] =
              source[(static_cast<std::ptrdiff_t>(s) * length + at) * size + r];
    }
  }
}

/// Calls work with the shape of the blocks: those of solids, plates, planes and scalars are known to the compiler.
template <class Work>
void with_shape(int height, int inner, int width, const Work& work) {
  const auto is = [&](int h, int i, int w) { return height == h && inner == i && width == w; };
  if (is(1, 1, 1)) return work(FixedShape<1, 1, 1>{});
  if (is(2, 2, 3)) return work(FixedShape<2, 2, 3>{});
  if (is(3, 2, 3)) return work(FixedShape<3, 2, 3>{});
  if (is(3, 3, 3)) return work(FixedShape<3, 3, 3>{});
  if (is(3, 3, 6)) return work(FixedShape<3, 3, 6>{});
  if (is(6, 3, 6)) return work(FixedShape<6, 3, 6>{});
  if (is(6, 6, 6)) return work(FixedShape<6, 6, 6>{});
  work(AnyShape{height, inner, width});
}

void require_chain(const LevelMatrix& a, const LevelMatrix& b) {
  if (a.columns != b.rows || a.width != b.height)
    throw Error(ErrorCode::misuse, "multigrid: matrices of " + std::to_string(a.columns) + " columns and " +
                                       std::to_string(b.rows) + " rows of blocks cannot be multiplied");
}

/// Rows that one thread takes, and their columns, row after row.
struct Stretch {
  std::int32_t begin = 0, end = 0;
  std::vector<std::int32_t> column;
};

void product_columns(const LevelRows<const double>& a, const LevelRows<const double>& b, std::int32_t columns,
                     Stretch& stretch, std::int64_t* length) {
  // The row in which a column was last seen, and the columns of the current row.
  std::vector<std::int32_t> seen(static_cast<std::size_t>(columns), -1), found(static_cast<std::size_t>(columns) + 1);
  for (std::int32_t row = stretch.begin; row < stretch.end; ++row) {
    std::int32_t* end = found.data();
    for (std::int64_t k = a.start[row]; k < a.start[row + 1]; ++k) {
      const std::int32_t through = a.column[k];
      for (std::int64_t m = b.start[through]; m < b.start[through + 1]; ++m) {
        const std::int32_t column = b.column[m];
        std::int32_t& last = seen[static_cast<std::size_t>(column)];
        *end = column;
        end += last != row;
        last = row;
      }
    }
    std::sort(found.data(), end);
    stretch.column.insert(stretch.column.end(), found.data(), end);
    length[row] = end - found.data();
  }
}

}  // namespace

LevelMatrix CpuMultigrid::product_pattern(const LevelMatrix& a, const LevelMatrix& b) {
  require_chain(a, b);
  LevelMatrix c;
  c.rows = a.rows;
  c.columns = b.columns;
  c.height = a.height;
  c.width = b.width;
  c.start = array<std::int64_t>(a.rows + std::int64_t{1});
  DeviceSection section(*memory());
  const LevelRows<const double> ra{a.rows, a.start.read_device(), a.column.read_device(), nullptr};
  const LevelRows<const double> rb{b.rows, b.start.read_device(), b.column.read_device(), nullptr};
  std::int64_t* start = c.start.write_device();
  start[0] = 0;
  std::vector<Stretch> stretches(static_cast<std::size_t>(threads_));
  ExceptionKeeper keeper;
#pragma omp parallel for num_threads(threads_) schedule(static, 1)
  for (int t = 0; t < threads_; ++t)
    keeper.guard([&] {
      Stretch& stretch = stretches[static_cast<std::size_t>(t)];
      stretch.begin = static_cast<std::int32_t>(static_cast<std::int64_t>(a.rows) * t / threads_);
      stretch.end = static_cast<std::int32_t>(static_cast<std::int64_t>(a.rows) * (t + 1) / threads_);
      product_columns(ra, rb, b.columns, stretch, start + 1);
    });
  keeper.rethrow();
  for (std::int32_t i = 0; i < a.rows; ++i) start[i + 1] += start[i];
  c.column = array<std::int32_t>(start[a.rows]);
  std::int32_t* column = c.column.write_device();
#pragma omp parallel for num_threads(threads_) schedule(static, 1)
  for (int t = 0; t < threads_; ++t) {
    const Stretch& stretch = stretches[static_cast<std::size_t>(t)];
    std::copy(stretch.column.begin(), stretch.column.end(), column + start[stretch.begin]);
  }
  return c;
}

void CpuMultigrid::multiply(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) {
  multiply_any(a, b, c, false);
}

void CpuMultigrid::multiply_symmetric(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) {
  detail::require_own_pattern(c, "a symmetric product");
  multiply_any(a, b, c, true);
}

void CpuMultigrid::multiply_any(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c, bool symmetric) {
  require_chain(a, b);
  if (c.rows != a.rows || c.columns != b.columns || c.height != a.height || c.width != b.width)
    throw Error(ErrorCode::misuse, "multigrid: the result matrix of a product has another shape");
  require_numbers<double>(a, a.entries(), "the left factor");
  require_numbers<double>(b, b.entries(), "the right factor");
  c.single_value = {};
  if (static_cast<std::int64_t>(c.value.size()) != c.entries()) c.value = array<double>(c.entries());
  DeviceSection section(*memory());
  const LevelRows<double> target{c.rows, c.start.read_device(), c.column.read_device(), c.value.write_device()};
  with_shape(a.height, a.width, b.width, [&](const auto& shape) {
    multiply_rows(shape, read_rows(a), read_rows(b), target, b.columns, symmetric, threads_);
  });
  if (symmetric) mirror_rows(target, c.height, threads_);
}

}  // namespace voussoir::cpu
