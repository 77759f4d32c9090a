#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/element_program.hpp>

namespace voussoir {

/// Springs ½ α (Σ c x − g)² between the unknowns of `nodes` nodes with `components` unknowns each, as an element that
/// any backend runs. Parameters: the coefficients c of all unknowns, node by node, then α and g.
std::shared_ptr<const ElementProgram> make_penalty_program(int nodes, int components,
                                                           std::vector<std::string> unknown_names);

}  // namespace voussoir
