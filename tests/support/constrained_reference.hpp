#pragma once
#include <functional>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir::testing {

/// The solution of a linear model by dense algebra that shares nothing with the handlers: the null space of all
/// constraints by a QR decomposition, and the least energy within it.
struct ConstrainedReference {
  enum class Kind {
    solved,         ///< `unknowns` is the only solution
    contradictory,  ///< the constraints have no solution
    singular        ///< a motion that no constraint and no stiffness prevents
  } kind = Kind::solved;
  std::vector<double> unknowns;  ///< per node of the domain, as many as the model has names; zero where a node has none
};

/// `build` makes the same model each time, the second argument says whether with supports, oblique supports and
/// equations. All load cases act with factor 1. Models must be small: some hundreds of unknowns.
ConstrainedReference solve_by_dense_algebra(const std::function<void(Domain&, bool constrained)>& build);

}  // namespace voussoir::testing
