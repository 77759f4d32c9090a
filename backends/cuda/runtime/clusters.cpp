#include <voussoir/backends/cuda/runtime/clusters.hpp>

namespace voussoir::cuda::detail {

#if defined(VSR_CUDA_EMULATED)

bool has_clusters(const void*) { return true; }
std::int64_t most_clusters(const void*, const Grid&, int) { return 2; }  // so that a cluster takes several tiles

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

namespace {

constexpr int portable_cluster = 8;  // blocks that every GPU with clusters takes together

/// A launch in clusters; the attribute lives as long as the configuration.
struct ClusterLaunch {
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};

  ClusterLaunch(const void* kernel, const Grid& grid, int blocks, std::int64_t all_blocks) {
    if (grid.shared_bytes > (std::size_t{48} << 10))
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(grid.shared_bytes)),
            "raising the limit of shared memory");
    if (blocks > portable_cluster)
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "allowing a cluster");
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(blocks);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(static_cast<unsigned>(all_blocks));
    config.blockDim = dim3(static_cast<unsigned>(grid.threads));
    config.dynamicSmemBytes = grid.shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;
};

}  // namespace

std::int64_t most_clusters(const void* kernel, const Grid& grid, int blocks) {
  const ClusterLaunch launch(kernel, grid, blocks, blocks);
  int clusters = 0;
  const cudaError_t status = cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config);
  if (status == cudaErrorInvalidClusterSize) {
    (void)cudaGetLastError();  // too many blocks for this GPU
    return 0;
  }
  check(status, "querying kernel properties");
  return clusters;
}

void launch_clusters(const void* kernel, const Grid& grid, int blocks, cudaStream_t stream, void** arguments) {
  if (grid.blocks <= 0) return;
  ClusterLaunch launch(kernel, grid, blocks, grid.blocks);
  launch.config.stream = stream;
  check(cudaLaunchKernelExC(&launch.config, kernel, arguments), "starting a kernel");
}

#endif

}  // namespace voussoir::cuda::detail
