#include <algorithm>
#include <cmath>

#include <voussoir/backends/cuda/runtime/bulk_copy.hpp>
#include <voussoir/backends/cuda/runtime/clusters.hpp>
#include <voussoir/backends/cuda/sweeps/rows.hpp>
#include <voussoir/backends/cuda/sweeps/shared_rows.hpp>

namespace voussoir::cuda {

namespace {

/// Rows of a chunk: odd, as in rows.cu.
constexpr int shared_chunk = 17;
constexpr int shared_threads = 256;
constexpr int shared_slots = 2;
/// Arrays of a chunk before the multipliers of the reduction.
enum ChunkArray { chunk_coupling, chunk_lower, chunk_scale, chunk_a, chunk_c, chunk_arrays };

/// The factors as the kernel sees them.
template <class T>
struct SharedView {
  const T* rows;
  const T* chunks;
  int parts, steps;
  T closing[4];
  T last_l;
};

template <class T>
std::size_t shared_row_bytes(int slot, int threads, int steps) {
  return (static_cast<std::size_t>(shared_slots + 1) * static_cast<std::size_t>(slot) +
          static_cast<std::size_t>(2 + 2 * steps) * static_cast<std::size_t>(threads) + 2) *
             sizeof(T) +
         (shared_slots + 1) * sizeof(Arrival);
}

/// The right-hand side of the reduced row of a chunk, and its last interior unknown without the neighbours' part.
template <int R, class T>
__device__ __forceinline__ T reduce_right(T (&f)[R], const T (&r)[R], const T (&l)[R], const T (&u)[R], int count,
                                          T coupling, T& last) {
  T right = f[0], e = coupling;
  last = 0;
#pragma unroll
  for (int k = 1; k < R; ++k)
    if (k < count) {
      f[k] *= r[k];
      last = f[k] - l[k] * last;
      right -= e * last;
      e = -e * u[k];
    }
  return right;
}

/// Cyclic reduction of right-hand sides with the multipliers of the factors; `x` has two arrays of the threads, the
/// second one free. Returns which of them is free afterwards.
template <class T>
__device__ __forceinline__ int reduce_rights(T& right, int t, int parts, T* x, const T* multiplier, int threads) {
  int turn = 1;
  for (int h = 1, k = 0; h < parts; h *= 2, ++k, turn ^= 1) {
    T* at = x + turn * threads + t;
    *at = right;
    __syncthreads();
    T sum = right;
    if (t >= h) sum -= multiplier[2 * k * threads + t] * at[-h];
    if (t + h < parts) sum -= multiplier[(2 * k + 1) * threads + t] * at[h];
    right = sum;
  }
  return turn;
}

/// The unknowns of a chunk, with the unknown s before them and `next` behind; they replace f.
template <int R, class T>
__device__ __forceinline__ void substitute(const T (&l)[R], const T (&u)[R], T (&f)[R], int count, T s, T next) {
  T b = s;
#pragma unroll
  for (int k = 1; k < R; ++k)
    if (k < count) f[k] = b = f[k] - l[k] * b;
#pragma unroll
  for (int k = R - 1; k > 0; --k)
    if (k < count) f[k] = next = f[k] - u[k] * next;
  f[0] = s;
}

/// Two right-hand sides are on their way or in use at the same time.
template <class T>
struct RightSides {
  const SweepTask<T>& p;
  T* ring;
  Arrival* arrived;
  int slot_size;
  std::int64_t coming = blockIdx.x;
  int coming_slot = 0, slot = 0;
  unsigned parity = 0;

  __device__ void bring() {
    if (coming < p.systems)
      bring_bulk(ring + coming_slot * slot_size, p.f + line_start(p.lines, coming, p.systems),
                 static_cast<unsigned>(p.length * sizeof(T)), arrived + coming_slot);
    coming += gridDim.x;
    if (++coming_slot == shared_slots) coming_slot = 0;
  }
  template <int R>
  __device__ __forceinline__ void take(int at, int count, T (&v)[R]) {
    wait_arrival(arrived + slot, parity);
    const T* from = ring + slot * slot_size + at;
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (k < count) v[k] = from[k];
    if (++slot == shared_slots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

template <class T>
__global__ void __launch_bounds__(shared_threads, sizeof(T) == 8 ? 1 : 2)
    shared_row_kernel(SweepTask<T> p, SharedView<T> m, int slot_size) {
  constexpr int R = shared_chunk;
  VSR_DYNAMIC_SHARED(T, ring);
  const int threads = static_cast<int>(blockDim.x), t = static_cast<int>(threadIdx.x), n = static_cast<int>(p.length),
            parts = m.parts;
  T* const out = ring + shared_slots * slot_size;
  T* const x = out + slot_size;  // two arrays of the threads
  T* const ends = x + 2 * threads;
  T* const multiplier = ends + 2;
  auto* const arrived = after_numbers<Arrival>(multiplier + 2 * m.steps * threads);
  const int own = t * R, rest = n - own, count = t >= parts ? 0 : rest < R ? rest : R;
  const auto of_chunk = [&](int array) { return t < parts ? m.chunks[array * parts + t] : T(0); };
  for (int k = 0; k < 2 * m.steps; ++k) multiplier[k * threads + t] = of_chunk(chunk_arrays + k);
  const T coupling = of_chunk(chunk_coupling), lower = t > 0 ? of_chunk(chunk_lower) : T(0),
          scale = of_chunk(chunk_scale), a = of_chunk(chunk_a), c = of_chunk(chunk_c);
  T r[R], l[R], u[R];
#pragma unroll
  for (int k = 0; k < R; ++k) {
    r[k] = k < count ? m.rows[own + k] : T(0);
    l[k] = k < count ? m.rows[n + own + k] : T(0);
    u[k] = k < count ? m.rows[2 * n + own + k] : T(0);
  }
  if (t == 0)
    for (int k = 0; k < shared_slots; ++k) make_arrival(arrived + k);
  arrivals_are_made();
  RightSides<T> rights{p, ring, arrived, slot_size};
  if (t == 0)
    for (int k = 0; k < shared_slots; ++k) rights.bring();
  for (std::int64_t system = blockIdx.x; system < p.systems; system += gridDim.x) {
    T f[R];
    f[0] = 0;
    rights.take(own, count, f);
    T last = 0, right = reduce_right(f, r, l, u, count, coupling, last);
    x[t] = last;
    __syncthreads();
    if (t == 0) {
      rights.bring();
      wait_taken();
    } else {
      right -= lower * x[t - 1];
    }
    const int turn = reduce_rights(right, t, parts, x, multiplier, threads);
    right *= scale;
    if (t == 0) ends[1] = right;
    if (t == parts - 1) ends[0] = last - m.last_l * right;
    __syncthreads();
    const T before = m.closing[0] * ends[0] + m.closing[1] * ends[1],
            behind = m.closing[2] * ends[0] + m.closing[3] * ends[1];
    const T s = right - a * before - c * behind;
    x[turn * threads + t] = s;
    __syncthreads();
    substitute(l, u, f, count, s, t < parts - 1 ? x[turn * threads + t + 1] : behind);
    ChunkFault<T> fault;
#pragma unroll
    for (int k = 0; k < R; ++k)
      if (k < count) {
        fault.require_finite(k, f[k]);
        out[own + k] = f[k];
      }
    fault.report(p, system, own);
    written_for_bulk();
    __syncthreads();
    if (t == 0)
      take_bulk(p.y + line_start(p.lines, system, p.systems), out, static_cast<unsigned>(p.length * sizeof(T)));
  }
  if (t == 0) wait_all_taken();
}

/// The host's factors, in double for both precisions.
struct HostFactors {
  std::vector<double> a, b, c;  ///< reduced rows
  std::vector<double> last_u, last_l;
};

/// Accepts a pivot as ChunkFault does.
template <class T>
bool accepts(double pivot, double size, T tolerance) {
  return std::abs(pivot) > static_cast<double>(tolerance) * size;
}

/// One step of the cyclic reduction at distance h; false where a pivot is not accepted.
template <class T>
bool reduce_step(HostFactors& m, int h, T tolerance, T* left, T* right) {
  const int parts = static_cast<int>(m.b.size());
  HostFactors next = m;
  for (int g = 0; g < parts; ++g) {
    const auto i = static_cast<std::size_t>(g);
    left[g] = right[g] = 0;
    if (g >= h) {
      const auto j = static_cast<std::size_t>(g - h);
      const double q = m.a[i] / m.b[j];
      left[g] = static_cast<T>(q);
      next.b[i] -= q * m.c[j];
      next.a[i] = -q * m.a[j];
    }
    if (g + h < parts) {
      const auto j = static_cast<std::size_t>(g + h);
      const double q = m.c[i] / m.b[j];
      right[g] = static_cast<T>(q);
      next.b[i] -= q * m.a[j];
      next.c[i] = -q * m.c[j];
    }
    if (!accepts(next.b[i], std::abs(m.b[i]), tolerance)) return false;
  }
  m = std::move(next);
  return true;
}

}  // namespace

template <class T>
voussoir::detail::SweepWord factor_shared(std::span<const T> lower, std::span<const T> diagonal,
                                          std::span<const T> upper, bool periodic, T tolerance,
                                          const std::shared_ptr<DeviceMemory>& memory, SharedFactors<T>& factors) {
  using voussoir::detail::sweep_word;
  const auto n = static_cast<std::int64_t>(diagonal.size());
  const std::int64_t count = (n + shared_chunk - 1) / shared_chunk;
  if (count > shared_threads) return voussoir::detail::no_sweep_fault;
  const int parts = static_cast<int>(count);
  int steps = 0;
  while ((1 << steps) < parts) ++steps;
  std::vector<T> rows(static_cast<std::size_t>(3 * n)),
      chunks(static_cast<std::size_t>((chunk_arrays + 2 * steps) * parts));
  const auto lower_at = [&](std::int64_t i) {
    return !periodic && i == 0 ? 0.0 : double(lower[static_cast<std::size_t>(i)]);
  };
  const auto upper_at = [&](std::int64_t i) {
    return !periodic && i == n - 1 ? 0.0 : double(upper[static_cast<std::size_t>(i)]);
  };
  const auto size_at = [&](std::int64_t i) {
    return std::abs(lower_at(i)) + std::abs(double(diagonal[static_cast<std::size_t>(i)])) + std::abs(upper_at(i));
  };
  const auto refuse = [&](std::int64_t row, double pivot, double size) {
    return sweep_word(0, n, row, voussoir::detail::pivot_fault(static_cast<T>(pivot), static_cast<T>(size)));
  };
  const auto chunk_array = [&](int array, int g) -> T& { return chunks[static_cast<std::size_t>(array * parts + g)]; };
  HostFactors m;
  for (int g = 0; g < parts; ++g) {
    const std::int64_t from = std::int64_t{g} * shared_chunk, to = std::min(n, from + shared_chunk);
    double e = upper_at(from), b = diagonal[static_cast<std::size_t>(from)], u = 0, l = -1;
    chunk_array(chunk_coupling, g) = static_cast<T>(e);
    chunk_array(chunk_lower, g) = static_cast<T>(lower_at(from));
    for (std::int64_t i = from + 1; i < to; ++i) {
      const double pivot = diagonal[static_cast<std::size_t>(i)] - lower_at(i) * u;
      if (!accepts(pivot, size_at(i), tolerance)) return refuse(i, pivot, size_at(i));
      rows[static_cast<std::size_t>(i)] = static_cast<T>(1 / pivot);
      rows[static_cast<std::size_t>(n + i)] = static_cast<T>(lower_at(i) / pivot);
      l = -lower_at(i) / pivot * l;
      u = upper_at(i) / pivot;
      rows[static_cast<std::size_t>(2 * n + i)] = static_cast<T>(u);
      b -= e * l;
      e = -e * u;
    }
    m.a.push_back(g == 0 ? lower_at(0) : -lower_at(from) * m.last_l.back());
    if (g > 0) b -= lower_at(from) * m.last_u.back();
    m.b.push_back(b);
    m.c.push_back(e);
    m.last_u.push_back(u);
    m.last_l.push_back(l);
    if (!accepts(b, size_at(from), tolerance)) return refuse(from, b, size_at(from));
  }
  for (int h = 1, k = 0; h < parts; h *= 2, ++k)
    if (!reduce_step(m, h, tolerance, &chunk_array(chunk_arrays + 2 * k, 0), &chunk_array(chunk_arrays + 2 * k + 1, 0)))
      return sweep_word(0, n, 0, SweepFault::inaccurate);
  for (int g = 0; g < parts; ++g) {
    const auto i = static_cast<std::size_t>(g);
    chunk_array(chunk_scale, g) = static_cast<T>(1 / m.b[i]);
    chunk_array(chunk_a, g) = static_cast<T>(m.a[i] / m.b[i]);
    chunk_array(chunk_c, g) = static_cast<T>(m.c[i] / m.b[i]);
  }
  // s_0 = f − a z − c s_0 and z = fz − az z − cz s_0, as in close_block().
  const auto end = static_cast<std::size_t>(parts - 1);
  const double a = m.a[0] / m.b[0], c = 1 + m.c[0] / m.b[0], az = 1 - m.last_l[end] * m.a[end] / m.b[end],
               cz = m.last_u[end] - m.last_l[end] * m.c[end] / m.b[end], det = c * az - a * cz;
  if (!accepts(det, std::abs(c * az) + std::abs(a * cz), tolerance))
    return refuse(0, det, std::abs(c * az) + std::abs(a * cz));
  factors.closing[0] = static_cast<T>(c / det);
  factors.closing[1] = static_cast<T>(-cz / det);
  factors.closing[2] = static_cast<T>(-a / det);
  factors.closing[3] = static_cast<T>(az / det);
  factors.last_l = static_cast<T>(m.last_l[end]);
  factors.parts = parts;
  factors.steps = steps;
  factors.rows = Array<T>(memory, std::span<const T>(rows));
  factors.chunks = Array<T>(memory, std::span<const T>(chunks));
  return voussoir::detail::no_sweep_fault;
}

template <class T>
bool solve_shared_rows(const SweepTask<T>& task, const SharedFactors<T>& factors,
                       const std::shared_ptr<DeviceMemory>& memory) {
  const CudaMemory& cuda = cuda_memory(memory);
  if (factors.parts < 2 || (!emulated && !has_clusters(shared_row_kernel<T>))) return false;
  const int threads = (factors.parts + 31) / 32 * 32;
  const int slot = static_cast<int>((task.length * static_cast<std::int64_t>(sizeof(T)) + 127) / 128 * 128 /
                                    static_cast<std::int64_t>(sizeof(T)));
  const std::size_t bytes = shared_row_bytes<T>(slot, threads, factors.steps);
  if (bytes > cuda.facts().shared_bytes_per_block || !has_bulk_rows(task)) return false;
  const SharedView<T> view{factors.rows.read_device(),
                           factors.chunks.read_device(),
                           factors.parts,
                           factors.steps,
                           {factors.closing[0], factors.closing[1], factors.closing[2], factors.closing[3]},
                           factors.last_l};
  const std::int64_t at_once = std::max<std::int64_t>(1, most_blocks_together(shared_row_kernel<T>, threads, bytes));
  launch(shared_row_kernel<T>, Grid{std::min(task.systems, at_once), threads, bytes}, cuda.stream(), task, view, slot);
  return true;
}

#define VSR_SHARED_ROWS(T)                                                                                             \
  template voussoir::detail::SweepWord factor_shared(std::span<const T>, std::span<const T>, std::span<const T>, bool, \
                                                     T, const std::shared_ptr<DeviceMemory>&, SharedFactors<T>&);      \
  template bool solve_shared_rows(const SweepTask<T>&, const SharedFactors<T>&, const std::shared_ptr<DeviceMemory>&);
VSR_SHARED_ROWS(double)
VSR_SHARED_ROWS(float)
#undef VSR_SHARED_ROWS

}  // namespace voussoir::cuda
