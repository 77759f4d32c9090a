#pragma once
#include <memory>

#include <voussoir/backends/sweep_services.hpp>

namespace voussoir::cuda {

class CudaBackend;

/// Tridiagonal batches on the devices of a backend.
std::unique_ptr<SweepServices> make_sweeps(CudaBackend& backend);

}  // namespace voussoir::cuda
