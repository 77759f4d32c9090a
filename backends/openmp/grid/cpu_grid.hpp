#pragma once
#include <memory>

#include <voussoir/backends/grid_services.hpp>

namespace voussoir {
class CpuBackend;
}

namespace voussoir::cpu {

/// Grid kernels on the cores of this machine.
std::unique_ptr<GridServices> make_grid_services(CpuBackend& backend);

}  // namespace voussoir::cpu
