#pragma once
#include <memory>

#include <voussoir/backends/grid_services.hpp>

namespace voussoir::cuda {

class CudaBackend;

/// Grid kernels on NVIDIA GPUs.
std::unique_ptr<GridServices> make_grid_services(CudaBackend& backend);

}  // namespace voussoir::cuda
