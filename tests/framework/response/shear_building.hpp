#pragma once
#include <Eigen/Dense>
#include <cmath>
#include <vector>

namespace voussoir::testing {

/// A building of equal storeys, fixed at its base, with one displacement per storey.
struct ShearBuilding {
  int storeys;
  double mass, stiffness;
  Eigen::MatrixXd k, modes;  ///< modes are M-orthonormal, one per column
  std::vector<double> omegas;

  ShearBuilding(int n, double m, double s) : storeys(n), mass(m), stiffness(s), k(Eigen::MatrixXd::Zero(n, n)) {
    for (int i = 0; i < n; ++i) {
      k(i, i) = i + 1 < n ? 2 * s : s;
      if (i + 1 < n) k(i, i + 1) = k(i + 1, i) = -s;
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(k / m);
    modes = solver.eigenvectors() / std::sqrt(m);
    for (int i = 0; i < n; ++i) omegas.push_back(std::sqrt(solver.eigenvalues()(i)));
  }

  /// φᵀ f of the first `count` modes.
  std::vector<double> modal(const Eigen::VectorXd& load, int count) const {
    const Eigen::VectorXd p = modes.leftCols(count).transpose() * load;
    return {p.data(), p.data() + count};
  }
  /// φᵀ M 1.
  std::vector<double> participation(int count) const { return modal(Eigen::VectorXd::Constant(storeys, mass), count); }
  /// The displacements of the first `count` modes, mode by mode.
  std::vector<double> shapes(int count) const { return {modes.data(), modes.data() + count * storeys}; }
};

}  // namespace voussoir::testing
