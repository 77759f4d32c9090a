#pragma once
#include <cmath>
#include <cstdint>

#include <voussoir/backends/cuda/runtime/runtime.hpp>
#include <voussoir/backends/detail/sweep_rules.hpp>

namespace voussoir::cuda {

/// Where the lines of a batch lie in an array; unknown i of system s is entry line_start(s) + i · stride.
struct SweepLines {
  std::int64_t stride = 1, inner = 1, inner_stride = 0, outer_stride = 0, first = 0;
};
inline SweepLines lines_of(const SweepShape& shape) {
  return {shape.stride, shape.inner, shape.inner_stride, shape.outer_stride, shape.first};
}

/// A batch as kernels see it. Where all systems share a matrix, its lines have no strides between systems.
template <class T>
struct SweepTask {
  const T* lower = nullptr;
  const T* diagonal = nullptr;
  const T* upper = nullptr;
  const T* f = nullptr;
  T* y = nullptr;
  SweepLines matrix, lines;
  std::int64_t systems = 0, length = 0;
  int periodic = 0;
  T tolerance = 0;
  voussoir::detail::SweepWord* fault = nullptr;
};

__device__ inline std::int64_t line_start(const SweepLines& lines, std::int64_t system, std::int64_t systems) {
  if (lines.inner == systems) return lines.first + system * lines.inner_stride;
  if (systems < (std::int64_t{1} << 31)) {  // divisions of 64 bits are slow
    const unsigned s = static_cast<unsigned>(system), inner = static_cast<unsigned>(lines.inner), outer = s / inner;
    return lines.first + outer * lines.outer_stride + static_cast<std::int64_t>(s - outer * inner) * lines.inner_stride;
  }
  return lines.first + system / lines.inner * lines.outer_stride + system % lines.inner * lines.inner_stride;
}

__device__ inline double magnitude_of(double x) { return fabs(x); }
__device__ inline float magnitude_of(float x) { return fabsf(x); }

/// 1 / x without the branches of a division, to about one unit in the last place. It is 0 where |x| is larger than
/// largest_pivot, which ChunkFault reports, and not a number where it has no finite inverse, which shows in the
/// results.
__device__ __forceinline__ double inverse_of(double x) {
#if defined(__CUDA_ARCH__)
  double y = 0;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = fma(-x, y, 1.0);
  y = fma(y, fma(e, e, e), y);
  return fma(y, fma(-x, y, 1.0), y);
#else
  return 1 / x;
#endif
}
__device__ __forceinline__ float inverse_of(float x) {
#if defined(__CUDA_ARCH__)
  float y = 0;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return fmaf(y, fmaf(-x, y, 1.0F), y);
#else
  return 1 / x;
#endif
}
template <class T>
inline constexpr T largest_pivot = sizeof(T) == 8 ? T(1e300) : T(1e37F);

/// Whether a pivot is large enough compared with the coefficients of its row.
template <class T>
__device__ __forceinline__ bool accepts_pivot(T pivot, T size, T tolerance) {
  return magnitude_of(pivot) > tolerance * size && magnitude_of(pivot) < largest_pivot<T>;
}

/// What is wrong with the pivot of row `row` ≥ 1 of the chunk of a system that begins in `first_row`; pivots are
/// computed again.
template <class T>
__device__ __attribute__((noinline)) SweepFault chunk_pivot_fault(SweepTask<T> p, std::int64_t system,
                                                                  std::int64_t first_row, int row) {
  const std::int64_t start = line_start(p.matrix, system, p.systems);
  T last_u = 0, pivot = 0, size = 0;
  for (std::int64_t i = first_row + 1; i <= first_row + row; ++i) {
    const std::int64_t at = start + i * p.matrix.stride;
    const T l = p.lower[at], d = p.diagonal[at], u = !p.periodic && i == p.length - 1 ? T(0) : p.upper[at];
    pivot = d - l * last_u;
    size = magnitude_of(l) + magnitude_of(d) + magnitude_of(u);
    last_u = u * (T(1) / pivot);
  }
  return voussoir::detail::pivot_fault(pivot, size);
}

/// The rows of a chunk in which something is wrong, a bit for each. There are no branches where rows are tested, so
/// that the work of several rows overlaps; what is wrong is found out at the end.
template <class T>
class ChunkFault {
 public:
  /// The pivot of a row after the first.
  __device__ __forceinline__ void accept(int row, T pivot, T size, T tolerance) {
    pivots_ |= accepts_pivot(pivot, size, tolerance) ? 0u : 1u << row;
  }
  /// A pivot that belongs to the first row: of the system that couples chunks, or of the one that couples blocks.
  __device__ __forceinline__ void accept_first(T pivot, T size, T tolerance) {
    const bool fails = !accepts_pivot(pivot, size, tolerance) && (pivots_ & 1u) == 0;
    pivot_ = fails ? pivot : pivot_;
    size_ = fails ? size : size_;
    pivots_ |= fails ? 1u : 0u;
  }
  __device__ __forceinline__ void require_finite(int row, T value) {
    values_ |= magnitude_of(value) <= voussoir::detail::SweepPrecision<T>::largest ? 0u : 1u << row;
  }
  /// Pivots come first; numbers that are not finite may be their consequence.
  __device__ __forceinline__ void report(const SweepTask<T>& p, std::int64_t system, std::int64_t first_row) const {
    if ((pivots_ | values_) != 0) report_found(p, system, first_row);
  }

 private:
  __device__ void report_found(const SweepTask<T>& p, std::int64_t system, std::int64_t first_row) const {
    // The pivot of the first row is computed last: it may be a consequence of the others.
    const unsigned later = pivots_ & ~1u;
    const int row = __ffs(static_cast<int>(later != 0 ? later : pivots_ != 0 ? pivots_ : values_)) - 1;
    SweepFault fault = SweepFault::not_finite;
    if (pivots_ != 0)
      fault = row == 0 ? voussoir::detail::pivot_fault(pivot_, size_) : chunk_pivot_fault(p, system, first_row, row);
    atomicMin(p.fault, voussoir::detail::sweep_word(system, p.length, first_row + row, fault));
  }

  unsigned pivots_ = 0, values_ = 0;
  T pivot_ = 0, size_ = 0;
};

}  // namespace voussoir::cuda
