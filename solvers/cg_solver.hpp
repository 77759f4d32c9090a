#pragma once
#include <memory>

#include <voussoir/solvers/preconditioners/preconditioner.hpp>

namespace voussoir {

/// Preconditioned conjugate gradients on the backend, on every SOE. For symmetric positive definite systems, which
/// models that are held have.
class CgSolver : public Solver {
 public:
  struct Options {
    /// Of the true residual ‖b − A x‖ / ‖b‖. Where rounding of A x does not let it be reached, what rounding leaves counts
    /// as converged; the report has the true one.
    double relative_tolerance = 1e-8;
    int max_iterations = 50000;
  };
  /// A null preconditioner means none.
  explicit CgSolver(std::shared_ptr<Preconditioner> preconditioner = std::make_shared<BlockJacobiPreconditioner>())
      : CgSolver(std::move(preconditioner), Options()) {}
  CgSolver(std::shared_ptr<Preconditioner> preconditioner, const Options& options)
      : preconditioner_(std::move(preconditioner)), options_(options) {}

  std::string name() const override { return "cg" + (preconditioner_ ? "+" + preconditioner_->name() : std::string()); }
  SolveReport solve(LinearSOE& soe) override;

 private:
  std::shared_ptr<Preconditioner> preconditioner_;
  Options options_;
  const LinearSOE* soe_ = nullptr;  // the matrix that the preconditioner is ready for
  std::uint64_t version_ = 0;
};

}  // namespace voussoir
