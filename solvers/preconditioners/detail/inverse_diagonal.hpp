#pragma once
#include <memory>

#include <voussoir/backends/diagonal_operator.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/solvers/preconditioners/preconditioner.hpp>

namespace voussoir::detail {

/// The inverted diagonal blocks of an SOE's matrix; a singular block is an Error that names node and unknown.
std::unique_ptr<DiagonalOperator> inverse_diagonal(const LinearSOE& soe, int block_size,
                                                   Precision precision = Precision::full);

}  // namespace voussoir::detail
