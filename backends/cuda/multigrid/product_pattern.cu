#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/primitives/bitonic_sort.hpp>
#include <voussoir/backends/cuda/primitives/count_before.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>

// Which blocks a product of two matrices has. The columns of a row are collected in a hash table in shared memory: by a
// warp for most rows, by a block of threads for rows that are made of many others or have many columns; rows that have
// more columns than fit the larger table mark them in memory. All is done twice, to count and to write.

namespace voussoir::cuda {

namespace {

constexpr std::int32_t nobody = -1;
constexpr int threads = 256;
constexpr int warps = 8;
/// Columns that are looked at by a warp; more, and a block of threads does it.
constexpr std::int64_t most_candidates_by_warp = 4096;
constexpr int mark_threads = 512;
constexpr std::int64_t most_mark_blocks = 64;
constexpr std::int64_t most_mark_bytes = std::int64_t{512} << 20;

/// Room for a group of threads to collect columns: a table of them, less than full, and their list.
template <int Room, int Most>
struct Collection {
  static constexpr int room = Room, most = Most;
  std::int32_t table[Room];
  std::int32_t list[Room];  // a power of two, for sorting
  int found;
};
using WarpCollection = Collection<512, 384>;
using BlockCollection = Collection<4096, 3072>;

/// Who does a row.
enum Way : std::uint8_t { by_warp = 0, by_block = 1, by_marks = 2 };

/// Adds a column to a collection where it is new and there is room.
template <class C>
__device__ void collect(C& collection, std::int32_t column) {
  auto at = static_cast<unsigned>(column) * 2654435761u >> 16 & static_cast<unsigned>(C::room - 1);
  while (true) {
    std::int32_t there = collection.table[at];
    if (there == nobody) there = atomicCAS(&collection.table[at], nobody, column);
    if (there == column) return;
    if (there == nobody) {
      const int place = atomicAdd(&collection.found, 1);
      if (place < C::most) collection.list[place] = column;
      return;
    }
    at = (at + 1) & static_cast<unsigned>(C::room - 1);
  }
}

/// Collects the columns of a row; returns how many there are, or a number above C::most where they do not fit. Lanes
/// side by side take columns of one row of b where those are long, or of several where they are short.
template <class Group, class C>
__device__ int collect_row(const Group& group, const LevelPattern& a, const LevelPattern& b, std::int64_t row,
                           int lanes, C& collection) {
  for (int i = group.rank(); i < C::room; i += group.size()) collection.table[i] = nobody;
  if (group.rank() == 0) collection.found = 0;
  group.wait();
  for (std::int64_t k = a.start[row] + group.rank() / lanes; k < a.start[row + 1]; k += group.size() / lanes) {
    const std::int32_t through = a.column[k];
    for (std::int64_t m = b.start[through] + group.rank() % lanes; m < b.start[through + 1]; m += lanes) {
      // The table never fills up: each thread adds at most one column after the last that fits.
      if (*static_cast<volatile int*>(&collection.found) > C::most) break;
      collect(collection, b.column[m]);
    }
  }
  group.wait();
  return collection.found;
}

/// Collects a row and leaves its length, or its columns, ascending.
template <bool Write, class Group, class C>
__device__ bool finish_row(const Group& group, const LevelPattern& a, const LevelPattern& b, std::int64_t row,
                           int lanes, C& collection, std::int64_t* start, std::int32_t* column) {
  const int found = collect_row(group, a, b, row, lanes, collection);
  if (found > C::most) {
    group.wait();
    return false;
  }
  if constexpr (Write) {
    int room = 1;
    while (room < found) room *= 2;
    for (int i = found + group.rank(); i < room; i += group.size()) collection.list[i] = INT32_MAX;
    sort_keys(group, collection.list, room);
    for (int i = group.rank(); i < found; i += group.size()) column[start[row] + i] = collection.list[i];
  } else {
    if (group.rank() == 0) start[row] = found;
  }
  group.wait();  // the collection is free for the next row
  return true;
}

/// Counting, it says which rows are too much for a warp; writing, it leaves them out.
template <bool Write>
__global__ void __launch_bounds__(32 * warps)
    list_by_warps(LevelPattern a, LevelPattern b, int lanes, std::int64_t* start, std::int32_t* column,
                  std::uint8_t* way, std::uint32_t* large) {
  VSR_SHARED WarpCollection collections[warps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + warp;
  if (row >= a.rows) return;  // whole warps
  if constexpr (Write) {
    if (way[row] == by_warp) finish_row<true>(WarpGroup{}, a, b, row, lanes, collections[warp], start, column);
  } else {
    std::int64_t candidates = 0;
    for (std::int64_t k = a.start[row] + lane; k < a.start[row + 1]; k += 32) candidates += b.length(a.column[k]);
    for (int step = 16; step > 0; step /= 2) candidates += __shfl_xor_sync(0xffffffffu, candidates, step);
    const bool done = candidates <= most_candidates_by_warp &&
                      finish_row<false>(WarpGroup{}, a, b, row, lanes, collections[warp], start, column);
    if (lane != 0) return;
    way[row] = done ? by_warp : by_block;
    large[row] = done ? 0 : 1;
  }
}

/// The rows that a warp did not do, a block of threads for each.
template <bool Write>
__global__ void __launch_bounds__(threads)
    list_by_blocks(LevelPattern a, LevelPattern b, int lanes, const std::int32_t* list, std::int64_t* start,
                   std::int32_t* column, std::uint8_t* way, std::uint32_t* huge) {
  VSR_SHARED BlockCollection collection;
  const std::int64_t row = list[blockIdx.x];
  if (Write && way[row] != by_block) return;
  const bool done = finish_row<Write>(BlockGroup{}, a, b, row, lanes, collection, start, column);
  if (Write || threadIdx.x != 0) return;
  way[row] = done ? by_block : by_marks;
  if (!done) *huge = 1;  // all write the same
}

/// The rows that had no room in a table: their columns are marked, and then met in order. Marks are 0 before and after.
template <bool Write>
__global__ void __launch_bounds__(mark_threads)
    list_by_marks(LevelPattern a, LevelPattern b, std::int32_t columns, const std::int32_t* list, std::int32_t count,
                  const std::uint8_t* way, std::int64_t* start, std::int32_t* column, std::uint8_t* marks) {
  std::uint8_t* own = marks + static_cast<std::int64_t>(blockIdx.x) * columns;
  const int rank = static_cast<int>(threadIdx.x), lane = rank % 32, warp = rank / 32;
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < count; i += static_cast<std::int32_t>(gridDim.x)) {
    const std::int64_t row = list[i];
    if (way[row] != by_marks) continue;
    for (std::int64_t k = a.start[row] + warp; k < a.start[row + 1]; k += mark_threads / 32) {
      const std::int32_t through = a.column[k];
      for (std::int64_t m = b.start[through] + lane; m < b.start[through + 1]; m += 32) own[b.column[m]] = 1;
    }
    __syncthreads();
    std::int64_t found = 0;
    for (std::int32_t base = 0; base < columns; base += mark_threads) {
      const std::int32_t c = base + rank;
      const bool marked = c < columns && own[c] != 0;
      int total;
      const int before = count_before(BlockGroup{}, marked, total);
      if (marked) own[c] = 0;
      if (Write && marked) column[start[row] + found + before] = c;
      found += total;
    }
    if (!Write && rank == 0) start[row] = found;
    __syncthreads();
  }
}

__global__ void __launch_bounds__(threads)
    list_large(std::int32_t rows, const std::uint32_t* before, std::int32_t* list) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < rows && before[i + 1] != before[i]) list[before[i]] = static_cast<std::int32_t>(i);
}

/// The pattern of a product while it is made.
class ProductPattern {
 public:
  /// Inside a section.
  ProductPattern(const LevelMatrix& a, const LevelMatrix& b, const std::shared_ptr<DeviceMemory>& memory)
      : a_(pattern_of(a)),
        b_(pattern_of(b)),
        columns_(b.columns),
        memory_(memory),
        way_(memory, static_cast<std::size_t>(a.rows)) {
    const std::int64_t mean = mean_length(b);
    while (lanes_ < 32 && lanes_ < mean) lanes_ *= 2;
  }

  /// Leaves the lengths of all rows in `start`; waits.
  void count(std::int64_t* start) {
    const cudaStream_t stream = stream_of(memory_);
    Array<std::uint32_t> large(memory_, static_cast<std::size_t>(a_.rows) + 1), huge(memory_, 1);
    std::uint32_t* before = large.write_device();
    launch(list_by_warps<false>, grid_of_warps(a_.rows, warps), stream, a_, b_, lanes_, start, nullptr,
           way_.write_device(), before);
    exclusive_sums(before, a_.rows, memory_);
    const std::uint32_t rows = fetch_total(memory_, before + a_.rows);
    if (rows == 0) return;
    list_ = Array<std::int32_t>(memory_, rows);
    launch(list_large, grid_for(a_.rows, threads), stream, a_.rows, before, list_.write_device());
    fill_bytes_async(huge.write_device(), 0, huge.bytes(), stream);
    launch(list_by_blocks<false>, Grid{rows, threads, 0}, stream, a_, b_, lanes_, list_.read_device(), start, nullptr,
           way_.update_device(), huge.update_device());
    if (fetch_total(memory_, huge.read_device()) == 0) return;
    const std::int64_t fitting = most_mark_bytes / (columns_ + std::int64_t{1}) + 1;
    const std::int64_t blocks = rows < most_mark_blocks ? rows : most_mark_blocks;
    mark_blocks_ = blocks < fitting ? blocks : fitting;
    marks_ = Array<std::uint8_t>(memory_, static_cast<std::size_t>(mark_blocks_ * columns_));
    fill_bytes_async(marks_.write_device(), 0, marks_.bytes(), stream);
    mark<false>(start, nullptr);
  }

  /// Only enqueued.
  void write(std::int64_t* start, std::int32_t* column) {
    const cudaStream_t stream = stream_of(memory_);
    launch(list_by_warps<true>, grid_of_warps(a_.rows, warps), stream, a_, b_, lanes_, start, column,
           way_.update_device(), nullptr);
    if (list_.empty()) return;
    launch(list_by_blocks<true>, Grid{static_cast<std::int64_t>(list_.size()), threads, 0}, stream, a_, b_, lanes_,
           list_.read_device(), start, column, way_.update_device(), nullptr);
    if (!marks_.empty()) mark<true>(start, column);
  }

 private:
  template <bool Write>
  void mark(std::int64_t* start, std::int32_t* column) {
    launch(list_by_marks<Write>, Grid{mark_blocks_, mark_threads, 0}, stream_of(memory_), a_, b_, columns_,
           list_.read_device(), static_cast<std::int32_t>(list_.size()), way_.read_device(), start, column,
           marks_.update_device());
  }

  LevelPattern a_, b_;
  std::int32_t columns_;
  std::shared_ptr<DeviceMemory> memory_;
  int lanes_ = 1;
  Array<std::uint8_t> way_;
  Array<std::int32_t> list_;
  Array<std::uint8_t> marks_;
  std::int64_t mark_blocks_ = 0;
};

}  // namespace

LevelMatrix CudaMultigrid::product_pattern(const LevelMatrix& a, const LevelMatrix& b) {
  if (a.columns != b.rows || a.width != b.height)
    throw Error(ErrorCode::misuse, "product_pattern: the columns of the first matrix are not the rows of the second");
  LevelMatrix c;
  c.rows = a.rows;
  c.columns = b.columns;
  c.height = a.height;
  c.width = b.width;
  c.start = array<std::int64_t>(a.rows + std::int64_t{1});
  DeviceSection section(*memory());
  ProductPattern pattern(a, b, memory());
  std::int64_t* start = c.start.write_device();
  pattern.count(start);
  exclusive_sums(start, a.rows, memory());
  c.column = array<std::int32_t>(fetch_total(memory(), start + a.rows));
  pattern.write(start, c.column.write_device());
  return c;
}

}  // namespace voussoir::cuda
