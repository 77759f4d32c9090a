#pragma once
#include <string>

#include <voussoir/framework/analysis/eigen_solver.hpp>

namespace voussoir {

namespace detail {
struct SpectralSearch;
struct SearchResult;
}  // namespace detail

/// Base class of eigen-solvers that factorise K − σM. It chooses the shift, sets motions without stiffness aside,
/// counts the modes by the inertia of the factors and searches again until none is missing; a method only finds modes
/// near a shift.
class SearchSolver : public EigenSolver {
 protected:
  EigenSolution find(const EigenProblem& problem, const EigenRequest& request) final;
  /// Whether the method finds modes on both sides of a shift, so that it can be asked for an interval.
  virtual bool works_inside() const = 0;
  /// The modes nearest to the shift.
  virtual detail::SearchResult search(const detail::SpectralSearch& search) const = 0;

 private:
  class Run;
};

}  // namespace voussoir
