#pragma once
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// The cost of each element of a block as it is known before anything was measured: the entries of its matrix,
/// (its unknowns)². The work of integrating, assembling and solving grows with them.
double element_cost(const ElementBlock& block);

/// The costs of all elements, block by block, relative to their mean, for DomainPartitioner::set_weights(): 1 for every
/// element of a mesh with a single element type. LoadBalancer improves them from measured times.
std::vector<double> element_costs(const Domain& domain);

/// Divides costs by their mean, so that their sum is their number; the same numbers if all are zero.
std::vector<double> relative_costs(std::vector<double> costs);

}  // namespace voussoir
