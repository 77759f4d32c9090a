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

/// y = K x for L elements side by side; K an upper triangle by rows, each number read once and used twice. Rows are
/// taken two at a time, which halves the traffic of y between registers and cache.
template <int L>
void multiply_symmetric(const double* k, const double* x, int dofs, double* y) {
  using V = Lanes<L>;
  for (int i = 0; i < dofs * L; ++i) y[i] = 0;
  int i = 0;
  for (; i + 1 < dofs; i += 2) {
    const double* k0 = k;
    const double* k1 = k + static_cast<std::ptrdiff_t>(dofs - i) * L;
    k = k1 + static_cast<std::ptrdiff_t>(dofs - i - 1) * L;
    const V x0 = V::load(x + i * L), x1 = V::load(x + (i + 1) * L), corner = V::load(k0 + L);
    V y0 = V::load(y + i * L), y1 = V::load(y + (i + 1) * L);
    y0.add_product(V::load(k0), x0);
    y0.add_product(corner, x1);
    y1.add_product(corner, x0);
    y1.add_product(V::load(k1), x1);
    k0 += 2 * L;
    k1 += L;
    for (int j = i + 2; j < dofs; ++j, k0 += L, k1 += L) {
      const V a0 = V::load(k0), a1 = V::load(k1), xj = V::load(x + j * L);
      V yj = V::load(y + j * L);
      y0.add_product(a0, xj);
      y1.add_product(a1, xj);
      yj.add_product(a0, x0);
      yj.add_product(a1, x1);
      yj.store(y + j * L);
    }
    y0.store(y + i * L);
    y1.store(y + (i + 1) * L);
  }
  if (i < dofs)
    for (int l = 0; l < L; ++l) y[i * L + l] += k[l] * x[i * L + l];
}

template <int L>
void multiply_all(const double* matrices, const double* vectors, int dofs, int entries, int groups, double* out) {
  // The products are formed apart: the compiler then knows that they do not overlap what is read.
  thread_local std::vector<double> y;
  y.resize(static_cast<std::size_t>(dofs) * L);
  for (int g = 0; g < groups; ++g) {
    multiply_symmetric<L>(matrices + static_cast<std::ptrdiff_t>(g) * entries * L,
                          vectors + static_cast<std::ptrdiff_t>(g) * dofs * L, dofs, y.data());
    std::copy(y.begin(), y.end(), out + static_cast<std::ptrdiff_t>(g) * dofs * L);
  }
}

}  // namespace

void spread_groups(const ElementProgram& program, const ElementView& view, const double* x, int first, int count,
                   double* out) {
  const int n = program.nodes(), components = program.components(), lanes = program.lanes();
  for (int at = 0; at < count; at += lanes)
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int32_t* nodes = view.nodes + static_cast<std::ptrdiff_t>(first + std::min(at + lane, count - 1)) * n;
      double* target = out + static_cast<std::ptrdiff_t>(at) * n * components + lane;
      for (int a = 0; a < n; ++a) {
        const double* source = x + view.first_unknown[nodes[a]];
        for (int i = 0; i < components; ++i, target += lanes) *target = source[i];
      }
    }
}

void multiply_groups(const ElementProgram& program, const double* matrices, const double* vectors, int count,
                     double* out) {
  const int dofs = program.dofs(), entries = program.matrix_entries(), lanes = program.lanes();
  const int groups = (count + lanes - 1) / lanes;
  switch (lanes) {
    case 1:
      return multiply_all<1>(matrices, vectors, dofs, entries, groups, out);
    case 2:
      return multiply_all<2>(matrices, vectors, dofs, entries, groups, out);
    case 4:
      return multiply_all<4>(matrices, vectors, dofs, entries, groups, out);
    case 8:
      return multiply_all<8>(matrices, vectors, dofs, entries, groups, out);
    default:
      break;
  }
  std::vector<double> y(static_cast<std::size_t>(dofs * lanes));
  for (int g = 0; g < groups; ++g) {
    const double* k = matrices + static_cast<std::ptrdiff_t>(g) * entries * lanes;
    const double* x = vectors + static_cast<std::ptrdiff_t>(g) * dofs * lanes;
    std::fill(y.begin(), y.end(), 0.0);
    for (int i = 0; i < dofs; ++i)
      for (int j = i; j < dofs; ++j, k += lanes)
        for (int l = 0; l < lanes; ++l) {
          y[static_cast<std::size_t>(i * lanes + l)] += k[l] * x[j * lanes + l];
          if (j != i) y[static_cast<std::size_t>(j * lanes + l)] += k[l] * x[i * lanes + l];
        }
    std::copy(y.begin(), y.end(), out + static_cast<std::ptrdiff_t>(g) * dofs * lanes);
  }
}

}  // namespace voussoir::cpu
