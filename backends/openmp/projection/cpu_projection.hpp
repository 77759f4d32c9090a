#pragma once
#include <memory>

#include <voussoir/backends/projection_services.hpp>

namespace voussoir {
class CpuBackend;
}

namespace voussoir::cpu {

/// Projections on the cores of this machine.
std::unique_ptr<ProjectionServices> make_projection(CpuBackend& backend);

}  // namespace voussoir::cpu
