#pragma once
#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Products of small matrices by a warp, with the tensor cores for double precision where a GPU has them.

namespace voussoir::cuda {

/// C (8 × 8) += A (8 × 4) B (4 × 8) by a warp. Lane l has A[l/4][l%4], B[l%4][l/4] and C[l/4][2(l%4) + {0, 1}]. Every
/// lane must call.
__device__ inline void multiply_add(double (&c)[2], double a, double b) {
#if defined(VSR_CUDA_EMULATED)
  // Lanes meet twice instead of once for each number that they exchange.
  VSR_SHARED double all_a[32][32], all_b[32][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int row = lane / 4, column = 2 * (lane % 4);
  all_a[warp][lane] = a;
  all_b[warp][lane] = b;
  __syncwarp();
  for (int k = 0; k < 4; ++k) {
    c[0] += all_a[warp][4 * row + k] * all_b[warp][4 * column + k];
    c[1] += all_a[warp][4 * row + k] * all_b[warp][4 * (column + 1) + k];
  }
  __syncwarp();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};\n"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
#else
  const int lane = static_cast<int>(threadIdx.x) % 32, row = lane / 4, column = 2 * (lane % 4);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const double left = __shfl_sync(0xffffffffu, a, 4 * row + k);
    c[0] += left * __shfl_sync(0xffffffffu, b, 4 * column + k);
    c[1] += left * __shfl_sync(0xffffffffu, b, 4 * (column + 1) + k);
  }
#endif
}

}  // namespace voussoir::cuda
