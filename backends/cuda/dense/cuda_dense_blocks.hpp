#pragma once
#include <voussoir/backends/dense_block_services.hpp>

namespace voussoir::cuda {

/// Sums of dense blocks on GPUs. It has no state and serves all backends.
DenseBlockServices& dense_block_services();

}  // namespace voussoir::cuda
