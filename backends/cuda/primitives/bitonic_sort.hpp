#pragma once
#include <voussoir/backends/cuda/runtime/runtime.hpp>

namespace voussoir::cuda {

/// The threads of a warp that work together.
struct WarpGroup {
  __device__ int rank() const { return static_cast<int>(threadIdx.x) % 32; }
  __device__ int size() const { return 32; }
  __device__ void wait() const { __syncwarp(); }
};

/// The threads of a block that work together.
struct BlockGroup {
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ void wait() const { __syncthreads(); }
};

/// Sorts `count` keys, a power of two, in memory that all threads of the group see. What they wrote before need not
/// have been waited for.
template <class Group, class Key>
__device__ inline void sort_keys(const Group& group, Key* keys, int count) {
  for (int width = 2; width <= count; width *= 2)
    for (int step = width / 2; step > 0; step /= 2) {
      group.wait();
      for (int i = group.rank(); i < count / 2; i += group.size()) {
        const int low = 2 * i - (i & (step - 1)), high = low + step;
        const Key a = keys[low], b = keys[high];
        const bool rising = (low & width) == 0;
        if ((a > b) == rising) {
          keys[low] = b;
          keys[high] = a;
        }
      }
    }
  group.wait();
}

}  // namespace voussoir::cuda
