#include <voussoir/backends/cuda/bitonic_sort.hpp>
#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/long_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>

// Products of two matrices, by rows (Gustavson 1978). A row of the product is summed in shared memory where it fits,
// else in its place, in the order of the blocks of its row of the first matrix: of one of them, all products go to
// different blocks of the result, so that threads share those.

namespace voussoir::cuda {

namespace {

constexpr int warps = 8;
constexpr int block_threads = 128;
/// Numbers of a row that fit in shared memory.
constexpr int room_of_warp = 512;
constexpr int room_of_block = 4096;
/// Rows of more blocks than this are left to blocks of threads.
constexpr std::int32_t most_by_warp = 192;

struct ProductWork {
  LevelPattern a, b, c;
  int height = 1, inner = 1, width = 1;
  const double* a_value = nullptr;
  const double* b_value = nullptr;
  double* c_value = nullptr;
};

/// Sizes of blocks that are known when kernels are compiled; 0 stands for all others.
template <int Height, int Inner, int Width>
struct Shape {
  static constexpr int height = Height, inner = Inner, width = Width;
  static constexpr int room = Height > 0 ? Height : largest_level_block;
};

/// Adds the products of one block of A with the row of B that it meets.
template <class S, class Group>
__device__ void add_products(const Group& group, const ProductWork& work, const double* a, std::int32_t a_stretch,
                             std::int64_t through, const std::int32_t* c_column, std::int32_t c_length, double* sums) {
  const int height = S::height > 0 ? S::height : work.height, inner = S::inner > 0 ? S::inner : work.inner,
            width = S::width > 0 ? S::width : work.width;
  const std::int64_t b_start = work.b.start[through];
  const std::int32_t b_stretch = work.b.length(through) * width, c_stretch = c_length * width;
  const double* b = work.b_value + b_start * (inner * width);
  for (std::int32_t m = group.rank(); m < b_stretch; m += group.size()) {
    const std::int32_t block = m / width;
    double sum[S::room];
#pragma unroll
    for (int r = 0; r < S::room; ++r) sum[r] = 0;
#pragma unroll
    for (int q = 0; q < inner; ++q) {
      const double number = b[q * b_stretch + m];
#pragma unroll
      for (int r = 0; r < S::room; ++r)
        if (r < height) sum[r] += a[r * a_stretch + q] * number;
    }
    const std::int32_t at = find_block(c_column, c_length, work.b.column[b_start + block]) * width + m - block * width;
#pragma unroll
    for (int r = 0; r < S::room; ++r)
      if (r < height) sums[r * c_stretch + at] += sum[r];
  }
}

/// A row of the product; `shared` has room for so many numbers.
template <class S, class Group>
__device__ void multiply_row(const Group& group, const ProductWork& work, std::int64_t row, double* shared, int room) {
  const int height = S::height > 0 ? S::height : work.height, inner = S::inner > 0 ? S::inner : work.inner,
            width = S::width > 0 ? S::width : work.width;
  const std::int64_t a_start = work.a.start[row], c_start = work.c.start[row];
  const std::int32_t a_length = work.a.length(row), c_length = work.c.length(row);
  const std::int32_t numbers = c_length * height * width;
  const double* a = work.a_value + a_start * (height * inner);
  double* c = work.c_value + c_start * (height * width);
  double* sums = numbers <= room ? shared : c;
  for (std::int32_t i = group.rank(); i < numbers; i += group.size()) sums[i] = 0;
  for (std::int32_t k = 0; k < a_length; ++k) {
    group.wait();  // what one thread has added, another may go on with
    add_products<S>(group, work, a + k * inner, a_length * inner, work.a.column[a_start + k], work.c.column + c_start,
                    c_length, sums);
  }
  group.wait();
  if (sums == c) return;
  for (std::int32_t i = group.rank(); i < numbers; i += group.size()) c[i] = sums[i];
  group.wait();
}

template <class S>
__global__ void __launch_bounds__(32 * warps) multiply_by_warps(ProductWork work) {
  VSR_SHARED double sums[warps][room_of_warp];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + warp;
  if (row < work.a.rows && work.a.length(row) <= most_by_warp)
    multiply_row<S>(WarpGroup{}, work, row, sums[warp], room_of_warp);
}

template <class S>
__global__ void __launch_bounds__(block_threads) multiply_by_blocks(ProductWork work) {
  VSR_SHARED double sums[room_of_block];
  multiply_row<S>(BlockGroup{}, work, blockIdx.x, sums, room_of_block);
}

/// The rows that warps have left out.
template <class S>
__global__ void __launch_bounds__(search_threads) multiply_long_rows(ProductWork work) {
  VSR_SHARED double sums[room_of_block];
  for_long_rows(
      work.a.rows, [&](std::int64_t row) { return work.a.length(row) > most_by_warp; },
      [&](std::int64_t row) { multiply_row<S>(BlockGroup{}, work, row, sums, room_of_block); });
}

template <class S>
void enqueue(const ProductWork& work, std::int64_t mean, cudaStream_t stream) {
  if (mean > most_by_warp / 3) {
    launch(multiply_by_blocks<S>, Grid{work.a.rows, block_threads, 0}, stream, work);
    return;
  }
  launch(multiply_by_warps<S>, grid_of_warps(work.a.rows, warps), stream, work);
  launch(multiply_long_rows<S>, grid_of_search(work.a.rows), stream, work);
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

}  // namespace

void CudaMultigrid::multiply(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) {
  if (a.columns != b.rows || a.width != b.height || c.rows != a.rows || c.columns != b.columns ||
      c.height != a.height || c.width != b.width)
    throw Error(ErrorCode::misuse, "multiply: the shapes of the two matrices and of their product do not agree");
  require_small_blocks(c.height, c.width);
  require_small_blocks(a.width, a.width);
  require_numbers<double>(a, a.entries(), "the first matrix of a product");
  require_numbers<double>(b, b.entries(), "the second matrix of a product");
  DeviceSection section(*memory());
  ProductWork work;
  work.a = pattern_of(a);
  work.b = pattern_of(b);
  work.c = pattern_of(c);
  work.height = a.height;
  work.inner = a.width;
  work.width = b.width;
  work.a_value = a.value.read_device();
  work.b_value = b.value.read_device();
  work.c_value = fresh_numbers(c, c.entries());
  for_shape(a.height, a.width, b.width, [&](auto shape) { enqueue<decltype(shape)>(work, mean_length(a), stream()); });
}

}  // namespace voussoir::cuda
