#include <gtest/gtest.h>

#include <array>

#include "backends/cpu_backends.hpp"
#include "backends/toy_elements.hpp"
#include "level_dense.hpp"

// Matrices of levels: their products, what is done to prolongators, their diagonals, and the coarsest one's inverse.

namespace voussoir {
namespace {

using namespace levels;

class LevelMultiply : public ::testing::TestWithParam<std::array<int, 3>> {};

TEST_P(LevelMultiply, IsTheProduct) {
  const auto [height, inner, width] = GetParam();
  const Dense a = sparse_blocks(23, 17, height, inner, 0.3, 11), b = sparse_blocks(17, 9, inner, width, 0.3, 12);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const LevelMatrix la = level_matrix(*backend, a, height, inner), lb = level_matrix(*backend, b, inner, width);
    LevelMatrix c = backend->service<MultigridServices>().product_pattern(la, lb);
    // A block is in the pattern where there is a way to it.
    std::int64_t blocks = 0;
    for (int i = 0; i < 23; ++i)
      for (int j = 0; j < 9; ++j) {
        bool way = false;
        for (int k = 0; k < 17; ++k)
          way = way || (!a.block(i * height, k * inner, height, inner).isZero(0) &&
                        !b.block(k * inner, j * width, inner, width).isZero(0));
        blocks += way;
      }
    EXPECT_EQ(c.blocks(), blocks);
    backend->service<MultigridServices>().multiply(la, lb, c);
    expect_near(dense_of(c), a * b, 1e-14);
    backend->service<MultigridServices>().multiply(la, lb, c);  // into numbers that are already there
    expect_near(dense_of(c), a * b, 1e-14);
  }
}

TEST_P(LevelMultiply, TransposesItsFactors) {
  const auto [height, inner, width] = GetParam();
  const Dense a = sparse_blocks(19, 31, height, width, 0.2, 13), other = 2 * a;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    LevelMatrix t = backend->service<MultigridServices>().transposed(level_matrix(*backend, a, height, width));
    EXPECT_EQ(dense_of(t), a.transpose());
    backend->service<MultigridServices>().update_transposed(level_matrix(*backend, other, height, width), t);
    EXPECT_EQ(dense_of(t), other.transpose());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LevelMultiply,
                         ::testing::Values(std::array{1, 1, 1}, std::array{2, 2, 3}, std::array{3, 2, 3},
                                           std::array{3, 3, 3}, std::array{3, 3, 6}, std::array{6, 3, 6},
                                           std::array{6, 6, 6}, std::array{4, 5, 2}, std::array{1, 1, 2}));

TEST(LevelMatrix, SmoothsAProlongator) {
  const int nodes = 21, size = 3, modes = 6;
  const Dense a = positive_blocks(nodes, size, 0.2, 21);
  Dense t = Dense::Zero(nodes * size, 4 * modes);
  for (int i = 0; i < nodes; ++i)
    if (i != 5)
      t.block(i * size, i % 4 * modes, size, modes) = random_dense(size, modes, 100 + static_cast<unsigned>(i));
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->service<MultigridServices>();
    const LevelMatrix la = level_matrix(*backend, a, size, size), lt = level_matrix(*backend, t, size, modes);
    LevelDiagonal inverse;
    ASSERT_EQ(services.invert_diagonal(la, inverse), -1);
    LevelMatrix p = services.product_pattern(la, lt);
    services.multiply(la, lt, p);
    services.smooth_prolongator(inverse, lt, 0.6, p);
    expect_near(dense_of(p), t - 0.6 * dense_of(inverse) * a * t, 1e-14);
  }
}

TEST(LevelMatrix, InvertsItsDiagonal) {
  for (const int size : {1, 2, 3, 4, 6}) {
    Dense a = positive_blocks(15, size, 0.3, 31);
    for (int i = 0; i < 15; ++i) a(i * size + size - 1, i * size + size - 1) *= 1e9;  // other units
    for (const auto& backend : toy::all_backends()) {
      SCOPED_TRACE(backend->describe() + ", blocks of " + std::to_string(size));
      LevelDiagonal inverse;
      ASSERT_EQ(backend->service<MultigridServices>().invert_diagonal(level_matrix(*backend, a, size, size), inverse),
                -1);
      const Dense found = dense_of(inverse);
      for (int i = 0; i < 15; ++i) {
        const Dense block = a.block(i * size, i * size, size, size);
        expect_near(found.block(i * size, i * size, size, size) * block, Dense::Identity(size, size), 1e-12);
      }
      backend->service<MultigridServices>().invert_row_sums(level_matrix(*backend, a, size, size), inverse);
      const Eigen::VectorXd sums = a.cwiseAbs().rowwise().sum();
      expect_near(dense_of(inverse), sums.cwiseInverse().asDiagonal(), 1e-15);
    }
  }
}

TEST(LevelMatrix, SaysWhichDiagonalIsNotPositive) {
  Dense a = positive_blocks(40, 3, 0.2, 32);
  a.block(25 * 3, 25 * 3, 3, 3) << 2, 1, 0, 1, 0.5, 0, 0, 0, 1;  // its second row follows from the first
  a(31 * 3, 31 * 3) = -1;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    LevelDiagonal inverse;
    EXPECT_EQ(backend->service<MultigridServices>().invert_diagonal(level_matrix(*backend, a, 3, 3), inverse),
              25 * 3 + 1);
  }
}

TEST(LevelMatrix, HoldsEmptyRows) {
  Dense a = positive_blocks(12, 3, 0.3, 33);
  for (const int row : {4, 5, 30}) {
    a.row(row).setZero();
    a.col(row).setZero();
  }
  Dense expected = a;
  for (const int row : {4, 5, 30}) expected(row, row) = 1;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    LevelMatrix held = level_matrix(*backend, a, 3, 3);
    backend->service<MultigridServices>().set_unit_diagonal_of_empty_rows(held);
    EXPECT_EQ(dense_of(held), expected);
  }
}

TEST(DenseInverse, IsTheInverse) {
  for (const int rows : {1, 7, 22, 70}) {
    const Dense a = positive_blocks(rows, 3, 0.3, 41);
    for (const auto& backend : toy::all_backends()) {
      SCOPED_TRACE(backend->describe() + ", " + std::to_string(3 * rows) + " rows");
      DenseInverse inverse = backend->service<MultigridServices>().invert(level_matrix(*backend, a, 3, 3));
      const Dense whole = dense_of(inverse);
      expect_near(whole * a, Dense::Identity(3 * rows, 3 * rows), 1e-13);
      for (const int columns : {1, 5}) {
        const Dense x = random_dense(3 * rows, columns, 42);
        LevelVector y = empty_vector(*backend, 3 * rows, columns, false);
        backend->service<MultigridServices>().apply(inverse, level_vector(*backend, x, false), y);
        expect_near(dense_of(y), whole * x, 1e-13);
      }
      backend->service<MultigridServices>().to_single(inverse);
      const Dense x = random_dense(3 * rows, 1, 43);
      LevelVector y = empty_vector(*backend, 3 * rows, 1, true);
      backend->service<MultigridServices>().apply(inverse, level_vector(*backend, x, true), y);
      expect_near(dense_of(y), whole * x, 1e-6);
    }
  }
}

TEST(DenseInverse, LeavesOutWhatIsSingular) {
  // A free chain: only differences count, so that one node too many is left out and the others are held by it.
  const int nodes = 150;
  Dense a = path(nodes);
  a(0, 0) = a(nodes - 1, nodes - 1) = 1;
  Eigen::VectorXd load = random_dense(nodes, 1, 44);
  load.array() -= load.mean();
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const Dense inverse = dense_of(backend->service<MultigridServices>().invert(level_matrix(*backend, a, 1, 1)));
    ASSERT_TRUE(inverse.allFinite());
    EXPECT_EQ((inverse.diagonal().array() == 0).count(), 1);
    expect_near(a * (inverse * load), load, 1e-10);
    // A row that is empty is left out too, and the rows after it are not hurt.
    Dense gap = positive_blocks(nodes, 1, 0.1, 45);
    gap.row(70).setZero();
    gap.col(70).setZero();
    const Dense other = dense_of(backend->service<MultigridServices>().invert(level_matrix(*backend, gap, 1, 1)));
    Dense unit = Dense::Identity(nodes, nodes);
    unit(70, 70) = 0;
    expect_near(other * gap, unit, 1e-12);
  }
}

}  // namespace
}  // namespace voussoir
