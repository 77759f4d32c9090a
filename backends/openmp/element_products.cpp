#include <voussoir/backends/openmp/element_products.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace voussoir::cpu {

namespace {

/// One number of each of L elements, as the processor adds them: in pairs.
template <int L>
struct Lanes {
  typedef double Pair __attribute__((vector_size(16)));
  typedef double LoosePair __attribute__((vector_size(16), aligned(8)));
  Pair pair[L / 2];

  static Lanes load(const double* p) {
    Lanes a;
#pragma GCC unroll 4
    for (int k = 0; k < L / 2; ++k) a.pair[k] = *reinterpret_cast<const LoosePair*>(p + 2 * k);
    return a;
  }
  void store(double* p) const {
#pragma GCC unroll 4
    for (int k = 0; k < L / 2; ++k) *reinterpret_cast<LoosePair*>(p + 2 * k) = pair[k];
  }
  void add_product(const Lanes& a, const Lanes& b) {
#pragma GCC unroll 4
    for (int k = 0; k < L / 2; ++k) pair[k] += a.pair[k] * b.pair[k];
  }
};

template <>
struct Lanes<1> {
  double number;

  static Lanes load(const double* p) { return {*p}; }
  void store(double* p) const { *p = number; }
  void add_product(const Lanes& a, const Lanes& b) { number += a.number * b.number; }
};

/// y = K x for L elements side by side and W columns, one after another; K an upper triangle by rows, each number read
/// once and used twice for every column. Rows are taken two at a time, which halves the traffic of y between registers
/// and cache.
template <int L, int W>
void multiply_symmetric(const double* k, const double* x, int dofs, double* y) {
  using V = Lanes<L>;
  const int column = dofs * L;
  for (int i = 0; i < W * column; ++i) y[i] = 0;
  int i = 0;
  for (; i + 1 < dofs; i += 2) {
    const double* k0 = k;
    const double* k1 = k + static_cast<std::ptrdiff_t>(dofs - i) * L;
    k = k1 + static_cast<std::ptrdiff_t>(dofs - i - 1) * L;
    const V first = V::load(k0), corner = V::load(k0 + L), second = V::load(k1);
    V x0[W], x1[W], y0[W], y1[W];
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) {
      x0[w] = V::load(x + w * column + i * L);
      x1[w] = V::load(x + w * column + (i + 1) * L);
      y0[w] = V::load(y + w * column + i * L);
      y1[w] = V::load(y + w * column + (i + 1) * L);
      y0[w].add_product(first, x0[w]);
      y0[w].add_product(corner, x1[w]);
      y1[w].add_product(corner, x0[w]);
      y1[w].add_product(second, x1[w]);
    }
    k0 += 2 * L;
    k1 += L;
    for (int j = i + 2; j < dofs; ++j, k0 += L, k1 += L) {
      const V a0 = V::load(k0), a1 = V::load(k1);
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) {
        const V xj = V::load(x + w * column + j * L);
        V yj = V::load(y + w * column + j * L);
        y0[w].add_product(a0, xj);
        y1[w].add_product(a1, xj);
        yj.add_product(a0, x0[w]);
        yj.add_product(a1, x1[w]);
        yj.store(y + w * column + j * L);
      }
    }
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) {
      y0[w].store(y + w * column + i * L);
      y1[w].store(y + w * column + (i + 1) * L);
    }
  }
  if (i < dofs)
    for (int w = 0; w < W; ++w)
      for (int l = 0; l < L; ++l) y[w * column + i * L + l] += k[l] * x[w * column + i * L + l];
}

/// Numbers of one column of a group, from among those of `columns` to side by side, or back.
void take_column(const double* from, int dofs, int lanes, int columns, int column, double* to) {
  for (int i = 0; i < dofs; ++i)
    std::copy_n(from + static_cast<std::ptrdiff_t>(i * columns + column) * lanes, lanes, to + i * lanes);
}
void put_column(const double* from, int dofs, int lanes, int columns, int column, double* to) {
  for (int i = 0; i < dofs; ++i)
    std::copy_n(from + i * lanes, lanes, to + static_cast<std::ptrdiff_t>(i * columns + column) * lanes);
}

template <int L>
void multiply_all(const double* matrices, const double* vectors, int dofs, int entries, int columns, int groups,
                  double* out) {
  // The products are formed apart: the compiler then knows that they do not overlap what is read.
  thread_local std::vector<double> x, y;
  const std::size_t column = static_cast<std::size_t>(dofs) * L;
  x.resize(2 * column);
  y.resize(2 * column);
  for (int g = 0; g < groups; ++g) {
    const double* matrix = matrices + static_cast<std::ptrdiff_t>(g) * entries * L;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(g) * dofs * columns * L;
    if (columns == 1) {
      multiply_symmetric<L, 1>(matrix, vectors + at, dofs, y.data());
      std::copy_n(y.begin(), column, out + at);
      continue;
    }
    for (int c = 0; c < columns; c += 2) {
      const int width = std::min(2, columns - c);
      for (int w = 0; w < width; ++w)
        take_column(vectors + at, dofs, L, columns, c + w, x.data() + static_cast<std::size_t>(w) * column);
      if (width == 2)
        multiply_symmetric<L, 2>(matrix, x.data(), dofs, y.data());
      else
        multiply_symmetric<L, 1>(matrix, x.data(), dofs, y.data());
      for (int w = 0; w < width; ++w)
        put_column(y.data() + static_cast<std::size_t>(w) * column, dofs, L, columns, c + w, out + at);
    }
  }
}

/// y = K x with whole matrices, for any number of lanes.
void multiply_whole(const double* matrices, const double* vectors, int dofs, int columns, int lanes, int groups,
                    double* out) {
  thread_local std::vector<double> x, y;
  x.resize(static_cast<std::size_t>(dofs * lanes));
  y.resize(x.size());
  for (int g = 0; g < groups; ++g)
    for (int c = 0; c < columns; ++c) {
      const double* k = matrices + static_cast<std::ptrdiff_t>(g) * dofs * dofs * lanes;
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(g) * dofs * columns * lanes;
      take_column(vectors + at, dofs, lanes, columns, c, x.data());
      for (int i = 0; i < dofs; ++i) {
        double* sum = y.data() + static_cast<std::ptrdiff_t>(i) * lanes;
        std::fill_n(sum, lanes, 0.0);
        for (int j = 0; j < dofs; ++j, k += lanes)
          for (int l = 0; l < lanes; ++l) sum[l] += k[l] * x[static_cast<std::size_t>(j * lanes + l)];
      }
      put_column(y.data(), dofs, lanes, columns, c, out + at);
    }
}

/// For any number of lanes.
void multiply_plainly(const double* matrices, const double* vectors, int dofs, int entries, int columns, int lanes,
                      int groups, double* out) {
  std::vector<double> x(static_cast<std::size_t>(dofs * lanes)), y(x.size());
  for (int g = 0; g < groups; ++g)
    for (int c = 0; c < columns; ++c) {
      const double* k = matrices + static_cast<std::ptrdiff_t>(g) * entries * lanes;
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(g) * dofs * columns * lanes;
      take_column(vectors + at, dofs, lanes, columns, c, x.data());
      std::fill(y.begin(), y.end(), 0.0);
      for (int i = 0; i < dofs; ++i)
        for (int j = i; j < dofs; ++j, k += lanes)
          for (int l = 0; l < lanes; ++l) {
            y[static_cast<std::size_t>(i * lanes + l)] += k[l] * x[static_cast<std::size_t>(j * lanes + l)];
            if (j != i) y[static_cast<std::size_t>(j * lanes + l)] += k[l] * x[static_cast<std::size_t>(i * lanes + l)];
          }
      put_column(y.data(), dofs, lanes, columns, c, out + at);
    }
}

}  // namespace

namespace {

/// Where the values of a node stand side by side; Values: their number where it is known, or 0.
template <int Values>
void spread_side_by_side(const ElementView& view, const double* x, int n, int per_node, int columns, int lanes,
                         int first, int count, double* out) {
  const int values = Values > 0 ? Values : per_node;
  for (int at = 0; at < count; at += lanes)
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int32_t* nodes = view.nodes + static_cast<std::ptrdiff_t>(first + std::min(at + lane, count - 1)) * n;
      double* target = out + static_cast<std::ptrdiff_t>(at) * n * values + lane;
      for (int a = 0; a < n; ++a) {
        const double* source = x + static_cast<std::ptrdiff_t>(view.first_unknown[nodes[a]]) * columns;
        for (int i = 0; i < values; ++i, target += lanes) *target = source[i];
      }
    }
}

void spread_by_slots(const ElementView& view, const double* x, int n, int components, int columns, int lanes, int first,
                     int count, double* out) {
  for (int at = 0; at < count; at += lanes)
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int32_t* nodes = view.nodes + static_cast<std::ptrdiff_t>(first + std::min(at + lane, count - 1)) * n;
      double* target = out + static_cast<std::ptrdiff_t>(at) * n * components * columns + lane;
      for (int a = 0; a < n; ++a) {
        const double* source = x + static_cast<std::ptrdiff_t>(view.first_unknown[nodes[a]]) * columns;
        for (int c = 0; c < components; ++c) {
          const int slot = view.slot[static_cast<std::ptrdiff_t>(nodes[a]) * components + c];
          for (int w = 0; w < columns; ++w, target += lanes) *target = source[slot * columns + w];
        }
      }
    }
}

}  // namespace

void spread_groups(const ElementProgram& program, const ElementView& view, const double* x, int columns, int first,
                   int count, double* out) {
  const int n = program.nodes(), per_node = program.components() * columns, lanes = program.lanes();
  if (view.slot) return spread_by_slots(view, x, n, program.components(), columns, lanes, first, count, out);
  switch (per_node) {
    case 1:
      return spread_side_by_side<1>(view, x, n, per_node, columns, lanes, first, count, out);
    case 3:
      return spread_side_by_side<3>(view, x, n, per_node, columns, lanes, first, count, out);
    default:
      return spread_side_by_side<0>(view, x, n, per_node, columns, lanes, first, count, out);
  }
}

void multiply_groups(const ElementProgram& program, const double* matrices, const double* vectors, int columns,
                     int count, double* out) {
  const int dofs = program.dofs(), entries = program.matrix_entries(), lanes = program.lanes();
  const int groups = (count + lanes - 1) / lanes;
  if (!program.symmetric()) return multiply_whole(matrices, vectors, dofs, columns, lanes, groups, out);
  switch (lanes) {
    case 1:
      return multiply_all<1>(matrices, vectors, dofs, entries, columns, groups, out);
    case 2:
      return multiply_all<2>(matrices, vectors, dofs, entries, columns, groups, out);
    case 4:
      return multiply_all<4>(matrices, vectors, dofs, entries, columns, groups, out);
    case 8:
      return multiply_all<8>(matrices, vectors, dofs, entries, columns, groups, out);
    default:
      return multiply_plainly(matrices, vectors, dofs, entries, columns, lanes, groups, out);
  }
}

}  // namespace voussoir::cpu
