#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/sweep_services.hpp>

namespace voussoir::cuda {

/// Tridiagonal batches on the devices of a backend, whose memories these are.
std::unique_ptr<SweepServices> make_sweeps(std::vector<std::shared_ptr<DeviceMemory>> memories);

}  // namespace voussoir::cuda
