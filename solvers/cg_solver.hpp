#pragma once
#include <memory>

#include <voussoir/solvers/preconditioners/jacobi.hpp>

namespace voussoir {

/// Preconditioned conjugate gradients on the backend, for any SOE. The matrix must be symmetric and positive definite,
/// as that of a properly constrained model is.
class CgSolver : public Solver {
 public:
  /// Tolerances and limits of the iteration.
  struct Options {
    /// Tolerance of the true residual ‖b − A x‖ / ‖b‖ of each body (Bodies) and each column. If rounding of A x does
    /// not allow it to be reached, the solution counts as converged at the limit set by rounding, and the report says
    /// so.
    double relative_tolerance = 1e-8;
    int max_iterations = 50000;  ///< number of iterations after which a column stops unconverged
    /// Whether, after an iteration that did not converge, a free motion is searched for by further iterations, which
    /// may take longer than the solve. A free motion visible in the last iterate is reported in any case.
    bool search_free_motions = true;
    /// Reductions (sums over all devices) that each iteration waits for: 2, or 1 with one_reduction_cg(). With 1, a
    /// preconditioner that varies between iterations is an Error (bad_input). Several right-hand sides that are solved
    /// together share their sums and always use the iteration with 2.
    int reductions = 2;
  };
  /// A null preconditioner means none.
  explicit CgSolver(std::shared_ptr<Preconditioner> preconditioner = std::make_shared<BlockJacobiPreconditioner>());
  /// With other options; invalid values are an Error (misuse). A null preconditioner means none.
  CgSolver(std::shared_ptr<Preconditioner> preconditioner, const Options& options);
  ~CgSolver() override;

  std::string name() const override;
  SolveReport solve(LinearSOE& soe) override;
  Options& options() { return options_; }  ///< tolerances and limits; changes apply from the next solve()

 private:
  struct Block;
  struct Memory;

  std::shared_ptr<Preconditioner> preconditioner_;
  Options options_;
  std::unique_ptr<Memory> memory_;  // of the matrix that the preconditioner is ready for
};

}  // namespace voussoir
