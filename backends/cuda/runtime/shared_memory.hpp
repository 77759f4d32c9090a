#pragma once
#if defined(VSR_CUDA_EMULATED)
#include <voussoir/backends/cuda/emulation/cuda_emulation.hpp>
#endif

// Shared memory of kernels. NVRTC compiles kernels, too: nothing of the standard library here.

/// Static shared memory of a kernel: VSR_SHARED double sums[32];
/// Dynamic shared memory, as many bytes as the launch says: VSR_DYNAMIC_SHARED(double, values);
#if defined(VSR_CUDA_EMULATED)
#define VSR_SHARED static thread_local
#define VSR_DYNAMIC_SHARED(Type, name) \
  Type* const name = static_cast<Type*>(::voussoir::cuda::emulation::dynamic_shared())
#else
#define VSR_SHARED __shared__
#define VSR_DYNAMIC_SHARED(Type, name)                         \
  extern __shared__ __align__(64) unsigned char vsr_dynamic[]; \
  Type* const name = reinterpret_cast<Type*>(vsr_dynamic)
#endif
