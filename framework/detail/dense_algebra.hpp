#pragma once
#include <Eigen/Core>

// Decompositions and products of small dense matrices. Eigen's templates for them take seconds to compile, so they are
// compiled once, here, and everybody else calls these functions.

namespace voussoir::detail {

/// Eigenvalues, ascending, and eigenvectors, one per column.
struct Spectrum {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
/// Of a symmetric matrix, whose lower triangle is read.
Spectrum spectrum_of(const Eigen::MatrixXd& symmetric);
Eigen::VectorXd eigenvalues_of(const Eigen::MatrixXd& symmetric);

/// Whether all eigenvalues of a symmetric matrix are positive; much faster than the eigenvalues of a large one.
bool is_definite(const Eigen::MatrixXd& symmetric);

/// Number of independent columns; pivots below `threshold` times the largest one count as zero.
Eigen::Index column_rank(const Eigen::MatrixXd& matrix, double threshold);

Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// aᵀ b.
Eigen::MatrixXd transposed_product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// basisᵀ · matrix · basis.
Eigen::MatrixXd congruent(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& basis);

}  // namespace voussoir::detail
