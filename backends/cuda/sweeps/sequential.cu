#include <voussoir/backends/array.hpp>
#include <voussoir/backends/cuda/sweeps/sequential.hpp>

namespace voussoir::cuda {

namespace {

/// α, β and γ of all rows, the systems side by side, so that neighbouring threads write neighbouring numbers.
template <class T>
struct SweepScratch {
  T* numbers;
  std::int64_t systems;
  __device__ T& at(std::int64_t row, int which, std::int64_t system) const {
    return numbers[(row * 3 + which) * systems + system];
  }
};

template <class T>
__device__ inline void note_pivot(const SweepTask<T>& p, std::int64_t system, std::int64_t row, T pivot, T size) {
  if (magnitude_of(pivot) > p.tolerance * size) return;
  atomicMin(p.fault, voussoir::detail::sweep_word(system, p.length, row, voussoir::detail::pivot_fault(pivot, size)));
}

/// y_i = β_i − γ_i y_0 − α_i y_{i+1}; row 0 of a periodic system is reduced along with the others.
template <class T, bool periodic>
__global__ void sequential_kernel(SweepTask<T> p, SweepScratch<T> scratch) {
  const std::int64_t system = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (system >= p.systems) return;
  const std::int64_t matrix = line_start(p.matrix, system, p.systems), line = line_start(p.lines, system, p.systems);
  T alpha = 0, beta = 0, gamma = -1, coupling = 0, diagonal = 0, right = 0, lower0 = 0, size0 = 0;
  for (std::int64_t i = 0; i < p.length; ++i) {
    const std::int64_t at = matrix + i * p.matrix.stride;
    const T d = p.diagonal[at], f = p.f[line + i * p.lines.stride];
    const T l = !periodic && i == 0 ? T(0) : p.lower[at], u = !periodic && i == p.length - 1 ? T(0) : p.upper[at];
    const T size = magnitude_of(l) + magnitude_of(d) + magnitude_of(u);
    if (periodic && i == 0) {
      lower0 = l;
      size0 = size;
      coupling = u;
      diagonal = d;
      right = f;
      continue;
    }
    const T pivot = d - l * alpha;
    note_pivot(p, system, i, pivot, size);
    const T r = T(1) / pivot;
    beta = (f - l * beta) * r;
    alpha = u * r;
    scratch.at(i, 0, system) = alpha;
    scratch.at(i, 1, system) = beta;
    if (periodic) {
      gamma = -l * gamma * r;
      scratch.at(i, 2, system) = gamma;
      right -= coupling * beta;
      diagonal -= coupling * gamma;
      coupling = -coupling * alpha;
    }
  }
  T y0 = 0;
  if (periodic) {
    const T pivot = diagonal + coupling - lower0 * alpha - lower0 * gamma;
    note_pivot(p, system, 0, pivot, size0);
    y0 = (right - lower0 * beta) / pivot;
  }
  T next = y0;
  std::int64_t bad = -1;
  for (std::int64_t i = p.length - 1; i >= 0; --i) {
    if (periodic && i == 0)
      next = y0;
    else if (periodic)
      next = scratch.at(i, 1, system) - scratch.at(i, 2, system) * y0 - scratch.at(i, 0, system) * next;
    else
      next = scratch.at(i, 1, system) - scratch.at(i, 0, system) * next;
    if (!(magnitude_of(next) <= voussoir::detail::SweepPrecision<T>::largest)) bad = i;
    p.y[line + i * p.lines.stride] = next;
  }
  if (bad >= 0) atomicMin(p.fault, voussoir::detail::sweep_word(system, p.length, bad, SweepFault::not_finite));
}

}  // namespace

template <class T>
void solve_sequentially(const SweepTask<T>& task, const std::shared_ptr<DeviceMemory>& memory) {
  Array<T> numbers(memory, static_cast<std::size_t>(3 * task.length * task.systems));
  const SweepScratch<T> scratch{numbers.write_device(), task.systems};
  launch(task.periodic ? sequential_kernel<T, true> : sequential_kernel<T, false>, grid_for(task.systems, 64),
         stream_of(memory), task, scratch);
}

template void solve_sequentially(const SweepTask<double>&, const std::shared_ptr<DeviceMemory>&);
template void solve_sequentially(const SweepTask<float>&, const std::shared_ptr<DeviceMemory>&);

}  // namespace voussoir::cuda
