#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/multigrid.hpp>

namespace voussoir::cpu {

/// Multigrid on the cores of this machine, on the first of these memories, with `threads` threads.
std::unique_ptr<MultigridServices> make_multigrid(const std::vector<std::shared_ptr<DeviceMemory>>& memories,
                                                  int threads);

}  // namespace voussoir::cpu
