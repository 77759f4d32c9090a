#pragma once
#include <memory>

#include <voussoir/backends/stencil_services.hpp>

namespace voussoir::cuda {

class CudaBackend;

/// Stencils on the devices of a backend.
std::unique_ptr<StencilServices> make_stencils(CudaBackend& backend);

}  // namespace voussoir::cuda
