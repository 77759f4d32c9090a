#include <voussoir/backends/cuda/dense/cuda_dense_blocks.hpp>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/detail/dense_block_rows.hpp>

// A warp multiplies all rows of an equation, one block after the other: neighbouring lanes read neighbouring numbers,
// and the sums of the lanes are added in a fixed order.

namespace voussoir::cuda {
namespace {

constexpr int dense_threads = 256;
constexpr int dense_warps = dense_threads / 32;

/// Rows on a device, as plain arrays.
struct BlockRowView {
  std::int32_t equations = 0;
  const std::int64_t* row_start = nullptr;
  const std::int64_t* value_start = nullptr;
  const std::int32_t* column_start = nullptr;
  const std::int32_t* length = nullptr;
  const std::int32_t* column = nullptr;
  const double* value = nullptr;
};

__global__ void __launch_bounds__(dense_threads)
    multiply_dense_rows(BlockRowView rows, int columns, int c, const double* x, double* y) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * dense_warps + threadIdx.x / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= rows.equations) return;  // the whole warp
  double sum = 0;
  for (std::int64_t r = rows.row_start[i]; r < rows.row_start[i + 1]; ++r) {
    const double* const value = rows.value + rows.value_start[r];
    const std::int32_t* const column = rows.column + rows.column_start[r];
    const std::int32_t n = rows.length[r];
    for (std::int32_t k = lane; k < n; k += 32) sum += value[k] * x[static_cast<std::int64_t>(column[k]) * columns + c];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) y[i * columns + c] = sum;
}

class CudaBlockSum final : public voussoir::detail::DenseBlockSum {
 public:
  using DenseBlockSum::DenseBlockSum;
  CudaBlockSum(Backend& backend, std::shared_ptr<const Layout> layout, std::span<const DenseBlock> blocks)
      : DenseBlockSum(backend, std::move(layout), blocks) {
    for (auto& each : rows()) each.value.drop_host_mirror();
  }

 private:
  void multiply(int device, const voussoir::detail::DenseBlockRows& rows, const Vector& x, Vector& y) const override {
    const auto& memory = layout()->memory(device);
    const DeviceSection section(*memory);
    BlockRowView view;
    view.equations = rows.equations;
    view.row_start = rows.row_start.read_device();
    view.value_start = rows.value_start.read_device();
    view.column_start = rows.column_start.read_device();
    view.length = rows.length.read_device();
    view.column = rows.column.read_device();
    view.value = rows.value.read_device();
    const double* const in = x.part(device).read_device();
    double* const out = y.part(device).write_device();
    for (int c = 0; c < x.columns(); ++c)
      launch(multiply_dense_rows, Grid{(rows.equations + dense_warps - 1) / dense_warps, dense_threads, 0},
             stream_of(memory), view, x.columns(), c, in, out);
  }
};

class CudaDenseBlocks final : public DenseBlockServices {
 public:
  std::unique_ptr<Operator> make_block_sum(Backend& backend, std::shared_ptr<const Layout> layout,
                                           std::span<const DenseBlock> blocks) override {
    return std::make_unique<CudaBlockSum>(backend, std::move(layout), blocks);
  }
};

}  // namespace

std::unique_ptr<Operator> make_block_sum_of_rows(Backend& backend, std::shared_ptr<const Layout> layout,
                                                 std::vector<voussoir::detail::DenseBlockRows> rows,
                                                 std::string description) {
  return std::make_unique<CudaBlockSum>(backend, std::move(layout), std::move(rows), std::move(description));
}

DenseBlockServices& dense_block_services() {
  static CudaDenseBlocks services;
  return services;
}

}  // namespace voussoir::cuda
