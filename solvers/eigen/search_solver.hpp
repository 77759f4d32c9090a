#pragma once
#include <string>

#include <voussoir/framework/analysis/eigen_solver.hpp>

namespace voussoir {

namespace detail {
struct SpectralSearch;
struct SearchResult;
}  // namespace detail

/// Base class of the eigen-solvers of the library. It sets motions without stiffness aside, chooses the shift of
/// methods that factorise K − σM, counts modes by the inertia of such factors where they are affordable, and searches
/// again until none is missing. A method only finds modes near a shift, or the lowest ones, that are M-orthogonal to
/// others.
class SearchSolver : public EigenSolver {
 protected:
  EigenSolution find(const EigenProblem& problem, const EigenRequest& request) final;
  /// Throws Error (bad_input) for a problem that the method cannot solve.
  virtual void check(const EigenProblem&) const {}
  /// Whether the method solves with factors of K − σM, so that there is one to count with.
  virtual bool factorises() const { return true; }
  /// Whether the method finds modes on both sides of a shift, so that it can be asked for an interval.
  virtual bool works_inside() const { return false; }
  /// The modes nearest to the shift, or the lowest ones where the method does not factorise.
  virtual detail::SearchResult search(const detail::SpectralSearch& search) const = 0;

 private:
  class Run;
};

}  // namespace voussoir
