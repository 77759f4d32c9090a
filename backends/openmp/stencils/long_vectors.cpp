#include <voussoir/backends/openmp/stencils/long_vectors.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/detail/stencil_iteration.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir::cpu {

namespace {

class CpuLongVectors final : public LongVectorHeat {
 public:
  CpuLongVectors(std::shared_ptr<DeviceMemory> memory, int threads, std::int64_t n, double alpha,
                 std::span<const double> u)
      : memory_(std::move(memory)), threads_(threads), n_(n), alpha_(alpha) {
    const auto size = static_cast<std::size_t>((n + 2) * (n + 2));
    v_ = Array<double>(memory_, size);
    t_ = Array<double>(memory_, size);
    s_ = Array<double>(memory_, size);
    border_ = Array<double>(memory_, static_cast<std::size_t>(4 * (n + 2)));
    write(u);
  }
  std::int64_t nodes() const override { return n_; }

  void write(std::span<const double> u) override {
    detail::check_long_vectors(n_, alpha_, u.size());
    const std::int64_t m = n_ + 2;
    copy_long_vector(u.data(), v_.write_host());
    const auto border = border_.write_host();  // first and last row, first and last column
    for (std::int64_t i = 0; i < m; ++i) {
      const auto at = [&](std::int64_t row, std::int64_t column) {
        return u[static_cast<std::size_t>(row * m + column)];
      };
      border[static_cast<std::size_t>(i)] = at(0, i);
      border[static_cast<std::size_t>(m + i)] = at(m - 1, i);
      border[static_cast<std::size_t>(2 * m + i)] = at(i, 0);
      border[static_cast<std::size_t>(3 * m + i)] = at(i, m - 1);
    }
  }
  void read(std::span<double> u) override {
    detail::check_long_vectors(n_, alpha_, u.size());
    copy_long_vector(v_.read_host().data(), u);
  }

  void steps(std::int64_t count) override {
    if (count < 0) throw Error(ErrorCode::bad_input, "long vectors: " + std::to_string(count) + " steps");
    const DeviceSection section(*memory_);
    const Vectors at = lent();
    for (std::int64_t k = 0; k < count; ++k)
      for (const auto operation : {LongVectorOperation::first_sum, LongVectorOperation::second_sum,
                                   LongVectorOperation::scaled_sum, LongVectorOperation::border})
        run(operation, at);
  }
  void repeat(LongVectorOperation operation, std::int64_t count) override {
    if (count < 0) throw Error(ErrorCode::bad_input, "long vectors: " + std::to_string(count) + " operations");
    const DeviceSection section(*memory_);
    const Vectors at = lent();
    for (std::int64_t k = 0; k < count; ++k) run(operation, at);
  }

 private:
  struct Vectors {
    double *v, *t, *s;
    const double* border;
  };
  /// Inside a section of the device.
  Vectors lent() { return {v_.update_device(), t_.write_device(), s_.write_device(), border_.read_device()}; }

  void run(LongVectorOperation operation, const Vectors& at) const {
    const std::int64_t m = n_ + 2, first = m + 1, length = n_ * m - 2;
    double *const v = at.v, *const t = at.t, *const s = at.s;
    switch (operation) {
      case LongVectorOperation::first_sum:
        return for_blocks(static_cast<std::size_t>((n_ + 1) * m - 1), threads_,
                          [&](std::size_t begin, std::size_t end) {
                            for (std::size_t j = begin + 1; j < end + 1; ++j)
                              t[j] = v[j] + v[j + static_cast<std::size_t>(m - 1)];
                          });
      case LongVectorOperation::second_sum:
        return for_blocks(static_cast<std::size_t>(length), threads_, [&](std::size_t begin, std::size_t end) {
          const double* const below = t + first - m;
          const double* const above = t + first + 1;
          for (std::size_t i = begin; i < end; ++i) s[i] = below[i] + above[i];
        });
      case LongVectorOperation::scaled_sum:
        return for_blocks(static_cast<std::size_t>(length), threads_,
                          [&, alpha = alpha_, rest = 1 - 4 * alpha_](std::size_t begin, std::size_t end) {
                            double* const to = v + first;
                            for (std::size_t i = begin; i < end; ++i) to[i] = std::fma(alpha, s[i], rest * to[i]);
                          });
      case LongVectorOperation::border:
        return restore_border(v, at.border);
    }
  }

  void restore_border(double* v, const double* border) const {
    const std::int64_t m = n_ + 2;
    for (std::int64_t i = 0; i < m; ++i) {
      v[i] = border[i];
      v[(m - 1) * m + i] = border[m + i];
      v[i * m] = border[2 * m + i];
      v[i * m + m - 1] = border[3 * m + i];
    }
  }

  void copy_long_vector(const double* from, std::span<double> to) const {
    for_blocks(to.size(), threads_,
               [&](std::size_t begin, std::size_t end) { std::copy(from + begin, from + end, to.data() + begin); });
  }

  std::shared_ptr<DeviceMemory> memory_;
  int threads_;
  std::int64_t n_;
  double alpha_;
  Array<double> v_, t_, s_, border_;
};

}  // namespace

std::unique_ptr<LongVectorHeat> make_long_vectors(std::shared_ptr<DeviceMemory> memory, int threads, std::int64_t n,
                                                  double alpha, std::span<const double> u) {
  return std::make_unique<CpuLongVectors>(std::move(memory), threads, n, alpha, u);
}

}  // namespace voussoir::cpu
