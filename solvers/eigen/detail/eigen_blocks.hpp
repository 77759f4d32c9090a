#pragma once
#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/framework/analysis/eigen_problem.hpp>

namespace voussoir::detail {

/// What the eigen-solvers do with blocks of vectors, on the backend of a problem. Only small dense matrices are on the
/// host.
class EigenBlocks {
 public:
  explicit EigenBlocks(const EigenProblem& problem) : problem_(problem), backend_(problem.backend()) {}

  const EigenProblem& problem() const { return problem_; }
  Backend& backend() const { return backend_; }

  Vector make(int columns) const { return problem_.model().make_vector(columns); }
  /// Columns of numbers between −1 and 1 at the free equations: the same for the same seed, on every backend.
  Vector random(int columns, std::uint64_t seed) const;
  Vector stiffness(const Vector& x) const;                                ///< K X
  Vector mass(const Vector& x) const;                                     ///< M X
  Eigen::MatrixXd dot(const Vector& x, const Vector& y) const;            ///< Xᵀ Y
  Eigen::MatrixXd symmetric_dot(const Vector& x, const Vector& y) const;  ///< its symmetric part
  /// XᵀKX, for which K X need not be formed.
  Eigen::MatrixXd projected_stiffness(const Vector& x) const;
  void add(const Vector& x, const Eigen::MatrixXd& c, Vector& y) const;  ///< Y += X C
  Vector combined(const Vector& x, const Eigen::MatrixXd& c) const;      ///< X C
  Vector columns(const Vector& x, int from, int count) const;            ///< some columns of X
  Vector columns(const Vector& x, std::span<const int> which) const;     ///< some columns of X, in that order
  /// All columns side by side; vectors without a layout have none.
  Vector joined(std::span<const Vector* const> blocks) const;

  /// X −= V (Vᵀ M X) for each block V, all from the same M X.
  void project_out(std::span<const Vector* const> blocks, Vector& x) const;
  /// An M-orthonormal basis of what X adds to the blocks, which are M-orthonormal themselves. Directions that add
  /// nothing but rounding errors are left out; a Vector without a layout where all are.
  ///
  /// The factor of XᵀMX is its spectral one rather than Cholesky's: as cheap for small blocks, and it shows which
  /// directions are lost in rounding. Those are orthogonalised again by themselves (A. Stathopoulos, K. Wu: A block
  /// orthogonalization procedure with constant synchronization requirements, SIAM J. Sci. Comput. 23, 2002). Everything
  /// is done twice.
  Vector orthonormal(Vector x, std::span<const Vector* const> blocks) const;
  /// Which columns of X, that all have xᵀMx = 1, have a mass beyond rounding errors.
  std::vector<int> columns_with_mass(const Vector& x) const;

 private:
  /// XᵀMX before and after a projection.
  struct Projected {
    Eigen::MatrixXd before, after;
  };
  Projected project(std::span<const Vector* const> blocks, Vector& x) const;
  /// The columns of X that columns_with_mass() names.
  Vector with_mass(Vector x) const;

  const EigenProblem& problem_;
  Backend& backend_;
};

/// Vectors with their eigenvalues.
struct RitzPairs {
  Vector vectors;              ///< no layout where there are none
  std::vector<double> values;  ///< ascending
  int count() const { return static_cast<int>(values.size()); }
};

/// The best approximations of modes in the span of M-orthonormal columns.
RitzPairs rayleigh_ritz(const EigenBlocks& blocks, const Vector& x);

/// ‖Kx − λMx‖ / ‖Kx‖ of each column; 0 where it is no more than rounding errors of Kx.
/// `residual` receives Kx − λMx.
std::vector<double> relative_residuals(const EigenBlocks& blocks, const RitzPairs& pairs, Vector* residual = nullptr);
/// The same where K X and M X are known.
std::vector<double> relative_residuals(const EigenBlocks& blocks, const RitzPairs& pairs, Vector kx, Vector mx,
                                       Vector* residual);

}  // namespace voussoir::detail
