#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/eigen_solver.hpp>
#include <voussoir/solvers/eigen/detail/eigen_blocks.hpp>
#include <voussoir/solvers/eigen/detail/shifted_factor.hpp>

namespace voussoir::detail {

/// What a method that factorises K − σM is to look for: the modes nearest to σ that are M-orthogonal to others.
struct SpectralSearch {
  const EigenBlocks& blocks;
  ShiftedFactor* factor;                  ///< factorised for σ; null for a method that does not factorise
  const EigenRequest& request;            ///< tolerance, limits, progress
  std::vector<const Vector*> deflated;    ///< M-orthonormal: motions without stiffness, modes found before
  int want = 1;                           ///< number of modes
  std::uint64_t seed = 1;                 ///< of the starting vectors
  int first_iteration = 0;                ///< done by earlier searches, for reports of progress
  std::shared_ptr<void>* kept = nullptr;  ///< what a method keeps for the next search of the same run, such as a
                                          ///< preconditioner

  /// (K − σM)⁻¹ M X without what is deflated.
  Vector inverse(const Vector& x) const {
    Vector y = blocks.make(x.columns());
    factor->solve(blocks.mass(x), y);
    blocks.project_out(deflated, y);
    return y;
  }
  /// Reports progress; throws Error (cancelled) where the user wants to stop.
  void tell(int iteration, double residual) const {
    if (request.progress && !request.progress(first_iteration + iteration, residual))
      throw Error(ErrorCode::cancelled,
                  "cancelled in iteration " + std::to_string(first_iteration + iteration) + " of the eigen-solver");
  }
};

/// What a search found.
struct SearchResult {
  RitzPairs pairs;  ///< converged, M-orthonormal and M-orthogonal to what was deflated; at least those nearest to σ
  double next = std::numeric_limits<double>::infinity();  ///< estimate of the eigenvalue that follows
  bool converged = false;                                 ///< as many as were wanted, or all that there are
  bool exhausted = false;                                 ///< there are no others
  int iterations = 0;
  std::int64_t applications = 0;  ///< vectors preconditioned
  std::string method;             ///< for reports, where it is more than the name of the solver
  std::vector<StageTime> times;   ///< where the time went, as far as the method says
};

}  // namespace voussoir::detail
