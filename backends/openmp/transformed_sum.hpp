#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <voussoir/backends/device_model.hpp>

namespace voussoir::cpu {

/// TᵀKT for elements whose equations depend on many others. Element by element it would cost the square of their
/// number for each of them; here element matrices are summed to K first, and multiplied from the right and from the
/// left afterwards. All sums are taken in a fixed order.
class TransformedSum {
 public:
  using DependencyOf = std::function<const Dependency*(std::int32_t equation)>;
  using Add = std::function<void(std::int32_t row, std::int32_t column, double value)>;

  /// Rows of equations that are not among the first `owned` are left out.
  TransformedSum(std::int32_t equations, std::int32_t owned) : owned_(owned), dense_(equations, 0.0) {}

  /// Adds K(row, column), in equations before the transformation.
  void add(std::int32_t row, std::int32_t column, double value) { entries_.push_back({row, column, value}); }
  std::size_t size() const { return entries_.size(); }
  /// Calls add() for the entries of TᵀKT, at most twice for each, and for the diagonal of each dependent equation,
  /// which gets that of K. Then nothing is left here.
  void finish(const DependencyOf& dependency_of, const Add& add);

 private:
  struct Entry {
    std::int32_t row, column;
    double value;
  };
  struct Term {
    std::int32_t index;
    double value;
  };
  /// Sums up entries of the same place.
  void compress();
  /// Adds factor · (other terms) to the dense row.
  void accumulate(double factor, const Term* begin, const Term* end);
  void accumulate(std::int32_t column, double value);
  /// Moves the dense row out, by ascending columns.
  void take(std::vector<Term>& terms);

  std::int32_t owned_;
  std::vector<Entry> entries_;
  std::vector<double> dense_;  // a row at work
  std::vector<std::uint8_t> is_touched_ = std::vector<std::uint8_t>(dense_.size(), 0);
  std::vector<std::int32_t> touched_;
};

}  // namespace voussoir::cpu
