#include <algorithm>
#include <array>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/cuda/runtime/staged_copy.hpp>
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

/// The other way round: the border of the first values.
__global__ void keep_border(std::int64_t m, const double* v, double* border) {
  const std::int64_t i = my_entry();
  if (i >= m) return;
  border[i] = v[i];
  border[m + i] = v[(m - 1) * m + i];
  border[2 * m + i] = v[i * m];
  border[3 * m + i] = v[i * m + m - 1];
}

class CudaLongVectors final : public LongVectorHeat {
 public:
  CudaLongVectors(std::shared_ptr<DeviceMemory> memory, std::int64_t n, double alpha, std::span<const double> u)
      : memory_(std::move(memory)), n_(n), alpha_(alpha), copies_(memory_, u.size()) {
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
    const DeviceSection section(*memory_);
    double* const v = v_.write_device();
    copies_.to_device(u.data(), u.size(), v);
    launch(keep_border, grid_for(n_ + 2), stream_of(memory_), n_ + 2, v, border_.write_device());
  }
  void read(std::span<double> u) override {
    voussoir::detail::check_long_vectors(n_, alpha_, u.size());
    const DeviceSection section(*memory_);
    copies_.to_host(v_.read_device(), u.size(), u.data());
  }
  void steps(std::int64_t count) override {
    if (count < 0) throw Error(ErrorCode::bad_input, "long vectors: " + std::to_string(count) + " steps");
    const DeviceSection section(*memory_);
    const Vectors at = lent();
    take(count, recorded_steps, steps_, [&] {
      for (const auto operation : {LongVectorOperation::first_sum, LongVectorOperation::second_sum,
                                   LongVectorOperation::scaled_sum, LongVectorOperation::border})
        run(operation, at);
    });
  }
  void repeat(LongVectorOperation operation, std::int64_t count) override {
    if (count < 0) throw Error(ErrorCode::bad_input, "long vectors: " + std::to_string(count) + " operations");
    const DeviceSection section(*memory_);
    const Vectors at = lent();
    take(count, 4 * recorded_steps, operations_[static_cast<std::size_t>(operation)], [&] { run(operation, at); });
  }

 private:
  struct Vectors {
    double *v, *t, *s;
    const double* border;
  };
  /// Work that is recorded once and replayed with one launch, so that launches by the host are not what takes the time.
  struct Recording {
    RecordedWork work;
    bool tried = false;
  };
  static constexpr int recorded_steps = 8;

  /// `once`, so many times: recorded in groups of `length` where that is possible, and one by one what is left.
  template <class Once>
  void take(std::int64_t count, int length, Recording& recording, Once&& once) {
    const cudaStream_t stream = stream_of(memory_);
    if (count > length && !recording.tried) {
      once();  // kernels are loaded when they are first launched, which cannot be recorded
      --count;
      recording.tried = true;
      (void)recording.work.record(stream, [&] {
        for (int k = 0; k < length; ++k) once();
      });
    }
    for (; !recording.work.empty() && count >= length; count -= length) recording.work.replay(stream);
    for (; count > 0; --count) once();
  }

  /// Inside a section of the device.
  Vectors lent() { return {v_.update_device(), t_.write_device(), s_.write_device(), border_.read_device()}; }

  void run(LongVectorOperation operation, const Vectors& at) const {
    const cudaStream_t stream = stream_of(memory_);
    const std::int64_t m = n_ + 2, first = m + 1, length = n_ * m - 2, sums = (n_ + 1) * m - 1;
    switch (operation) {
      case LongVectorOperation::first_sum:
        return launch(add_vectors, grid_for(sums), stream, sums, at.v + 1, at.v + m, at.t + 1);
      case LongVectorOperation::second_sum:
        return launch(add_vectors, grid_for(length), stream, length, at.t + first - m, at.t + first + 1, at.s);
      case LongVectorOperation::scaled_sum:
        return launch(scaled_sum, grid_for(length), stream, length, alpha_, at.s, 1 - 4 * alpha_, at.v + first);
      case LongVectorOperation::border:
        return launch(restore_border, grid_for(m), stream, m, at.border, at.v);
    }
  }

  std::shared_ptr<DeviceMemory> memory_;
  std::int64_t n_;
  double alpha_;
  StagedCopy copies_;
  Array<double> v_, t_, s_, border_;
  Recording steps_;
  std::array<Recording, 4> operations_;
};

}  // namespace

std::unique_ptr<LongVectorHeat> make_cuda_long_vectors(std::shared_ptr<DeviceMemory> memory, std::int64_t n,
                                                       double alpha, std::span<const double> u) {
  return std::make_unique<CudaLongVectors>(std::move(memory), n, alpha, u);
}

}  // namespace voussoir::cuda
