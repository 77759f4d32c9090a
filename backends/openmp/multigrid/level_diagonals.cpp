#include <voussoir/backends/openmp/multigrid/row_products.hpp>

// Products with block diagonals, and the steps of smoothers that need no other matrix.

namespace voussoir::cpu {

namespace {

/// result = D · from for one block row and all columns.
template <int S, class Number>
[[gnu::always_inline]] inline void multiply_block(const Number* d, int any_size, int columns, const Number* from,
                                                  Number* result) {
  const int size = S > 0 ? S : any_size;
  for (int r = 0; r < size; ++r)
    for (int c = 0; c < columns; ++c) {
      Number sum = 0;
      for (int t = 0; t < size; ++t) sum += d[r * size + t] * from[t * columns + c];
      result[r * columns + c] = sum;
    }
}

/// The same where one column is usual, which the compiler then knows.
template <int S, class Number>
[[gnu::always_inline]] inline void multiply_block_any(const Number* d, int size, int columns, const Number* from,
                                                      Number* result) {
  if (columns == 1)
    multiply_block<S>(d, size, 1, from, result);
  else
    multiply_block<S>(d, size, columns, from, result);
}

/// Calls work(integral constant) with the size of a diagonal's blocks, 0 where it is none of the usual ones.
template <class Work>
void with_size(int size, const Work& work) {
  switch (size) {
    case 1:
      return work(std::integral_constant<int, 1>{});
    case 2:
      return work(std::integral_constant<int, 2>{});
    case 3:
      return work(std::integral_constant<int, 3>{});
    case 6:
      return work(std::integral_constant<int, 6>{});
    default:
      return work(std::integral_constant<int, 0>{});
  }
}

/// Block rows of a diagonal times x, with finish(row, numbers of the row) after each.
template <class Number, class Finish>
void multiply_diagonal(int size, std::int64_t rows, const Number* d, const Number* x, int columns, int threads,
                       const Finish& finish) {
  const std::int64_t row_numbers = static_cast<std::int64_t>(size) * columns;
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, static_cast<std::int64_t>(block_entries) / row_numbers);
  const std::int64_t pieces = (rows + rows_at_once - 1) / rows_at_once;
  ExceptionKeeper keeper;
  with_size(size, [&](auto known) {
    constexpr int S = decltype(known)::value;
#pragma omp parallel for num_threads(threads) schedule(static) if (pieces >= fewest_blocks)
    for (std::int64_t p = 0; p < pieces; ++p)
      keeper.guard([&] {
        std::vector<Number> many;
        Number few[64];
        Number* result = few;
        if (row_numbers > 64) {
          many.resize(static_cast<std::size_t>(row_numbers));
          result = many.data();
        }
        for (std::int64_t i = p * rows_at_once; i < std::min(rows, (p + 1) * rows_at_once); ++i) {
          multiply_block_any<S>(d + i * size * size, size, columns, x + i * row_numbers, result);
          finish(i, result);
        }
      });
  });
  keeper.rethrow();
}

/// Block rows of a diagonal that goes with a vector.
template <class Number>
std::int64_t rows_of_diagonal(const LevelDiagonal& d, const LevelVector& x) {
  const auto size = static_cast<std::int64_t>(numbers<Number>(x).size());
  const std::int64_t rows = size / x.columns / d.size;
  require_numbers<Number>(d, rows * d.size * d.size, "a diagonal");
  require_numbers<Number>(x, rows * d.size * x.columns, "a vector");
  return rows;
}

}  // namespace

void CpuMultigrid::apply(const LevelDiagonal& d, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::int64_t rows = rows_of_diagonal<Number>(d, x);
    require_length<Number>(y, rows * d.size, x.columns);
    const std::int64_t row_numbers = static_cast<std::int64_t>(d.size) * x.columns;
    DeviceSection section(*memory());
    const Number* blocks = numbers<Number>(d).read_device();
    const Number* px = numbers<Number>(x).read_device();
    Number* py = &x == &y ? numbers<Number>(y).update_device() : numbers<Number>(y).write_device();
    multiply_diagonal(d.size, rows, blocks, px, x.columns, threads_, [=](std::int64_t i, const Number* sums) {
      for (std::int64_t k = 0; k < row_numbers; ++k) py[i * row_numbers + k] = sums[k];
    });
  });
}

void CpuMultigrid::first_step(const LevelDiagonal& inverse, const LevelVector& b, double alpha, LevelVector& d,
                              LevelVector& x) {
  with_precision(b, [&](auto zero) {
    using Number = decltype(zero);
    const std::int64_t rows = rows_of_diagonal<Number>(inverse, b);
    require_length<Number>(d, rows * inverse.size, b.columns);
    require_length<Number>(x, rows * inverse.size, b.columns);
    const std::int64_t row_numbers = static_cast<std::int64_t>(inverse.size) * b.columns;
    const auto fa = static_cast<Number>(alpha);
    DeviceSection section(*memory());
    const Number* blocks = numbers<Number>(inverse).read_device();
    const Number* pb = numbers<Number>(b).read_device();
    Number* pd = numbers<Number>(d).write_device();
    Number* px = numbers<Number>(x).write_device();
    multiply_diagonal(inverse.size, rows, blocks, pb, b.columns, threads_, [=](std::int64_t i, const Number* sums) {
      for (std::int64_t k = 0; k < row_numbers; ++k) pd[i * row_numbers + k] = px[i * row_numbers + k] = fa * sums[k];
    });
  });
}

void CpuMultigrid::step(const LevelDiagonal& inverse, const LevelVector& residual, double alpha, double beta,
                        LevelVector& d, LevelVector& x) {
  with_precision(residual, [&](auto zero) {
    using Number = decltype(zero);
    const std::int64_t rows = rows_of_diagonal<Number>(inverse, residual);
    require_length<Number>(d, rows * inverse.size, residual.columns);
    require_length<Number>(x, rows * inverse.size, residual.columns);
    const std::int64_t row_numbers = static_cast<std::int64_t>(inverse.size) * residual.columns;
    const auto fa = static_cast<Number>(alpha), fb = static_cast<Number>(beta);
    DeviceSection section(*memory());
    const Number* blocks = numbers<Number>(inverse).read_device();
    const Number* pr = numbers<Number>(residual).read_device();
    Number* pd = beta == 0 ? numbers<Number>(d).write_device() : numbers<Number>(d).update_device();
    Number* px = numbers<Number>(x).update_device();
    multiply_diagonal(inverse.size, rows, blocks, pr, residual.columns, threads_,
                      [=](std::int64_t i, const Number* sums) {
                        for (std::int64_t k = 0; k < row_numbers; ++k) {
                          const std::int64_t at = i * row_numbers + k;
                          pd[at] = fb == 0 ? fa * sums[k] : fb * pd[at] + fa * sums[k];
                          px[at] += pd[at];
                        }
                      });
  });
}

}  // namespace voussoir::cpu
