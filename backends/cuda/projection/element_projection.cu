#include <voussoir/backends/cuda/projection/element_projection.hpp>

#include <algorithm>

#include <voussoir/backends/cuda/primitives/tensor_product.hpp>
#include <voussoir/backends/cuda/runtime/async_copy.hpp>
#include <voussoir/backends/cuda/runtime/passing_through.hpp>
#include <voussoir/backends/detail/upper_triangle.hpp>

// K* = Σ XₑᵀLₑXₑ with tensor cores. Per tile of eight rows of an element: Yᵀ = XₑᵀLₑ, then K* += Yᵀ Xₑ.
//
// The summation index is taken in the order 8t + 2(lane % 4) + s, s = 0, 1. Then a lane's two results of Yᵀ are what it
// has to give as left factors of the second product, and the numbers of Xₑ that it has as left factors of the first
// product are its right factors of the second: nothing is exchanged between lanes.

namespace voussoir::cuda {

using voussoir::detail::triangle_row;

namespace {

constexpr int warps = projection_warps;
/// Threads where X is in registers: so few that two blocks of them have all registers of a multiprocessor.
constexpr int small_threads = 128;
constexpr int group_elements = 32;  // side by side in memory

struct ElementPanelJob {
  ProjectedElements elements;
  int top, left;
  double* sums;
  int entries;  // of a matrix
  int stride;   // from a matrix to the next in shared memory: odd, so that lanes write to different banks
  int stage;    // elements in shared memory at a time
};

/// Tiles of a panel that are computed: those on and right of the diagonal where rows and columns are the same. They are
/// computed two by two, one below the other.
template <bool Diagonal>
struct PanelTiles {
  static constexpr int down = 4, across = Diagonal ? 4 : 2;
  double sum[down][across][2] = {};

  /// += Yᵀ X for eight rows of the element.
  template <class Right>
  __device__ void add(const double (&y)[down][2], const Right& right) {
#pragma unroll
    for (int j = 0; j < across; ++j) {
      const double b[2] = {right(0, j), right(1, j)};
#pragma unroll
      for (int i = 0; i < down; i += 2)
        if (!Diagonal || i <= j) multiply_add(sum[i][j], sum[i + 1][j], y[i], y[i + 1], b);
    }
  }

  /// Adds the sums of all warps of a block of `Threads` threads, in order, to those that the block has in memory.
  /// `shared` has room for 8 · down · width numbers of each warp and is no longer used.
  template <int Threads>
  __device__ void finish(double* shared, double* sums) const {
    constexpr int width = 8 * across, numbers = 8 * down * width;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          shared[warp * numbers + (8 * i + lane / 4) * width + 8 * j + 2 * (lane % 4) + h] = sum[i][j][h];
    __syncthreads();
    double* own = sums + static_cast<std::int64_t>(blockIdx.x) * numbers;
    for (int k = static_cast<int>(threadIdx.x); k < numbers; k += Threads) {
      double total = shared[k];
      for (int w = 1; w < Threads / 32; ++w) total += shared[w * numbers + k];
      own[k] += total;
    }
  }
};

/// A number of X, or zero behind its last column.
__device__ inline double number_of_x(const ElementPanelJob& job, std::int32_t row, int column) {
  const ProjectedElements& e = job.elements;
  return row >= 0 && column < e.columns ? __ldg(e.x + static_cast<std::int64_t>(row) * e.columns + column) : 0.0;
}

/// Marks an element that does not count, in place of its first row.
constexpr std::int32_t skipped = -2;

__global__ void write_rows(ElementRowSource source, std::int64_t numbers, int listed, std::int32_t* rows) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= numbers) return;
  const std::int64_t place = i / listed;
  const int r = static_cast<int>(i % listed);
  std::int32_t element = place < source.count ? static_cast<std::int32_t>(place) : -1;
  if (element >= 0 && source.order) element = source.order[element];
  if (element >= 0 && source.counted) element = source.counted[element];
  std::int32_t row = element < 0 ? skipped : -1;
  if (element >= 0 && r < source.dofs) {
    const int components = source.equations.components;
    const std::int32_t node = source.node[static_cast<std::int64_t>(element) * source.nodes + r / components];
    const std::int32_t equation = source.equations.of(node, r % components);
    if (!source.constrained || !source.constrained[equation]) row = equation;
  }
  rows[i] = row;
}

/// Copies the matrices of `stage` elements of a group, from `first` on, to shared memory.
template <int Threads>
__device__ inline void load_matrices(const ElementPanelJob& job, std::int64_t group, int first, double* matrices) {
  const double* source = job.elements.matrices + group * job.entries * group_elements + first;
  const int numbers = job.entries * job.stage;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < numbers; i += Threads) {
    const int e = i / job.stage, lane = i % job.stage;
    matrices[lane * job.stride + e] = read_once(source + e * group_elements + lane);
  }
}

/// A lane's numbers of the rows `rows` of X: columns `first` and 8, 16, 24 behind it. Addresses are computed once for
/// each row.
template <int Tiles>
__device__ inline void load_x(const ElementPanelJob& job, const std::int32_t* rows, int first,
                              double (&x)[Tiles][4][2]) {
  const int columns = job.elements.columns, left = columns - job.top - first;
#pragma unroll
  for (int t = 0; t < Tiles; ++t)
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const std::int32_t row = rows[8 * t + s];
      const double* from = job.elements.x + static_cast<std::int64_t>(row) * columns + job.top + first;
#pragma unroll
      for (int m = 0; m < 4; ++m) x[t][m][s] = row >= 0 && 8 * m < left ? __ldg(from + 8 * m) : 0.0;
    }
}

/// Where the numbers of a lane stand in an upper triangle of `dofs` rows, but for what the compiler knows.
template <int Tiles>
struct TrianglePlaces {
  int by_row[Tiles][2], by_column[Tiles];

  __device__ TrianglePlaces(int dofs, int q, int g) {
#pragma unroll
    for (int t = 0; t < Tiles; ++t) {
      by_column[t] = triangle_row(8 * t + g, dofs) + 2 * q;
#pragma unroll
      for (int s = 0; s < 2; ++s) by_row[t][s] = triangle_row(8 * t + 2 * q + s, dofs) + g;
    }
  }
};

/// Elements of a stage where X is in registers, and stages in shared memory: one is multiplied while the other is
/// copied.
constexpr int small_stage = 16, small_stages = 2;
static_assert(group_elements % small_stage == 0 && small_threads % small_stage == 0);

/// Numbers in shared memory of a stage: matrices, and the rows of X behind them.
constexpr int small_stage_numbers(int tiles, int stride) {
  return small_stage * stride + small_stage * 8 * tiles * static_cast<int>(sizeof(std::int32_t)) / 8;
}

/// Starts to copy a stage of matrices and rows to shared memory.
template <int Tiles>
__device__ inline void start_stage(const ElementPanelJob& job, std::int64_t piece, double* shared) {
  constexpr int pieces = group_elements / small_stage, quads = small_stage * 2 * Tiles;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % small_stage;
  const double* source =
      job.elements.matrices + piece / pieces * job.entries * group_elements + piece % pieces * small_stage + lane;
#pragma unroll 4
  for (int e = thread / small_stage; e < job.entries; e += small_threads / small_stage)
    start_copy<8>(shared + lane * job.stride + e, source + e * group_elements);
  auto* rows = reinterpret_cast<std::int32_t*>(shared + small_stage * job.stride);
  const std::int32_t* listed = job.elements.rows + piece * (small_stage * 8 * Tiles);
  for (int i = thread; i < quads; i += small_threads) start_copy<16>(rows + 4 * i, listed + 4 * i);
}

/// sum += XₑᵀLₑXₑ by a warp. `Size` is the number of unknowns where the compiler is to know it, else 0.
template <int Tiles, int Size, bool Diagonal>
__device__ inline void add_element(const ElementPanelJob& job, const TrianglePlaces<Tiles>& places,
                                   const double* matrix, const std::int32_t* rows, PanelTiles<Diagonal>& tiles) {
  const int lane = static_cast<int>(threadIdx.x) % 32, q = lane % 4, g = lane / 4, dofs = job.elements.dofs;
  const std::int32_t* own = rows + 2 * q;
  double x[Tiles][4][2];
  load_x(job, own, g, x);
#pragma unroll
  for (int u = 0; u < Tiles; ++u) {
    double y[4][2] = {};
    const int c = 8 * u + g;
#pragma unroll
    for (int t = 0; t < Tiles; ++t) {
      double b[2];
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        const int r = 8 * t + 2 * q + s;
        const bool above = t < u || (t == u && r <= c);
        const int entry = above ? places.by_row[t][s] + 8 * u : places.by_column[u] + 8 * t + s;
        b[s] = 8 * Tiles == Size || (r < dofs && c < dofs) ? matrix[entry] : 0.0;
      }
#pragma unroll
      for (int m = 0; m < 4; m += 2) multiply_add(y[m], y[m + 1], x[t][m], x[t][m + 1], b);
    }
    tiles.add(y, [&](int s, int j) {
      if constexpr (Diagonal)
        return x[u][j][s];
      else
        return number_of_x(job, own[8 * u + s], job.left + 8 * j + g);
    });
  }
}

/// A warp per element of at most 8 · Tiles unknowns, with all of its X in registers.
template <int Tiles, int Size, bool Diagonal>
__global__ void __launch_bounds__(small_threads, 2) project_small(ElementPanelJob job) {
  VSR_DYNAMIC_SHARED(double, shared);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  if constexpr (Size > 0) {
    job.elements.dofs = Size;
    job.entries = Size * (Size + 1) / 2;
    job.stride = job.entries | 1;
  }
  const TrianglePlaces<Tiles> places(job.elements.dofs, lane % 4, lane / 4);
  const int stage_room = small_stage_numbers(Tiles, job.stride);
  PanelTiles<Diagonal> tiles;
  const std::int64_t pieces = (job.elements.count + small_stage - 1) / small_stage;
  if (blockIdx.x < pieces) start_stage<Tiles>(job, blockIdx.x, shared);
  close_copies();
  int turn = 0;
  for (std::int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    wait_for_copies_but<0>();
    __syncthreads();
    const double* matrices = shared + turn * stage_room;
    const auto* rows = reinterpret_cast<const std::int32_t*>(matrices + small_stage * job.stride);
    turn = 1 - turn;
    if (piece + gridDim.x < pieces) start_stage<Tiles>(job, piece + gridDim.x, shared + turn * stage_room);
    close_copies();
#pragma unroll 1
    for (int k = warp; k < small_stage; k += small_threads / 32) {
      const std::int32_t* own = rows + k * (8 * Tiles);
      if (piece * small_stage + k < job.elements.count && *own != skipped)
        add_element<Tiles, Size>(job, places, matrices + k * job.stride, own, tiles);
    }
  }
  __syncthreads();
  tiles.template finish<small_threads>(shared, job.sums);
}

/// Numbers from a row of X to the next in shared memory: the four rows that a half of a warp reads, two apart, are in
/// different banks.
__host__ __device__ constexpr int x_stride(int columns) { return columns + 2; }

/// Elements of any size: their X is in shared memory beside the matrices, and warps take tiles of eight rows.
template <bool Diagonal>
__global__ void __launch_bounds__(projection_threads, 2) project_any(ElementPanelJob job) {
  VSR_DYNAMIC_SHARED(double, shared);
  constexpr int right_columns = 8 * PanelTiles<Diagonal>::across;
  constexpr int left_stride = x_stride(panel_columns), right_stride = x_stride(right_columns);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int q = lane % 4, g = lane / 4, dofs = job.elements.dofs, row_tiles = (dofs + 7) / 8, rows = 8 * row_tiles;
  double* const matrices = shared;
  double* const lefts = shared + job.stage * job.stride;
  double* const rights = Diagonal ? lefts : lefts + job.stage * rows * left_stride;
  PanelTiles<Diagonal> tiles;
  const int pieces = group_elements / job.stage;
  const std::int64_t count = (job.elements.count + group_elements - 1) / group_elements * pieces;
  for (std::int64_t piece = blockIdx.x; piece < count; piece += gridDim.x) {
    const std::int64_t group = piece / pieces;
    const int first = static_cast<int>(piece % pieces) * job.stage;
    load_matrices<projection_threads>(job, group, first, matrices);
    for (int i = warp; i < job.stage * rows; i += warps) {  // a warp per row
      const std::int64_t place = group * group_elements + first + i / rows;
      const std::int32_t row = place < job.elements.count ? job.elements.rows[place * rows + i % rows] : -1;
      lefts[i * left_stride + lane] = number_of_x(job, row, job.top + lane);
      if constexpr (!Diagonal)
        if (lane < right_columns) rights[i * right_stride + lane] = number_of_x(job, row, job.left + lane);
    }
    __syncthreads();
    for (int item = warp; item < job.stage * row_tiles; item += warps) {
      const int e = item / row_tiles, u = item % row_tiles, c = 8 * u + g;
      const std::int64_t place = group * group_elements + first + e;
      if (place >= job.elements.count || job.elements.rows[place * rows] == skipped) continue;
      const double* matrix = matrices + e * job.stride;
      const double* left = lefts + e * rows * left_stride;
      const double* right = rights + e * rows * right_stride;
      double y[4][2] = {};
      for (int t = 0; t < row_tiles; ++t) {
        double b[2], x[4][2];
#pragma unroll
        for (int s = 0; s < 2; ++s) {
          const int r = 8 * t + 2 * q + s;
          b[s] = r < dofs && c < dofs ? matrix[r <= c ? triangle_row(r, dofs) + c : triangle_row(c, dofs) + r] : 0.0;
#pragma unroll
          for (int m = 0; m < 4; ++m) x[m][s] = left[r * left_stride + 8 * m + g];
        }
#pragma unroll
        for (int m = 0; m < 4; m += 2) multiply_add(y[m], y[m + 1], x[m], x[m + 1], b);
      }
      tiles.add(y, [&](int s, int j) { return right[(8 * u + 2 * q + s) * right_stride + 8 * j + g]; });
    }
    __syncthreads();
  }
  tiles.template finish<projection_threads>(shared, job.sums);
}

/// sums += xᵢᵀxⱼ over rows, a block of threads for a stretch of them and a thread for some products.
__global__ void __launch_bounds__(projection_threads)
    add_rows(const std::int32_t* rows, std::int64_t count, const double* x, int columns, int top, int left, int width,
             double* sums) {
  const std::int64_t stretch = (count + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * stretch;
  const std::int64_t end = begin + stretch < count ? begin + stretch : count;
  double* own = sums + static_cast<std::int64_t>(blockIdx.x) * panel_columns * width;
  for (int k = static_cast<int>(threadIdx.x); k < panel_columns * width; k += projection_threads) {
    const int i = top + k / width, j = left + k % width;
    if (i >= columns || j >= columns) continue;
    double sum = 0;
    for (std::int64_t r = begin; r < end; ++r) {
      const double* row = x + static_cast<std::int64_t>(rows[r]) * columns;
      sum += __ldg(row + i) * __ldg(row + j);
    }
    own[k] += sum;
  }
}

/// Most unknowns of an element whose X stays in registers.
constexpr int most_small = 24;

int odd_stride(int dofs) { return (dofs * (dofs + 1) / 2) | 1; }

/// Numbers in shared memory when a block adds its warps' sums.
constexpr std::size_t finish_numbers(bool diagonal) {
  return static_cast<std::size_t>(warps) * panel_columns * (diagonal ? panel_columns : panel_columns / 2);
}

/// Numbers in shared memory of `stage` elements, X included; of a panel apart from the diagonal, which needs more.
std::size_t stage_numbers(int dofs, int stage) {
  const int rows = (dofs + 7) / 8 * 8;
  return static_cast<std::size_t>(stage) *
         static_cast<std::size_t>(odd_stride(dofs) + rows * (x_stride(panel_columns) + x_stride(panel_columns / 2)));
}

std::size_t shared_limit(const CudaMemory& memory) { return memory.facts().shared_bytes_per_block / sizeof(double); }

/// Elements at a time: so many that two blocks of threads share a multiprocessor, or one where not even one fits.
int choose_stage(int dofs, const CudaMemory& memory) {
  constexpr std::size_t wanted = 100 * 1024 / sizeof(double);
  const std::size_t limit = std::min(wanted, shared_limit(memory));
  int stage = group_elements;
  while (stage > 1 && stage_numbers(dofs, stage) > limit) stage /= 2;
  return stage;
}

std::size_t small_numbers(int dofs) {
  return static_cast<std::size_t>(small_stages * small_stage_numbers((dofs + 7) / 8, odd_stride(dofs)));
}

bool fits_small(int dofs, const CudaMemory& memory) {
  return dofs <= most_small && small_numbers(dofs) <= shared_limit(memory);
}

using PanelKernel = void (*)(ElementPanelJob);

template <bool Diagonal>
PanelKernel small_kernel(const ProjectedElements& elements) {
  if (elements.dofs == 24) return project_small<3, 24, Diagonal>;
  return elements.dofs <= 8    ? project_small<1, 0, Diagonal>
         : elements.dofs <= 16 ? project_small<2, 0, Diagonal>
                               : project_small<3, 0, Diagonal>;
}

}  // namespace

bool fits_projection(int dofs, const CudaMemory& memory) {
  return fits_small(dofs, memory) || std::max(stage_numbers(dofs, 1), finish_numbers(true)) <= shared_limit(memory);
}

void list_rows(const ElementRowSource& source, std::int32_t* rows, const CudaMemory& memory) {
  const std::int64_t numbers = row_list_size(source.count, source.dofs);
  launch(write_rows, grid_for(numbers), memory.stream(), source, numbers, listed_rows(source.dofs), rows);
}

void project_elements(const ProjectedElements& elements, PanelSums& sums, const CudaMemory& memory) {
  const bool small = fits_small(elements.dofs, memory);
  const int stage = small ? small_stage : choose_stage(elements.dofs, memory);
  const std::int64_t pieces = (elements.count + stage - 1) / stage;
  for (std::size_t p = 0; p < sums.panels().size(); ++p) {
    const Panel& panel = sums.panels()[p];
    const bool diagonal = panel.top == panel.left;
    const ElementPanelJob job{elements,
                              panel.top,
                              panel.left,
                              sums.sums(p),
                              elements.dofs * (elements.dofs + 1) / 2,
                              odd_stride(elements.dofs),
                              stage};
    const std::size_t numbers =
        std::max(finish_numbers(diagonal), small ? small_numbers(elements.dofs) : stage_numbers(elements.dofs, stage));
    const Grid grid{std::min<std::int64_t>(projection_blocks, pieces), small ? small_threads : projection_threads,
                    numbers * sizeof(double)};
    const PanelKernel kernel = diagonal ? (small ? small_kernel<true>(elements) : project_any<true>)
                                        : (small ? small_kernel<false>(elements) : project_any<false>);
    launch(kernel, grid, memory.stream(), job);
  }
}

void project_rows(const std::int32_t* rows, std::int64_t count, const double* x, int columns, PanelSums& sums,
                  const CudaMemory& memory) {
  const Grid grid{std::min<std::int64_t>(projection_blocks, count), projection_threads, 0};
  for (std::size_t p = 0; p < sums.panels().size(); ++p) {
    const Panel& panel = sums.panels()[p];
    launch(add_rows, grid, memory.stream(), rows, count, x, columns, panel.top, panel.left, panel.width, sums.sums(p));
  }
}

}  // namespace voussoir::cuda
