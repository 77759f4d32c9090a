#pragma once
#include <voussoir/backends/cuda/sweeps/sweep_task.hpp>

// The partition method. A system is cut in chunks of some rows, one for each thread. A chunk eliminates all its
// unknowns but the first, s; what remains is a tridiagonal system for the s of all chunks, which is solved by parallel
// cyclic reduction in shared memory. The unknown before the first chunk of a block and the one behind its last chunk
// stay as parameters until the end; they belong to the same system's other end, or to another block.

namespace voussoir::cuda {

/// Rows of a chunk after the first: y_k = f_k − l_k s − u_k y_{k+1}. What the chunk leaves for the others:
template <class T>
struct ChunkRow {
  T coupling, diagonal, right;  ///< its first row: lower · (unknown before) + diagonal s + coupling s_next = right
  T last_u, last_f, last_l;     ///< its last unknown: last_f − last_l s − last_u s_next
};

template <int R, class T>
__device__ __forceinline__ ChunkRow<T> eliminate_chunk(T (&l)[R], const T (&d)[R], T (&u)[R], T (&f)[R], int count,
                                                       T tolerance, ChunkFault<T>& fault) {
  ChunkRow<T> c{u[0], d[0], f[0], T(0), T(0), T(-1)};
#pragma unroll
  for (int k = 1; k < R; ++k)
    if (k < count) {
      const T size = magnitude_of(l[k]) + magnitude_of(d[k]) + magnitude_of(u[k]);
      const T pivot = d[k] - l[k] * c.last_u;
      fault.accept(k, pivot, size, tolerance);
      const T r = inverse_of(pivot);
      f[k] = c.last_f = (f[k] - l[k] * c.last_f) * r;
      l[k] = c.last_l = -l[k] * c.last_l * r;
      u[k] = c.last_u = u[k] * r;
      c.right -= c.coupling * c.last_f;
      c.diagonal -= c.coupling * c.last_l;
      c.coupling = -c.coupling * c.last_u;
    }
  return c;
}

/// Leaves the last row of a chunk for the next one: three arrays of `threads` numbers.
template <class T>
__device__ __forceinline__ void leave_last(const ChunkRow<T>& c, T* place, int threads) {
  place[0] = c.last_u;
  place[threads] = c.last_f;
  place[2 * threads] = c.last_l;
}

/// Systems that are not periodic have nothing to the left of row 0 and to the right of the last row.
template <int R, class T>
__device__ __forceinline__ void cut_period(T (&l)[R], T (&u)[R], int count, bool first, bool last) {
  const int end = last ? count - 1 : R;
#pragma unroll
  for (int k = 0; k < R; ++k) u[k] = k == end ? T(0) : u[k];
  if (first) l[0] = 0;
}

/// The unknowns of a chunk from its first one and the one behind it; they replace f.
template <int R, class T>
__device__ __forceinline__ void substitute_back(const T (&l)[R], const T (&u)[R], T (&f)[R], int count, T s, T next) {
#pragma unroll
  for (int k = R - 1; k > 0; --k)
    if (k < count) f[k] = next = f[k] - l[k] * s - u[k] * next;
  f[0] = s;
}

/// The reduced row of a chunk: a s_left + s + c s_right = rhs.
template <class T>
struct ReducedRow {
  T a, c, rhs;
};

/// Makes the reduced row of a chunk, from the last row of the chunk before it, where there is one: `left`.
template <class T>
__device__ __forceinline__ ReducedRow<T> reduced_row(const ChunkRow<T>& c, T lower, T size, bool has_left,
                                                     const T* left, int threads, T tolerance, ChunkFault<T>& fault) {
  T a = lower, diagonal = c.diagonal, right = c.right;
  if (has_left) {
    diagonal -= lower * left[0];
    right -= lower * left[threads];
    a = -lower * left[2 * threads];
  }
  fault.accept_first(diagonal, size, tolerance);
  const T r = inverse_of(diagonal);
  return {a * r, c.coupling * r, right * r};
}

/// Cyclic reduction of `parts` reduced rows; row t of a thread is at `spot` of the arrays, its neighbours `hop` apart.
/// Afterwards s = rhs − a · (unknown before the first row) − c · (unknown behind the last). `x` has 6 · threads
/// numbers; the second half may still be read by others when this begins.
template <class T>
__device__ __forceinline__ void reduce_rows(ReducedRow<T>& row, int t, int parts, int spot, int hop, T* x, int threads,
                                            T tolerance, ChunkFault<T>& fault) {
  int turn = 0;
  for (int h = 1; h < parts; h *= 2, turn ^= 1) {
    T* at = x + spot + turn * 3 * threads;
    at[0] = row.a;
    at[threads] = row.rhs;
    at[2 * threads] = row.c;
    __syncthreads();
    T pivot = 1, sum = row.rhs, a = row.a, c = row.c;
    if (t >= h) {
      const T* left = at - h * hop;
      pivot -= row.a * left[2 * threads];
      sum -= row.a * left[threads];
      a = -row.a * left[0];
    }
    if (t + h < parts) {
      const T* right = at + h * hop;
      pivot -= row.c * right[0];
      sum -= row.c * right[threads];
      c = -row.c * right[2 * threads];
    }
    fault.accept_first(pivot, T(1), tolerance);
    const T r = inverse_of(pivot);
    row = {a * r, c * r, sum * r};
  }
}

/// What the rows of a block say about its first unknown s and its last one z, with z_before and s_behind outside:
/// s = f − a z_before − c s_behind and z = fz − az z_before − cz s_behind.
template <class T>
struct BlockEnds {
  T f, a, c, fz, az, cz;
};

/// The first and the last thread of a system leave their parts of BlockEnds, numbers `hop` apart.
template <class T>
__device__ __forceinline__ void leave_ends(const ReducedRow<T>& row, const ChunkRow<T>& c, bool first, bool last,
                                           T* ends, int hop) {
  if (first) {
    ends[0] = row.rhs;
    ends[hop] = row.a;
    ends[2 * hop] = row.c;
  }
  if (last) {
    ends[3 * hop] = c.last_f - c.last_l * row.rhs;
    ends[4 * hop] = -c.last_l * row.a;
    ends[5 * hop] = c.last_u - c.last_l * row.c;
  }
}
template <class T>
__device__ __forceinline__ BlockEnds<T> ends_at(const T* ends, int hop) {
  return {ends[0], ends[hop], ends[2 * hop], ends[3 * hop], ends[4 * hop], ends[5 * hop]};
}

/// The unknowns before and behind the rows of a block whose system has no other block.
template <class T>
__device__ __forceinline__ void close_block(const BlockEnds<T>& e, T tolerance, ChunkFault<T>& fault, T& before,
                                            T& behind) {
  const T c0 = 1 + e.c, az = 1 + e.az, one = c0 * az, other = e.a * e.cz, det = one - other;
  fault.accept_first(det, magnitude_of(one) + magnitude_of(other), tolerance);
  const T r = inverse_of(det);
  behind = (e.f * az - e.a * e.fz) * r;
  before = (c0 * e.fz - e.cz * e.f) * r;
}

/// The same where a system has several blocks, k = 0 … blocks − 1: the forward pass. `ends(k)` are a block's BlockEnds,
/// `keep(k, j)` is a place for number j < 6 of a block. Afterwards z of the last block and s of the first one are
/// known.
template <class T, class Ends, class Keep>
__device__ inline bool close_blocks(std::int64_t blocks, Ends ends, Keep keep, T tolerance, T& last_z, T& first_s) {
  bool good = true;
  T g = 0, p = -1, q = 0;  // z_{k−1} = g − p ζ − q s_k with ζ = z of the last block
  for (std::int64_t k = 0; k < blocks; ++k) {
    const BlockEnds<T> e = ends(k);
    keep(k, 3) = g;
    keep(k, 4) = p;
    keep(k, 5) = q;
    const T pivot = 1 - e.a * q;
    good = good && magnitude_of(pivot) > tolerance;
    const T r = inverse_of(pivot);
    const T sg = (e.f - e.a * g) * r, st = e.a * p * r, su = e.c * r;  // s_k = sg + st ζ − su s_{k+1}
    keep(k, 0) = sg;
    keep(k, 1) = st;
    keep(k, 2) = su;
    const T before_g = g - q * sg, before_p = p + q * st, before_q = -q * su;
    g = e.fz - e.az * before_g;
    p = -e.az * before_p;
    q = e.cz - e.az * before_q;
  }
  T x = 0, y = 0, w = 1;  // s_0 = x + y ζ + w s_0, by going back
  for (std::int64_t k = blocks - 1; k >= 0; --k) {
    const T su = keep(k, 2);
    x = keep(k, 0) - su * x;
    y = keep(k, 1) - su * y;
    w = -su * w;
  }
  const T m00 = 1 + p, m11 = 1 - w, one = m00 * m11, other = q * y, det = one + other;
  good = good && magnitude_of(det) > tolerance * (magnitude_of(one) + magnitude_of(other));
  const T r = inverse_of(det);
  last_z = (g * m11 - q * x) * r;
  first_s = (m00 * x + y * g) * r;
  return good;
}

}  // namespace voussoir::cuda
