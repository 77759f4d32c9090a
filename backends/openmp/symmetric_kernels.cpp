#include <voussoir/backends/openmp/symmetric_kernels.hpp>

#include <cstddef>

namespace voussoir::cpu {

namespace {

/// Two neighbouring numbers, wherever they lie.
typedef double Pair __attribute__((vector_size(16)));
typedef double LoosePair __attribute__((vector_size(16), aligned(8)));

/// Numbers between the one in use and the one asked for. Values are read once and in order, but between the many
/// short reads and writes of vectors the processor's own prefetching does not run far enough ahead.
constexpr std::ptrdiff_t prefetch_ahead = 256;

inline Pair pair_at(const double* p) { return *reinterpret_cast<const LoosePair*>(p); }
inline void set_pair(double* p, Pair value) { *reinterpret_cast<LoosePair*>(p) = value; }

/// One block row in the making: a row of a block is taken as pairs and, where B is odd, a last number.
template <int B>
struct RowSums {
  static constexpr int pairs = B / 2, room = pairs > 0 ? pairs : 1;
  static constexpr bool odd = B % 2 == 1;
  double x[B];  // of the row itself
  Pair sum[B][room] = {};
  double last[B] = {};

  /// The row's own share of a block: sums += A x_j.
  [[gnu::always_inline]] void forward(const double* value, const double* xj) {
#pragma GCC unroll 6
    for (int p = 0; p < pairs; ++p) {
      const Pair entries = pair_at(xj + 2 * p);
#pragma GCC unroll 6
      for (int i = 0; i < B; ++i) sum[i][p] += pair_at(value + i * B + 2 * p) * entries;
    }
    if constexpr (odd)
#pragma GCC unroll 6
      for (int i = 0; i < B; ++i) last[i] += value[i * B + B - 1] * xj[B - 1];
  }
  /// What the mirror image gives to the column: y_j += Aᵀ x.
  [[gnu::always_inline]] void mirror(const double* value, double* yj) const {
#pragma GCC unroll 6
    for (int p = 0; p < pairs; ++p) {
      Pair entries = pair_at(yj + 2 * p);
#pragma GCC unroll 6
      for (int i = 0; i < B; ++i) entries += pair_at(value + i * B + 2 * p) * Pair{x[i], x[i]};
      set_pair(yj + 2 * p, entries);
    }
    if constexpr (odd) {
      double entry = yj[B - 1];
#pragma GCC unroll 6
      for (int i = 0; i < B; ++i) entry += value[i * B + B - 1] * x[i];
      yj[B - 1] = entry;
    }
  }
  [[gnu::always_inline]] void both(const double* __restrict value, const std::int32_t* __restrict column,
                                   std::int64_t count, const double* __restrict from, double* __restrict to) {
    for (std::int64_t k = 0; k < count; ++k, value += B * B) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(column[k]) * B;
#pragma GCC unroll 4
      for (int line = 0; line < B * B / 8; ++line) __builtin_prefetch(value + prefetch_ahead + 8 * line);
      forward(value, from + at);
      mirror(value, to + at);
    }
  }
  [[gnu::always_inline]] void add_to(double* y) const {
#pragma GCC unroll 6
    for (int i = 0; i < B; ++i) {
      double total = last[i];
#pragma GCC unroll 3
      for (int p = 0; p < pairs; ++p) total += sum[i][p][0] + sum[i][p][1];
      y[i] += total;
    }
  }
};

template <int B>
void product(const SymmetricRows& a, RowRange tile, const TileVectors& v) {
  const std::int64_t* row_start = a.rows.row_start;
  for (std::int32_t row = tile.begin; row < tile.end; ++row) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(row) * B;
    const std::int64_t first = row_start[row], last = row_start[row + 1], split = last - a.outer[row];
    const double* value = a.rows.value + first * (B * B);
    RowSums<B> sums;
#pragma GCC unroll 6
    for (int i = 0; i < B; ++i) sums.x[i] = v.x[at + i];
    sums.forward(value, v.x + at);
    sums.both(value + B * B, a.rows.column + first + 1, split - first - 1, v.x, v.y);
    if (split < last)
      sums.both(a.rows.value + split * (B * B), a.rows.column + split, last - split, v.outer_x, v.outer_y);
    sums.add_to(v.y + at);
  }
}

/// W neighbouring columns of one block row, taken as pairs or as a single one.
template <int B, class Unit, int Units>
struct BlockSums {
  static constexpr int width = static_cast<int>(sizeof(Unit) / sizeof(double));
  Unit x[B][Units];
  Unit sum[B][Units] = {};

  static Unit load(const double* p) {
    if constexpr (width == 2)
      return pair_at(p);
    else
      return *p;
  }
  static void store(double* p, Unit value) {
    if constexpr (width == 2)
      set_pair(p, value);
    else
      *p = value;
  }
  static Unit spread(double value) {
    if constexpr (width == 2)
      return Pair{value, value};
    else
      return value;
  }

  [[gnu::always_inline]] void forward(const double* value, int columns, const double* xj) {
#pragma GCC unroll 6
    for (int j = 0; j < B; ++j)
#pragma GCC unroll 2
      for (int u = 0; u < Units; ++u) {
        const Unit entries = load(xj + j * columns + u * width);
#pragma GCC unroll 6
        for (int i = 0; i < B; ++i) sum[i][u] += spread(value[i * B + j]) * entries;
      }
  }
  [[gnu::always_inline]] void mirror(const double* value, int columns, double* yj) const {
#pragma GCC unroll 6
    for (int j = 0; j < B; ++j)
#pragma GCC unroll 2
      for (int u = 0; u < Units; ++u) {
        double* target = yj + j * columns + u * width;
        Unit entries = load(target);
#pragma GCC unroll 6
        for (int i = 0; i < B; ++i) entries += spread(value[i * B + j]) * x[i][u];
        store(target, entries);
      }
  }
  void both(const double* value, const std::int32_t* column, std::int64_t count, int columns,
            const double* __restrict from, double* __restrict to) {
    for (std::int64_t k = 0; k < count; ++k, value += B * B) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(column[k]) * B * columns;
      forward(value, columns, from + at);
      mirror(value, columns, to + at);
    }
  }
};

template <int B, class Unit, int Units>
void product_columns(const SymmetricRows& a, std::int32_t row, int columns, int offset, const TileVectors& v) {
  using Sums = BlockSums<B, Unit, Units>;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(row) * B * columns + offset;
  const std::int64_t first = a.rows.row_start[row], last = a.rows.row_start[row + 1], split = last - a.outer[row];
  const double* value = a.rows.value + first * (B * B);
  const std::int32_t* column = a.rows.column;
  Sums sums;
  for (int i = 0; i < B; ++i)
    for (int u = 0; u < Units; ++u) sums.x[i][u] = Sums::load(v.x + at + i * columns + u * Sums::width);
  sums.forward(value, columns, v.x + at);
  sums.both(value + B * B, column + first + 1, split - first - 1, columns, v.x + offset, v.y + offset);
  if (split < last)
    sums.both(a.rows.value + split * (B * B), column + split, last - split, columns, v.outer_x + offset,
              v.outer_y + offset);
  for (int i = 0; i < B; ++i)
    for (int u = 0; u < Units; ++u) {
      double* target = v.y + at + i * columns + u * Sums::width;
      Sums::store(target, Sums::load(target) + sums.sum[i][u]);
    }
}

template <int B>
void product_block(const SymmetricRows& a, RowRange tile, int columns, const TileVectors& v) {
  for (std::int32_t row = tile.begin; row < tile.end; ++row) {
    int c = 0;
    for (; c + 4 <= columns; c += 4) product_columns<B, Pair, 2>(a, row, columns, c, v);
    for (; c + 2 <= columns; c += 2) product_columns<B, Pair, 1>(a, row, columns, c, v);
    if (c < columns) product_columns<B, double, 1>(a, row, columns, c, v);
  }
}

template <int B>
void product(const SymmetricRows& a, RowRange tile, int columns, const TileVectors& v) {
  if (columns == 1)
    product<B>(a, tile, v);
  else
    product_block<B>(a, tile, columns, v);
}

}  // namespace

void multiply_tile(const SymmetricRows& a, RowRange tile, int columns, const TileVectors& vectors) {
  switch (a.rows.block_size) {
    case 1:
      return product<1>(a, tile, columns, vectors);
    case 2:
      return product<2>(a, tile, columns, vectors);
    case 3:
      return product<3>(a, tile, columns, vectors);
    case 4:
      return product<4>(a, tile, columns, vectors);
    case 5:
      return product<5>(a, tile, columns, vectors);
    default:
      return product<6>(a, tile, columns, vectors);
  }
}

}  // namespace voussoir::cpu
