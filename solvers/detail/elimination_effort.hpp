#pragma once
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir::detail {

/// An upper estimate of the multiplications that a direct solver needs for a mesh, without its matrix and in linear
/// time: Σ w³ over the levels of the mesh, where a level has the w unknowns at the same distance from the rim. It is
/// what elimination level by level would cost. Beams, thin plates and tubes have short levels, however many unknowns
/// they have; compact bodies have long ones. Each connected part counts for itself, and equations between nodes do not
/// count.
double elimination_effort(const Domain& domain);

}  // namespace voussoir::detail
