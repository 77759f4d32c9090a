#include <algorithm>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/cuda/stencils/jacobi_kernel.hpp>
#include <voussoir/backends/cuda/stencils/jacobi_launch.hpp>
#include <voussoir/backends/detail/stencil_iteration.hpp>

namespace voussoir::cuda {

namespace {

__device__ inline std::int64_t my_entry() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__global__ void add_vectors(std::int64_t n, const double* x, const double* y, double* z) {
  const std::int64_t i = my_entry();
  if (i < n) z[i] = x[i] + y[i];
}
__global__ void scaled_sum(std::int64_t n, double a, const double* x, double b, double* y) {
  const std::int64_t i = my_entry();
  if (i < n) y[i] = fused(a, x[i], b * y[i]);
}
/// The border has the first and the last row, then the first and the last column.
__global__ void restore_border(std::int64_t m, const double* border, double* v) {
  const std::int64_t i = my_entry();
  if (i >= m) return;
  v[i] = border[i];
  v[(m - 1) * m + i] = border[m + i];
  if (i == 0 || i == m - 1) return;  // the corners belong to the rows
  v[i * m] = border[2 * m + i];
  v[i * m + m - 1] = border[3 * m + i];
}

class CudaLongVectors final : public LongVectorHeat {
 public:
  CudaLongVectors(std::shared_ptr<DeviceMemory> memory, std::int64_t n, double alpha, std::span<const double> u)
      : memory_(std::move(memory)), n_(n), alpha_(alpha) {
    const auto size = static_cast<std::size_t>((n + 2) * (n + 2));
    v_ = Array<double>(memory_, size);
    t_ = Array<double>(memory_, size);
    s_ = Array<double>(memory_, size);
    border_ = Array<double>(memory_, static_cast<std::size_t>(4 * (n + 2)));
    write(u);
  }
  std::int64_t nodes() const override { return n_; }

  void write(std::span<const double> u) override {
    voussoir::detail::check_long_vectors(n_, alpha_, u.size());
    const std::int64_t m = n_ + 2;
    std::copy(u.begin(), u.end(), v_.write_host().begin());
    const auto border = border_.write_host();
    for (std::int64_t i = 0; i < m; ++i) {
      border[static_cast<std::size_t>(i)] = u[static_cast<std::size_t>(i)];
      border[static_cast<std::size_t>(m + i)] = u[static_cast<std::size_t>((m - 1) * m + i)];
      border[static_cast<std::size_t>(2 * m + i)] = u[static_cast<std::size_t>(i * m)];
      border[static_cast<std::size_t>(3 * m + i)] = u[static_cast<std::size_t>(i * m + m - 1)];
    }
    const DeviceSection section(*memory_);  // the values are on the device before steps are timed
    (void)v_.read_device();
    (void)border_.read_device();
  }
  void read(std::span<double> u) override {
    voussoir::detail::check_long_vectors(n_, alpha_, u.size());
    const auto v = v_.read_host();
    std::copy(v.begin(), v.end(), u.begin());
  }
  void steps(std::int64_t count) override {
    if (count < 0) throw Error(ErrorCode::bad_input, "long vectors: " + std::to_string(count) + " steps");
    const DeviceSection section(*memory_);
    double* const v = v_.update_device();
    double* const t = t_.write_device();
    double* const s = s_.write_device();
    const double* const border = border_.read_device();
    const cudaStream_t stream = stream_of(memory_);
    const std::int64_t m = n_ + 2, first = m + 1, length = n_ * m - 2, sums = (n_ + 1) * m - 1;
    for (std::int64_t k = 0; k < count; ++k) {
      launch(add_vectors, grid_for(sums), stream, sums, v + 1, v + m, t + 1);
      launch(add_vectors, grid_for(length), stream, length, t + first - m, t + first + 1, s);
      launch(scaled_sum, grid_for(length), stream, length, alpha_, s, 1 - 4 * alpha_, v + first);
      launch(restore_border, grid_for(m), stream, m, border, v);
    }
  }

 private:
  std::shared_ptr<DeviceMemory> memory_;
  std::int64_t n_;
  double alpha_;
  Array<double> v_, t_, s_, border_;
};

}  // namespace

std::unique_ptr<LongVectorHeat> make_cuda_long_vectors(std::shared_ptr<DeviceMemory> memory, std::int64_t n,
                                                       double alpha, std::span<const double> u) {
  return std::make_unique<CudaLongVectors>(std::move(memory), n, alpha, u);
}

}  // namespace voussoir::cuda
