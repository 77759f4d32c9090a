#include <algorithm>
#include <cstring>

#include <voussoir/backends/openmp/multigrid/services.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Products with the matrices of a level, and the steps of smoothers, which are such products with a little more done to
// each row while it is at hand.

namespace voussoir::cpu {

namespace {

/// Four floats or two doubles, wherever they lie. All processors that this is meant for work on 16 bytes at once; none
/// needs more to keep up with its memory.
template <class Number>
struct Wide;
template <>
struct Wide<float> {
  typedef float Type __attribute__((vector_size(16)));
  typedef float Loose __attribute__((vector_size(16), aligned(4)));
};
template <>
struct Wide<double> {
  typedef double Type __attribute__((vector_size(16)));
  typedef double Loose __attribute__((vector_size(16), aligned(8)));
};

/// Numbers at once, and running sums per row: a fixed number, so that the order of additions is the same everywhere.
template <class Number>
inline constexpr int wide = 16 / sizeof(Number);
template <class Number>
inline constexpr int lanes = 2 * wide<Number>;

template <class Number>
[[gnu::always_inline]] inline auto wide_at(const Number* p) {
  return static_cast<typename Wide<Number>::Type>(*reinterpret_cast<const typename Wide<Number>::Loose*>(p));
}

/// The shape of blocks, known to the compiler, or (0) not.
template <int H, int W>
struct Shape {
  int any_height = H, any_width = W;
  constexpr int height() const { return H > 0 ? H : any_height; }
  constexpr int width() const { return W > 0 ? W : any_width; }
};

/// The largest blocks, for numbers of one block row on the stack.
constexpr int most_rows = largest_level_block;

/// The part of x that a row needs, side by side, and zeros up to a whole number of lanes.
template <int W, class Number>
[[gnu::always_inline]] inline void gather_row(const std::int32_t* column, std::int32_t n, int any_width,
                                              const Number* x, Number* gathered) {
  constexpr int step = wide<Number>;
  const int width = W > 0 ? W : any_width;
  const auto exact = [&](std::int32_t k) {
    std::memcpy(gathered + k * width, x + static_cast<std::ptrdiff_t>(column[k]) * width,
                static_cast<std::size_t>(width) * sizeof(Number));
  };
  if constexpr (W % step != 0 && step - W % step <= W) {
    // Whole 16 bytes at a time, a little too much of them, but not more than a block: the next block covers what is
    // wrong. Columns ascend, so only the last of them may be at the end of x.
    for (std::int32_t k = 0; k + 1 < n; ++k) {
      const Number* from = x + static_cast<std::ptrdiff_t>(column[k]) * W;
#pragma GCC unroll 4
      for (int i = 0; i < W; i += step)
        *reinterpret_cast<typename Wide<Number>::Loose*>(gathered + k * W + i) = wide_at(from + i);
    }
    if (n > 0) exact(n - 1);
  } else {
    for (std::int32_t k = 0; k < n; ++k) exact(k);
  }
  for (int i = 0; i < lanes<Number>; ++i) gathered[static_cast<std::int64_t>(n) * width + i] = 0;
}

/// result[r] = row r of the block row times x, for R rows of `length` numbers. x has zeros after its last number. Where
/// `padded`, what follows the last row in memory may be read too: it is multiplied by those zeros.
/// One copy for all that is done with the result: it is long when unrolled, and a call is nothing beside a row.
template <int R, bool padded, class Number>
[[gnu::noinline]] void dot_rows(const Number* value, std::int64_t length, const Number* x, Number* result) {
  using Type = typename Wide<Number>::Type;
  constexpr int L = lanes<Number>, step = wide<Number>;
  Type sum[R][2] = {};
  const std::int64_t whole = padded ? length : length - length % L;
  for (std::int64_t i = 0; i < whole; i += L) {
    const Type x0 = wide_at(x + i), x1 = wide_at(x + i + step);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      sum[r][0] += wide_at(value + r * length + i) * x0;
      sum[r][1] += wide_at(value + r * length + i + step) * x1;
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    Number places[L];
    for (int k = 0; k < L; ++k) places[k] = sum[r][k / step][k % step];
    if constexpr (!padded)
      for (std::int64_t i = whole; i < length; ++i) places[i - whole] += value[r * length + i] * x[i];
    for (int half = L / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) places[k] += places[k + half];
    result[r] = places[0];
  }
}

/// One block row as it is multiplied by a block of vectors.
template <class Number>
struct RowOfBlocks {
  const Number* value;
  const std::int32_t* column;
  std::int32_t blocks;
};

/// R rows of a block row, from `first_row` on, times V wide stretches of columns that begin at `offset`.
template <int R, int V, class Number>
[[gnu::always_inline]] inline void multiply_stretches(const RowOfBlocks<Number>& a, int width, int first_row,
                                                      int columns, const int* offset, const Number* x, Number* result) {
  using Type = typename Wide<Number>::Type;
  const std::int64_t length = static_cast<std::int64_t>(a.blocks) * width;
  const Number* value = a.value + first_row * length;
  Type sum[R][V] = {};
  for (std::int32_t k = 0; k < a.blocks; ++k) {
    const Number* from = x + static_cast<std::int64_t>(a.column[k]) * width * columns;
    for (int t = 0; t < width; ++t, from += columns, ++value) {
      Type xs[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) xs[v] = wide_at(from + offset[v]);
#pragma GCC unroll 6
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) sum[r][v] += value[r * length] * xs[v];
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v)
      *reinterpret_cast<typename Wide<Number>::Loose*>(result + (first_row + r) * columns + offset[v]) = sum[r][v];
}

/// All rows of a block row times V wide stretches of columns.
template <int H, int V, class Number>
void multiply_height(const RowOfBlocks<Number>& a, int height, int width, int columns, const int* offset,
                     const Number* x, Number* result) {
  if constexpr (H > 0) {
    multiply_stretches<H, V>(a, width, 0, columns, offset, x, result);
  } else {
    for (int r = 0; r < height; ++r) multiply_stretches<1, V>(a, width, r, columns, offset, x, result);
  }
}

/// All columns of one block row: eight at a time, the last of them in stretches that overlap those before, so that a
/// column's sum has the same order wherever it stands.
template <int H, class Number>
[[gnu::noinline]] void multiply_columns(const RowOfBlocks<Number>& a, int height, int width, int columns,
                                        const Number* x, Number* result) {
  constexpr int step = wide<Number>, most = 8 / step;
  if (columns < step) {  // two or three columns of floats
    const std::int64_t length = static_cast<std::int64_t>(a.blocks) * width;
    for (int r = 0; r < height; ++r) {
      Number sum[step] = {};
      for (std::int64_t i = 0; i < length; ++i) {
        const Number* from = x + (static_cast<std::int64_t>(a.column[i / width]) * width + i % width) * columns;
        for (int c = 0; c < columns; ++c) sum[c] += a.value[r * length + i] * from[c];
      }
      for (int c = 0; c < columns; ++c) result[r * columns + c] = sum[c];
    }
    return;
  }
  for (int first = 0; first < columns; first += 8) {
    int offset[most];
    int stretches = 0;
    for (int c = first; c < columns && stretches < most; c += step) offset[stretches++] = std::min(c, columns - step);
    switch (stretches) {
      case 1:
        multiply_height<H, 1>(a, height, width, columns, offset, x, result);
        break;
      case 2:
        multiply_height<H, 2>(a, height, width, columns, offset, x, result);
        break;
      case 3:
        if constexpr (most > 2) multiply_height<H, 3>(a, height, width, columns, offset, x, result);
        break;
      default:
        if constexpr (most > 2) multiply_height<H, 4>(a, height, width, columns, offset, x, result);
    }
  }
}

/// The first row of each thread, so that all have about as many numbers.
std::int32_t first_row(const std::int64_t* start, std::int32_t rows, int thread, int threads) {
  if (thread == threads) return rows;
  const std::int64_t goal = start[rows] / threads * thread;
  return static_cast<std::int32_t>(std::lower_bound(start, start + rows, goal) - start);
}

std::int32_t longest_row(const std::int64_t* start, std::int32_t begin, std::int32_t end) {
  std::int64_t longest = 0;
  for (std::int32_t i = begin; i < end; ++i) longest = std::max(longest, start[i + 1] - start[i]);
  return static_cast<std::int32_t>(longest);
}

/// Three rows of doubles are three places far enough apart for the processor's own prefetching to lose the thread;
/// asked for by hand, they come half as fast again. Shorter rows, and more of them, do better without.
template <int H, class Number>
inline constexpr bool prefetches = H == 3 && sizeof(Number) == 8;

/// Rows times x, with finish(row, numbers of the row, columns) after each: one column is known to the compiler.
template <int H, int W, class Number, class Finish>
void multiply_one(Shape<H, W> shape, const LevelRows<const Number>& a, const Number* x, std::int32_t begin,
                  std::int32_t end, std::vector<Number>& gathered, const Finish& finish) {
  const int height = shape.height(), width = shape.width();
  gathered.resize(static_cast<std::size_t>(longest_row(a.start, begin, end)) * static_cast<std::size_t>(width) +
                  2 * lanes<Number>);
  Number* here = gathered.data();
  [[maybe_unused]] const std::int64_t numbers = a.start[a.rows] * height * width;
  Number result[most_rows];
  for (std::int32_t i = begin; i < end; ++i) {
    const std::int32_t n = a.length(i);
    const std::int64_t length = static_cast<std::int64_t>(n) * width;
    const Number* value = a.value + a.start[i] * height * width;
    if constexpr (prefetches<H, Number>) {
      // The block row after next, whose numbers follow those of the next one.
      const auto bytes = static_cast<std::int64_t>(sizeof(Number)) * length * H;
      const char* ahead = reinterpret_cast<const char*>(value) + 2 * bytes;
      for (std::int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(ahead + at, 0, 2);
    }
    gather_row<W>(a.column + a.start[i], n, width, x, here);
    if constexpr (H > 0) {
      if (a.start[i + 1] * (H * W) + lanes<Number> <= numbers)
        dot_rows<H, true>(value, length, here, result);
      else
        dot_rows<H, false>(value, length, here, result);
    } else {
      for (int r = 0; r < height; ++r) dot_rows<1, false>(value + r * length, length, here, result + r);
    }
    finish(i, result, std::integral_constant<int, 1>{});
  }
}

/// The same for two or three columns of floats, fewer than stand side by side in a wide number: each is gathered and
/// multiplied like a single one, by numbers of the row that are in the cache after the first.
template <int H, int W, class Number, class Finish>
void multiply_few(Shape<H, W> shape, const LevelRows<const Number>& a, const Number* x, int columns, std::int32_t begin,
                  std::int32_t end, std::vector<Number>& gathered, const Finish& finish) {
  const int height = shape.height(), width = shape.width();
  const std::size_t stride =
      static_cast<std::size_t>(longest_row(a.start, begin, end)) * static_cast<std::size_t>(width) + 2 * lanes<Number>;
  gathered.resize(stride * static_cast<std::size_t>(columns));
  const std::int64_t numbers = a.start[a.rows] * height * width;
  Number single[most_rows], result[most_rows * wide<Number>];
  for (std::int32_t i = begin; i < end; ++i) {
    const std::int32_t n = a.length(i);
    const std::int64_t length = static_cast<std::int64_t>(n) * width;
    const Number* value = a.value + a.start[i] * height * width;
    const std::int32_t* column = a.column + a.start[i];
    const bool padded = a.start[i + 1] * height * width + lanes<Number> <= numbers;
    for (int c = 0; c < columns; ++c) {
      Number* here = gathered.data() + stride * static_cast<std::size_t>(c);
      for (std::int32_t k = 0; k < n; ++k) {
        const Number* from = x + static_cast<std::ptrdiff_t>(column[k]) * width * columns + c;
        for (int t = 0; t < width; ++t) here[k * width + t] = from[t * columns];
      }
      for (int t = 0; t < lanes<Number>; ++t) here[length + t] = 0;
      if constexpr (H > 0) {
        if (padded)
          dot_rows<H, true>(value, length, here, single);
        else
          dot_rows<H, false>(value, length, here, single);
      } else {
        for (int r = 0; r < height; ++r) dot_rows<1, false>(value + r * length, length, here, single + r);
      }
      for (int r = 0; r < height; ++r) result[r * columns + c] = single[r];
    }
    finish(i, result, columns);
  }
}

template <int H, int W, class Number, class Finish>
void multiply_all(Shape<H, W> shape, const LevelRows<const Number>& a, const Number* x, int columns, int threads,
                  const Finish& finish) {
  const int height = shape.height(), width = shape.width();
  const bool share = a.start[a.rows] * height * width * columns >= worth_sharing;
  const int parts = share ? threads : 1;
  ExceptionKeeper keeper;
#pragma omp parallel for num_threads(parts) schedule(static, 1) if (share)
  for (int t = 0; t < parts; ++t)
    keeper.guard([&] {
      const std::int32_t begin = first_row(a.start, a.rows, t, parts), end = first_row(a.start, a.rows, t + 1, parts);
      std::vector<Number> numbers;
      if (columns == 1) {
        multiply_one(shape, a, x, begin, end, numbers, finish);
        return;
      }
      if (columns < wide<Number>) {
        multiply_few(shape, a, x, columns, begin, end, numbers, finish);
        return;
      }
      numbers.resize(static_cast<std::size_t>(height) * static_cast<std::size_t>(columns));
      for (std::int32_t i = begin; i < end; ++i) {
        const RowOfBlocks<Number> row{a.value + a.start[i] * height * width, a.column + a.start[i], a.length(i)};
        multiply_columns<H>(row, height, width, columns, x, numbers.data());
        finish(i, numbers.data(), columns);
      }
    });
  keeper.rethrow();
}

/// Calls work with the shape of a matrix's blocks. Those of the usual models and of their coarser levels are known to
/// the compiler.
template <class Work>
void with_shape(int height, int width, const Work& work) {
  const auto is = [&](int h, int w) { return height == h && width == w; };
  if (is(1, 1)) return work(Shape<1, 1>{});
  if (is(2, 2)) return work(Shape<2, 2>{});
  if (is(2, 3)) return work(Shape<2, 3>{});
  if (is(3, 2)) return work(Shape<3, 2>{});
  if (is(3, 3)) return work(Shape<3, 3>{});
  if (is(3, 6)) return work(Shape<3, 6>{});
  if (is(6, 3)) return work(Shape<6, 3>{});
  if (is(6, 6)) return work(Shape<6, 6>{});
  if (height > most_rows)
    throw Error(ErrorCode::misuse,
                "multigrid: blocks have at most " + std::to_string(most_rows) + " rows, not " + std::to_string(height));
  work(Shape<0, 0>{height, width});
}

/// result = D · from for one block row and all columns.
template <int S, class Number>
[[gnu::always_inline]] inline void multiply_block(const Number* d, int any_size, int columns, const Number* from,
                                                  Number* result) {
  const int size = S > 0 ? S : any_size;
  for (int r = 0; r < size; ++r)
    for (int c = 0; c < columns; ++c) {
      Number sum = 0;
      for (int t = 0; t < size; ++t) sum += d[r * size + t] * from[t * columns + c];
      result[r * columns + c] = sum;
    }
}

/// The same where one column is usual, which the compiler then knows.
template <int S, class Number>
[[gnu::always_inline]] inline void multiply_block_any(const Number* d, int size, int columns, const Number* from,
                                                      Number* result) {
  if (columns == 1)
    multiply_block<S>(d, size, 1, from, result);
  else
    multiply_block<S>(d, size, columns, from, result);
}

/// Calls work(integral constant) with the size of a diagonal's blocks, 0 where it is none of the usual ones.
template <class Work>
void with_size(int size, const Work& work) {
  switch (size) {
    case 1:
      return work(std::integral_constant<int, 1>{});
    case 2:
      return work(std::integral_constant<int, 2>{});
    case 3:
      return work(std::integral_constant<int, 3>{});
    case 6:
      return work(std::integral_constant<int, 6>{});
    default:
      return work(std::integral_constant<int, 0>{});
  }
}

/// Block rows of a diagonal times x, with finish(row, numbers of the row) after each.
template <class Number, class Finish>
void multiply_diagonal(int size, std::int64_t rows, const Number* d, const Number* x, int columns, int threads,
                       const Finish& finish) {
  const std::int64_t row_numbers = static_cast<std::int64_t>(size) * columns;
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, static_cast<std::int64_t>(block_entries) / row_numbers);
  const std::int64_t pieces = (rows + rows_at_once - 1) / rows_at_once;
  ExceptionKeeper keeper;
  with_size(size, [&](auto known) {
    constexpr int S = decltype(known)::value;
#pragma omp parallel for num_threads(threads) schedule(static) if (pieces >= fewest_blocks)
    for (std::int64_t p = 0; p < pieces; ++p)
      keeper.guard([&] {
        std::vector<Number> many;
        Number few[64];
        Number* result = few;
        if (row_numbers > 64) {
          many.resize(static_cast<std::size_t>(row_numbers));
          result = many.data();
        }
        for (std::int64_t i = p * rows_at_once; i < std::min(rows, (p + 1) * rows_at_once); ++i) {
          multiply_block_any<S>(d + i * size * size, size, columns, x + i * row_numbers, result);
          finish(i, result);
        }
      });
  });
  keeper.rethrow();
}

/// R rows of a dense matrix times x.
template <int R, class Number>
void multiply_dense(const Number* rows, std::int32_t length, int columns, const Number* x, Number* y) {
  constexpr std::int32_t first = 0;  // the one block of these rows, as wide as the matrix
  if (columns == 1)
    dot_rows<R, false>(rows, length, x, y);
  else
    multiply_columns<R>(RowOfBlocks<Number>{rows, &first, 1}, R, length, columns, x, y);
}

/// A vector that must have as many numbers as a matrix has columns or rows.
template <class Number>
void require_length(const LevelVector& x, std::int64_t numbers_per_column, int columns) {
  if (x.columns != columns) throw Error(ErrorCode::misuse, "multigrid: the vectors have different numbers of columns");
  require_numbers<Number>(x, numbers_per_column * columns, "a vector");
}

std::int64_t height_of(const LevelMatrix& a) { return static_cast<std::int64_t>(a.rows) * a.height; }
std::int64_t width_of(const LevelMatrix& a) { return static_cast<std::int64_t>(a.columns) * a.width; }

/// Block rows of a diagonal that goes with a vector.
template <class Number>
std::int64_t rows_of_diagonal(const LevelDiagonal& d, const LevelVector& x) {
  const auto size = static_cast<std::int64_t>(numbers<Number>(x).size());
  const std::int64_t rows = size / x.columns / d.size;
  require_numbers<Number>(d, rows * d.size * d.size, "a diagonal");
  require_numbers<Number>(x, rows * d.size * x.columns, "a vector");
  return rows;
}

}  // namespace

void CpuMultigrid::product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_numbers<Number>(a, a.entries(), "a matrix");
    require_length<Number>(x, width_of(a), x.columns);
    require_length<Number>(y, height_of(a), x.columns);
    DeviceSection section(*memory());
    const auto rows = read_rows<Number>(a);
    const Number* px = numbers<Number>(x).read_device();
    Number* py = numbers<Number>(y).write_device();
    with_shape(a.height, a.width, [&](auto shape) {
      multiply_all(shape, rows, px, x.columns, threads_, [=](std::int64_t i, const Number* sums, auto columns) {
        const int row_numbers = shape.height() * columns;
        for (int k = 0; k < row_numbers; ++k) py[i * row_numbers + k] = sums[k];
      });
    });
  });
}

void CpuMultigrid::add_product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_numbers<Number>(a, a.entries(), "a matrix");
    require_length<Number>(x, width_of(a), x.columns);
    require_length<Number>(y, height_of(a), x.columns);
    DeviceSection section(*memory());
    const auto rows = read_rows<Number>(a);
    const Number* px = numbers<Number>(x).read_device();
    Number* py = numbers<Number>(y).update_device();
    with_shape(a.height, a.width, [&](auto shape) {
      multiply_all(shape, rows, px, x.columns, threads_, [=](std::int64_t i, const Number* sums, auto columns) {
        const int row_numbers = shape.height() * columns;
        for (int k = 0; k < row_numbers; ++k) py[i * row_numbers + k] += sums[k];
      });
    });
  });
}

void CpuMultigrid::residual(const LevelMatrix& a, const LevelVector& x, const LevelVector& b, LevelVector& r) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_numbers<Number>(a, a.entries(), "a matrix");
    require_length<Number>(x, width_of(a), x.columns);
    require_length<Number>(b, height_of(a), x.columns);
    require_length<Number>(r, height_of(a), x.columns);
    DeviceSection section(*memory());
    const auto rows = read_rows<Number>(a);
    const Number* px = numbers<Number>(x).read_device();
    const Number* pb = numbers<Number>(b).read_device();
    Number* pr = &b == &r ? numbers<Number>(r).update_device() : numbers<Number>(r).write_device();
    with_shape(a.height, a.width, [&](auto shape) {
      multiply_all(shape, rows, px, x.columns, threads_, [=](std::int64_t i, const Number* sums, auto columns) {
        const int row_numbers = shape.height() * columns;
        const std::int64_t first = i * row_numbers;
        for (int k = 0; k < row_numbers; ++k) pr[first + k] = pb[first + k] - sums[k];
      });
    });
  });
}

void CpuMultigrid::step(const LevelMatrix& a, const LevelDiagonal& inverse, const LevelVector& b, const LevelVector& x,
                        double alpha, double beta, LevelVector& d, LevelVector& next) {
  if (!a.is_square() || inverse.size != a.height || &x == &next)
    throw Error(ErrorCode::misuse, "multigrid: a step needs a square matrix, its diagonal and a vector for the result");
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_numbers<Number>(a, a.entries(), "a matrix");
    require_numbers<Number>(inverse, height_of(a) * a.height, "a diagonal");
    for (const LevelVector* v : {&x, &b, static_cast<const LevelVector*>(&d), static_cast<const LevelVector*>(&next)})
      require_length<Number>(*v, height_of(a), x.columns);
    DeviceSection section(*memory());
    const auto rows = read_rows<Number>(a);
    const Number* blocks = numbers<Number>(inverse).read_device();
    const Number* px = numbers<Number>(x).read_device();
    const Number* pb = numbers<Number>(b).read_device();
    // With beta = 0 the old d does not matter, be it NaN.
    Number* pd = beta == 0 ? numbers<Number>(d).write_device() : numbers<Number>(d).update_device();
    Number* pn = numbers<Number>(next).write_device();
    const auto fa = static_cast<Number>(alpha), fb = static_cast<Number>(beta);
    with_shape(a.height, a.width, [&](auto shape) {
      multiply_all(shape, rows, px, x.columns, threads_, [=](std::int64_t i, Number* sums, auto columns) {
        const int size = shape.height(), row_numbers = size * columns;
        const std::int64_t first = i * row_numbers;
        const Number* block = blocks + i * size * size;
        for (int k = 0; k < row_numbers; ++k) sums[k] = pb[first + k] - sums[k];
        for (int r = 0; r < size; ++r)
          for (int c = 0; c < columns; ++c) {
            Number sum = 0;
            for (int t = 0; t < size; ++t) sum += block[r * size + t] * sums[t * columns + c];
            const std::int64_t at = first + r * columns + c;
            const Number moved = fb == 0 ? fa * sum : fb * pd[at] + fa * sum;
            pd[at] = moved;
            pn[at] = px[at] + moved;
          }
      });
    });
  });
}

void CpuMultigrid::apply(const LevelDiagonal& d, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::int64_t rows = rows_of_diagonal<Number>(d, x);
    require_length<Number>(y, rows * d.size, x.columns);
    const std::int64_t row_numbers = static_cast<std::int64_t>(d.size) * x.columns;
    DeviceSection section(*memory());
    const Number* blocks = numbers<Number>(d).read_device();
    const Number* px = numbers<Number>(x).read_device();
    Number* py = &x == &y ? numbers<Number>(y).update_device() : numbers<Number>(y).write_device();
    multiply_diagonal(d.size, rows, blocks, px, x.columns, threads_, [=](std::int64_t i, const Number* sums) {
      for (std::int64_t k = 0; k < row_numbers; ++k) py[i * row_numbers + k] = sums[k];
    });
  });
}

void CpuMultigrid::apply(const DenseInverse& d, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::int64_t n = d.size;
    const int columns = x.columns;
    require_numbers<Number>(d, n * n, "a dense inverse");
    require_length<Number>(x, n, columns);
    require_length<Number>(y, n, columns);
    DeviceSection section(*memory());
    const Number* rows = numbers<Number>(d).read_device();
    const Number* px = numbers<Number>(x).read_device();
    Number* py = numbers<Number>(y).write_device();
    constexpr int group = 4;  // rows that share what is read of x
#pragma omp parallel for num_threads(threads_) schedule(static) if (n * n * columns >= worth_sharing)
    for (std::int64_t row = 0; row < n; row += group) {
      if (row + group <= n)
        multiply_dense<group>(rows + row * n, d.size, columns, px, py + row * columns);
      else
        for (std::int64_t r = row; r < n; ++r) multiply_dense<1>(rows + r * n, d.size, columns, px, py + r * columns);
    }
  });
}

void CpuMultigrid::first_step(const LevelDiagonal& inverse, const LevelVector& b, double alpha, LevelVector& d,
                              LevelVector& x) {
  with_precision(b, [&](auto zero) {
    using Number = decltype(zero);
    const std::int64_t rows = rows_of_diagonal<Number>(inverse, b);
    require_length<Number>(d, rows * inverse.size, b.columns);
    require_length<Number>(x, rows * inverse.size, b.columns);
    const std::int64_t row_numbers = static_cast<std::int64_t>(inverse.size) * b.columns;
    const auto fa = static_cast<Number>(alpha);
    DeviceSection section(*memory());
    const Number* blocks = numbers<Number>(inverse).read_device();
    const Number* pb = numbers<Number>(b).read_device();
    Number* pd = numbers<Number>(d).write_device();
    Number* px = numbers<Number>(x).write_device();
    multiply_diagonal(inverse.size, rows, blocks, pb, b.columns, threads_, [=](std::int64_t i, const Number* sums) {
      for (std::int64_t k = 0; k < row_numbers; ++k) pd[i * row_numbers + k] = px[i * row_numbers + k] = fa * sums[k];
    });
  });
}

void CpuMultigrid::step(const LevelDiagonal& inverse, const LevelVector& residual, double alpha, double beta,
                        LevelVector& d, LevelVector& x) {
  with_precision(residual, [&](auto zero) {
    using Number = decltype(zero);
    const std::int64_t rows = rows_of_diagonal<Number>(inverse, residual);
    require_length<Number>(d, rows * inverse.size, residual.columns);
    require_length<Number>(x, rows * inverse.size, residual.columns);
    const std::int64_t row_numbers = static_cast<std::int64_t>(inverse.size) * residual.columns;
    const auto fa = static_cast<Number>(alpha), fb = static_cast<Number>(beta);
    DeviceSection section(*memory());
    const Number* blocks = numbers<Number>(inverse).read_device();
    const Number* pr = numbers<Number>(residual).read_device();
    Number* pd = beta == 0 ? numbers<Number>(d).write_device() : numbers<Number>(d).update_device();
    Number* px = numbers<Number>(x).update_device();
    multiply_diagonal(inverse.size, rows, blocks, pr, residual.columns, threads_,
                      [=](std::int64_t i, const Number* sums) {
                        for (std::int64_t k = 0; k < row_numbers; ++k) {
                          const std::int64_t at = i * row_numbers + k;
                          pd[at] = fb == 0 ? fa * sums[k] : fb * pd[at] + fa * sums[k];
                          px[at] += pd[at];
                        }
                      });
  });
}

}  // namespace voussoir::cpu
