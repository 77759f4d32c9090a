// The kernels and the tree of the multifrontal method.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include <voussoir/solvers/direct/detail/dense_ldlt.hpp>
#include <voussoir/solvers/direct/detail/front_tree.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

#include "direct_matrices.hpp"

namespace voussoir {
namespace {

using detail::FrontTree;
using detail::ProductBuffers;

double some_number(std::int64_t i) {
  const auto mixed = static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15ull;
  return static_cast<double>(mixed >> 40) / 16777216.0 - 0.5;
}

std::vector<double> numbers(std::int64_t count, std::int64_t seed) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(some_number(seed + i));
  return values;
}

TEST(DenseKernels, SubtractProducts) {
  ProductBuffers buffers;
  for (const std::int64_t m : {1, 7, 8, 17, 100})
    for (const std::int64_t n : {1, 3, 4, 6, 13, 97})
      for (const std::int64_t k : {1, 2, 255, 300}) {
        const auto a = numbers((m + 3) * k, 5), b = numbers((n + 1) * k, 77);
        const auto before = numbers((m + 2) * n, 999);
        auto c = before;
        detail::subtract_product(c.data(), m + 2, a.data(), m + 3, b.data(), n + 1, m, n, k, buffers);
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < m + 2; ++i) {
            double value = before[static_cast<std::size_t>(j * (m + 2) + i)];
            for (std::int64_t l = 0; i < m && l < k; ++l)
              value -= a[static_cast<std::size_t>(l * (m + 3) + i)] * b[static_cast<std::size_t>(l * (n + 1) + j)];
            ASSERT_NEAR(c[static_cast<std::size_t>(j * (m + 2) + i)], value, 1e-13 * static_cast<double>(k))
                << m << " × " << n << " × " << k << " at " << i << ", " << j;
          }
      }
}

TEST(DenseKernels, FactoriseAndSolvePanels) {
  ProductBuffers buffers;
  std::vector<double> scaled;
  for (const std::int64_t height : {1, 2, 3, 9, 50, 113})
    for (const std::int64_t width : {1, 2, 3, 5, 48, 49, 97, 113}) {
      if (width > height) continue;
      // A = L D Lᵀ with known L and D, some of its pivots negative.
      const auto at = [&](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(j * height + i); };
      std::vector<double> l(static_cast<std::size_t>(height * width), 0.0), panel = l;
      for (std::int64_t j = 0; j < width; ++j) {
        l[at(j, j)] = (j % 5 == 3 ? -1 : 1) * (1 + 0.1 * static_cast<double>(j % 7));
        for (std::int64_t i = j + 1; i < height; ++i)
          l[at(i, j)] = some_number(i * height + j) / std::sqrt(static_cast<double>(width));
      }
      for (std::int64_t j = 0; j < width; ++j)
        for (std::int64_t i = j; i < height; ++i)
          for (std::int64_t k = 0; k <= j; ++k)
            panel[at(i, j)] += (i == k ? 1 : l[at(i, k)]) * l[at(k, k)] * (j == k ? 1 : l[at(j, k)]);
      ASSERT_EQ(detail::factorise_panel(panel.data(), height, width, scaled, buffers).done, width);
      for (std::int64_t j = 0; j < width; ++j)
        for (std::int64_t i = j; i < height; ++i)
          ASSERT_NEAR(panel[at(i, j)], l[at(i, j)], 1e-11) << height << " × " << width << " at " << i << ", " << j;
      for (std::int64_t j = 0; j < width; ++j)
        for (std::int64_t i = width; i < height; ++i)
          ASSERT_NEAR(scaled[static_cast<std::size_t>(j * (height - width) + i - width)], l[at(i, j)] * l[at(j, j)],
                      1e-11);
      for (const int columns : {1, detail::solve_block}) {
        const auto c = static_cast<std::size_t>(columns);
        const auto before = numbers(height * columns, 12);
        auto x = before;
        detail::solve_panel_forwards(l.data(), height, width, x.data(), columns);
        for (std::int64_t i = 0; i < height; ++i)
          for (std::size_t s = 0; s < c; ++s) {
            double sum = i < width ? 0 : x[static_cast<std::size_t>(i) * c + s];
            for (std::int64_t k = 0; k < width && k <= i; ++k)
              sum += (k == i ? 1 : l[at(i, k)]) * x[static_cast<std::size_t>(k) * c + s];
            ASSERT_NEAR(sum, before[static_cast<std::size_t>(i) * c + s], 1e-11);
          }
        x = before;
        detail::solve_panel_backwards(l.data(), height, width, x.data(), columns);
        for (std::int64_t j = 0; j < width; ++j)
          for (std::size_t s = 0; s < c; ++s) {
            double sum = x[static_cast<std::size_t>(j) * c + s];
            for (std::int64_t i = j + 1; i < height; ++i) sum += l[at(i, j)] * x[static_cast<std::size_t>(i) * c + s];
            ASSERT_NEAR(sum * l[at(j, j)], before[static_cast<std::size_t>(j) * c + s], 1e-10);
          }
      }
    }
}

TEST(DenseKernels, StopAtAPivotOfZero) {
  ProductBuffers buffers;
  std::vector<double> scaled, panel(100 * 60, 0.0);
  for (std::int64_t j = 0; j < 60; ++j) panel[static_cast<std::size_t>(j * 100 + j)] = j == 51 ? 0 : 2;
  EXPECT_EQ(detail::factorise_panel(panel.data(), 100, 60, scaled, buffers).done, 51);
}

/// Every equation has one place, every front is a contiguous range of them with ascending rows, and what it leaves fits
/// into its parent.
void expect_sound(const FrontTree& tree, std::int64_t n, std::size_t kept) {
  ASSERT_EQ(static_cast<std::int64_t>(tree.equation.size()), n);
  for (std::int32_t e = 0; e < n; ++e)
    EXPECT_EQ(tree.equation[static_cast<std::size_t>(tree.place[static_cast<std::size_t>(e)])], e);
  EXPECT_EQ(tree.eliminated, n - static_cast<std::int64_t>(kept));
  std::int32_t next = 0;
  for (std::size_t f = 0; f < tree.fronts.size(); ++f) {
    const FrontTree::Front& front = tree.fronts[f];
    EXPECT_EQ(front.first, next);
    next += front.width;
    const auto rows = tree.rows_of(front);
    for (std::int32_t j = 0; j < front.width; ++j) EXPECT_EQ(rows[static_cast<std::size_t>(j)], front.first + j);
    for (std::size_t i = 1; i < rows.size(); ++i) ASSERT_LT(rows[i - 1], rows[i]);
    if (front.height == front.width) continue;
    if (front.width == 0) {
      EXPECT_EQ(rows.size(), kept);
      continue;
    }
    ASSERT_GT(front.parent, static_cast<std::int32_t>(f));
    const auto above = tree.rows_of(tree.fronts[static_cast<std::size_t>(front.parent)]);
    EXPECT_TRUE(std::includes(above.begin(), above.end(), rows.begin() + front.width, rows.end()));
  }
  EXPECT_EQ(next, tree.eliminated);
}

TEST(FrontTrees, HoldForAnyPattern) {
  std::vector<SymmetricCsr> matrices{test::laplacian(1, 1), test::laplacian(1, 2), test::laplacian(2, 13),
                                     test::laplacian(3, 6)};
  test::Builder diagonal(6), arrow(40), blocks(30);
  for (int i = 0; i < 40; ++i) {
    arrow.add(i, i, 100);
    if (i > 0) arrow.add(0, i, 1);  // the hub comes first
  }
  for (int i = 0; i < 30; ++i)
    for (int j = i; j < 30; ++j)
      if (i / 5 == j / 5) blocks.add(i, j, i == j ? 10 : 1);  // six bodies
  for (const test::Builder* one : {&diagonal, &arrow, &blocks}) matrices.push_back(one->matrix());
  for (const SymmetricCsr& a : matrices) {
    SCOPED_TRACE(std::to_string(a.n) + " equations");
    for (const std::int64_t step : {0, 1, 2, 5}) {
      std::vector<std::int32_t> boundary;
      for (std::int64_t i = 1; step > 0 && i < a.n; i += step) boundary.push_back(static_cast<std::int32_t>(a.n - i));
      expect_sound(FrontTree(a, boundary), a.n, boundary.size());
    }
  }
  // A grid of three unknowns per node: nodes are the vertices, so that the fronts have multiples of three columns.
  const FrontTree nodes(matrices[3], {});
  EXPECT_GT(nodes.fronts.size(), 1u);
}

TEST(Multifrontal, GivesTheSameBitsInThreadsSideBySide) {
  const SymmetricCsr a = test::laplacian(3, 9);
  const auto solve = [&] {
    const auto factor = Factorization::make(DirectMethod::multifrontal);
    factor->factorise(a);
    std::vector<double> x = numbers(a.n * 11, 3);
    factor->solve(x, 11);
    return x;
  };
  const std::vector<double> alone = solve();
  std::vector<std::vector<double>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = solve(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results)
    EXPECT_EQ(std::memcmp(result.data(), alone.data(), alone.size() * sizeof(double)), 0);
  for (int c = 0; c < 11; ++c) {
    const auto b = numbers(a.n * 11, 3);
    const auto n = static_cast<std::size_t>(a.n), at = static_cast<std::size_t>(c) * n;
    EXPECT_LT(relative_residual(a, std::span(alone).subspan(at, n), std::span(b).subspan(at, n)), 1e-13);
  }
}

TEST(Multifrontal, IsFactorisedAgainWithOtherValues) {
  SymmetricCsr a = test::laplacian(2, 8);
  const auto factor = Factorization::make(DirectMethod::multifrontal);
  for (int pass = 0; pass < 3; ++pass) {
    for (std::int64_t i = 0; i < a.n; ++i)
      a.value[static_cast<std::size_t>(a.row_start[static_cast<std::size_t>(i)])] += pass;
    factor->factorise(a);
    const std::vector<double> b = numbers(a.n, pass);
    std::vector<double> x = b;
    factor->solve(x);
    EXPECT_LT(relative_residual(a, x, b), 1e-13);
  }
  EXPECT_EQ(factor->statistics().analyses, 1);
}

}  // namespace
}  // namespace voussoir
