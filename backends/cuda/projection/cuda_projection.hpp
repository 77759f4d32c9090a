#pragma once
#include <memory>

#include <voussoir/backends/projection_services.hpp>

namespace voussoir::cuda {

class CudaBackend;

/// Projections on the devices of a backend.
std::unique_ptr<ProjectionServices> make_projection(CudaBackend& backend);

}  // namespace voussoir::cuda
