#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/krylov/cg_state.hpp>
#include <voussoir/backends/cuda/matrix/diagonal_blocks.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/cuda/runtime/early_start.hpp>
#include <voussoir/backends/cuda/runtime/streaming.hpp>

// Kernels of conjugate gradients whose scalars never leave the devices. An iteration is
//
//   (product) q = A p and partial sums of p·q
//   advance   adds up p·q to α, r −= α q, z = D r and partial sums of r·r and r·z
//   turn      x += α p, adds up r·r and r·z, decides whether to go on, p = z + β p
//
// Every block of a kernel adds up the partial sums for itself, always in the same order, so that no kernel is needed
// for that alone. Once an iteration has stopped, what is still enqueued changes nothing.
//
// advance() goes through the vectors from their ends, turn() from their beginnings: each finds in the cache what the
// one before it left there. A diagonal D of single numbers is read twice rather than writing z. turn() moves x, since
// it reads p anyway.

namespace voussoir::cuda {

inline constexpr int most_devices = 16;

/// Partial sums that all devices have left, in the order in which they are added.
struct PartialSums {
  const double* partials[most_devices];
  int counts[most_devices];
  int devices;
};

/// Adds up sums, in every thread of a block, unless the iteration has stopped: false then, for all threads of the
/// block, though another block may be stopping it just now. All threads call; everything is read in one go.
template <int Count>
__device__ inline bool add_up(const CgState* state, const PartialSums* const (&sums)[Count], double (&totals)[Count]) {
  VSR_SHARED int stop;
  if (threadIdx.x == 0) stop = state->stop;
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    totals[k] = 0;
    for (int d = 0; d < sums[k]->devices; ++d)
      for (int i = static_cast<int>(threadIdx.x); i < sums[k]->counts[d]; i += sum_threads)
        totals[k] += sums[k]->partials[d][i];
  }
  sum_block<sum_threads, Count>(totals);
  return stop == static_cast<int>(CgStop::none);
}

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

/// The vectors of an iteration on one device.
struct CgVectors {
  std::int64_t count;
  double* p;
  const double* q;
  double* x;
  double* r;
  double* z;  ///< blocks of several numbers and other preconditioners: D r; else null

  /// Where the direction comes from, but for a D of single numbers.
  __device__ const double* direction() const { return z ? z : r; }
};

/// Which items a thread does, where threads share them.
struct Share {
  std::int64_t first, step;

  __device__ static Share of_grid() {
    return {static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x,
            static_cast<std::int64_t>(gridDim.x) * sum_threads};
  }
  // Items from the last to the first, but in groups that start where accesses are aligned: i counts up to
  // rounded(count).
  static constexpr std::int64_t group = 32;
  __device__ static std::int64_t rounded(std::int64_t count) { return (count + group - 1) / group * group; }
  __device__ static std::int64_t from_end(std::int64_t i, std::int64_t count) {
    return rounded(count) - group - i / group * group + i % group;
  }
};

/// What is decided between two iterations.
struct Turn {
  bool stepped;  ///< a step has been taken that x has yet to take; not before the first iteration
  bool goes_on;  ///< otherwise x takes that step, and that is all
  double alpha, beta;
};

/// z + β p. Where several devices compute the same entry, each must get the same bits: no choice is left to the
/// compiler.
template <bool Several>
__device__ inline double next_direction(double z, double beta, double p) {
  if constexpr (Several)
    return fma(beta, p, z);
  else
    return z + beta * p;
}

/// x += α p and p = z + β p on the entries of one thread, with z = D r where B is 1. Before the first iteration p = z:
/// the old one does not matter, be it NaN.
template <int B, bool Several = false>
__device__ inline void turn_entries(const CgVectors& v, Share share, const Turn& turn, const DiagonalBlocks& blocks) {
  const double alpha = turn.alpha, beta = turn.beta;
  const double* const z = v.direction();
  const auto own = [&](std::int64_t k) { return B == 1 ? blocks.at(k) * z[k] : z[k]; };
  if (!turn.stepped || !turn.goes_on) {
    for (std::int64_t k = share.first; k < v.count; k += share.step) {
      if (turn.stepped) v.x[k] += alpha * v.p[k];
      if (turn.goes_on) v.p[k] = own(k);
    }
    return;
  }
  const std::int64_t pairs = v.count / 2;
#pragma unroll 2
  for (std::int64_t k = share.first; k < pairs; k += share.step) {
    Pair next = load_pair(z, k);
    const Pair old = load_pair(v.p, k), at = load_passing_pair(v.x, k);
    if constexpr (B == 1) next = {blocks.at(2 * k) * next.first, blocks.at(2 * k + 1) * next.second};
    store_passing_pair(v.x, k, {at.first + alpha * old.first, at.second + alpha * old.second});
    store_pair(
        v.p, k,
        {next_direction<Several>(next.first, beta, old.first), next_direction<Several>(next.second, beta, old.second)});
  }
  if (v.count % 2 == 1 && share.first == 0) {
    const std::int64_t last = v.count - 1;
    const double old = v.p[last];
    v.x[last] += alpha * old;
    v.p[last] = next_direction<Several>(own(last), beta, old);
  }
}

/// The ghosts of the direction on one device, where the devices that own them are on the same GPU.
struct DirectionGhosts {
  struct Way {
    std::int64_t count;
    const std::int32_t* send;  ///< entries of the owner
    const double* direction;   ///< CgVectors::direction() of the owner
    DiagonalBlocks blocks;     ///< of the owner
    double* ghosts;            ///< of p
  };
  Way ways[most_devices - 1];
  int count;
};

/// p = z + β p on ghosts, as their owners compute it: nobody needs to send them.
template <int B>
__device__ inline void turn_ghosts(const DirectionGhosts& all, Share share, const Turn& turn) {
  if (!turn.goes_on) return;
  for (int w = 0; w < all.count; ++w) {
    const DirectionGhosts::Way& way = all.ways[w];
    for (std::int64_t k = share.first; k < way.count; k += share.step) {
      const std::int32_t i = way.send[k];
      const double z = B == 1 ? way.blocks.at(i) * way.direction[i] : way.direction[i];
      way.ghosts[k] = turn.stepped ? next_direction<true>(z, turn.beta, way.ghosts[k]) : z;
    }
  }
}

/// r −= α q, and, where B > 0, z = D r with blocks of B, on the entries of one thread. Adds r·r and r·z.
template <int B>
__device__ inline void advance_entries(const CgVectors& v, Share share, double alpha, const DiagonalBlocks& blocks,
                                       double (&sums)[2]) {
  if constexpr (B > 1) {
    const std::int64_t rows = v.count / B;
    for (std::int64_t k = share.first; k < share.rounded(rows); k += share.step) {
      const std::int64_t row = share.from_end(k, rows);
      if (row >= rows) continue;
      double left[B], out[B];
#pragma unroll
      for (int i = 0; i < B; ++i) {
        const std::int64_t at = row * B + i;
        left[i] = v.r[at] - alpha * v.q[at];
        v.r[at] = left[i];
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
    for (std::int64_t i = share.first; i < share.rounded(pairs); i += share.step) {
      const std::int64_t k = share.from_end(i, pairs);
      if (k >= pairs) continue;
      const Pair step = load_passing_pair(v.q, k), old = load_pair(v.r, k);
      const Pair left = {old.first - alpha * step.first, old.second - alpha * step.second};
      store_pair(v.r, k, left);
      const double squares[2] = {left.first * left.first, left.second * left.second};
      sums[0] += squares[0] + squares[1];
      if constexpr (B == 1) sums[1] += blocks.at(2 * k) * squares[0] + blocks.at(2 * k + 1) * squares[1];
    }
    if (v.count % 2 == 1 && share.first == 0) {
      const std::int64_t last = v.count - 1;
      const double left = v.r[last] - alpha * v.q[last];
      v.r[last] = left;
      sums[0] += left * left;
      if constexpr (B == 1) sums[1] += blocks.at(last) * left * left;
    }
  }
}

/// The decision that begins an iteration, and its direction; before that x takes the step of the one that has passed. B
/// is 1 where D has single numbers, otherwise 0. `ghosts` is null on one device.
template <int B, bool Several>
__device__ inline void turn_device(const CgVectors& v, CgState* state, CgRecord* record, const PartialSums& r_r,
                                   const PartialSums& r_z, const DiagonalBlocks& blocks, unsigned* counter,
                                   const DirectionGhosts* ghosts) {
  const int iteration = state->iteration;
  const bool stepped = iteration > 0;
  const double alpha = stepped ? state->alpha : 0.0, old_rho = state->rho[(iteration + 1) % 2];
  double totals[2];
  if (!add_up<2>(state, {&r_r, &r_z}, totals)) return;
  const double residual = sqrt(totals[0]), rho = totals[1];
  const CgStop stop = judge_sums(*state, iteration, residual, rho);
  const bool goes_on = stop == CgStop::none;
  const double beta = stepped ? rho / old_rho : 0.0;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state->rho[iteration % 2] = rho;
    record->residual[iteration % kept_iterations] = residual;
    record->beta[iteration % kept_iterations] = beta;
  }
  const Turn turn{stepped, goes_on, alpha, beta};
  turn_entries<B, Several>(v, Share::of_grid(), turn, blocks);
  if constexpr (Several) turn_ghosts<B>(*ghosts, Share::of_grid(), turn);
  // Not before all blocks are here: one that finds the iteration stopped leaves x where it is.
  if (!goes_on && is_last_block(counter) && threadIdx.x == 0) state->stop = static_cast<int>(stop);
}

template <int B>
__global__ void __launch_bounds__(sum_threads) turn(CgVectors v, CgState* state, CgRecord* record, PartialSums r_r,
                                                    PartialSums r_z, DiagonalBlocks blocks, unsigned* counter) {
  after_earlier_work();
  turn_device<B, false>(v, state, record, r_r, r_z, blocks, counter, nullptr);
}

/// The same on one of several devices of one GPU, with the ghosts of the direction.
template <int B>
__global__ void __launch_bounds__(sum_threads)
    turn_with_ghosts(CgVectors v, CgState* state, CgRecord* record, PartialSums r_r, PartialSums r_z,
                     DiagonalBlocks blocks, unsigned* counter, DirectionGhosts ghosts) {
  turn_device<B, true>(v, state, record, r_r, r_z, blocks, counter, &ghosts);
}

/// The step along the direction. `partials` gets r·r of every block, then r·z.
template <int B>
__global__ void __launch_bounds__(sum_threads) advance(CgVectors v, CgState* state, CgRecord* record, PartialSums p_q,
                                                       DiagonalBlocks blocks, double* partials, unsigned* counter) {
  after_earlier_work();
  const int iteration = state->iteration;
  const double rho = state->rho[iteration % 2];
  double totals[1];
  if (!add_up<1>(state, {&p_q}, totals)) return;
  const double p_a_p = totals[0], alpha = rho / p_a_p;
  const bool finite = is_finite(p_a_p), broken = !finite || p_a_p <= 0;  // or the matrix is not positive definite
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state->alpha = record->alpha[iteration % kept_iterations] = alpha;
    if (broken) state->stop = static_cast<int>(finite ? CgStop::breakdown : CgStop::not_finite);
  }
  if (broken) return;
  double sums[2] = {0, 0};
  advance_entries<B>(v, Share::of_grid(), alpha, blocks, sums);
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
    advance_and_turn(CgVectors v, CgState* state, CgRecord* record, PartialSums p_q, DiagonalBlocks blocks) {
  if (state->stop != static_cast<int>(CgStop::none)) return;
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
  const Share share{threadIdx.x, one_block_threads};
  double sums[2] = {0, 0};
  advance_entries<B>(v, share, alpha, blocks, sums);
  sum_block<one_block_threads, 2>(sums);  // and every thread sees what the others wrote
  const double residual = sqrt(sums[0]), rho = B > 0 ? sums[1] : sums[0], beta = rho / old_rho;
  const CgStop stop = judge_sums(*state, next, residual, rho);
  if (threadIdx.x == 0) {
    record->alpha[iteration % kept_iterations] = alpha;
    record->residual[next % kept_iterations] = residual;
    record->beta[next % kept_iterations] = beta;
    state->alpha = alpha;
    state->rho[next % 2] = rho;
    state->iteration = next;
    if (stop != CgStop::none) state->stop = static_cast<int>(stop);
  }
  turn_entries<B == 1 ? 1 : 0>(v, share, {true, stop == CgStop::none, alpha, beta}, blocks);
}

}  // namespace voussoir::cuda
