#include <voussoir/backends/openmp/multigrid/row_products.hpp>

// Products with the matrices of a level, and the steps of smoothers, which are such products with a little more done to
// each row while it is at hand.

namespace voussoir::cpu {

namespace {

/// R rows of a dense matrix times x.
template <int R, class Number>
void multiply_dense(const Number* rows, std::int32_t length, int columns, const Number* x, Number* y) {
  constexpr std::int32_t first = 0;  // the one block of these rows, as wide as the matrix
  if (columns == 1)
    dot_rows<R, false>(rows, length, x, y);
  else
    multiply_columns<R>(RowOfBlocks<Number>{rows, &first, 1}, R, length, columns, x, y);
}

std::int64_t height_of(const LevelMatrix& a) { return static_cast<std::int64_t>(a.rows) * a.height; }
std::int64_t width_of(const LevelMatrix& a) { return static_cast<std::int64_t>(a.columns) * a.width; }

}  // namespace

void CpuMultigrid::product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_numbers<Number>(a, a.entries(), "a matrix");
    require_length<Number>(x, width_of(a), x.columns);
    require_length<Number>(y, height_of(a), x.columns);
    DeviceSection section(*memory());
    const auto rows = read_rows<Number>(a);
    const Number* px = numbers<Number>(x).read_device();
    Number* py = numbers<Number>(y).write_device();
    with_shape(a.height, a.width, [&](auto shape) {
      multiply_all(shape, rows, px, x.columns, threads_, [=](std::int64_t i, const Number* sums, auto columns) {
        const int row_numbers = shape.height() * columns;
        for (int k = 0; k < row_numbers; ++k) py[i * row_numbers + k] = sums[k];
      });
    });
  });
}

void CpuMultigrid::add_product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_numbers<Number>(a, a.entries(), "a matrix");
    require_length<Number>(x, width_of(a), x.columns);
    require_length<Number>(y, height_of(a), x.columns);
    DeviceSection section(*memory());
    const auto rows = read_rows<Number>(a);
    const Number* px = numbers<Number>(x).read_device();
    Number* py = numbers<Number>(y).update_device();
    with_shape(a.height, a.width, [&](auto shape) {
      multiply_all(shape, rows, px, x.columns, threads_, [=](std::int64_t i, const Number* sums, auto columns) {
        const int row_numbers = shape.height() * columns;
        for (int k = 0; k < row_numbers; ++k) py[i * row_numbers + k] += sums[k];
      });
    });
  });
}

void CpuMultigrid::residual(const LevelMatrix& a, const LevelVector& x, const LevelVector& b, LevelVector& r) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_numbers<Number>(a, a.entries(), "a matrix");
    require_length<Number>(x, width_of(a), x.columns);
    require_length<Number>(b, height_of(a), x.columns);
    require_length<Number>(r, height_of(a), x.columns);
    DeviceSection section(*memory());
    const auto rows = read_rows<Number>(a);
    const Number* px = numbers<Number>(x).read_device();
    const Number* pb = numbers<Number>(b).read_device();
    Number* pr = &b == &r ? numbers<Number>(r).update_device() : numbers<Number>(r).write_device();
    with_shape(a.height, a.width, [&](auto shape) {
      multiply_all(shape, rows, px, x.columns, threads_, [=](std::int64_t i, const Number* sums, auto columns) {
        const int row_numbers = shape.height() * columns;
        const std::int64_t first = i * row_numbers;
        for (int k = 0; k < row_numbers; ++k) pr[first + k] = pb[first + k] - sums[k];
      });
    });
  });
}

void CpuMultigrid::step(const LevelMatrix& a, const LevelDiagonal& inverse, const LevelVector& b, const LevelVector& x,
                        double alpha, double beta, LevelVector& d, LevelVector& next) {
  if (!a.is_square() || inverse.size != a.height || &x == &next)
    throw Error(ErrorCode::misuse, "multigrid: a step needs a square matrix, its diagonal and a vector for the result");
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_numbers<Number>(a, a.entries(), "a matrix");
    require_numbers<Number>(inverse, height_of(a) * a.height, "a diagonal");
    for (const LevelVector* v : {&x, &b, static_cast<const LevelVector*>(&d), static_cast<const LevelVector*>(&next)})
      require_length<Number>(*v, height_of(a), x.columns);
    DeviceSection section(*memory());
    const auto rows = read_rows<Number>(a);
    const Number* blocks = numbers<Number>(inverse).read_device();
    const Number* px = numbers<Number>(x).read_device();
    const Number* pb = numbers<Number>(b).read_device();
    // With beta = 0 the old d does not matter, be it NaN.
    Number* pd = beta == 0 ? numbers<Number>(d).write_device() : numbers<Number>(d).update_device();
    Number* pn = numbers<Number>(next).write_device();
    const auto fa = static_cast<Number>(alpha), fb = static_cast<Number>(beta);
    with_shape(a.height, a.width, [&](auto shape) {
      multiply_all(shape, rows, px, x.columns, threads_, [=](std::int64_t i, Number* sums, auto columns) {
        const int size = shape.height(), row_numbers = size * columns;
        const std::int64_t first = i * row_numbers;
        const Number* block = blocks + i * size * size;
        for (int k = 0; k < row_numbers; ++k) sums[k] = pb[first + k] - sums[k];
        for (int r = 0; r < size; ++r)
          for (int c = 0; c < columns; ++c) {
            Number sum = 0;
            for (int t = 0; t < size; ++t) sum += block[r * size + t] * sums[t * columns + c];
            const std::int64_t at = first + r * columns + c;
            const Number moved = fb == 0 ? fa * sum : fb * pd[at] + fa * sum;
            pd[at] = moved;
            pn[at] = px[at] + moved;
          }
      });
    });
  });
}

void CpuMultigrid::apply(const DenseInverse& d, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::int64_t n = d.size;
    const int columns = x.columns;
    require_numbers<Number>(d, n * n, "a dense inverse");
    require_length<Number>(x, n, columns);
    require_length<Number>(y, n, columns);
    DeviceSection section(*memory());
    const Number* rows = numbers<Number>(d).read_device();
    const Number* px = numbers<Number>(x).read_device();
    Number* py = numbers<Number>(y).write_device();
    constexpr int group = 4;  // rows that share what is read of x
#pragma omp parallel for num_threads(threads_) schedule(static) if (n * n * columns >= worth_sharing)
    for (std::int64_t row = 0; row < n; row += group) {
      if (row + group <= n)
        multiply_dense<group>(rows + row * n, d.size, columns, px, py + row * columns);
      else
        for (std::int64_t r = row; r < n; ++r) multiply_dense<1>(rows + r * n, d.size, columns, px, py + r * columns);
    }
  });
}

}  // namespace voussoir::cpu
