#pragma once
#include <voussoir/solvers/eigen/search_solver.hpp>

namespace voussoir {

/// Subspace iteration (K.-J. Bathe, Finite Element Procedures, 11.6): a block of vectors is multiplied by (K − σM)⁻¹ M
/// and solved for its Ritz vectors, again and again. Starting vectors and the size of the block are Bathe's; modes that
/// have converged are locked. Slower than Lanczos' method, and simple.
class SubspaceIteration : public SearchSolver {
 public:
  std::string name() const override { return "subspace"; }

 protected:
  detail::SearchResult search(const detail::SpectralSearch& search) const override;
};

}  // namespace voussoir
