#include <voussoir/backends/openmp/sparse_kernels.hpp>

#include <cstddef>

namespace voussoir::cpu {

namespace {

/// Two neighbouring numbers, wherever they lie. All processors that this is meant for add and multiply two doubles at
/// once; none needs more to keep up with its memory.
typedef double Pair __attribute__((vector_size(16)));
typedef double LoosePair __attribute__((vector_size(16), aligned(8)));

/// Numbers between the one in use and the one asked for: where a row of one stretch ends and the other stretch goes on,
/// the processor's own prefetching has lost the thread.
constexpr std::ptrdiff_t prefetch_ahead = 128;

inline Pair pair_at(const double* p) { return *reinterpret_cast<const LoosePair*>(p); }

/// Numbers of a block are taken in pairs in the order in which they lie in memory, and each place within a block has a
/// running sum of its own, so that no addition waits for its neighbour. In a block of odd size a pair may span two
/// rows: pair p then wants the entries 2p and 2p + 1 of x, counted modulo B, which repeat after B pairs.
template <int B>
[[gnu::always_inline]] inline void product(const BlockRows& a, std::int32_t begin, std::int32_t end, const double* x,
                                           double* y) {
  constexpr int pairs = B * B / 2, distinct = B % 2 == 0 ? B / 2 : B;
  const std::int64_t* row_start = a.row_start;
  const std::int32_t* column = a.column;
  for (std::int32_t row = begin; row < end; ++row) {
    Pair sum[pairs] = {};
    double last_sum = 0;
    const std::int64_t last = row_start[row + 1];
    const double* value = a.value + row_start[row] * (B * B);
    for (std::int64_t k = row_start[row]; k < last; ++k, value += B * B) {
      const double* xb = x + static_cast<std::ptrdiff_t>(column[k]) * B;
#pragma GCC unroll 4
      for (int line = 0; line < B * B / 8; ++line) __builtin_prefetch(value + prefetch_ahead + 8 * line);
      Pair xs[distinct];
#pragma GCC unroll 6
      for (int q = 0; q < distinct; ++q) xs[q] = 2 * q % B == B - 1 ? Pair{xb[B - 1], xb[0]} : pair_at(xb + 2 * q % B);
#pragma GCC unroll 18
      for (int p = 0; p < pairs; ++p) sum[p] += pair_at(value + 2 * p) * xs[p % distinct];
      if constexpr (B % 2 == 1) last_sum += value[B * B - 1] * xb[B - 1];
    }
    double places[B * B];
#pragma GCC unroll 18
    for (int p = 0; p < pairs; ++p) {
      places[2 * p] = sum[p][0];
      places[2 * p + 1] = sum[p][1];
    }
    if constexpr (B % 2 == 1) places[B * B - 1] = last_sum;
    double* yb = y + static_cast<std::ptrdiff_t>(row) * B;
#pragma GCC unroll 6
    for (int i = 0; i < B; ++i) {
      double total = places[i * B];
#pragma GCC unroll 6
      for (int j = 1; j < B; ++j) total += places[i * B + j];
      yb[i] = total;
    }
  }
}

template <>
[[gnu::always_inline]] inline void product<1>(const BlockRows& a, std::int32_t begin, std::int32_t end, const double* x,
                                              double* y) {
  const std::int32_t* column = a.column;
  const double* value = a.value;
  for (std::int32_t row = begin; row < end; ++row) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    std::int64_t k = a.row_start[row];
    const std::int64_t last = a.row_start[row + 1];
    for (; k + 4 <= last; k += 4) {
      s0 += value[k] * x[column[k]];
      s1 += value[k + 1] * x[column[k + 1]];
      s2 += value[k + 2] * x[column[k + 2]];
      s3 += value[k + 3] * x[column[k + 3]];
    }
    for (; k < last; ++k) s0 += value[k] * x[column[k]];
    y[row] = (s0 + s2) + (s1 + s3);
  }
}

/// 2 P neighbouring columns of one block row: B × P pairs of sums stay in registers while the row passes.
template <int B, int P>
void product_tile(const BlockRows& a, std::int32_t row, int columns, int column_offset, const double* x, double* y) {
  Pair sum[B][P] = {};
  const double* value = a.value + a.row_start[row] * (B * B);
  for (std::int64_t k = a.row_start[row]; k < a.row_start[row + 1]; ++k, value += B * B) {
    const double* xb = x + static_cast<std::ptrdiff_t>(a.column[k]) * B * columns + column_offset;
#pragma GCC unroll 6
    for (int j = 0; j < B; ++j) {
      Pair xs[P];
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) xs[p] = pair_at(xb + j * columns + 2 * p);
#pragma GCC unroll 6
      for (int i = 0; i < B; ++i) {
        const double factor = value[i * B + j];
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p) sum[i][p] += Pair{factor, factor} * xs[p];
      }
    }
  }
  double* yb = y + static_cast<std::ptrdiff_t>(row) * B * columns + column_offset;
#pragma GCC unroll 6
  for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) *reinterpret_cast<LoosePair*>(yb + i * columns + 2 * p) = sum[i][p];
}

/// The last of an odd number of columns.
template <int B>
void product_column(const BlockRows& a, std::int32_t row, int columns, int column_offset, const double* x, double* y) {
  double sum[B] = {};
  const double* value = a.value + a.row_start[row] * (B * B);
  for (std::int64_t k = a.row_start[row]; k < a.row_start[row + 1]; ++k, value += B * B) {
    const double* xb = x + static_cast<std::ptrdiff_t>(a.column[k]) * B * columns + column_offset;
    for (int j = 0; j < B; ++j)
      for (int i = 0; i < B; ++i) sum[i] += value[i * B + j] * xb[j * columns];
  }
  for (int i = 0; i < B; ++i) y[(static_cast<std::ptrdiff_t>(row) * B + i) * columns + column_offset] = sum[i];
}

template <int B>
void product_block(const BlockRows& a, std::int32_t begin, std::int32_t end, int columns, const double* x, double* y) {
  constexpr int widest = B <= 3 ? 4 : 2;  // pairs, by what the registers hold
  for (std::int32_t row = begin; row < end; ++row) {
    int c = 0;
    for (; c + 2 * widest <= columns; c += 2 * widest) product_tile<B, widest>(a, row, columns, c, x, y);
    for (; c + 4 <= columns; c += 4) product_tile<B, 2>(a, row, columns, c, x, y);
    for (; c + 2 <= columns; c += 2) product_tile<B, 1>(a, row, columns, c, x, y);
    if (c < columns) product_column<B>(a, row, columns, c, x, y);
  }
}

/// Rows taken from one stretch before the other has its turn.
template <int B>
inline constexpr std::int32_t turn = B == 1 ? 4 : 2;

template <int B>
void product_two(const BlockRows& a, RowRange one, RowRange two, const double* x, double* y) {
  while (one.begin < one.end && two.begin < two.end) {
    const std::int32_t stop_one = one.begin + turn<B> < one.end ? one.begin + turn<B> : one.end;
    const std::int32_t stop_two = two.begin + turn<B> < two.end ? two.begin + turn<B> : two.end;
    product<B>(a, one.begin, stop_one, x, y);
    product<B>(a, two.begin, stop_two, x, y);
    one.begin = stop_one;
    two.begin = stop_two;
  }
  product<B>(a, one.begin, one.end, x, y);
  product<B>(a, two.begin, two.end, x, y);
}

}  // namespace

void multiply_rows(const BlockRows& a, RowRange one, RowRange two, const double* x, double* y) {
  switch (a.block_size) {
    case 1:
      return product_two<1>(a, one, two, x, y);
    case 2:
      return product_two<2>(a, one, two, x, y);
    case 3:
      return product_two<3>(a, one, two, x, y);
    case 4:
      return product_two<4>(a, one, two, x, y);
    case 5:
      return product_two<5>(a, one, two, x, y);
    default:
      return product_two<6>(a, one, two, x, y);
  }
}

void multiply_rows(const BlockRows& a, std::int32_t begin, std::int32_t end, int columns, const double* x, double* y) {
  switch (a.block_size) {
    case 1:
      return product_block<1>(a, begin, end, columns, x, y);
    case 2:
      return product_block<2>(a, begin, end, columns, x, y);
    case 3:
      return product_block<3>(a, begin, end, columns, x, y);
    case 4:
      return product_block<4>(a, begin, end, columns, x, y);
    case 5:
      return product_block<5>(a, begin, end, columns, x, y);
    default:
      return product_block<6>(a, begin, end, columns, x, y);
  }
}

}  // namespace voussoir::cpu
