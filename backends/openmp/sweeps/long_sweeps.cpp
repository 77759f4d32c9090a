#include <voussoir/backends/openmp/sweeps/long_sweeps.hpp>

#include <voussoir/backends/openmp/sweeps/pack_sweeps.hpp>

// Long systems. The parts of a system are the lanes of a pack; each eliminates all its unknowns but the first, s. What
// remains is a tridiagonal system for the s of all parts, which one thread solves.

namespace voussoir::cpu {

namespace {

using detail::no_sweep_fault;
using detail::sweep_word;
using detail::SweepWord;

/// The lines of a job, and how many rows they have.
template <class T>
struct PartJob {
  PartJob(const SweepShape& shape, std::int64_t system, const SystemCut& cut, std::int64_t job)
      : is_rest(job == cut.packs),
        rows(is_rest ? cut.rest : cut.rows),
        first_row(job * sweep_lanes * cut.rows),
        first_part(job * sweep_lanes),
        count(is_rest ? 1 : sweep_lanes),
        pack(shape, system, first_row, rows, count) {}

  bool is_rest;
  std::int64_t rows, first_row, first_part;
  int count;
  LinePack<T, sweep_lanes> pack;
};

/// The forward pass of a job.
template <class T>
Forward<T, sweep_lanes> eliminate_parts(const SweepBatch<T>& b, bool periodic, const SystemCut& cut,
                                        const PartJob<T>& mine, T* scratch) {
  const bool has_end = mine.first_row + mine.count * mine.rows == cut.length;
  const ForwardPass<true, T, sweep_lanes> pass(b, mine.pack, mine.rows, scratch,
                                               has_end && !periodic ? mine.count - 1 : -1);
  Forward<T, sweep_lanes> s;
  for (std::int64_t row = 0; row < mine.rows; row += rows_of_group)
    pass.run(row, std::min(row + rows_of_group, mine.rows), s);
  return s;
}

}  // namespace

SystemCut::SystemCut(std::int64_t n)
    : length(n),
      packs(std::max<std::int64_t>(1, n / 4096)),
      rows(n / (packs * sweep_lanes)),
      rest(n - packs * sweep_lanes * rows) {}

template <class T>
SweepWord reduce_parts(const SweepBatch<T>& b, bool periodic, std::int64_t system, const SystemCut& cut,
                       std::int64_t job, T* scratch, PartEnds<T>* ends) {
  const PartJob<T> mine(b.shape, system, cut, job);
  const Forward<T, sweep_lanes> s = eliminate_parts(b, periodic, cut, mine, scratch);
  SweepWord lowest = no_sweep_fault;
  for (int w = 0; w < mine.count; ++w) {
    const std::int64_t first = mine.first_row + w * mine.rows;
    const T lower = first == 0 && !periodic ? T(0) : s.zero_lower.lane(w);
    ends[mine.first_part + w] = {lower,
                                 std::abs(lower) + std::abs(s.zero_diagonal.lane(w)) + std::abs(s.zero_upper.lane(w)),
                                 s.coupling.lane(w),
                                 s.diagonal.lane(w),
                                 s.right.lane(w),
                                 s.alpha.lane(w),
                                 s.beta.lane(w),
                                 s.gamma.lane(w)};
    if (!s.calm.holds(w) && lowest == no_sweep_fault)
      lowest = find_pivot_fault(b, periodic, system, first + 1, first + mine.rows);
  }
  return lowest;
}

template <class T>
SweepWord couple_parts(const SweepBatch<T>& b, std::int64_t system, const SystemCut& cut, PartEnds<T>* ends) {
  const std::int64_t parts = cut.parts(), n = cut.length;
  const auto row_of = [&](std::int64_t k) { return k * cut.rows; };
  SweepWord lowest = no_sweep_fault;
  const auto accept = [&](std::int64_t k, T pivot, T size) {
    if (!(std::abs(pivot) > b.tolerance * size))
      lowest = std::min(lowest, sweep_word(system, n, row_of(k), detail::pivot_fault(pivot, size)));
  };
  // Rows lower s_{k−1} + diagonal s_k + upper s_{k+1} = right; s_0 is a border, as in a whole system. In systems that
  // are not periodic lower of row 0 and upper of the last row are zero.
  struct Row {
    T lower, diagonal, upper, right;
  };
  const auto row = [&](std::int64_t k) {
    const PartEnds<T>&e = ends[k], &left = ends[k == 0 ? parts - 1 : k - 1];
    return Row{-e.lower * left.last_gamma, e.diagonal - e.lower * left.last_alpha, e.coupling,
               e.right - e.lower * left.last_beta};
  };
  Row zero = row(0);
  std::vector<T> alpha(static_cast<std::size_t>(parts)), beta(alpha), gamma(alpha);
  T a = 0, f = 0, g = -1, coupling = zero.upper, diagonal = zero.diagonal, right = zero.right;
  for (std::int64_t k = 1; k < parts; ++k) {
    const Row r = row(k);
    const T pivot = r.diagonal - r.lower * a;
    accept(k, pivot, ends[k].size);
    const T inverse = T(1) / pivot;
    const auto at = static_cast<std::size_t>(k);
    alpha[at] = a = r.upper * inverse;
    beta[at] = f = (r.right - r.lower * f) * inverse;
    gamma[at] = g = -r.lower * g * inverse;
    right -= coupling * f;
    diagonal -= coupling * g;
    coupling = -coupling * a;
  }
  const T pivot = diagonal + coupling - zero.lower * a - zero.lower * g;
  accept(0, pivot, ends[0].size);
  ends[0].first = (right - zero.lower * f) / pivot;
  T next = ends[0].first;
  for (std::int64_t k = parts - 1; k > 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    ends[k].first = next = beta[at] - gamma[at] * ends[0].first - alpha[at] * next;
  }
  return lowest;
}

template <class T>
bool finish_parts(const SweepBatch<T>& b, bool periodic, std::int64_t system, const SystemCut& cut, std::int64_t job,
                  T* scratch, const PartEnds<T>* ends) {
  using V = Pack<T, sweep_lanes>;
  using Rows = KeptRows<true, T, sweep_lanes>;
  const PartJob<T> mine(b.shape, system, cut, job);
  (void)eliminate_parts(b, periodic, cut, mine, scratch);
  V first = V::all(0), next = first;
  for (int w = 0; w < sweep_lanes; ++w) {
    const std::int64_t part = mine.first_part + std::min(w, mine.count - 1);
    first.set_lane(w, ends[part].first);
    next.set_lane(w, ends[part + 1 < cut.parts() ? part + 1 : 0].first);
  }
  Backward<T, sweep_lanes> state{first, next};
  BackwardPass<true, T, sweep_lanes, Rows>(mine.pack, Rows{scratch}, b.y).run(0, mine.rows, state);
  return state.finite();
}

template <class T>
SweepWord first_not_finite(const SweepBatch<T>& b, std::int64_t system) {
  return find_not_finite(b.shape, b.y, system);
}

#define VSR_LONG_SWEEPS(T)                                                                                      \
  template SweepWord reduce_parts(const SweepBatch<T>&, bool, std::int64_t, const SystemCut&, std::int64_t, T*, \
                                  PartEnds<T>*);                                                                \
  template SweepWord couple_parts(const SweepBatch<T>&, std::int64_t, const SystemCut&, PartEnds<T>*);          \
  template bool finish_parts(const SweepBatch<T>&, bool, std::int64_t, const SystemCut&, std::int64_t, T*,      \
                             const PartEnds<T>*);                                                               \
  template SweepWord first_not_finite(const SweepBatch<T>&, std::int64_t);
VSR_LONG_SWEEPS(double)
VSR_LONG_SWEEPS(float)
#undef VSR_LONG_SWEEPS

}  // namespace voussoir::cpu
