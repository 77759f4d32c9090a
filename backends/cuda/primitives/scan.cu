#include <voussoir/backends/cuda/primitives/scan.hpp>

#include <voussoir/backends/array.hpp>

// Running sums of a whole array: of stretches, of the stretches' totals, and both together.

namespace voussoir::cuda {

namespace {

constexpr int scan_threads = 256;
constexpr int scan_items = 8;
constexpr std::int64_t scan_share = scan_threads * scan_items;

/// Sum of the values of all threads before this one in the block; `total` gets the sum of all. All threads call.
template <class Number>
__device__ Number sum_before(Number value, Number& total) {
  VSR_SHARED Number warps[scan_threads / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  Number sum = value;
  for (int step = 1; step < 32; step *= 2) {
    const Number other = __shfl_up_sync(0xffffffffu, sum, static_cast<unsigned>(step));
    if (lane >= step) sum += other;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  Number before = 0;
  total = 0;
  for (int w = 0; w < scan_threads / 32; ++w) {
    if (w < warp) before += warps[w];
    total += warps[w];
  }
  __syncthreads();
  return before + sum - value;
}

/// Sums of stretches of `scan_share` values.
template <class Number>
__global__ void sum_stretches(const Number* values, std::int64_t count, Number* sums) {
  const std::int64_t first = blockIdx.x * scan_share;
  Number sum = 0;
  for (int k = 0; k < scan_items; ++k) {
    const std::int64_t i = first + k * scan_threads + threadIdx.x;
    if (i < count) sum += values[i];
  }
  Number total;
  sum_before(sum, total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

/// Exclusive sums of `count` values by one block.
template <class Number>
__global__ void scan_by_one_block(Number* values, std::int64_t count) {
  Number before = 0;
  for (std::int64_t first = 0; first < count; first += scan_threads) {
    const std::int64_t i = first + threadIdx.x;
    const Number value = i < count ? values[i] : 0;
    Number total;
    const Number mine = sum_before(value, total);
    if (i < count) values[i] = before + mine;
    before += total;
  }
}

/// Exclusive sums within a stretch, from what stands before it.
template <class Number>
__global__ void scan_stretches(Number* values, std::int64_t count, const Number* before) {
  const std::int64_t first = blockIdx.x * scan_share + static_cast<std::int64_t>(threadIdx.x) * scan_items;
  Number own[scan_items], sum = 0;
  for (int k = 0; k < scan_items; ++k) {
    own[k] = first + k < count ? values[first + k] : 0;
    sum += own[k];
  }
  Number total;
  Number at = before[blockIdx.x] + sum_before(sum, total);
  for (int k = 0; k < scan_items; ++k) {
    if (first + k < count) values[first + k] = at;
    at += own[k];
    if (first + k == count - 1) values[count] = at;
  }
}

template <class Number>
void scan(Number* values, std::int64_t count, const std::shared_ptr<DeviceMemory>& memory) {
  const cudaStream_t stream = stream_of(memory);
  if (count == 0) {
    fill_bytes_async(values, 0, sizeof(Number), stream);
    return;
  }
  const std::int64_t stretches = (count + scan_share - 1) / scan_share;
  Array<Number> sums(memory, static_cast<std::size_t>(stretches));
  Number* before = sums.write_device();
  launch(sum_stretches<Number>, Grid{stretches, scan_threads, 0}, stream, values, count, before);
  launch(scan_by_one_block<Number>, Grid{1, scan_threads, 0}, stream, before, stretches);
  launch(scan_stretches<Number>, Grid{stretches, scan_threads, 0}, stream, values, count, before);
}

}  // namespace

void exclusive_sums(std::uint32_t* values, std::int64_t count, const std::shared_ptr<DeviceMemory>& memory) {
  scan(values, count, memory);
}
void exclusive_sums(std::int64_t* values, std::int64_t count, const std::shared_ptr<DeviceMemory>& memory) {
  scan(values, count, memory);
}

}  // namespace voussoir::cuda
