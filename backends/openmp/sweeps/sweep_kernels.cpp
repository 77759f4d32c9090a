#include <voussoir/backends/openmp/sweeps/sweep_kernels.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

#include <voussoir/backends/openmp/sweeps/system_packs.hpp>

// Elimination without pivoting, a system in each lane. A periodic system has y_0 as a border: rows 1 … n − 1 are
// eliminated to y_i = β_i − γ_i y_0 − α_i y_{i+1}, and row 0 is reduced along with them, so that one forward and one
// backward pass suffice (the classical periodic sweep needs a third one, for u and v).

namespace voussoir::cpu {

namespace {

using detail::no_sweep_fault;
using detail::sweep_word;
using detail::SweepPrecision;
using detail::SweepWord;

/// The state of the forward pass: the last row eliminated, and row 0 as reduced so far. α and β have the opposite sign.
template <class T, int W>
struct Forward {
  using V = Pack<T, W>;
  V alpha = V::all(0), beta = V::all(0), gamma = V::all(-1);
  V coupling = V::all(0), diagonal = V::all(0), right = V::all(0);
  V growth = V::all(0);  ///< sum of (upper / pivot)² and (lower / pivot)² over some rows
  PackMask<T, W> calm = PackMask<T, W>::yes();
};

/// Where growth stays below this, |pivot| > tolerance · (|lower| + |diagonal| + |upper|) in all rows: with a = lower /
/// pivot and b = upper / pivot, |diagonal / pivot| ≤ 1 + |a b of the row before|. Other systems are looked at again.
template <class T>
T calm_growth(T tolerance) {
  return tolerance < T(0.01) ? T(0.25) / tolerance : T(0);
}

/// The coefficients of row 0 of periodic systems.
template <class T, int W>
struct RowZero {
  Pack<T, W> lower = Pack<T, W>::all(0), diagonal = Pack<T, W>::all(0), upper = Pack<T, W>::all(0);
};

/// |lower| + |diagonal| + |upper|, with which pivots are compared.
template <class T, int W>
[[gnu::always_inline]] inline Pack<T, W> row_size(Pack<T, W> l, Pack<T, W> d, Pack<T, W> u) {
  return magnitude(l) + magnitude(d) + magnitude(u);
}

/// Eliminates one row; out has −α, −β, γ.
template <bool periodic, class T, int W>
[[gnu::always_inline]] inline void eliminate(Forward<T, W>& s, Pack<T, W> l, Pack<T, W> d, Pack<T, W> u, Pack<T, W> f,
                                             T* out) {
  const Pack<T, W> pivot = plus_product(d, l, s.alpha), r = negative_inverse(pivot), lr = l * r;
  s.beta = plus_product(f, l, s.beta) * r;
  s.alpha = u * r;
  s.growth = plus_product(plus_product(s.growth, s.alpha, s.alpha), lr, lr);
  s.growth = plus_product(s.growth, pivot, Pack<T, W>::all(0));  // not a number where the pivot is not finite
  s.alpha.store(out);
  s.beta.store(out + W);
  if constexpr (periodic) {
    s.gamma = lr * s.gamma;
    s.gamma.store(out + 2 * W);
    s.right = plus_product(s.right, s.coupling, s.beta);
    s.diagonal = less_product(s.diagonal, s.coupling, s.gamma);
    s.coupling = s.coupling * s.alpha;
  }
}

/// A row of the four arrays of a batch.
template <class T, int W>
struct FourRows {
  typename SystemPack<T, W>::Rows lower, diagonal, upper, f;

  FourRows(const SweepBatch<T>& b, const SystemPack<T, W>& pack, std::int64_t row, int rows, T (*buffer)[pack_rows * W])
      : lower(pack.bring(b.lower, row, rows, buffer[0])),
        diagonal(pack.bring(b.diagonal, row, rows, buffer[1])),
        upper(pack.bring(b.upper, row, rows, buffer[2])),
        f(pack.bring(b.f, row, rows, buffer[3])) {}
};

/// Eliminates the rows of a group. Rows at the ends of a system are special: `edge`.
template <bool periodic, bool edge, class T, int W>
[[gnu::always_inline]] inline void forward_group(const SweepBatch<T>& b, const SystemPack<T, W>& pack, std::int64_t row,
                                                 int rows, Forward<T, W>& s, RowZero<T, W>& zero, T limit, T* scratch) {
  alignas(64) T buffer[4][pack_rows * W];
  const FourRows<T, W> in(b, pack, row, rows, buffer);
  const auto at = [&](const typename SystemPack<T, W>::Rows& array, int k) {
    return Pack<T, W>::load(array.at + k * array.step);
  };
  for (int k = 0; k < (edge ? rows : pack_rows); ++k) {
    Pack<T, W> l = at(in.lower, k), u = at(in.upper, k);
    const Pack<T, W> d = at(in.diagonal, k), f = at(in.f, k);
    if (edge && row + k == 0) {
      if constexpr (periodic) {
        zero = {l, d, u};
        s.coupling = u;
        s.diagonal = d;
        s.right = f;
        continue;
      }
      l = Pack<T, W>::all(0);
    }
    if (edge && !periodic && row + k == b.shape.length - 1) u = Pack<T, W>::all(0);
    eliminate<periodic, T, W>(s, l, d, u, f, scratch + (row + k) * 3 * W);
  }
  require_greater(s.calm, Pack<T, W>::all(limit), s.growth);
  s.growth = Pack<T, W>::all(0);
}

/// Forward pass over all rows (from row 1 on where periodic, with row 0 in the state).
template <bool periodic, class T, int W>
[[gnu::always_inline]] inline void forward_pass(const SweepBatch<T>& b, const SystemPack<T, W>& pack, Forward<T, W>& s,
                                                RowZero<T, W>& zero, T* scratch) {
  const std::int64_t n = b.shape.length;
  const T limit = calm_growth(b.tolerance);
  std::int64_t row = 0;
  const auto edge = [&] {
    const int rows = static_cast<int>(std::min<std::int64_t>(pack_rows, n - row));
    forward_group<periodic, true>(b, pack, row, rows, s, zero, limit, scratch);
    row += rows;
  };
  edge();
  for (; row < n - pack_rows; row += pack_rows)
    forward_group<periodic, false>(b, pack, row, pack_rows, s, zero, limit, scratch);
  if (row < n) edge();
}

/// Row and kind of the first pivot of one system that is not accepted; pivots are computed again.
template <class T>
SweepWord find_pivot_fault(const SweepBatch<T>& b, bool periodic, std::int64_t system) {
  const std::int64_t start = system_start(b.shape, system), n = b.shape.length;
  const auto size_of = [](T l, T d, T u) { return std::abs(l) + std::abs(d) + std::abs(u); };
  T alpha = 0;
  for (std::int64_t i = periodic; i < n; ++i) {
    const std::int64_t at = start + i * b.shape.stride;
    const T l = !periodic && i == 0 ? T(0) : b.lower[at], u = !periodic && i == n - 1 ? T(0) : b.upper[at];
    const T pivot = b.diagonal[at] - l * alpha, size = size_of(l, b.diagonal[at], u);
    if (!(std::abs(pivot) > b.tolerance * size)) return sweep_word(system, n, i, detail::pivot_fault(pivot, size));
    alpha = u * (T(1) / pivot);
  }
  return no_sweep_fault;
}

/// The first unknown of each system that is not finite.
template <class T, int W>
SweepWord find_not_finite(const SweepShape& shape, const SystemPack<T, W>& pack, const T* y, std::int64_t first) {
  for (int w = 0; w < pack.count(); ++w)
    for (std::int64_t i = 0; i < shape.length; ++i)
      if (!std::isfinite(y[pack.start(w) + i * shape.stride]))
        return sweep_word(first + w, shape.length, i, SweepFault::not_finite);
  return no_sweep_fault;
}

template <class T, int W>
bool all_zero(Pack<T, W> x) {
  bool result = true;
  for (int w = 0; w < W; ++w) result = result && x.lane(w) == T(0);
  return result;
}

/// Backward pass. α, β, γ of row i are at scratch + i · 3 W.
template <bool periodic, class T, int W>
[[gnu::always_inline]] inline SweepWord backward_pass(const SweepShape& shape, const SystemPack<T, W>& pack,
                                                      Pack<T, W> first_unknown, const T* scratch, T* y,
                                                      std::int64_t first) {
  const std::int64_t n = shape.length;
  alignas(64) T buffer[pack_rows * W];
  Pack<T, W> next = first_unknown, check = Pack<T, W>::all(0);
  for (std::int64_t row = (n - 1) / pack_rows * pack_rows; row >= 0; row -= pack_rows) {
    const int rows = static_cast<int>(std::min<std::int64_t>(pack_rows, n - row));
    for (int k = rows - 1; k >= 0; --k) {
      const T* in = scratch + (row + k) * 3 * W;
      if (periodic && row + k == 0)
        next = first_unknown;
      else if constexpr (periodic)
        next = Pack<T, W>::load(in) * next -
               plus_product(Pack<T, W>::load(in + W), Pack<T, W>::load(in + 2 * W), first_unknown);
      else
        next = Pack<T, W>::load(in) * next - Pack<T, W>::load(in + W);
      check = check + scaled(next, T(0));
      next.store(buffer + k * W);
    }
    pack.put(buffer, row, rows, y);
  }
  if (all_zero(check)) return no_sweep_fault;
  return find_not_finite(shape, pack, y, first);
}

/// What is wrong with the pivot that closes a periodic system.
template <class T>
SweepFault closing_fault(T lower, T diagonal, T upper, T pivot) {
  return detail::pivot_fault(pivot, std::abs(lower) + std::abs(diagonal) + std::abs(upper));
}

template <bool periodic, class T, int W>
SweepWord solve_variable(const SweepBatch<T>& b, std::int64_t first, int count, T* scratch) {
  const SystemPack<T, W> pack(b.shape, first, count);
  Forward<T, W> s;
  RowZero<T, W> zero;
  forward_pass<periodic, T, W>(b, pack, s, zero, scratch);
  Pack<T, W> y0 = Pack<T, W>::all(0), pivot = y0;
  PackMask<T, W> closed = PackMask<T, W>::yes();
  if constexpr (periodic) {
    pivot = less_product(plus_product(s.diagonal + s.coupling, zero.lower, s.alpha), zero.lower, s.gamma);
    require_greater(closed, magnitude(pivot), scaled(row_size(zero.lower, zero.diagonal, zero.upper), b.tolerance));
    y0 = plus_product(s.right, zero.lower, s.beta) / pivot;
  }
  SweepWord lowest = no_sweep_fault;
  if (!s.calm.all() || !closed.all())
    for (int w = 0; w < count && lowest == no_sweep_fault; ++w) {
      if (!s.calm.holds(w)) lowest = find_pivot_fault(b, periodic, first + w);
      if (lowest == no_sweep_fault && !closed.holds(w))
        lowest =
            sweep_word(first + w, b.shape.length, 0,
                       closing_fault(zero.lower.lane(w), zero.diagonal.lane(w), zero.upper.lane(w), pivot.lane(w)));
    }
  return std::min(lowest, backward_pass<periodic, T, W>(b.shape, pack, y0, scratch, b.y, first));
}

/// Forward and backward pass with a factored matrix; scratch keeps β.
template <bool periodic, class T, int W>
SweepWord solve_factored(const SweepShape& shape, const SweepFactors<T>* factors, T last, const T* f, T* y,
                         std::int64_t first, int count, T* scratch) {
  const SystemPack<T, W> pack(shape, first, count);
  const std::int64_t n = shape.length;
  alignas(64) T buffer[pack_rows * W];
  Pack<T, W> beta = Pack<T, W>::all(0), right = Pack<T, W>::all(0);
  for (std::int64_t row = 0; row < n; row += pack_rows) {
    const int rows = static_cast<int>(std::min<std::int64_t>(pack_rows, n - row));
    const auto in = pack.bring(f, row, rows, buffer);
    for (int k = 0; k < rows; ++k) {
      const SweepFactors<T>& m = factors[row + k];
      const Pack<T, W> value = Pack<T, W>::load(in.at + k * in.step);
      if (periodic && row + k == 0) {
        right = value;
        continue;
      }
      beta = less_product(scaled(value, m.inverse), beta, Pack<T, W>::all(m.lower));
      if constexpr (periodic) right = less_product(right, beta, Pack<T, W>::all(m.weight));
      beta.store(scratch + (row + k) * W);
    }
  }
  Pack<T, W> y0 = Pack<T, W>::all(0);
  if constexpr (periodic) y0 = scaled(less_product(right, beta, Pack<T, W>::all(factors[0].weight)), last);
  Pack<T, W> next = y0, check = Pack<T, W>::all(0);
  for (std::int64_t row = (n - 1) / pack_rows * pack_rows; row >= 0; row -= pack_rows) {
    const int rows = static_cast<int>(std::min<std::int64_t>(pack_rows, n - row));
    for (int k = rows - 1; k >= 0; --k) {
      const SweepFactors<T>& m = factors[row + k];
      if (periodic && row + k == 0)
        next = y0;
      else if constexpr (periodic)
        next = less_product(less_product(Pack<T, W>::load(scratch + (row + k) * W), y0, Pack<T, W>::all(m.border)),
                            next, Pack<T, W>::all(m.upper));
      else
        next = less_product(Pack<T, W>::load(scratch + (row + k) * W), next, Pack<T, W>::all(m.upper));
      check = check + scaled(next, T(0));
      next.store(buffer + k * W);
    }
    pack.put(buffer, row, rows, y);
  }
  if (all_zero(check)) return no_sweep_fault;
  return find_not_finite(shape, pack, y, first);
}

}  // namespace

template <class T, int lanes>
SweepWord sweep_pack(const SweepBatch<T>& batch, bool periodic, std::int64_t first, int count, T* scratch) {
  return periodic ? solve_variable<true, T, lanes>(batch, first, count, scratch)
                  : solve_variable<false, T, lanes>(batch, first, count, scratch);
}

template <class T, int lanes>
SweepWord sweep_pack(const SweepShape& shape, const SweepFactors<T>* factors, bool periodic, T last, const T* f, T* y,
                     std::int64_t first, int count, T* scratch) {
  return periodic ? solve_factored<true, T, lanes>(shape, factors, last, f, y, first, count, scratch)
                  : solve_factored<false, T, lanes>(shape, factors, last, f, y, first, count, scratch);
}

template <class T>
SweepWord factor_matrix(std::int64_t length, const T* lower, const T* diagonal, const T* upper, bool periodic,
                        T tolerance, SweepFactors<T>* factors, T& last) {
  // In double for both precisions: this is done once.
  const double limit = static_cast<double>(tolerance);
  const auto magnitude = [](double x) { return std::abs(x); };
  double alpha = 0, gamma = -1, coupling = periodic ? upper[0] : T(0), closing = periodic ? diagonal[0] : T(0);
  if (periodic) factors[0] = {0, 0, 0, 0, lower[0]};
  for (std::int64_t i = periodic; i < length; ++i) {
    const double l = !periodic && i == 0 ? T(0) : lower[i], d = diagonal[i],
                 u = !periodic && i == length - 1 ? T(0) : upper[i];
    const double pivot = d - l * alpha, size = magnitude(l) + magnitude(d) + magnitude(u);
    if (!(magnitude(pivot) > limit * size))
      return sweep_word(0, length, i, detail::pivot_fault(static_cast<T>(pivot), static_cast<T>(size)));
    const double r = 1 / pivot;
    alpha = u * r;
    gamma = -l * r * gamma;
    factors[i] = {static_cast<T>(r), static_cast<T>(l * r), static_cast<T>(alpha), static_cast<T>(gamma),
                  static_cast<T>(coupling)};
    closing -= coupling * gamma;
    coupling = -coupling * alpha;
  }
  last = 0;
  if (!periodic) return no_sweep_fault;
  const double l = lower[0], pivot = closing + coupling - l * alpha - l * gamma,
               size = magnitude(l) + magnitude(diagonal[0]) + magnitude(upper[0]);
  if (!(magnitude(pivot) > limit * size))
    return sweep_word(0, length, 0, detail::pivot_fault(static_cast<T>(pivot), static_cast<T>(size)));
  last = static_cast<T>(1 / pivot);
  return no_sweep_fault;
}

#define VSR_SWEEP_KERNELS(T)                                                                                          \
  template SweepWord sweep_pack<T, 1>(const SweepBatch<T>&, bool, std::int64_t, int, T*);                             \
  template SweepWord sweep_pack<T, sweep_lanes>(const SweepBatch<T>&, bool, std::int64_t, int, T*);                   \
  template SweepWord sweep_pack<T, 1>(const SweepShape&, const SweepFactors<T>*, bool, T, const T*, T*, std::int64_t, \
                                      int, T*);                                                                       \
  template SweepWord sweep_pack<T, sweep_lanes>(const SweepShape&, const SweepFactors<T>*, bool, T, const T*, T*,     \
                                                std::int64_t, int, T*);                                               \
  template SweepWord factor_matrix(std::int64_t, const T*, const T*, const T*, bool, T, SweepFactors<T>*, T&);
VSR_SWEEP_KERNELS(double)
VSR_SWEEP_KERNELS(float)
#undef VSR_SWEEP_KERNELS

}  // namespace voussoir::cpu
