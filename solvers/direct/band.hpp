#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include <voussoir/solvers/direct/envelope_ldlt.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

// Symmetric band matrices and their LDLᵀ factorisation.

namespace voussoir {

/// A symmetric matrix whose entries (i, j) vanish where |i − j| exceeds the half bandwidth. Row i of the upper triangle
/// is contiguous: entry (i, j) is at i·(half_bandwidth + 1) + j − i.
class BandMatrix {
 public:
  BandMatrix() = default;
  /// A zero matrix.
  BandMatrix(std::int64_t n, std::int64_t half_bandwidth);
  /// A copy of a sparse matrix, with the smallest bandwidth that contains its entries.
  explicit BandMatrix(const SymmetricCsr& matrix);

  std::int64_t size() const { return n_; }               ///< number of equations
  std::int64_t half_bandwidth() const { return half_; }  ///< largest |i − j|
  /// Stored numbers, of the matrix as of its factor, which replaces it.
  std::int64_t entries() const { return n_ * (half_ + 1); }
  double elimination_flops() const;  ///< floating-point operations of one factorisation

  /// Entry (i, j) with i ≤ j ≤ i + half_bandwidth; other indices are an Error (misuse).
  double& at(std::int64_t i, std::int64_t j);
  /// Entry (i, j) with i ≤ j ≤ i + half_bandwidth; other indices are an Error (misuse).
  double at(std::int64_t i, std::int64_t j) const;

  /// The stored part of row i: half_bandwidth + 1 numbers from the diagonal on (those beyond the last column are zero).
  double* row(std::int64_t i) { return value_.data() + i * (half_ + 1); }
  /// The stored part of row i.
  const double* row(std::int64_t i) const { return value_.data() + i * (half_ + 1); }

  void multiply(std::span<const double> x, std::span<double> y) const;  ///< y = A x

 private:
  std::int64_t n_ = 0;
  std::int64_t half_ = 0;
  std::vector<double> value_;
};

/// LDLᵀ factorisation of a band matrix in the given order. It takes n·b² multiplications and n·(b+1) numbers for a half
/// bandwidth b, so number the equations by reverse Cuthill–McKee first. There is no pivoting: indefinite matrices work
/// unless a leading minor is nearly singular.
class BandLdlt final : public EnvelopeLdlt {
 public:
  BandLdlt() : EnvelopeLdlt("band") {}

  /// Factorises a matrix in place. A pivot below `tolerance` times the diagonal of its equation (or times the largest
  /// entry of the row, if the diagonal is negligible) counts as zero: its equation is left out of the factor and listed
  /// in null_pivots(). `threads` 0 means all available.
  void factorise(BandMatrix matrix, double tolerance, int threads = 0);

 private:
  void forward(double* x) const override;
  void backward(double* x) const override;

  BandMatrix factor_;  // row i: D_ii, then the entries of Lᵀ
};

}  // namespace voussoir
