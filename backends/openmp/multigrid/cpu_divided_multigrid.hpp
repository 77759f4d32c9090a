#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/divided_multigrid.hpp>

namespace voussoir::cpu {

/// Multigrid divided over these memories, each of which is a device; `threads` threads work on one after the other.
std::unique_ptr<DividedMultigrid> make_divided_multigrid(const std::vector<std::shared_ptr<DeviceMemory>>& memories,
                                                         int threads);

}  // namespace voussoir::cpu
