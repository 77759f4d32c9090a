#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/member_lists.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/multigrid/trouble_word.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>

// Smoothed prolongators and their transposes.

namespace voussoir::cuda {

namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int row_threads = 128;

struct SmoothWork {
  LevelPattern p, t;
  int height = 1, width = 1;
  double factor = 0;
  const double* inverse = nullptr;
  const double* t_value = nullptr;
  double* p_value = nullptr;
};

/// A warp per row, whose lanes run over the columns of its blocks. Height 0 stands for all up to the largest.
template <int Height>
__global__ void __launch_bounds__(threads) smooth_rows(SmoothWork work, unsigned long long* trouble) {
  constexpr int room = Height > 0 ? Height : largest_level_block;
  const int height = Height > 0 ? Height : work.height, lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= work.p.rows) return;
  const std::int64_t t_start = work.t.start[row];
  const std::int32_t stretch = work.p.length(row) * work.width, t_length = work.t.length(row);
  const double* inverse = work.inverse + row * (height * height);
  double* own = work.p_value + work.p.start[row] * (height * work.width);
  for (std::int32_t m = lane; m < stretch; m += 32) {
    const std::int32_t block = m / work.width, c = m - block * work.width;
    const std::int32_t k = find_block(work.t.column + t_start, t_length, work.p.columns_of(row)[block]);
    double old[room];
#pragma unroll
    for (int r = 0; r < room; ++r)
      if (r < height) old[r] = own[r * stretch + m];
#pragma unroll
    for (int r = 0; r < room; ++r) {
      if (r >= height) continue;
      double sum = 0;
#pragma unroll
      for (int s = 0; s < room; ++s)
        if (s < height) sum += inverse[r * height + s] * old[s];
      const double whole =
          k < 0 ? 0.0 : work.t_value[t_start * (height * work.width) + (r * t_length + k) * work.width + c];
      own[r * stretch + m] = whole - work.factor * sum;
    }
  }
  for (std::int32_t k = lane; k < t_length; k += 32)
    if (find_block(work.p.columns_of(row), work.p.length(row), work.t.column[t_start + k]) < 0)
      note_trouble(trouble, row);
}

__global__ void __launch_bounds__(threads)
    count_columns(std::int64_t blocks, const std::int32_t* column, unsigned long long* count) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (k < blocks) atomicAdd(&count[column[k]], 1ULL);
}

/// In any order: they are sorted next. A thread per row.
__global__ void __launch_bounds__(threads)
    list_rows(LevelPattern p, const std::int64_t* start, unsigned* cursor, std::int32_t* list) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (row >= p.rows) return;
  for (std::int64_t k = p.start[row]; k < p.start[row + 1]; ++k) {
    const std::int32_t column = p.column[k];
    list[start[column] + atomicAdd(&cursor[column], 1u)] = static_cast<std::int32_t>(row);
  }
}

/// A block of threads per row of the transpose: it looks up where `row_threads` blocks stand, then its threads write
/// numbers side by side.
__global__ void __launch_bounds__(row_threads)
    transpose_rows(LevelPattern p, const double* value, LevelPattern t, int height, int width, double* target) {
  VSR_SHARED const double* source[row_threads];
  VSR_SHARED std::int32_t across[row_threads];  // from one row of the source to the next
  const std::int64_t row = blockIdx.x, start = t.start[row];
  const std::int32_t n = t.length(row);
  const auto rank = static_cast<std::int32_t>(threadIdx.x);
  double* own = target + start * (height * width);
  for (std::int32_t base = 0; base < n; base += row_threads) {
    if (base + rank < n) {
      const std::int32_t other = t.column[start + base + rank], length = p.length(other);
      const std::int32_t at = find_block(p.columns_of(other), length, static_cast<std::int32_t>(row));
      source[rank] = value + p.start[other] * (height * width) + at * height;
      across[rank] = length * height;
    }
    __syncthreads();
    const std::int32_t stretch = (n - base < row_threads ? n - base : row_threads) * width;
    for (std::int32_t m = rank; m < stretch; m += row_threads) {
      const std::int32_t k = m / width;
      const double* from = source[k] + (m - k * width) * across[k];
#pragma unroll 6
      for (int r = 0; r < height; ++r) own[(r * n + base) * width + m] = from[r];
    }
    __syncthreads();
  }
}

}  // namespace

void CudaMultigrid::smooth_prolongator(const LevelDiagonal& inverse, const LevelMatrix& tentative, double factor,
                                       LevelMatrix& p) {
  if (tentative.rows != p.rows || tentative.columns != p.columns || tentative.height != p.height ||
      tentative.width != p.width || inverse.size != p.height)
    throw Error(ErrorCode::misuse, "smooth_prolongator: the shapes of the diagonal and the two prolongators differ");
  require_small_blocks(p.height, p.width);
  require_numbers<double>(inverse, static_cast<std::int64_t>(p.rows) * p.height * p.height, "the diagonal");
  require_numbers<double>(tentative, tentative.entries(), "the tentative prolongator");
  require_numbers<double>(p, p.entries(), "the prolongator");
  DeviceSection section(*memory());
  SmoothWork work;
  work.p = pattern_of(p);
  work.t = pattern_of(tentative);
  work.height = p.height;
  work.width = p.width;
  work.factor = factor;
  work.inverse = inverse.value.read_device();
  work.t_value = tentative.value.read_device();
  work.p_value = p.value.update_device();
  TroubleWord trouble(memory());
  const auto kernel = p.height == 1   ? smooth_rows<1>
                      : p.height == 2 ? smooth_rows<2>
                      : p.height == 3 ? smooth_rows<3>
                      : p.height == 6 ? smooth_rows<6>
                                      : smooth_rows<0>;
  launch(kernel, grid_of_warps(p.rows, warps), stream(), work, trouble.device());
  if (const std::int64_t row = trouble.read(); row >= 0)
    throw Error(ErrorCode::misuse,
                "smooth_prolongator: row " + std::to_string(row) +
                    " of the product lacks the block of the tentative prolongator; the matrix must have "
                    "its diagonal");
}

LevelMatrix CudaMultigrid::transposed(const LevelMatrix& p) {
  LevelMatrix t;
  t.rows = p.columns;
  t.columns = p.rows;
  t.height = p.width;
  t.width = p.height;
  t.start = array<std::int64_t>(t.rows + std::int64_t{1});
  t.column = array<std::int32_t>(p.blocks());
  {
    DeviceSection section(*memory());
    auto cursor = array<unsigned>(t.rows);
    std::int64_t* start = t.start.write_device();
    std::int32_t* column = t.column.write_device();
    unsigned* cursors = cursor.write_device();
    fill_bytes_async(start, 0, t.start.bytes(), stream());
    fill_bytes_async(cursors, 0, cursor.bytes(), stream());
    launch(count_columns, grid_for(p.blocks(), threads), stream(), p.blocks(), p.column.read_device(),
           reinterpret_cast<unsigned long long*>(start));
    exclusive_sums(start, t.rows, memory());
    launch(list_rows, grid_for(p.rows, threads), stream(), pattern_of(p), start, cursors, column);
    sort_lists(t.rows, start, p.blocks(), column, memory());
  }
  update_transposed(p, t);
  return t;
}

void CudaMultigrid::update_transposed(const LevelMatrix& p, LevelMatrix& transposed) {
  if (transposed.rows != p.columns || transposed.columns != p.rows || transposed.height != p.width ||
      transposed.width != p.height || transposed.blocks() != p.blocks())
    throw Error(ErrorCode::misuse, "update_transposed: this is not the transpose of a matrix of that pattern");
  require_numbers<double>(p, p.entries(), "the matrix to be transposed");
  DeviceSection section(*memory());
  double* target = fresh_numbers(transposed, p.entries());
  launch(transpose_rows, Grid{transposed.rows, row_threads, 0}, stream(), pattern_of(p), p.value.read_device(),
         pattern_of(transposed), transposed.height, transposed.width, target);
}

}  // namespace voussoir::cuda
