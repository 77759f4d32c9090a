#include <gtest/gtest.h>

#include <cmath>

#include "cpu_backends.hpp"
#include "toy_elements.hpp"

namespace voussoir {
namespace {

using toy::numbers;
using toy::vector_of;

constexpr int size = 5003;  // neither a multiple of a block nor of a SIMD width

TEST(Vectors, ElementwiseOperationsAreTheirFormulas) {
  const auto x0 = numbers(size, 1), y0 = numbers(size, 2), d0 = numbers(size, 3);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto layout = toy::plain_layout(*backend, size);
    Vector x = vector_of(layout, x0), y = vector_of(layout, y0), d = vector_of(layout, d0), z(layout);
    backend->copy(x, z);
    EXPECT_EQ(z.to_host(), x0);
    backend->scale(-3, z);
    backend->axpy(2, x, y);
    backend->multiply(d, x, d);  // in place
    const auto zs = z.to_host(), ys = y.to_host(), ds = d.to_host();
    backend->axpby(0.5, x, 4, y);
    const auto ws = y.to_host();
    for (int i = 0; i < size; ++i) {
      EXPECT_EQ(zs[i], -3 * x0[i]);
      EXPECT_NEAR(ys[i], 2 * x0[i] + y0[i], 1e-15);
      EXPECT_EQ(ds[i], d0[i] * x0[i]);
      EXPECT_NEAR(ws[i], 0.5 * x0[i] + 4 * ys[i], 1e-14);
    }
    const Vector copy = x.clone();
    EXPECT_EQ(copy.to_host(), x0);
    EXPECT_EQ(copy.layout(), x.layout());
    backend->scale(2, x);
    EXPECT_EQ(copy.to_host(), x0);
    backend->copy(copy, x);
    backend->fill(z, std::nan(""));
    backend->axpby(2, x, 0, z);  // old contents do not matter
    EXPECT_EQ(z.to_host()[7], 2 * x0[7]);
  }
}

TEST(Vectors, SumsAreTheSameBitsForAnyNumberOfThreads) {
  const auto x0 = numbers(100003, 4), y0 = numbers(100003, 5);
  long double exact = 0;
  for (std::size_t i = 0; i < x0.size(); ++i) exact += static_cast<long double>(x0[i]) * y0[i];
  double first = 0;
  for (const int threads : {1, 2, 3, 5}) {
    const auto backend = make_openmp_backend(threads);
    const auto layout = toy::plain_layout(*backend, static_cast<std::int64_t>(x0.size()));
    const Vector x = vector_of(layout, x0), y = vector_of(layout, y0);
    const double sum = backend->dot(x, y);
    EXPECT_NEAR(sum, static_cast<double>(exact), 1e-11);
    if (threads == 1) first = sum;
    EXPECT_EQ(sum, first) << threads << " threads";
  }
}

TEST(Vectors, CgUpdateIsTwoUpdatesAndASum) {
  const auto p0 = numbers(size, 6), q0 = numbers(size, 7), x0 = numbers(size, 8), r0 = numbers(size, 9);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto layout = toy::plain_layout(*backend, size);
    const Vector p = vector_of(layout, p0), q = vector_of(layout, q0);
    Vector x = vector_of(layout, x0), r = vector_of(layout, r0);
    const double sum = backend->cg_update(0.75, p, q, x, r);
    const auto xs = x.to_host(), rs = r.to_host();
    double expected = 0;
    for (int i = 0; i < size; ++i) {
      EXPECT_NEAR(xs[i], x0[i] + 0.75 * p0[i], 1e-15);
      EXPECT_NEAR(rs[i], r0[i] - 0.75 * q0[i], 1e-15);
      expected += rs[i] * rs[i];
    }
    EXPECT_NEAR(sum, expected, 1e-10);
  }
}

TEST(Vectors, ExchangeBringsTheOwnersValues) {
  const auto backend = make_debug_backend(3);
  const auto layout = toy::full_layout(*backend, 10);
  for (const int columns : {1, 3}) {
    const auto x0 = numbers(static_cast<std::size_t>(10 * columns), 10);
    const Vector x = vector_of(layout, x0, columns);
    backend->exchange(x);
    for (int d = 0; d < 3; ++d) {
      const auto part = x.part(d).read_host();
      for (std::int32_t i = 0; i < layout->local_size(d); ++i)
        for (int c = 0; c < columns; ++c)
          EXPECT_EQ(part[static_cast<std::size_t>(i * columns + c)],
                    x0[static_cast<std::size_t>(layout->global(d, i) * columns + c)]);
    }
  }
}

TEST(Vectors, BlockProductsAreThoseOfDenseMatrices) {
  constexpr int rows = 1501, m = 7, n = 9;
  const auto x0 = numbers(rows * m, 11), y0 = numbers(rows * n, 12), c0 = numbers(m * n, 13);
  std::vector<double> first;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto layout = toy::plain_layout(*backend, rows);
    const Vector x = vector_of(layout, x0, m);
    Vector y = vector_of(layout, y0, n);
    std::vector<double> result(m * n);
    backend->block_dot(x, y, result);
    if (first.empty()) first = result;
    if (backend->devices() == 1 && backend->threads() > 0) {  // a GPU sums in another order
      EXPECT_EQ(result, first);
    }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int r = 0; r < rows; ++r) sum += x0[r * m + i] * y0[r * n + j];
        EXPECT_NEAR(result[static_cast<std::size_t>(i * n + j)], sum, 1e-11);
      }
    backend->block_axpy(x, c0, y);
    const auto ys = y.to_host();
    for (int r = 0; r < rows; r += 37)
      for (int j = 0; j < n; ++j) {
        double sum = y0[r * n + j];
        for (int i = 0; i < m; ++i) sum += x0[r * m + i] * c0[i * n + j];
        EXPECT_NEAR(ys[static_cast<std::size_t>(r * n + j)], sum, 1e-13);
      }
  }
}

TEST(Vectors, DifferentSizesAreAMisuse) {
  const auto backend = make_openmp_backend(1);
  Vector x(toy::plain_layout(*backend, 10)), y(toy::plain_layout(*backend, 11)), z(toy::plain_layout(*backend, 10), 2);
  EXPECT_THROW(backend->axpy(1, x, y), Error);
  EXPECT_THROW(backend->dot(x, z), Error);
}

}  // namespace
}  // namespace voussoir
