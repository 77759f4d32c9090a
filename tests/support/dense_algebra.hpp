#pragma once
#include <Eigen/Core>

// Dense algebra of the tests. Compiled once: Eigen's decompositions take seconds in every file that mentions them.

namespace voussoir::testing {

/// Of a symmetric matrix, ascending.
Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& a);
/// λ of A x = λ B x with A symmetric and B positive definite, ascending.
Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// Of M A with A symmetric and M positive definite, which are real, ascending. A test fails where M is not.
Eigen::VectorXd preconditioned_eigenvalues(const Eigen::MatrixXd& m, const Eigen::MatrixXd& a);

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a);
/// A⁻¹ b with A symmetric.
Eigen::VectorXd symmetric_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace voussoir::testing
