#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/solvers/preconditioners/jacobi.hpp>

namespace voussoir {

/// Base class of Krylov methods for matrices that need not be symmetric: the preconditioner, one column after another,
/// restarts until the true residual has reached the tolerance, and the report. Derived classes implement iterate().
class KrylovSolver : public Solver {
 public:
  /// Tolerances and limits of the iteration.
  struct Options {
    /// Tolerance of the true residual ‖b − A x‖ / ‖b‖ of each body (Bodies) and each column.
    double relative_tolerance = 1e-8;
    int max_iterations = 50000;  ///< largest number of matrix products for each column
    int restart = 60;            ///< number of directions that GMRES keeps before it restarts
  };
  /// A null preconditioner means none.
  KrylovSolver(std::shared_ptr<Preconditioner> preconditioner, const Options& options);
  SolveReport solve(LinearSOE& soe) override;

 protected:
  /// One column of a system, the argument of iterate().
  struct System {
    const LinearSOE& soe;         ///< the system whose matrix is A
    const Operator* inverse;      ///< the preconditioner M; null for none
    const Vector& b;              ///< right-hand side
    Vector& x;                    ///< starting vector and solution
    double target;                ///< the iteration may stop when ‖b − A x‖ is below this
    double size;                  ///< ‖b‖
    int limit;                    ///< largest number of matrix products in this call
    int done_before;              ///< matrix products of earlier calls for this column
    std::vector<double> history;  ///< ‖r‖ / ‖b‖ after each step
    int products = 0;             ///< matrix products in this call
    std::vector<Vector> changes;  ///< kept between calls for this column: the last changes of x, the latest first
    /// z = M r, or z = r without a preconditioner.
    void precondition(const Vector& r, Vector& z) const;
    /// r = b − A x; counts as a product. Returns ‖r‖.
    double residual(Vector& r);
  };
  /// Why an iteration ended.
  enum class Stop {
    target,      ///< the residual is below the target
    limit,       ///< the limit of products was reached
    stalled,     ///< the method cannot continue from here, but a restart may help
    not_finite,  ///< a NaN or an infinity appeared
    cancelled    ///< the user stopped the solve
  };
  /// Iterates from the present x until one of the reasons to stop applies.
  virtual Stop iterate(System& system) = 0;
  /// Reports an iteration to the solver's progress function; returns false if the user wants to stop.
  bool tell(const System& system, double residual) const;

  std::shared_ptr<Preconditioner> preconditioner_;  ///< null for none
  Options options_;                                 ///< tolerances and limits

 private:
  ColumnReport solve_column(LinearSOE& soe, int column);

  const LinearSOE* ready_for_ = nullptr;  // what the preconditioner was set up for
  std::uint64_t version_ = 0;
};

/// Restarted GMRES with right preconditioning (Saad and Schultz 1986): each step minimises the residual over all
/// directions since the last restart, and over the changes of x by the last restarts, without which restarts repeat
/// each other (LGMRES; A. H. Baker, E. R. Jessup, T. Manteuffel: A technique for accelerating the convergence of
/// restarted GMRES. SIAM J. Matrix Anal. Appl. 26 (2005)). Vectors are orthogonalised twice, in blocks.
class GmresSolver : public KrylovSolver {
 public:
  /// A null preconditioner means none.
  explicit GmresSolver(std::shared_ptr<Preconditioner> preconditioner = std::make_shared<BlockJacobiPreconditioner>(),
                       const Options& options = {});
  std::string name() const override {
    return "gmres" + (preconditioner_ ? "+" + preconditioner_->name() : std::string());
  }

 protected:
  Stop iterate(System& system) override;
};

/// BiCGSTAB with right preconditioning (van der Vorst 1992): two products per step and little memory, but the residual
/// is not minimised as by GMRES.
class BicgstabSolver : public KrylovSolver {
 public:
  /// A null preconditioner means none.
  explicit BicgstabSolver(
      std::shared_ptr<Preconditioner> preconditioner = std::make_shared<BlockJacobiPreconditioner>(),
      const Options& options = {});
  std::string name() const override {
    return "bicgstab" + (preconditioner_ ? "+" + preconditioner_->name() : std::string());
  }

 protected:
  Stop iterate(System& system) override;
};

}  // namespace voussoir
