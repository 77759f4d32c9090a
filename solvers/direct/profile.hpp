#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include <voussoir/solvers/direct/factorization.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

// Symmetric matrices under a skyline, and their LDLᵀ.

namespace voussoir {

/// A symmetric matrix whose columns are stored from their first entry down to the diagonal. Where a few equations reach
/// far and most do not, this needs much less than a band.
class ProfileMatrix {
 public:
  ProfileMatrix() = default;
  /// All zero; column j begins at row first_row[j] ≤ j.
  explicit ProfileMatrix(std::vector<std::int32_t> first_row);
  /// As high as the entries need.
  explicit ProfileMatrix(const SymmetricCsr& matrix);

  std::int64_t size() const { return static_cast<std::int64_t>(first_.size()); }
  std::int64_t entries() const { return static_cast<std::int64_t>(value_.size()); }
  std::int64_t first_row(std::int64_t j) const { return first_[j]; }

  /// Entry (i, j) with first_row(j) ≤ i ≤ j; throws Error{misuse} elsewhere.
  double& at(std::int64_t i, std::int64_t j);
  double at(std::int64_t i, std::int64_t j) const;

  /// Column j, shifted so that entry (i, j) is column(j)[i].
  double* column(std::int64_t j) { return value_.data() + start_[j] - first_[j]; }
  const double* column(std::int64_t j) const { return value_.data() + start_[j] - first_[j]; }

  void multiply(std::span<const double> x, std::span<double> y) const;

 private:
  void lay_out();

  std::vector<std::int32_t> first_;
  std::vector<std::int64_t> start_;
  std::vector<double> value_;
};

/// LDLᵀ under a skyline, in the order given. Elimination fills the profile and nothing above it. No pivoting: see
/// BandLdlt.
class ProfileLdlt {
 public:
  /// As BandLdlt::factorise.
  void factorise(ProfileMatrix matrix, double tolerance, int threads = 0);

  /// Overwrites right-hand sides by solutions, one after the other; equations of null pivots come out as zero.
  void solve(std::span<double> rhs_and_solution, int columns = 1) const;

  const Inertia& inertia() const { return inertia_; }
  const std::vector<std::int32_t>& null_pivots() const { return null_pivots_; }

  /// One vector with A v = 0 for each null pivot, one after the other; not normalised.
  std::vector<double> null_vectors() const;

 private:
  void backward(double* x) const;

  ProfileMatrix factor_;         // columns of Lᵀ, with D on the diagonal
  std::vector<double> inverse_;  // 1 / D, zero at null pivots
  std::vector<std::int32_t> null_pivots_;
  Inertia inertia_;
  int threads_ = 0;
};

}  // namespace voussoir
