#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/prefetch.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>

// Products of block rows with vectors, and what a smoother does with them. A row's numbers are `height` stretches of
// n · width numbers: the lanes of a group run over all stretches at once, so that whole lines of memory are read, and
// each gathers its entry of x once. Very long rows are shared by a block of threads.

namespace voussoir::cuda {

namespace {

constexpr int threads = 128;
constexpr int warps = threads / 32;
constexpr int fewest_lanes = 8;
/// Longer stretches are too long for a few lanes.
constexpr std::int32_t long_stretch = 3072;
/// About as many rows as are under way at once on a large GPU.
constexpr std::int64_t rows_under_way = 16384;

/// What becomes of the sums.
enum class After : int {
  store,     ///< y = A x
  add,       ///< y += A x
  residual,  ///< y = b − A x
  step       ///< d = beta d + alpha D⁻¹ (b − A x), y = x + d
};

template <class Number>
struct RowWork {
  LevelPattern rows;
  int height = 1, width = 1, columns = 1;
  const Number* value = nullptr;
  const Number* x = nullptr;
  Number* y = nullptr;
  After after = After::store;
  const Number* b = nullptr;
  const Number* inverse = nullptr;
  Number alpha = 0, beta = 0;
  Number* d = nullptr;
};

/// Sizes of blocks that are known when kernels are compiled; 0, 0 stands for all others.
template <int Height, int Width>
struct Shape {
  static constexpr int height = Height, width = Width;
  static constexpr int room = Height > 0 ? Height : largest_level_block;  // sums that a thread keeps
  static constexpr int at_once = Height == 0 || Height > 3 ? 2 : 3;       // numbers of a stretch in flight
  /// Blocks of threads that a multiprocessor should have room for: what hides the time that memory takes. Numbers in
  /// single precision need half the registers.
  static constexpr int single_blocks = Height == 0 ? 1 : Height > 3 ? 10 : 16;
  static constexpr int double_blocks = Height == 0 ? 1 : Height > 3 ? 8 : 12;
};

/// A row's blocks: where they begin, and how many numbers each of its stretches has.
struct Extent {
  std::int64_t first;
  std::int32_t stretch;
};

template <class S, class Number>
__device__ Extent extent_of(const RowWork<Number>& work, std::int64_t row) {
  const std::int64_t first = work.rows.start[row];
  const auto length = static_cast<std::int32_t>(work.rows.start[row + 1] - first);
  return {first, length * (S::width > 0 ? S::width : work.width)};
}

/// Sums over the numbers rank, rank + lanes, … of each stretch of a row. Loads do not wait for each other: those beyond
/// the end are of the last number, which then does not count, rather than left out.
template <class S, class Number>
__device__ void sum_stretches(const RowWork<Number>& work, const Extent& extent, int rank, int lanes,
                              Number (&sums)[S::room]) {
  const int height = S::height > 0 ? S::height : work.height;
  const auto width = static_cast<std::uint32_t>(S::width > 0 ? S::width : work.width);
  const auto stretch = static_cast<std::uint32_t>(extent.stretch), next = static_cast<std::uint32_t>(lanes);
  const std::int32_t* column = work.rows.column + extent.first;
  const Number* value = work.value + extent.first * (height * static_cast<int>(width));
  for (auto base = static_cast<std::uint32_t>(rank); base < stretch; base += next * S::at_once) {
    std::uint32_t place[S::at_once], columns[S::at_once];
    Number x[S::at_once], values[S::at_once][S::room];
#pragma unroll
    for (int u = 0; u < S::at_once; ++u) {
      const std::uint32_t m = base + static_cast<std::uint32_t>(u) * next;
      place[u] = m < stretch ? m : stretch - 1;
      columns[u] = static_cast<std::uint32_t>(column[place[u] / width]);
    }
#pragma unroll
    for (int u = 0; u < S::at_once; ++u)
#pragma unroll
      for (int r = 0; r < S::room; ++r)
        if (r < height) values[u][r] = value[static_cast<std::uint32_t>(r) * stretch + place[u]];
#pragma unroll
    for (int u = 0; u < S::at_once; ++u) x[u] = work.x[columns[u] * width + place[u] % width];
#pragma unroll
    for (int u = 0; u < S::at_once; ++u) {
      const Number factor = base + static_cast<std::uint32_t>(u) * next < stretch ? x[u] : Number{0};
#pragma unroll
      for (int r = 0; r < S::room; ++r)
        if (r < height) sums[r] += values[u][r] * factor;
    }
  }
}

/// Adds the sums of `lanes` neighbouring lanes, in each of them. All lanes of the warp call.
template <class S, class Number>
__device__ void add_lanes(int lanes, int height, Number (&sums)[S::room]) {
  for (int step = lanes / 2; step > 0; step /= 2)
#pragma unroll
    for (int r = 0; r < S::room; ++r)
      if (r < height) sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], step);
}

/// Entry r of D⁻¹ (b − A x).
template <class S, class Number>
__device__ Number preconditioned(const RowWork<Number>& work, std::int64_t row, int r, int column, int height,
                                 const Number (&sums)[S::room]) {
  Number total = 0;
#pragma unroll
  for (int s = 0; s < S::room; ++s)
    if (s < height)
      total += work.inverse[(row * height + r) * height + s] *
               (work.b[(row * height + s) * work.columns + column] - sums[s]);
  return total;
}

/// Writes entry r of a row's result.
template <class S, class Number>
__device__ void finish_entry(const RowWork<Number>& work, std::int64_t row, int r, int column, int height, Number sum,
                             const Number (&sums)[S::room]) {
  const std::int64_t at = (row * height + r) * work.columns + column;
  if (work.after == After::store) {
    work.y[at] = sum;
  } else if (work.after == After::add) {
    work.y[at] += sum;
  } else if (work.after == After::residual) {
    work.y[at] = work.b[at] - sum;
  } else {
    Number moved = work.alpha * preconditioned<S>(work, row, r, column, height, sums);
    if (work.beta != Number{0}) moved += work.beta * work.d[at];
    work.d[at] = moved;
    work.y[at] = work.x[at] + moved;
  }
}

/// Asks for what finish_row() will read, while the sums are under way.
template <class Number>
__device__ void announce_row(const RowWork<Number>& work, std::int64_t row, int rank, int height) {
  if (rank >= height) return;
  const std::int64_t at = row * height + rank;
  if (work.b) prefetch(work.b + at);
  if (work.inverse) prefetch(work.inverse + at * height);
  if (work.beta != Number{0}) prefetch(work.d + at);
}

/// The results of a row of one vector: lane r writes entry r.
template <class S, class Number>
__device__ void finish_row(const RowWork<Number>& work, std::int64_t row, int rank, int lanes, int height,
                           const Number (&sums)[S::room]) {
  if constexpr (S::height > 0) {
    if (rank >= height) return;
    Number sum = sums[0];  // chosen, not indexed: the sums stay in registers
#pragma unroll
    for (int r = 1; r < S::room; ++r)
      if (rank == r) sum = sums[r];
    finish_entry<S>(work, row, rank, 0, height, sum, sums);
  } else {
    for (int r = rank; r < height; r += lanes) finish_entry<S>(work, row, r, 0, height, sums[r], sums);
  }
}

/// A row by a whole block of threads. All of them call.
template <class S, class Number>
__device__ void multiply_by_block(const RowWork<Number>& work, std::int64_t row, int height) {
  VSR_SHARED Number of_warp[warps][S::room];
  const int rank = static_cast<int>(threadIdx.x);
  Number sums[S::room] = {};
  sum_stretches<S>(work, extent_of<S>(work, row), rank, threads, sums);
  add_lanes<S>(32, height, sums);
#pragma unroll
  for (int r = 0; r < S::room; ++r)
    if (rank % 32 == 0 && r < height) of_warp[rank / 32][r] = sums[r];
  __syncthreads();
#pragma unroll
  for (int r = 0; r < S::room; ++r) {
    if (r >= height) continue;
    sums[r] = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w) sums[r] += of_warp[w][r];
  }
  finish_row<S>(work, row, rank, threads, height, sums);
  __syncthreads();
}

template <class S, class Number>
__global__ void __launch_bounds__(threads) multiply_rows_by_blocks(RowWork<Number> work) {
  multiply_by_block<S>(work, blockIdx.x, S::height > 0 ? S::height : work.height);
}

/// `lanes` neighbouring threads to a row, `threads` / `lanes` rows to a block.
template <class S, class Number>
__global__ void __launch_bounds__(threads, sizeof(Number) == 4 ? S::single_blocks : S::double_blocks)
    multiply_rows(RowWork<Number> work, int lanes) {
  VSR_SHARED bool is_long[threads / fewest_lanes];
  const int height = S::height > 0 ? S::height : work.height;
  const int rank = static_cast<int>(threadIdx.x) % lanes, group = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * (threads / lanes), row = first_row + group;
  const bool there = row < work.rows.rows;
  // The numbers of a row wait for where it begins: that comes nearer while other rows are under way.
  if (threadIdx.x == 0 && first_row + rows_under_way < work.rows.rows)
    prefetch(work.rows.start + first_row + rows_under_way);
  const Extent extent = there ? extent_of<S>(work, row) : Extent{0, 0};
  const bool left_over = extent.stretch > long_stretch;
  if (there) announce_row(work, row, rank, height);
  Number sums[S::room] = {};
  if (!left_over) sum_stretches<S>(work, extent, rank, lanes, sums);
  add_lanes<S>(lanes, height, sums);
  if (there && !left_over) finish_row<S>(work, row, rank, lanes, height, sums);
  if (rank == 0) is_long[group] = left_over;
  __syncthreads();
  for (int g = 0; g < threads / lanes; ++g)
    if (is_long[g]) multiply_by_block<S>(work, first_row + g, height);
}

/// Several vectors: a warp per row, whose lanes are `taken` columns from `first` on; `lanes` is a power of two of at
/// least as many, and where it is below 32, several blocks of the row are at work at once.
template <class S, class Number>
__global__ void __launch_bounds__(threads) multiply_columns(RowWork<Number> work, int first, int taken, int lanes) {
  const int height = S::height > 0 ? S::height : work.height, width = S::width > 0 ? S::width : work.width;
  const int lane = static_cast<int>(threadIdx.x) % 32, own = lane % lanes;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= work.rows.rows) return;  // whole warps
  const std::int64_t start = work.rows.start[row];
  const std::int32_t n = work.rows.length(row);
  const Number* value = work.value + start * (height * width);
  const bool there = own < taken;
  Number sums[S::room] = {};
  for (std::int32_t k = lane / lanes; k < n; k += 32 / lanes) {
    const std::int64_t entry = static_cast<std::int64_t>(work.rows.column[start + k]) * width;
#pragma unroll
    for (int c = 0; c < width; ++c) {
      const Number x = there ? work.x[(entry + c) * work.columns + first + own] : Number{0};
#pragma unroll
      for (int r = 0; r < S::room; ++r)
        if (r < height) sums[r] += value[(r * n + k) * width + c] * x;
    }
  }
  for (int step = 16; step >= lanes; step /= 2)
#pragma unroll
    for (int r = 0; r < S::room; ++r)
      if (r < height) sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], step);
  if (!there || lane >= lanes) return;
#pragma unroll
  for (int r = 0; r < S::room; ++r)
    if (r < height) finish_entry<S>(work, row, r, first + own, height, sums[r], sums);
}

/// Four neighbouring columns of a row of vectors, read and written at once.
template <class Number>
struct alignas(16) Quad {
  Number number[4];
};

/// Writes row r of four columns.
template <class S, class Number>
__device__ void finish_quad(const RowWork<Number>& work, std::int64_t row, int r, int column, int height,
                            const Number (&sums)[S::room][4]) {
  const std::int64_t at = (row * height + r) * work.columns + column;
  Quad<Number> out, b{}, d{}, x{};
  if (work.b) b = *reinterpret_cast<const Quad<Number>*>(work.b + at);
  if (work.after == After::add) x = *reinterpret_cast<const Quad<Number>*>(work.y + at);
  if (work.after == After::step) {
    x = *reinterpret_cast<const Quad<Number>*>(work.x + at);
    if (work.beta != Number{0}) d = *reinterpret_cast<const Quad<Number>*>(work.d + at);
    Quad<Number> moved{};
#pragma unroll
    for (int s = 0; s < S::room; ++s) {
      if (s >= height) continue;
      const Number factor = work.inverse[(row * height + r) * height + s];
      const auto rest = *reinterpret_cast<const Quad<Number>*>(work.b + (row * height + s) * work.columns + column);
#pragma unroll
      for (int c = 0; c < 4; ++c) moved.number[c] += factor * (rest.number[c] - sums[s][c]);
    }
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      moved.number[c] *= work.alpha;
      if (work.beta != Number{0}) moved.number[c] += work.beta * d.number[c];
      out.number[c] = x.number[c] + moved.number[c];
    }
    *reinterpret_cast<Quad<Number>*>(work.d + at) = moved;
  } else {
#pragma unroll
    for (int c = 0; c < 4; ++c)
      out.number[c] = work.after == After::residual ? b.number[c] - sums[r][c] : x.number[c] + sums[r][c];
  }
  *reinterpret_cast<Quad<Number>*>(work.y + at) = out;
}

/// Vectors in fours: a warp per row, whose lanes are `quads` fours of columns from `first` on, and as many blocks of
/// the row at once as there are lanes for. A number of the matrix serves four products, and x is read in whole lines.
template <class S, class Number>
__global__ void __launch_bounds__(threads) multiply_quads(RowWork<Number> work, int first, int quads) {
  const int height = S::height > 0 ? S::height : work.height, width = S::width > 0 ? S::width : work.width;
  const int lane = static_cast<int>(threadIdx.x) % 32, own = lane % quads, group = lane / quads, groups = 32 / quads;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= work.rows.rows) return;  // whole warps
  const std::int64_t start = work.rows.start[row];
  const std::int32_t n = work.rows.length(row);
  const Number* value = work.value + start * (height * width);
  const int column = (first + own) * 4;
  Number sums[S::room][4] = {};
#pragma unroll 2
  for (std::int32_t k = group < groups ? group : n; k < n; k += groups) {
    const std::int64_t entry = static_cast<std::int64_t>(work.rows.column[start + k]) * width;
#pragma unroll
    for (int c = 0; c < width; ++c) {
      const auto x = *reinterpret_cast<const Quad<Number>*>(work.x + (entry + c) * work.columns + column);
#pragma unroll
      for (int r = 0; r < S::room; ++r) {
        if (r >= height) continue;
        const Number factor = value[(r * n + k) * width + c];
#pragma unroll
        for (int q = 0; q < 4; ++q) sums[r][q] += factor * x.number[q];
      }
    }
  }
  // Every group gets the sums of all, in the order of the groups, and writes some rows of the result.
  if (groups > 1) {
#pragma unroll
    for (int r = 0; r < S::room; ++r) {
      if (r >= height) continue;
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        Number total = __shfl_sync(0xffffffffu, sums[r][q], own);
        for (int g = 1; g < groups; ++g) total += __shfl_sync(0xffffffffu, sums[r][q], own + g * quads);
        sums[r][q] = total;
      }
    }
  }
  if (group >= groups) return;
#pragma unroll
  for (int r = 0; r < S::room; ++r)
    if (r < height && r % groups == group) finish_quad<S>(work, row, r, column, height, sums);
}

/// Calls call(Shape) for the sizes of blocks that hierarchies are mostly made of.
template <class Call>
void for_shape(int height, int width, const Call& call) {
  switch (height * 16 + width) {
    case 1 * 16 + 1:
      return call(Shape<1, 1>{});
    case 2 * 16 + 2:
      return call(Shape<2, 2>{});
    case 2 * 16 + 3:
      return call(Shape<2, 3>{});
    case 3 * 16 + 2:
      return call(Shape<3, 2>{});
    case 3 * 16 + 3:
      return call(Shape<3, 3>{});
    case 3 * 16 + 6:
      return call(Shape<3, 6>{});
    case 6 * 16 + 3:
      return call(Shape<6, 3>{});
    case 6 * 16 + 6:
      return call(Shape<6, 6>{});
    default:
      return call(Shape<0, 0>{});
  }
}

template <class Number>
void enqueue_one(const RowWork<Number>& work, std::int64_t stretch, cudaStream_t stream) {
  for_shape(work.height, work.width, [&](auto shape) {
    using S = decltype(shape);
    // Where there are few rows, or long ones, more threads to each.
    if (stretch >= 1024 || (stretch >= 128 && work.rows.rows <= 4096))
      return launch(multiply_rows_by_blocks<S, Number>, Grid{work.rows.rows, threads, 0}, stream, work);
    const int lanes = stretch <= 24 ? fewest_lanes : stretch <= 160 ? 16 : 32;
    const int rows_of_block = threads / lanes;
    launch(multiply_rows<S, Number>, Grid{(work.rows.rows + rows_of_block - 1) / rows_of_block, threads, 0}, stream,
           work, lanes);
  });
}

template <class Number>
void enqueue_several(const RowWork<Number>& work, cudaStream_t stream) {
  for_shape(work.height, work.width, [&](auto shape) {
    for (int first = 0; first < work.columns; first += 32) {
      const int taken = work.columns - first < 32 ? work.columns - first : 32;
      int lanes = 1;
      while (lanes < taken) lanes *= 2;
      launch(multiply_columns<decltype(shape), Number>, grid_of_warps(work.rows.rows, warps), stream, work, first,
             taken, lanes);
    }
  });
}

template <class Number>
void enqueue_quads(const RowWork<Number>& work, cudaStream_t stream) {
  // As many passes as there must be, of about the same width.
  constexpr int most = 16;
  const int quads = work.columns / 4, passes = (quads + most - 1) / most;
  for_shape(work.height, work.width, [&](auto shape) {
    for (int pass = 0, first = 0; pass < passes; ++pass) {
      const int taken = (quads - first + passes - pass - 1) / (passes - pass);
      launch(multiply_quads<decltype(shape), Number>, grid_of_warps(work.rows.rows, warps), stream, work, first, taken);
      first += taken;
    }
  });
}

template <class Number>
void enqueue(const LevelMatrix& a, const RowWork<Number>& work, cudaStream_t stream) {
  if (work.columns == 1)
    enqueue_one(work, mean_length(a) * a.width, stream);
  else if (work.columns % 4 == 0)
    enqueue_quads(work, stream);
  else
    enqueue_several(work, stream);
}

template <class Number>
void require_vector(const LevelVector& x, std::int64_t rows, int columns, const char* what) {
  if (x.columns != columns) throw Error(ErrorCode::misuse, "multigrid: the vectors have different numbers of columns");
  require_numbers<Number>(x, rows * columns, what);
}

/// A matrix and a vector that fit each other, inside a section.
template <class Number>
RowWork<Number> work_of(const LevelMatrix& a, const LevelVector& x) {
  require_small_blocks(a.height, a.width);
  if (static_cast<std::int64_t>(a.columns) * a.width > INT32_MAX)
    throw Error(ErrorCode::misuse, "multigrid: a level of " + std::to_string(a.columns) + " blocks of " +
                                       std::to_string(a.width) + " columns has more than can be numbered by 32 bits");
  require_numbers<Number>(a, a.entries(), "a matrix");
  require_vector<Number>(x, static_cast<std::int64_t>(a.columns) * a.width, x.columns, "the vector of a product");
  RowWork<Number> work;
  work.rows = pattern_of(a);
  work.height = a.height;
  work.width = a.width;
  work.columns = x.columns;
  work.value = numbers<Number>(a).read_device();
  work.x = numbers<Number>(x).read_device();
  return work;
}

std::int64_t rows_in(const LevelMatrix& a) { return static_cast<std::int64_t>(a.rows) * a.height; }

}  // namespace

void CudaMultigrid::product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_vector<Number>(y, rows_in(a), x.columns, "the result of a product");
    DeviceSection section(*memory());
    RowWork<Number> work = work_of<Number>(a, x);
    work.y = numbers<Number>(y).write_device();
    enqueue(a, work, stream());
  });
}

void CudaMultigrid::add_product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_vector<Number>(y, rows_in(a), x.columns, "the result of a product");
    DeviceSection section(*memory());
    RowWork<Number> work = work_of<Number>(a, x);
    work.after = After::add;
    work.y = numbers<Number>(y).update_device();
    enqueue(a, work, stream());
  });
}

void CudaMultigrid::residual(const LevelMatrix& a, const LevelVector& x, const LevelVector& b, LevelVector& r) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_vector<Number>(b, rows_in(a), x.columns, "a right-hand side");
    require_vector<Number>(r, rows_in(a), x.columns, "a residual");
    DeviceSection section(*memory());
    RowWork<Number> work = work_of<Number>(a, x);
    work.after = After::residual;
    work.b = numbers<Number>(b).read_device();
    work.y = target_of<Number>(r, b);
    enqueue(a, work, stream());
  });
}

void CudaMultigrid::step(const LevelMatrix& a, const LevelDiagonal& inverse, const LevelVector& b, const LevelVector& x,
                         double alpha, double beta, LevelVector& d, LevelVector& next) {
  require_square(a, "a step of a smoother");
  if (inverse.size != a.height || &next == &x)
    throw Error(ErrorCode::misuse, "multigrid: a step needs the diagonal of its matrix and a vector for its result");
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::int64_t rows = rows_in(a);
    require_numbers<Number>(inverse, rows * a.height, "the inverse of a diagonal");
    require_vector<Number>(b, rows, x.columns, "a right-hand side");
    require_vector<Number>(d, rows, x.columns, "the last step");
    require_vector<Number>(next, rows, x.columns, "the result of a step");
    DeviceSection section(*memory());
    RowWork<Number> work = work_of<Number>(a, x);
    work.after = After::step;
    work.b = numbers<Number>(b).read_device();
    work.inverse = numbers<Number>(inverse).read_device();
    work.alpha = static_cast<Number>(alpha);
    work.beta = static_cast<Number>(beta);
    work.d = beta == 0 ? numbers<Number>(d).write_device() : numbers<Number>(d).update_device();
    work.y = numbers<Number>(next).write_device();
    enqueue(a, work, stream());
  });
}

}  // namespace voussoir::cuda
