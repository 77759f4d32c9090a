#include <algorithm>

#include <voussoir/backends/detail/aggregation_rules.hpp>
#include <voussoir/backends/openmp/multigrid/services.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Vectors on the levels of a multigrid hierarchy, in either precision. Sums are in double precision throughout.

namespace voussoir::cpu {

namespace {

/// Length of x in the precision of Number; all others must have it too.
template <class Number, class... Others>
std::size_t common_size(const LevelVector& x, const Others&... others) {
  const std::size_t size = numbers<Number>(x).size();
  (require_numbers<Number>(others, static_cast<std::int64_t>(size), "a vector"), ...);
  if (((others.columns != x.columns) || ...))
    throw Error(ErrorCode::misuse, "multigrid: the vectors have different numbers of columns");
  return size;
}

/// The device side of y for results, where x is an input that may be the same vector.
template <class Number>
Number* target_of(const LevelVector& x, LevelVector& y) {
  return &x == &y ? numbers<Number>(y).update_device() : numbers<Number>(y).write_device();
}

template <class Number>
double dot_numbers(const Number* x, const Number* y, std::size_t n) {
  if constexpr (std::is_same_v<Number, double>) {
    return dot_stretch(x, y, n);
  } else {
    double sum[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (int k = 0; k < 8; ++k) sum[k] += static_cast<double>(x[i + k]) * y[i + k];
    for (int k = 0; i < n; ++i, ++k) sum[k] += static_cast<double>(x[i]) * y[i];
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
  }
}

/// Products of the columns of two blocks of vectors, a stretch of rows at a time.
template <class Number>
void dot_columns(const Number* x, const Number* y, std::size_t rows, std::size_t columns, int threads, double* result) {
  const std::size_t rows_at_once = std::max<std::size_t>(1, block_entries / columns);
  const auto pieces = static_cast<std::ptrdiff_t>((rows + rows_at_once - 1) / rows_at_once);
  std::vector<double> sums(static_cast<std::size_t>(pieces) * columns, 0.0);
#pragma omp parallel for num_threads(threads) schedule(static) if (pieces >= fewest_blocks)
  for (std::ptrdiff_t p = 0; p < pieces; ++p) {
    double* sum = sums.data() + static_cast<std::size_t>(p) * columns;
    const std::size_t begin = static_cast<std::size_t>(p) * rows_at_once, end = std::min(rows, begin + rows_at_once);
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t c = 0; c < columns; ++c)
        sum[c] += static_cast<double>(x[i * columns + c]) * static_cast<double>(y[i * columns + c]);
  }
  std::vector<double> of_column(static_cast<std::size_t>(pieces));
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t p = 0; p < of_column.size(); ++p) of_column[p] = sums[p * columns + c];
    result[c] = sum_pairwise(of_column);
  }
}

/// target = one(column) · x + other(column) · y for blocks of vectors, by columns.
template <class Number>
void combine_columns(std::size_t size, const std::vector<Number>& one, const Number* x,
                     const std::vector<Number>& other, const Number* y, Number* target, int threads) {
  const std::size_t columns = one.size();
  for_blocks(size, threads, [&](std::size_t begin, std::size_t end) {
    if (columns == 1) {
      const Number a = one[0], b = other[0];
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) target[i] = a * x[i] + b * y[i];
    } else {
      std::size_t c = begin % columns;
      for (std::size_t i = begin; i < end; ++i) {
        target[i] = one[c] * x[i] + other[c] * y[i];
        c = c + 1 == columns ? 0 : c + 1;
      }
    }
  });
}

}  // namespace

void CpuMultigrid::fill_with_noise(LevelVector& x) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    DeviceSection section(*memory());
    Number* px = numbers<Number>(x).write_device();
    for_blocks(numbers<Number>(x).size(), threads_, [=](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) px[i] = static_cast<Number>(detail::noise(i));
    });
  });
}

void CpuMultigrid::fill(LevelVector& x, double value) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    DeviceSection section(*memory());
    Number* px = numbers<Number>(x).write_device();
    for_blocks(numbers<Number>(x).size(), threads_, [=](std::size_t begin, std::size_t end) {
      std::fill(px + begin, px + end, static_cast<Number>(value));
    });
  });
}

void CpuMultigrid::axpby(double a, const LevelVector& x, double b, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = common_size<Number>(x, y);
    const auto fa = static_cast<Number>(a), fb = static_cast<Number>(b);
    DeviceSection section(*memory());
    const Number* px = numbers<Number>(x).read_device();
    // With b = 0 the old y does not matter, be it NaN.
    Number* py = b == 0 ? target_of<Number>(x, y) : numbers<Number>(y).update_device();
    for_blocks(size, threads_, [=](std::size_t begin, std::size_t end) {
      if (b == 0) {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) py[i] = fa * px[i];
      } else {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) py[i] = fa * px[i] + fb * py[i];
      }
    });
  });
}

double CpuMultigrid::dot(const LevelVector& x, const LevelVector& y) {
  double result = 0;
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = common_size<Number>(x, y);
    DeviceSection section(*memory());
    const Number* px = numbers<Number>(x).read_device();
    const Number* py = numbers<Number>(y).read_device();
    result = sum_blocks(size, threads_, [=](std::size_t begin, std::size_t end) {
      return dot_numbers(px + begin, py + begin, end - begin);
    });
  });
  return result;
}

void CpuMultigrid::dot(const LevelVector& x, const LevelVector& y, Array<double>& scalars, int slot) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = common_size<Number>(x, y);
    const auto columns = static_cast<std::size_t>(x.columns);
    if (slot < 0 || scalars.size() < (static_cast<std::size_t>(slot) + 1) * columns)
      throw Error(ErrorCode::misuse, "multigrid: there is no slot " + std::to_string(slot) + " for products of " +
                                         std::to_string(columns) + " columns among " + std::to_string(scalars.size()) +
                                         " scalars");
    DeviceSection section(*memory());
    const Number* px = numbers<Number>(x).read_device();
    const Number* py = numbers<Number>(y).read_device();
    double* result = scalars.update_device() + static_cast<std::size_t>(slot) * columns;
    if (columns == 1)
      *result = sum_blocks(size, threads_, [=](std::size_t begin, std::size_t end) {
        return dot_numbers(px + begin, py + begin, end - begin);
      });
    else
      dot_columns(px, py, size / columns, columns, threads_, result);
  });
}

void CpuMultigrid::k_residual(const Array<double>& scalars, const LevelVector& b, const LevelVector& v,
                              LevelVector& r) {
  with_precision(b, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = common_size<Number>(b, v, r);
    const auto columns = static_cast<std::size_t>(b.columns);
    DeviceSection section(*memory());
    const double* s = scalars.read_device();
    std::vector<Number> of_b(columns, Number{1}), of_v(columns);
    for (std::size_t c = 0; c < columns; ++c)
      of_v[c] = static_cast<Number>(-detail::k_first_step(s[c], s[columns + c]));
    const Number* pb = numbers<Number>(b).read_device();
    const Number* pv = numbers<Number>(v).read_device();
    Number* pr = &r == &b || &r == &v ? numbers<Number>(r).update_device() : numbers<Number>(r).write_device();
    combine_columns(size, of_b, pb, of_v, pv, pr, threads_);
  });
}

void CpuMultigrid::k_combine(const Array<double>& scalars, const LevelVector& c, const LevelVector& d, LevelVector& x) {
  with_precision(c, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = common_size<Number>(c, d, x);
    const auto columns = static_cast<std::size_t>(c.columns);
    DeviceSection section(*memory());
    const double* s = scalars.read_device();
    std::vector<Number> of_c(columns), of_d(columns);
    for (std::size_t k = 0; k < columns; ++k) {
      const detail::KSteps steps =
          detail::k_steps(s[k], s[columns + k], s[2 * columns + k], s[3 * columns + k], s[4 * columns + k]);
      of_c[k] = static_cast<Number>(steps.c);
      of_d[k] = static_cast<Number>(steps.d);
    }
    const Number* pc = numbers<Number>(c).read_device();
    const Number* pd = numbers<Number>(d).read_device();
    Number* px = &x == &c || &x == &d ? numbers<Number>(x).update_device() : numbers<Number>(x).write_device();
    combine_columns(size, of_c, pc, of_d, pd, px, threads_);
  });
}

}  // namespace voussoir::cpu
