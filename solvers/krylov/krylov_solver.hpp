#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/solvers/preconditioners/preconditioner.hpp>

namespace voussoir {

/// What iterations for matrices that need not be symmetric have in common: the preconditioner, columns one after
/// another, restarts until the true residual has reached the tolerance, and the report. Derive and write iterate().
class KrylovSolver : public Solver {
 public:
  /// Tolerances and limits of the iteration.
  struct Options {
    double relative_tolerance = 1e-8;  ///< of the true residual ‖b − A x‖ / ‖b‖ of each body (Bodies) and each column
    int max_iterations = 50000;  ///< products with the matrix, for each column
    int restart = 60;            ///< GMRES: directions that are kept before it starts again from x
  };
  /// A null preconditioner means none.
  KrylovSolver(std::shared_ptr<Preconditioner> preconditioner, const Options& options);
  SolveReport solve(LinearSOE& soe) override;

 protected:
  /// One column of a system, as iterate() sees it.
  struct System {
    const LinearSOE& soe;         ///< that has the matrix
    const Operator* inverse;      ///< z = M r; null: the identity
    const Vector& b;              ///< right-hand side
    Vector& x;                    ///< start and solution
    double target;                ///< the iteration may stop when ‖b − A x‖ is below
    double size;                  ///< ‖b‖
    int limit;                    ///< products with the matrix
    int done_before;              ///< products of earlier calls for this column
    std::vector<double> history;  ///< ‖r‖ / ‖b‖, step by step
    int products = 0;             ///< that were made
    /// z = M r.
    void precondition(const Vector& r, Vector& z) const;
    /// r = b − A x; counts a product.
    double residual(Vector& r);
  };
  /// Why an iteration ended before it reached its target.
  enum class Stop { target, limit, stalled, not_finite, cancelled };
  /// Improves x from where it is. `stalled`: it cannot go on from here, though starting again may help.
  virtual Stop iterate(System& system) = 0;
  /// Tells `progress` about an iteration; false: the user wants to stop.
  bool tell(const System& system, double residual) const;

  std::shared_ptr<Preconditioner> preconditioner_;  ///< null: none
  Options options_;                                 ///< as given

 private:
  ColumnReport solve_column(LinearSOE& soe, int column);

  const LinearSOE* ready_for_ = nullptr;  // what the preconditioner was set up for
  std::uint64_t version_ = 0;
};

/// Restarted GMRES, preconditioned from the right (Saad and Schultz 1986): each step minimises the residual over all
/// directions since the last restart. Vectors are made orthogonal twice, in blocks.
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

/// BiCGSTAB, preconditioned from the right (van der Vorst 1992): two products and few vectors per step, without the
/// minimum that GMRES finds.
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
