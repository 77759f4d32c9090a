#pragma once
#include <voussoir/backends/cuda/primitives/bitonic_sort.hpp>

namespace voussoir::cuda {

/// How many threads before this one say yes, and how many in all. All threads of the group call.
__device__ inline int count_before(const WarpGroup& group, bool yes, int& total) {
  const unsigned votes = __ballot_sync(0xffffffffu, yes ? 1 : 0);
  total = __popc(votes);
  return __popc(votes & ((1u << group.rank()) - 1u));
}
__device__ inline int count_before(const BlockGroup& group, bool yes, int& total) {
  VSR_SHARED int warps[32];
  const unsigned votes = __ballot_sync(0xffffffffu, yes ? 1 : 0);
  const int lane = group.rank() % 32, warp = group.rank() / 32;
  if (lane == 0) warps[warp] = __popc(votes);
  __syncthreads();
  int before = __popc(votes & ((1u << lane) - 1u));
  total = 0;
  for (int w = 0; w < group.size() / 32; ++w) {
    if (w < warp) before += warps[w];
    total += warps[w];
  }
  __syncthreads();
  return before;
}

}  // namespace voussoir::cuda
