#include <algorithm>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/cuda/runtime/clusters.hpp>
#include <voussoir/backends/cuda/sweeps/chunks.hpp>
#include <voussoir/backends/cuda/sweeps/columns.hpp>

namespace voussoir::cuda {

namespace {

/// Rows of a chunk: as many as a thread of a full block can keep in registers.
constexpr int column_rows = 8;
constexpr int column_threads = 512;
constexpr int most_cluster_blocks = 8;

/// Whose the unknowns before and behind the rows of a block are.
enum class Around {
  own,      ///< the block has all rows of its systems
  cluster,  ///< other blocks of the cluster have the other rows
  reduce,   ///< other blocks have; this pass leaves the ends of each block in memory
  finish    ///< and this one finds the unknowns around each block there
};

/// How systems are distributed over blocks.
struct ColumnGrid {
  int width = 1;            ///< systems of a block
  int parts = 1;            ///< chunks of a system in a block
  std::int64_t blocks = 1;  ///< blocks that share the rows of a system
};

/// Numbers of a block in memory: number j of block k and system s is at (k · 6 + j) · systems + s.
template <class T>
struct EndsInMemory {
  T* numbers;
  std::int64_t systems;
  __device__ T& at(std::int64_t block, int j, std::int64_t system) const {
    return numbers[(block * 6 + j) * systems + system];
  }
  __device__ BlockEnds<T> ends(std::int64_t block, std::int64_t system) const {
    return {at(block, 0, system), at(block, 1, system), at(block, 2, system),
            at(block, 3, system), at(block, 4, system), at(block, 5, system)};
  }
  __device__ void set(std::int64_t block, std::int64_t system, const BlockEnds<T>& e) const {
    at(block, 0, system) = e.f;
    at(block, 1, system) = e.a;
    at(block, 2, system) = e.c;
    at(block, 3, system) = e.fz;
    at(block, 4, system) = e.az;
    at(block, 5, system) = e.cz;
  }
};

template <int R, class T>
__device__ __forceinline__ void load_column(const T* from, std::int64_t stride, int count, T (&to)[R]) {
#pragma unroll
  for (int k = 0; k < R; ++k) to[k] = k < count ? from[k * stride] : T(0);
}

/// The unknowns around the rows of block `rank` of a cluster, computed by one thread for each system.
template <class T>
__device__ inline bool close_cluster(const T* ends, int width, int w, int rank, int blocks, T tolerance, T* around) {
  T kept[most_cluster_blocks][6];
  T zeta = 0, first = 0;
  const bool good = close_blocks<T>(
      blocks, [&](std::int64_t k) { return ends_at(in_block(ends, static_cast<int>(k)) + w, width); },
      [&](std::int64_t k, int j) -> T& { return kept[k][j]; }, tolerance, zeta, first);
  T behind = first;
  for (int k = blocks - 1; k > rank; --k) behind = kept[k][0] + kept[k][1] * zeta - kept[k][2] * behind;
  const T s = kept[rank][0] + kept[rank][1] * zeta - kept[rank][2] * behind;
  around[w] = kept[rank][3] - kept[rank][4] * zeta - kept[rank][5] * s;
  around[width + w] = behind;
  return good;
}

/// Which rows of which system a thread has.
struct ColumnPlace {
  int w, t;             ///< system and chunk within the block
  std::int64_t rank;    ///< of the block among those of its systems
  std::int64_t system;  ///< may lie behind the last one
  std::int64_t row;     ///< first row of the chunk
  int count;            ///< rows of the chunk

  __device__ ColumnPlace(const ColumnGrid& grid, std::int64_t length)
      : w(static_cast<int>(threadIdx.x) % grid.width),
        t(static_cast<int>(threadIdx.x) / grid.width),
        rank(blockIdx.x % grid.blocks),
        system(blockIdx.x / grid.blocks * grid.width + w) {
    const std::int64_t first = rank * length / grid.blocks, rows = (rank + 1) * length / grid.blocks - first;
    const auto begin = static_cast<int>(t * rows / grid.parts);
    row = first + begin;
    count = static_cast<int>((t + 1) * rows / grid.parts) - begin;
  }
};

/// The unknowns before and behind the rows of the block. In the pass that reduces, leaves the ends in memory instead.
template <Around where, class T>
__device__ __forceinline__ void find_around(const SweepTask<T>& p, const ColumnGrid& grid, const ColumnPlace& me,
                                            T* ends, T* around, const EndsInMemory<T>& outside, ChunkFault<T>& fault,
                                            T& before, T& behind) {
  const int width = grid.width;
  const std::int64_t from = me.system < p.systems ? me.system : p.systems - 1;
  if constexpr (where == Around::cluster) {
    cluster_barrier();
    if (me.t == 0 && !close_cluster(ends, width, me.w, static_cast<int>(me.rank), static_cast<int>(grid.blocks),
                                    p.tolerance, around))
      fault.accept_first(T(0), T(1), p.tolerance);
    __syncthreads();
    before = around[me.w];
    behind = around[width + me.w];
    return;
  }
  __syncthreads();
  const BlockEnds<T> e = ends_at(ends + me.w, width);
  if constexpr (where == Around::finish) {
    before = outside.at(me.rank, 0, from);
    behind = outside.at(me.rank, 1, from);
  } else if constexpr (where == Around::reduce) {
    if (me.t == 0 && me.system < p.systems) outside.set(me.rank, from, e);
  } else {
    close_block(e, p.tolerance, fault, before, behind);
  }
}

template <class T, Around where>
__global__ void __launch_bounds__(column_threads, 1)
    column_kernel(SweepTask<T> p, ColumnGrid grid, EndsInMemory<T> outside) {
  constexpr int R = column_rows;
  VSR_DYNAMIC_SHARED(T, x);
  const int threads = static_cast<int>(blockDim.x), tid = static_cast<int>(threadIdx.x), width = grid.width;
  T* const ends = x + 6 * threads;
  T* const around = ends + 6 * width;
  const ColumnPlace me(grid, p.length);
  const bool exists = me.system < p.systems;
  const std::int64_t from = exists ? me.system : p.systems - 1;  // further lanes repeat the last system
  const std::int64_t at = line_start(p.matrix, from, p.systems) + me.row * p.matrix.stride;
  const std::int64_t place = line_start(p.lines, from, p.systems) + me.row * p.lines.stride;
  T l[R], d[R], u[R], f[R];
  load_column(p.lower + at, p.matrix.stride, me.count, l);
  load_column(p.diagonal + at, p.matrix.stride, me.count, d);
  load_column(p.upper + at, p.matrix.stride, me.count, u);
  load_column(p.f + place, p.lines.stride, me.count, f);
  cut_period(l, u, me.count, !p.periodic && me.row == 0, !p.periodic && me.row + me.count == p.length);

  ChunkFault<T> fault;
  const T size = magnitude_of(l[0]) + magnitude_of(d[0]) + magnitude_of(u[0]);
  const ChunkRow<T> c = eliminate_chunk(l, d, u, f, me.count, p.tolerance, fault);
  T* const last = x + 3 * threads + tid;
  leave_last(c, last, threads);
  __syncthreads();
  ReducedRow<T> row = reduced_row(c, l[0], size, me.t > 0, last - width, threads, p.tolerance, fault);
  reduce_rows(row, me.t, grid.parts, tid, width, x, threads, p.tolerance, fault);
  leave_ends(row, c, me.t == 0, me.t == grid.parts - 1, ends + me.w, width);
  T before = 0, behind = 0;
  find_around<where>(p, grid, me, ends, around, outside, fault, before, behind);
  if constexpr (where == Around::reduce) {
    if (exists) fault.report(p, me.system, me.row);
    return;
  }
  const T s = row.rhs - row.a * before - row.c * behind;
  x[tid] = s;
  __syncthreads();
  substitute_back(l, u, f, me.count, s, me.t < grid.parts - 1 ? x[tid + width] : behind);
  if (exists) {
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (k < me.count) {
        fault.require_finite(k, f[k]);
        p.y[place + k * p.lines.stride] = f[k];
      }
    fault.report(p, me.system, me.row);
  }
  if constexpr (where == Around::cluster) cluster_barrier();  // nobody leaves while others read its shared memory
}

/// Between the passes: replaces the ends of the blocks of each system by the unknowns before and behind each block.
template <class T>
__global__ void close_columns(SweepTask<T> p, std::int64_t blocks, EndsInMemory<T> outside, EndsInMemory<T> kept) {
  const std::int64_t system = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (system >= p.systems) return;
  T zeta = 0, first = 0;
  const bool good = close_blocks<T>(
      blocks, [&](std::int64_t k) { return outside.ends(k, system); },
      [&](std::int64_t k, int j) -> T& { return kept.at(k, j, system); }, p.tolerance, zeta, first);
  if (!good) atomicMin(p.fault, voussoir::detail::sweep_word(system, p.length, 0, SweepFault::inaccurate));
  T behind = first;
  for (std::int64_t k = blocks - 1; k >= 0; --k) {
    const T s = kept.at(k, 0, system) + kept.at(k, 1, system) * zeta - kept.at(k, 2, system) * behind;
    outside.at(k, 0, system) = kept.at(k, 3, system) - kept.at(k, 4, system) * zeta - kept.at(k, 5, system) * s;
    outside.at(k, 1, system) = behind;
    behind = s;
  }
}

/// The distribution of a batch: systems side by side fill sectors of memory, short ones fill a block.
template <class T>
ColumnGrid column_grid(const SweepTask<T>& p) {
  ColumnGrid grid;
  const bool side_by_side = p.lines.inner_stride < p.lines.stride;
  constexpr int sector = 32 / sizeof(T);
  const std::int64_t chunks = (p.length + column_rows - 1) / column_rows;
  if (side_by_side)  // two sectors of memory, or one where the blocks of a cluster could not take all rows otherwise
    while (grid.width < p.systems &&
           (grid.width < sector ||
            (grid.width < 2 * sector && chunks * 2 * grid.width <= most_cluster_blocks * column_threads)))
      grid.width *= 2;
  while (grid.width * 2 * chunks <= column_threads / 2 && grid.width < p.systems) grid.width *= 2;
  const std::int64_t most = column_threads / grid.width;  // chunks of a block
  grid.blocks = (chunks + most - 1) / most;
  const std::int64_t rows = (p.length + grid.blocks - 1) / grid.blocks;  // of a block; some have one less
  grid.parts = static_cast<int>((rows + column_rows - 1) / column_rows);
  return grid;
}

}  // namespace

template <class T>
void solve_columns(const SweepTask<T>& task, const std::shared_ptr<DeviceMemory>& memory) {
  const cudaStream_t stream = stream_of(memory);
  const bool clusters = has_clusters(column_kernel<T, Around::cluster>);
  const ColumnGrid grid = column_grid(task);
  const std::int64_t tiles = (task.systems + grid.width - 1) / grid.width;
  const int threads = grid.parts * grid.width;
  const Grid launched{tiles * grid.blocks, threads,
                      (6 * static_cast<std::size_t>(threads) + 8 * static_cast<std::size_t>(grid.width)) * sizeof(T)};
  const EndsInMemory<T> none{nullptr, 0};
  if (grid.blocks == 1) return launch(column_kernel<T, Around::own>, launched, stream, task, grid, none);
  if (clusters && grid.blocks <= most_cluster_blocks)
    return launch_in_clusters(column_kernel<T, Around::cluster>, launched, static_cast<int>(grid.blocks), stream, task,
                              grid, none);
  const auto numbers = static_cast<std::size_t>(6 * grid.blocks * task.systems);
  Array<T> ends(memory, numbers), kept(memory, numbers);
  const EndsInMemory<T> outside{ends.write_device(), task.systems}, between{kept.write_device(), task.systems};
  launch(column_kernel<T, Around::reduce>, launched, stream, task, grid, outside);
  launch(close_columns<T>, grid_for(task.systems, 64), stream, task, grid.blocks, outside, between);
  launch(column_kernel<T, Around::finish>, launched, stream, task, grid, outside);
}

template void solve_columns(const SweepTask<double>&, const std::shared_ptr<DeviceMemory>&);
template void solve_columns(const SweepTask<float>&, const std::shared_ptr<DeviceMemory>&);

}  // namespace voussoir::cuda
