#pragma once
#include <memory>

#include <voussoir/solvers/preconditioners/preconditioner.hpp>

namespace voussoir {

/// Preconditioned conjugate gradients on the backend, on every SOE. For symmetric positive definite systems, which
/// properly constrained models have.
class CgSolver : public Solver {
 public:
  /// Tolerances and limits of the iteration.
  struct Options {
    /// Of the true residual ‖b − A x‖ / ‖b‖ of each body (Bodies) and each column. Where rounding of A x does not let
    /// it be reached, the limit set by rounding counts as converged, and the report says so.
    double relative_tolerance = 1e-8;
    int max_iterations = 50000;
    /// Whether a free motion that kept the iteration from converging is searched for by further iterations, which may
    /// take longer than those before. What the last iterate shows is reported in any case.
    bool search_free_motions = true;
  };
  /// A null preconditioner means none.
  explicit CgSolver(std::shared_ptr<Preconditioner> preconditioner = std::make_shared<BlockJacobiPreconditioner>());
  CgSolver(std::shared_ptr<Preconditioner> preconditioner, const Options& options);  ///< with tolerances of one's own
  ~CgSolver() override;

  std::string name() const override { return "cg" + (preconditioner_ ? "+" + preconditioner_->name() : std::string()); }
  SolveReport solve(LinearSOE& soe) override;
  Options& options() { return options_; }

 private:
  struct Block;
  struct Memory;

  std::shared_ptr<Preconditioner> preconditioner_;
  Options options_;
  std::unique_ptr<Memory> memory_;  // of the matrix that the preconditioner is ready for
};

}  // namespace voussoir
