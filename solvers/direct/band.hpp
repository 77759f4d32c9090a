#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include <voussoir/solvers/direct/envelope_ldlt.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

// Symmetric matrices within a band, and their LDLᵀ.

namespace voussoir {

/// A symmetric matrix whose entries (i, j) vanish where |i − j| exceeds the half bandwidth. Row i of the upper triangle
/// is contiguous: entry (i, j) is at i·(half_bandwidth + 1) + j − i.
class BandMatrix {
 public:
  BandMatrix() = default;
  /// All zero.
  BandMatrix(std::int64_t n, std::int64_t half_bandwidth);
  /// As wide as the entries need.
  explicit BandMatrix(const SymmetricCsr& matrix);

  std::int64_t size() const { return n_; }               ///< equations
  std::int64_t half_bandwidth() const { return half_; }  ///< largest |i − j|
  /// Numbers that are stored: those of the factor, which takes the place of the matrix.
  std::int64_t entries() const { return n_ * (half_ + 1); }
  double elimination_flops() const;  ///< of one factorisation

  /// Entry (i, j) with i ≤ j ≤ i + half_bandwidth; throws Error{misuse} elsewhere.
  double& at(std::int64_t i, std::int64_t j);
  double at(std::int64_t i, std::int64_t j) const;  ///< likewise

  /// The stored part of row i: half_bandwidth + 1 numbers from the diagonal on (those beyond the last column are zero).
  double* row(std::int64_t i) { return value_.data() + i * (half_ + 1); }
  const double* row(std::int64_t i) const { return value_.data() + i * (half_ + 1); }  ///< likewise

  void multiply(std::span<const double> x, std::span<double> y) const;  ///< y = A x

 private:
  std::int64_t n_ = 0;
  std::int64_t half_ = 0;
  std::vector<double> value_;
};

/// LDLᵀ within a band, in the order given. It costs n·b² multiplications and n·(b+1) numbers for a half bandwidth b, so
/// number the equations well first (reverse Cuthill-McKee). No pivoting: indefinite matrices work as long as no leading
/// minor is nearly singular by accident.
class BandLdlt final : public EnvelopeLdlt {
 public:
  BandLdlt() : EnvelopeLdlt("band") {}

  /// Factorises in the place of `matrix`. A pivot below `tolerance` times its equation's diagonal counts as zero (times
  /// the largest entry of the row, where the diagonal is negligible); its equation is left out of the factor and named.
  void factorise(BandMatrix matrix, double tolerance, int threads = 0);

 private:
  void forward(double* x) const override;
  void backward(double* x) const override;

  BandMatrix factor_;  // row i: D_ii, then the entries of Lᵀ
};

}  // namespace voussoir
