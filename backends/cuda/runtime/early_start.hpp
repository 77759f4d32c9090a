#pragma once
#include <voussoir/backends/cuda/runtime/shared_memory.hpp>

// A kernel that is launched early (runtime.hpp: Start::early) may begin while the work before it in its stream comes to
// its end: what it takes to begin is hidden there. NVRTC compiles kernels, too: nothing of the standard library here.

namespace voussoir::cuda {

/// Waits until all work before this kernel has ended, and can be seen. Every thread of a kernel that is launched early
/// calls this before it touches anything that work in its stream may still write: what it reads before must have been
/// complete when the host launched it. The kernel after it may begin to start from here on. GPUs that cannot start
/// kernels early, and kernels that were not started so, do not wait here.
__device__ inline void after_earlier_work() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace voussoir::cuda
