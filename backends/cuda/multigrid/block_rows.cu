#include <voussoir/backends/cuda/multigrid/block_rows.hpp>

#include <voussoir/backends/cuda/matrix/diagonal_blocks.hpp>
#include <voussoir/backends/cuda/multigrid/finest_rows.hpp>
#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>

// From slices, in which 32 rows stand side by side, to rows that are one stretch each. Tiles of 32 × 32 numbers are
// turned in shared memory, so that both sides are read and written in whole lines. Of half a matrix the blocks left of
// the diagonal are read where their mirror images are stored.

namespace voussoir::cuda {

namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;

/// What is left of the diagonal and not stored; nothing where the matrix is stored as a whole.
struct LeftPart {
  MirrorView view;
  __device__ std::int32_t length(std::int64_t place) const { return view.stored ? view.length[place] : 0; }
  __device__ std::int64_t at(std::int64_t place, std::int32_t k) const {
    return (static_cast<std::int64_t>(view.slice_first[place / slice_rows]) + k) * slice_rows + place % slice_rows;
  }
};

/// A thread per place.
__global__ void measure_rows(SlicedView rows, LeftPart left, std::int64_t* length) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p / slice_rows >= rows.slices || rows.row[p] < 0) return;
  length[rows.row[p]] = rows.length[p] + left.length(p);
}

/// A thread per place.
__global__ void copy_columns(SlicedView rows, LeftPart left, ColumnNumbers numbers, const std::int64_t* start,
                             std::int32_t* column) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p / slice_rows >= rows.slices || rows.row[p] < 0) return;
  std::int32_t* target = column + start[rows.row[p]];
  const std::int32_t before = left.length(p);
  for (std::int32_t k = 0; k < before; ++k) target[k] = numbers(left.view.column[left.at(p, k)]);
  const std::int64_t first = static_cast<std::int64_t>(rows.slice_first[p / slice_rows]) * slice_rows + p % slice_rows;
  for (std::int32_t k = 0; k < rows.length[p]; ++k)
    target[before + k] = numbers(rows.column[first + static_cast<std::int64_t>(k) * slice_rows]);
}

/// Sorts the columns of each row and keeps where they stood. A device lists those of other devices after its own, so
/// few rows are out of order, and few of their columns. A thread per row.
__global__ void sort_columns(std::int32_t rows, const std::int64_t* start, std::int32_t* column, std::int32_t* source) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  std::int32_t *own = column + start[i], *from = source + start[i];
  const auto length = static_cast<std::int32_t>(start[i + 1] - start[i]);
  for (std::int32_t next = 0; next < length; ++next) {
    const std::int32_t number = own[next];
    std::int32_t k = next;
    for (; k > 0 && own[k - 1] > number; --k) {
      own[k] = own[k - 1];
      from[k] = from[k - 1];
    }
    own[k] = number;
    from[k] = next;
  }
}

/// A block of threads per slice. `source` may be null: see BlockRowPattern.
template <int B, class Number>
__global__ void __launch_bounds__(threads)
    copy_values(SlicedView rows, LeftPart left, const double* value, const std::int64_t* start,
                const std::int32_t* source, Number* target) {
  VSR_SHARED double tile[slice_rows][slice_rows + 1];
  VSR_SHARED std::int32_t length_of[slice_rows], longest;
  VSR_SHARED std::int64_t start_of[slice_rows];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * slice_rows + lane;
  const std::int32_t row = rows.row[p];
  const std::int32_t before = row < 0 ? 0 : left.length(p), length = row < 0 ? 0 : before + rows.length[p];
  const std::int64_t first = rows.slice_first[blockIdx.x];
  if (warp == 0) {
    length_of[lane] = length;
    start_of[lane] = row < 0 ? 0 : start[row] * (B * B);
    std::int32_t most = length;
    for (int step = 16; step > 0; step /= 2) {
      const std::int32_t other = __shfl_xor_sync(0xffffffffu, most, step);
      most = other > most ? other : most;
    }
    if (lane == 0) longest = most;
  }
  __syncthreads();
  for (int r = 0; r < B; ++r)
    for (std::int32_t base = 0; base < longest * B; base += slice_rows) {
#pragma unroll
      for (int m = warp; m < slice_rows; m += warps) {  // number base + m of row r of the blocks, for each lane's row
        std::int32_t k = (base + m) / B;
        const std::int32_t c = (base + m) % B;
        if (k >= length) continue;
        if (source) k = source[start[row] + k];
        double entry;
        if (k < before) {
          const std::int64_t stored = left.view.stored[left.at(p, k)];
          entry = value[(stored / slice_rows * (B * B) + c * B + r) * slice_rows + stored % slice_rows];
        } else {
          entry = value[((first + k - before) * (B * B) + r * B + c) * slice_rows + lane];
        }
        tile[m][lane] = entry;
      }
      __syncthreads();
      for (int l = warp; l < slice_rows; l += warps) {  // the row of lane l
        const std::int32_t stretch = length_of[l] * B;
        if (base + lane < stretch)
          target[start_of[l] + static_cast<std::int64_t>(r) * stretch + base + lane] =
              static_cast<Number>(tile[lane][l]);
      }
      __syncthreads();
    }
}

/// The blocks left of the diagonal, which are listed when they are first needed. Inside a section.
LeftPart left_part(const CudaSparseMatrix::Part& part, const std::shared_ptr<DeviceMemory>& memory) {
  if (!part.tiles) return {};
  MirroredBlocks& mirrored = part.tiles->mirrored;
  if (mirrored.slice_first.empty()) mirrored = make_mirrored(part.rows, memory);
  return {mirrored.view()};
}

}  // namespace

BlockRowPattern list_block_rows(const CudaSparseMatrix& matrix, int device, const ColumnNumbers& numbers) {
  const auto& memory = matrix.layout()->memory(device);
  const CudaSparseMatrix::Part& part = matrix.part(device);
  const cudaStream_t stream = stream_of(memory);
  const LeftPart left = left_part(part, memory);
  const Grid grid = grid_for(static_cast<std::int64_t>(part.rows.slices) * slice_rows);
  BlockRowPattern pattern;
  pattern.start = Array<std::int64_t>(memory, static_cast<std::size_t>(part.rows.rows) + 1);
  std::int64_t* start = pattern.start.write_device();
  launch(measure_rows, grid, stream, part.rows.view(), left, start);
  exclusive_sums(start, part.rows.rows, memory);
  // On a device that has all columns it is known how many blocks there are: those of half a matrix that are not on the
  // diagonal count twice. Otherwise some of the stored ones have their mirror images elsewhere.
  const bool alone = matrix.layout()->devices() == 1;
  const std::int64_t blocks = !part.tiles ? part.rows.entries
                              : alone     ? 2 * part.rows.entries - part.rows.rows
                                          : fetch_total(memory, start + part.rows.rows);
  pattern.column = Array<std::int32_t>(memory, static_cast<std::size_t>(blocks));
  std::int32_t* column = pattern.column.write_device();
  launch(copy_columns, grid, stream, part.rows.view(), left, numbers, start, column);
  if (numbers.others) {
    pattern.source = Array<std::int32_t>(memory, static_cast<std::size_t>(blocks));
    launch(sort_columns, grid_for(part.rows.rows, 128), stream, part.rows.rows, start, column,
           pattern.source.write_device());
  }
  return pattern;
}

template <class Number>
void copy_block_rows(const CudaSparseMatrix& matrix, int device, const std::int64_t* start, const std::int32_t* source,
                     Number* target) {
  const auto& memory = matrix.layout()->memory(device);
  const CudaSparseMatrix::Part& part = matrix.part(device);
  const LeftPart left = left_part(part, memory);
  for_block_size(matrix.block_size(), [&](auto size) {
    launch(copy_values<decltype(size)::value, Number>, Grid{part.rows.slices, threads, 0}, stream_of(memory),
           part.rows.view(), left, part.value.read_device(), start, source, target);
  });
}

template void copy_block_rows<double>(const CudaSparseMatrix&, int, const std::int64_t*, const std::int32_t*, double*);
template void copy_block_rows<float>(const CudaSparseMatrix&, int, const std::int64_t*, const std::int32_t*, float*);

void take_block_rows(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows) {
  DeviceSection section(*memory);
  BlockRowPattern pattern = list_block_rows(matrix, 0, {});
  rows.start = std::move(pattern.start);
  rows.column = std::move(pattern.column);
  rows.value = Array<double>(memory, static_cast<std::size_t>(rows.entries()));
  refill_block_rows(matrix, memory, rows);
}

void refill_block_rows(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows) {
  DeviceSection section(*memory);
  const std::int64_t* start = rows.start.read_device();
  if (rows.single_value.empty())
    copy_block_rows(matrix, 0, start, nullptr, rows.value.write_device());
  else
    copy_block_rows(matrix, 0, start, nullptr, rows.single_value.write_device());
}

}  // namespace voussoir::cuda
