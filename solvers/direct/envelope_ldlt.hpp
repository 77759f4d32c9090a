#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {

/// LDLᵀ within an envelope, in the order given and without pivoting: what the band (BandLdlt) and the skyline
/// (ProfileLdlt) have in common.
class EnvelopeLdlt {
 public:
  virtual ~EnvelopeLdlt() = default;
  EnvelopeLdlt(const EnvelopeLdlt&) = default;
  EnvelopeLdlt(EnvelopeLdlt&&) = default;
  EnvelopeLdlt& operator=(const EnvelopeLdlt&) = default;
  EnvelopeLdlt& operator=(EnvelopeLdlt&&) = default;

  /// Overwrites right-hand sides by solutions, one after the other; equations of null pivots come out as zero.
  void solve(std::span<double> rhs_and_solution, int columns = 1) const;

  const Inertia& inertia() const { return inertia_; }
  const std::vector<std::int32_t>& null_pivots() const { return null_pivots_; }

  /// One vector with A v = 0 for each null pivot, one after the other; not normalised.
  std::vector<double> null_vectors() const;

 protected:
  /// What the pivots of a matrix are compared with: its diagonal, or the largest entry of the row where the diagonal is
  /// negligible.
  class Reference {
   public:
    explicit Reference(std::int64_t n)
        : largest_(static_cast<std::size_t>(n), 0.0), diagonal_(static_cast<std::size_t>(n), 0.0) {}
    void add(std::int64_t i, std::int64_t j, double value);
    double operator()(std::int64_t i) const { return diagonal_[i] > 1e-8 * largest_[i] ? diagonal_[i] : largest_[i]; }

   private:
    std::vector<double> largest_, diagonal_;
  };

  /// `name` says in errors which of the two it is.
  explicit EnvelopeLdlt(const char* name) : name_(name) {}
  /// A new factorisation of n equations.
  void reset(std::int64_t n, int threads);
  /// Counts the pivot of an equation and keeps its inverse; false where it is at most `null_size`. Throws where it is
  /// not finite.
  bool take_pivot(std::int64_t equation, double pivot, double null_size);
  int team() const;
  double inverse(std::int64_t equation) const { return inverse_[equation]; }

 private:
  virtual void forward(double* x) const = 0;   // x ← D⁻¹ L⁻¹ x
  virtual void backward(double* x) const = 0;  // x ← L⁻ᵀ x

  const char* name_;
  std::vector<double> inverse_;  // 1 / D, zero at null pivots
  std::vector<std::int32_t> null_pivots_;
  Inertia inertia_;
  int threads_ = 0;
};

}  // namespace voussoir
