#pragma once
#include <memory>

#include <voussoir/backends/stencil_services.hpp>

namespace voussoir {
class CpuBackend;
}

namespace voussoir::cpu {

/// Stencils on the cores of this machine.
std::unique_ptr<StencilServices> make_stencils(CpuBackend& backend);

}  // namespace voussoir::cpu
