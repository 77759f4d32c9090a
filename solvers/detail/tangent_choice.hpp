#pragma once
#include <cstdint>
#include <string>

#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir::detail {

/// Which tangents the elements of a model have.
struct TangentChoice {
  bool full = false;       ///< as ModelOptions::full_tangents
  bool automatic = false;  ///< by `auto`: symmetric tangents are to follow where full ones fail
  std::string reason;      ///< for reports; empty where the model has no full tangents to choose
};

/// What StaticOptions::tangent means for a model of that many equations. `limit` is the number of equations up to which
/// a direct solver is quick. Throws Error (not_found) for another name than auto, full and symmetric.
TangentChoice choose_tangent(const Domain& domain, const StaticOptions& options, const Backend& backend,
                             std::int64_t equations, std::int64_t limit);

}  // namespace voussoir::detail
