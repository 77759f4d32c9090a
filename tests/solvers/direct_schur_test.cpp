#include <gtest/gtest.h>

#include <algorithm>
#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

#ifndef EIGEN_MPL2_ONLY
#define EIGEN_MPL2_ONLY
#endif
#include <Eigen/Dense>

#include "direct_matrices.hpp"

namespace voussoir::test {
namespace {

Eigen::MatrixXd dense(const SymmetricCsr& a) {
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(a.n, a.n);
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      full(i, a.column[k]) = full(a.column[k], i) = a.value[k];
    }
  }
  return full;
}

class DirectSchur : public ::testing::TestWithParam<DirectMethod> {};

// Against dense elimination by Eigen, for a boundary that is neither sorted nor in one piece, and entries of very
// different size (a beam in millimetres beside a plate).
TEST_P(DirectSchur, EqualsDenseElimination) {
  const SymmetricCsr plate = laplacian(2, 9), beam = without_first(free_beam(12, 3000, 2e9), 2);
  Builder builder(plate.n + beam.n);
  for (std::int64_t i = 0; i < plate.n; ++i) {
    for (std::int64_t k = plate.row_start[i]; k < plate.row_start[i + 1]; ++k)
      builder.add(i, plate.column[k], plate.value[k]);
  }
  for (std::int64_t i = 0; i < beam.n; ++i) {
    for (std::int64_t k = beam.row_start[i]; k < beam.row_start[i + 1]; ++k) {
      builder.add(plate.n + i, plate.n + beam.column[k], beam.value[k]);
    }
  }
  for (int i = 0; i < 6; ++i) {
    builder.add(10 * i, 10 * i, 3.0);
    builder.add(plate.n + 4 * i, plate.n + 4 * i, 3.0);
    builder.add(10 * i, plate.n + 4 * i, -3.0);
  }
  const SymmetricCsr a = builder.matrix();
  const std::vector<std::int32_t> boundary = {88, 3, 40, 41, 0, 80, 17, 100};
  const int m = static_cast<int>(boundary.size());

  std::vector<int> inner;
  for (int i = 0; i < a.n; ++i) {
    if (std::find(boundary.begin(), boundary.end(), i) == boundary.end()) inner.push_back(i);
  }
  const Eigen::MatrixXd full = dense(a);
  const Eigen::MatrixXd aii = full(inner, inner), aib = full(inner, boundary), abb = full(boundary, boundary);
  const Eigen::LDLT<Eigen::MatrixXd> ldlt(aii);
  const Eigen::MatrixXd expected = abb - aib.transpose() * ldlt.solve(aib);

  auto factor = Factorization::make(GetParam());
  factor->analyse(a, boundary);
  factor->factorise(a);
  const std::vector<double>& schur = factor->schur_complement();
  ASSERT_EQ(static_cast<int>(schur.size()), m * m);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) {
      const double size = std::sqrt(std::abs(abb(i, i) * abb(j, j)));
      EXPECT_NEAR(schur[i + j * m], expected(i, j), 1e-12 * size) << i << ", " << j;
      EXPECT_EQ(schur[i + j * m], schur[j + i * m]);
    }
  }
  EXPECT_EQ(factor->inertia().positive, a.n - m);

  // Reduce, solve on the boundary, expand: the same as solving the whole. In two columns, twice, with new values
  // between.
  for (double scale : {1.0, 2.5}) {
    SymmetricCsr scaled = a;
    for (double& value : scaled.value) value *= scale;
    factor->factorise(scaled);
    std::vector<double> b(2 * a.n);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(1.0 + static_cast<double>(i));
    const std::vector<double> reduced = factor->reduce(b, 2);
    ASSERT_EQ(static_cast<int>(reduced.size()), 2 * m);
    const Eigen::Map<const Eigen::MatrixXd> s(factor->schur_complement().data(), m, m), g(reduced.data(), m, 2);
    const Eigen::MatrixXd xb = s.ldlt().solve(g);
    std::vector<double> x = b;
    factor->expand(std::span(xb.data(), static_cast<std::size_t>(2 * m)), x, 2);
    for (int c = 0; c < 2; ++c) {
      EXPECT_LT(relative_residual(scaled, std::span(x).subspan(c * a.n, a.n), std::span(b).subspan(c * a.n, a.n)),
                1e-9);
      for (int k = 0; k < m; ++k) EXPECT_EQ(x[c * a.n + boundary[k]], xb(k, c));
    }
  }
  EXPECT_EQ(factor->statistics().analyses, 1);
}

// The condensed stiffness of n unit springs in a row, seen from both ends, is 1/n [1 −1; −1 1].
TEST_P(DirectSchur, CondensesSpringsInSeries) {
  auto factor = Factorization::make(GetParam());
  const SymmetricCsr bar = free_bar(101);
  factor->analyse(bar, std::vector<std::int32_t>{0, 100});
  factor->factorise(bar);
  const std::vector<double>& schur = factor->schur_complement();
  EXPECT_NEAR(schur[0], 0.01, 1e-14);
  EXPECT_NEAR(schur[1], -0.01, 1e-14);
  EXPECT_NEAR(schur[3], 0.01, 1e-14);
  // A load at a quarter of the length goes to the ends as by a lever.
  std::vector<double> load(101, 0.0);
  load[25] = 1;
  const std::vector<double> reduced = factor->reduce(load);
  EXPECT_NEAR(reduced[0], 0.75, 1e-13);
  EXPECT_NEAR(reduced[1], 0.25, 1e-13);
}

TEST_P(DirectSchur, KeepsAllWhereAllIsBoundary) {
  auto factor = Factorization::make(GetParam());
  const SymmetricCsr a = laplacian(1, 3);
  factor->analyse(a, std::vector<std::int32_t>{2, 0, 1});
  factor->factorise(a);
  EXPECT_EQ(factor->schur_complement(), (std::vector<double>{2, 0, -1, 0, 2, -1, -1, -1, 2}));
  EXPECT_EQ(factor->reduce(std::vector<double>{10, 20, 30}), (std::vector<double>{30, 10, 20}));
}

TEST_P(DirectSchur, RefusesABadBoundary) {
  auto factor = Factorization::make(GetParam());
  const SymmetricCsr a = laplacian(1, 5);
  EXPECT_THROW(factor->analyse(a, std::vector<std::int32_t>{5}), Error);
  EXPECT_THROW(factor->analyse(a, std::vector<std::int32_t>{1, 1}), Error);
  factor->analyse(a, std::vector<std::int32_t>{1});
  factor->factorise(a);
  std::vector<double> x(5, 1.0);
  EXPECT_THROW(factor->solve(x), Error);
}

std::vector<DirectMethod> methods_of_this_build() {
  std::vector<DirectMethod> methods;
  for (DirectMethod method : {DirectMethod::mumps, DirectMethod::eigen, DirectMethod::cholmod, DirectMethod::band,
                              DirectMethod::profile, DirectMethod::multifrontal}) {
    if (why_unavailable(method).empty()) methods.push_back(method);
  }
  return methods;
}

INSTANTIATE_TEST_SUITE_P(Methods, DirectSchur, ::testing::ValuesIn(methods_of_this_build()),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace voussoir::test
