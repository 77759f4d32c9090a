#pragma once
#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Numbers that pass through once: the caches need not keep them, and have more room for what is used again.

namespace voussoir::cuda {

template <class T>
__device__ inline T read_once(const T* p) {
#if defined(VSR_CUDA_EMULATED)
  return *p;
#else
  return __ldcs(p);
#endif
}

template <class T>
__device__ inline void write_once(T* p, T value) {
#if defined(VSR_CUDA_EMULATED)
  *p = value;
#else
  __stcs(p, value);
#endif
}

}  // namespace voussoir::cuda
