#pragma once
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir::detail {

/// The length of the diagonal of the box around all nodes.
double diagonal_of(const Domain& domain);

/// The length of the displacement ux, uy, uz at each node; NaN at nodes that have none, and at those whose ux, uy, uz
/// are rotations.
std::vector<double> displacement_lengths(const Domain& domain, const NodalField& field);

/// The largest of these lengths; 0 where there is none.
double largest_length(const std::vector<double>& lengths);

}  // namespace voussoir::detail
