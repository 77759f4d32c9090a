#pragma once
#include <memory>

#include <voussoir/backends/diagonal_operator.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/solvers/preconditioners/preconditioner.hpp>

// The diagonal of a system, from which most preconditioners start.

namespace voussoir {

/// The size of nodal diagonal blocks: the number of unknowns per node if it is the same for all nodes and backends can
/// invert blocks of that size (1 to 6), else 1.
int node_block_size(const LinearSOE& soe);

/// The inverted diagonal blocks of an SOE's matrix, stored or not, on the devices of its backend. `block_size` is 1 or
/// node_block_size(). A singular block is an Error (singular) that names node and unknown.
std::unique_ptr<DiagonalOperator> inverse_diagonal(const LinearSOE& soe, int block_size,
                                                   Precision precision = Precision::full);

}  // namespace voussoir
