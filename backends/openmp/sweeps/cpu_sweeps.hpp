#pragma once
#include <memory>

#include <voussoir/backends/sweep_services.hpp>

namespace voussoir {
class CpuBackend;
}

namespace voussoir::cpu {

/// Tridiagonal batches on the cores of this machine.
std::unique_ptr<SweepServices> make_sweeps(CpuBackend& backend);

}  // namespace voussoir::cpu
