#pragma once
#include <cmath>
#include <vector>

#include <voussoir/backends/openmp/sweeps/sweep_kernels.hpp>
#include <voussoir/backends/openmp/sweeps/system_packs.hpp>

// Elimination without pivoting, a line in each lane: a system, or a part of one. A line with a border has y_0 as a
// parameter: rows 1 … n − 1 are eliminated to y_i = β_i − γ_i y_0 − α_i y_{i+1}, and row 0 is reduced along with them,
// so that one forward and one backward pass suffice (the classical periodic sweep needs a third one, for u and v).

namespace voussoir::cpu {

/// Rows after which pivots are looked at, and which one pack after another takes where several go side by side.
inline constexpr int rows_of_group = 8;

/// The state of the forward pass: the last row eliminated, and row 0 as reduced so far.
template <class T, int W>
struct Forward {
  using V = Pack<T, W>;
  V alpha = V::all(0), beta = V::all(0), gamma = V::all(-1);
  V coupling = V::all(0), diagonal = V::all(0), right = V::all(0);
  V zero_lower = V::all(0), zero_diagonal = V::all(0), zero_upper = V::all(0);  ///< row 0 as it was
  V growth = V::all(0);  ///< sum of (upper / pivot)² and (lower / pivot)² over some rows
  PackMask<T, W> calm = PackMask<T, W>::yes();

  /// Looks at the growth of a group of rows.
  [[gnu::always_inline]] void look(T limit) {
    require_greater(calm, V::all(limit), growth);
    growth = V::all(0);
  }
};

/// Where growth stays below this, |pivot| > tolerance · (|lower| + |diagonal| + |upper|) in all rows: with a = lower /
/// pivot and b = upper / pivot, |diagonal / pivot| ≤ 1 + |a b of the row before|. Other lines are looked at again.
template <class T>
T calm_growth(T tolerance) {
  return tolerance < T(0.01) ? T(0.25) / tolerance : T(0);
}

/// Numbers of a row that the forward pass keeps.
template <bool border>
inline constexpr int kept_numbers = border ? 3 : 2;

/// Eliminates one row; out has α, β and, with a border, γ.
template <bool border, class T, int W>
[[gnu::always_inline]] inline void eliminate(Forward<T, W>& s, Pack<T, W> l, Pack<T, W> d, Pack<T, W> u, Pack<T, W> f,
                                             T* out) {
  const Pack<T, W> pivot = less_product(d, l, s.alpha), right = less_product(f, l, s.beta), r = inverse(pivot),
                   lr = l * r;
  s.alpha = u * r;
  s.beta = right * r;
  s.growth = plus_product(plus_product(s.growth, s.alpha, s.alpha), lr, lr);
  s.growth = plus_product(s.growth, pivot, Pack<T, W>::all(0));  // not a number where the pivot is not finite
  s.alpha.store(out);
  s.beta.store(out + W);
  if constexpr (border) {
    s.gamma = negative(lr * s.gamma);
    s.gamma.store(out + 2 * W);
    s.right = less_product(s.right, s.coupling, s.beta);
    s.diagonal = less_product(s.diagonal, s.coupling, s.gamma);
    s.coupling = negative(s.coupling * s.alpha);
  }
}

/// A forward pass of a pack. Row 0 is the border, if there is one.
template <bool border, class T, int W>
class ForwardPass {
 public:
  using V = Pack<T, W>;
  /// Without a border, lower_0 and upper_{n−1} are not used; with one, upper_{n−1} of lane `last_lane` is not (−1: all
  /// are used).
  ForwardPass(const SweepBatch<T>& b, const LinePack<T, W>& pack, std::int64_t rows, T* scratch, int last_lane = -1)
      : b_(b), pack_(pack), rows_(rows), limit_(calm_growth(b.tolerance)), scratch_(scratch), last_lane_(last_lane) {}

  /// Rows `row` … `end` − 1, the whole line in order and in several calls.
  [[gnu::always_inline]] void run(std::int64_t row, std::int64_t end, Forward<T, W>& s) const {
    if (pack_.side_by_side() && pack_.stride() > W)
      for (std::int64_t k = end; k < std::min(end + rows_of_group, rows_); ++k) prefetch(k);
    if (row == 0) single(row++, s);
    const std::int64_t inner = std::min(end, rows_ - 1);
    if (pack_.has_squares())
      for (; row + rows_at_once <= inner; row += rows_at_once) square(row, s);
    for (; row < end; ++row) single(row, s);
    s.look(limit_);
  }

 private:
  static constexpr int rows_at_once = LinePack<T, W>::rows_at_once;

  T* place(std::int64_t row) const { return scratch_ + row * kept_numbers<border> * W; }
  void prefetch(std::int64_t row) const {
    const std::int64_t at = pack_.start(0) + row * pack_.stride();
    for (const T* array : {b_.lower, b_.diagonal, b_.upper, b_.f}) __builtin_prefetch(array + at);
  }
  /// A row, the first and the last one among them.
  [[gnu::always_inline]] void single(std::int64_t row, Forward<T, W>& s) const {
    V l = pack_.row(b_.lower, row), u = pack_.row(b_.upper, row);
    const V d = pack_.row(b_.diagonal, row), f = pack_.row(b_.f, row);
    if (row == rows_ - 1 && !border) u = V::all(0);
    if (row == rows_ - 1 && last_lane_ >= 0)
      for (int w = last_lane_; w < W; ++w) u.set_lane(w, 0);  // further lanes repeat it
    if (row > 0) return eliminate<border>(s, l, d, u, f, place(row));
    if constexpr (border) {
      s.zero_lower = l;
      s.zero_diagonal = s.diagonal = d;
      s.zero_upper = s.coupling = u;
      s.right = f;
    } else {
      l = V::all(0);
      eliminate<border>(s, l, d, u, f, place(row));
    }
  }
  [[gnu::always_inline]] void square(std::int64_t row, Forward<T, W>& s) const {
    V l[rows_at_once], d[rows_at_once], u[rows_at_once], f[rows_at_once];
    pack_.square(b_.lower, row, l);
    pack_.square(b_.diagonal, row, d);
    pack_.square(b_.upper, row, u);
    pack_.square(b_.f, row, f);
    for (int k = 0; k < rows_at_once; ++k) eliminate<border>(s, l[k], d[k], u[k], f[k], place(row + k));
  }

  const SweepBatch<T>& b_;
  const LinePack<T, W>& pack_;
  std::int64_t rows_;
  T limit_;
  T* scratch_;
  int last_lane_;
};

/// The state of the backward pass.
template <class T, int W>
struct Backward {
  using V = Pack<T, W>;
  V first;              ///< unknown 0, where there is a border
  V next;               ///< the unknown behind the rows to come
  V check = V::all(0);  ///< 0 while all unknowns are finite

  bool finite() const {
    bool result = true;
    for (int w = 0; w < W; ++w) result = result && check.lane(w) == T(0);
    return result;
  }
};

/// A backward pass of a pack, row by row from the last one on. `value(row, next, first)` is the unknown of a row from
/// the one behind it and the first one; row 0 of a line with a border is the first one itself.
template <bool border, class T, int W, class Value>
class BackwardPass {
 public:
  using V = Pack<T, W>;
  BackwardPass(const LinePack<T, W>& pack, Value value, T* y) : pack_(pack), value_(value), y_(y) {}

  /// Rows `end` − 1 … `row`, the whole line in reverse order and in several calls.
  [[gnu::always_inline]] void run(std::int64_t row, std::int64_t end, Backward<T, W>& s) const {
    if (pack_.has_squares()) {
      for (; end % rows_at_once != 0 && end > row; --end) pack_.put_row(step(end - 1, s), end - 1, y_);
      for (; end - rows_at_once >= row; end -= rows_at_once) {
        V values[rows_at_once];
        for (int k = rows_at_once - 1; k >= 0; --k) values[k] = step(end - rows_at_once + k, s);
        pack_.put_square(values, end - rows_at_once, y_);
      }
    }
    for (; end > row; --end) pack_.put_row(step(end - 1, s), end - 1, y_);
  }

 private:
  static constexpr int rows_at_once = LinePack<T, W>::rows_at_once;

  [[gnu::always_inline]] V step(std::int64_t row, Backward<T, W>& s) const {
    s.next = border && row == 0 ? s.first : value_(row, s.next, s.first);
    s.check = plus_product(s.check, s.next, V::all(0));
    return s.next;
  }

  const LinePack<T, W>& pack_;
  Value value_;
  T* y_;
};

/// The unknown of a row from what the forward pass kept.
template <bool border, class T, int W>
struct KeptRows {
  const T* scratch;
  [[gnu::always_inline]] Pack<T, W> operator()(std::int64_t row, Pack<T, W> next, Pack<T, W> first) const {
    using V = Pack<T, W>;
    const T* in = scratch + row * kept_numbers<border> * W;
    V beta = V::load(in + W);
    if constexpr (border) beta = less_product(beta, V::load(in + 2 * W), first);
    return less_product(beta, V::load(in), next);
  }
};

/// Row and kind of the first pivot of rows `first` … `end` − 1 of a system that is not accepted; pivots are computed
/// again. `start` is the entry of row 0.
template <class T>
detail::SweepWord find_pivot_fault(const SweepBatch<T>& b, bool periodic, std::int64_t system, std::int64_t first,
                                   std::int64_t end) {
  const std::int64_t start = system_start(b.shape, system), n = b.shape.length;
  T alpha = 0;
  for (std::int64_t i = first; i < end; ++i) {
    const std::int64_t at = start + i * b.shape.stride;
    const T l = !periodic && i == 0 ? T(0) : b.lower[at], u = !periodic && i == n - 1 ? T(0) : b.upper[at];
    const T pivot = b.diagonal[at] - l * alpha, size = std::abs(l) + std::abs(b.diagonal[at]) + std::abs(u);
    if (!(std::abs(pivot) > b.tolerance * size))
      return detail::sweep_word(system, n, i, detail::pivot_fault(pivot, size));
    alpha = u * (T(1) / pivot);
  }
  return detail::no_sweep_fault;
}

/// The first unknown of a system that is not finite.
template <class T>
detail::SweepWord find_not_finite(const SweepShape& shape, const T* y, std::int64_t system) {
  const std::int64_t start = system_start(shape, system);
  for (std::int64_t i = 0; i < shape.length; ++i)
    if (!std::isfinite(y[start + i * shape.stride]))
      return detail::sweep_word(system, shape.length, i, SweepFault::not_finite);
  return detail::no_sweep_fault;
}

}  // namespace voussoir::cpu
