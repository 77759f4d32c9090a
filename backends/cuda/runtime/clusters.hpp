#pragma once
#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Clusters: blocks of threads that run at the same time on neighbouring multiprocessors, wait for each other and read
// each other's shared memory. GPUs have them from compute capability 9.0 on, and the emulation has them.

namespace voussoir::cuda {

namespace detail {
bool has_clusters(const void* kernel);
std::int64_t most_clusters(const void* kernel, const Grid& grid, int blocks);
#if !defined(VSR_CUDA_EMULATED)
void launch_clusters(const void* kernel, const Grid& grid, int blocks, cudaStream_t stream, void** arguments);
#endif
}  // namespace detail

/// Whether the current GPU has clusters, and the code of this kernel was compiled for such a GPU.
template <class... Parameters>
bool has_clusters(void (*kernel)(Parameters...)) {
  return detail::has_clusters(reinterpret_cast<const void*>(kernel));
}

/// How many clusters of so many blocks the current GPU holds at the same time; 0 where it cannot hold one. The number
/// of blocks of the grid is not used.
template <class... Parameters>
std::int64_t most_clusters(void (*kernel)(Parameters...), const Grid& grid, int blocks) {
  return detail::most_clusters(reinterpret_cast<const void*>(kernel), grid, blocks);
}

/// As launch(), with clusters of so many blocks; the number of blocks of the grid is a multiple of it.
template <class... Parameters, class... Arguments>
void launch_in_clusters(void (*kernel)(Parameters...), const Grid& grid, int blocks, cudaStream_t stream,
                        Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the kernel takes a different number of arguments");
  std::tuple<std::remove_const_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
#if defined(VSR_CUDA_EMULATED)
  (void)stream;
  detail::run_emulated(kernel, values, grid, blocks);
#else
  std::apply(
      [&](auto&... value) {
        void* pointers[sizeof...(Parameters) + 1] = {static_cast<void*>(&value)..., nullptr};
        detail::launch_clusters(reinterpret_cast<const void*>(kernel), grid, blocks, stream, pointers);
      },
      values);
#endif
}

#if !defined(VSR_CUDA_EMULATED)
/// Waits for all threads of the cluster; what they wrote to shared memory can be seen.
__device__ inline void cluster_barrier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
/// Where shared memory of this block lies in block `rank` of the cluster.
template <class T>
__device__ inline const T* in_block(const T* shared, int rank) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  std::uint64_t there = 0;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return reinterpret_cast<const T*>(there);
#else
  (void)rank;
  return shared;
#endif
}
#else
inline void cluster_barrier() { emulation::cluster_barrier(); }
template <class T>
const T* in_block(const T* shared, int rank) {
  return static_cast<const T*>(emulation::in_block(shared, rank));
}
#endif

}  // namespace voussoir::cuda
