#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>

// The inverse of a whole small matrix by Gauss and Jordan, in place, a stripe of 32 rows and columns at a time: with D
// the tile of the stripe on the diagonal, R its rows and C its columns elsewhere,
//
//   D ← D⁻¹,   R ← D⁻¹ R,   C ← −C D⁻¹,   the rest ← rest − C D⁻¹ R.
//
// The matrix is symmetric and positive, so no pivots are sought. One that is but rounding of what the diagonal was is
// left out: its row and column of D⁻¹ are 0, and with them those of the result.

namespace voussoir::cuda {

namespace {

constexpr int tile = 32;
constexpr int threads = 256;
constexpr int rows_at_once = threads / tile;  // of a tile
constexpr int vector_warps = 8;

/// The matrix is `size` × `size`, and `across` (a multiple of `tile`) numbers apart by rows; beyond `size` it is a unit
/// matrix.
struct DenseWork {
  std::int32_t size = 0, across = 0;
  double* matrix = nullptr;
  double* least = nullptr;    // per row, the least pivot that counts
  double* pivot = nullptr;    // D⁻¹
  double* rows = nullptr;     // D⁻¹ R, tile × across
  double* columns = nullptr;  // C as it was, across × tile
};

/// Zeros, and a unit matrix beyond `size`.
__global__ void __launch_bounds__(threads) clear_matrix(DenseWork work) {
  const std::int64_t count = static_cast<std::int64_t>(work.across) * work.across;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * threads) {
    const std::int64_t row = i / work.across, column = i - row * work.across;
    work.matrix[i] = row == column && row >= work.size ? 1 : 0;
  }
}

/// A warp per block row.
__global__ void __launch_bounds__(threads)
    spread_rows(LevelPattern rows, int size, const double* value, DenseWork work) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (threads / 32) + threadIdx.x / 32;
  if (row >= rows.rows) return;
  const std::int64_t start = rows.start[row];
  const std::int32_t stretch = rows.length(row) * size;
  for (std::int32_t at = lane; at < stretch * size; at += 32) {
    const std::int32_t r = at / stretch, m = at % stretch;
    const std::int64_t column = static_cast<std::int64_t>(rows.column[start + m / size]) * size + m % size;
    work.matrix[(row * size + r) * work.across + column] = value[start * (size * size) + at];
  }
}

__global__ void __launch_bounds__(threads) set_least(DenseWork work) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= work.across) return;
  const double diagonal = work.matrix[i * work.across + i];
  work.least[i] = 1e-13 * (diagonal < 0 ? -diagonal : diagonal);
}

/// Inverts the tile on the diagonal: one block of threads, each with a few rows of a column. The row and the column of
/// a pivot go to all through shared memory, those of the next while the last are still read.
__global__ void __launch_bounds__(threads) invert_pivot(DenseWork work, std::int32_t stripe) {
  constexpr int own_rows = tile / rows_at_once;
  VSR_SHARED double row[2][tile], column[2][tile];
  VSR_SHARED bool left_out[tile];
  const int c = static_cast<int>(threadIdx.x) % tile, top = static_cast<int>(threadIdx.x) / tile;
  const std::int64_t first = static_cast<std::int64_t>(stripe) * tile;
  double own[own_rows];
  const auto show = [&](int k) {
#pragma unroll
    for (int i = 0; i < own_rows; ++i) {
      if (top + i * rows_at_once == k) row[k % 2][c] = own[i];
      if (c == k) column[k % 2][top + i * rows_at_once] = own[i];
    }
  };
#pragma unroll
  for (int i = 0; i < own_rows; ++i) own[i] = work.matrix[(first + top + i * rows_at_once) * work.across + first + c];
  show(0);
  __syncthreads();
  for (int k = 0; k < tile; ++k) {
    const double pivot = row[k % 2][k], of_column = row[k % 2][c];
    const bool out = !(pivot > work.least[first + k]);
    const double inverse = out ? 0 : 1 / pivot;
#pragma unroll
    for (int i = 0; i < own_rows; ++i) {
      const int r = top + i * rows_at_once;
      const double of_row = column[k % 2][r];
      own[i] = r == k && c == k ? inverse
               : r == k         ? of_column * inverse
               : c == k         ? -of_row * inverse
                                : own[i] - of_row * inverse * of_column;
    }
    if (threadIdx.x == 0) left_out[k] = out;
    if (k + 1 < tile) show(k + 1);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < own_rows; ++i) {
    const int r = top + i * rows_at_once;
    work.pivot[r * tile + c] = left_out[r] || left_out[c] ? 0 : own[i];
  }
}

/// D⁻¹ R, and C as it was: a block per tile of the stripe.
__global__ void __launch_bounds__(threads) multiply_stripe(DenseWork work, std::int32_t stripe) {
  VSR_SHARED double inverse[tile][tile + 1], own[tile][tile + 1];
  const int c = static_cast<int>(threadIdx.x) % tile, top = static_cast<int>(threadIdx.x) / tile;
  const std::int64_t first = static_cast<std::int64_t>(stripe) * tile,
                     other = static_cast<std::int64_t>(blockIdx.x) * tile;
  for (int r = top; r < tile; r += rows_at_once) {
    inverse[r][c] = work.pivot[r * tile + c];
    own[r][c] = work.matrix[(first + r) * work.across + other + c];
    work.columns[(other + r) * tile + c] = work.matrix[(other + r) * work.across + first + c];
  }
  __syncthreads();
  for (int r = top; r < tile; r += rows_at_once) {
    double sum = 0;
#pragma unroll 8
    for (int k = 0; k < tile; ++k) sum += inverse[r][k] * own[k][c];
    work.rows[r * static_cast<std::int64_t>(work.across) + other + c] = sum;
  }
}

/// All that the stripe changes: a block per tile of the matrix.
__global__ void __launch_bounds__(threads) update_tiles(DenseWork work, std::int32_t stripe) {
  VSR_SHARED double left[tile][tile + 1], right[tile][tile + 1];
  const int c = static_cast<int>(threadIdx.x) % tile, top = static_cast<int>(threadIdx.x) / tile;
  const auto tiles = static_cast<unsigned>(work.across / tile);
  const auto down = static_cast<std::int32_t>(blockIdx.x / tiles), over = static_cast<std::int32_t>(blockIdx.x % tiles);
  const std::int64_t first_row = static_cast<std::int64_t>(down) * tile,
                     first_column = static_cast<std::int64_t>(over) * tile;
  for (int r = top; r < tile; r += rows_at_once) {
    const double row = over == stripe ? work.pivot[r * tile + c]
                                      : work.rows[r * static_cast<std::int64_t>(work.across) + first_column + c];
    right[r][c] = row;
    left[r][c] = work.columns[(first_row + r) * tile + c];
  }
  __syncthreads();
  if (down == stripe) {
    for (int r = top; r < tile; r += rows_at_once)
      work.matrix[(first_row + r) * work.across + first_column + c] = right[r][c];
    return;
  }
  double sums[tile / rows_at_once] = {};  // a number of `right` serves several rows
#pragma unroll 8
  for (int k = 0; k < tile; ++k)
#pragma unroll
    for (int i = 0; i < tile / rows_at_once; ++i) sums[i] += left[top + i * rows_at_once][k] * right[k][c];
#pragma unroll
  for (int i = 0; i < tile / rows_at_once; ++i) {
    double* entry = work.matrix + (first_row + top + i * rows_at_once) * work.across + first_column + c;
    *entry = (over == stripe ? 0 : *entry) - sums[i];
  }
}

/// The result without what was added around it, and symmetric to the last bit.
__global__ void __launch_bounds__(threads) take_inverse(DenseWork work, double* inverse) {
  const std::int64_t count = static_cast<std::int64_t>(work.size) * work.size;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * threads) {
    const std::int64_t row = i / work.size, column = i - row * work.size;
    inverse[i] = 0.5 * (work.matrix[row * work.across + column] + work.matrix[column * work.across + row]);
  }
}

/// y = D x, a warp per row.
template <class Number>
__global__ void __launch_bounds__(32 * vector_warps)
    multiply_dense(std::int32_t size, const Number* d, const Number* x, Number* y) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * vector_warps + threadIdx.x / 32;
  if (row >= size) return;  // whole warps
  const Number* own = d + row * size;
  Number sum = 0;
#pragma unroll 4
  for (std::int32_t k = lane; k < size; k += 32) sum += own[k] * x[k];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = sum;
}

/// The same for several columns, 32 of them at a time, one to a lane.
template <class Number>
__global__ void __launch_bounds__(32 * vector_warps)
    multiply_dense_columns(std::int32_t size, int columns, const Number* d, const Number* x, Number* y) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * vector_warps + threadIdx.x / 32;
  if (row >= size) return;
  const Number* own = d + row * size;
  for (int column = lane; column < columns; column += 32) {
    Number sum = 0;
#pragma unroll 4
    for (std::int32_t k = 0; k < size; ++k) sum += own[k] * x[static_cast<std::int64_t>(k) * columns + column];
    y[row * columns + column] = sum;
  }
}

Grid grid_of_entries(std::int64_t count) {
  const Grid grid = grid_for(count, threads);
  return {grid.blocks < 4096 ? grid.blocks : 4096, threads, 0};
}

}  // namespace

DenseInverse CudaMultigrid::invert(const LevelMatrix& a) {
  if (!a.is_square()) throw Error(ErrorCode::misuse, "multigrid: only a square matrix has an inverse");
  require_numbers<double>(a, a.entries(), "a matrix to be inverted");
  DenseInverse inverse;
  inverse.size = a.rows * a.height;
  const std::int64_t n = inverse.size;
  inverse.value = array<double>(n * n);
  if (n == 0) return inverse;
  const std::int64_t stripes = (n + tile - 1) / tile, across = stripes * tile;

  DeviceSection section(*memory());
  auto matrix = array<double>(across * across), least = array<double>(across), pivot = array<double>(tile * tile),
       rows = array<double>(tile * across), columns = array<double>(tile * across);
  DenseWork work;
  work.size = inverse.size;
  work.across = static_cast<std::int32_t>(across);
  work.matrix = matrix.write_device();
  work.least = least.write_device();
  work.pivot = pivot.write_device();
  work.rows = rows.write_device();
  work.columns = columns.write_device();
  launch(clear_matrix, grid_of_entries(across * across), stream(), work);
  launch(spread_rows, grid_of_warps(a.rows, threads / 32), stream(), pattern_of(a), a.height, a.value.read_device(),
         work);
  launch(set_least, grid_for(across, threads), stream(), work);
  for (std::int64_t stripe = 0; stripe < stripes; ++stripe) {
    launch(invert_pivot, Grid{1, threads, 0}, stream(), work, stripe);
    launch(multiply_stripe, Grid{stripes, threads, 0}, stream(), work, stripe);
    launch(update_tiles, Grid{stripes * stripes, threads, 0}, stream(), work, stripe);
  }
  launch(take_inverse, grid_of_entries(n * n), stream(), work, inverse.value.write_device());
  return inverse;
}

void CudaMultigrid::apply(const DenseInverse& d, const LevelVector& x, LevelVector& y) {
  if (&x == &y) throw Error(ErrorCode::misuse, "multigrid: a product needs two different vectors");
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::int64_t n = d.size;
    require_numbers<Number>(d, n * n, "a dense inverse");
    require_numbers<Number>(x, n * x.columns, "a vector of the last level");
    require_numbers<Number>(y, n * x.columns, "a vector of the last level");
    DeviceSection section(*memory());
    const Number* values = numbers<Number>(d).read_device();
    const Number* px = numbers<Number>(x).read_device();
    Number* py = numbers<Number>(y).write_device();
    const Grid grid = grid_of_warps(n, vector_warps);
    if (x.columns == 1)
      launch(multiply_dense<Number>, grid, stream(), d.size, values, px, py);
    else
      launch(multiply_dense_columns<Number>, grid, stream(), d.size, x.columns, values, px, py);
  });
}

}  // namespace voussoir::cuda
