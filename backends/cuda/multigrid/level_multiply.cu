#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/long_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/primitives/bitonic_sort.hpp>

// Products of two matrices, C = A B, by blocks of the result. A group of threads makes a row of C, a tile at a time:
// some blocks of its row of A, against some blocks of its row of C. A tile's blocks of A meet rows of B, and each block
// of such a row belongs to one block of C. These pairs are listed by the block of C that they belong to, in the order
// of A's row, all in shared memory; then each block of C is summed in registers by one warp, whose lanes are the
// columns of several pairs at once. No two threads add to the same number, and the order is always the same.

namespace voussoir::cuda {

namespace {

constexpr int warps = 8;
/// Blocks of threads that a multiprocessor should have room for.
constexpr int blocks_at_once = 4;
/// Rows of a block of C that a warp adds up at a time, and where they stand in its shared memory: in different banks.
constexpr int rows_at_once = 3, partial_stride = 38, partial_room = (rows_at_once - 1) * partial_stride + 32;
/// Pairs of a thread whose blocks of C it remembers: bytes of a word.
constexpr int kept_pairs = 8;
/// Shared memory for the numbers of A, of the sizes of blocks that are not known when kernels are compiled.
constexpr int most_bytes = 48 << 10;
/// Where there are fewer rows, several blocks of threads share one.
constexpr std::int64_t fewest_blocks = 1024;
constexpr unsigned most_parts = 16;
/// Rows of more blocks than this are left to blocks of threads.
constexpr std::int32_t most_by_warp = 192;

struct ProductWork {
  LevelPattern a, b, c;
  int height = 1, inner = 1, width = 1;
  int stride = 1;      ///< numbers that a block of A takes in shared memory: an even number, for accesses of 16 bytes
  int most = 32;       ///< blocks of A in a tile
  int lanes = 1;       ///< threads that look through a row of B
  unsigned parts = 1;  ///< blocks of threads that share a row of C
  bool upper = false;  ///< only the blocks of C on the diagonal and right of it
  const double* a_value = nullptr;
  const double* b_value = nullptr;
  double* c_value = nullptr;
};

/// Sizes of blocks that are known when kernels are compiled; 0 stands for all others.
template <int Height, int Inner, int Width>
struct Shape {
  static constexpr int height = Height, inner = Inner, width = Width;
  static constexpr int room = Height > 0 ? Height : largest_level_block;
  static constexpr bool is_small = Height > 0 && Height* Inner <= 9;
};

/// What a tile is at most: blocks of a row of A, a multiple of 32, and of the row of C.
template <int A, int C>
struct TileSize {
  static constexpr int a = A, c = C, words = A / 32;
  static_assert(A % 32 == 0 && C % 32 == 0 && A <= 256 && C < 255);
};
using WarpTile = TileSize<32, 32>;
using BlockTile = TileSize<96, 96>;

/// A row of B that a tile meets: where it begins, its length, and the first of its blocks that is in the tile.
struct MetRow {
  std::int64_t start;
  std::int32_t length, first;
};

/// A tile in shared memory; the numbers of A follow.
template <class T>
struct alignas(16) TileStore {
  MetRow rows[T::a];
  std::int32_t met[T::a];            ///< how many blocks of the row are in the tile
  std::int32_t column[T::c];         ///< of C
  unsigned bits[T::c * T::words];    ///< per block of C, the blocks of A that add to it
  std::int32_t offset[T::c + 1];     ///< of the pairs of a block of C
  std::uint16_t pairs[T::a * T::c];  ///< block of A · 256 + block of the row of B from its first
};

/// Which part of its rows a tile is.
struct TilePlace {
  std::int64_t a_start, c_start;  // of the rows
  std::int32_t a_length, c_length;
  std::int32_t a_first = 0, c_first = 0, a_count = 0, c_count = 0;
};

template <class T, class Group>
__device__ void stage_patterns(const Group& group, const ProductWork& work, const TilePlace& place,
                               TileStore<T>& store) {
  const std::int32_t* column = work.c.column + place.c_start + place.c_first;
  for (int s = group.rank(); s < place.c_count; s += group.size()) store.column[s] = column[s];
  for (int i = group.rank(); i < place.c_count * T::words; i += group.size()) store.bits[i] = 0;
  for (int k = group.rank(); k < place.a_count; k += group.size()) {
    const std::int32_t through = work.a.column[place.a_start + place.a_first + k];
    MetRow row{work.b.start[through], work.b.length(through), 0};
    std::int32_t end = row.length;
    if (place.c_count < place.c_length) {
      const std::int32_t* columns = work.b.column + row.start;
      row.first = lower_block(columns, row.length, column[0]);
      end = lower_block(columns, row.length, column[place.c_count - 1] + 1);
    }
    store.rows[k] = row;
    store.met[k] = end - row.first;
  }
}

/// The numbers of A, a block after the other, each by columns.
template <class S, class Group>
__device__ void stage_numbers(const Group& group, const ProductWork& work, const TilePlace& place, double* numbers) {
  const int height = S::height > 0 ? S::height : work.height, inner = S::inner > 0 ? S::inner : work.inner;
  const double* a = work.a_value + place.a_start * (height * inner) + place.a_first * inner;
  for (int r = 0; r < height; ++r)
    for (int m = group.rank(); m < place.a_count * inner; m += group.size())
      numbers[m / inner * work.stride + m % inner * height + r] = a[r * place.a_length * inner + m];
}

/// Where the pairs of each block of C begin, from their numbers. The first warp calls.
template <class T>
__device__ void count_pairs(const TilePlace& place, TileStore<T>& store) {
  constexpr int own = T::c / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int before[own], sum = 0;
  for (int i = 0; i < own; ++i) {
    const int s = lane * own + i;
    before[i] = sum;
    for (int w = 0; s < place.c_count && w < T::words; ++w) sum += __popc(store.bits[s * T::words + w]);
  }
  int all = sum;
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, all, static_cast<unsigned>(step));
    if (lane >= step) all += other;
  }
  for (int i = 0; i < own; ++i) store.offset[lane * own + i] = all - sum + before[i];
  if (lane == 31) store.offset[T::c] = all;
}

/// The place of a pair among those of its block of C: behind those of earlier blocks of A.
template <class T>
__device__ int place_of_pair(const TileStore<T>& store, int k, int s) {
  int at = store.offset[s];
  for (int w = 0; w < k / 32; ++w) at += __popc(store.bits[s * T::words + w]);
  return at + __popc(store.bits[s * T::words + k / 32] & ((1u << k % 32) - 1u));
}

/// Lists the pairs of a tile by their blocks of C. Which those are takes a search: for the first few pairs of a thread,
/// mostly all, it is done once. All threads of the group call.
template <class T, class Group>
__device__ void list_pairs(const Group& group, const ProductWork& work, const TilePlace& place, TileStore<T>& store) {
  const int first = group.rank() / work.lanes, step = group.size() / work.lanes, own = group.rank() % work.lanes;
  const auto slot_of = [&](int k, int l) {
    // All columns of the row are among those of C: as many stand before as behind this one, at least.
    const std::int32_t column = work.b.column[store.rows[k].start + store.rows[k].first + l];
    return l + lower_block(store.column + l, place.c_count - store.met[k] + 1, column);
  };
  const auto mark = [&](int k, int, int s) { atomicOr(&store.bits[s * T::words + k / 32], 1u << k % 32); };
  const auto put = [&](int k, int l, int s) {
    store.pairs[place_of_pair(store, k, s)] = static_cast<std::uint16_t>(k * 256 + l);
  };
  const auto for_rest = [&](const auto& visit) {
    for (int k = first, i = 0; k < place.a_count; k += step, ++i)
      for (int l = i < kept_pairs ? own + work.lanes : own; l < store.met[k]; l += work.lanes)
        visit(k, l, slot_of(k, l));
  };
  std::uint64_t slots = 0;  // a byte for each, 0 where there is none
  bool more = first + kept_pairs * step < place.a_count;
  for (int i = 0, k = first; i < kept_pairs && k < place.a_count; ++i, k += step) {
    more = more || own + work.lanes < store.met[k];
    if (own >= store.met[k]) continue;
    const int s = slot_of(k, own);
    slots |= static_cast<std::uint64_t>(s + 1) << 8 * i;
    mark(k, own, s);
  }
  if (more) for_rest(mark);
  group.wait();
  if (group.rank() < 32) count_pairs(place, store);
  group.wait();
  for (int k = first; slots != 0; k += step, slots >>= 8)
    if (const int s = static_cast<int>(slots & 255); s > 0) put(k, own, s - 1);
  if (more) for_rest(put);
}

/// Sums over the pairs first, first + step, … of a block of C, for one column of it.
template <class S, class T>
__device__ void sum_pairs(const ProductWork& work, const TileStore<T>& store, const double* numbers, int first, int end,
                          int step, int column, double (&sums)[S::room]) {
  const int height = S::height > 0 ? S::height : work.height, inner = S::inner > 0 ? S::inner : work.inner,
            width = S::width > 0 ? S::width : work.width;
  constexpr int known = S::height * S::inner;
  const int stride = known > 0 ? (known + 1) / 2 * 2 : work.stride;
#pragma unroll 2
  for (int j = first; j < end; j += step) {
    const int pair = store.pairs[j];
    const MetRow row = store.rows[pair / 256];
    const double* b = work.b_value + row.start * (inner * width) + (row.first + pair % 256) * width + column;
    const double* a = static_cast<const double*>(__builtin_assume_aligned(numbers + pair / 256 * stride, 16));
#pragma unroll
    for (int q = 0; q < (S::inner > 0 ? S::inner : largest_level_block); ++q) {
      if (q >= inner) break;
      const double number = b[q * row.length * width];
#pragma unroll
      for (int r = 0; r < S::room; ++r)
        if (r < height) sums[r] += a[q * height + r] * number;
    }
  }
}

/// Adds what the pairs of a block of C have summed, in their order, and puts it to its place: a few rows of the block
/// at a time through shared memory, so that as many lanes as the block has numbers do it. All lanes of the warp call.
template <class S, class Store>
__device__ void add_pairs(const double (&sums)[S::room], int height, int width, int lane, int at_once, double* partial,
                          const Store& store) {
#pragma unroll
  for (int top = 0; top < S::room; top += rows_at_once) {
    if (top >= height) break;
#pragma unroll
    for (int i = 0; i < rows_at_once; ++i)
      if (top + i < S::room) partial[i * partial_stride + lane] = sums[top + i];
    __syncwarp();
    const int rows = height - top < rows_at_once ? height - top : rows_at_once;
    for (int o = lane; o < rows * width; o += 32) {
      const int i = o / width, c = o - i * width;
      double total = partial[i * partial_stride + c];
      for (int p = 1; p < at_once; ++p) total += partial[i * partial_stride + p * width + c];
      store(top + i, c, total);
    }
    __syncwarp();
  }
}

/// The blocks of C, a warp for each: its lanes are the columns of a pair, for as many pairs as there is room.
template <class S, class T, class Group>
__device__ void sum_blocks(const Group& group, const ProductWork& work, const TilePlace& place,
                           const TileStore<T>& store, const double* numbers, double* partial) {
  const int height = S::height > 0 ? S::height : work.height, width = S::width > 0 ? S::width : work.width;
  const int lane = group.rank() % 32, at_once = 32 / width, pair = lane / width, column = lane - pair * width;
  double* c = work.c_value + place.c_start * (height * width) + place.c_first * width;
  for (int s = group.rank() / 32; s < place.c_count; s += group.size() / 32) {
    const int first = store.offset[s], end = store.offset[s + 1];
    if (place.a_first > 0 && first == end) continue;
    double sums[S::room] = {};
    if (pair < at_once) sum_pairs<S>(work, store, numbers, first + pair, end, at_once, column, sums);
    add_pairs<S>(sums, height, width, lane, at_once, partial, [&](int r, int at, double total) {
      double* target = c + (r * place.c_length + s) * width + at;
      *target = place.a_first > 0 ? *target + total : total;
    });
  }
}

/// A part of a row of the product.
template <class S, class T, class Group>
__device__ void multiply_row(const Group& group, const ProductWork& work, std::int64_t row, int part,
                             TileStore<T>& store, double* numbers) {
  TilePlace place{work.a.start[row], work.c.start[row], work.a.length(row), work.c.length(row)};
  double* partial = numbers + work.most * work.stride + group.rank() / 32 * partial_room;
  const std::int32_t from =
      work.upper ? lower_block(work.c.columns_of(row), place.c_length, static_cast<std::int32_t>(row)) : 0;
  const auto parts = static_cast<std::int32_t>(work.parts);
  const std::int32_t share = (place.c_length - from + parts - 1) / parts, begin = from + part * share,
                     end = begin + share < place.c_length ? begin + share : place.c_length;
  for (place.c_first = begin; place.c_first < end; place.c_first += T::c)
    for (place.a_first = 0; place.a_first < place.a_length; place.a_first += work.most) {
      place.c_count = end - place.c_first < T::c ? end - place.c_first : T::c;
      place.a_count = place.a_length - place.a_first < work.most ? place.a_length - place.a_first : work.most;
      stage_patterns(group, work, place, store);
      stage_numbers<S>(group, work, place, numbers);
      group.wait();
      list_pairs(group, work, place, store);
      group.wait();
      sum_blocks<S>(group, work, place, store, numbers, partial);
      group.wait();
    }
}

/// What is left of the diagonal of a symmetric matrix from what is right of it: a warp per row. Columns beyond the rows
/// have no mirror images.
__global__ void __launch_bounds__(32 * warps) mirror_rows(LevelPattern rows, int size, double* value) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= rows.rows) return;  // whole warps
  const std::int32_t length = rows.length(row);
  const std::int32_t before = lower_block(rows.columns_of(row), length, static_cast<std::int32_t>(row));
  double* own = value + rows.start[row] * (size * size);
  for (std::int32_t k = 0; k <= before && k < length; ++k) {
    const std::int64_t other = rows.columns_of(row)[k];
    if (other > row) break;  // the row has no diagonal block
    const std::int32_t others = rows.length(other);
    const std::int32_t at = find_block(rows.columns_of(other), others, static_cast<std::int32_t>(row));
    const double* source = value + rows.start[other] * (size * size);
    for (int i = lane; i < size * size; i += 32) {
      const int r = i / size, c = i - r * size;
      if (k < before || r > c) own[(r * length + k) * size + c] = source[(c * others + at) * size + r];
    }
  }
}

/// The shared memory of a tile that is worked on by so many warps.
template <class T>
std::size_t bytes_of_tile(const ProductWork& work, int warps_of_tile) {
  return sizeof(TileStore<T>) +
         sizeof(double) * static_cast<std::size_t>(work.most * work.stride + warps_of_tile * partial_room);
}

/// The numbers behind a tile.
template <class T>
__device__ double* numbers_behind(TileStore<T>* store) {
  return reinterpret_cast<double*>(store + 1);
}

template <class S>
__global__ void __launch_bounds__(32 * warps, blocks_at_once) multiply_by_warps(ProductWork work, std::uint32_t bytes) {
  VSR_DYNAMIC_SHARED(unsigned char, shared);
  const auto warp = threadIdx.x / 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + warp;
  if (row >= work.a.rows || work.a.length(row) > most_by_warp) return;  // whole warps
  auto* store = reinterpret_cast<TileStore<WarpTile>*>(shared + warp * bytes);
  multiply_row<S>(WarpGroup{}, work, row, 0, *store, numbers_behind(store));
}

template <class S>
__global__ void __launch_bounds__(32 * warps, blocks_at_once) multiply_by_blocks(ProductWork work) {
  VSR_DYNAMIC_SHARED(TileStore<BlockTile>, store);
  multiply_row<S>(BlockGroup{}, work, blockIdx.x / work.parts, static_cast<int>(blockIdx.x % work.parts), *store,
                  numbers_behind(store));
}

/// The rows that warps have left out.
template <class S>
__global__ void __launch_bounds__(search_threads) multiply_long_rows(ProductWork work) {
  VSR_DYNAMIC_SHARED(TileStore<BlockTile>, store);
  for_long_rows(
      work.a.rows, [&](std::int64_t row) { return work.a.length(row) > most_by_warp; },
      [&](std::int64_t row) { multiply_row<S>(BlockGroup{}, work, row, 0, *store, numbers_behind(store)); });
}

template <class S>
void enqueue(ProductWork work, std::int64_t mean, cudaStream_t stream) {
  const int fitting = most_bytes / (8 * work.stride) / 32 * 32;
  const int most = fitting < BlockTile::a ? fitting : BlockTile::a;
  if constexpr (S::is_small) {
    if (mean <= most_by_warp / 3) {
      work.most = WarpTile::a;
      const std::size_t bytes = bytes_of_tile<WarpTile>(work, 1);
      const Grid grid = grid_of_warps(work.a.rows, warps);
      launch(multiply_by_warps<S>, Grid{grid.blocks, grid.threads, warps * bytes}, stream, work, bytes);
      work.most = most;
      const Grid search = grid_of_search(work.a.rows);
      launch(multiply_long_rows<S>, Grid{search.blocks, search.threads, bytes_of_tile<BlockTile>(work, warps)}, stream,
             work);
      return;
    }
  }
  work.most = most;
  while (work.a.rows * static_cast<std::int64_t>(work.parts) < fewest_blocks && work.parts < most_parts)
    work.parts *= 2;
  launch(multiply_by_blocks<S>,
         Grid{work.a.rows * static_cast<std::int64_t>(work.parts), 32 * warps, bytes_of_tile<BlockTile>(work, warps)},
         stream, work);
}

/// Calls call(Shape) for the sizes of blocks that hierarchies are mostly made of.
template <class Call>
void for_shape(int height, int inner, int width, const Call& call) {
  switch (height * 256 + inner * 16 + width) {
    case 0x111:
      return call(Shape<1, 1, 1>{});
    case 0x223:
      return call(Shape<2, 2, 3>{});
    case 0x323:
      return call(Shape<3, 2, 3>{});
    case 0x333:
      return call(Shape<3, 3, 3>{});
    case 0x336:
      return call(Shape<3, 3, 6>{});
    case 0x636:
      return call(Shape<6, 3, 6>{});
    case 0x666:
      return call(Shape<6, 6, 6>{});
    default:
      return call(Shape<0, 0, 0>{});
  }
}

/// Inside a section.
ProductWork work_of(const LevelMatrix& a, const LevelMatrix& b, const LevelMatrix& c, double* target) {
  ProductWork work;
  work.a = pattern_of(a);
  work.b = pattern_of(b);
  work.c = pattern_of(c);
  work.height = a.height;
  work.inner = a.width;
  work.width = b.width;
  work.stride = (a.height * a.width + 1) / 2 * 2;
  while (work.lanes < 32 && work.lanes < mean_length(b)) work.lanes *= 2;
  work.a_value = a.value.read_device();
  work.b_value = b.value.read_device();
  work.c_value = target;
  return work;
}

void require_product(const LevelMatrix& a, const LevelMatrix& b, const LevelMatrix& c) {
  if (a.columns != b.rows || a.width != b.height || c.rows != a.rows || c.columns != b.columns ||
      c.height != a.height || c.width != b.width)
    throw Error(ErrorCode::misuse, "multiply: the shapes of the two matrices and of their product do not agree");
  require_small_blocks(c.height, c.width);
  require_small_blocks(a.width, a.width);
  require_numbers<double>(a, a.entries(), "the first matrix of a product");
  require_numbers<double>(b, b.entries(), "the second matrix of a product");
}

}  // namespace

void CudaMultigrid::multiply(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) {
  require_product(a, b, c);
  DeviceSection section(*memory());
  const ProductWork work = work_of(a, b, c, fresh_numbers(c, c.entries()));
  for_shape(a.height, a.width, b.width, [&](auto shape) { enqueue<decltype(shape)>(work, mean_length(a), stream()); });
}

void CudaMultigrid::multiply_symmetric(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) {
  require_product(a, b, c);
  voussoir::detail::require_own_pattern(c, "a symmetric product");
  DeviceSection section(*memory());
  ProductWork work = work_of(a, b, c, fresh_numbers(c, c.entries()));
  work.upper = true;
  for_shape(a.height, a.width, b.width, [&](auto shape) { enqueue<decltype(shape)>(work, mean_length(a), stream()); });
  launch(mirror_rows, grid_of_warps(c.rows, warps), stream(), work.c, c.height, work.c_value);
}

}  // namespace voussoir::cuda
