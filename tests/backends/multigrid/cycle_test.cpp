#include <gtest/gtest.h>

#include "backends/cpu_backends.hpp"
#include "backends/toy_elements.hpp"
#include "level_dense.hpp"

// What a cycle is made of: products, steps of smoothers, and combinations of vectors.

namespace voussoir {
namespace {

using namespace levels;

struct CycleCase {
  int height, width, columns;
  bool single;
};

class Cycle : public ::testing::TestWithParam<CycleCase> {};

TEST_P(Cycle, MultipliesLikeADenseMatrix) {
  const auto [height, width, columns, single] = GetParam();
  const double tolerance = single ? 2e-6 : 1e-14;
  const int rows = 61, others = 43;
  const Dense a = sparse_blocks(rows, others, height, width, 0.4, 51);
  const Dense x = random_dense(others * width, columns, 52), b = random_dense(rows * height, columns, 53);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->service<MultigridServices>();
    LevelMatrix la = level_matrix(*backend, a, height, width);
    if (single) services.to_single(la);
    const LevelVector lx = level_vector(*backend, x, single), lb = level_vector(*backend, b, single);
    LevelVector y = empty_vector(*backend, rows * height, columns, single);
    services.product(la, lx, y);
    expect_near(dense_of(y), a * x, tolerance);
    services.residual(la, lx, lb, y);
    expect_near(dense_of(y), b - a * x, tolerance);
    services.add_product(la, lx, y);
    expect_near(dense_of(y), b, tolerance);
  }
}

TEST_P(Cycle, TakesStepsOfASmoother) {
  const auto [size, width, columns, single] = GetParam();
  if (size != width) return;
  const double tolerance = single ? 2e-6 : 1e-14;
  const int rows = 47;
  const Dense a = positive_blocks(rows, size, 0.2, 61);
  const Dense x = random_dense(rows * size, columns, 62), b = random_dense(rows * size, columns, 63),
              d = random_dense(rows * size, columns, 64);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->service<MultigridServices>();
    LevelMatrix la = level_matrix(*backend, a, size, size);
    LevelDiagonal inverse;
    ASSERT_EQ(services.invert_diagonal(la, inverse), -1);
    const Dense inv = dense_of(inverse);
    if (single) {
      services.to_single(la);
      services.to_single(inverse);
    }
    const LevelVector lx = level_vector(*backend, x, single), lb = level_vector(*backend, b, single);
    LevelVector moved = empty_vector(*backend, rows * size, columns, single);
    LevelVector next = empty_vector(*backend, rows * size, columns, single);

    services.apply(inverse, lx, next);
    expect_near(dense_of(next), inv * x, tolerance);
    services.first_step(inverse, lb, 0.7, moved, next);
    expect_near(dense_of(moved), 0.7 * inv * b, tolerance);
    EXPECT_EQ(dense_of(moved), dense_of(next));

    services.step(la, inverse, lb, lx, 0.7, 0, moved, next);
    const Dense first = 0.7 * inv * (b - a * x);
    expect_near(dense_of(moved), first, tolerance);
    expect_near(dense_of(next), x + first, tolerance);

    moved = level_vector(*backend, d, single);
    services.step(la, inverse, lb, lx, 0.7, 0.3, moved, next);
    const Dense second = 0.3 * d + 0.7 * inv * (b - a * x);
    expect_near(dense_of(moved), second, tolerance);
    expect_near(dense_of(next), x + second, tolerance);

    moved = level_vector(*backend, d, single);
    next = level_vector(*backend, x, single);
    services.step(inverse, lb, 0.7, 0.3, moved, next);
    const Dense third = 0.3 * d + 0.7 * inv * b;
    expect_near(dense_of(moved), third, tolerance);
    expect_near(dense_of(next), x + third, tolerance);
  }
}

TEST_P(Cycle, CombinesVectors) {
  const auto [height, width, columns, single] = GetParam();
  const double tolerance = single ? 2e-6 : 1e-13;
  const int rows = 3000 * height;  // several stretches
  const Dense x = random_dense(rows, columns, 71), y = random_dense(rows, columns, 72);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->service<MultigridServices>();
    const LevelVector lx = level_vector(*backend, x, single);
    LevelVector ly = level_vector(*backend, y, single);
    EXPECT_NEAR(services.dot(lx, ly), x.cwiseProduct(y).sum(), 1e-5);
    Array<double> scalars(backend->memory(0), static_cast<std::size_t>(3 * columns));
    services.dot(lx, ly, scalars, 2);
    services.dot(lx, lx, scalars, 0);
    for (int c = 0; c < columns; ++c) {
      EXPECT_NEAR(scalars.read_host()[static_cast<std::size_t>(c)], x.col(c).squaredNorm(), 1e-4);
      EXPECT_NEAR(scalars.read_host()[static_cast<std::size_t>(2 * columns + c)], x.col(c).dot(y.col(c)), 1e-5);
    }
    services.axpby(2, lx, -0.5, ly);
    expect_near(dense_of(ly), 2 * x - 0.5 * y, tolerance);
    LevelVector fresh = empty_vector(*backend, rows, columns, single);
    services.axpby(3, lx, 0, fresh);
    expect_near(dense_of(fresh), 3 * x, tolerance);
    services.fill(fresh, 1.5);
    EXPECT_EQ(dense_of(fresh), Dense::Constant(rows, columns, 1.5));
    services.fill_with_noise(fresh);
    const Dense noise = dense_of(fresh);
    EXPECT_LT(noise.cwiseAbs().maxCoeff(), 0.5 + 1e-7);
    EXPECT_NEAR(noise.mean(), 0, 0.02);
    EXPECT_NEAR(noise.squaredNorm() / static_cast<double>(noise.size()), 1.0 / 12, 0.005);
  }
}

TEST_P(Cycle, MinimisesOverTwoDirections) {
  const auto [size, width, columns, single] = GetParam();
  if (size != width) return;
  const double tolerance = single ? 1e-4 : 1e-11;
  const int rows = 20;
  const Dense a = positive_blocks(rows, size, 0.3, 81);
  const Dense b = random_dense(rows * size, columns, 82);
  Dense c = random_dense(rows * size, columns, 83), d = random_dense(rows * size, columns, 84);
  if (columns > 3) {
    c.col(1).setZero();       // nothing to go along
    d.col(2) = 2 * c.col(2);  // no second direction
    d.col(3).setZero();
  }
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->service<MultigridServices>();
    LevelMatrix la = level_matrix(*backend, a, size, size);
    if (single) services.to_single(la);
    const LevelVector lb = level_vector(*backend, b, single), lc = level_vector(*backend, c, single),
                      ld = level_vector(*backend, d, single);
    const auto fresh = [&] { return empty_vector(*backend, rows * size, columns, single); };
    LevelVector v = fresh(), w = fresh(), r = fresh(), x = fresh();
    Array<double> scalars(backend->memory(0), static_cast<std::size_t>(5 * columns));
    services.product(la, lc, v);
    services.dot(lc, v, scalars, 0);
    services.dot(lc, lb, scalars, 1);
    services.k_residual(scalars, lb, v, r);
    services.product(la, ld, w);
    services.dot(ld, v, scalars, 2);
    services.dot(ld, w, scalars, 3);
    services.dot(ld, r, scalars, 4);
    services.k_combine(scalars, lc, ld, x);
    const Dense remaining = dense_of(r), found = dense_of(x);
    ASSERT_TRUE(found.allFinite());
    for (int k = 0; k < columns; ++k) {
      const bool none = c.col(k).isZero(0), one = columns > 3 && (k == 2 || k == 3);
      Dense first = Dense::Zero(rows * size, 1);
      if (!none) first = c.col(k) * (c.col(k).dot(b.col(k)) / c.col(k).dot(a * c.col(k)));
      Dense expected = first;
      if (!none && !one) {  // along what is conjugate to the first direction
        const Eigen::VectorXd ad = a * d.col(k), ac = a * c.col(k);
        const Eigen::VectorXd second = d.col(k) - c.col(k) * (c.col(k).dot(ad) / c.col(k).dot(ac));
        expected += second * (second.dot(b.col(k)) / second.dot(a * second));
      }
      expect_near(remaining.col(k), b.col(k) - a * first, tolerance);
      expect_near(found.col(k), expected, tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Cycle,
    ::testing::Values(CycleCase{1, 1, 1, false}, CycleCase{2, 2, 1, false}, CycleCase{3, 3, 1, false},
                      CycleCase{6, 6, 1, false}, CycleCase{4, 4, 1, false}, CycleCase{3, 6, 1, false},
                      CycleCase{6, 3, 1, false}, CycleCase{2, 3, 1, false}, CycleCase{5, 2, 1, false},
                      CycleCase{1, 1, 1, true}, CycleCase{3, 3, 1, true}, CycleCase{6, 6, 1, true},
                      CycleCase{3, 6, 1, true}, CycleCase{6, 3, 1, true}, CycleCase{5, 2, 1, true},
                      CycleCase{3, 3, 5, false}, CycleCase{3, 3, 5, true}, CycleCase{6, 6, 11, false},
                      CycleCase{3, 6, 5, false}, CycleCase{6, 3, 5, true}, CycleCase{4, 4, 5, true},
                      CycleCase{3, 3, 2, true}, CycleCase{6, 6, 3, true}, CycleCase{2, 2, 2, false},
                      CycleCase{3, 3, 8, true}, CycleCase{1, 1, 3, false}));

}  // namespace
}  // namespace voussoir
