#include <voussoir/backends/openmp/multigrid/cpu_multigrid.hpp>

#include <voussoir/backends/openmp/multigrid/services.hpp>

namespace voussoir::cpu {

std::unique_ptr<MultigridServices> make_multigrid(const std::vector<std::shared_ptr<DeviceMemory>>& memories,
                                                  int threads) {
  return std::make_unique<CpuMultigrid>(memories, threads);
}

}  // namespace voussoir::cpu
