#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/diagonal_blocks.hpp>
#include <voussoir/backends/cuda/reduction.hpp>
#include <voussoir/backends/cuda/streaming.hpp>

// Kernels of conjugate gradients whose scalars never leave the devices. An iteration is
//
//   turn      adds up r·r and r·z, decides whether to go on, p = z + β p
//   (product) q = A p and partial sums of p·q
//   advance   adds up p·q, x += α p, r −= α q, z = D r and partial sums of r·r and r·z
//
// Every block of a kernel adds up the partial sums for itself, always in the same order, so that no kernel is needed
// for that alone. Once an iteration has stopped, what is still enqueued changes nothing.

namespace voussoir::cuda {

inline constexpr int most_devices = 16;

/// Partial sums that all devices have left, in the order in which they are added.
struct PartialSums {
  const double* partials[most_devices];
  int counts[most_devices];
  int devices;
};

enum class CgStop : int { none, converged, max_iterations, breakdown, not_finite, bad_preconditioner };

/// The scalars of CG on one device. All devices compute the same ones.
struct CgState {
  double rho[2];  ///< r·z of even and odd iterations: kernels write the one and read the other
  double goal;    ///< of the residual norm
  int iteration;
  int most_iterations;
  int stop;  ///< CgStop
};

/// What the host wants to know of the latest iterations, by iteration modulo `kept_iterations`.
inline constexpr int kept_iterations = 128;
struct CgRecord {
  double residual[kept_iterations];  ///< norm before the iteration
  double alpha[kept_iterations];
  double beta[kept_iterations];
};

__device__ inline double add_up(const PartialSums& sums) {
  double total = 0;
  for (int d = 0; d < sums.devices; ++d) total += add_partials<sum_threads>(sums.partials[d], sums.counts[d]);
  return total;
}
/// Whether the iteration has stopped, the same answer for all threads of a block: another block may be stopping it just
/// now. All threads call.
__device__ inline bool has_stopped(const CgState* state) {
  VSR_SHARED int stop;
  if (threadIdx.x == 0) stop = state->stop;
  __syncthreads();
  return stop != static_cast<int>(CgStop::none);
}
__device__ inline bool is_finite(double x) { return x - x == 0; }

/// r = b − q, and partial sums of r·r.
__global__ void __launch_bounds__(sum_threads)
    begin_residual(std::int64_t count, const double* b, const double* q, double* r, double* partials) {
  double sum = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * sum_threads) {
    const double left = b[i] - q[i];
    r[i] = left;
    sum += left * left;
  }
  sum = sum_block<sum_threads>(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

/// Partial sums of r·z.
__global__ void __launch_bounds__(sum_threads)
    dot_partial_sums(std::int64_t count, const double* r, const double* z, double* partials) {
  const std::int64_t pairs = count / 2, first = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x;
  double sum = 0;
  for (std::int64_t k = first; k < pairs; k += static_cast<std::int64_t>(gridDim.x) * sum_threads) {
    const Pair a = load_pair(r, k), b = load_pair(z, k);
    sum += a.first * b.first + a.second * b.second;
  }
  if (count % 2 == 1 && first == 0) sum += r[count - 1] * z[count - 1];
  sum = sum_block<sum_threads>(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

/// What the sums before an iteration say.
__device__ inline CgStop judge_sums(const CgState& state, int iteration, double residual, double rho) {
  if (!is_finite(residual)) return CgStop::not_finite;
  if (residual <= state.goal) return CgStop::converged;
  if (iteration >= state.most_iterations) return CgStop::max_iterations;
  if (!is_finite(rho)) return CgStop::not_finite;
  return rho <= 0 ? CgStop::bad_preconditioner : CgStop::none;
}

/// p = z + β p on the entries of one thread; p = z where β is 0: the old p does not matter then, be it NaN.
__device__ inline void turn_entries(std::int64_t count, std::int64_t first, std::int64_t step, double beta,
                                    const double* z, double* p) {
  const std::int64_t pairs = count / 2;
  if (beta == 0) {
    for (std::int64_t k = first; k < pairs; k += step) store_pair(p, k, load_pair(z, k));
    if (count % 2 == 1 && first == 0) p[count - 1] = z[count - 1];
    return;
  }
#pragma unroll 2
  for (std::int64_t k = first; k < pairs; k += step) {
    const Pair a = load_pair(z, k), b = load_pair(p, k);
    store_pair(p, k, {a.first + beta * b.first, a.second + beta * b.second});
  }
  if (count % 2 == 1 && first == 0) p[count - 1] = z[count - 1] + beta * p[count - 1];
}

/// The vectors of an iteration on one device.
struct CgVectors {
  std::int64_t count;
  const double* p;
  const double* q;
  double* x;
  double* r;
  double* z;  ///< r where there is no preconditioner
};

/// x += α p, r −= α q, and, where B > 0, z = D r with blocks of B, on the entries of one thread. Adds r·r and r·z.
template <int B>
__device__ inline void advance_entries(const CgVectors& v, std::int64_t first, std::int64_t step, double alpha,
                                       const DiagonalBlocks& blocks, double (&sums)[2]) {
  if constexpr (B > 1) {
    for (std::int64_t row = first; row < v.count / B; row += step) {
      double left[B], out[B];
#pragma unroll
      for (int i = 0; i < B; ++i) {
        const std::int64_t k = row * B + i;
        v.x[k] += alpha * v.p[k];
        left[i] = v.r[k] - alpha * v.q[k];
        v.r[k] = left[i];
        sums[0] += left[i] * left[i];
      }
      multiply_block<B>(blocks, row, left, out);
#pragma unroll
      for (int i = 0; i < B; ++i) {
        v.z[row * B + i] = out[i];
        sums[1] += left[i] * out[i];
      }
    }
  } else {
    const std::int64_t pairs = v.count / 2;
#pragma unroll 2
    for (std::int64_t k = first; k < pairs; k += step) {
      const Pair dp = load_pair(v.p, k), dq = load_pair(v.q, k), ox = load_pair(v.x, k), old = load_pair(v.r, k);
      const Pair left = {old.first - alpha * dq.first, old.second - alpha * dq.second};
      store_pair(v.x, k, {ox.first + alpha * dp.first, ox.second + alpha * dp.second});
      store_pair(v.r, k, left);
      sums[0] += left.first * left.first + left.second * left.second;
      if constexpr (B == 1) {
        const Pair out = {blocks.at(2 * k) * left.first, blocks.at(2 * k + 1) * left.second};
        store_pair(v.z, k, out);
        sums[1] += left.first * out.first + left.second * out.second;
      }
    }
    if (v.count % 2 == 1 && first == 0) {
      const std::int64_t last = v.count - 1;
      v.x[last] += alpha * v.p[last];
      const double left = v.r[last] - alpha * v.q[last];
      v.r[last] = left;
      sums[0] += left * left;
      if constexpr (B == 1) {
        v.z[last] = blocks.at(last) * left;
        sums[1] += left * v.z[last];
      }
    }
  }
}

/// The decision that begins an iteration, and its direction.
__global__ void __launch_bounds__(sum_threads) turn(std::int64_t count, CgState* state, CgRecord* record,
                                                    PartialSums r_r, PartialSums r_z, const double* z, double* p) {
  if (has_stopped(state)) return;
  const int iteration = state->iteration;
  const double residual = sqrt(add_up(r_r));
  const double rho = add_up(r_z);
  const CgStop stop = judge_sums(*state, iteration, residual, rho);
  const double beta = iteration == 0 ? 0.0 : rho / state->rho[(iteration + 1) % 2];
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state->rho[iteration % 2] = rho;
    record->residual[iteration % kept_iterations] = residual;
    record->beta[iteration % kept_iterations] = beta;
    if (stop != CgStop::none) state->stop = static_cast<int>(stop);
  }
  if (stop != CgStop::none) return;
  turn_entries(count, static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x,
               static_cast<std::int64_t>(gridDim.x) * sum_threads, beta, z, p);
}

/// The step along the direction. `partials` gets r·r of every block, then r·z.
template <int B>
__global__ void __launch_bounds__(sum_threads) advance(CgVectors v, CgState* state, CgRecord* record, PartialSums p_q,
                                                       DiagonalBlocks blocks, double* partials, unsigned* counter) {
  if (has_stopped(state)) return;
  const int iteration = state->iteration;
  const double p_a_p = add_up(p_q);
  const bool finite = is_finite(p_a_p), broken = !finite || p_a_p <= 0;  // or the matrix is not positive definite
  const double alpha = state->rho[iteration % 2] / p_a_p;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    record->alpha[iteration % kept_iterations] = alpha;
    if (broken) state->stop = static_cast<int>(finite ? CgStop::breakdown : CgStop::not_finite);
  }
  if (broken) return;
  double sums[2] = {0, 0};
  advance_entries<B>(v, static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x,
                     static_cast<std::int64_t>(gridDim.x) * sum_threads, alpha, blocks, sums);
  sum_block<sum_threads, 2>(sums);
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = sums[0];
    partials[gridDim.x + blockIdx.x] = sums[1];
  }
  // All blocks have read the iteration's number when the last one counts it up.
  if (is_last_block(counter) && threadIdx.x == 0) state->iteration = iteration + 1;
}

/// Entries up to which one block takes the whole step and decision: a launch less counts for more than the bandwidth of
/// the other multiprocessors.
inline constexpr std::int64_t most_entries_of_one_block = 2048;
inline constexpr int one_block_threads = 1024;

/// advance() and turn() in one, for few entries on one device.
template <int B>
__global__ void __launch_bounds__(one_block_threads)
    advance_and_turn(CgVectors v, CgState* state, CgRecord* record, PartialSums p_q, DiagonalBlocks blocks, double* p) {
  if (has_stopped(state)) return;
  const int iteration = state->iteration, next = iteration + 1;
  const double old_rho = state->rho[iteration % 2];
  const double p_a_p = add_partials<one_block_threads>(p_q.partials[0], p_q.counts[0]);
  const bool finite = is_finite(p_a_p), broken = !finite || p_a_p <= 0;
  const double alpha = old_rho / p_a_p;
  if (broken) {
    if (threadIdx.x == 0) {
      record->alpha[iteration % kept_iterations] = alpha;
      state->stop = static_cast<int>(finite ? CgStop::breakdown : CgStop::not_finite);
    }
    return;
  }
  double sums[2] = {0, 0};
  advance_entries<B>(v, threadIdx.x, one_block_threads, alpha, blocks, sums);
  sum_block<one_block_threads, 2>(sums);  // and every thread sees what the others wrote
  const double residual = sqrt(sums[0]), rho = B > 0 ? sums[1] : sums[0], beta = rho / old_rho;
  const CgStop stop = judge_sums(*state, next, residual, rho);
  if (threadIdx.x == 0) {
    record->alpha[iteration % kept_iterations] = alpha;
    record->residual[next % kept_iterations] = residual;
    record->beta[next % kept_iterations] = beta;
    state->rho[next % 2] = rho;
    state->iteration = next;
    if (stop != CgStop::none) state->stop = static_cast<int>(stop);
  }
  if (stop == CgStop::none) turn_entries(v.count, threadIdx.x, one_block_threads, beta, B > 0 ? v.z : v.r, p);
}

}  // namespace voussoir::cuda
