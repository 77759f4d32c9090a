#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/runtime.hpp>

// Two neighbouring numbers of a vector in one access of 16 bytes. Parts of vectors start at addresses that allow it.

namespace voussoir::cuda {

struct alignas(16) Pair {
  double first, second;
};
__device__ inline Pair load_pair(const double* x, std::int64_t pair) { return reinterpret_cast<const Pair*>(x)[pair]; }
__device__ inline void store_pair(double* x, std::int64_t pair, Pair value) {
  reinterpret_cast<Pair*>(x)[pair] = value;
}

}  // namespace voussoir::cuda
