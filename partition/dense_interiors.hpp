#pragma once
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/condensation_services.hpp>
#include <voussoir/partition/part_matrices.hpp>

namespace voussoir {

/// How the interiors of parts are eliminated.
enum class Interiors {
  automatic,  ///< dense where uses_dense_interiors() says so, else sparse
  dense,      ///< as dense matrices on the devices of the backend (CondensationServices)
  sparse      ///< by sparse factorisations, or another part solver, on the host
};
/// "auto", "dense" or "sparse". Another text is an Error (bad_input) at `where`.
Interiors interiors_by_name(const std::string& name, const std::string& where);

/// The matrices of all parts for CondensationServices, prepared by up to `threads` threads: the interior in the order
/// of Decomposition::interior(), then the boundary in that of Decomposition::boundary().
std::vector<PartSystem> part_systems(const PartMatrices& matrices, int threads);

/// Whether the interiors of these parts become dense matrices on the devices. For Interiors::automatic the backend
/// decides by sizes and free memory (CondensationServices::is_preferred()), if `part_solver` is "direct". A backend
/// without the service, or another part solver, is an Error (bad_input) for Interiors::dense.
bool uses_dense_interiors(const Backend& backend, const Decomposition& decomposition, Interiors wanted,
                          const std::string& part_solver);

}  // namespace voussoir
