#include <voussoir/backends/cuda/matrix/symmetric_product.hpp>

#include <algorithm>

#include <voussoir/backends/cuda/matrix/cuda_operator.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/cuda/runtime/early_start.hpp>
#include <voussoir/backends/cuda/runtime/passing_through.hpp>

// Products with half a matrix: symmetric_tiles.hpp says how. Nothing is added in an order that could change.

namespace voussoir::cuda {

namespace {

/// Shared memory for slots: for 14 blocks of 3 × 3 in each row, as many as half a mesh of hexahedra has, and little
/// enough that two tiles are at work on a multiprocessor. Longer rows take several turns.
constexpr int slot_bytes = 86016;

constexpr int slot_bytes_per_block(int block_size, int columns) {
  return tile_rows * block_size * columns * static_cast<int>(sizeof(double));
}

/// Most columns of x at once: numbers of a row, of x and of y must all stay in registers.
constexpr int most_columns(int block_size) { return block_size <= 3 ? 4 : block_size <= 5 ? 2 : 1; }

/// Blocks of a row that are read before the first is used.
template <int B, int C>
constexpr int half_ahead = C > 1    ? (B == 2 && C == 2 ? 2 : 1)
                           : B == 2 ? 5
                           : B == 3 ? 3
                           : B == 4 ? 2
                                    : 1;

/// What kernels are given.
struct HalfJob {
  SlicedView rows;
  const double* value;
  const std::uint32_t* outer_start;
  const std::uint32_t* list_start;
  const ListGroup* lists;
  const std::uint32_t* arrival_start;
  const std::uint32_t* arrival;
  double* handed;  // B · C numbers per outer column
  const double* x;
  double* y;
  int columns;
  int first_column;
  int chunk;  // blocks of a row that have slots
};

/// Where a number of x or y stands.
template <int C>
__device__ std::int64_t entry_of(const HalfJob& job, std::int64_t equation, int column) {
  return C == 1 && job.columns == 1 ? equation : equation * job.columns + job.first_column + column;
}

/// The row of a thread.
template <int B, int C>
struct OwnRow {
  const std::int32_t* column = nullptr;  // 32 apart
  const double* value = nullptr;
  std::int32_t row = -1;
  int length = 0;
  double x[B * C] = {};
  double sum[B * C] = {};

  __device__ OwnRow(const HalfJob& job, std::int64_t place) {
    if (place >= static_cast<std::int64_t>(job.rows.slices) * slice_rows) return;
    row = job.rows.row[place];
    if (row < 0) return;
    length = job.rows.length[place];
    const std::int64_t first = job.rows.slice_first[place / slice_rows];
    column = job.rows.column + first * slice_rows + place % slice_rows;
    value = job.value + first * (B * B * slice_rows) + place % slice_rows;
#pragma unroll
    for (int i = 0; i < B; ++i)
#pragma unroll
      for (int c = 0; c < C; ++c)
        x[i * C + c] = __ldg(job.x + entry_of<C>(job, static_cast<std::int64_t>(row) * B + i, c));
  }

  /// Blocks k … k + Ahead, those before `end`, all read before the first is used: their shares of this row's sum, and
  /// of the rows of their mirror images, into slots from slot[0] on.
  template <int Ahead>
  __device__ void multiply(const HalfJob& job, int k, int end, double* slot) {
    std::int32_t at[Ahead];
    double a[Ahead][B * B], in[Ahead][B * C];
#pragma unroll
    for (int u = 0; u < Ahead; ++u)
      at[u] = k + u < end ? read_once(column + static_cast<std::int64_t>(k + u) * slice_rows) : row;
#pragma unroll
    for (int u = 0; u < Ahead; ++u)
#pragma unroll
      for (int e = 0; e < B * B; ++e)
        a[u][e] = k + u < end ? read_once(value + (static_cast<std::int64_t>(k + u) * (B * B) + e) * slice_rows) : 0.0;
#pragma unroll
    for (int u = 0; u < Ahead; ++u)
#pragma unroll
      for (int j = 0; j < B; ++j)
#pragma unroll
        for (int c = 0; c < C; ++c)
          in[u][j * C + c] = __ldg(job.x + entry_of<C>(job, static_cast<std::int64_t>(at[u]) * B + j, c));
#pragma unroll
    for (int u = 0; u < Ahead; ++u) {
      if (k + u >= end) break;
#pragma unroll
      for (int i = 0; i < B; ++i)
#pragma unroll
        for (int j = 0; j < B; ++j)
#pragma unroll
          for (int c = 0; c < C; ++c) sum[i * C + c] += a[u][i * B + j] * in[u][j * C + c];
#pragma unroll
      for (int j = 0; j < B; ++j)
#pragma unroll
        for (int c = 0; c < C; ++c) {
          double share = 0;
#pragma unroll
          for (int i = 0; i < B; ++i) share += a[u][i * B + j] * x[i * C + c];
          slot[(u * B * C + j * C + c) * tile_rows] = share;
        }
    }
  }
};

/// sum += the slots of a receiver that belong to blocks k0 … k0 + chunk. Returns whether there were any.
template <int N>
__device__ bool collect(const std::uint16_t* list, int begin, int end, int k0, int chunk, const double* slot,
                        double (&sum)[N]) {
  bool any = false;
  for (int i = begin; i < end; ++i) {
    const int code = list[i], k = (code >> 8) - k0;
    if (k < 0) continue;
    if (k >= chunk) break;  // they ascend
    const double* from = slot + k * (N * tile_rows) + (code & 0xff);
#pragma unroll
    for (int n = 0; n < N; ++n) sum[n] += from[n * tile_rows];
    any = true;
  }
  return any;
}

/// The shares of all blocks of a tile, by a block of threads: those of the rows of the tile go to y, those of outer
/// columns are handed over.
template <int B, int C>
__global__ void __launch_bounds__(tile_rows, B* B + 3 * B * C > 40 ? 1 : 2) multiply_tiles(HalfJob job) {
  after_earlier_work();
  constexpr int N = B * C;
  VSR_DYNAMIC_SHARED(double, slot);
  const int rank = static_cast<int>(threadIdx.x);
  const std::int64_t tile = blockIdx.x;
  const std::uint32_t first_outer = job.outer_start[tile], first_group = job.list_start[tile];
  const auto outers = static_cast<int>(job.outer_start[tile + 1] - first_outer);
  const auto groups = static_cast<int>(job.list_start[tile + 1] - first_group);
  OwnRow<B, C> own(job, tile * tile_rows + rank);
  auto* lists = reinterpret_cast<ListGroup*>(slot + job.chunk * (N * tile_rows));
#pragma unroll 2
  for (int g = rank; g < groups; g += tile_rows) lists[g] = job.lists[first_group + static_cast<std::uint32_t>(g)];
  const auto* start = reinterpret_cast<const std::uint16_t*>(lists);
  const std::uint16_t* list = start + tile_rows + outers + 1;
  // The longest row stands first.
  const std::int64_t slice = tile * (tile_rows / slice_rows);
  const auto width = static_cast<int>(job.rows.slice_first[slice + 1] - job.rows.slice_first[slice]);
  constexpr int ahead = half_ahead<B, C>;
  for (int k0 = 0; k0 < width; k0 += job.chunk) {
    const int end = own.length < k0 + job.chunk ? own.length : k0 + job.chunk;
    for (int k = k0; k < end; k += ahead)
      own.template multiply<ahead>(job, k, end, slot + (k - k0) * (N * tile_rows) + rank);
    __syncthreads();
    collect<N>(list, start[rank], start[rank + 1], k0, job.chunk, slot, own.sum);
    for (int r = rank; r < outers; r += tile_rows) {
      double sum[N] = {};
      const bool any = collect<N>(list, start[tile_rows + r], start[tile_rows + r + 1], k0, job.chunk, slot, sum);
      double* handed = job.handed + (static_cast<std::int64_t>(first_outer) + r) * N;
      // The same thread comes by in every turn.
      if (k0 == 0) {
#pragma unroll
        for (int n = 0; n < N; ++n) handed[n] = sum[n];
      } else if (any) {
#pragma unroll
        for (int n = 0; n < N; ++n) handed[n] += sum[n];
      }
    }
    __syncthreads();
  }
  if (own.row < 0) return;
#pragma unroll
  for (int i = 0; i < B; ++i)
#pragma unroll
    for (int c = 0; c < C; ++c)
      job.y[entry_of<C>(job, static_cast<std::int64_t>(own.row) * B + i, c)] = own.sum[i * C + c];
}

/// Adds to y what arrives from other tiles, a thread per number. Partial sums of x·y: one per block.
template <int B, int C, bool Dot>
__global__ void __launch_bounds__(sum_threads) add_arrivals(HalfJob job, double* partials) {
  after_earlier_work();
  constexpr int N = B * C;
  const std::int64_t count = static_cast<std::int64_t>(job.rows.rows) * N;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * sum_threads;
  double share = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x; i < count; i += step) {
    const std::int64_t row = i / N;
    const auto n = static_cast<int>(i % N);
    const std::int64_t entry = entry_of<C>(job, row * B + n / C, n % C);
    const std::uint32_t first = job.arrival_start[row], last = job.arrival_start[row + 1];
    double sum = job.y[entry];
#pragma unroll 2
    for (std::uint32_t k = first; k < last; ++k) sum += job.handed[static_cast<std::int64_t>(job.arrival[k]) * N + n];
    if (last > first) job.y[entry] = sum;
    if constexpr (Dot) share += __ldg(job.x + entry) * sum;
  }
  if constexpr (Dot) {
    const double sum = sum_block<sum_threads>(share);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
  }
}

std::int64_t arrival_blocks(std::int64_t numbers) {
  return std::clamp<std::int64_t>((numbers + sum_threads - 1) / sum_threads, 1, CudaOperator::most_dot_partials);
}

std::size_t list_bytes(const SymmetricTiles& tiles) { return std::size_t{tiles.most_groups} * sizeof(ListGroup); }

/// Blocks of a row that have slots at a time.
int chunk_of(const SymmetricTiles& tiles, int block_size, int columns, const CudaMemory& memory) {
  const std::size_t limit = memory.facts().shared_bytes_per_block, lists = list_bytes(tiles);
  const std::size_t room = std::min<std::size_t>(slot_bytes, limit > lists ? limit - lists : 0);
  const std::size_t each = static_cast<std::size_t>(slot_bytes_per_block(block_size, columns));
  return std::min(tiles.longest, static_cast<int>(room / each));
}

/// The same job from tile `first` on.
HalfJob from_tile(HalfJob job, std::int32_t first) {
  constexpr int slices_of_tile = tile_rows / slice_rows;
  job.rows.slices -= first * slices_of_tile;
  job.rows.slice_first += first * slices_of_tile;
  job.rows.row += static_cast<std::int64_t>(first) * tile_rows;
  job.rows.length += static_cast<std::int64_t>(first) * tile_rows;
  job.outer_start += first;
  job.list_start += first;
  return job;
}

template <int B, int C>
void multiply_columns(const HalfProduct& p, int first_column, double* handed, const CudaMemory& memory) {
  const int chunk = chunk_of(p.tiles, B, C, memory);
  const HalfJob job{p.rows.view(),
                    p.value,
                    p.tiles.outer_start.read_device(),
                    p.tiles.list_start.read_device(),
                    p.tiles.lists.read_device(),
                    p.tiles.arrival_start.read_device(),
                    p.tiles.arrival.read_device(),
                    handed,
                    p.x,
                    p.y,
                    p.columns,
                    first_column,
                    chunk};
  const std::size_t slots = static_cast<std::size_t>(chunk) * static_cast<std::size_t>(slot_bytes_per_block(B, C));
  const std::int32_t first = p.phase == TilePhase::rest ? p.tiles.interior_tiles : 0;
  const std::int32_t end = p.phase == TilePhase::interior ? p.tiles.interior_tiles : p.tiles.tiles;
  // What follows values from other devices waits for all of them, not for the kernel before alone.
  const Start start = p.phase == TilePhase::rest ? Start::in_order : Start::early;
  launch(multiply_tiles<B, C>, Grid{end - first, tile_rows, slots + list_bytes(p.tiles), start}, memory.stream(),
         from_tile(job, first));
  if (p.phase == TilePhase::interior) return;
  const Grid grid{arrival_blocks(static_cast<std::int64_t>(p.rows.rows) * B * C), sum_threads, 0, Start::early};
  if constexpr (C == 1) {
    if (p.partials) return launch(add_arrivals<B, C, true>, grid, memory.stream(), job, p.partials);
  }
  if (p.tiles.outer_count > 0) launch(add_arrivals<B, C, false>, grid, memory.stream(), job, nullptr);
}

/// The same product for multiply_wide().
SparseProduct wide_product(const HalfProduct& p, const std::shared_ptr<DeviceMemory>& memory) {
  if (p.tiles.mirrored.length.empty()) p.tiles.mirrored = make_mirrored(p.rows, memory);
  SparseProduct product;
  product.rows = p.rows.view();
  product.value = p.value;
  product.x = p.x;
  product.y = p.y;
  product.columns = p.columns;
  product.mirrored = p.tiles.mirrored.view();
  return product;
}

/// Where shares for outer columns go. What a product of one column uses never moves: such products may be recorded.
double* room_for_handed(const HalfProduct& p, int block_size, int left, const std::shared_ptr<DeviceMemory>& memory) {
  if (p.columns == 1) return p.tiles.handed.write_device();
  const int columns = std::min(left, most_columns(block_size));
  const auto wanted = static_cast<std::size_t>(p.tiles.outer_count * block_size * columns);
  if (p.tiles.handed_several.size() < wanted) p.tiles.handed_several = Array<double>(memory, wanted);
  return p.tiles.handed_several.write_device();
}

template <int B>
void multiply_blocks(const HalfProduct& p, const std::shared_ptr<DeviceMemory>& memory) {
  const CudaMemory& cuda = cuda_memory(memory);
  const SparseProduct wide = p.columns > 4 ? wide_product(p, memory) : SparseProduct{};
  for (int c = 0; c < p.columns;) {
    const int left = p.columns - c;
    if (left > 4) {
      c += multiply_wide(wide, B, c, cuda);
      continue;
    }
    double* handed = room_for_handed(p, B, left, memory);
    if constexpr (most_columns(B) >= 4) {
      if (left >= 4) {
        multiply_columns<B, 4>(p, c, handed, cuda);
        c += 4;
        continue;
      }
    }
    if constexpr (most_columns(B) >= 2) {
      if (left >= 2) {
        multiply_columns<B, 2>(p, c, handed, cuda);
        c += 2;
        continue;
      }
    }
    multiply_columns<B, 1>(p, c, handed, cuda);
    ++c;
  }
}

}  // namespace

bool fits_half_product(const SymmetricTiles& tiles, int block_size, const CudaMemory& memory) {
  return chunk_of(tiles, block_size, most_columns(block_size), memory) > 0;
}

int partials_of_half_product(const SlicedRows& rows, int block_size) {
  return static_cast<int>(arrival_blocks(static_cast<std::int64_t>(rows.rows) * block_size));
}

void multiply_half(const HalfProduct& product, int block_size, const std::shared_ptr<DeviceMemory>& memory) {
  switch (block_size) {
    case 2:
      return multiply_blocks<2>(product, memory);
    case 3:
      return multiply_blocks<3>(product, memory);
    case 4:
      return multiply_blocks<4>(product, memory);
    case 5:
      return multiply_blocks<5>(product, memory);
    default:
      return multiply_blocks<6>(product, memory);
  }
}

}  // namespace voussoir::cuda
