#include <voussoir/backends/cuda/multigrid/cuda_multigrid.hpp>

#include <voussoir/backends/cuda/multigrid/services.hpp>

namespace voussoir::cuda {

std::unique_ptr<MultigridServices> make_multigrid(const std::vector<std::shared_ptr<DeviceMemory>>& memories) {
  return std::make_unique<CudaMultigrid>(memories);
}

}  // namespace voussoir::cuda
