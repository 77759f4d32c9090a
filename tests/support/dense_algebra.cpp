#include "support/dense_algebra.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace voussoir::testing {

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& a) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(a, b, Eigen::EigenvaluesOnly).eigenvalues();
}

// M A has the eigenvalues of Lᵀ A L with M = L Lᵀ.
Eigen::VectorXd preconditioned_eigenvalues(const Eigen::MatrixXd& m, const Eigen::MatrixXd& a) {
  const Eigen::LLT<Eigen::MatrixXd> factors(m);
  EXPECT_EQ(factors.info(), Eigen::Success) << "not positive definite";
  const Eigen::MatrixXd l = factors.matrixL();
  return symmetric_eigenvalues(l.transpose() * a * l);
}

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a) { return a.inverse(); }

Eigen::VectorXd symmetric_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) { return a.ldlt().solve(b); }

}  // namespace voussoir::testing
