#include <algorithm>
#include <string>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/matrix/diagonal_blocks.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/invert_block.hpp>

// Inverses of diagonal blocks, and products with them.

namespace voussoir::cuda {

using voussoir::detail::Inversion;

namespace {

/// What went wrong in the lowest block row that could not be inverted: row · 16 + place in the block · 2 + (not
/// finite).
using Trouble = unsigned long long;
constexpr Trouble no_trouble = ~0ULL;

/// The largest finite number of each block of threads.
__global__ void __launch_bounds__(sum_threads)
    largest_entries(std::int64_t count, const double* values, double* largest) {
  double mine = 0;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x; k < count;
       k += static_cast<std::int64_t>(gridDim.x) * sum_threads) {
    const double size = values[k] < 0 ? -values[k] : values[k];
    if (size - size == 0 && size > mine) mine = size;
  }
  VSR_SHARED double all[sum_threads];
  all[threadIdx.x] = mine;
  __syncthreads();
  for (int step = sum_threads / 2; step > 0; step /= 2) {
    if (static_cast<int>(threadIdx.x) < step && all[threadIdx.x + step] > all[threadIdx.x])
      all[threadIdx.x] = all[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) largest[blockIdx.x] = all[0];
}

__global__ void __launch_bounds__(128)
    invert_blocks(std::int64_t rows, int size, double tiny, double* blocks, Trouble* trouble) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 128 + threadIdx.x;
  if (row >= rows) return;
  double block[voussoir::detail::largest_block * voussoir::detail::largest_block];
  for (int k = 0; k < size * size; ++k) block[k] = blocks[row * size * size + k];
  int at = 0;
  const Inversion result = voussoir::detail::invert_block(block, size, tiny, at);
  if (result != Inversion::fine) {
    atomicMin(trouble, static_cast<Trouble>(row) * 16 + static_cast<Trouble>(at) * 2 +
                           (result == Inversion::not_finite ? 1 : 0));
    return;
  }
  for (int k = 0; k < size * size; ++k) blocks[row * size * size + k] = block[k];
}

__global__ void __launch_bounds__(256) make_single(std::int64_t count, const double* from, float* to) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (k < count) to[k] = static_cast<float>(from[k]);
}

/// z = D r, a thread per block row and column; the sum of r·z where `partials` is not null. r may be z.
template <int B>
__global__ void __launch_bounds__(sum_threads)
    apply_blocks(std::int64_t rows, int columns, DiagonalBlocks blocks, const double* r, double* z, double* partials,
                 unsigned* counter, double* result) {
  const std::int64_t items = rows * columns, step = static_cast<std::int64_t>(gridDim.x) * sum_threads;
  double sum = 0;
  for (std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x; item < items;
       item += step) {
    const std::int64_t row = columns == 1 ? item : item / columns, column = columns == 1 ? 0 : item - row * columns;
    double in[B], out[B];
#pragma unroll
    for (int i = 0; i < B; ++i) in[i] = r[(row * B + i) * columns + column];
    multiply_block<B>(blocks, row, in, out);
#pragma unroll
    for (int i = 0; i < B; ++i) {
      z[(row * B + i) * columns + column] = out[i];
      sum += in[i] * out[i];
    }
  }
  if (partials) finish_sum<sum_threads>(sum, partials, counter, result);
}

void require_diagonal(const BlockDiagonal& diagonal, const Vector& r, const Vector& z) {
  if (!diagonal.layout)
    throw Error(ErrorCode::misuse, "block diagonal: it has no layout; get it from block_diagonal()");
  voussoir::detail::require_layout(*diagonal.layout, r, "block diagonal");
  voussoir::detail::require_alike(r, z, "block diagonal");
}

void enqueue_blocks(const BlockDiagonal& diagonal, int device, const Vector& r, Vector& z, bool with_dot) {
  const auto& memory = diagonal.layout->memory(device);
  const CudaMemory& cuda = cuda_memory(memory);
  DeviceSection section(*memory);
  const DiagonalBlocks blocks = DiagonalBlocks::of(diagonal, device);
  const double* pr = r.part(device).read_device();
  double* pz = &r == &z ? z.part(device).update_device() : z.part(device).write_device();
  const std::int64_t rows = diagonal.layout->owned(device) / diagonal.block_size;
  const std::int64_t items = rows * r.columns();
  const Grid grid = with_dot ? grid_for_sum(items, 1) : grid_for(items, sum_threads);
  for_block_size(diagonal.block_size, [&](auto size) {
    launch(apply_blocks<decltype(size)::value>, grid, cuda.stream(), rows, r.columns(), blocks, pr, pz,
           with_dot ? cuda.partials() : nullptr, cuda.counter(), cuda.results());
  });
}

}  // namespace

void CudaBackend::invert(BlockDiagonal& diagonal) {
  if (!diagonal.single_blocks.empty())
    throw Error(ErrorCode::misuse, "block diagonal: invert it before converting it to single precision");
  const int b = diagonal.block_size;
  // "Tiny" is meant against the largest entry of all: a node that only rounding holds is not held.
  double largest = 0;
  for (int d = 0; d < devices(); ++d) {
    const Array<double>& part = diagonal.blocks[static_cast<std::size_t>(d)];
    if (part.empty()) continue;
    Array<double> sizes(memory(d),
                        static_cast<std::size_t>(grid_for_sum(static_cast<std::int64_t>(part.size())).blocks));
    {
      DeviceSection section(*memory(d));
      launch(largest_entries, grid_for_sum(static_cast<std::int64_t>(part.size())), stream_of(memory(d)), part.size(),
             part.read_device(), sizes.write_device());
    }
    for (const double size : sizes.read_host()) largest = std::max(largest, size);
  }
  const double tiny = 1e-20 * largest;
  for (int d = 0; d < devices(); ++d) {
    Array<double>& part = diagonal.blocks[static_cast<std::size_t>(d)];
    const auto rows = static_cast<std::int64_t>(part.size()) / (b * b);
    Array<Trouble> trouble(memory(d), 1);
    {
      DeviceSection section(*memory(d));
      fill_bytes_async(trouble.write_device(), 0xff, trouble.bytes(), stream_of(memory(d)));
      launch(invert_blocks, grid_for(rows, 128), stream_of(memory(d)), rows, b, tiny, part.update_device(),
             trouble.update_device());
    }
    const Trouble found = trouble.read_host()[0];
    if (found == no_trouble) continue;
    const auto equation = diagonal.layout->first(d) + static_cast<std::int64_t>(found / 16) * b +
                          static_cast<std::int64_t>(found % 16 / 2);
    const std::string where = "equation " + std::to_string(equation);
    if (found % 2 == 1) throw Error(ErrorCode::not_finite, "the matrix has a diagonal entry that is not finite", where);
    throw Error(ErrorCode::singular,
                "the matrix has no stiffness here; prescribe the unknown or connect its node to stiff elements", where);
  }
}

void CudaBackend::to_single(BlockDiagonal& diagonal) {
  if (!diagonal.single_blocks.empty()) return;
  std::vector<Array<float>> all;
  for (int d = 0; d < devices(); ++d) {
    const Array<double>& from = diagonal.blocks[static_cast<std::size_t>(d)];
    Array<float> to(memory(d), from.size());
    DeviceSection section(*memory(d));
    launch(make_single, grid_for(static_cast<std::int64_t>(from.size())), stream_of(memory(d)), from.size(),
           from.read_device(), to.write_device());
    all.push_back(std::move(to));
  }
  diagonal.single_blocks = std::move(all);
  diagonal.blocks.clear();
}

void CudaBackend::apply(const BlockDiagonal& diagonal, const Vector& r, Vector& z) {
  require_diagonal(diagonal, r, z);
  for (int d = 0; d < devices(); ++d) enqueue_blocks(diagonal, d, r, z, false);
}

double CudaBackend::apply_dot(const BlockDiagonal& diagonal, const Vector& r, Vector& z) {
  require_diagonal(diagonal, r, z);
  if (&r == &z) throw Error(ErrorCode::misuse, "block diagonal: r·z needs two different vectors");
  for (int d = 0; d < devices(); ++d) enqueue_blocks(diagonal, d, r, z, true);
  double sum = 0;
  for (int d = 0; d < devices(); ++d) {
    const CudaMemory& cuda = cuda_memory(memory(d));
    cuda.wait();
    sum += cuda.results()[0];
  }
  return sum;
}

}  // namespace voussoir::cuda
