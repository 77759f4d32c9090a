#pragma once
#include <string>

#include <voussoir/solvers/eigen/search_solver.hpp>

namespace voussoir {

/// Locally optimal block preconditioned conjugate gradients (A. Knyazev, SIAM J. Sci. Comput. 23, 2001), for models too
/// large to factorise: the best combinations of the present vectors, their preconditioned residuals and the last
/// changes, over and over. The block has a guard of 28 % more vectors than modes; its basis is orthonormalised in full
/// in every iteration; vectors that have converged stay in the basis but are no longer improved (soft locking). The
/// preconditioner is multigrid, of K or, where parts are free, of K + sM.
class Lobpcg : public SearchSolver {
 public:
  /// `preconditioner`: an entry of preconditioners(), with options after a colon; empty: amg where the backend has
  /// multigrid, else block-jacobi.
  explicit Lobpcg(std::string preconditioner = {}) : preconditioner_(std::move(preconditioner)) {}
  std::string name() const override { return "lobpcg"; }

 protected:
  void check(const EigenProblem& problem) const override;
  bool factorises() const override { return false; }
  detail::SearchResult search(const detail::SpectralSearch& search) const override;

 private:
  std::string preconditioner_;
};

}  // namespace voussoir
