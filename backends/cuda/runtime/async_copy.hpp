#pragma once
#include <cstring>

#include <voussoir/backends/cuda/runtime/shared_memory.hpp>

// Copies to shared memory that a thread starts and then leaves to themselves, without a detour through registers. What
// a thread has started since the last close_copies() is a group.

namespace voussoir::cuda {

/// Starts to copy 4, 8 or 16 bytes to shared memory. Both addresses are multiples of the number of bytes.
template <int Bytes>
__device__ inline void start_copy(void* shared, const void* from) {
#if defined(VSR_CUDA_EMULATED)
  std::memcpy(shared, from, Bytes);
#else
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(Bytes) : "memory");
#endif
}

/// Starts to copy a number, or zero where it is not `valid`.
__device__ inline void start_copy_or_zero(double* shared, const double* from, bool valid) {
#if defined(VSR_CUDA_EMULATED)
  *shared = valid ? *from : 0.0;
#else
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 8 : 0;  // the others are filled with zeros
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
#endif
}

/// Ends a group of copies.
__device__ inline void close_copies() {
#if !defined(VSR_CUDA_EMULATED)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for the copies of this thread, but not for its last `Groups` groups.
template <int Groups>
__device__ inline void wait_for_copies_but() {
#if !defined(VSR_CUDA_EMULATED)
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
}

}  // namespace voussoir::cuda
