#include <climits>

#include <voussoir/backends/cuda/multigrid/block_norms.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/multigrid/trouble_word.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>
#include <voussoir/backends/detail/aggregation_rules.hpp>

// Sparse factors of the inverse: a small dense system for each row, in the registers of a block of threads.

namespace voussoir::cuda {

namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;

/// How strongly the neighbours with lower numbers are tied, and how many of them a row takes with itself. A warp per
/// row.
__global__ void __launch_bounds__(threads)
    measure_neighbours(LevelPattern rows, int size, const double* value, const double* norm, int most,
                       std::uint32_t* step, std::int64_t* count) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= rows.rows) return;  // whole warps
  const std::int64_t start = rows.start[row];
  const std::int32_t n = rows.length(row);
  const std::int32_t* columns = rows.columns_of(row);
  int tied = 0;
  for (std::int32_t k = lane; k < n; k += 32) {
    const std::int32_t j = columns[k];
    std::uint32_t own = 0;
    if (j < row)
      own =
          voussoir::detail::strength_step(block_norm2(value + (start * size + k) * size, n, size), norm[row], norm[j]);
    step[start + k] = own;
    tied += own > 0;
  }
  for (int distance = 16; distance > 0; distance /= 2) tied += __shfl_xor_sync(0xffffffffu, tied, distance);
  if (lane == 0) count[row] = 1 + (tied < most ? tied : most);
}

/// Writes the strongest neighbours of a row, ascending, and the row itself. A warp per row.
__global__ void __launch_bounds__(threads) choose_neighbours(LevelPattern rows, int most, const std::uint32_t* step,
                                                             const std::int64_t* start, std::int32_t* column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= rows.rows) return;  // whole warps
  const std::int32_t n = rows.length(row);
  const std::int32_t* columns = rows.columns_of(row);
  const std::uint32_t* own = step + rows.start[row];
  const auto word = [&](std::int32_t k) {
    return voussoir::detail::neighbour_word(own[k], static_cast<std::uint32_t>(columns[k]));
  };
  std::int64_t at = start[row];
  for (std::int32_t first = 0; first < n; first += 32) {
    const std::int32_t k = first + lane;
    bool chosen = k < n && own[k] > 0;
    if (chosen) {
      int before = 0;  // neighbours that go first
      for (std::int32_t other = 0; other < n && before < most; ++other)
        before += own[other] > 0 && word(other) > word(k);
      chosen = before < most;
    }
    const unsigned all = __ballot_sync(0xffffffffu, chosen);
    if (chosen) column[at + __popc(all & ((1u << lane) - 1))] = columns[k];
    at += __popc(all);
  }
  if (lane == 0) column[at] = static_cast<std::int32_t>(row);
}

struct FactorWork {
  LevelPattern a, g;
  int size = 1;
  const double* a_value = nullptr;
  double* g_value = nullptr;
};

/// What a block of threads shares while it works on a row of G whose small matrix has up to Room rows.
template <int Height, int Room>
struct FactorStore {
  static constexpr int threads = Room <= 32 ? 32 : 64;                      // one per row, in whole warps
  static constexpr int step = Height > 0 ? Height : 1;                      // columns that are eliminated at a time
  static constexpr int height = Height > 0 ? Height : largest_level_block;  // rows of a block, at most
  static constexpr int nodes = Room / step;                                 // at most
  /// Blocks of threads that a multiprocessor should have room for, but for blocks of 6, which need the registers.
  static constexpr int blocks = Height == 6 ? 1 : Room <= 32 ? 16 : Room <= 48 ? 8 : 5;
  // The nodes, their rows of A, and which block of the row belongs to an earlier one: −1 where there is none.
  std::int32_t node[nodes], length[nodes];
  std::int64_t start[nodes];
  std::int32_t place[nodes * nodes];
  int bad;                          // the first column that is not positive, or INT_MAX
  double l[Room * (Room + 1) / 2];  // the factor without its diagonal blocks, by columns
  double scale[Room];               // 1 / √ of the matrix's diagonal
  double of_pivot[Room];            // 1 / each pivot
  double last[step][step];          // C of the last pivot
  // What a step needs of all rows. There are two of each: a step writes while some still read the one before.
  double pivot[2][step][step];
  alignas(16) double below[2][step][Room];
  double solved[2][step][height];
};

/// Finds the blocks of A on the nodes of a row of G, a warp per node: what takes time here is waiting for memory, so as
/// few loads as can be wait for one another.
template <int Height, int Room>
__device__ void find_blocks(const FactorWork& work, std::int64_t row, int n, FactorStore<Height, Room>& store) {
  using Store = FactorStore<Height, Room>;
  const int own = static_cast<int>(threadIdx.x), lane = own % 32;
  for (int p = own; p < n; p += Store::threads) {
    const std::int32_t node = work.g.columns_of(row)[p];
    store.node[p] = node;
    store.start[p] = work.a.start[node];
    store.length[p] = work.a.length(node);
  }
  for (int i = own; i < n * Store::nodes; i += Store::threads) store.place[i] = -1;
  if (own == 0) store.bad = INT_MAX;
  __syncthreads();
#pragma unroll 4
  for (int p = own / 32; p < n; p += Store::threads / 32)
    for (std::int32_t k = lane; k < store.length[p]; k += 32) {
      const std::int32_t q = find_block(store.node, p + 1, work.a.column[store.start[p] + k]);
      if (q >= 0) store.place[p * Store::nodes + q] = k;
    }
  __syncthreads();
}

/// A thread's row of the matrix on these nodes up to its diagonal, which becomes a one.
template <int Height, int Room>
__device__ void take_matrix(const FactorWork& work, int m, FactorStore<Height, Room>& store, double (&a)[Room]) {
  const int size = Height > 0 ? Height : work.size, own = static_cast<int>(threadIdx.x), last_of_warp = own | 31;
  const bool there = own < m;
  const int p = there ? own / size : 0;
  const double* line =
      work.a_value + (store.start[p] * size + static_cast<std::int64_t>(own % size) * store.length[p]) * size;
#pragma unroll
  for (int j = 0; j < Room; ++j) a[j] = 0;
#pragma unroll
  for (int j0 = 0; j0 < Room; j0 += 8) {
    if (j0 >= m || j0 > last_of_warp) break;
#pragma unroll
    for (int j = j0; j < j0 + 8; ++j) {
      const int k = j <= own && there ? store.place[p * FactorStore<Height, Room>::nodes + j / size] : -1;
      if (k >= 0) a[j] = line[k * size + j % size];
    }
  }
  double diagonal = 0;
#pragma unroll
  for (int j = 0; j < Room; ++j)
    if (j == own) diagonal = a[j];
  const bool good = diagonal > 0 && diagonal - diagonal == 0;
  const double scale = good ? 1 / sqrt(diagonal) : 1;
  if (there) store.scale[own] = scale;
  if (there && !good) atomicMin(&store.bad, own);
  __syncthreads();
#pragma unroll
  for (int j0 = 0; j0 < Room; j0 += 8) {
    if (j0 >= m || j0 > last_of_warp) break;
#pragma unroll
    for (int j = j0; j < j0 + 8; ++j) a[j] *= j <= own && there ? store.scale[j] * scale : 0;
  }
}

/// A small symmetric matrix, C D Cᵀ: D is kept by its inverse, C has a unit diagonal.
template <int Size>
struct SmallPivot {
  double c[Size][Size];
  double inverse[Size];

  /// The first column whose pivot is not positive, or Size.
  __device__ int factorise() {
    int bad = Size;
#pragma unroll
    for (int k = 0; k < Size; ++k) {
      if (!(c[k][k] > 1e-13) && bad == Size) bad = k;
      inverse[k] = 1 / c[k][k];
#pragma unroll
      for (int i = Size - 1; i > k; --i) {
        const double factor = c[i][k] * inverse[k];
#pragma unroll
        for (int j = k + 1; j <= i; ++j) c[i][j] -= factor * c[j][k];
        c[i][k] = factor;
      }
    }
    return bad;
  }
  __device__ void divide(double (&x)[Size]) const {
#pragma unroll
    for (int t = 1; t < Size; ++t)
#pragma unroll
      for (int s = 0; s < t; ++s) x[t] -= c[t][s] * x[s];
#pragma unroll
    for (int t = Size - 1; t >= 0; --t) {
      x[t] *= inverse[t];
#pragma unroll
      for (int s = t + 1; s < Size; ++s) x[t] -= c[s][t] * x[s];
    }
  }
};

/// Makes of the matrix its factor L with unit blocks on the diagonal. A thread has a row in registers, from the column
/// `first` on: the loop shifts it, so that each register is known when kernels are compiled. Warps whose rows are done
/// only keep step.
template <int Height, int Room>
__device__ void eliminate(FactorStore<Height, Room>& store, int m, double (&a)[Room]) {
  constexpr int step = FactorStore<Height, Room>::step, chunk = 8;
  const int own = static_cast<int>(threadIdx.x), last_of_warp = own | 31;
  int place = own;  // of this row's entry in the column `first`: columns get shorter
#pragma unroll 1
  for (int first = 0, side = 0; first < m; first += step, side ^= 1) {
    const int beyond = own - first - step;  // which row below the pivot this is
    if (beyond >= -step && own < m) {
#pragma unroll
      for (int t = 0; t < step; ++t) {
        if (beyond >= 0)
          store.below[side][t][beyond] = a[t];
        else
          store.pivot[side][beyond + step][t] = a[t];
      }
    }
    __syncthreads();
    if (last_of_warp < first) continue;
    SmallPivot<step> pivot;
#pragma unroll
    for (int r = 0; r < step; ++r)
#pragma unroll
      for (int t = 0; t <= r; ++t) pivot.c[r][t] = store.pivot[side][r][t];
    const int bad = pivot.factorise();
    if (own == first) {
      if (bad < step) atomicMin(&store.bad, first + bad);
#pragma unroll
      for (int t = 0; t < step; ++t) {
        store.of_pivot[first + t] = pivot.inverse[t];
#pragma unroll
        for (int s = 0; s < t; ++s) store.last[t][s] = pivot.c[t][s];
      }
    }
    if (beyond < 0 || own >= m) continue;
    double factor[step];
#pragma unroll
    for (int t = 0; t < step; ++t) factor[t] = a[t];
    pivot.divide(factor);
#pragma unroll
    for (int t = 0; t < step; ++t) {
      store.l[place] = factor[t];
      place += m - 1 - first - t;
    }
    const int wanted = (last_of_warp < m ? last_of_warp + 1 : m) - first - step;  // columns that the warp has left
#pragma unroll
    for (int j0 = 0; j0 < Room; j0 += chunk) {
      if (j0 >= wanted) break;
#pragma unroll
      for (int j = j0; j < j0 + chunk; ++j) {
        if (j + step >= Room) break;
        double entry = a[j + step];
#pragma unroll
        for (int t = 0; t < step; ++t) entry -= factor[t] * store.below[side][t][j];
        a[j] = entry;
      }
    }
  }
  __syncthreads();
}

/// A block of threads per row of G whose small matrix has more than Least rows and up to Room, a thread per row of it.
/// Height 0 stands for all up to the largest, which are eliminated by single columns.
template <int Height, int Least, int Room>
__global__ void __launch_bounds__(FactorStore<Height, Room>::threads, FactorStore<Height, Room>::blocks)
    factor_rows(FactorWork work, unsigned long long* trouble) {
  using Store = FactorStore<Height, Room>;
  VSR_SHARED Store store;
  const int size = Height > 0 ? Height : work.size;
  const int own = static_cast<int>(threadIdx.x);
  const std::int64_t row = blockIdx.x;
  const std::int32_t n = work.g.length(row);
  const int m = n * size;
  if (m <= Least || m > Room) return;
  double* target = work.g_value + work.g.start[row] * (size * size);

  double a[Room];
  find_blocks(work, row, n, store);
  take_matrix(work, m, store, a);
  eliminate(store, m, a);
  if (const int bad = store.bad; bad < m) {  // in all threads alike
    if (own == 0) note_trouble(trouble, static_cast<std::int64_t>(store.node[bad / size]) * size + bad % size);
    for (int e = own; e < m * size; e += Store::threads) target[e] = 0;
    return;
  }

  // The last rows of the inverse of L, by its columns from the last to the first; then of the inverse of L C √D.
  double y[Store::height];
#pragma unroll
  for (int t = 0; t < Store::height; ++t) y[t] = t < size && own == m - size + t ? 1 : 0;
  const double* column = store.l + own * m - own * (own + 1) / 2;  // this thread's, from its row 0 on
  for (int first = m - Store::step, side = 0; first > 0; first -= Store::step, side ^= 1) {
    if (own >= first && own < first + Store::step)
#pragma unroll
      for (int t = 0; t < Store::height; ++t)
        if (t < size) store.solved[side][own - first][t] = y[t];
    __syncthreads();
    if (own < first)
#pragma unroll
      for (int c = 0; c < Store::step; ++c) {
        const double entry = column[first + c];
#pragma unroll
        for (int t = 0; t < Store::height; ++t)
          if (t < size) y[t] -= entry * store.solved[side][c][t];
      }
  }
  if (own >= m) return;
  if constexpr (Height > 0) {
#pragma unroll
    for (int t = 1; t < Height; ++t)
#pragma unroll
      for (int s = 0; s < t; ++s) y[t] -= store.last[t][s] * y[s];
  }
#pragma unroll
  for (int t = 0; t < Store::height; ++t)
    if (t < size) target[t * m + own] = y[t] * sqrt(store.of_pivot[m - size + t]) * store.scale[own];
}

template <int Height>
void enqueue_factor(const FactorWork& work, unsigned long long* trouble, cudaStream_t stream) {
  const auto enqueue = [&]<int Least, int Room>() {
    launch(factor_rows<Height, Least, Room>, Grid{work.g.rows, FactorStore<Height, Room>::threads, 0}, stream, work,
           trouble);
  };
  // Small matrices need fewer registers, so that more of them are under way.
  enqueue.template operator()<0, 32>();
  enqueue.template operator()<32, 48>();
  enqueue.template operator()<48, largest_factor_rows>();
}

}  // namespace

LevelMatrix CudaMultigrid::inverse_factor_pattern(const LevelMatrix& a, int most) {
  require_square(a, "inverse_factor_pattern");
  require_small_blocks(a.height, a.width);
  require_numbers<double>(a, a.entries(), "a square matrix");
  voussoir::detail::require_factor_room(a.height, most);
  LevelMatrix g;
  g.rows = g.columns = a.rows;
  g.height = g.width = a.height;
  g.start = array<std::int64_t>(a.rows + std::int64_t{1});
  auto norm = array<double>(a.rows);
  auto step = array<std::uint32_t>(a.blocks());
  DeviceSection section(*memory());
  const LevelPattern rows = pattern_of(a);
  std::int64_t* start = g.start.write_device();
  double* norms = norm.write_device();
  std::uint32_t* steps = step.write_device();
  enqueue_diagonal_norms(rows, a.height, a.value.read_device(), norms, stream());
  launch(measure_neighbours, grid_of_warps(a.rows, warps), stream(), rows, a.height, a.value.read_device(), norms, most,
         steps, start);
  exclusive_sums(start, a.rows, memory());
  g.column = array<std::int32_t>(fetch_total(memory(), start + a.rows));
  launch(choose_neighbours, grid_of_warps(a.rows, warps), stream(), rows, most, steps, start, g.column.write_device());
  return g;
}

std::int64_t CudaMultigrid::inverse_factor(const LevelMatrix& a, LevelMatrix& g) {
  require_square(a, "inverse_factor");
  require_small_blocks(a.height, a.width);
  require_numbers<double>(a, a.entries(), "a square matrix");
  if (g.rows != a.rows || g.columns != a.rows || g.height != a.height || g.width != a.height)
    throw Error(ErrorCode::misuse, "inverse_factor: this is not a pattern for that matrix");
  DeviceSection section(*memory());
  FactorWork work;
  work.a = pattern_of(a);
  work.g = pattern_of(g);
  work.size = a.height;
  work.a_value = a.value.read_device();
  work.g_value = fresh_numbers(g, g.entries());
  TroubleWord trouble(memory());
  const auto enqueue = a.height == 1   ? enqueue_factor<1>
                       : a.height == 2 ? enqueue_factor<2>
                       : a.height == 3 ? enqueue_factor<3>
                       : a.height == 6 ? enqueue_factor<6>
                                       : enqueue_factor<0>;
  enqueue(work, trouble.device(), stream());
  return trouble.read();
}

}  // namespace voussoir::cuda
