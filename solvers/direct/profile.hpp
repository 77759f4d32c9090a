#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include <voussoir/solvers/direct/envelope_ldlt.hpp>
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

  std::int64_t size() const { return static_cast<std::int64_t>(first_.size()); }  ///< equations
  /// Numbers that are stored: those of the factor, which takes the place of the matrix.
  std::int64_t entries() const { return static_cast<std::int64_t>(value_.size()); }
  double elimination_flops() const;                                   ///< of one factorisation
  std::int64_t first_row(std::int64_t j) const { return first_[j]; }  ///< of a column

  /// Entry (i, j) with first_row(j) ≤ i ≤ j; throws Error{misuse} elsewhere.
  double& at(std::int64_t i, std::int64_t j);
  double at(std::int64_t i, std::int64_t j) const;  ///< likewise

  /// Column j, shifted so that entry (i, j) is column(j)[i].
  double* column(std::int64_t j) { return value_.data() + start_[j] - first_[j]; }
  const double* column(std::int64_t j) const { return value_.data() + start_[j] - first_[j]; }  ///< likewise

  void multiply(std::span<const double> x, std::span<double> y) const;  ///< y = A x

 private:
  void lay_out();

  std::vector<std::int32_t> first_;
  std::vector<std::int64_t> start_;
  std::vector<double> value_;
};

/// LDLᵀ under a skyline, in the order given. Elimination fills the profile and nothing above it. No pivoting: see
/// BandLdlt.
class ProfileLdlt final : public EnvelopeLdlt {
 public:
  ProfileLdlt() : EnvelopeLdlt("profile") {}

  /// As BandLdlt::factorise.
  void factorise(ProfileMatrix matrix, double tolerance, int threads = 0);

 private:
  void forward(double* x) const override;
  void backward(double* x) const override;
  void reduce_by_finished(std::int64_t begin, std::int64_t end);
  void finish(std::int64_t j, std::int64_t begin, double null_size);

  ProfileMatrix factor_;  // columns of Lᵀ, with D on the diagonal
};

}  // namespace voussoir
