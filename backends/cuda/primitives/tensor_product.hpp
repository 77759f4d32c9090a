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

/// C (16 × 8) += A (16 × 8) B (8 × 8) by a warp, each half of the rows of A and C as in the product above: lane l has
/// columns l%4 and 4 + l%4 of `top` and `bottom` rows l/4 and 8 + l/4 of A, and rows l%4 and 4 + l%4 of B. GPUs of
/// compute capability 9.0 and later do this at twice the rate of the smaller product. Every lane must call.
__device__ inline void multiply_add(double (&c_top)[2], double (&c_bottom)[2], const double (&top)[2],
                                    const double (&bottom)[2], const double (&b)[2]) {
#if !defined(VSR_CUDA_EMULATED) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};\n"
      : "+d"(c_top[0]), "+d"(c_top[1]), "+d"(c_bottom[0]), "+d"(c_bottom[1])
      : "d"(top[0]), "d"(bottom[0]), "d"(top[1]), "d"(bottom[1]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
  for (int s = 0; s < 2; ++s) {
    multiply_add(c_top, top[s], b[s]);
    multiply_add(c_bottom, bottom[s], b[s]);
  }
#endif
}

}  // namespace voussoir::cuda
