#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/divided_multigrid.hpp>

namespace voussoir::cuda {

/// Multigrid divided over these logical devices.
std::unique_ptr<DividedMultigrid> make_divided_multigrid(const std::vector<std::shared_ptr<DeviceMemory>>& memories);

}  // namespace voussoir::cuda
