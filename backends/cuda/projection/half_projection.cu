#include <voussoir/backends/cuda/projection/half_projection.hpp>

#include <algorithm>

#include <voussoir/backends/cuda/matrix/block_stages.hpp>
#include <voussoir/backends/cuda/primitives/tensor_product.hpp>

// XᵀAX = S + Sᵀ with S = Σᵢ xᵢᵀ zᵢ, zᵢ = ½ Aᵢᵢ xᵢ + Σ Aᵢⱼ xⱼ over the blocks right of the diagonal, so that what is
// stored is read once. Of blocks in columns of other devices both devices have one, Aᵢⱼ here and Aⱼᵢ there. Together
// with their transposes they would be counted twice, so each device takes a half.

namespace voussoir::cuda {

namespace {

constexpr int thread_columns = panel_columns / threads_of_row;
static_assert(stage_threads == projection_threads);
/// Numbers from a row of z, or of x, to the next in shared memory: the four rows that a half of a warp reads are in
/// different banks.
constexpr int row_stride = panel_columns + 4;

struct HalfPanelJob {
  ProjectedHalf half;
  int top, left;
  double* sums;
};

/// Starts to copy the rows of x that belong to the rows of a slice to shared memory, from column job.top on.
template <int B>
__device__ inline void start_own_rows(const HalfPanelJob& job, std::int64_t slice, double* xs) {
  const ProjectedHalf& half = job.half;
  const int lane = static_cast<int>(threadIdx.x) / threads_of_row;
  const std::int32_t row = half.rows.row[slice * slice_rows + lane];
  const RowShare<thread_columns, false> share{half.columns - job.top};
#pragma unroll
  for (int i = 0; i < B; ++i) {
    const double* x = half.x + (static_cast<std::int64_t>(row) * B + i) * half.columns + job.top;
#pragma unroll
    for (int c = 0; c < thread_columns; ++c) {
      const bool exists = row >= 0 && share.column(c) < share.left;
      start_copy_or_zero(xs + (lane * B + i) * row_stride + share.column(c), exists ? x + share.column(c) : half.x,
                         exists);
    }
  }
  close_copies();
}

/// z and x of a slice, by rows, to shared memory. `Ghosts`: there may be columns of other devices.
template <int B, bool Ghosts>
__device__ void multiply_slice(const HalfPanelJob& job, std::int64_t slice, BlockStage<B>* room, double* zs,
                               double* xs) {
  const ProjectedHalf& half = job.half;
  const int lane = static_cast<int>(threadIdx.x) / threads_of_row;
  BlockStages<B, false> stages(half.rows, half.value, MirrorView{}, slice, room);
  const RowShare<thread_columns, false> share{half.columns - job.left};
  double z[B][thread_columns] = {};
  for (int k0 = 0; k0 < stages.width(); k0 += stages.depth) {
    const BlockStage<B>& stage = stages.next();
    if (k0 == 0) start_own_rows<B>(job, slice, xs);
    const int here = stages.width() - k0 < stages.depth ? stages.width() - k0 : stages.depth;
#pragma unroll(B <= 3 ? 2 : 1)
    for (int k = 0; k < here; ++k)
      add_block(
          stage, k, half.x + job.left, half.columns, share,
          [&](std::int32_t at) { return k0 + k == 0 || (Ghosts && at >= half.rows.rows) ? 0.5 : 1.0; }, z);
  }
  // The barriers of stages stand between reading the last z and x and writing these.
  if (stages.width() == 0) {
    __syncthreads();
    start_own_rows<B>(job, slice, xs);
  }
  const bool exists = half.rows.row[slice * slice_rows + lane] >= 0;
#pragma unroll
  for (int i = 0; i < B; ++i)
#pragma unroll
    for (int c = 0; c < thread_columns; ++c) zs[(lane * B + i) * row_stride + share.column(c)] = exists ? z[i][c] : 0.0;
  wait_for_copies_but<0>();
}

/// A block of threads per slice: rows of z and x go to shared memory, and each warp adds a tile of 16 × 8 of XᵀZ.
template <int B, bool Ghosts>
__global__ void __launch_bounds__(projection_threads, 2) project_slices(HalfPanelJob job) {
  VSR_DYNAMIC_SHARED(BlockStage<B>, room);
  double* const zs = reinterpret_cast<double*>(room + BlockStages<B, false>::stages_in_memory);
  double* const xs = zs + slice_rows * B * row_stride;
  const ProjectedHalf& half = job.half;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int q = lane % 4, g = lane / 4, down = warp / 4 * 16, across = warp % 4 * 8;
  double top[2] = {}, bottom[2] = {};
  for (std::int64_t slice = blockIdx.x; slice < half.rows.slices; slice += gridDim.x) {
    multiply_slice<B, Ghosts>(job, slice, room, zs, xs);
    __syncthreads();
    // The stages of the next slice are read behind this barrier, and its z is written behind those of its stages.
#pragma unroll 2
    for (int k = q; k < slice_rows * B; k += 8) {
      double x_top[2], x_bottom[2], z[2];
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        const double* x = xs + (k + 4 * s) * row_stride + down + g;
        x_top[s] = x[0];
        x_bottom[s] = x[8];
        z[s] = zs[(k + 4 * s) * row_stride + across + g];
      }
      multiply_add(top, bottom, x_top, x_bottom, z);
    }
  }
  double* own = job.sums + static_cast<std::int64_t>(blockIdx.x) * (panel_columns * panel_columns);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    own[(down + g) * panel_columns + across + 2 * q + h] += top[h];
    own[(down + g + 8) * panel_columns + across + 2 * q + h] += bottom[h];
  }
}

template <int B>
constexpr std::size_t slice_bytes() {
  return BlockStages<B, false>::stages_in_memory * sizeof(BlockStage<B>) +
         2 * sizeof(double) * slice_rows * B * row_stride;
}

template <bool Ghosts>
auto half_kernel(int block_size) {
  return block_size == 2   ? project_slices<2, Ghosts>
         : block_size == 3 ? project_slices<3, Ghosts>
         : block_size == 4 ? project_slices<4, Ghosts>
         : block_size == 5 ? project_slices<5, Ghosts>
                           : project_slices<6, Ghosts>;
}

}  // namespace

std::size_t half_projection_bytes(int block_size) {
  return block_size == 2   ? slice_bytes<2>()
         : block_size == 3 ? slice_bytes<3>()
         : block_size == 4 ? slice_bytes<4>()
         : block_size == 5 ? slice_bytes<5>()
                           : slice_bytes<6>();
}

void project_half(const ProjectedHalf& half, int block_size, PanelSums& sums, const CudaMemory& memory) {
  const auto kernel = half.ghosts ? half_kernel<true>(block_size) : half_kernel<false>(block_size);
  const Grid grid{std::min<std::int64_t>(projection_blocks, half.rows.slices), projection_threads,
                  half_projection_bytes(block_size)};
  for (std::size_t p = 0; p < sums.panels().size(); ++p) {
    const Panel& panel = sums.panels()[p];
    launch(kernel, grid, memory.stream(), HalfPanelJob{half, panel.top, panel.left, sums.sums(p)});
  }
}

}  // namespace voussoir::cuda
