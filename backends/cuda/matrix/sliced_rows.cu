#include <voussoir/backends/cuda/matrix/sliced_rows.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include <voussoir/backends/cuda/primitives/bitonic_sort.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>

// Sorting of rows by length, and the slices that they are cut in.

namespace voussoir::cuda {

namespace {

/// Where the results of sorting go.
struct SortedRows {
  std::int32_t* row;
  std::int32_t* length;
  std::int32_t* place;
  std::uint32_t* width;         // per slice
  unsigned long long* entries;  // lengths of all rows
};

/// Sorts the rows of a window, longest first; equally long ones keep their order.
template <int Window>
__global__ void __launch_bounds__(Window / 2)
    sort_window_rows(std::int32_t rows, const std::int32_t* length_of_row, SortedRows out) {
  constexpr int threads = Window / 2;
  VSR_SHARED unsigned long long keys[Window];
  constexpr unsigned long long nothing = ~0ull;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * Window;
  for (int i = static_cast<int>(threadIdx.x); i < Window; i += threads) {
    const std::int64_t row = first + i;
    keys[i] = row < rows
                  ? static_cast<unsigned long long>(0xffffffffu - static_cast<unsigned>(length_of_row[row])) << 32 |
                        static_cast<unsigned long long>(row)
                  : nothing;
  }
  sort_keys(BlockGroup{}, keys, Window);
  const std::int64_t places = (static_cast<std::int64_t>(rows) + slice_rows - 1) / slice_rows * slice_rows;
  for (int i = static_cast<int>(threadIdx.x); i < Window; i += threads) {
    const std::int64_t p = first + i;
    if (p >= places) continue;  // whole warps: there are 32 places to a slice
    const bool there = keys[i] != nothing;
    const auto row = there ? static_cast<std::int32_t>(keys[i] & 0xffffffffull) : -1;
    const auto length = there ? static_cast<std::int32_t>(0xffffffffu - static_cast<unsigned>(keys[i] >> 32)) : 0;
    out.row[p] = row;
    out.length[p] = length;
    if (there) out.place[row] = static_cast<std::int32_t>(p);
    auto sum = static_cast<unsigned long long>(length);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (p % slice_rows == 0) {
      out.width[p / slice_rows] = static_cast<std::uint32_t>(length);
      atomicAdd(out.entries, sum);
    }
  }
}

constexpr int boundary_threads = 128;

/// reaches[slice] = 1 where a row has a column of another device; all such lanes write the same. A thread per place.
__global__ void __launch_bounds__(boundary_threads) find_boundary_slices(SlicedView rows, std::int32_t* reaches) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * boundary_threads + threadIdx.x;
  const std::int64_t slice = p / slice_rows;
  if (slice >= rows.slices || rows.row[p] < 0) return;
  const std::int32_t* column = rows.column + static_cast<std::int64_t>(rows.slice_first[slice]) * slice_rows;
  for (std::int32_t k = 0; k < rows.length[p]; ++k)
    if (column[std::int64_t{k} * slice_rows + p % slice_rows] >= rows.rows) {
      reaches[slice] = 1;
      return;
    }
}

}  // namespace

std::int32_t interior_slices(const SlicedRows& rows, const std::shared_ptr<DeviceMemory>& memory) {
  if (rows.interior_slices >= 0) return rows.interior_slices;
  rows.interior_slices = 0;
  if (rows.slices == 0 || !rows.long_slices.empty()) return 0;
  Array<std::int32_t> reaches(memory, static_cast<std::size_t>(rows.slices));
  {
    DeviceSection section(*memory);
    const cudaStream_t stream = stream_of(memory);
    std::int32_t* target = reaches.write_device();
    fill_bytes_async(target, 0, reaches.bytes(), stream);
    launch(find_boundary_slices, grid_for(std::int64_t{rows.slices} * slice_rows, boundary_threads), stream,
           rows.view(), target);
  }
  const auto found = reaches.read_host();
  rows.interior_slices = static_cast<std::int32_t>(std::find(found.begin(), found.end(), 1) - found.begin());
  return rows.interior_slices;
}

SlicedView SlicedRows::view() const {
  return {rows,
          slices,
          slice_first.read_device(),
          row.read_device(),
          length.read_device(),
          place.read_device(),
          column.read_device()};
}

std::size_t SlicedRows::bytes() const {
  return slice_first.bytes() + row.bytes() + length.bytes() + place.bytes() + column.bytes() + long_slices.bytes();
}

std::uint32_t fetch(const std::shared_ptr<DeviceMemory>& memory, const std::uint32_t* number) {
  std::uint32_t value = 0;
  const CudaMemory& cuda = cuda_memory(memory);
  copy_async(cuda.results(), number, sizeof value, cuda.stream());
  synchronize(cuda.stream());
  std::memcpy(&value, cuda.results(), sizeof value);
  return value;
}

SlicedRows make_slices(const std::shared_ptr<DeviceMemory>& memory, std::int32_t rows, const std::int32_t* length,
                       int window) {
  SlicedRows sliced;
  sliced.rows = rows;
  sliced.slices = (rows + slice_rows - 1) / slice_rows;
  const std::size_t places = static_cast<std::size_t>(sliced.slices) * slice_rows;
  sliced.slice_first = Array<std::uint32_t>(memory, static_cast<std::size_t>(sliced.slices) + 1);
  sliced.row = Array<std::int32_t>(memory, places);
  sliced.length = Array<std::int32_t>(memory, places);
  sliced.place = Array<std::int32_t>(memory, static_cast<std::size_t>(rows));
  std::uint32_t* first = sliced.slice_first.write_device();
  Array<unsigned long long> entries(memory, 1);
  const SortedRows out{sliced.row.write_device(), sliced.length.write_device(), sliced.place.write_device(), first,
                       entries.write_device()};
  fill_bytes_async(out.entries, 0, sizeof *out.entries, stream_of(memory));
  launch(window == tile_rows ? sort_window_rows<tile_rows> : sort_window_rows<sort_window>,
         Grid{(rows + window - 1) / window, window / 2, 0}, stream_of(memory), rows, length, out);
  exclusive_sums(first, sliced.slices, memory);
  const auto firsts = sliced.slice_first.read_host();
  sliced.cells = firsts.back();
  std::vector<std::int32_t> wide;
  for (std::int32_t s = 0; s < sliced.slices; ++s)
    if (firsts[static_cast<std::size_t>(s) + 1] - firsts[static_cast<std::size_t>(s)] > long_width) wide.push_back(s);
  if (static_cast<std::int32_t>(wide.size()) <= most_long_slices)
    sliced.long_slices = Array<std::int32_t>(memory, wide);
  sliced.slice_first.drop_host_mirror();
  sliced.entries = static_cast<std::int64_t>(entries.read_host()[0]);
  sliced.column = Array<std::int32_t>(memory, sliced.room());
  return sliced;
}

}  // namespace voussoir::cuda
