#pragma once
#include <cstdint>
#include <cstring>

#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Copies of whole stretches between memory and shared memory by the copy engine of a multiprocessor (compute capability
// 9.0 and later), which one thread starts. Addresses and sizes are multiples of 16 bytes.

namespace voussoir::cuda {

inline constexpr int bulk_alignment = 16;

/// The next place for an object of another type in shared memory.
template <class To, class From>
__device__ inline To* after_numbers(From* end) {
  return reinterpret_cast<To*>((reinterpret_cast<std::uintptr_t>(end) + alignof(To) - 1) / alignof(To) * alignof(To));
}

#if defined(VSR_CUDA_EMULATED)

/// A place in shared memory at which a block waits for a stretch to arrive.
using Arrival = unsigned long long;

inline void make_arrival(Arrival*) {}
inline void arrivals_are_made() { __syncthreads(); }
inline void bring_bulk(void* to, const void* from, unsigned bytes, Arrival*) { std::memcpy(to, from, bytes); }
inline void wait_arrival(Arrival*, unsigned) { __syncthreads(); }
inline void written_for_bulk() {}
inline void take_bulk(void* to, const void* from, unsigned bytes) { std::memcpy(to, from, bytes); }
inline void wait_taken() {}
inline void wait_all_taken() {}

#else

using Arrival = unsigned long long;

__device__ inline unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define VSR_BULK(...) asm volatile(__VA_ARGS__)
#else
#define VSR_BULK(...) __trap()  // the host starts no such kernel on older GPUs
#endif

/// By one thread, before arrivals_are_made().
__device__ inline void make_arrival(Arrival* arrival) {
  VSR_BULK("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(arrival)) : "memory");
}
/// By all threads.
__device__ inline void arrivals_are_made() {
  VSR_BULK("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
}
/// By one thread: starts a copy to shared memory.
__device__ inline void bring_bulk(void* to, const void* from, unsigned bytes, Arrival* arrival) {
  VSR_BULK("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(arrival)), "r"(bytes)
           : "memory");
  VSR_BULK("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
               shared_address(to)),
           "l"(from), "r"(bytes), "r"(shared_address(arrival))
           : "memory");
}
/// By all threads: until the copy has arrived; `parity` is 0 for the first use of an arrival, 1 for the second, 0 …
__device__ inline void wait_arrival(Arrival* arrival, unsigned parity) {
  VSR_BULK(
      "{\n.reg .pred arrived;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 arrived, [%0], %1;\n@arrived bra DONE;\n"
      "bra AGAIN;\nDONE:\n}" ::"r"(shared_address(arrival)),
      "r"(parity)
      : "memory");
}
/// By all threads that wrote shared memory, before a barrier after which one of them calls take_bulk().
__device__ inline void written_for_bulk() { VSR_BULK("fence.proxy.async.shared::cta;" ::: "memory"); }
/// By one thread: starts a copy from shared memory.
__device__ inline void take_bulk(void* to, const void* from, unsigned bytes) {
  VSR_BULK("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to),
           "r"(shared_address(from)), "r"(bytes)
           : "memory");
}
/// By the same thread: until what it took may be written again.
__device__ inline void wait_taken() { VSR_BULK("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
/// By the same thread, before it ends: until all that it took has reached memory.
__device__ inline void wait_all_taken() { VSR_BULK("cp.async.bulk.wait_group 0;" ::: "memory"); }

#undef VSR_BULK
#endif

}  // namespace voussoir::cuda
