#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/preconditioners/chebyshev.hpp>
#include <voussoir/solvers/preconditioners/fsai.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>

#include "solver_models.hpp"
#include "support/dense_algebra.hpp"
#include "support/expect_error.hpp"

namespace voussoir::test {
namespace {

using testing::expect_error;
using testing::inverse_of;
using testing::preconditioned_eigenvalues;
using testing::symmetric_eigenvalues;
using testing::symmetric_solution;

void expect_near(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double tolerance) {
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), tolerance * b.cwiseAbs().maxCoeff());
}

struct Preconditioned : ::testing::Test {
  Preconditioned() {
    add_bar(d);
    system = std::make_unique<System>(d, "bsr");
    a = system->dense();
  }
  Eigen::MatrixXd inverse(Preconditioner& p) {
    p.set_up(*system->soe);
    return system->dense(*p.inverse());
  }
  Domain d;
  std::unique_ptr<System> system;
  Eigen::MatrixXd a;
};

TEST_F(Preconditioned, AllAreSymmetricAndPositiveDefinite) {
  JacobiPreconditioner jacobi;
  BlockJacobiPreconditioner block;
  ChebyshevPreconditioner chebyshev, chebyshev7(7, 50);
  FsaiPreconditioner fsai, sparse(0.1);
  const Eigen::VectorXd plain = symmetric_eigenvalues(a);
  const double condition = plain.maxCoeff() / plain.minCoeff();
  for (Preconditioner* p :
       std::initializer_list<Preconditioner*>{&jacobi, &block, &chebyshev, &chebyshev7, &fsai, &sparse}) {
    SCOPED_TRACE(p->name());
    const Eigen::MatrixXd m = inverse(*p);
    expect_near(m, m.transpose(), 1e-12);
    // Positive, and nearer to each other than those of A.
    const Eigen::VectorXd values = preconditioned_eigenvalues(m, a);
    EXPECT_GT(values.minCoeff(), 0);
    EXPECT_LT(values.maxCoeff() / values.minCoeff(), condition);
    EXPECT_GT(p->bytes(), 0u);
  }
}

TEST_F(Preconditioned, JacobiIsTheInverseDiagonal) {
  JacobiPreconditioner jacobi;
  expect_near(inverse(jacobi), a.diagonal().cwiseInverse().asDiagonal().toDenseMatrix(), 1e-14);
}

TEST_F(Preconditioned, BlockJacobiInvertsTheBlocksOfNodes) {
  BlockJacobiPreconditioner block;
  Eigen::MatrixXd blocks = Eigen::MatrixXd::Zero(a.rows(), a.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index j = 0; j < a.cols(); ++j)
      if (system->free[i] / 3 == system->free[j] / 3) blocks(i, j) = a(i, j);
  expect_near(inverse(block), inverse_of(blocks), 1e-12);
}

/// Row i of G solves A(J, J) y = e_i on the pattern J of row i of the lower triangle (Kolotilina and Yeremin 1993).
Eigen::MatrixXd fsai_factor(const Eigen::MatrixXd& a, double drop) {
  Eigen::MatrixXd g = Eigen::MatrixXd::Zero(a.rows(), a.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    std::vector<Eigen::Index> pattern;
    for (Eigen::Index j = 0; j <= i; ++j)
      if (i == j || (a(i, j) != 0 && a(i, j) * a(i, j) >= drop * drop * a(i, i) * a(j, j))) pattern.push_back(j);
    const Eigen::MatrixXd small = a(pattern, pattern);
    Eigen::VectorXd unit = Eigen::VectorXd::Zero(small.rows());
    unit[small.rows() - 1] = 1;
    const Eigen::VectorXd y = symmetric_solution(small, unit);
    for (std::size_t k = 0; k < pattern.size(); ++k) g(i, pattern[k]) = y[k] / std::sqrt(y[y.size() - 1]);
  }
  return g;
}

TEST_F(Preconditioned, FsaiIsTheFactorisedInverseOnItsPattern) {
  for (const double drop : {0.0, 0.1}) {
    FsaiPreconditioner fsai(drop);
    const Eigen::MatrixXd g = fsai_factor(a, drop);
    expect_near((g * a * g.transpose()).diagonal(), Eigen::VectorXd::Ones(a.rows()), 1e-12);
    expect_near(inverse(fsai), g.transpose() * g, 1e-10);
  }
}

TEST(Fsai, IsTheInverseWhereThePatternIsFull) {
  // In a single brick every node meets every other: the pattern leaves nothing out, and CG ends at once.
  Domain d;
  add_box_mesh(d, BoxMesh()).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3));
  d.prescribe("xmin", "all");
  d.add_load_case("pull").traction("xmax", {1, 2, 3});
  System system(d, "csr");
  FsaiPreconditioner fsai;
  fsai.set_up(*system.soe);
  expect_near(system.dense(*fsai.inverse()), inverse_of(system.dense()), 1e-10);
  const SolveReport report = CgSolver(std::make_shared<FsaiPreconditioner>()).solve(*system.soe);
  EXPECT_EQ(report.iterations, 1);
}

TEST_F(Preconditioned, ChebyshevIsItsPolynomial) {
  // What a Chebyshev iteration of k steps leaves of the error is T_k((c − t)/h) / T_k(c/h) of the matrix D⁻¹A, with c
  // the middle and h half the length of its interval. One step is D⁻¹/c, which tells c.
  BlockJacobiPreconditioner diagonal;
  const Eigen::MatrixXd scaled = inverse(diagonal) * a;
  constexpr double ratio = 20;
  ChebyshevPreconditioner one(1, ratio);
  const Eigen::MatrixXd first = inverse(one);
  const double c = inverse(diagonal)(0, 0) / first(0, 0);
  expect_near(first * c, inverse(diagonal), 1e-12);
  const double high = 2 * c / (1 + 1 / ratio), h = (high - high / ratio) / 2;

  const double largest = preconditioned_eigenvalues(inverse(diagonal), a).maxCoeff();
  EXPECT_GE(high, largest);
  EXPECT_LE(high, 1.1 * largest * (1 + 1e-9));  // an estimate from below, times 1.1

  const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(a.rows(), a.cols()), t = (c * unit - scaled) / h;
  for (const int degree : {2, 4, 7}) {
    Eigen::MatrixXd before = unit, now = t;
    for (int k = 1; k < degree; ++k) {
      const Eigen::MatrixXd next = 2 * t * now - before;
      before = now;
      now = next;
    }
    ChebyshevPreconditioner p(degree, ratio);
    expect_near(unit - inverse(p) * a, now / std::cosh(degree * std::acosh(c / h)), 1e-9);
  }
  expect_error(ErrorCode::misuse, {"degree"}, [&] { ChebyshevPreconditioner(0).set_up(*system->soe); });
  expect_error(ErrorCode::misuse, {"ratio"}, [&] { ChebyshevPreconditioner(3, 1.0).set_up(*system->soe); });
}

TEST_F(Preconditioned, AreTheSameOnEveryStorage) {
  for (const char* storage : {"csr", "element", "element-scatter", "point", "matrix-free"}) {
    SCOPED_TRACE(storage);
    System other(d, storage);
    BlockJacobiPreconditioner block;
    ChebyshevPreconditioner chebyshev;
    for (Preconditioner* p : std::initializer_list<Preconditioner*>{&block, &chebyshev}) {
      const Eigen::MatrixXd stored = inverse(*p);
      p->set_up(*other.soe);
      expect_near(other.dense(*p->inverse()), stored, 1e-10);
    }
  }
}

TEST_F(Preconditioned, FsaiNeedsAStoredMatrix) {
  System other(d, "matrix-free");
  FsaiPreconditioner fsai;
  expect_error(ErrorCode::misuse, {"fsai", "matrix-free", "csr or bsr"}, [&] { fsai.set_up(*other.soe); });
}

TEST_F(Preconditioned, BetterOnesNeedFewerIterations) {
  const auto iterations = [&](std::shared_ptr<Preconditioner> p) {
    system->model.backend().fill(system->soe->x(), 0);
    return CgSolver(std::move(p)).solve(*system->soe).iterations;
  };
  const int none = iterations(nullptr), jacobi = iterations(std::make_shared<JacobiPreconditioner>()),
            chebyshev = iterations(std::make_shared<ChebyshevPreconditioner>()),
            fsai = iterations(std::make_shared<FsaiPreconditioner>());
  EXPECT_LT(jacobi, none);
  EXPECT_LT(fsai, jacobi / 2 + 2);  // measured: about half
  EXPECT_LT(chebyshev, jacobi / 2 + 2);
}

}  // namespace
}  // namespace voussoir::test
