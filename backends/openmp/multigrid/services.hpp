#pragma once
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <voussoir/backends/detail/level_numbers.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/multigrid.hpp>

namespace voussoir::cpu {

/// Multigrid on the cores of this machine: plain loops over rows. A row belongs to one thread and is summed in the
/// order of its columns, so that nothing depends on how many threads there are.
class CpuMultigrid final : public MultigridServices {
 public:
  CpuMultigrid(std::vector<std::shared_ptr<DeviceMemory>> memories, int threads)
      : memories_(std::move(memories)), threads_(threads) {}

  LevelMatrix rows_of(const DeviceModel& model, const SparseMatrix& matrix) override;
  void update_rows(const DeviceModel& model, const SparseMatrix& matrix, LevelMatrix& rows, bool single) override;
  Array<std::int32_t> equations_of(const DeviceModel& model, int height) override;
  Array<double> rigid_modes(const DeviceModel& model, std::span<const Motion> motion, int height, int modes,
                            const std::array<double, 3>& centre, double length) override;

  Aggregates aggregate(const LevelMatrix& a, double threshold) override;
  LevelMatrix tentative(const Aggregates& groups, int height, int modes, const Array<double>& near_null,
                        Array<double>& coarse) override;
  LevelMatrix product_pattern(const LevelMatrix& a, const LevelMatrix& b) override;
  void multiply(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) override;
  void multiply_symmetric(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) override;
  void smooth_prolongator(const LevelDiagonal& inverse, const LevelMatrix& tentative, double factor,
                          LevelMatrix& p) override;
  LevelMatrix transposed(const LevelMatrix& p) override;
  void update_transposed(const LevelMatrix& p, LevelMatrix& transposed) override;
  void set_unit_diagonal_of_empty_rows(LevelMatrix& a) override;
  std::int64_t invert_diagonal(const LevelMatrix& a, LevelDiagonal& inverse) override;
  void invert_row_sums(const LevelMatrix& a, LevelDiagonal& inverse) override;
  LevelMatrix inverse_factor_pattern(const LevelMatrix& a, int most) override;
  std::int64_t inverse_factor(const LevelMatrix& a, LevelMatrix& g) override;
  DenseInverse invert(const LevelMatrix& a) override;
  void to_single(LevelMatrix& a) override;
  void to_single(LevelDiagonal& d) override;
  void to_single(DenseInverse& d) override;

  void fill_with_noise(LevelVector& x) override;
  void fill(LevelVector& x, double value) override;
  void axpby(double a, const LevelVector& x, double b, LevelVector& y) override;
  double dot(const LevelVector& x, const LevelVector& y) override;
  void dot(const LevelVector& x, const LevelVector& y, Array<double>& scalars, int slot) override;
  void take(const Vector& from, const Array<std::int32_t>& equation, LevelVector& to) override;
  void give(const LevelVector& from, const Array<std::int32_t>& equation, Vector& to) override;

  void product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) override;
  void add_product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) override;
  void residual(const LevelMatrix& a, const LevelVector& x, const LevelVector& b, LevelVector& r) override;
  void apply(const LevelDiagonal& d, const LevelVector& x, LevelVector& y) override;
  void apply(const DenseInverse& d, const LevelVector& x, LevelVector& y) override;
  void first_step(const LevelDiagonal& inverse, const LevelVector& b, double alpha, LevelVector& d,
                  LevelVector& x) override;
  void step(const LevelMatrix& a, const LevelDiagonal& inverse, const LevelVector& b, const LevelVector& x,
            double alpha, double beta, LevelVector& d, LevelVector& next) override;
  void step(const LevelDiagonal& inverse, const LevelVector& residual, double alpha, double beta, LevelVector& d,
            LevelVector& x) override;
  void k_residual(const Array<double>& scalars, const LevelVector& b, const LevelVector& v, LevelVector& r) override;
  void k_combine(const Array<double>& scalars, const LevelVector& c, const LevelVector& d, LevelVector& x) override;

 private:
  const std::shared_ptr<DeviceMemory>& memory() const { return memories_.front(); }
  template <class T>
  Array<T> array(std::int64_t size) const {
    return Array<T>(memory(), static_cast<std::size_t>(size));
  }
  void multiply_any(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c, bool symmetric);
  /// Rounds the numbers of a matrix, a diagonal or a dense inverse.
  template <class Holder>
  void round(Holder& holder) const;

  std::vector<std::shared_ptr<DeviceMemory>> memories_;
  int threads_;
};

using detail::numbers;
using detail::require_numbers;
using detail::require_own_rows;
using detail::require_square_numbers;
using detail::with_precision;

/// Block rows as pointers, inside a section.
template <class Number>
struct LevelRows {
  std::int32_t rows = 0;
  const std::int64_t* start = nullptr;
  const std::int32_t* column = nullptr;
  Number* value = nullptr;

  std::int32_t length(std::int64_t row) const { return static_cast<std::int32_t>(start[row + 1] - start[row]); }
};

template <class Number = double>
LevelRows<const Number> read_rows(const LevelMatrix& a) {
  return {a.rows, a.start.read_device(), a.column.read_device(), numbers<Number>(a).read_device()};
}

/// Numbers that a loop should have to be worth waking the threads.
inline constexpr std::int64_t worth_sharing = 16384;

}  // namespace voussoir::cpu
