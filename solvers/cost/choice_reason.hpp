#pragma once
#include <string>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

/// Why make_static_analysis() chose a solver and a storage for `auto`, without solving anything: what
/// SolveReport::choice begins with. Empty for a solver that the caller named.
std::string choice_reason(const Solver& solver);

}  // namespace voussoir
