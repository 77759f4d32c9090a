#include <voussoir/backends/openmp/dense/cpu_dense_blocks.hpp>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/detail/dense_block_rows.hpp>

namespace voussoir::cpu {
namespace {

/// Σ row[k] · x[column[k]] of one column of x: eight running sums, as SIMD lanes take them.
double gathered_dot(const double* row, const std::int32_t* column, std::int32_t n, const double* x, int columns) {
  double sum[8] = {};
  std::int32_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int lane = 0; lane < 8; ++lane)
      sum[lane] += row[k + lane] * x[static_cast<std::ptrdiff_t>(column[k + lane]) * columns];
  for (int lane = 0; k < n; ++k, ++lane) sum[lane] += row[k] * x[static_cast<std::ptrdiff_t>(column[k]) * columns];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

class CpuBlockSum final : public voussoir::detail::DenseBlockSum {
 public:
  using DenseBlockSum::DenseBlockSum;

 private:
  void multiply(int device, const voussoir::detail::DenseBlockRows& rows, const Vector& x, Vector& y) const override {
    const DeviceSection section(*layout()->memory(device));
    const std::int64_t* const row_start = rows.row_start.read_device();
    const std::int64_t* const value_start = rows.value_start.read_device();
    const std::int32_t* const column_start = rows.column_start.read_device();
    const std::int32_t* const length = rows.length.read_device();
    const std::int32_t* const column = rows.column.read_device();
    const double* const value = rows.value.read_device();
    const double* const in = x.part(device).read_device();
    double* const out = y.part(device).write_device();
    const int columns = x.columns(), threads = backend().threads();
#pragma omp parallel for num_threads(threads) schedule(static, 16)
    for (std::int32_t i = 0; i < rows.equations; ++i)
      for (int c = 0; c < columns; ++c) {
        double sum = 0;
        for (std::int64_t r = row_start[i]; r < row_start[i + 1]; ++r)
          sum += gathered_dot(value + value_start[r], column + column_start[r], length[r], in + c, columns);
        out[static_cast<std::ptrdiff_t>(i) * columns + c] = sum;
      }
  }
};

class CpuDenseBlocks final : public DenseBlockServices {
 public:
  std::unique_ptr<Operator> make_block_sum(Backend& backend, std::shared_ptr<const Layout> layout,
                                           std::span<const DenseBlock> blocks) override {
    return std::make_unique<CpuBlockSum>(backend, std::move(layout), blocks);
  }
};

}  // namespace

DenseBlockServices& dense_block_services() {
  static CpuDenseBlocks services;
  return services;
}

}  // namespace voussoir::cpu
