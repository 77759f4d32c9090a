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

/// The iteration of LOBPCG: Ritz vectors X, their last changes P, and residuals W to which a preconditioner was
/// applied.
///
/// B = [X P] is M-orthonormal at all times: P is orthogonalised in the coefficients of the Rayleigh–Ritz step (U.
/// Hetmaniuk, R. Lehoucq: Basis selection in LOBPCG, J. Comput. Phys. 218, 2006). So is W, wherever it is far enough
/// from dependent: (W − B C) U is never formed, only its coefficients C and U, and what the products of W say of it.
/// Residuals are those of fresh products with K and M; no products are carried along.
class LobpcgIteration {
 public:
  using Preconditioner = std::function<Vector(const Vector&)>;

  /// Proposes vectors to begin with: as many as it is asked for, or a Vector without a layout.
  using Start = std::function<Vector(int columns)>;

  /// Begins with what `start` proposes and some noise, or with noise alone; the preconditioner is applied to it once,
  /// which leaves mostly low modes. `columns` is rounded up to a multiple of four: products of blocks are fastest for
  /// these.
  LobpcgIteration(const SpectralSearch& search, Preconditioner preconditioner, const Start& start, int columns);

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
  /// Orthonormalises X and P, without the rounding errors of many combinations.
  void renew();

 private:
  /// New directions W' = (W − B overlap) factors, M-orthonormal and M-orthogonal to the basis B.
  struct Directions {
    Vector w;                 ///< no layout where there are none
    Eigen::MatrixXd overlap;  ///< Bᵀ M W
    Eigen::MatrixXd factors;
    int count() const { return w.layout() ? static_cast<int>(factors.cols()) : 0; }
  };

  /// Vectors to which the preconditioner is applied to begin with.
  Vector start_vectors(const Start& start, int columns) const;
  /// Columns to be improved: those above the tolerance, and some others to make a multiple of four.
  std::vector<int> chosen_columns() const;
  /// Takes off what a block shares with the vectors that are deflated.
  void deflate(Vector& w) const;
  Directions directions(Vector w);
  /// The same for vectors that are nearly dependent: W' is formed.
  Directions formed_directions(const Vector& w, const Eigen::MatrixXd& gram) const;
  /// The stiffness in the basis [B W'].
  Eigen::MatrixXd projected_stiffness(const Directions& d);
  /// The coefficients of new Ritz vectors and of P in the basis.
  Eigen::MatrixXd coefficients(const Eigen::MatrixXd& ritz, const std::vector<int>& chosen) const;
  void combine(const Directions& d, const Eigen::MatrixXd& c);

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
  Vector basis_;                         // X, then P; no layout where there are none
  Eigen::MatrixXd stiffness_;            // Bᵀ K B
  std::vector<double> values_;
  Vector rest_;  // K X − M X Λ
  std::vector<double> residuals_;
  double tolerance_ = 0;
  std::vector<StageTime> times_;
  std::int64_t applications_ = 0;
  bool exhausted_ = false;
};

}  // namespace voussoir::detail
