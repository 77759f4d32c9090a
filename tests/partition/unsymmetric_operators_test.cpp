// The operators of Schwarz methods for unsymmetric matrices, against dense matrices.
#include <gtest/gtest.h>

#include <Eigen/Core>

#include <voussoir/partition/schwarz.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/dense_algebra.hpp"
#include "support/expect_error.hpp"
#include "unsymmetric_models.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

/// A small stream, its matrix and a decomposition into four parts.
struct DividedStream {
  DividedStream() : model(filled(domain), Backend::open("openmp:2"), TransformationHandler(), PlainNumberer()) {
    DecompositionOptions options;
    options.parts = 4;
    options.cut = "rcb";
    decomposition = std::make_unique<Decomposition>(model, make_partition(model, options));
    const std::vector<double> cases(domain.load_case_count(), 1.0), factors = model.batch_factors(cases);
    MatrixTerms terms;
    terms.batch_factors = factors;
    const auto soe = make_soe("csr");
    soe->set_model(model);
    soe->form(ElementState{}, terms);
    rows = assembled_rows(*soe, *decomposition, "test");
    soe->forget_model();
    dense = Eigen::MatrixXd::Zero(rows.n, rows.n);
    for (std::int64_t i = 0; i < rows.n; ++i)
      for (auto k = rows.row_start[static_cast<std::size_t>(i)]; k < rows.row_start[static_cast<std::size_t>(i) + 1];
           ++k)
        dense(i, rows.column[static_cast<std::size_t>(k)]) = rows.value[static_cast<std::size_t>(k)];
  }
  static const Domain& filled(Domain& domain) {
    testing::add_stream(domain, 8);
    return domain;
  }

  Domain domain;
  AnalysisModel model;
  std::unique_ptr<Decomposition> decomposition;
  GeneralCsr rows;
  Eigen::MatrixXd dense;
};

/// An operator column by column.
Eigen::MatrixXd columns_of(const HostOperator& op) {
  const auto n = static_cast<Eigen::Index>(op.unknowns());
  Eigen::MatrixXd m(n, n);
  std::vector<double> in(op.unknowns()), out(op.unknowns());
  for (Eigen::Index j = 0; j < n; ++j) {
    std::fill(in.begin(), in.end(), 0.0);
    in[static_cast<std::size_t>(j)] = 1;
    op.multiply(in, out);
    for (Eigen::Index i = 0; i < n; ++i) m(i, j) = out[static_cast<std::size_t>(i)];
  }
  return m;
}

/// R_pᵀ D_p (R_p A R_pᵀ)⁻¹ R_p, where D_p is 1, or 1 for what the part owns.
Eigen::MatrixXd part_inverse(const DividedStream& stream, int part, int overlap, bool owned) {
  const Overlap set = with_overlap(full_rows(stream.rows), stream.decomposition->unknowns(part), overlap);
  const auto size = static_cast<Eigen::Index>(set.unknowns.size());
  Eigen::MatrixXd restriction = Eigen::MatrixXd::Zero(size, stream.rows.n), extension = restriction.transpose();
  for (Eigen::Index i = 0; i < size; ++i) {
    const std::int32_t u = set.unknowns[static_cast<std::size_t>(i)];
    restriction(i, u) = 1;
    extension(u, i) = !owned || stream.decomposition->owner(u) == part ? 1 : 0;
  }
  const Eigen::MatrixXd own = restriction * stream.dense * restriction.transpose();
  return extension * testing::inverse_of(own) * restriction;
}

double largest_of(const Eigen::MatrixXd& m) { return m.cwiseAbs().maxCoeff(); }

TEST(UnsymmetricSchwarzOperator, EqualsItsDefinition) {
  const DividedStream stream;
  const Eigen::MatrixXd& a = stream.dense;
  ASSERT_GT(largest_of(a - a.transpose()), 0.05 * largest_of(a));
  for (const int overlap : {0, 1, 2}) {
    const auto operator_of = [&](SchwarzKind kind) {
      SchwarzOperator::Options options;
      options.kind = kind;
      options.overlap = overlap;
      return columns_of(SchwarzOperator(*stream.decomposition, stream.rows, options));
    };
    Eigen::MatrixXd additive = Eigen::MatrixXd::Zero(a.rows(), a.cols()), restricted = additive;
    for (int p = 0; p < 4; ++p) {
      additive += part_inverse(stream, p, overlap, false);
      restricted += part_inverse(stream, p, overlap, true);
    }
    // One part after the other: A M = I − Π (I − A B_p).
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(a.rows(), a.cols());
    Eigen::MatrixXd multiplicative = Eigen::MatrixXd::Zero(a.rows(), a.cols());
    for (const int p : {0, 1, 2, 3, 2, 1, 0})
      multiplicative += part_inverse(stream, p, overlap, false) * (one - a * multiplicative);
    const double size = largest_of(additive);
    EXPECT_LT(largest_of(operator_of(SchwarzKind::additive) - additive), 1e-11 * size) << overlap;
    EXPECT_LT(largest_of(operator_of(SchwarzKind::restricted) - restricted), 1e-11 * size) << overlap;
    EXPECT_LT(largest_of(operator_of(SchwarzKind::multiplicative) - multiplicative), 1e-11 * size) << overlap;
  }
}

TEST(UnsymmetricSchwarzOperator, SolvesExactlyInItsCoarseSpace) {
  const DividedStream stream;
  const Eigen::MatrixXd& a = stream.dense;
  SchwarzOperator::Options options;
  const Eigen::MatrixXd one_level = columns_of(SchwarzOperator(*stream.decomposition, stream.rows, options));
  options.two_levels = true;
  const SchwarzOperator both(*stream.decomposition, stream.rows, options);
  EXPECT_EQ(both.coarse_size(), 4);
  // Q = Z (ZᵀAZ)⁻¹ Zᵀ: Q A Q = Q, the trace of Q A is the number of vectors, and Q is not symmetric, as A is not.
  const Eigen::MatrixXd q = columns_of(both) - one_level;
  EXPECT_LT(largest_of(q * a * q - q), 1e-10 * largest_of(q));
  EXPECT_NEAR((q * a).trace(), 4, 1e-9);
  EXPECT_GT(largest_of(q - q.transpose()), 0.01 * largest_of(q));
  // Multiplicative: what lies in the coarse space is solved exactly, A M A Q = A Q for the residuals A Q.
  options.kind = SchwarzKind::multiplicative;
  const Eigen::MatrixXd m = columns_of(SchwarzOperator(*stream.decomposition, stream.rows, options));
  EXPECT_LT(largest_of(m * a * q - q), 1e-10 * largest_of(q));
}

TEST(UnsymmetricSchwarzOperator, CoarseVectorsThatDependOnOthersAreLeftOut) {
  const DividedStream stream;
  const FullRows rows = full_rows(stream.rows);
  CoarseSpace once, twice;
  std::vector<std::int32_t> unknowns;
  std::vector<double> ones;
  for (int half = 0; half < 2; ++half) {
    unknowns.clear();
    for (std::int32_t u = half; u < rows.size(); u += 2) unknowns.push_back(u);
    ones.assign(unknowns.size(), half + 1.0);
    once.add(unknowns, ones);
    twice.add(unknowns, ones);
    for (double& value : ones) value *= 3;
    twice.add(unknowns, ones);
  }
  once.set_up_unsymmetric(rows);
  twice.set_up_unsymmetric(rows);
  EXPECT_EQ(once.size(), 2);
  EXPECT_EQ(twice.size(), 2);
  std::vector<double> r, z1(static_cast<std::size_t>(rows.size()), 0.0), z2 = z1;
  for (std::int32_t i = 0; i < rows.size(); ++i) r.push_back(i % 5 - 1.5);
  once.correct(r, z1);
  twice.correct(r, z2);
  for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(z1[i], z2[i], 1e-12 * (1 + std::abs(z1[i])));
  EXPECT_NE(z1[0], 0);
}

TEST(UnsymmetricSchwarzOperator, RefusesWhatNeedsSymmetry) {
  const DividedStream stream;
  SchwarzOperator::Options options;
  options.part_solver = "cg+amg";
  expect_error(ErrorCode::bad_input, {"part solver 'cg+amg'", "not symmetric", "use direct"},
               [&] { SchwarzOperator(*stream.decomposition, stream.rows, options); });
  options.part_solver = "direct";
  options.two_levels = true;
  options.coarse = "geneo";
  expect_error(ErrorCode::bad_input, {"geneo", "not symmetric", "coarse=rigid"},
               [&] { SchwarzOperator(*stream.decomposition, stream.rows, options); });
}

TEST(FullRowsOfGeneralMatrices, HaveASymmetricPattern) {
  // (1 2 0; 0 3 4; 5 0 6)
  const GeneralCsr matrix{3, {0, 2, 4, 6}, {0, 1, 1, 2, 0, 2}, {1, 2, 3, 4, 5, 6}};
  const FullRows rows = full_rows(matrix);
  EXPECT_EQ(rows.row_start, (std::vector<std::int64_t>{0, 3, 6, 9}));
  EXPECT_EQ(rows.column, (std::vector<std::int32_t>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(rows.value, (std::vector<double>{1, 2, 0, 0, 3, 4, 5, 0, 6}));
  EXPECT_EQ(transposed(rows).value, (std::vector<double>{1, 0, 5, 2, 3, 0, 0, 4, 6}));
  const std::vector<std::int32_t> ends{0, 2};
  const GeneralCsr part = submatrix(rows, ends);
  EXPECT_EQ(part.n, 2);
  EXPECT_EQ(part.column, (std::vector<std::int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(part.value, (std::vector<double>{1, 0, 5, 6}));
}

}  // namespace
}  // namespace voussoir
