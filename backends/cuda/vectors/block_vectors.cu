#include <algorithm>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/cuda/primitives/tensor_product.hpp>
#include <voussoir/backends/detail/checks.hpp>

// Products of tall, narrow matrices: blocks of vectors, entries of one equation side by side. A block of threads takes
// rows into shared memory with coalesced reads; a thread keeps a small tile of results in registers. Widths up to a
// tile of 64 columns are read once, wider ones once per tile. Blocks of eight columns and more are multiplied by warps
// with tensor cores (tensor_product.hpp), whose operands are read from memory as they are.

namespace voussoir::cuda {

namespace {

constexpr int width = 256;  // threads per block
constexpr int tile = 64;    // columns of a tile
constexpr int room = 4096;  // numbers in shared memory at a time
constexpr int most_parts = 396;
constexpr int fewest_rows = 128;

__host__ __device__ constexpr int cut(int whole, int piece) { return (whole + piece - 1) / piece; }
__host__ __device__ constexpr int least(int a, int b) { return a < b ? a : b; }

// --- Xᵀ Y ----------------------------------------------------------------------------------------------------------

/// Where a thread of block_dot stands: `across × down` threads hold a tile of results, `groups` such sets of threads
/// share the `rows` that are in shared memory at a time.
struct DotShape {
  int across, down, groups, rows, x_stride, y_stride;
};
template <int Height, int Width>
__host__ __device__ constexpr DotShape dot_shape(int m, int n) {
  const int across = cut(least(n, tile), Width), down = cut(least(m, tile), Height);
  const int x_stride = down * Height, y_stride = across * Width;
  return {across, down, width / (across * down), least(512, room / (x_stride + y_stride)), x_stride, y_stride};
}

/// Copies rows × columns of a tile to shared memory, and zeros up to `stride` columns.
__device__ inline void load_rows(const double* source, std::int64_t first_row, int rows, int all_columns,
                                 int first_column, int columns, int stride, double* target) {
  const int thread = static_cast<int>(threadIdx.x);
  if (columns == all_columns && columns == stride) {  // all of it side by side
    const double* const start = source + first_row * all_columns;
#pragma unroll 4
    for (int k = thread; k < rows * stride; k += width) target[k] = start[k];
    return;
  }
#pragma unroll 4
  for (int k = thread; k < rows * stride; k += width) {
    const int r = k / stride, c = k - r * stride;
    target[k] = c < columns ? source[(first_row + r) * all_columns + first_column + c] : 0.0;
  }
}

/// Xᵀ Y over one part of the rows, one tile of results: block = tile · parts + part. Threads hold Height × Width
/// results; the groups' results are added in order.
template <int Height, int Width>
__global__ void __launch_bounds__(width, 3)
    block_dot_parts(std::int64_t rows, std::int64_t rows_per_part, int parts, const double* x, int m, const double* y,
                    int n, double* partials) {
  VSR_DYNAMIC_SHARED(double, shared);
  const int part = static_cast<int>(blockIdx.x) % parts, place = static_cast<int>(blockIdx.x) / parts;
  const int tiles_across = cut(n, tile);
  const int top = place / tiles_across * tile, left = place % tiles_across * tile;
  const int height = least(tile, m - top), breadth = least(tile, n - left);
  const DotShape shape = dot_shape<Height, Width>(m, n);
  double* const xs = shared;
  double* const ys = shared + shape.rows * shape.x_stride;

  const int thread = static_cast<int>(threadIdx.x), set = shape.across * shape.down;
  const int group = thread / set, i0 = thread % set / shape.across * Height, j0 = thread % set % shape.across * Width;
  const bool works = group < shape.groups;
  double sum[Height][Width] = {};
  const std::int64_t first = part * rows_per_part;
  const std::int64_t end = first + rows_per_part < rows ? first + rows_per_part : rows;
  for (std::int64_t row = first; row < end; row += shape.rows) {
    const int count = static_cast<int>(end - row < shape.rows ? end - row : shape.rows);
    load_rows(x, row, count, m, top, height, shape.x_stride, xs);
    load_rows(y, row, count, n, left, breadth, shape.y_stride, ys);
    __syncthreads();
    if (works) {
#pragma unroll 2
      for (int r = group; r < count; r += shape.groups) {
        double a[Height], b[Width];
        for (int i = 0; i < Height; ++i) a[i] = xs[r * shape.x_stride + i0 + i];
        for (int j = 0; j < Width; ++j) b[j] = ys[r * shape.y_stride + j0 + j];
        for (int i = 0; i < Height; ++i)
          for (int j = 0; j < Width; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }

  // All groups' results side by side, then each result is added up over the groups.
  const int results_per_group = shape.x_stride * shape.y_stride;
  if (works)
    for (int i = 0; i < Height; ++i)
      for (int j = 0; j < Width; ++j)
        shared[group * results_per_group + (i0 + i) * shape.y_stride + j0 + j] = sum[i][j];
  __syncthreads();
  double* const results = partials + static_cast<std::int64_t>(part) * m * n;
  for (int k = thread; k < height * breadth; k += width) {
    const int i = k / breadth, j = k - i * breadth;
    double total = 0;
#pragma unroll 8
    for (int g = 0; g < shape.groups; ++g) total += shared[g * results_per_group + i * shape.y_stride + j];
    results[static_cast<std::int64_t>(top + i) * n + left + j] = total;
  }
}

/// Adds the parts, in order: a block takes 32 results, each warp a stretch of the parts.
__global__ void __launch_bounds__(width)
    add_parts(int parts, std::int64_t entries, const double* partials, double* result) {
  VSR_SHARED double sums[width / 32][33];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t entry = static_cast<std::int64_t>(blockIdx.x) * 32 + lane;
  const int stretch = cut(parts, width / 32), end = least(parts, (warp + 1) * stretch);
  double sum = 0;
  if (entry < entries) {
#pragma unroll 8
    for (int p = warp * stretch; p < end; ++p) sum += partials[p * entries + entry];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || entry >= entries) return;
  double total = 0;
  for (int w = 0; w < width / 32; ++w) total += sums[w][lane];
  result[entry] = total;
}

template <int Height, int Width>
void enqueue_block_dot(const std::shared_ptr<DeviceMemory>& memory, std::int64_t rows, const double* x, int m,
                       const double* y, int n, Array<double>& result) {
  // How many parts there are depends on the length alone, so the order of additions does too.
  const std::int64_t rows_per_part = std::max<std::int64_t>(fewest_rows, (rows + most_parts - 1) / most_parts);
  const auto parts = static_cast<int>(std::max<std::int64_t>(1, (rows + rows_per_part - 1) / rows_per_part));
  const std::int64_t entries = static_cast<std::int64_t>(m) * n;
  const DotShape shape = dot_shape<Height, Width>(m, n);
  const int results = shape.groups * shape.x_stride * shape.y_stride;
  const auto doubles = static_cast<std::size_t>(std::max(shape.rows * (shape.x_stride + shape.y_stride), results));
  Array<double> partials(memory, static_cast<std::size_t>(parts * entries));
  const std::int64_t tiles = static_cast<std::int64_t>(cut(m, tile)) * cut(n, tile);
  launch(block_dot_parts<Height, Width>, Grid{tiles * parts, width, doubles * sizeof(double)}, stream_of(memory), rows,
         rows_per_part, parts, x, m, y, n, partials.write_device());
  launch(add_parts, Grid{grid_for(entries, 32).blocks, width, 0}, stream_of(memory), parts, entries,
         partials.read_device(), result.write_device());
}

// --- Xᵀ Y with tensor cores ------------------------------------------------------------------------------------------

constexpr int warps = width / 32;
constexpr int side = 32;  // rows and columns of the results of a warp

/// Xᵀ Y over one part of the rows, one tile of results: block = tile · parts + part. Down × Across warps have results
/// of their own, and there are as many such sets of warps as fit, which take turns in fours of rows.
template <int Down, int Across>
__global__ void __launch_bounds__(width, 2)
    tensor_dot_parts(std::int64_t rows, std::int64_t rows_per_part, int parts, const double* x, int m, const double* y,
                     int n, double* partials) {
  constexpr int height = Down * side, breadth = Across * side, sets = warps / (Down * Across);
  VSR_SHARED double sums[height * breadth];
  const int part = static_cast<int>(blockIdx.x) % parts, place = static_cast<int>(blockIdx.x) / parts;
  const int tiles_across = cut(n, breadth);
  const int top = place / tiles_across * height, left = place % tiles_across * breadth;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int set = warp / (Down * Across), own = warp % (Down * Across);
  const int i0 = own / Across * side, j0 = own % Across * side;
  const std::int64_t first = part * rows_per_part;
  const std::int64_t end = first + rows_per_part < rows ? first + rows_per_part : rows;
  double c[4][4][2] = {};
#pragma unroll 2
  for (std::int64_t row = first + 4 * set; row < end; row += 4 * sets) {
    const std::int64_t at = row + lane % 4;
    double a[4], b[4];
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const int i = top + i0 + 8 * t + lane / 4, j = left + j0 + 8 * t + lane / 4;
      a[t] = at < end && i < m ? x[at * m + i] : 0.0;
      b[t] = at < end && j < n ? y[at * n + j] : 0.0;
    }
#pragma unroll
    for (int t = 0; t < 4; ++t)
#pragma unroll
      for (int u = 0; u < 4; ++u) multiply_add(c[t][u], a[t], b[u]);
  }
  // One set after the other.
  for (int turn = 0; turn < sets; ++turn) {
    if (turn == set) {
#pragma unroll
      for (int t = 0; t < 4; ++t)
#pragma unroll
        for (int u = 0; u < 4; ++u)
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            double& sum = sums[(i0 + 8 * t + lane / 4) * breadth + j0 + 8 * u + 2 * (lane % 4) + e];
            sum = turn == 0 ? c[t][u][e] : sum + c[t][u][e];
          }
    }
    __syncthreads();
  }
  double* const results = partials + static_cast<std::int64_t>(part) * m * n;
  for (int k = thread; k < height * breadth; k += width) {
    const int i = top + k / breadth, j = left + k % breadth;
    if (i < m && j < n) results[static_cast<std::int64_t>(i) * n + j] = sums[k];
  }
}

template <int Down, int Across>
void enqueue_tensor_dot(const std::shared_ptr<DeviceMemory>& memory, std::int64_t rows, const double* x, int m,
                        const double* y, int n, Array<double>& result) {
  // As in enqueue_block_dot(), the order of additions depends on the length alone.
  const std::int64_t rows_per_part = std::max<std::int64_t>(fewest_rows, (rows + most_parts - 1) / most_parts);
  const auto parts = static_cast<int>(std::max<std::int64_t>(1, (rows + rows_per_part - 1) / rows_per_part));
  const std::int64_t entries = static_cast<std::int64_t>(m) * n;
  const std::int64_t tiles = static_cast<std::int64_t>(cut(m, Down * side)) * cut(n, Across * side);
  Array<double> partials(memory, static_cast<std::size_t>(parts * entries));
  launch(tensor_dot_parts<Down, Across>, Grid{tiles * parts, width, 0}, stream_of(memory), rows, rows_per_part, parts,
         x, m, y, n, partials.write_device());
  launch(add_parts, Grid{grid_for(entries, 32).blocks, width, 0}, stream_of(memory), parts, entries,
         partials.read_device(), result.write_device());
}

// --- Y += X C ------------------------------------------------------------------------------------------------------

/// Numbers that travel as arguments of a kernel: the host need not wait for a copy of them.
struct Numbers {
  static constexpr int most = 448;
  double value[most];
};
__global__ void __launch_bounds__(width) store_numbers(Numbers numbers, int count, double* target) {
  for (int k = static_cast<int>(threadIdx.x); k < count; k += width) target[k] = numbers.value[k];
}

void enqueue_upload(std::span<const double> values, cudaStream_t stream, double* target) {
  for (std::size_t first = 0; first < values.size(); first += Numbers::most) {
    const std::size_t count = std::min<std::size_t>(Numbers::most, values.size() - first);
    Numbers numbers = {};
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), count, numbers.value);
    launch(store_numbers, Grid{1, width, 0}, stream, numbers, static_cast<int>(count), target + first);
  }
}

/// How block_axpy cuts its work: `across` threads side by side hold Width columns each of Height rows; `rows` rows and
/// `depth` columns of X are in shared memory at a time.
struct AxpyShape {
  int across, groups, rows, depth, stride;
};
template <int Height, int Width>
__host__ __device__ constexpr AxpyShape axpy_shape(int m, int n) {
  const int across = cut(least(n, tile), Width), groups = width / across, rows = groups * Height;
  const int fits = room / rows < 1 ? 1 : room / rows, depth = least(least(m, tile), fits);
  return {across, groups, rows, depth, depth | 1};  // an odd stride keeps rows in different banks
}

/// Y += X C, a block of rows and a tile of columns: block = rows · tiles + tile.
template <int Height, int Width>
__global__ void __launch_bounds__(width, 2)
    block_axpy_rows(std::int64_t rows, const double* x, int m, const double* c, double* y, int n) {
  VSR_DYNAMIC_SHARED(double, shared);
  const AxpyShape shape = axpy_shape<Height, Width>(m, n);
  const int tiles = cut(n, tile), left = static_cast<int>(blockIdx.x) % tiles * tile;
  const std::int64_t first = static_cast<std::int64_t>(static_cast<int>(blockIdx.x) / tiles) * shape.rows;
  const int breadth = least(tile, n - left), c_stride = shape.across * Width;
  const int count = static_cast<int>(rows - first < shape.rows ? rows - first : shape.rows);
  double* const xs = shared;
  double* const cs = shared + shape.rows * shape.stride;

  const int thread = static_cast<int>(threadIdx.x);
  const int group = thread / shape.across, j0 = thread % shape.across * Width;
  const bool works = group < shape.groups;
  double sum[Height][Width] = {};
  for (int k0 = 0; k0 < m; k0 += shape.depth) {
    const int depth = least(shape.depth, m - k0);
    for (int k = thread; k < shape.rows * depth; k += width) {
      const int r = k / depth, i = k - r * depth;
      xs[r * shape.stride + i] = r < count ? x[(first + r) * m + k0 + i] : 0.0;
    }
    for (int k = thread; k < depth * c_stride; k += width) {
      const int i = k / c_stride, j = k - i * c_stride;
      cs[k] = j < breadth ? c[static_cast<std::int64_t>(k0 + i) * n + left + j] : 0.0;
    }
    __syncthreads();
    if (works)
      for (int k = 0; k < depth; ++k) {
        double a[Height], b[Width];
        for (int i = 0; i < Height; ++i) a[i] = xs[(group + i * shape.groups) * shape.stride + k];
        for (int j = 0; j < Width; ++j) b[j] = cs[k * c_stride + j0 + j];
        for (int i = 0; i < Height; ++i)
          for (int j = 0; j < Width; ++j) sum[i][j] += a[i] * b[j];
      }
    __syncthreads();
  }
  if (!works) return;
  for (int i = 0; i < Height; ++i) {
    const int r = group + i * shape.groups;
    if (r >= count) continue;
    double* const target = y + (first + r) * n + left + j0;
    for (int j = 0; j < Width; ++j)
      if (j0 + j < breadth) target[j] += sum[i][j];
  }
}

template <int Height, int Width>
void enqueue_block_axpy(cudaStream_t stream, std::int64_t rows, const double* x, int m, const double* c, double* y,
                        int n) {
  const AxpyShape shape = axpy_shape<Height, Width>(m, n);
  const auto doubles = static_cast<std::size_t>(shape.rows * shape.stride + shape.depth * shape.across * Width);
  const std::int64_t blocks = (rows + shape.rows - 1) / shape.rows * cut(n, tile);
  launch(block_axpy_rows<Height, Width>, Grid{blocks, width, doubles * sizeof(double)}, stream, rows, x, m, c, y, n);
}

// --- Y += X C with tensor cores --------------------------------------------------------------------------------------

constexpr int panel_tiles = 8;                     // tiles of eight columns of Y that a warp has in registers
constexpr int panel_stride = 8 * panel_tiles + 2;  // of C in shared memory: lanes read different banks
constexpr int most_depth = 192;                    // rows of C in shared memory
constexpr int warp_rows = 16, block_rows = warps * warp_rows;
constexpr int most_axpy_blocks = 1056;

/// Two neighbouring numbers, read at once.
struct alignas(16) Pair {
  double number[2];
};

/// Y += X C for a panel of columns; block = rows · panels + panel. C has `depth` rows from `first_k` on. The summation
/// index runs over 8 q + 2 (lane % 4) + s, s = 0, 1, so that a lane reads neighbours of X.
__global__ void __launch_bounds__(width, 2)
    tensor_axpy(std::int64_t rows, const double* x, int m, int first_k, int depth, const double* c, double* y, int n,
                int panels, int tiles_of_panel) {
  VSR_DYNAMIC_SHARED(double, cs);
  const int panel = static_cast<int>(blockIdx.x) % panels, blocks = static_cast<int>(gridDim.x) / panels;
  const int left = panel * tiles_of_panel * 8, breadth = least(tiles_of_panel * 8, n - left), tiles = cut(breadth, 8);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int steps = cut(depth, 8);
  for (int k = thread; k < steps * 8 * panel_stride; k += width) {
    const int i = k / panel_stride, j = k - i * panel_stride;
    cs[k] = i < depth && j < breadth ? c[static_cast<std::int64_t>(first_k + i) * n + left + j] : 0.0;
  }
  __syncthreads();
  const bool even = m % 2 == 0 && first_k % 2 == 0;
  for (std::int64_t group = static_cast<int>(blockIdx.x) / panels; group * block_rows < rows; group += blocks) {
    const std::int64_t row0 = group * block_rows + warp * warp_rows + lane / 4, row1 = row0 + 8;
    double sum[2][panel_tiles][2] = {};
#pragma unroll 2
    for (int q = 0; q < steps; ++q) {
      const int k = 8 * q + 2 * (lane % 4);
      Pair a[2] = {};
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        const std::int64_t row = t == 0 ? row0 : row1;
        if (row >= rows) continue;
        const double* from = x + row * m + first_k + k;
        if (even && k + 1 < depth) {
          a[t] = *reinterpret_cast<const Pair*>(from);
        } else {
          if (k < depth) a[t].number[0] = from[0];
          if (k + 1 < depth) a[t].number[1] = from[1];
        }
      }
#pragma unroll
      for (int j = 0; j < panel_tiles; ++j) {
        if (j >= tiles) continue;
#pragma unroll
        for (int s = 0; s < 2; ++s) {
          const double b = cs[(k + s) * panel_stride + 8 * j + lane / 4];
          multiply_add(sum[0][j], a[0].number[s], b);
          multiply_add(sum[1][j], a[1].number[s], b);
        }
      }
    }
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      const std::int64_t row = t == 0 ? row0 : row1;
      if (row >= rows) continue;
#pragma unroll
      for (int j = 0; j < panel_tiles; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int column = 8 * j + 2 * (lane % 4) + e;
          if (column < breadth) y[row * n + left + column] += sum[t][j][e];
        }
    }
  }
}

void enqueue_tensor_axpy(cudaStream_t stream, std::int64_t rows, const double* x, int m, const double* c, double* y,
                         int n) {
  const int tiles = cut(n, 8), panels = cut(tiles, panel_tiles), tiles_of_panel = cut(tiles, panels);
  const std::int64_t groups = (rows + block_rows - 1) / block_rows;
  const std::int64_t blocks = std::min<std::int64_t>(groups, most_axpy_blocks) * panels;
  for (int first = 0; first < m; first += most_depth) {
    const int depth = std::min(most_depth, m - first);
    const std::size_t bytes = static_cast<std::size_t>(cut(depth, 8)) * 8 * panel_stride * sizeof(double);
    launch(tensor_axpy, Grid{blocks, width, bytes}, stream, rows, x, m, first, depth, c, y, n, panels, tiles_of_panel);
  }
}

}  // namespace

void CudaBackend::block_dot(const Vector& x, const Vector& y, std::span<double> result) {
  voussoir::detail::require_own(*this, x, "block_dot");
  voussoir::detail::require_layout(*x.layout(), y, "block_dot");
  const int m = x.columns(), n = y.columns();
  const auto entries = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  if (result.size() != entries)
    throw Error(ErrorCode::misuse,
                "block_dot: " + std::to_string(result.size()) + " places for " + std::to_string(entries) + " products");
  std::vector<Array<double>> shares;
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    shares.emplace_back(memory(d), entries);
    const double* px = x.part(d).read_device();
    const double* py = y.part(d).read_device();
    const std::int64_t rows = x.layout()->owned(d);
    const auto enqueue = m >= 8 && n >= 8 ? (m > side && n > side ? enqueue_tensor_dot<2, 2>
                                             : m > side           ? enqueue_tensor_dot<2, 1>
                                             : n > side           ? enqueue_tensor_dot<1, 2>
                                                                  : enqueue_tensor_dot<1, 1>)
                         : m >= 3         ? (n >= 3 ? enqueue_block_dot<4, 4> : enqueue_block_dot<4, 1>)
                                          : (n >= 3 ? enqueue_block_dot<1, 4> : enqueue_block_dot<1, 1>);
    enqueue(memory(d), rows, px, m, py, n, shares.back());
  }
  std::fill(result.begin(), result.end(), 0.0);
  for (const Array<double>& share : shares) {
    const auto values = share.read_host();
    for (std::size_t k = 0; k < entries; ++k) result[k] += values[k];
  }
}

void CudaBackend::block_axpy(const Vector& x, std::span<const double> c, Vector& y) {
  voussoir::detail::require_own(*this, x, "block_axpy");
  voussoir::detail::require_layout(*x.layout(), y, "block_axpy");
  const int m = x.columns(), n = y.columns();
  if (&x == &y) throw Error(ErrorCode::misuse, "block_axpy: the two blocks of vectors must be different objects");
  if (c.size() != static_cast<std::size_t>(m) * static_cast<std::size_t>(n))
    throw Error(ErrorCode::misuse, "block_axpy: " + std::to_string(c.size()) + " factors where " + std::to_string(m) +
                                       " × " + std::to_string(n) + " are needed");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const cudaStream_t stream = stream_of(memory(d));
    Array<double> factors(memory(d), c.size());
    enqueue_upload(c, stream, factors.write_device());
    const double* px = x.part(d).read_device();
    double* py = y.part(d).update_device();
    const auto enqueue = m >= 8 && n >= 8 ? enqueue_tensor_axpy
                         : n >= 3         ? enqueue_block_axpy<4, 4>
                                          : enqueue_block_axpy<1, 1>;
    enqueue(stream, x.layout()->owned(d), px, m, factors.read_device(), py, n);
  }
}

}  // namespace voussoir::cuda
