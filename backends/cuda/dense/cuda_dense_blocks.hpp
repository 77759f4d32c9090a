#pragma once
#include <string>
#include <vector>

#include <voussoir/backends/dense_block_services.hpp>
#include <voussoir/backends/detail/dense_block_rows.hpp>

namespace voussoir::cuda {

/// Sums of dense blocks on GPUs. It has no state and serves all backends.
DenseBlockServices& dense_block_services();

/// A sum of blocks whose rows are on the device already.
std::unique_ptr<Operator> make_block_sum_of_rows(Backend& backend, std::shared_ptr<const Layout> layout,
                                                 std::vector<voussoir::detail::DenseBlockRows> rows,
                                                 std::string description);

}  // namespace voussoir::cuda
