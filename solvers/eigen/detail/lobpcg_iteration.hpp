#pragma once
#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/analysis.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/eigen/detail/spectral_search.hpp>

namespace voussoir::detail {

/// A block of vectors with its products. Combinations of vectors combine the products, too, so that only new directions
/// are multiplied by the matrices.
struct ImagedBlock {
  Vector x;                                                   ///< no layout where there are none
  Vector k;                                                   ///< K X
  Vector m;                                                   ///< M X
  int count() const { return x.layout() ? x.columns() : 0; }  ///< number of columns
};

/// The iteration of LOBPCG: Ritz vectors X, their last changes P, and residuals W to which a preconditioner was
/// applied.
///
/// The basis [X P W] is M-orthonormal at all times: W is orthogonalised in full, P in the coefficients of the
/// Rayleigh–Ritz step (U. Hetmaniuk, R. Lehoucq: Basis selection in LOBPCG, J. Comput. Phys. 218, 2006). Products of X
/// and P with K and M follow from those of the basis; renew() computes them afresh.
class LobpcgIteration {
 public:
  using Preconditioner = std::function<Vector(const Vector&)>;

  /// Starts with noise to which the preconditioner was applied once, which leaves mostly low modes. `columns` is
  /// rounded up to a multiple of four: products of blocks are fastest for these.
  LobpcgIteration(const SpectralSearch& search, Preconditioner preconditioner, int columns);

  int count() const { return static_cast<int>(values_.size()); }  ///< Ritz vectors
  const std::vector<double>& values() const { return values_; }   ///< ascending
  std::int64_t applications() const { return applications_; }     ///< vectors preconditioned
  bool is_exhausted() const { return exhausted_; }                ///< there is no direction left
  Vector vectors(int number) const;                               ///< the first Ritz vectors
  const std::vector<StageTime>& times() const { return times_; }  ///< where the time went

  /// Residuals of all columns; those above the tolerance will be improved.
  const std::vector<double>& measure(double tolerance);
  /// The best vectors in the span of X, P and preconditioned residuals.
  void improve();
  /// Orthonormalises X and P and computes their products afresh, without the rounding errors of many combinations.
  void renew();

 private:
  /// Columns to be improved: those above the tolerance, and some others to make a multiple of four.
  std::vector<int> chosen_columns() const;
  /// Takes off what a block shares with the basis and what is deflated, where any of it exceeds `negligible`.
  void project_out(ImagedBlock& w, double negligible) const;
  /// As project_out(), for a block that may have much in common with the others.
  void project_out_first(ImagedBlock& w) const;
  ImagedBlock orthonormal(Vector w);
  /// One pass of orthonormalisation of a block that is orthogonal to the others; false where nothing is left.
  bool normalise(ImagedBlock& w) const;
  Eigen::MatrixXd projected_stiffness(const ImagedBlock& w) const;
  /// The coefficients of new Ritz vectors and of P in the basis.
  Eigen::MatrixXd coefficients(const Eigen::MatrixXd& ritz, const std::vector<int>& chosen) const;
  void combine(const ImagedBlock& w, const Eigen::MatrixXd& c);

  template <class Work>
  void timed(const char* stage, Work work) {
    const Stopwatch watch;
    work();
    blocks_.backend().wait();
    for (StageTime& time : times_)
      if (time.stage == stage) {
        time.seconds += watch.seconds();
        return;
      }
    times_.push_back({stage, watch.seconds()});
  }

  const SpectralSearch& search_;
  const EigenBlocks& blocks_;
  Preconditioner preconditioner_;
  std::vector<Vector> deflated_images_;  // M D for each block D that is deflated
  ImagedBlock basis_;                    // X, then P
  std::vector<double> values_;
  Vector rest_;  // K X − M X Λ
  std::vector<double> residuals_;
  double tolerance_ = 0;
  std::vector<StageTime> times_;
  std::int64_t applications_ = 0;
  bool exhausted_ = false;
};

}  // namespace voussoir::detail
