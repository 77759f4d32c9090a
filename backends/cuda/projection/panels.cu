#include <voussoir/backends/cuda/projection/panels.hpp>

#include <algorithm>

#include <voussoir/backends/cuda/runtime/runtime.hpp>

namespace voussoir::cuda {

namespace {

/// Adds the sums of blocks, in order: a block of threads takes 32 numbers of a panel, each warp a stretch of the
/// blocks.
__global__ void __launch_bounds__(projection_threads)
    add_blocks(std::int64_t numbers, const double* sums, double* total) {
  VSR_SHARED double shares[projection_warps][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  constexpr int stretch = (projection_blocks + projection_warps - 1) / projection_warps;
  const std::int64_t entry = static_cast<std::int64_t>(blockIdx.x) * 32 + lane;
  const int begin = warp * stretch, end = begin + stretch < projection_blocks ? begin + stretch : projection_blocks;
  double sum = 0;
#pragma unroll 8
  for (int b = begin; b < end; ++b) sum += sums[b * numbers + entry];
  shares[warp][lane] = sum;
  __syncthreads();
  if (warp > 0) return;
  for (int w = 1; w < projection_warps; ++w) sum += shares[w][lane];
  total[entry] = sum;
}

}  // namespace

std::vector<Panel> upper_panels(int columns) {
  std::vector<Panel> panels;
  for (int top = 0; top < columns; top += panel_columns) {
    panels.push_back({top, top, panel_columns});
    for (int left = top + panel_columns; left < columns; left += panel_columns / 2)
      panels.push_back({top, left, panel_columns / 2});
  }
  return panels;
}

std::vector<Panel> all_panels(int columns) {
  std::vector<Panel> panels;
  for (int top = 0; top < columns; top += panel_columns)
    for (int left = 0; left < columns; left += panel_columns) panels.push_back({top, left, panel_columns});
  return panels;
}

PanelSums::PanelSums(std::vector<Panel> panels, const std::shared_ptr<DeviceMemory>& memory)
    : panels_(std::move(panels)), start_(1, 0), memory_(memory) {
  for (const Panel& panel : panels_) start_.push_back(start_.back() + std::int64_t{panel_columns} * panel.width);
  sums_ = Array<double>(memory, static_cast<std::size_t>(start_.back()) * projection_blocks);
  fill_bytes_async(sums_.write_device(), 0, sums_.bytes(), stream_of(memory));
}

void PanelSums::enqueue_total() {
  total_ = Array<double>(memory_, static_cast<std::size_t>(start_.back()));
  double* total = total_.write_device();
  const double* sums = sums_.read_device();
  for (std::size_t p = 0; p < panels_.size(); ++p) {
    const std::int64_t numbers = start_[p + 1] - start_[p];
    launch(add_blocks, Grid{numbers / 32, projection_threads, 0}, stream_of(memory_), numbers,
           sums + start_[p] * projection_blocks, total + start_[p]);
  }
}

void PanelSums::add_to(std::span<double> result, int n) const {
  const auto total = total_.read_host();
  for (std::size_t p = 0; p < panels_.size(); ++p) {
    const Panel& panel = panels_[p];
    const double* own = total.data() + start_[p];
    for (int i = 0; i < std::min(panel_columns, n - panel.top); ++i)
      for (int j = 0; j < std::min(panel.width, n - panel.left); ++j)
        result[static_cast<std::size_t>(panel.top + i) * static_cast<std::size_t>(n) +
               static_cast<std::size_t>(panel.left + j)] += own[i * panel.width + j];
  }
}

}  // namespace voussoir::cuda
