#pragma once
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

template <class T>
__device__ inline T magnitude_of(T x) {
  return x < 0 ? -x : x;
}

/// The first row of a chunk in which something is wrong, and what: row · 4 + fault. Pivots come first; numbers that are
/// not finite may be their consequence.
class ChunkFault {
 public:
  template <class T>
  __device__ void accept(int row, T pivot, T size, T tolerance) {
    if (magnitude_of(pivot) > tolerance * size) return;
    note(row, voussoir::detail::pivot_fault(pivot, size));
  }
  template <class T>
  __device__ void require_finite(int row, T value) {
    if (magnitude_of(value) <= voussoir::detail::SweepPrecision<T>::largest) return;
    note(row, SweepFault::not_finite);
  }
  __device__ void report(std::int64_t system, std::int64_t length, std::int64_t first_row,
                         voussoir::detail::SweepWord* fault) const {
    if (word_ == none) return;
    atomicMin(fault, voussoir::detail::sweep_word(system, length, first_row + word_ % later / 4,
                                                  static_cast<SweepFault>(word_ % 4)));
  }

 private:
  __device__ void note(int row, SweepFault fault) {
    const int word = row * 4 + static_cast<int>(fault) + (fault == SweepFault::not_finite ? later : 0);
    if (word < word_) word_ = word;
  }

  static constexpr int later = 1 << 20, none = 1 << 30;
  int word_ = none;
};

}  // namespace voussoir::cuda
