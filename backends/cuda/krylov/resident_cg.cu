#include <voussoir/backends/cuda/krylov/resident_cg.hpp>

#include <algorithm>
#include <cstring>

#include <voussoir/backends/cuda/primitives/reduction.hpp>

namespace voussoir::cuda {

namespace {

/// The first warp of a block has the rows, the others help it to multiply.
constexpr int resident_warps = 8, resident_threads = 32 * resident_warps;

/// Blocks of a row for which x is on its way at once.
template <int B>
constexpr int resident_ahead = B == 1   ? 8
                               : B <= 3 ? 4
                               : B == 4 ? 2
                                        : 1;

/// Numbers that blocks send to all others, one of each kind in every iteration. A number goes in two words, each with
/// one half of it and, as a tag, the number of the iteration, so that it can be seen that it has arrived. A block sends
/// the next number of a kind only when all have read this one, since there is one of another kind between.
class Mail {
 public:
  enum Kind { p_q, r_r, r_z };
  struct alignas(16) Words {
    std::uint64_t low, high;
  };

  __device__ explicit Mail(std::uint64_t* words) : words_(reinterpret_cast<Words*>(words)) {}

  __device__ void send(Kind kind, int iteration, double number) {
    std::uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    const std::uint64_t tag = tag_of(iteration) << 32;
    const Words words{tag | (bits & 0xffffffffu), tag | bits >> 32};
    Words* to = words_ + kind * most_resident_slices + blockIdx.x;
#if defined(VSR_CUDA_EMULATED)
    *to = words;
#else
    __stcg(reinterpret_cast<ulonglong2*>(to), make_ulonglong2(words.low, words.high));
#endif
  }

  /// Sums of what all blocks send of `Count` kinds from `first_kind` on, in all lanes of a warp that calls.
  template <int Count>
  __device__ void receive_sums(Kind first_kind, int iteration, double (&sums)[Count]) const {
    constexpr int at_once = 4;
    const std::uint64_t tag = tag_of(iteration);
    const Words* from = words_ + first_kind * most_resident_slices;
    const int blocks = static_cast<int>(gridDim.x);
#pragma unroll
    for (int n = 0; n < Count; ++n) sums[n] = 0;
#pragma unroll 1
    for (int first = static_cast<int>(threadIdx.x); first < blocks; first += 32 * at_once) {
      Words words[at_once][Count];
      bool all;
      do {
        all = true;
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
          if (first + 32 * k >= blocks) continue;
#pragma unroll
          for (int n = 0; n < Count; ++n) {
            words[k][n] = peek(from + n * most_resident_slices + first + 32 * k);
            all = all && words[k][n].low >> 32 == tag && words[k][n].high >> 32 == tag;
          }
        }
      } while (!all);
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (first + 32 * k >= blocks) continue;
#pragma unroll
        for (int n = 0; n < Count; ++n) sums[n] += number_of(words[k][n]);
      }
    }
#pragma unroll
    for (int n = 0; n < Count; ++n) sums[n] = sum_of_warp(sums[n]);
  }

 private:
  __device__ static std::uint64_t tag_of(int iteration) { return static_cast<std::uint64_t>(iteration) + 1; }
  /// What stands there now.
  __device__ static Words peek(const Words* place) {
#if defined(VSR_CUDA_EMULATED)
    return *place;
#else
    const ulonglong2 words = __ldcv(reinterpret_cast<const ulonglong2*>(place));
    return {words.x, words.y};
#endif
  }
  __device__ static double number_of(const Words& words) {
    const std::uint64_t bits = words.high << 32 | (words.low & 0xffffffffu);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
  }
  Words* words_;
};

/// The rows of a block in shared memory. Entries stand there as they do in the matrix.
template <int B>
struct ResidentSlice {
  double* value;
  std::int32_t* column;

  __device__ ResidentSlice(const ResidentCg& cg, double* room)
      : value(room), column(reinterpret_cast<std::int32_t*>(room + cg.width * (B * B * slice_rows))) {
    const std::int64_t first = cg.rows.slice_first[blockIdx.x];
    const auto width = static_cast<int>(cg.rows.slice_first[blockIdx.x + 1] - first);
    for (int i = static_cast<int>(threadIdx.x); i < width * (B * B * slice_rows); i += resident_threads)
      value[i] = cg.value[first * (B * B * slice_rows) + i];
    for (int i = static_cast<int>(threadIdx.x); i < width * slice_rows; i += resident_threads)
      column[i] = cg.rows.column[first * slice_rows + i];
  }

  /// sum = every eighth block of the row of this lane, from the one with the number of this warp on, times the
  /// direction z + β p. `length` is that of the row.
  __device__ void multiply(int length, const double* z, const double* p, double beta, double (&sum)[B]) const {
    constexpr int ahead = resident_ahead<B>;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < B; ++i) sum[i] = 0;
#pragma unroll 1
    for (int k = static_cast<int>(threadIdx.x) / 32; k < length; k += resident_warps * ahead) {
      double x[ahead][B];
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        // Beyond the last block the first stands in once more, and counts for nothing.
        const int at = k + u * resident_warps < length ? k + u * resident_warps : k;
        const std::int64_t equation = static_cast<std::int64_t>(column[at * slice_rows + lane]) * B;
#pragma unroll
        for (int j = 0; j < B; ++j) x[u][j] = z[equation + j] + beta * p[equation + j];
      }
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        if (k + u * resident_warps >= length) break;
        const double* a = value + (k + u * resident_warps) * (B * B * slice_rows) + lane;
#pragma unroll
        for (int i = 0; i < B; ++i)
#pragma unroll
          for (int j = 0; j < B; ++j) sum[i] += a[(i * B + j) * slice_rows] * x[u][j];
      }
    }
  }
};

/// What the thread that has a row keeps of it from one iteration to the next.
template <int B>
struct ResidentRow {
  std::int32_t row;
  double x[B], r[B], p[B], z[B];

  /// Of no row: −1. All its numbers are zeros then.
  __device__ ResidentRow(const ResidentCg& cg, std::int32_t number) : row(number) {
#pragma unroll
    for (int i = 0; i < B; ++i) {
      x[i] = row < 0 ? 0 : cg.x[equation(i)];
      r[i] = row < 0 ? 0 : cg.r[equation(i)];
      z[i] = p[i] = row < 0 ? 0 : cg.p[equation(i)];
    }
  }
  __device__ std::int64_t equation(int i) const { return static_cast<std::int64_t>(row) * B + i; }
  __device__ void turn(double beta) {
#pragma unroll
    for (int i = 0; i < B; ++i) p[i] = z[i] + beta * p[i];
  }
  __device__ void advance(const ResidentCg& cg, double alpha, const double (&q)[B]) {
#pragma unroll
    for (int i = 0; i < B; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      z[i] = r[i];
    }
    if (row < 0 || cg.diagonal_size == 0) return;
    if (cg.diagonal_size == 1) {
#pragma unroll
      for (int i = 0; i < B; ++i) z[i] = cg.diagonal.at(equation(i)) * r[i];
    } else {
      multiply_block<B>(cg.diagonal, row, r, z);
    }
  }
  __device__ void store(double* vector, const double (&own)[B]) const {
    if (row < 0) return;
#pragma unroll
    for (int i = 0; i < B; ++i) vector[equation(i)] = own[i];
  }
};

template <int B>
__device__ inline double dot(const double (&a)[B], const double (&b)[B]) {
  double sum = 0;
#pragma unroll
  for (int i = 0; i < B; ++i) sum += a[i] * b[i];
  return sum;
}

/// What the warp with the rows tells the others.
struct NextIteration {
  double beta;
  int goes_on;
};

/// The iterations as the warp with the rows sees them.
template <int B>
class ResidentWarp {
 public:
  __device__ ResidentWarp(const ResidentCg& cg, std::int32_t row)
      : cg_(cg), start_(*cg.state), own_(cg, row), mail_(cg.mail) {
    iteration_ = start_.iteration;
    rho_ = iteration_ % 2 ? start_.rho[1] : start_.rho[0];
    alpha_ = start_.alpha;
  }

  /// The direction of this iteration, kept for those who make the next one from it.
  __device__ void turn(double beta, double* to) {
    own_.turn(beta);
    own_.store(to, own_.p);
  }
  /// The step along it, with its product.
  __device__ NextIteration advance(const double (&q)[B]) {
    const bool writes = blockIdx.x == 0 && threadIdx.x == 0;
    const double share = sum_of_warp(dot<B>(own_.p, q));
    if (threadIdx.x == 0) mail_.send(Mail::p_q, iteration_, share);
    double p_a_p[1];
    mail_.receive_sums(Mail::p_q, iteration_, p_a_p);
    alpha_ = rho_ / p_a_p[0];
    if (writes) cg_.record->alpha[iteration_ % kept_iterations] = alpha_;
    if (!is_finite(p_a_p[0]) || p_a_p[0] <= 0) {  // or the matrix is not positive definite
      stop_ = is_finite(p_a_p[0]) ? CgStop::breakdown : CgStop::not_finite;
      return {0, 0};
    }
    own_.advance(cg_, alpha_, q);
    own_.store(cg_.z, own_.z);
    const double r_r = sum_of_warp(dot<B>(own_.r, own_.r)), r_z = sum_of_warp(dot<B>(own_.r, own_.z));
    __syncwarp();
    if (threadIdx.x == 0) {
      __threadfence();  // z and p are there when the sums are
      mail_.send(Mail::r_r, iteration_, r_r);
      mail_.send(Mail::r_z, iteration_, r_z);
    }
    double sums[2];
    mail_.receive_sums(Mail::r_r, iteration_, sums);
    __threadfence();  // and whoever is told so looks for them anew
    const double residual = sqrt(sums[0]), rho = sums[1], beta = rho / rho_;
    rho_ = rho;
    ++iteration_;
    if (writes) {
      cg_.record->residual[iteration_ % kept_iterations] = residual;
      cg_.record->beta[iteration_ % kept_iterations] = beta;
    }
    stop_ = judge_sums(start_, iteration_, residual, rho);
    return {beta, stop_ == CgStop::none};
  }
  /// Leaves everything as turn() would.
  __device__ void end(double beta) {
    own_.store(cg_.x, own_.x);
    own_.store(cg_.r, own_.r);
    own_.turn(beta);
    own_.store(cg_.p, own_.p);
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    cg_.state->rho[iteration_ % 2] = rho_;
    cg_.state->alpha = alpha_;
    cg_.state->iteration = iteration_;
    cg_.state->stop = static_cast<int>(stop_);
  }

 private:
  const ResidentCg& cg_;
  CgState start_;
  ResidentRow<B> own_;
  Mail mail_;
  int iteration_;
  double rho_, alpha_;
  CgStop stop_ = CgStop::none;
};

/// Up to `count` iterations. The direction of an iteration is z + β p, made anew by whoever needs it, and kept in one
/// of two vectors for the iteration after: so that nobody waits for it.
template <int B>
__global__ void __launch_bounds__(resident_threads, 2) iterate_resident(ResidentCg cg, int count) {
  VSR_DYNAMIC_SHARED(double, room);
  VSR_SHARED double others[resident_warps - 1][B][32];
  VSR_SHARED NextIteration next;
  // All blocks read it before the first one can have heard of all others, and end.
  if (cg.state->stop != static_cast<int>(CgStop::none)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * slice_rows + lane;
  const int length = cg.rows.length[place];
  const ResidentSlice<B> slice(cg, room);
  ResidentWarp<B> rows(cg, warp == 0 ? cg.rows.row[place] : -1);
  __syncthreads();

  double beta = 0;
  const double* z = cg.p;  // of the first iteration: p + 0 p
  const double* from = cg.p;
  double* to = cg.other_p;
  for (int k = 0; k < count; ++k) {
    double q[B];
    slice.multiply(length, z, from, beta, q);
    if (warp > 0)
      for (int i = 0; i < B; ++i) others[warp - 1][i][lane] = q[i];
    else
      rows.turn(beta, to);
    __syncthreads();
    if (warp == 0) {
#pragma unroll
      for (int i = 0; i < B; ++i)
        for (int w = 0; w < resident_warps - 1; ++w) q[i] += others[w][i][lane];
      const NextIteration told = rows.advance(q);
      if (lane == 0) next = told;
    }
    __syncthreads();
    beta = next.beta;
    if (!next.goes_on) break;
    z = cg.z;
    from = to;
    to = from == cg.p ? cg.other_p : cg.p;
  }
  if (warp == 0) rows.end(beta);
}

using ResidentKernel = void (*)(ResidentCg, int);
ResidentKernel resident_kernel(int block_size) {
  ResidentKernel kernel = nullptr;
  for_block_size(block_size, [&](auto size) { kernel = iterate_resident<decltype(size)::value>; });
  return kernel;
}

std::size_t slice_bytes(int width, int block_size) {
  return static_cast<std::size_t>(width) * slice_rows *
         (sizeof(double) * static_cast<std::size_t>(block_size * block_size) + sizeof(std::int32_t));
}

}  // namespace

int resident_width(const SlicedRows& rows, int block_size) {
  if (rows.slices == 0 || rows.slices > most_resident_slices) return 0;
  const auto first = rows.slice_first.read_host();
  int width = 0;
  for (std::size_t s = 0; s + 1 < first.size(); ++s) width = std::max(width, static_cast<int>(first[s + 1] - first[s]));
  const std::int64_t fit =
      most_blocks_together(resident_kernel(block_size), resident_threads, slice_bytes(width, block_size));
  return rows.slices <= fit ? width : 0;
}

void enqueue_resident(const ResidentCg& cg, int block_size, int count, cudaStream_t stream) {
  launch(resident_kernel(block_size),
         Grid{cg.rows.slices, resident_threads, slice_bytes(cg.width, block_size), Start::together}, stream, cg, count);
}

}  // namespace voussoir::cuda
