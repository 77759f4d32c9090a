#include <voussoir/backends/cuda/matrix/symmetric_tiles.hpp>

#include <bit>

#include <voussoir/backends/cuda/matrix/matrix_pattern.hpp>
#include <voussoir/backends/cuda/matrix/symmetric_mirror.hpp>
#include <voussoir/backends/cuda/matrix/symmetric_product.hpp>
#include <voussoir/backends/cuda/primitives/count_before.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>

// Tiles of half a matrix, and the places at which they hand shares over.

namespace voussoir::cuda {

namespace {

/// Fewest rows and bytes of half a matrix: a smaller one as a whole fits the cache of a large GPU, or has too few tiles
/// for all its multiprocessors. The emulation is for tests, whose models are small.
constexpr std::int32_t fewest_rows = emulated ? 48 : 32768;
constexpr double fewest_bytes = emulated ? 0 : 24e6;
/// A slot is named by 16 bits, eight of them for the place.
constexpr std::uint32_t most_blocks_of_row = 256;
constexpr std::uint32_t most_slots_of_tile = 16384;
/// A thread adds what arrives for a row.
constexpr std::uint32_t most_mirrored_of_row = 256;
/// More than this share of the matrix may not be handed over: of bricks in a box it is a tenth, and halves win; of
/// Tet10 in an order of little locality a quarter, and whole rows do.
constexpr double most_handed = emulated ? 0.4 : 0.15;

/// Lengths of half the rows, and how many blocks they leave out, a thread per row.
__global__ void measure_half(SlicedView whole, std::int32_t* length, std::int32_t* skipped) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= whole.rows) return;
  const std::int32_t p = whole.place[i];
  const std::int32_t* own =
      whole.column + static_cast<std::int64_t>(whole.slice_first[p / slice_rows]) * slice_rows + p % slice_rows;
  std::int32_t k = 0;
  while (k < whole.length[p] && own[static_cast<std::int64_t>(k) * slice_rows] < i) ++k;
  skipped[i] = k;
  length[i] = whole.length[p] - k;
}

/// A thread per place.
__global__ void copy_half(SlicedView whole, const std::int32_t* skipped, SlicedView half, std::int32_t* column) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t slice = p / slice_rows;
  if (slice >= half.slices) return;
  const std::int32_t row = half.row[p], length = half.length[p];
  if (row < 0) return;
  const std::int32_t from = whole.place[row];
  const std::int32_t* source =
      whole.column + (static_cast<std::int64_t>(whole.slice_first[from / slice_rows]) + skipped[row]) * slice_rows +
      from % slice_rows;
  std::int32_t* target = column + static_cast<std::int64_t>(half.slice_first[slice]) * slice_rows + p % slice_rows;
  for (std::int32_t k = 0; k < length; ++k)
    target[static_cast<std::int64_t>(k) * slice_rows] = source[static_cast<std::int64_t>(k) * slice_rows];
}

/// The most of all rows and tiles.
struct Extremes {
  std::uint32_t blocks_of_row;
  std::uint32_t mirrored_of_row;  // blocks that it leaves out
  std::uint32_t slots_of_tile;
  std::uint32_t groups_of_tile;
  std::uint32_t boundary_tiles;  // from the first with a column of another device to the last
};

__global__ void __launch_bounds__(tile_rows) measure_tiles(SlicedView rows, std::uint32_t* mirrored, Extremes* most) {
  VSR_SHARED unsigned slots, longest;
  if (threadIdx.x == 0) slots = longest = 0;
  __syncthreads();
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * tile_rows + threadIdx.x;
  unsigned own = 0;
  for_mirrored(rows, p, [&](std::int32_t, std::int32_t column) {
    ++own;
    atomicAdd(&mirrored[column], 1u);
  });
  atomicAdd(&slots, own);
  if (p < static_cast<std::int64_t>(rows.slices) * slice_rows) {
    const std::int32_t length = rows.length[p];
    atomicMax(&longest, static_cast<unsigned>(length));
    // Columns ascend, and those of other devices come last.
    const std::int64_t first = rows.slice_first[p / slice_rows];
    if (length > 0 && rows.column[(first + length - 1) * slice_rows + p % slice_rows] >= rows.rows)
      atomicMax(&most->boundary_tiles, static_cast<unsigned>(gridDim.x - blockIdx.x));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicMax(&most->blocks_of_row, longest);
  atomicMax(&most->slots_of_tile, slots);
}

__global__ void measure_mirrored(std::int32_t rows, const std::uint32_t* mirrored, Extremes* most) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  // Most rows leave the number as it is, and need not queue up for it.
  if (i < rows && mirrored[i] > most->mirrored_of_row) atomicMax(&most->mirrored_of_row, mirrored[i]);
}

/// Where the lists of tiles go.
struct TileLists {
  std::uint32_t* outer_start;  // first counts, later starts
  std::uint32_t* list_start;
  Extremes* most;
  std::uint32_t* outer_column;
  ListGroup* lists;
};

/// Receiver << 16 | k << 8 | place, where outer columns count as receivers by their distance from the first row.
__device__ unsigned long long receiver_of(unsigned long long key) { return key >> 16; }

/// Writes the keys of a tile's slots, ascending, and returns how many there are. `room` is a power of two.
__device__ int sort_slots(const SlicedView& rows, int room, unsigned long long* keys) {
  VSR_SHARED unsigned cursor;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_rows, p = first + threadIdx.x;
  if (threadIdx.x == 0) cursor = 0;
  __syncthreads();
  // In any order: they are sorted next.
  for_mirrored(rows, p, [&](std::int32_t k, std::int32_t column) {
    const std::int64_t receiver = (column < first + tile_rows ? rows.place[column] : column) - first;
    keys[atomicAdd(&cursor, 1u)] = static_cast<unsigned long long>(receiver) << 16 |
                                   static_cast<unsigned long long>(k) << 8 |
                                   static_cast<unsigned long long>(threadIdx.x);
  });
  __syncthreads();
  const auto count = static_cast<int>(cursor);
  int used = 1;
  while (used < count) used *= 2;
  for (int i = count + static_cast<int>(threadIdx.x); i < used && i < room; i += tile_rows) keys[i] = ~0ull;
  sort_keys(BlockGroup{}, keys, used);
  return count;
}

/// The lists of a tile, by a block of threads: first how long they are, then the lists themselves.
template <bool Write>
__global__ void __launch_bounds__(tile_rows) list_tiles(SlicedView rows, int room, TileLists out) {
  VSR_DYNAMIC_SHARED(unsigned long long, keys);
  const int count = sort_slots(rows, room, keys), rank = static_cast<int>(threadIdx.x);
  std::uint16_t *start = nullptr, *slot = nullptr;
  std::uint32_t first_outer = 0;
  if constexpr (Write) {
    first_outer = out.outer_start[blockIdx.x];
    start = reinterpret_cast<std::uint16_t*>(out.lists + out.list_start[blockIdx.x]);
    slot = start + tile_rows + (out.outer_start[blockIdx.x + 1] - first_outer) + 1;
    int low = 0, high = count;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (receiver_of(keys[middle]) < static_cast<unsigned long long>(rank))
        low = middle + 1;
      else
        high = middle;
    }
    start[rank] = static_cast<std::uint16_t>(low);
  }
  int outers = 0;
  for (int base = 0; base < count; base += tile_rows) {
    const int i = base + rank;
    const bool fresh =
        i < count && receiver_of(keys[i]) >= tile_rows && (i == 0 || receiver_of(keys[i - 1]) != receiver_of(keys[i]));
    int total;
    const int before = outers + count_before(BlockGroup{}, fresh, total);
    outers += total;
    if constexpr (Write) {
      if (i < count) slot[i] = static_cast<std::uint16_t>(keys[i] & 0xffffull);
      if (fresh) {
        start[tile_rows + before] = static_cast<std::uint16_t>(i);
        out.outer_column[first_outer + static_cast<std::uint32_t>(before)] =
            static_cast<std::uint32_t>(blockIdx.x * static_cast<unsigned>(tile_rows) + receiver_of(keys[i]));
      }
    }
  }
  if (rank != 0) return;
  if constexpr (Write) {
    start[tile_rows + outers] = static_cast<std::uint16_t>(count);
  } else {
    const auto groups = static_cast<std::uint32_t>(tile_rows + outers + 1 + count + 7) / 8;
    out.outer_start[blockIdx.x] = static_cast<std::uint32_t>(outers);
    out.list_start[blockIdx.x] = groups;
    atomicMax(&out.most->groups_of_tile, groups);
  }
}

__global__ void count_arrivals(std::int64_t outers, const std::uint32_t* outer_column, std::uint32_t* counts) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < outers) atomicAdd(&counts[outer_column[i]], 1u);
}

/// In any order: they are sorted next.
__global__ void list_arrivals(std::int64_t outers, const std::uint32_t* outer_column, const std::uint32_t* start,
                              std::uint32_t* cursor, std::uint32_t* arrival) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= outers) return;
  const std::uint32_t row = outer_column[i];
  arrival[start[row] + atomicAdd(&cursor[row], 1u)] = static_cast<std::uint32_t>(i);
}

/// Sorts the few arrivals of a row.
__global__ void sort_arrivals(std::int32_t rows, const std::uint32_t* start, std::uint32_t* arrival) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (std::uint32_t i = start[row] + 1; i < start[row + 1]; ++i) {
    const std::uint32_t moving = arrival[i];
    std::uint32_t k = i;
    for (; k > start[row] && arrival[k - 1] > moving; --k) arrival[k] = arrival[k - 1];
    arrival[k] = moving;
  }
}

void make_arrivals(SymmetricTiles& tiles, std::int32_t rows, const Array<std::uint32_t>& outer_column,
                   const std::shared_ptr<DeviceMemory>& memory) {
  const cudaStream_t stream = stream_of(memory);
  tiles.arrival_start = Array<std::uint32_t>(memory, static_cast<std::size_t>(rows) + 1);
  tiles.arrival = Array<std::uint32_t>(memory, outer_column.size());
  Array<std::uint32_t> cursor(memory, static_cast<std::size_t>(rows));
  std::uint32_t* start = tiles.arrival_start.write_device();
  std::uint32_t* arrival = tiles.arrival.write_device();
  const std::uint32_t* columns = outer_column.read_device();
  const Grid grid = grid_for(tiles.outer_count);
  fill_bytes_async(start, 0, tiles.arrival_start.bytes(), stream);
  launch(count_arrivals, grid, stream, tiles.outer_count, columns, start);
  exclusive_sums(start, rows, memory);
  std::uint32_t* cursors = cursor.write_device();
  fill_bytes_async(cursors, 0, cursor.bytes(), stream);
  launch(list_arrivals, grid, stream, tiles.outer_count, columns, start, cursors, arrival);
  launch(sort_arrivals, grid_for(rows), stream, rows, start, arrival);
}

/// Bytes that a product moves for an outer column: what is handed over, twice, and its number.
std::size_t bytes_per_outer(int block_size) {
  return 2 * sizeof(double) * static_cast<std::size_t>(block_size) + sizeof(std::uint32_t);
}

}  // namespace

std::size_t SymmetricTiles::bytes_moved(int block_size) const {
  return outer_start.bytes() + list_start.bytes() + lists.bytes() + arrival_start.bytes() +
         static_cast<std::size_t>(outer_count) * bytes_per_outer(block_size);
}

bool prefers_half(std::int32_t rows, int block_size) { return block_size >= 2 && rows >= fewest_rows; }

SlicedRows take_half(const SlicedRows& whole, const std::shared_ptr<DeviceMemory>& memory) {
  const cudaStream_t stream = stream_of(memory);
  const auto rows = static_cast<std::size_t>(whole.rows);
  Array<std::int32_t> length(memory, rows), skipped(memory, rows);
  launch(measure_half, grid_for(whole.rows), stream, whole.view(), length.write_device(), skipped.write_device());
  SlicedRows half = make_slices(memory, whole.rows, length.read_device(), tile_rows);
  std::int32_t* column = half.column.write_device();
  launch(copy_half, grid_for(static_cast<std::int64_t>(half.slices) * slice_rows), stream, whole.view(),
         skipped.read_device(), half.view(), column);
  pad_columns(half, stream);
  return half;
}

std::unique_ptr<SymmetricTiles> make_tiles(const SlicedRows& half, int block_size,
                                           const std::shared_ptr<DeviceMemory>& memory) {
  const double stored = static_cast<double>(half.entries) * block_size * block_size * sizeof(double);
  if (stored < fewest_bytes) return nullptr;
  const cudaStream_t stream = stream_of(memory);
  const std::size_t shared_limit = cuda_memory(memory).facts().shared_bytes_per_block;
  auto tiles = std::make_unique<SymmetricTiles>();
  tiles->tiles = (half.rows + tile_rows - 1) / tile_rows;
  Array<Extremes> extremes(memory, 1);
  Extremes* most = extremes.write_device();
  fill_bytes_async(most, 0, sizeof *most, stream);
  Array<std::uint32_t> mirrored(memory, static_cast<std::size_t>(half.rows));
  std::uint32_t* mirrored_of_row = mirrored.write_device();
  fill_bytes_async(mirrored_of_row, 0, mirrored.bytes(), stream);
  launch(measure_tiles, Grid{tiles->tiles, tile_rows, 0}, stream, half.view(), mirrored_of_row, most);
  launch(measure_mirrored, grid_for(half.rows), stream, half.rows, mirrored_of_row, most);
  const Extremes found = extremes.read_host()[0];
  const auto room = static_cast<int>(std::bit_ceil(std::max(found.slots_of_tile, 1u)));
  const std::size_t room_bytes = static_cast<std::size_t>(room) * sizeof(unsigned long long);
  if (found.blocks_of_row > most_blocks_of_row || found.mirrored_of_row > most_mirrored_of_row ||
      found.slots_of_tile > most_slots_of_tile || room_bytes > shared_limit)
    return nullptr;
  tiles->longest = static_cast<int>(found.blocks_of_row);
  tiles->interior_tiles = tiles->tiles - static_cast<std::int32_t>(found.boundary_tiles);

  const auto count = static_cast<std::size_t>(tiles->tiles);
  tiles->outer_start = Array<std::uint32_t>(memory, count + 1);
  tiles->list_start = Array<std::uint32_t>(memory, count + 1);
  TileLists lists{tiles->outer_start.write_device(), tiles->list_start.write_device(), extremes.update_device(),
                  nullptr, nullptr};
  const Grid grid{tiles->tiles, tile_rows, room_bytes};
  launch(list_tiles<false>, grid, stream, half.view(), room, lists);
  exclusive_sums(lists.outer_start, tiles->tiles, memory);
  exclusive_sums(lists.list_start, tiles->tiles, memory);
  tiles->most_groups = extremes.read_host()[0].groups_of_tile;
  tiles->outer_count = fetch(memory, lists.outer_start + tiles->tiles);
  const double handed = static_cast<double>(tiles->outer_count) * static_cast<double>(bytes_per_outer(block_size));
  if (handed > most_handed * stored || !fits_half_product(*tiles, block_size, cuda_memory(memory))) return nullptr;

  Array<std::uint32_t> outer_column(memory, static_cast<std::size_t>(tiles->outer_count));
  tiles->lists = Array<ListGroup>(memory, fetch(memory, lists.list_start + tiles->tiles));
  lists.outer_column = outer_column.write_device();
  lists.lists = tiles->lists.write_device();
  fill_bytes_async(lists.lists, 0, tiles->lists.bytes(), stream);  // lists end within groups
  launch(list_tiles<true>, grid, stream, half.view(), room, lists);
  make_arrivals(*tiles, half.rows, outer_column, memory);
  tiles->handed = Array<double>(memory, static_cast<std::size_t>(tiles->outer_count * block_size));
  return tiles;
}

}  // namespace voussoir::cuda
