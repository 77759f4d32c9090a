#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "backends/cpu_backends.hpp"
#include "backends/toy_elements.hpp"
#include "level_dense.hpp"
#include "support/expect_error.hpp"

// Sparse factors of the inverse of a level's matrix.

namespace voussoir {
namespace {

using namespace levels;
using testing::expect_error;

struct InverseFactor : ::testing::TestWithParam<int> {};

TEST_P(InverseFactor, IsTheInverseOfCholeskysFactorWhereAllNeighboursAreIn) {
  const int size = GetParam(), nodes = largest_factor_rows / size;
  const Dense a = positive_blocks(nodes, size, 1, 21);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->service<MultigridServices>();
    const LevelMatrix la = level_matrix(*backend, a, size, size);
    LevelMatrix g = services.inverse_factor_pattern(la, nodes - 1);
    EXPECT_EQ(g.blocks(), nodes * (nodes + 1) / 2);
    EXPECT_EQ(services.inverse_factor(la, g), -1);
    const Dense exact = a.llt().matrixL().solve(Dense::Identity(a.rows(), a.rows()));
    expect_near(dense_of(g), exact, 1e-10);
    // Once more, into numbers that are already there and have been rounded.
    services.to_single(g);
    EXPECT_EQ(services.inverse_factor(level_matrix(*backend, 4 * a, size, size), g), -1);
    expect_near(dense_of(g), 0.5 * exact, 1e-10);
  }
}

TEST_P(InverseFactor, MakesTheDiagonalBlocksOne) {
  const int size = GetParam(), nodes = 60, most = 3;
  const Dense a = positive_blocks(nodes, size, 0.15, 22);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->service<MultigridServices>();
    const LevelMatrix la = level_matrix(*backend, a, size, size);
    LevelMatrix g = services.inverse_factor_pattern(la, most);
    EXPECT_EQ(services.inverse_factor(la, g), -1);
    const Dense factor = dense_of(g), product = factor * a * factor.transpose();
    const auto start = g.start.read_host();
    const auto column = g.column.read_host();
    bool limited = false;
    for (int i = 0; i < nodes; ++i) {
      const auto n = start[static_cast<std::size_t>(i) + 1] - start[static_cast<std::size_t>(i)];
      ASSERT_LE(n, most + 1);
      limited = limited || n == most + 1;
      EXPECT_EQ(column[static_cast<std::size_t>(start[static_cast<std::size_t>(i) + 1]) - 1], i);
      expect_near(product.block(i * size, i * size, size, size), Dense::Identity(size, size), 1e-11);
    }
    EXPECT_TRUE(limited);
    // And it is a better inverse than that of the diagonal blocks: a smaller ratio of the ends of the spectrum.
    Dense diagonal = Dense::Zero(a.rows(), a.rows());
    for (int i = 0; i < nodes; ++i)
      diagonal.block(i * size, i * size, size, size) =
          a.block(i * size, i * size, size, size).llt().matrixL().solve(Dense::Identity(size, size));
    const auto ratio = [](const Dense& m) {
      const Eigen::VectorXd e = Eigen::SelfAdjointEigenSolver<Dense>(m, Eigen::EigenvaluesOnly).eigenvalues();
      return e.maxCoeff() / e.minCoeff();
    };
    EXPECT_LT(ratio(product), ratio(diagonal * a * diagonal.transpose()));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, InverseFactor, ::testing::Values(1, 2, 3, 4, 6));

TEST(InverseFactorPattern, TakesTheStrongestNeighboursAndTheHighestOfEquals) {
  Dense a = 10 * Dense::Identity(6, 6);
  const auto tie = [&](int i, int j, double x) { a(i, j) = a(j, i) = x; };
  tie(5, 0, -1);
  tie(5, 1, -3);
  tie(5, 2, 1 + 1e-14);  // as strong as 0 and 3 but for rounding
  tie(5, 3, -1);
  tie(5, 4, 1e-13);  // but rounding itself
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const LevelMatrix g =
        backend->service<MultigridServices>().inverse_factor_pattern(level_matrix(*backend, a, 1, 1), 2);
    const auto column = g.column.read_host();
    EXPECT_EQ(std::vector<std::int32_t>(column.begin(), column.end()),
              (std::vector<std::int32_t>{0, 1, 2, 3, 4, 1, 3, 5}));
  }
}

TEST(InverseFactorOfAMatrix, ThatIsNotPositiveNamesTheRow) {
  Dense a = path(8);
  a(5, 5) = 0.5;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->service<MultigridServices>();
    const LevelMatrix la = level_matrix(*backend, a, 1, 1);
    LevelMatrix g = services.inverse_factor_pattern(la, 4);
    EXPECT_EQ(services.inverse_factor(la, g), 5);
    a(2, 2) = -1;
    EXPECT_EQ(services.inverse_factor(level_matrix(*backend, a, 1, 1), g), 2);
    a(2, 2) = 2;
  }
}

TEST(InverseFactorOfAMatrix, NeedsRoomAndAPattern) {
  for (const auto& backend : toy::all_backends()) {
    MultigridServices& services = backend->service<MultigridServices>();
    const LevelMatrix a = level_matrix(*backend, positive_blocks(5, 3, 1, 23), 3, 3);
    expect_error(ErrorCode::misuse, {"21 neighbours of 3 rows", "64 rows"},
                 [&] { services.inverse_factor_pattern(a, 21); });
    LevelMatrix g = services.inverse_factor_pattern(level_matrix(*backend, path(5), 1, 1), 4);
    expect_error(ErrorCode::misuse, {"not a pattern for that matrix"}, [&] { services.inverse_factor(a, g); });
  }
}

}  // namespace
}  // namespace voussoir
