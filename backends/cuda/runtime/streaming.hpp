#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Two neighbouring numbers of a vector in one access of 16 bytes. Parts of vectors start at addresses that allow it.
// Those that pass are not asked for again soon: the caches need not keep them.

namespace voussoir::cuda {

struct alignas(16) Pair {
  double first, second;
};
__device__ inline Pair load_pair(const double* x, std::int64_t pair) { return reinterpret_cast<const Pair*>(x)[pair]; }
/// Two numbers of a vector that other threads read soon, too.
__device__ inline Pair load_pair_often(const double* x) {
#if defined(VSR_CUDA_EMULATED)
  return load_pair(x, 0);
#else
  const double2 both = __ldg(reinterpret_cast<const double2*>(x));
  return {both.x, both.y};
#endif
}
__device__ inline void store_pair(double* x, std::int64_t pair, Pair value) {
  reinterpret_cast<Pair*>(x)[pair] = value;
}
__device__ inline Pair load_passing_pair(const double* x, std::int64_t pair) {
#if defined(VSR_CUDA_EMULATED)
  return load_pair(x, pair);
#else
  const double2 both = __ldcs(reinterpret_cast<const double2*>(x) + pair);
  return {both.x, both.y};
#endif
}
__device__ inline void store_passing_pair(double* x, std::int64_t pair, Pair value) {
#if defined(VSR_CUDA_EMULATED)
  store_pair(x, pair, value);
#else
  __stcs(reinterpret_cast<double2*>(x) + pair, make_double2(value.first, value.second));
#endif
}

}  // namespace voussoir::cuda
