#include <voussoir/backends/cuda/matrix/sparse_product.hpp>

#include <algorithm>

#include <voussoir/backends/cuda/matrix/block_stages.hpp>
#include <voussoir/backends/cuda/matrix/cuda_operator.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/cuda/runtime/early_start.hpp>
#include <voussoir/backends/cuda/runtime/passing_through.hpp>

// Products with matrices in slices. The matrix is read once and never again soon: past the caches, which are for x.

namespace voussoir::cuda {

namespace {

constexpr int product_threads = 128;
constexpr int product_warps = product_threads / 32;
constexpr int long_warps = 16;  // for a long slice
/// Below this many slices a large GPU has threads to spare: four warps share a slice.
constexpr std::int32_t few_slices = 4224;

/// Blocks of a row that are read before the first is used: enough to hide the memory, few enough for the registers.
template <int B>
constexpr int blocks_ahead = B == 1   ? 8
                             : B == 2 ? 4
                             : B == 3 ? 3
                             : B == 4 ? 2
                                      : 1;

/// The row in a lane of a slice: its entries are 32 apart.
struct LanePart {
  const std::int32_t* column;
  const double* value;
  int length;
};
template <int B>
__device__ LanePart part_of(const SparseProduct& p, std::int64_t slice, int lane) {
  const std::int64_t first = p.rows.slice_first[slice];
  return {p.rows.column + first * 32 + lane, p.value + first * (B * B * 32) + lane, p.rows.length[slice * 32 + lane]};
}

/// sum += blocks k … k + Ahead of a row times C columns of x, all read before the first is used. `Alone` says that x is
/// one vector and not a block of them.
template <int B, int C, int Ahead, bool Alone>
__device__ void add_blocks(const LanePart& part, int k, const double* x, int columns, double (&sum)[B * C]) {
  std::int32_t at[Ahead];
  double a[Ahead][B * B], in[Ahead][B * C];
  const std::int32_t* column = part.column + static_cast<std::int64_t>(k) * 32;
  const double* value = part.value + static_cast<std::int64_t>(k) * (B * B * 32);
#pragma unroll
  for (int u = 0; u < Ahead; ++u) at[u] = read_once(column + u * 32);
#pragma unroll
  for (int u = 0; u < Ahead; ++u)
#pragma unroll
    for (int e = 0; e < B * B; ++e) a[u][e] = read_once(value + (u * B * B + e) * 32);
#pragma unroll
  for (int u = 0; u < Ahead; ++u)
#pragma unroll
    for (int j = 0; j < B; ++j)
#pragma unroll
      for (int c = 0; c < C; ++c) {
        const std::int64_t equation = static_cast<std::int64_t>(at[u]) * B + j;
        in[u][j * C + c] = __ldg(x + (Alone ? equation : equation * columns + c));
      }
#pragma unroll
  for (int u = 0; u < Ahead; ++u)
#pragma unroll
    for (int i = 0; i < B; ++i)
#pragma unroll
      for (int j = 0; j < B; ++j)
#pragma unroll
        for (int c = 0; c < C; ++c) sum[i * C + c] += a[u][i * B + j] * in[u][j * C + c];
}

/// The share of warp `warp` of `Warps` in the row of this lane times C columns: every Warps-th group of blocks. Rows of
/// a slice are about equally long, so that lanes seldom part before the end.
template <int B, int C, int Ahead, int Warps, bool Alone>
__device__ void multiply_lane(const SparseProduct& p, std::int64_t slice, int lane, int warp, int first_column,
                              double (&sum)[B * C]) {
  const LanePart part = part_of<B>(p, slice, lane);
  const double* x = p.x + first_column;
  int k = warp * Ahead;
  for (; k + Ahead <= part.length; k += Warps * Ahead) add_blocks<B, C, Ahead, Alone>(part, k, x, p.columns, sum);
  if constexpr (Ahead > 1) {
    const int end = k + Ahead < part.length ? k + Ahead : part.length;
    for (; k < end; ++k) add_blocks<B, C, 1, Alone>(part, k, x, p.columns, sum);
  }
}

/// Whether a slice is left to multiply_long().
__device__ bool is_long(const SparseProduct& p, std::int64_t slice) {
  return p.long_count > 0 && p.rows.slice_first[slice + 1] - p.rows.slice_first[slice] > long_width;
}

/// y = A x, a thread per block row, or, where `Warps` is more than one, as many threads in so many warps. Partial sums
/// of x·y: one per block, or one alone that the last block makes of them.
template <int B, int Warps, bool Dot>
__global__ void __launch_bounds__(product_threads)
    multiply_one(SparseProduct p, bool one_sum, double* sums_of_blocks, unsigned* counter) {
  after_earlier_work();
  constexpr int slices_at_once = product_warps / Warps;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  double share = 0;
  for (std::int64_t group = blockIdx.x; group * slices_at_once < p.rows.slices; group += gridDim.x) {
    const std::int64_t slice = group * slices_at_once + warp / Warps;
    double sum[B] = {};
    const bool mine = slice < p.rows.slices && !is_long(p, slice);
    if (mine) multiply_lane<B, 1, blocks_ahead<B>, Warps, true>(p, slice, lane, warp % Warps, 0, sum);
    if constexpr (Warps > 1) {
      VSR_SHARED double others[Warps - 1][B][32];
      if (warp > 0)
        for (int i = 0; i < B; ++i) others[warp - 1][i][lane] = sum[i];
      __syncthreads();
      if (warp == 0)
        for (int w = 0; w < Warps - 1; ++w)
#pragma unroll
          for (int i = 0; i < B; ++i) sum[i] += others[w][i][lane];
      __syncthreads();
    }
    if (!mine || warp % Warps != 0) continue;
    const std::int32_t row = p.rows.row[slice * 32 + lane];
    if (row < 0) continue;
#pragma unroll
    for (int i = 0; i < B; ++i) {
      const std::int64_t equation = static_cast<std::int64_t>(row) * B + i;
      p.y[equation] = sum[i];
      if constexpr (Dot) share += __ldg(p.x + equation) * sum[i];
    }
  }
  if constexpr (Dot) {
    if (one_sum) {
      finish_sum<product_threads>(share, sums_of_blocks, counter, p.partials);
    } else {
      const double sum = sum_block<product_threads>(share);
      if (threadIdx.x == 0) p.partials[blockIdx.x] = sum;
    }
  }
}

/// y = A x for long slices, a block of threads each. Partial sums of x·y: one per slice.
template <int B>
__global__ void __launch_bounds__(32 * long_warps) multiply_long(SparseProduct p, double* partials) {
  VSR_SHARED double sums[long_warps][B][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int32_t slice = p.long_slices[blockIdx.x];
  double sum[B] = {};
  multiply_lane<B, 1, blocks_ahead<B>, long_warps, true>(p, slice, lane, warp, 0, sum);
#pragma unroll
  for (int i = 0; i < B; ++i) sums[warp][i][lane] = sum[i];
  __syncthreads();
  if (warp > 0) return;
  const std::int32_t row = p.rows.row[static_cast<std::int64_t>(slice) * 32 + lane];
  double share = 0;
#pragma unroll
  for (int i = 0; i < B; ++i) {
    for (int w = 1; w < long_warps; ++w) sum[i] += sums[w][i][lane];
    if (row < 0) continue;
    const std::int64_t equation = static_cast<std::int64_t>(row) * B + i;
    p.y[equation] = sum[i];
    share += __ldg(p.x + equation) * sum[i];
  }
  if (!partials) return;
  share = sum_of_warp(share);
  if (lane == 0) partials[blockIdx.x] = share;
}

/// C columns of Y = A X, a thread per block row.
template <int B, int C>
__global__ void __launch_bounds__(product_threads) multiply_few(SparseProduct p, int first_column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t slice = static_cast<std::int64_t>(blockIdx.x) * product_warps + threadIdx.x / 32;
  if (slice >= p.rows.slices) return;
  double sum[B * C] = {};
  multiply_lane<B, C, (blocks_ahead<B> + 1) / 2, 1, false>(p, slice, lane, 0, first_column, sum);
  const std::int32_t row = p.rows.row[slice * 32 + lane];
  if (row < 0) return;
  double* y = p.y + static_cast<std::int64_t>(row) * B * p.columns + first_column;
#pragma unroll
  for (int i = 0; i < B; ++i)
#pragma unroll
    for (int c = 0; c < C; ++c) y[static_cast<std::int64_t>(i) * p.columns + c] = sum[i * C + c];
}

/// Up to 8 · C columns of Y = A X, a block of threads per slice. Where half the matrix is stored, `Half`, its blocks
/// are read twice, once as the mirror images of themselves.
template <int B, int C, bool Paired, bool Half>
__global__ void __launch_bounds__(stage_threads, B <= 3 ? 3 : 1) multiply_many(SparseProduct p, int first_column) {
  VSR_DYNAMIC_SHARED(BlockStage<B>, room);
  const std::int64_t slice = blockIdx.x;
  const int lane = static_cast<int>(threadIdx.x) / threads_of_row;
  BlockStages<B, Half> stages(p.rows, p.value, p.mirrored, slice, room);
  const RowShare<C, Paired> share{p.columns - first_column};
  double sum[B][C] = {};
  for (int k0 = 0; k0 < stages.width(); k0 += stages.depth) {
    const BlockStage<B>& stage = stages.next();
    const int here = stages.width() - k0 < stages.depth ? stages.width() - k0 : stages.depth;
#pragma unroll(B <= 3 ? 2 : 1)
    for (int k = 0; k < here; ++k)
      add_block(
          stage, k, p.x + first_column, p.columns, share, [](std::int32_t) { return 1.0; }, sum);
  }
  const std::int32_t row = p.rows.row[slice * slice_rows + lane];
  if (row < 0) return;
  double* y = p.y + static_cast<std::int64_t>(row) * B * p.columns + first_column;
#pragma unroll
  for (int i = 0; i < B; ++i) share.store(sum[i], y + static_cast<std::int64_t>(i) * p.columns);
}

template <int B, int C, bool Paired>
int launch_many(const SparseProduct& p, int first_column, cudaStream_t stream) {
  constexpr std::size_t bytes = BlockStages<B, true>::stages_in_memory * sizeof(BlockStage<B>);
  launch(p.mirrored.stored ? multiply_many<B, C, Paired, true> : multiply_many<B, C, Paired, false>,
         Grid{p.rows.slices, stage_threads, bytes}, stream, p, first_column);
  return C * threads_of_row;
}

template <int B>
int multiply_wide_blocks(const SparseProduct& p, int first_column, cudaStream_t stream) {
  const int left = p.columns - first_column;
  if (left > 16)
    return p.columns % 2 == 0 ? launch_many<B, 4, true>(p, first_column, stream)
                              : launch_many<B, 4, false>(p, first_column, stream);
  return left > 8 ? launch_many<B, 2, false>(p, first_column, stream)
                  : launch_many<B, 1, false>(p, first_column, stream);
}

__global__ void __launch_bounds__(sum_threads) dot_entries(const double* x, const double* y, std::int64_t count,
                                                           double* partials, unsigned* counter, double* result) {
  double share = 0;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * sum_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x; i < count; i += step)
    share += x[i] * y[i];
  finish_sum<sum_threads>(share, partials, counter, result);
}

__global__ void __launch_bounds__(sum_threads) sum_partials(const double* partials, int count, double* result) {
  const double sum = add_partials<sum_threads>(partials, count);
  if (threadIdx.x == 0) *result = sum;
}

/// Blocks of a product of one column, and warps per slice.
struct OneColumn {
  int warps;
  std::int64_t blocks;
  bool one_sum;
};
OneColumn shape_of(std::int32_t slices, int long_count) {
  OneColumn shape;
  shape.warps = slices < few_slices ? product_warps : 1;
  shape.blocks = (static_cast<std::int64_t>(slices) * shape.warps + product_warps - 1) / product_warps;
  // A device without rows still leaves a sum.
  shape.blocks = std::clamp<std::int64_t>(shape.blocks, 1, CudaMemory::partial_sums);
  shape.one_sum = shape.blocks + long_count > CudaOperator::most_dot_partials;
  return shape;
}

template <int B>
void multiply_blocks(const SparseProduct& p, const CudaMemory& memory) {
  const cudaStream_t stream = memory.stream();
  if (p.columns == 1) {
    const OneColumn shape = shape_of(p.rows.slices, p.long_count);
    const auto kernel =
        shape.warps == 1 ? (p.partials ? multiply_one<B, 1, true> : multiply_one<B, 1, false>)
                         : (p.partials ? multiply_one<B, product_warps, true> : multiply_one<B, product_warps, false>);
    launch(kernel, Grid{shape.blocks, product_threads, 0, Start::early}, stream, p, shape.one_sum, memory.partials(),
           memory.counter());
    launch(multiply_long<B>, Grid{p.long_count, 32 * long_warps, 0}, stream, p,
           p.partials ? p.partials + (shape.one_sum ? 1 : shape.blocks) : nullptr);
    return;
  }
  const std::int64_t slices = p.rows.slices;
  const Grid few{(slices + product_warps - 1) / product_warps, product_threads, 0};
  for (int c = 0; c < p.columns;) {
    const int left = p.columns - c;
    if (left > 4) {
      c += multiply_wide_blocks<B>(p, c, stream);
    } else {
      const auto kernel = left == 4   ? multiply_few<B, 4>
                          : left == 3 ? multiply_few<B, 3>
                          : left == 2 ? multiply_few<B, 2>
                                      : multiply_few<B, 1>;
      launch(kernel, few, stream, p, c);
      c += 4;
    }
  }
}

}  // namespace

int partials_of_product(const SlicedRows& rows) {
  const auto long_count = static_cast<int>(rows.long_slices.size());
  const OneColumn shape = shape_of(rows.slices, long_count);
  return (shape.one_sum ? 1 : static_cast<int>(shape.blocks)) + long_count;
}

void multiply(const SparseProduct& product, int block_size, const CudaMemory& memory) {
  switch (block_size) {
    case 1:
      return multiply_blocks<1>(product, memory);
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

int multiply_wide(const SparseProduct& product, int block_size, int first, const CudaMemory& memory) {
  switch (block_size) {
    case 1:
      return multiply_wide_blocks<1>(product, first, memory.stream());
    case 2:
      return multiply_wide_blocks<2>(product, first, memory.stream());
    case 3:
      return multiply_wide_blocks<3>(product, first, memory.stream());
    case 4:
      return multiply_wide_blocks<4>(product, first, memory.stream());
    case 5:
      return multiply_wide_blocks<5>(product, first, memory.stream());
    default:
      return multiply_wide_blocks<6>(product, first, memory.stream());
  }
}

void enqueue_dot(const double* x, const double* y, std::int64_t count, double* result, const CudaMemory& memory) {
  launch(dot_entries, grid_for_sum(count, 4), memory.stream(), x, y, count, memory.partials(), memory.counter(),
         result);
}

void enqueue_sum(const double* partials, int count, double* result, const CudaMemory& memory) {
  launch(sum_partials, Grid{1, sum_threads, 0}, memory.stream(), partials, count, result);
}

}  // namespace voussoir::cuda
