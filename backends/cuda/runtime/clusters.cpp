#include <voussoir/backends/cuda/runtime/clusters.hpp>

namespace voussoir::cuda::detail {

#if defined(VSR_CUDA_EMULATED)

bool has_clusters(const void*) { return false; }
void launch_clusters(const void*, const Grid&, int, cudaStream_t, void**) {
  throw Error(ErrorCode::internal, "the emulation of CUDA has no clusters");
}

#else

bool has_clusters(const void* kernel) {
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, current_device()),
        "querying device properties");
  if (major < 9) return false;
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "querying kernel properties");
  return attributes.ptxVersion >= 90;  // code for older GPUs runs on newer ones, without their instructions
}

void launch_clusters(const void* kernel, const Grid& grid, int blocks, cudaStream_t stream, void** arguments) {
  if (grid.blocks <= 0) return;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(blocks);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(grid.blocks));
  config.blockDim = dim3(static_cast<unsigned>(grid.threads));
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelExC(&config, kernel, arguments), "starting a kernel");
}

#endif

}  // namespace voussoir::cuda::detail
