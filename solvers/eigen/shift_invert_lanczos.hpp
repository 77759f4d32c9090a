#pragma once
#include <voussoir/solvers/eigen/search_solver.hpp>

namespace voussoir {

/// Lanczos' method for (K − σM)⁻¹ M, in blocks, with full re-orthogonalisation in M and thick restarts (K. Wu, H.
/// Simon, SIAM J. Matrix Anal. Appl. 22, 2000). The method of choice where a factor fits in memory.
class ShiftInvertLanczos : public SearchSolver {
 public:
  std::string name() const override { return "lanczos"; }

 protected:
  bool works_inside() const override { return true; }
  detail::SearchResult search(const detail::SpectralSearch& search) const override;
};

}  // namespace voussoir
