#pragma once
#include <voussoir/backends/cuda/runtime/runtime.hpp>

namespace voussoir::cuda {

/// Asks for memory that will be read soon, without waiting for it and without a register to put it in.
__device__ inline void prefetch([[maybe_unused]] const void* address) {
#if !defined(VSR_CUDA_EMULATED)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

}  // namespace voussoir::cuda
