#pragma once
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {

/// Gaussian elimination on the host. A BandSOE is factorised within its band, a ProfileSOE under its skyline, any other
/// stored matrix by a sparse method (MUMPS where it is built in). Factorises once per matrix and solves all columns at
/// once. A singular matrix is reported with its free motions, whichever the storage: small pivots are followed up by
/// the energies of their motions (see Factorization), so a stiff part on a weak spring counts as restrained. Solutions
/// are judged by check_solution(). Errors name nodes and unknowns. The matrix of a model that is not symmetric is
/// factorised whole (LU, by MUMPS or Eigen).
///
/// Where options.threads is 0, the threads are those of the backend. The same number of threads gives the same bits;
/// MUMPS calls a threaded BLAS and may round differently with another number.
class DirectSolver : public Solver {
 public:
  explicit DirectSolver(DirectMethod method = DirectMethod::automatic, const DirectOptions& options = {});
  ~DirectSolver() override;
  std::string name() const override;
  SolveReport solve(LinearSOE& soe) override;
  bool finds_mechanisms() const override { return true; }

 private:
  struct Kept;  // the factor, of whichever kind
  void factorise(const LinearSOE& soe);

  DirectMethod method_;
  DirectOptions options_;
  std::unique_ptr<Kept> kept_;
};

}  // namespace voussoir
