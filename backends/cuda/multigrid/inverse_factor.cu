#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/multigrid/trouble_word.hpp>
#include <voussoir/backends/cuda/scan.hpp>
#include <voussoir/backends/detail/aggregation_rules.hpp>

// Sparse factors of the inverse: a small dense system for each row, in the shared memory of a block of threads.

namespace voussoir::cuda {

namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int room = largest_factor_rows;

__device__ double block_norm2(const double* block, std::int64_t n, int size) {
  double sum = 0;
  for (int r = 0; r < size; ++r)
    for (int c = 0; c < size; ++c) sum += block[r * n * size + c] * block[r * n * size + c];
  return sum;
}

/// A thread per row.
__global__ void __launch_bounds__(threads)
    measure_diagonal(LevelPattern rows, int size, const double* value, double* norm) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (row >= rows.rows) return;
  const std::int32_t n = rows.length(row);
  const std::int32_t k = find_block(rows.columns_of(row), n, static_cast<std::int32_t>(row));
  norm[row] = k < 0 ? 0 : sqrt(block_norm2(value + (rows.start[row] * size + k) * size, n, size));
}

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

/// Where a column of the lower triangle begins, less its number: entry (i, j) is at column_start(j, m) + i.
__device__ int column_start(int j, int m) { return j * m - j * (j + 1) / 2; }

/// A block of `room` threads per row of G, a thread per row of its small matrix. Height 0 stands for all up to the
/// largest.
template <int Height>
__global__ void __launch_bounds__(room) factor_rows(FactorWork work, unsigned long long* trouble) {
  constexpr int most_height = Height > 0 ? Height : largest_level_block;
  VSR_SHARED double l[room * (room + 1) / 2];  // the lower triangle, by columns
  VSR_SHARED double scale[room];
  VSR_SHARED double solved[most_height];
  const int size = Height > 0 ? Height : work.size;
  const int own = static_cast<int>(threadIdx.x);
  const std::int64_t row = blockIdx.x;
  const std::int32_t n = work.g.length(row);
  const std::int32_t* node = work.g.columns_of(row);
  const int m = n * size;

  for (int pair = own; pair < n * n; pair += room) {
    const int p = pair / n, q = pair - p * n;
    if (q > p) continue;
    const std::int64_t start = work.a.start[node[p]];
    const std::int32_t length = work.a.length(node[p]);
    const std::int32_t k = find_block(work.a.column + start, length, node[q]);
    const double* block = work.a_value + (start * size + k) * size;
    for (int r = 0; r < size; ++r)
      for (int c = 0; c < size; ++c)
        if (p > q || r >= c)
          l[column_start(q * size + c, m) + p * size + r] =
              k < 0 ? 0.0 : block[static_cast<std::int64_t>(r) * length * size + c];
  }
  __syncthreads();
  const auto bad = [&](int i) {
    if (own == 0) note_trouble(trouble, static_cast<std::int64_t>(node[i / size]) * size + i % size);
    for (int e = own; e < m * size; e += room) work.g_value[work.g.start[row] * (size * size) + e] = 0;
  };
  if (own < m) {
    const double diagonal = l[column_start(own, m) + own];
    scale[own] = diagonal > 0 && diagonal - diagonal == 0 ? 1 / sqrt(diagonal) : 0;
  }
  __syncthreads();
  for (int i = 0; i < m; ++i)
    if (scale[i] == 0) return bad(i);  // all threads alike
  if (own < m)
    for (int j = 0; j <= own; ++j) l[column_start(j, m) + own] *= scale[j] * scale[own];
  __syncthreads();
  for (int k = 0; k < m; ++k) {
    const double pivot = l[column_start(k, m) + k];
    if (!(pivot > 1e-13)) return bad(k);  // all threads alike
    __syncthreads();
    double factor = 0;
    if (own >= k && own < m) {
      factor = l[column_start(k, m) + own] / sqrt(pivot);
      l[column_start(k, m) + own] = factor;
    }
    __syncthreads();
    if (own < m)
      for (int j = k + 1; j <= own; ++j) l[column_start(j, m) + own] -= factor * l[column_start(k, m) + j];
    __syncthreads();
  }

  // The last rows of the inverse of the factor, by its columns from the last to the first.
  double y[most_height];
#pragma unroll
  for (int t = 0; t < most_height; ++t) y[t] = t < size && own == m - size + t ? 1 : 0;
  for (int j = m - 1; j >= 0; --j) {
    if (own == j) {
      const double inverse = 1 / l[column_start(j, m) + j];
#pragma unroll
      for (int t = 0; t < most_height; ++t)
        if (t < size) solved[t] = y[t] *= inverse;
    }
    __syncthreads();
    if (own < j) {
      const double entry = l[column_start(own, m) + j];
#pragma unroll
      for (int t = 0; t < most_height; ++t)
        if (t < size) y[t] -= entry * solved[t];
    }
    __syncthreads();
  }
  if (own >= m) return;
  double* target = work.g_value + work.g.start[row] * (size * size);
#pragma unroll
  for (int t = 0; t < most_height; ++t)
    if (t < size) target[t * m + own] = y[t] * scale[own];
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
  launch(measure_diagonal, grid_for(a.rows, threads), stream(), rows, a.height, a.value.read_device(), norms);
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
  const auto kernel = a.height == 1   ? factor_rows<1>
                      : a.height == 2 ? factor_rows<2>
                      : a.height == 3 ? factor_rows<3>
                      : a.height == 6 ? factor_rows<6>
                                      : factor_rows<0>;
  launch(kernel, Grid{a.rows, room, 0}, stream(), work, trouble.device());
  return trouble.read();
}

}  // namespace voussoir::cuda
