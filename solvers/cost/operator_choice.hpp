#pragma once
#include <string>

#include <voussoir/backends/cost_model/cost_model.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// The storage that the cost model recommends for a solver.
struct OperatorChoice {
  std::string storage;  ///< "matrix-free"; empty to keep the storage that is chosen without a profile
  std::string reason;   ///< predicted times of both forms; empty if nothing was predicted
};

/// Whether a solver should multiply with an assembled matrix (`assembled`: bsr or csr) or without one. Applies to `cg`
/// with the preconditioners none, jacobi, block-jacobi and chebyshev, which need products only, on linear symmetric
/// models whose element types were all measured. A profile of assumptions decides nothing.
///
/// Both forms are predicted with pattern, assembly and the assumed number of iterations. The assembled form stays
/// unless the other one is predicted to take less than 90 % of its time: a difference that the model can be trusted to
/// see.
OperatorChoice choose_operator(const Domain& domain, const CostModel& model, const std::string& solver,
                               OperatorForm assembled, double relative_tolerance);
/// The same with the user's profile of the backend, if there is one; without a usable one, nothing is chosen and the
/// reason is empty.
OperatorChoice choose_operator(const Domain& domain, const Backend& backend, const std::string& solver,
                               OperatorForm assembled, double relative_tolerance);

}  // namespace voussoir
