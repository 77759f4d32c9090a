#pragma once
#include <voussoir/backends/dense_block_services.hpp>

namespace voussoir::cpu {

/// Sums of dense blocks on the cores of this machine. It has no state, so one object serves all backends.
DenseBlockServices& dense_block_services();

}  // namespace voussoir::cpu
