#pragma once
#include <voussoir/backends/cuda/dense/front_kernels.hpp>

// Substitution with the factors of all parts of a device, 64 unknowns of their interiors in a step. A step is one
// kernel: each of its thread blocks solves with the diagonal block of a part, which takes little time, and updates some
// of the other rows, so that all processors read factors even where there are few parts. Parts come by descending size
// of their interiors, so that those that a step works on are the first ones. The solution goes to a separate array,
// because other thread blocks of the same step may still read the right-hand sides. Sums are taken in a fixed order.

namespace voussoir::cuda {

constexpr int vector_threads = 256;
constexpr int vector_columns = 8;  // that a thread block solves together
constexpr int warp_columns = 16;   // of a factor that a warp multiplies in a step backwards
constexpr int step_columns = vector_threads / 32 * warp_columns;  // the same of a thread block

/// The factors of a part, with padding, and where its vectors are.
struct FactorView {
  std::int64_t height = 0, interior = 0;
  std::int64_t first_row = 0;     // rows of all parts before it
  std::int64_t first_solved = 0;  // rows of their interiors
  const double* front = nullptr;
  const double* inverse = nullptr;
  const double* pivot = nullptr;
};

/// Right-hand sides of all parts: `columns` vectors of full height for each. `solved` has room for the interiors.
struct VectorView {
  const FactorView* part = nullptr;
  double* right = nullptr;
  double* solved = nullptr;
  int columns = 1;
};

/// What a thread block works on: some columns of the vectors of a part, and a share of the rows.
template <int most>
struct VectorShare {
  FactorView part;
  std::int64_t share;
  int some;       // columns
  double* right;  // the first of these columns
  double* solved;

  __device__ VectorShare(const VectorView& vectors, std::int64_t shares) {
    const std::int64_t chunks = (vectors.columns + most - 1) / most, rest = blockIdx.x % (chunks * shares);
    part = vectors.part[blockIdx.x / (chunks * shares)];
    share = rest % shares;
    const int first = static_cast<int>(rest / shares) * most;
    some = vectors.columns - first < most ? vectors.columns - first : most;
    right = vectors.right + part.first_row * vectors.columns + first * part.height;
    solved = vectors.solved + part.first_solved * vectors.columns + first * part.interior;
  }
};

/// Multiplies by the inverse of the diagonal block of L at row k, or by its transpose. Each sum has four pieces.
template <int most, bool transposed>
__device__ void solve_diagonal(const double* inverse, const double (&right)[most][front_block],
                               double (&pieces)[4][most][front_block], double (&solved)[most][front_block]) {
  const int i = static_cast<int>(threadIdx.x) % front_block, piece = static_cast<int>(threadIdx.x) / front_block;
  constexpr int length = front_block / 4;
  double sum[most] = {};
#pragma unroll
  for (int q = 0; q < length; ++q) {
    const int j = piece * length + q;
    const double l = transposed ? inverse[i * front_block + j] : inverse[j * front_block + i];
#pragma unroll
    for (int v = 0; v < most; ++v) sum[v] += l * right[v][j];
  }
#pragma unroll
  for (int v = 0; v < most; ++v) pieces[piece][v][i] = sum[v];
  __syncthreads();
  for (int v = piece; v < most; v += 4)
    solved[v][i] = (pieces[0][v][i] + pieces[1][v][i]) + (pieces[2][v][i] + pieces[3][v][i]);
  __syncthreads();
}

/// Loads the right-hand sides of a diagonal block, and stores its solution.
template <int most>
__device__ void load_right(const VectorShare<most>& own, const double* x, std::int64_t n,
                           double (&right)[most][front_block]) {
  const int i = static_cast<int>(threadIdx.x) % front_block;
  for (int v = static_cast<int>(threadIdx.x) / front_block; v < most; v += 4)
    right[v][i] = v < own.some ? x[v * n + i] : 0.0;
  __syncthreads();
}
template <int most>
__device__ void store_solved(const VectorShare<most>& own, std::int64_t k, const double (&solved)[most][front_block]) {
  const int i = static_cast<int>(threadIdx.x) % front_block;
  for (int v = static_cast<int>(threadIdx.x) / front_block; v < own.some; v += 4)
    own.solved[v * own.part.interior + k + i] = solved[v][i];
}

/// A step of L⁻¹ b at row k: solves with the diagonal block, and updates the rows below it, one per thread, in up to
/// `shares` thread blocks per part.
template <int most>
__global__ void __launch_bounds__(vector_threads)
    step_forwards(VectorView vectors, std::int64_t k, bool interior_only, std::int64_t shares) {
  VSR_SHARED double right[most][front_block], pieces[4][most][front_block], solved[most][front_block];
  const VectorShare<most> own(vectors, shares);
  const std::int64_t n = own.part.height, rows = interior_only ? own.part.interior : n,
                     first = k + front_block + own.share * vector_threads, r = first + threadIdx.x;
  if (own.share > 0 && first >= rows) return;  // the whole thread block: this part has fewer rows than others
  load_right(own, own.right + k, n, right);
  solve_diagonal<most, false>(own.part.inverse + k * front_block, right, pieces, solved);
  if (own.share == 0) store_solved(own, k, solved);
  if (r >= rows) return;
  const double* const l = own.part.front + k * n + r;
  double sum[most] = {};
#pragma unroll 16
  for (int j = 0; j < front_block; ++j) {
    const double value = l[j * n];
#pragma unroll
    for (int v = 0; v < most; ++v) sum[v] += value * solved[v][j];
  }
#pragma unroll
  for (int v = 0; v < most; ++v)
    if (v < own.some) own.right[v * n + r] -= sum[v];
}

/// D⁻¹ y − L_biᵀ x_b in the interior: each warp takes four columns of L.
template <int most>
__global__ void __launch_bounds__(vector_threads) begin_backwards(VectorView vectors, std::int64_t shares) {
  constexpr int together = 4;
  const VectorShare<most> own(vectors, shares);
  const std::int64_t n = own.part.height;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t j = (own.share * (vector_threads / 32) + threadIdx.x / 32) * together;
  if (j >= own.part.interior) return;  // the whole warp: interiors are multiples of 64
  double* const x = own.right;
  const double* const l = own.part.front + j * n;
  double sum[together][most] = {};
#pragma unroll 2
  for (std::int64_t r = own.part.interior + lane; r < n; r += 32)
#pragma unroll
    for (int v = 0; v < most; ++v) {
      const double value = v < own.some ? x[v * n + r] : 0.0;
#pragma unroll
      for (int q = 0; q < together; ++q) sum[q][v] += l[q * n + r] * value;
    }
#pragma unroll
  for (int q = 0; q < together; ++q)
#pragma unroll
    for (int v = 0; v < most; ++v) {
      for (int step = 16; step > 0; step /= 2) sum[q][v] += __shfl_xor_sync(0xffffffffu, sum[q][v], step);
      if (lane == 0 && v < own.some) x[v * n + j + q] = x[v * n + j + q] / own.part.pivot[j + q] - sum[q][v];
    }
}

/// A step of L⁻ᵀ z at row k: solves with the transposed diagonal block, and updates the rows above it, 16 per warp.
template <int most>
__global__ void __launch_bounds__(vector_threads)
    step_backwards(VectorView vectors, std::int64_t k, std::int64_t shares) {
  constexpr int together = 4;
  VSR_SHARED double right[most][front_block], pieces[4][most][front_block], solved[most][front_block];
  const VectorShare<most> own(vectors, shares);
  const std::int64_t n = own.part.height;
  load_right(own, own.right + k, n, right);
  solve_diagonal<most, true>(own.part.inverse + k * front_block, right, pieces, solved);
  if (own.share == 0) store_solved(own, k, solved);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t begin = own.share * step_columns + threadIdx.x / 32 * warp_columns;
  for (std::int64_t c = begin; c < begin + warp_columns && c < k; c += together) {
    const double* const l = own.part.front + c * n + k + lane;
    double sum[together][most];
#pragma unroll
    for (int q = 0; q < together; ++q) {
      const double upper = l[q * n], lower = l[q * n + 32];
#pragma unroll
      for (int v = 0; v < most; ++v) sum[q][v] = upper * solved[v][lane] + lower * solved[v][lane + 32];
    }
#pragma unroll
    for (int q = 0; q < together; ++q)
#pragma unroll
      for (int v = 0; v < most; ++v) {
        for (int step = 16; step > 0; step /= 2) sum[q][v] += __shfl_xor_sync(0xffffffffu, sum[q][v], step);
        if (lane == 0 && v < own.some) own.right[v * n + c + q] -= sum[q][v];
      }
  }
}

/// Copies the solution over the right-hand sides: a thread per row.
static __global__ void __launch_bounds__(vector_threads) place_solved(VectorView vectors, std::int64_t shares) {
  const VectorShare<1> own(vectors, shares);
  const std::int64_t i = own.share * vector_threads + threadIdx.x;
  if (i < own.part.interior) own.right[i] = own.solved[i];
}

}  // namespace voussoir::cuda
