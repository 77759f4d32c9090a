#pragma once
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {

/// Direct solution on the host. A BandSOE is factorised within its band, a ProfileSOE under its skyline, any other
/// stored matrix by a sparse method (MUMPS if it is built in). The matrix is factorised once, and all columns are
/// solved together. A singular matrix is reported with its free motions for every storage: small pivots are confirmed
/// by the energies of their motions (see Factorization), so that a stiff part on a weak spring counts as restrained.
/// Solutions are checked by check_solution(). Errors name nodes and unknowns. An unsymmetric matrix is factorised by LU
/// (MUMPS or Eigen).
///
/// If options.threads is 0, the number of threads is that of the backend. The same number of threads gives the same
/// bits; MUMPS calls a threaded BLAS and may round differently with another number.
class DirectSolver : public Solver {
 public:
  /// A method that this build lacks is an Error (unavailable) at the first solve().
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
