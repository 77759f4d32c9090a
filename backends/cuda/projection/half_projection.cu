#include <voussoir/backends/cuda/projection/half_projection.hpp>

#include <algorithm>

#include <voussoir/backends/cuda/primitives/tensor_product.hpp>
#include <voussoir/backends/cuda/runtime/passing_through.hpp>

// XᵀAX = S + Sᵀ with S = Σᵢ xᵢᵀ zᵢ, zᵢ = ½ Aᵢᵢ xᵢ + Σ Aᵢⱼ xⱼ over the blocks right of the diagonal, so that what is
// stored is read once. Of blocks in columns of other devices both devices have one, Aᵢⱼ here and Aⱼᵢ there. Together
// with their transposes they would be counted twice, so each device takes a half.

namespace voussoir::cuda {

namespace {

/// Threads of a row: each takes every eighth column.
constexpr int row_threads = 8;
constexpr int thread_columns = panel_columns / row_threads;
static_assert(slice_rows * row_threads == projection_threads);
/// Numbers from a row to the next in shared memory: the four rows that a half of a warp reads are in different banks.
constexpr int row_stride = panel_columns + 4;

struct HalfPanelJob {
  ProjectedHalf half;
  int top, left;
  double* sums;
};

/// A thread's columns of z, for its row of a slice.
template <int B>
__device__ void multiply_row(const HalfPanelJob& job, std::int64_t slice, int lane, int length,
                             double (&z)[B][thread_columns]) {
  const ProjectedHalf& half = job.half;
  const std::int64_t first = half.rows.slice_first[slice];
  const std::int32_t* column = half.rows.column + first * slice_rows + lane;
  const double* value = half.value + first * (B * B * slice_rows) + lane;
  const int from = job.left + static_cast<int>(threadIdx.x) % row_threads;
#pragma unroll(B <= 3 ? 2 : 1)
  for (int k = 0; k < length; ++k) {
    const std::int32_t at = read_once(column + static_cast<std::int64_t>(k) * slice_rows);
    double a[B * B];
#pragma unroll
    for (int e = 0; e < B * B; ++e) a[e] = read_once(value + (static_cast<std::int64_t>(k) * (B * B) + e) * slice_rows);
    const double weight = k == 0 || at >= half.rows.rows ? 0.5 : 1.0;
    const double* x = half.x + static_cast<std::int64_t>(at) * B * half.columns;
#pragma unroll
    for (int j = 0; j < B; ++j)
#pragma unroll
      for (int c = 0; c < thread_columns; ++c) {
        const int number = from + c * row_threads;
        const double in = number < half.columns ? weight * __ldg(x + j * half.columns + number) : 0.0;
#pragma unroll
        for (int i = 0; i < B; ++i) z[i][c] += a[i * B + j] * in;
      }
  }
}

/// A block of threads per slice: rows of z and of X go to shared memory, and warps add two tiles of XᵀZ each.
template <int B>
__global__ void __launch_bounds__(projection_threads, 2) project_slices(HalfPanelJob job) {
  VSR_DYNAMIC_SHARED(double, shared);
  double* const zs = shared;
  double* const xs = shared + slice_rows * B * row_stride;
  const ProjectedHalf& half = job.half;
  const int thread = static_cast<int>(threadIdx.x), lane_of_row = thread / row_threads, place = thread % row_threads;
  const int lane = thread % 32, warp = thread / 32, q = lane % 4, g = lane / 4;
  const int down = warp / 2, across = warp % 2 * 2;
  double sum[2][2] = {};
  for (std::int64_t slice = blockIdx.x; slice < half.rows.slices; slice += gridDim.x) {
    const std::int32_t row = half.rows.row[slice * slice_rows + lane_of_row];
    const int length = row < 0 ? 0 : half.rows.length[slice * slice_rows + lane_of_row];
    double z[B][thread_columns] = {};
    multiply_row<B>(job, slice, lane_of_row, length, z);
#pragma unroll
    for (int i = 0; i < B; ++i)
#pragma unroll
      for (int c = 0; c < thread_columns; ++c) {
        const int at = (lane_of_row * B + i) * row_stride + place + c * row_threads;
        const int column = job.top + place + c * row_threads;
        zs[at] = z[i][c];
        xs[at] = row >= 0 && column < half.columns
                     ? __ldg(half.x + (static_cast<std::int64_t>(row) * B + i) * half.columns + column)
                     : 0.0;
      }
    __syncthreads();
#pragma unroll 4
    for (int k = q; k < slice_rows * B; k += 4) {
      const double left = xs[k * row_stride + 8 * down + g];
      multiply_add(sum[0], left, zs[k * row_stride + 8 * across + g]);
      multiply_add(sum[1], left, zs[k * row_stride + 8 * (across + 1) + g]);
    }
    __syncthreads();
  }
  double* own = job.sums + static_cast<std::int64_t>(blockIdx.x) * (panel_columns * panel_columns);
#pragma unroll
  for (int j = 0; j < 2; ++j)
#pragma unroll
    for (int h = 0; h < 2; ++h) own[(8 * down + g) * panel_columns + 8 * (across + j) + 2 * q + h] += sum[j][h];
}

}  // namespace

std::size_t half_projection_bytes(int block_size) {
  return std::size_t{2} * slice_rows * row_stride * static_cast<std::size_t>(block_size) * sizeof(double);
}

void project_half(const ProjectedHalf& half, int block_size, PanelSums& sums, const CudaMemory& memory) {
  const auto kernel = block_size == 2   ? project_slices<2>
                      : block_size == 3 ? project_slices<3>
                      : block_size == 4 ? project_slices<4>
                      : block_size == 5 ? project_slices<5>
                                        : project_slices<6>;
  const Grid grid{std::min<std::int64_t>(projection_blocks, half.rows.slices), projection_threads,
                  half_projection_bytes(block_size)};
  for (std::size_t p = 0; p < sums.panels().size(); ++p) {
    const Panel& panel = sums.panels()[p];
    launch(kernel, grid, memory.stream(), HalfPanelJob{half, panel.top, panel.left, sums.sums(p)});
  }
}

}  // namespace voussoir::cuda
