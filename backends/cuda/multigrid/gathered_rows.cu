#include <vector>

#include <voussoir/backends/cuda/multigrid/block_rows.hpp>
#include <voussoir/backends/cuda/multigrid/device_copies.hpp>
#include <voussoir/backends/cuda/multigrid/finest_rows.hpp>
#include <voussoir/backends/cuda/multigrid/level_rows.hpp>

// The block rows of a matrix that is spread over several devices. Each device lists its rows, and they follow each
// other on the first one. Nothing visits the host but the number of blocks.

namespace voussoir::cuda {

namespace {

__global__ void shift(std::int64_t count, std::int64_t by, std::int64_t* values) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) values[i] += by;
}

/// The pattern of a device's share, with the numbers that its block columns have among all.
BlockRowPattern pattern_of_share(const CudaSparseMatrix& matrix, int device) {
  const Layout& layout = *matrix.layout();
  const auto& memory = layout.memory(device);
  const int b = matrix.block_size();
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(layout.ghosts(device) / b));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] =
        static_cast<std::int32_t>(layout.global(device, layout.owned(device) + static_cast<std::int32_t>(i) * b) / b);
  if (numbers.empty()) numbers.push_back(0);  // never read
  const Array<std::int32_t> others(memory, std::span<const std::int32_t>(numbers));
  DeviceSection section(*memory);
  return list_block_rows(
      matrix, device,
      {layout.owned(device) / b, static_cast<std::int32_t>(layout.first(device) / b), others.read_device()});
}

/// The numbers of a device's share to where they belong on the first device.
template <class Number>
void send_values(const CudaSparseMatrix& matrix, int device, const BlockRowPattern& pattern, Number* target) {
  const Layout& layout = *matrix.layout();
  const auto& memory = layout.memory(device);
  const std::size_t entries =
      pattern.column.size() * static_cast<std::size_t>(matrix.block_size() * matrix.block_size());
  DeviceSection section(*memory);
  if (device == 0)  // they come first
    return copy_block_rows(matrix, 0, pattern.start.read_device(), pattern.source.read_device(), target);
  Array<Number> values(memory, entries);
  copy_block_rows(matrix, device, pattern.start.read_device(), pattern.source.read_device(), values.write_device());
  send_to_first(layout, device, values.read_device(), entries, target);
}

}  // namespace

void take_gathered_rows(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory,
                        LevelMatrix& rows) {
  const Layout& layout = *matrix.layout();
  std::vector<BlockRowPattern> patterns;
  std::size_t blocks = 0;
  for (int d = 0; d < layout.devices(); ++d) {
    patterns.push_back(pattern_of_share(matrix, d));
    blocks += patterns.back().column.size();
  }
  rows.start = Array<std::int64_t>(memory, static_cast<std::size_t>(rows.rows) + 1);
  rows.column = Array<std::int32_t>(memory, blocks);
  rows.value = Array<double>(memory, static_cast<std::size_t>(rows.entries()));
  std::int64_t* start;
  std::int32_t* column;
  double* value;
  {
    DeviceSection section(*memory);
    start = rows.start.write_device();
    column = rows.column.write_device();
    value = rows.value.write_device();
  }
  const auto block_entries = static_cast<std::size_t>(rows.height * rows.width);
  std::size_t before = 0;
  for (int d = 0; d < layout.devices(); ++d) {
    BlockRowPattern& pattern = patterns[static_cast<std::size_t>(d)];
    send_values(matrix, d, pattern, value + before * block_entries);
    DeviceSection section(*layout.memory(d));
    send_to_first(layout, d, pattern.column.read_device(), pattern.column.size(), column + before);
    // The total of a device is where the next one begins.
    const auto count = static_cast<std::int64_t>(pattern.start.size());
    launch(shift, grid_for(count), stream_of(layout.memory(d)), count, static_cast<std::int64_t>(before),
           pattern.start.update_device());
    send_to_first(layout, d, pattern.start.read_device(), pattern.start.size(),
                  start + layout.first(d) / matrix.block_size());
    before += pattern.column.size();
    pattern = {};
  }
}

void refill_gathered_rows(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory,
                          LevelMatrix& rows) {
  const Layout& layout = *matrix.layout();
  const auto block_entries = static_cast<std::size_t>(rows.height * rows.width);
  std::size_t before = 0;
  for (int d = 0; d < layout.devices(); ++d) {
    const BlockRowPattern pattern = pattern_of_share(matrix, d);
    if (before + pattern.column.size() > rows.column.size()) break;
    const auto send = [&](auto& numbers) {
      auto* target = [&] {
        DeviceSection section(*memory);
        return d == 0 ? numbers.write_device() : numbers.update_device();
      }();
      send_values(matrix, d, pattern, target + before * block_entries);
    };
    if (rows.single_value.empty())
      send(rows.value);
    else
      send(rows.single_value);
    before += pattern.column.size();
    if (d + 1 == layout.devices() && before == rows.column.size()) return;
  }
  throw Error(ErrorCode::misuse, "multigrid: the matrix has another pattern than the one that its rows were made of");
}

}  // namespace voussoir::cuda
