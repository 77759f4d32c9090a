#include <algorithm>

#include <voussoir/backends/cuda/runtime/bulk_copy.hpp>
#include <voussoir/backends/cuda/runtime/clusters.hpp>
#include <voussoir/backends/cuda/sweeps/chunks.hpp>
#include <voussoir/backends/cuda/sweeps/rows.hpp>

namespace voussoir::cuda {

namespace {

/// Rows of a chunk. An odd number: threads of a warp then read different banks of shared memory.
constexpr int row_chunk = 17;
constexpr int row_threads = 256;
/// Arrays of a tile that are on their way or in use at the same time.
constexpr int row_slots = 5;

/// How contiguous systems are distributed: a block takes `width` systems at a time, each cut in `parts` chunks.
struct RowGrid {
  int width = 0;  ///< 0 where the systems do not fit this way of solving
  int parts = 0;
  int threads = 0;
  int slot = 0;  ///< numbers of a tile in shared memory
};

/// The order in which thread 0 brings the arrays of one tile after another.
template <class T>
class Bringing {
 public:
  __device__ Bringing(const SweepTask<T>& p, const RowGrid& grid, T* ring, Arrival* arrived)
      : p_(p), grid_(grid), ring_(ring), arrived_(arrived), tile_(blockIdx.x) {}
  __device__ void next() {
    const std::int64_t first = tile_ * grid_.width;
    if (first < p_.systems) {
      const T* from = array_ == 0 ? p_.lower : array_ == 1 ? p_.diagonal : array_ == 2 ? p_.upper : p_.f;
      const std::int64_t left = p_.systems - first, systems = left < grid_.width ? left : grid_.width;
      bring_bulk(ring_ + slot_ * grid_.slot, from + line_start(array_ == 3 ? p_.lines : p_.matrix, first, p_.systems),
                 static_cast<unsigned>(systems * p_.length * sizeof(T)), arrived_ + slot_);
    }
    if (++array_ == 4) {
      array_ = 0;
      tile_ += gridDim.x;
    }
    if (++slot_ == row_slots) slot_ = 0;
  }

 private:
  const SweepTask<T>& p_;
  const RowGrid& grid_;
  T* ring_;
  Arrival* arrived_;
  std::int64_t tile_;
  int array_ = 0, slot_ = 0;
};

/// Bytes of shared memory: the ring, the results, the exchange of reduced rows, ends of systems, arrivals.
template <class T>
std::size_t row_bytes(const RowGrid& grid) {
  return (static_cast<std::size_t>(row_slots + 1) * static_cast<std::size_t>(grid.slot) +
          6 * static_cast<std::size_t>(grid.threads) + 6 * static_cast<std::size_t>(grid.width)) *
             sizeof(T) +
         (row_slots + 1) * sizeof(Arrival);
}

/// What one tile after another takes from the ring.
template <class T>
struct Taking {
  const T* ring;
  Arrival* arrived;
  int slot_size, slot = 0;
  unsigned parity = 0;

  /// Waits for the next array and reads `count` numbers from `at` on.
  template <int R>
  __device__ __forceinline__ void next(int at, int count, T (&v)[R]) {
    wait_arrival(arrived + slot, parity);
    const T* from = ring + slot * slot_size + at;
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (k < count) v[k] = from[k];
    if (++slot == row_slots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

template <class T>
__global__ void __launch_bounds__(row_threads, sizeof(T) == 8 ? 1 : 2) row_kernel(SweepTask<T> p, RowGrid grid) {
  constexpr int R = row_chunk;
  VSR_DYNAMIC_SHARED(T, ring);
  const int threads = static_cast<int>(blockDim.x), tid = static_cast<int>(threadIdx.x), parts = grid.parts;
  T* const out = ring + row_slots * grid.slot;
  T* const x = out + grid.slot;
  T* const all_ends = x + 6 * threads;
  auto* const arrived = after_numbers<Arrival>(all_ends + 6 * grid.width);
  const int n = static_cast<int>(p.length), w = tid / parts;
  const bool has_chunk = w < grid.width;
  // Threads without a chunk stand behind the last one, so that they ask for no neighbour on the right.
  const int t = has_chunk ? tid % parts : parts, own = t * R, at = w * n + own;
  const int rest = n - own, count = !has_chunk ? 0 : rest < R ? rest : R;
  T* const ends = all_ends + (has_chunk ? w : 0) * 6;
  if (tid == 0)
    for (int k = 0; k < row_slots; ++k) make_arrival(arrived + k);
  arrivals_are_made();
  Bringing<T> bringing(p, grid, ring, arrived);
  Taking<T> taking{ring, arrived, grid.slot};
  if (tid == 0)
    for (int k = 0; k < row_slots; ++k) bringing.next();
  for (std::int64_t tile = blockIdx.x; tile * grid.width < p.systems; tile += gridDim.x) {
    T l[R], d[R], u[R], f[R];
    l[0] = d[0] = u[0] = f[0] = 0;
    taking.next(at, count, l);
    taking.next(at, count, d);
    taking.next(at, count, u);
    taking.next(at, count, f);
    __syncthreads();
    if (tid == 0) {
      for (int k = 0; k < 4; ++k) bringing.next();
      wait_taken();
    }
    cut_period(l, u, count, !p.periodic && t == 0, !p.periodic && t == parts - 1);
    ChunkFault<T> fault;
    const T size = magnitude_of(l[0]) + magnitude_of(d[0]) + magnitude_of(u[0]);
    const ChunkRow<T> c = eliminate_chunk(l, d, u, f, count, p.tolerance, fault);
    T* const last = x + 3 * threads + tid;
    leave_last(c, last, threads);
    __syncthreads();
    ReducedRow<T> row = reduced_row(c, l[0], size, t > 0, last - 1, threads, p.tolerance, fault);
    reduce_rows(row, t, parts, tid, 1, x, threads, p.tolerance, fault);
    leave_ends(row, c, has_chunk && t == 0, has_chunk && t == parts - 1, ends, 1);
    __syncthreads();
    T before = 0, behind = 0;
    close_block(ends_at(ends, 1), p.tolerance, fault, before, behind);
    const T s = row.rhs - row.a * before - row.c * behind;
    x[tid] = s;
    __syncthreads();
    substitute_back(l, u, f, count, s, t < parts - 1 ? x[tid + 1] : behind);
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (k < count) {
        fault.require_finite(k, f[k]);
        out[at + k] = f[k];
      }
    const std::int64_t first = tile * grid.width;
    if (has_chunk && first + w < p.systems) fault.report(p, first + w, own);
    written_for_bulk();
    __syncthreads();
    if (tid == 0) {
      const std::int64_t left = p.systems - first, systems = left < grid.width ? left : grid.width;
      take_bulk(p.y + line_start(p.lines, first, p.systems), out,
                static_cast<unsigned>(systems * p.length * sizeof(T)));
    }
  }
  if (tid == 0) wait_all_taken();
}

/// Whether stretches of `width` systems from any multiple of it on are contiguous and aligned.
template <class T>
bool allows_bulk(const SweepLines& lines, const T* start, std::int64_t length, std::int64_t systems, int width) {
  constexpr std::int64_t unit = bulk_alignment / sizeof(T);
  if (lines.stride != 1 && length > 1) return false;
  if (reinterpret_cast<std::uintptr_t>(start) % bulk_alignment != 0 || lines.first % unit != 0) return false;
  if (lines.inner > 1 && lines.inner_stride * (width > 1 ? width : 1) % unit != 0) return false;
  if (lines.inner < systems && lines.outer_stride % unit != 0) return false;
  if (length * width % unit != 0 || length * (systems % width) % unit != 0) return false;
  return width == 1 || (lines.inner_stride == length && (lines.inner == systems || lines.inner % width == 0));
}

template <class T>
bool allows_bulk(const SweepTask<T>& task, int width) {
  const auto whole = [&](const SweepLines& lines, const T* array) {
    return allows_bulk(lines, array, task.length, task.systems, width);
  };
  if (!whole(task.lines, task.f) || !whole(task.lines, task.y)) return false;
  return !task.lower ||
         (whole(task.matrix, task.lower) && whole(task.matrix, task.diagonal) && whole(task.matrix, task.upper));
}

/// Systems of some hundred rows have a block each; shorter ones share one.
template <class T>
RowGrid row_grid(const SweepTask<T>& task) {
  const std::int64_t parts = (task.length + row_chunk - 1) / row_chunk;
  if (parts > row_threads) return {};
  RowGrid grid;
  for (int width = 1; width == 1 || (width * parts <= row_threads / 4 && width / 2 < task.systems); width *= 2)
    if (allows_bulk(task, width)) grid.width = width;
  if (grid.width == 0) return {};
  grid.parts = static_cast<int>(parts);
  grid.threads = (grid.width * grid.parts + 31) / 32 * 32;
  grid.slot = static_cast<int>((grid.width * task.length * static_cast<std::int64_t>(sizeof(T)) + 127) / 128 * 128 /
                               static_cast<std::int64_t>(sizeof(T)));
  return grid;
}

}  // namespace

template <class T>
bool has_bulk_rows(const SweepTask<T>& task) {
  return allows_bulk(task, 1);
}

template <class T>
bool solve_rows(const SweepTask<T>& task, const std::shared_ptr<DeviceMemory>& memory) {
  const CudaMemory& cuda = cuda_memory(memory);
  if (!emulated && !has_clusters(row_kernel<T>)) return false;  // both came with the same GPUs
  const RowGrid grid = row_grid(task);
  if (grid.width == 0 || row_bytes<T>(grid) > cuda.facts().shared_bytes_per_block) return false;
  const std::int64_t tiles = (task.systems + grid.width - 1) / grid.width;
  const std::int64_t at_once =
      std::max<std::int64_t>(1, most_blocks_together(row_kernel<T>, grid.threads, row_bytes<T>(grid)));
  launch(row_kernel<T>, Grid{std::min(tiles, at_once), grid.threads, row_bytes<T>(grid)}, cuda.stream(), task, grid);
  return true;
}

template bool has_bulk_rows(const SweepTask<double>&);
template bool has_bulk_rows(const SweepTask<float>&);
template bool solve_rows(const SweepTask<double>&, const std::shared_ptr<DeviceMemory>&);
template bool solve_rows(const SweepTask<float>&, const std::shared_ptr<DeviceMemory>&);

}  // namespace voussoir::cuda
