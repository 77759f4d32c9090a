#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <voussoir/backends/openmp/multigrid/services.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Block rows times vectors: a wide number at a time, and with something done to each row while it is at hand.

namespace voussoir::cpu {

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
inline constexpr int most_rows = largest_level_block;

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
inline std::int32_t first_row(const std::int64_t* start, std::int32_t rows, int thread, int threads) {
  if (thread == threads) return rows;
  const std::int64_t goal = start[rows] / threads * thread;
  return static_cast<std::int32_t>(std::lower_bound(start, start + rows, goal) - start);
}

inline std::int32_t longest_row(const std::int64_t* start, std::int32_t begin, std::int32_t end) {
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

/// A vector that must have as many numbers as a matrix has columns or rows.
template <class Number>
void require_length(const LevelVector& x, std::int64_t numbers_per_column, int columns) {
  if (x.columns != columns) throw Error(ErrorCode::misuse, "multigrid: the vectors have different numbers of columns");
  require_numbers<Number>(x, numbers_per_column * columns, "a vector");
}

}  // namespace voussoir::cpu
