#include <voussoir/solvers/direct/acceptance.hpp>

#include <cmath>

namespace voussoir {

Acceptance check_solution(const std::function<double()>& residual, const std::function<double()>& refine) {
  constexpr double small_change = 1e-4;
  Acceptance result;
  result.residual = residual();
  if (!std::isfinite(result.residual)) return result;
  result.accepted = result.residual < small_residual;
  if (result.accepted) return result;
  const double moved = refine();
  result.residual = residual();
  result.accepted = std::isfinite(result.residual) && moved <= small_change;
  return result;
}

}  // namespace voussoir
