#pragma once
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir::detail {

/// Right-hand sides of an iteration, brought to a size that it can work with.
///
/// Bodies are systems of their own, so each may have its load multiplied by a number of its own, and its solution
/// divided by it. Powers of two make that exact. After it, all bodies of a column are loaded alike, so that an
/// iteration that judges ‖b − A x‖ as a whole judges each of them; and neither sums of squares nor numbers in single
/// precision overflow or underflow, however large or small the loads are. Bodies without load have the solution zero.
class ScaledLoads {
 public:
  /// Takes `count` columns from `first` on. Where nothing needs to be scaled or picked, b() and x() are the SOE's own.
  ScaledLoads(LinearSOE& soe, int first, int count);

  const Vector& b() const { return own_b_ ? b_ : soe_.b(); }
  Vector& x() { return own_x_ ? x_ : soe_.x(); }
  int columns() const { return count_; }
  /// ‖b‖ of a column, scaled.
  double norm(int column) const { return whole_[static_cast<std::size_t>(column)]; }
  /// A tolerance of ‖b − A x‖ / ‖b‖ that makes every body of the column reach `wanted`.
  double tolerance(int column, double wanted) const;
  /// The largest ‖r‖ / ‖b‖ of a body with load, for each column of a residual.
  std::vector<double> ratios(const Vector& r) const;
  /// ‖b‖ and ‖v‖ of each body and column, as Bodies::norms has them.
  const std::vector<double>& load_norms() const { return load_; }
  std::vector<double> norms(const Vector& v) const { return soe_.bodies().norms(soe_.model().backend(), v); }
  /// Puts the solution, with its true size, into the SOE.
  void finish();

 private:
  std::size_t at(std::int32_t body, int column) const {
    return static_cast<std::size_t>(body) * static_cast<std::size_t>(count_) + static_cast<std::size_t>(column);
  }

  LinearSOE& soe_;
  int first_, count_;
  bool own_b_ = false, own_x_ = false, scaled_ = false;
  Vector b_, x_;
  std::vector<double> load_, factor_, back_;  // by body and column
  std::vector<double> whole_;                 // by column
};

}  // namespace voussoir::detail
