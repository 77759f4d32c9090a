#pragma once
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/detail/level_numbers.hpp>
#include <voussoir/backends/multigrid.hpp>

namespace voussoir::cuda {

/// Multigrid on one logical device. What sets a hierarchy up may wait for the device where it must know how much there
/// is to allocate; what is used in cycles only enqueues. Each row is summed in an order that follows from its length
/// alone.
class CudaMultigrid final : public MultigridServices {
 public:
  explicit CudaMultigrid(std::vector<std::shared_ptr<DeviceMemory>> memories) : memories_(std::move(memories)) {}

  // finest_level.cu
  LevelMatrix rows_of(const DeviceModel& model, const SparseMatrix& matrix) override;
  void update_rows(const DeviceModel& model, const SparseMatrix& matrix, LevelMatrix& rows, bool single) override;
  Array<std::int32_t> equations_of(const DeviceModel& model, int height) override;
  // rigid_modes.cu
  Array<double> rigid_modes(const DeviceModel& model, std::span<const Motion> motion, int height, int modes,
                            const std::array<double, 3>& centre, double length) override;

  // aggregation.cu
  Aggregates aggregate(const LevelMatrix& a, double threshold) override;
  // tentative.cu
  LevelMatrix tentative(const Aggregates& groups, int height, int modes, const Array<double>& near_null,
                        Array<double>& coarse) override;
  // product_pattern.cu
  LevelMatrix product_pattern(const LevelMatrix& a, const LevelMatrix& b) override;
  // level_multiply.cu
  void multiply(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) override;
  void multiply_symmetric(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) override;
  // prolongator.cu
  void smooth_prolongator(const LevelDiagonal& inverse, const LevelMatrix& tentative, double factor,
                          LevelMatrix& p) override;
  LevelMatrix transposed(const LevelMatrix& p) override;
  void update_transposed(const LevelMatrix& p, LevelMatrix& transposed) override;
  // level_diagonal.cu
  void set_unit_diagonal_of_empty_rows(LevelMatrix& a) override;
  std::int64_t invert_diagonal(const LevelMatrix& a, LevelDiagonal& inverse) override;
  void invert_row_sums(const LevelMatrix& a, LevelDiagonal& inverse) override;
  // inverse_factor.cu
  LevelMatrix inverse_factor_pattern(const LevelMatrix& a, int most) override;
  std::int64_t inverse_factor(const LevelMatrix& a, LevelMatrix& g) override;
  // dense_inverse.cu
  DenseInverse invert(const LevelMatrix& a) override;
  // level_vectors.cu
  void to_single(LevelMatrix& a) override;
  void to_single(LevelDiagonal& d) override;
  void to_single(DenseInverse& d) override;
  void fill_with_noise(LevelVector& x) override;
  void fill(LevelVector& x, double value) override;
  void axpby(double a, const LevelVector& x, double b, LevelVector& y) override;
  double dot(const LevelVector& x, const LevelVector& y) override;
  void dot(const LevelVector& x, const LevelVector& y, Array<double>& scalars, int slot) override;
  void k_residual(const Array<double>& scalars, const LevelVector& b, const LevelVector& v, LevelVector& r) override;
  void k_combine(const Array<double>& scalars, const LevelVector& c, const LevelVector& d, LevelVector& x) override;
  // level_transfer.cu
  void take(const Vector& from, const Array<std::int32_t>& equation, LevelVector& to) override;
  void give(const LevelVector& from, const Array<std::int32_t>& equation, Vector& to) override;

  // level_product.cu
  void product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) override;
  void add_product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) override;
  void residual(const LevelMatrix& a, const LevelVector& x, const LevelVector& b, LevelVector& r) override;
  void step(const LevelMatrix& a, const LevelDiagonal& inverse, const LevelVector& b, const LevelVector& x,
            double alpha, double beta, LevelVector& d, LevelVector& next) override;
  // level_diagonal.cu
  void apply(const LevelDiagonal& d, const LevelVector& x, LevelVector& y) override;
  void first_step(const LevelDiagonal& inverse, const LevelVector& b, double alpha, LevelVector& d,
                  LevelVector& x) override;
  void step(const LevelDiagonal& inverse, const LevelVector& residual, double alpha, double beta, LevelVector& d,
            LevelVector& x) override;
  // dense_inverse.cu
  void apply(const DenseInverse& d, const LevelVector& x, LevelVector& y) override;

 private:
  const std::shared_ptr<DeviceMemory>& memory() const { return memories_.front(); }
  const CudaMemory& cuda() const { return cuda_memory(memory()); }
  cudaStream_t stream() const { return stream_of(memory()); }
  template <class T>
  Array<T> array(std::int64_t size) const {
    return Array<T>(memory(), static_cast<std::size_t>(size));
  }
  /// Rounds the numbers of a matrix, a diagonal or a dense inverse.
  template <class Holder>
  void round(Holder& holder) const;
  /// The device side of double numbers that are all to be written, `count` of them.
  template <class Holder>
  double* fresh_numbers(Holder& holder, std::int64_t count) const {
    if (static_cast<std::int64_t>(holder.value.size()) != count) holder.value = array<double>(count);
    holder.single_value = Array<float>();
    return holder.value.write_device();
  }

  std::vector<std::shared_ptr<DeviceMemory>> memories_;
};

using voussoir::detail::numbers;
using voussoir::detail::require_numbers;
using voussoir::detail::require_own_rows;
using voussoir::detail::require_square;
using voussoir::detail::with_precision;

inline void require_small_blocks(int height, int width) {
  if (height < 1 || width < 1 || height > largest_level_block || width > largest_level_block)
    throw Error(ErrorCode::misuse, "multigrid: blocks of " + std::to_string(height) + "×" + std::to_string(width) +
                                       " numbers; they go from 1×1 to " + std::to_string(largest_level_block) + "×" +
                                       std::to_string(largest_level_block) + " on a GPU");
}

/// The device side of y for results, where inputs may be the same vector.
template <class Number, class... Inputs>
Number* target_of(LevelVector& y, const Inputs&... inputs) {
  return ((&inputs == &y) || ...) ? numbers<Number>(y).update_device() : numbers<Number>(y).write_device();
}

}  // namespace voussoir::cuda
