#include <voussoir/backends/cuda/scan.hpp>

#include <voussoir/backends/array.hpp>

namespace voussoir::cuda {

namespace {

constexpr int scan_threads = 256;
constexpr int scan_items = 8;
constexpr std::int64_t scan_share = scan_threads * scan_items;

/// Sum of the values of all threads before this one in the block; `total` gets the sum of all. All threads call.
__device__ std::uint32_t sum_before(std::uint32_t value, std::uint32_t& total) {
  VSR_SHARED std::uint32_t warps[scan_threads / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  std::uint32_t sum = value;
  for (int step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(0xffffffffu, sum, static_cast<unsigned>(step));
    if (lane >= step) sum += other;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  std::uint32_t before = 0;
  total = 0;
  for (int w = 0; w < scan_threads / 32; ++w) {
    if (w < warp) before += warps[w];
    total += warps[w];
  }
  __syncthreads();
  return before + sum - value;
}

/// Sums of stretches of `scan_share` values.
__global__ void sum_stretches(const std::uint32_t* values, std::int64_t count, std::uint32_t* sums) {
  const std::int64_t first = blockIdx.x * scan_share;
  std::uint32_t sum = 0;
  for (int k = 0; k < scan_items; ++k) {
    const std::int64_t i = first + k * scan_threads + threadIdx.x;
    if (i < count) sum += values[i];
  }
  std::uint32_t total;
  sum_before(sum, total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

/// Exclusive sums of `count` values by one block.
__global__ void scan_by_one_block(std::uint32_t* values, std::int64_t count) {
  std::uint32_t before = 0;
  for (std::int64_t first = 0; first < count; first += scan_threads) {
    const std::int64_t i = first + threadIdx.x;
    const std::uint32_t value = i < count ? values[i] : 0;
    std::uint32_t total;
    const std::uint32_t mine = sum_before(value, total);
    if (i < count) values[i] = before + mine;
    before += total;
  }
}

/// Exclusive sums within a stretch, from what stands before it.
__global__ void scan_stretches(std::uint32_t* values, std::int64_t count, const std::uint32_t* before) {
  const std::int64_t first = blockIdx.x * scan_share + static_cast<std::int64_t>(threadIdx.x) * scan_items;
  std::uint32_t own[scan_items], sum = 0;
  for (int k = 0; k < scan_items; ++k) {
    own[k] = first + k < count ? values[first + k] : 0;
    sum += own[k];
  }
  std::uint32_t total;
  std::uint32_t at = before[blockIdx.x] + sum_before(sum, total);
  for (int k = 0; k < scan_items; ++k) {
    if (first + k < count) values[first + k] = at;
    at += own[k];
    if (first + k == count - 1) values[count] = at;
  }
}

}  // namespace

void exclusive_sums(std::uint32_t* values, std::int64_t count, const std::shared_ptr<DeviceMemory>& memory) {
  const cudaStream_t stream = stream_of(memory);
  if (count == 0) {
    fill_bytes_async(values, 0, sizeof(std::uint32_t), stream);
    return;
  }
  const std::int64_t stretches = (count + scan_share - 1) / scan_share;
  Array<std::uint32_t> sums(memory, static_cast<std::size_t>(stretches));
  std::uint32_t* before = sums.write_device();
  launch(sum_stretches, Grid{stretches, scan_threads, 0}, stream, values, count, before);
  launch(scan_by_one_block, Grid{1, scan_threads, 0}, stream, before, stretches);
  launch(scan_stretches, Grid{stretches, scan_threads, 0}, stream, values, count, before);
}

}  // namespace voussoir::cuda
