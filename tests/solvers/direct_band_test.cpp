#include <gtest/gtest.h>

#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/band.hpp>
#include <voussoir/solvers/direct/profile.hpp>

#include "direct_matrices.hpp"

namespace voussoir::test {
namespace {

// A plate whose first and last unknowns are tied: the band becomes full, the skyline has one tower.
SymmetricCsr tied_plate(int m) {
  const SymmetricCsr plate = laplacian(2, m);
  Builder builder(plate.n);
  for (std::int64_t i = 0; i < plate.n; ++i) {
    for (std::int64_t k = plate.row_start[i]; k < plate.row_start[i + 1]; ++k)
      builder.add(i, plate.column[k], plate.value[k]);
  }
  builder.add(0, plate.n - 1, -0.5);
  return builder.matrix();
}

TEST(BandMatrix, IsAsWideAsItsEntries) {
  const BandMatrix plate(laplacian(2, 7));
  EXPECT_EQ(plate.size(), 49);
  EXPECT_EQ(plate.half_bandwidth(), 7);
  EXPECT_EQ(plate.at(3, 3), 4);
  EXPECT_EQ(plate.at(3, 10), -1);
  EXPECT_EQ(plate.at(6, 7), 0);  // the end of a grid line and the start of the next are no neighbours
  EXPECT_THROW(plate.at(10, 3), Error);
  EXPECT_THROW(plate.at(3, 11), Error);
  EXPECT_EQ(BandMatrix(tied_plate(7)).half_bandwidth(), 48);
}

TEST(ProfileMatrix, IsAsHighAsItsEntries) {
  const ProfileMatrix tied(tied_plate(7));
  EXPECT_EQ(tied.first_row(48), 0);
  EXPECT_EQ(tied.first_row(20), 13);
  // One for the first, two for each of the next six (neighbour before), eight for the others but the last, 49 for that.
  EXPECT_EQ(tied.entries(), 1 + 6 * 2 + 41 * 8 + 49);
  EXPECT_EQ(tied.at(0, 48), -0.5);
  EXPECT_THROW(tied.at(0, 20), Error);
  EXPECT_THROW(ProfileMatrix(std::vector<std::int32_t>{0, 2}), Error);
}

template <class Matrix>
void expect_product(const SymmetricCsr& a) {
  std::vector<double> x(a.n), expected(a.n), got(a.n);
  for (std::int64_t i = 0; i < a.n; ++i) x[i] = std::sin(1.0 + static_cast<double>(i));
  multiply(a, x, expected);
  Matrix(a).multiply(x, got);
  for (std::int64_t i = 0; i < a.n; ++i) EXPECT_NEAR(got[i], expected[i], 1e-14);
}

TEST(BandMatrix, MultipliesAsTheSparseOne) { expect_product<BandMatrix>(tied_plate(6)); }
TEST(ProfileMatrix, MultipliesAsTheSparseOne) { expect_product<ProfileMatrix>(tied_plate(6)); }

// Wide enough that panels, groups of four and threads all take part; any number of threads gives the same bits.
template <class Matrix, class Ldlt>
void expect_solution_for_any_threads(const SymmetricCsr& a) {
  std::vector<double> b(3 * a.n), first;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(0.3 * static_cast<double>(i));
  for (int threads : {1, 2, 3}) {
    Ldlt ldlt;
    ldlt.factorise(Matrix(a), 1e-14, threads);
    EXPECT_TRUE(ldlt.null_pivots().empty());
    EXPECT_EQ(ldlt.inertia().positive, a.n);
    std::vector<double> x = b;
    ldlt.solve(x, 3);
    for (int c = 0; c < 3; ++c) {
      EXPECT_LT(relative_residual(a, std::span(x).subspan(c * a.n, a.n), std::span(b).subspan(c * a.n, a.n)), 1e-12);
    }
    if (threads == 1) first = x;
    EXPECT_EQ(x, first) << threads << " threads";
  }
}

TEST(BandLdlt, GivesTheSameBitsForAnyThreads) {
  expect_solution_for_any_threads<BandMatrix, BandLdlt>(laplacian(3, 14));
  expect_solution_for_any_threads<BandMatrix, BandLdlt>(tied_plate(23));
}
TEST(ProfileLdlt, GivesTheSameBitsForAnyThreads) {
  expect_solution_for_any_threads<ProfileMatrix, ProfileLdlt>(laplacian(3, 14));
  expect_solution_for_any_threads<ProfileMatrix, ProfileLdlt>(tied_plate(23));
}

// In the order given, elimination of a free bar leaves nothing for its last node; its motion is the same everywhere.
template <class Matrix, class Ldlt>
void expect_last_of_a_free_bar() {
  const SymmetricCsr bar = free_bar(300);
  Ldlt ldlt;
  ldlt.factorise(Matrix(bar), 1e-12);
  EXPECT_EQ(ldlt.null_pivots(), std::vector<std::int32_t>{299});
  EXPECT_EQ(ldlt.inertia().positive, 299);
  for (double v : ldlt.null_vectors()) EXPECT_NEAR(v, 1.0, 1e-13);
  std::vector<double> x(300, 0.0);
  x[0] = 1;
  x[299] = -1;
  ldlt.solve(x);
  EXPECT_NEAR(x[0], 299, 1e-10);
  EXPECT_EQ(x[299], 0);
}

TEST(BandLdlt, NamesTheEquationWithoutPivot) { expect_last_of_a_free_bar<BandMatrix, BandLdlt>(); }
TEST(ProfileLdlt, NamesTheEquationWithoutPivot) { expect_last_of_a_free_bar<ProfileMatrix, ProfileLdlt>(); }

}  // namespace
}  // namespace voussoir::test
