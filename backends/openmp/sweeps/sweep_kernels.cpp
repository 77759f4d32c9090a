#include <voussoir/backends/openmp/sweeps/sweep_kernels.hpp>

#include <voussoir/backends/openmp/sweeps/pack_sweeps.hpp>

namespace voussoir::cpu {

namespace {

using detail::no_sweep_fault;
using detail::sweep_word;
using detail::SweepWord;

/// The packs of a panel. Contiguous systems have panels of one pack; systems that lie side by side have several, so
/// that whole stretches of memory are read row by row.
template <class T>
std::vector<LinePack<T, sweep_lanes>> panel_packs(const SweepShape& shape, std::int64_t first, int count) {
  std::vector<LinePack<T, sweep_lanes>> packs;
  for (int k = 0; k < count; k += sweep_lanes) packs.emplace_back(shape, first + k, std::min(count - k, sweep_lanes));
  return packs;
}

/// Rows that a pack takes before the next one of its panel.
std::int64_t rows_in_turn(std::size_t packs, std::int64_t length) { return packs > 1 ? rows_of_group : length; }

/// Calls work(pack, begin, end) for all rows of all packs of a panel, backwards or not.
template <class Work>
[[gnu::always_inline]] inline void take_turns(std::size_t packs, std::int64_t length, bool backward, Work&& work) {
  const std::int64_t turn = rows_in_turn(packs, length), turns = (length + turn - 1) / turn;
  for (std::int64_t t = 0; t < turns; ++t) {
    const std::int64_t begin = (backward ? turns - 1 - t : t) * turn, end = std::min(begin + turn, length);
    for (std::size_t k = 0; k < packs; ++k) work(k, begin, end);
  }
}

/// What is wrong with the pivots of a pack; `closing` is the pivot of row 0 of periodic systems.
template <bool periodic, class T, int W>
SweepWord pivot_faults(const SweepBatch<T>& b, const Forward<T, W>& s, Pack<T, W> closing, std::int64_t first,
                       int count) {
  PackMask<T, W> closed = PackMask<T, W>::yes();
  const Pack<T, W> size = magnitude(s.zero_lower) + magnitude(s.zero_diagonal) + magnitude(s.zero_upper);
  if constexpr (periodic) require_greater(closed, magnitude(closing), scaled(size, b.tolerance));
  if (s.calm.all() && closed.all()) return no_sweep_fault;
  for (int w = 0; w < count; ++w) {
    SweepWord fault = no_sweep_fault;
    if (!s.calm.holds(w)) fault = find_pivot_fault(b, periodic, first + w, std::int64_t{periodic}, b.shape.length);
    if (fault == no_sweep_fault && !closed.holds(w))
      fault = sweep_word(first + w, b.shape.length, 0, detail::pivot_fault(closing.lane(w), size.lane(w)));
    if (fault != no_sweep_fault) return fault;
  }
  return no_sweep_fault;
}

/// The lowest system of a pack with an unknown that is not finite.
template <class T>
SweepWord not_finite_fault(const SweepShape& shape, const T* y, std::int64_t first, int count) {
  SweepWord lowest = no_sweep_fault;
  for (int w = 0; w < count && lowest == no_sweep_fault; ++w) lowest = find_not_finite(shape, y, first + w);
  return lowest;
}

template <bool periodic, class T>
SweepWord solve_variable(const SweepBatch<T>& b, std::int64_t first, int count, T* scratch) {
  constexpr int W = sweep_lanes;
  using V = Pack<T, W>;
  const auto packs = panel_packs<T>(b.shape, first, count);
  const std::int64_t n = b.shape.length, room = n * kept_numbers<periodic> * W;
  std::vector<Forward<T, W>> states(packs.size());
  take_turns(packs.size(), n, false, [&](std::size_t k, std::int64_t begin, std::int64_t end) {
    const ForwardPass<periodic, T, W> pass(b, packs[k], n, scratch + static_cast<std::int64_t>(k) * room);
    Forward<T, W> s = states[k];  // stays in registers
    for (std::int64_t row = begin; row < end; row += rows_of_group)
      pass.run(row, std::min(row + rows_of_group, end), s);
    states[k] = s;
  });
  SweepWord lowest = no_sweep_fault;
  std::vector<Backward<T, W>> backs;
  for (std::size_t k = 0; k < packs.size(); ++k) {
    const Forward<T, W>& s = states[k];
    V y0 = V::all(0), closing = V::all(0);
    if constexpr (periodic) {
      closing = less_product(less_product(s.diagonal + s.coupling, s.zero_lower, s.alpha), s.zero_lower, s.gamma);
      y0 = less_product(s.right, s.zero_lower, s.beta) / closing;
    }
    lowest = std::min(
        lowest, pivot_faults<periodic>(b, s, closing, first + static_cast<std::int64_t>(k) * W, packs[k].count()));
    backs.push_back({y0, y0});
  }
  take_turns(packs.size(), n, true, [&](std::size_t k, std::int64_t begin, std::int64_t end) {
    const KeptRows<periodic, T, W> rows{scratch + static_cast<std::int64_t>(k) * room};
    Backward<T, W> back = backs[k];
    BackwardPass<periodic, T, W, KeptRows<periodic, T, W>>(packs[k], rows, b.y).run(begin, end, back);
    backs[k] = back;
  });
  for (std::size_t k = 0; k < packs.size(); ++k)
    if (!backs[k].finite())
      lowest =
          std::min(lowest, not_finite_fault(b.shape, b.y, first + static_cast<std::int64_t>(k) * W, packs[k].count()));
  return lowest;
}

/// The unknown of a row from β and the factors.
template <bool periodic, class T, int W>
struct FactoredRows {
  const SweepFactors<T>* factors;
  const T* beta;
  [[gnu::always_inline]] Pack<T, W> operator()(std::int64_t row, Pack<T, W> next, Pack<T, W> first) const {
    using V = Pack<T, W>;
    V value = V::load(beta + row * W);
    if constexpr (periodic) value = less_product(value, first, V::all(factors[row].border));
    return less_product(value, next, V::all(factors[row].upper));
  }
};

/// The forward pass with a factored matrix; `out` keeps β of all rows.
template <bool periodic, class T, int W>
struct FactoredForward {
  using V = Pack<T, W>;
  const LinePack<T, W>& pack;
  const SweepFactors<T>* factors;
  const T* f;
  T* out;
  V beta = V::all(0), right = V::all(0);

  [[gnu::always_inline]] void step(std::int64_t row, V value) {
    const SweepFactors<T>& m = factors[row];
    if (periodic && row == 0) {
      right = value;
      return;
    }
    beta = less_product(scaled(value, m.inverse), beta, V::all(m.lower));
    if constexpr (periodic) right = less_product(right, beta, V::all(m.weight));
    beta.store(out + row * W);
  }
  [[gnu::always_inline]] void run(std::int64_t row, std::int64_t end) {
    constexpr int rows_at_once = LinePack<T, W>::rows_at_once;
    if (pack.side_by_side() && pack.stride() > W)
      for (std::int64_t k = end; k < end + rows_of_group; ++k)
        __builtin_prefetch(f + pack.start(0) + k * pack.stride());
    if (pack.has_squares())
      for (; row + rows_at_once <= end; row += rows_at_once) {
        V values[rows_at_once];
        pack.square(f, row, values);
        for (int k = 0; k < rows_at_once; ++k) step(row + k, values[k]);
      }
    for (; row < end; ++row) step(row, pack.row(f, row));
  }
};

template <bool periodic, class T>
SweepWord solve_factored(const SweepShape& shape, const SweepFactors<T>* factors, T last, const T* f, T* y,
                         std::int64_t first, int count, T* scratch) {
  constexpr int W = sweep_lanes;
  using V = Pack<T, W>;
  using Ahead = FactoredForward<periodic, T, W>;
  const auto packs = panel_packs<T>(shape, first, count);
  const std::int64_t n = shape.length;
  std::vector<V> betas(packs.size(), V::all(0)), rights = betas;
  take_turns(packs.size(), n, false, [&](std::size_t k, std::int64_t begin, std::int64_t end) {
    Ahead ahead{packs[k], factors, f, scratch + static_cast<std::int64_t>(k) * n * W, betas[k], rights[k]};
    ahead.run(begin, end);
    betas[k] = ahead.beta;
    rights[k] = ahead.right;
  });
  std::vector<Backward<T, W>> backs;
  for (std::size_t k = 0; k < packs.size(); ++k) {
    V y0 = V::all(0);
    if constexpr (periodic) y0 = scaled(less_product(rights[k], betas[k], V::all(factors[0].weight)), last);
    backs.push_back({y0, y0});
  }
  take_turns(packs.size(), n, true, [&](std::size_t k, std::int64_t begin, std::int64_t end) {
    const FactoredRows<periodic, T, W> rows{factors, scratch + static_cast<std::int64_t>(k) * n * W};
    Backward<T, W> back = backs[k];
    BackwardPass<periodic, T, W, FactoredRows<periodic, T, W>>(packs[k], rows, y).run(begin, end, back);
    backs[k] = back;
  });
  SweepWord lowest = no_sweep_fault;
  for (std::size_t k = 0; k < packs.size(); ++k)
    if (!backs[k].finite())
      lowest = std::min(lowest, not_finite_fault(shape, y, first + static_cast<std::int64_t>(k) * W, packs[k].count()));
  return lowest;
}

}  // namespace

int panel_systems(const SweepShape& shape, bool shared) {
  const bool side_by_side = shape.inner_stride == 1 && shape.inner > sweep_lanes && shape.stride > 1;
  return sweep_lanes * (!side_by_side ? 1 : shared ? 8 : 4);
}

template <class T>
SweepWord sweep_panel(const SweepBatch<T>& batch, bool periodic, std::int64_t first, int count, T* scratch) {
  return periodic ? solve_variable<true>(batch, first, count, scratch)
                  : solve_variable<false>(batch, first, count, scratch);
}

template <class T>
SweepWord sweep_panel(const SweepShape& shape, const SweepFactors<T>* factors, bool periodic, T last, const T* f, T* y,
                      std::int64_t first, int count, T* scratch) {
  return periodic ? solve_factored<true>(shape, factors, last, f, y, first, count, scratch)
                  : solve_factored<false>(shape, factors, last, f, y, first, count, scratch);
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
  template SweepWord sweep_panel(const SweepBatch<T>&, bool, std::int64_t, int, T*);                                  \
  template SweepWord sweep_panel(const SweepShape&, const SweepFactors<T>*, bool, T, const T*, T*, std::int64_t, int, \
                                 T*);                                                                                 \
  template SweepWord factor_matrix(std::int64_t, const T*, const T*, const T*, bool, T, SweepFactors<T>*, T&);
VSR_SWEEP_KERNELS(double)
VSR_SWEEP_KERNELS(float)
#undef VSR_SWEEP_KERNELS

}  // namespace voussoir::cpu
