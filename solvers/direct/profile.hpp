#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include <voussoir/solvers/direct/envelope_ldlt.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

// Symmetric skyline (profile) matrices and their LDLᵀ factorisation.

namespace voussoir {

/// A symmetric matrix whose columns are stored from their first entry down to the diagonal. If only a few columns are
/// high, it needs much less memory than a band.
class ProfileMatrix {
 public:
  ProfileMatrix() = default;
  /// A zero matrix whose column j starts at row first_row[j] ≤ j.
  explicit ProfileMatrix(std::vector<std::int32_t> first_row);
  /// A copy of a sparse matrix, with the lowest columns that contain its entries.
  explicit ProfileMatrix(const SymmetricCsr& matrix);

  std::int64_t size() const { return static_cast<std::int64_t>(first_.size()); }  ///< number of equations
  /// Stored numbers, of the matrix as of its factor, which replaces it.
  std::int64_t entries() const { return static_cast<std::int64_t>(value_.size()); }
  double elimination_flops() const;                                   ///< floating-point operations of a factorisation
  std::int64_t first_row(std::int64_t j) const { return first_[j]; }  ///< row of the first stored entry of column j

  /// Entry (i, j) with first_row(j) ≤ i ≤ j; other indices are an Error (misuse).
  double& at(std::int64_t i, std::int64_t j);
  /// Entry (i, j) with first_row(j) ≤ i ≤ j; other indices are an Error (misuse).
  double at(std::int64_t i, std::int64_t j) const;

  /// Column j, shifted so that entry (i, j) is column(j)[i].
  double* column(std::int64_t j) { return value_.data() + start_[j] - first_[j]; }
  /// Column j, shifted so that entry (i, j) is column(j)[i].
  const double* column(std::int64_t j) const { return value_.data() + start_[j] - first_[j]; }

  void multiply(std::span<const double> x, std::span<double> y) const;  ///< y = A x

 private:
  void lay_out();

  std::vector<std::int32_t> first_;
  std::vector<std::int64_t> start_;
  std::vector<double> value_;
};

/// LDLᵀ factorisation of a skyline matrix in the given order. Fill-in stays under the skyline. There is no pivoting, as
/// in BandLdlt.
class ProfileLdlt final : public EnvelopeLdlt {
 public:
  ProfileLdlt() : EnvelopeLdlt("profile") {}

  /// Factorises a matrix in place; the arguments are those of BandLdlt::factorise().
  void factorise(ProfileMatrix matrix, double tolerance, int threads = 0);

 private:
  void forward(double* x) const override;
  void backward(double* x) const override;
  void reduce_by_finished(std::int64_t begin, std::int64_t end);
  void finish(std::int64_t j, std::int64_t begin, double null_size);

  ProfileMatrix factor_;  // columns of Lᵀ, with D on the diagonal
};

}  // namespace voussoir
