#include <algorithm>

#include <voussoir/backends/cuda/runtime/clusters.hpp>
#include <voussoir/backends/cuda/runtime/tile_copy.hpp>
#include <voussoir/backends/cuda/sweeps/chunks.hpp>
#include <voussoir/backends/cuda/sweeps/tiles.hpp>

// Systems side by side. A cluster of blocks takes the systems of a tile, 64 bytes of neighbours or more; each block has
// some of their rows, each thread a chunk of one system. The cluster stays resident and takes the next tile; the copy
// engine brings its arrays ahead of time and takes results away.

namespace voussoir::cuda {

namespace {

/// Rows of a chunk: odd, so that threads of a warp read different banks of shared memory.
constexpr int tile_chunk = 17;
template <class T>
constexpr int tile_threads = sizeof(T) == 8 ? 256 : 512;
constexpr int most_tile_blocks = 8;
constexpr int most_tile_slots = 5;

/// How systems are distributed over clusters.
struct TileGrid {
  int width = 0;              ///< systems of a tile; 0 where the systems do not fit this way of solving
  int blocks = 1;             ///< of a cluster: a power of two
  int rows = 0;               ///< of a block: boxes · box_rows; the last block may have fewer
  int boxes = 1;              ///< rectangles of an array in a block
  int box_rows = 0;           ///< rows of a rectangle
  int threads = 0;            ///< of a block
  int slots = 0;              ///< arrays of a tile that are on their way or in use at the same time
  std::int64_t across = 0;    ///< tiles of an inner range
  std::int64_t tiles = 0;     ///< tiles of all systems
  std::int64_t clusters = 0;  ///< that take tiles at the same time

  __host__ __device__ int slot() const { return rows * width; }  ///< numbers of an array in a block
};

/// The arrays as the copy engine sees them.
struct TileMaps {
  TileMap lower, diagonal, upper, f, y;
};

/// Bytes of shared memory: the ring, the results, the exchange of reduced rows, ends of systems twice, the unknowns
/// around the rows, arrivals.
template <class T>
std::size_t tile_bytes(const TileGrid& grid) {
  const auto numbers = static_cast<std::size_t>(grid.slots + 1) * static_cast<std::size_t>(grid.slot()) +
                       6 * static_cast<std::size_t>(grid.threads) + 15 * static_cast<std::size_t>(grid.width);
  return 128 + numbers * sizeof(T) + (most_tile_slots + 1) * sizeof(Arrival);
}

/// The order in which thread 0 brings the arrays of one tile after another: right-hand sides alone where systems share
/// a matrix.
template <class T, bool shared>
class TileBringing {
 public:
  __device__ TileBringing(const TileMaps& maps, const TileGrid& grid, int rank, T* ring, Arrival* arrived)
      : maps_(maps), grid_(grid), ring_(ring), arrived_(arrived), rank_(rank), tile_(blockIdx.x / grid.blocks) {}
  __device__ void next() {
    if (tile_ < grid_.tiles) {
      const TileMap& map = shared || array_ == 3 ? maps_.f
                           : array_ == 0         ? maps_.lower
                           : array_ == 1         ? maps_.diagonal
                                                 : maps_.upper;
      const auto z = static_cast<int>(tile_ / grid_.across),
                 x = static_cast<int>(tile_ - z * grid_.across) * grid_.width;
      T* to = ring_ + slot_ * grid_.slot();
      expect_bytes(arrived_ + slot_, static_cast<unsigned>(grid_.slot() * static_cast<int>(sizeof(T))));
      for (int k = 0; k < grid_.boxes; ++k, to += grid_.box_rows * grid_.width)
        bring_tile(to, map, x, rank_ * grid_.rows + k * grid_.box_rows, z, arrived_ + slot_);
    }
    if (shared || ++array_ == 4) {
      array_ = 0;
      tile_ += grid_.clusters;
    }
    if (++slot_ == grid_.slots) slot_ = 0;
  }

 private:
  const TileMaps& maps_;
  const TileGrid& grid_;
  T* ring_;
  Arrival* arrived_;
  int rank_;
  std::int64_t tile_;
  int array_ = 0, slot_ = 0;
};

/// What one tile after another takes from the ring.
template <class T>
struct TileTaking {
  const T* ring;
  Arrival* arrived;
  int slot_size, slots, width, slot = 0;
  unsigned parity = 0;

  /// Waits for the next array and reads `count` numbers of a system from `at` on.
  template <int R>
  __device__ __forceinline__ void next(int at, int count, T (&v)[R]) {
    wait_arrival(arrived + slot, parity);
    const T* from = ring + slot * slot_size + at;
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (k < count) v[k] = from[k * width];
    if (++slot == slots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

/// Which rows of which system a thread has. Threads without a chunk stand behind the last one.
struct TilePlace {
  int rank, w, t, parts, begin, count, first_row;

  __device__ TilePlace(const TileGrid& grid, int length) {
    constexpr int R = tile_chunk;
    rank = static_cast<int>(blockIdx.x) % grid.blocks;
    first_row = rank * grid.rows;
    const int rest = length - first_row, rows = rest < grid.rows ? rest : grid.rows;
    parts = (rows + R - 1) / R;
    w = static_cast<int>(threadIdx.x) % grid.width;
    const int chunk = static_cast<int>(threadIdx.x) / grid.width;
    t = chunk < parts ? chunk : parts;
    begin = t * R;
    const int left = rows - begin;
    count = t == parts ? 0 : left < R ? left : R;
  }
  __device__ bool has_chunk() const { return t < parts; }
};

/// The unknowns before and behind the rows of a block, and how much of a digit is left of the pivots that lead to them:
/// 1 where nothing is lost.
template <class T>
struct TileSurroundings {
  T before, behind, share;
};

/// Keeps the worst growth of errors. A pivot that is small compared with the numbers it was made of magnifies their
/// errors, and those that earlier pivots magnified.
template <class T>
struct ErrorGrowth {
  T most = 1, worst = 1;
  __device__ __forceinline__ void pass(T one, T other) {
    const T growth = one > other || !(one == one) ? one : other;
    worst = growth * most > worst || !(growth == growth) ? growth * most : worst;
    most = growth > most ? growth : most;
  }
};

/// Finds what is around the rows of a block from the ends of all blocks of a cluster, by cyclic reduction around the
/// ring of blocks: lane k of a group of `blocks` lanes has those of block k. Each step eliminates the neighbours h
/// blocks away; after the last one every block is its own neighbour.
template <class T>
__device__ inline TileSurroundings<T> close_ring(BlockEnds<T> e, int k, int blocks) {
  const auto from = [&](T value, int hop) { return __shfl_sync(0xffffffffu, value, (k + hop) & (blocks - 1), blocks); };
  ErrorGrowth<T> errors;
  for (int h = 1; h < blocks; h *= 2) {
    const T fz = from(e.fz, blocks - h), az = from(e.az, blocks - h), cz = from(e.cz, blocks - h);
    const T f = from(e.f, h), a = from(e.a, h), c = from(e.c, h);
    const T m00 = 1 - e.a * cz, m01 = -e.c * a, m10 = -e.az * cz, m11 = 1 - e.cz * a;
    const T r = inverse_of(m00 * m11 - m01 * m10), i00 = m11 * r, i01 = -m01 * r, i10 = -m10 * r, i11 = m00 * r;
    errors.pass(magnitude_of(i00) * (1 + magnitude_of(e.a * cz) + magnitude_of(m01)),
                magnitude_of(i11) * (1 + magnitude_of(e.cz * a) + magnitude_of(m10)));
    const T fs = e.f - e.a * fz - e.c * f, as = -e.a * az, cs = -e.c * c;
    const T ft = e.fz - e.az * fz - e.cz * f, at = -e.az * az, ct = -e.cz * c;
    e = {i00 * fs + i01 * ft, i00 * as + i01 * at, i00 * cs + i01 * ct,
         i10 * fs + i11 * ft, i10 * as + i11 * at, i10 * cs + i11 * ct};
  }
  // s = f − a z − c s and z = fz − az z − cz s
  const T c0 = 1 + e.c, az = 1 + e.az, r = inverse_of(c0 * az - e.a * e.cz);
  errors.pass(magnitude_of(az * r) * (1 + magnitude_of(e.c) + magnitude_of(e.a)),
              magnitude_of(c0 * r) * (1 + magnitude_of(e.az) + magnitude_of(e.cz)));
  const T s = (e.f * az - e.a * e.fz) * r, z = (c0 * e.fz - e.cz * e.f) * r;
  return {from(z, blocks - 1), from(s, 1), inverse_of(errors.worst)};
}

/// The unknowns before and behind the rows of the block of each system, for all threads.
template <bool cluster, class T>
__device__ __forceinline__ void find_around_tile(const TileGrid& grid, const TilePlace& me, const T* ends, T* around,
                                                 T tolerance, ChunkFault<T>& fault, T& before, T& behind) {
  const int width = grid.width, tid = static_cast<int>(threadIdx.x);
  if constexpr (cluster) {
    cluster_barrier();
    const int lanes = (width * grid.blocks + 31) / 32 * 32;
    if (tid < lanes) {
      const int k = tid % grid.blocks, system = tid / grid.blocks, w = system < width ? system : width - 1;
      const TileSurroundings<T> found = close_ring(ends_at(in_block(ends, k) + w, width), k, grid.blocks);
      if (k == me.rank && system < width) {
        around[w] = found.before;
        around[width + w] = found.behind;
        around[2 * width + w] = found.share;
      }
    }
    __syncthreads();
    before = around[me.w];
    behind = around[width + me.w];
    if (me.t == 0) fault.accept_first(around[2 * width + me.w], T(1), tolerance);
  } else {
    __syncthreads();
    close_block(ends_at(ends + me.w, width), tolerance, fault, before, behind);
  }
}

/// Rows of a shared matrix, which caches keep.
template <int R, class T>
__device__ __forceinline__ void read_matrix_rows(const T* array, int count, T (&v)[R]) {
#pragma unroll
  for (int k = 0; k < R; ++k) v[k] = k < count ? __ldg(array + k) : T(0);
}

template <class T, bool cluster, bool shared>
__global__ void __launch_bounds__(tile_threads<T>, 1)
    tile_kernel(SweepTask<T> p, TileGrid grid, const __grid_constant__ TileMaps maps) {
  constexpr int R = tile_chunk;
  VSR_DYNAMIC_SHARED(T, numbers);
  const int threads = static_cast<int>(blockDim.x), tid = static_cast<int>(threadIdx.x), width = grid.width;
  T* const ring = tile_start(numbers);
  T* const out = ring + grid.slots * grid.slot();
  T* const x = out + grid.slot();
  T* const around = x + 6 * threads;
  T* const all_ends = around + 3 * width;
  auto* const arrived = after_numbers<Arrival>(all_ends + 12 * width);
  const TilePlace me(grid, static_cast<int>(p.length));
  const int at = me.begin * width + me.w;
  const bool first_row = me.t == 0 && me.rank == 0,
             last_row = me.t == me.parts - 1 && me.first_row + me.begin + me.count == p.length;
  if (tid == 0)
    for (int k = 0; k < grid.slots; ++k) make_arrival(arrived + k);
  arrivals_are_made();
  TileBringing<T, shared> bringing(maps, grid, me.rank, ring, arrived);
  TileTaking<T> taking{ring, arrived, grid.slot(), grid.slots, width};
  if (tid == 0)
    for (int k = 0; k < grid.slots; ++k) bringing.next();
  int side = 0;
  for (std::int64_t tile = blockIdx.x / grid.blocks; tile < grid.tiles; tile += grid.clusters, side ^= 1) {
    T l[R], d[R], u[R], f[R];
    l[0] = d[0] = u[0] = f[0] = 0;
    if constexpr (shared) {
      const int row = me.first_row + me.begin;
      read_matrix_rows(p.lower + row, me.count, l);
      read_matrix_rows(p.diagonal + row, me.count, d);
      read_matrix_rows(p.upper + row, me.count, u);
    } else {
      taking.next(at, me.count, l);
      taking.next(at, me.count, d);
      taking.next(at, me.count, u);
    }
    taking.next(at, me.count, f);
    __syncthreads();
    if (tid == 0) {
      for (int k = 0; k < (shared ? 1 : 4); ++k) bringing.next();
      wait_taken();
    }
    cut_period(l, u, me.count, !p.periodic && first_row, !p.periodic && last_row);
    ChunkFault<T> fault;
    const T size = magnitude_of(l[0]) + magnitude_of(d[0]) + magnitude_of(u[0]);
    const ChunkRow<T> c = eliminate_chunk(l, d, u, f, me.count, p.tolerance, fault);
    T* const last = x + 3 * threads + tid;
    leave_last(c, last, threads);
    __syncthreads();
    ReducedRow<T> row = reduced_row(c, l[0], size, me.t > 0, last - width, threads, p.tolerance, fault);
    reduce_rows(row, me.t, me.parts, tid, width, x, threads, p.tolerance, fault);
    T* const ends = all_ends + side * 6 * width;
    leave_ends(row, c, me.t == 0, me.t == me.parts - 1, ends + me.w, width);
    T before = 0, behind = 0;
    find_around_tile<cluster>(grid, me, ends, around, p.tolerance, fault, before, behind);
    const T s = row.rhs - row.a * before - row.c * behind;
    x[tid] = s;
    __syncthreads();
    substitute_back(l, u, f, me.count, s, me.t < me.parts - 1 ? x[tid + width] : behind);
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (k < me.count) {
        fault.require_finite(k, f[k]);
        out[at + k * width] = f[k];
      }
    const auto z = static_cast<int>(tile / grid.across), left = static_cast<int>(tile - z * grid.across) * width;
    if (me.has_chunk() && left + me.w < p.lines.inner)
      fault.report(p, z * p.lines.inner + left + me.w, me.first_row + me.begin);
    written_for_bulk();
    __syncthreads();
    if (tid == 0) {
      for (int k = 0; k < grid.boxes; ++k)
        take_tile(maps.y, left, me.first_row + k * grid.box_rows, z, out + k * grid.box_rows * width);
      all_tiles_started();
    }
  }
  if (tid == 0) wait_all_taken();
  if constexpr (cluster) cluster_barrier();  // nobody leaves while others read its shared memory
}

/// An array of systems side by side as the copy engine would see it.
template <class T>
TileShape tile_shape(const SweepTask<T>& p, const T* array, const TileGrid& grid) {
  TileShape shape;
  shape.start = array + p.lines.first;
  shape.number_bytes = static_cast<int>(sizeof(T));
  shape.extent[0] = p.lines.inner;
  shape.extent[1] = p.length;
  shape.extent[2] = p.systems / p.lines.inner;
  shape.stride_y = p.lines.stride;
  shape.stride_z = shape.extent[2] > 1 ? p.lines.outer_stride : p.lines.stride;
  shape.width = grid.width;
  shape.height = grid.box_rows;
  return shape;
}

/// Rows of blocks and rectangles for a number of blocks; false where the last block would have none.
inline bool set_tile_rows(TileGrid& grid, std::int64_t length, int blocks) {
  constexpr std::int64_t most_box = 256;
  const std::int64_t rows = (length + blocks - 1) / blocks;
  grid.blocks = blocks;
  grid.boxes = static_cast<int>((rows + most_box - 1) / most_box);
  grid.box_rows = static_cast<int>((rows + grid.boxes - 1) / grid.boxes + 1) / 2 * 2;  // each begins at 128 bytes
  grid.rows = grid.boxes * grid.box_rows;
  return static_cast<std::int64_t>(blocks - 1) * grid.rows < length;
}

/// Systems that fill a block with their rows have a cluster; many short ones share a block.
template <class T>
TileGrid tile_grid(const SweepTask<T>& p) {
  constexpr int piece = 64 / sizeof(T);
  const auto chunks_of = [](int rows) { return (rows + tile_chunk - 1) / tile_chunk; };
  TileGrid grid;
  int blocks = 1;
  while (!set_tile_rows(grid, p.length, blocks) || chunks_of(grid.rows) * piece > tile_threads<T>) {
    blocks *= 2;
    if (blocks > most_tile_blocks) return {};
  }
  grid.width = piece;
  const int chunks = chunks_of(grid.rows);
  while (chunks * grid.width * 2 <= tile_threads<T> && grid.width < p.lines.inner && grid.width < 256) grid.width *= 2;
  grid.threads = (chunks * grid.width + 31) / 32 * 32;
  grid.slots = sizeof(T) == 8 ? most_tile_slots : most_tile_slots - 1;  // as measured
  grid.across = (p.lines.inner + grid.width - 1) / grid.width;
  grid.tiles = grid.across * (p.systems / p.lines.inner);
  return grid;
}

/// Whether all systems have one matrix, whose rows are contiguous.
template <class T>
bool has_shared_matrix(const SweepTask<T>& p) {
  return p.matrix.inner == p.systems && p.matrix.inner_stride == 0 && p.matrix.stride == 1 && p.matrix.first == 0;
}

template <class T>
bool tiles_fit(const SweepTask<T>& p, const TileGrid& grid) {
  if (grid.width == 0 || p.lines.inner_stride != 1 || p.lines.stride == 1) return false;
  const auto allowed = [&](const T* array) { return allows_tiles(tile_shape(p, array, grid)); };
  if (!allowed(p.f) || !allowed(p.y)) return false;
  return has_shared_matrix(p) || (allowed(p.lower) && allowed(p.diagonal) && allowed(p.upper));
}

template <class T, bool cluster, bool shared>
bool launch_tiles(const SweepTask<T>& task, TileGrid grid, const CudaMemory& cuda) {
  Grid launched{0, grid.threads, tile_bytes<T>(grid)};
  if (launched.shared_bytes > cuda.facts().shared_bytes_per_block) return false;
  const std::int64_t most =
      cluster ? most_clusters(tile_kernel<T, cluster, shared>, launched, grid.blocks)
              : most_blocks_together(tile_kernel<T, cluster, shared>, grid.threads, launched.shared_bytes);
  if (most < 1) return false;
  grid.clusters = std::min(grid.tiles, most);
  launched.blocks = grid.clusters * grid.blocks;
  const auto map = [&](const T* array) { return make_tile_map(tile_shape(task, array, grid)); };
  TileMaps maps{};
  maps.f = map(task.f);
  maps.y = map(task.y);
  if constexpr (!shared) {
    maps.lower = map(task.lower);
    maps.diagonal = map(task.diagonal);
    maps.upper = map(task.upper);
  }
  if constexpr (cluster)
    launch_in_clusters(tile_kernel<T, cluster, shared>, launched, grid.blocks, cuda.stream(), task, grid, maps);
  else
    launch(tile_kernel<T, cluster, shared>, launched, cuda.stream(), task, grid, maps);
  return true;
}

}  // namespace

template <class T>
bool solve_tiles(const SweepTask<T>& task, const std::shared_ptr<DeviceMemory>& memory) {
  if (!has_clusters(tile_kernel<T, false, false>)) return false;  // the copy engine came with the same GPUs
  const TileGrid grid = tile_grid(task);
  if (!tiles_fit(task, grid)) return false;
  const CudaMemory& cuda = cuda_memory(memory);
  if (has_shared_matrix(task))
    return grid.blocks > 1 ? launch_tiles<T, true, true>(task, grid, cuda)
                           : launch_tiles<T, false, true>(task, grid, cuda);
  return grid.blocks > 1 ? launch_tiles<T, true, false>(task, grid, cuda)
                         : launch_tiles<T, false, false>(task, grid, cuda);
}

template bool solve_tiles(const SweepTask<double>&, const std::shared_ptr<DeviceMemory>&);
template bool solve_tiles(const SweepTask<float>&, const std::shared_ptr<DeviceMemory>&);

}  // namespace voussoir::cuda
