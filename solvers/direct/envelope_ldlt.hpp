#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {

/// LDLᵀ factorisation within an envelope, in the given order and without pivoting: the common base of BandLdlt and
/// ProfileLdlt.
class EnvelopeLdlt {
 public:
  virtual ~EnvelopeLdlt() = default;
  EnvelopeLdlt(const EnvelopeLdlt&) = default;             ///< copies the factor
  EnvelopeLdlt(EnvelopeLdlt&&) = default;                  ///< takes over the factor
  EnvelopeLdlt& operator=(const EnvelopeLdlt&) = default;  ///< copies the factor
  EnvelopeLdlt& operator=(EnvelopeLdlt&&) = default;       ///< takes over the factor

  /// Overwrites `columns` right-hand sides, stored one after the other, by solutions. Equations of null pivots are set
  /// to zero.
  void solve(std::span<double> rhs_and_solution, int columns = 1) const;

  const Inertia& inertia() const { return inertia_; }  ///< signs of the pivots
  /// Equations with null pivots, ascending.
  const std::vector<std::int32_t>& null_pivots() const { return null_pivots_; }

  /// A vector with A v = 0 for each null pivot, one after the other; not normalised.
  std::vector<double> null_vectors() const;

 protected:
  /// The reference values with which pivots are compared: the diagonal of the matrix, or the largest entry of the row
  /// if the diagonal is negligible.
  class Reference {
   public:
    /// For n equations; add() collects the entries.
    explicit Reference(std::int64_t n)
        : largest_(static_cast<std::size_t>(n), 0.0), diagonal_(static_cast<std::size_t>(n), 0.0) {}
    /// Adds the entry (i, j) of the upper triangle.
    void add(std::int64_t i, std::int64_t j, double value);
    /// The reference value of an equation.
    double operator()(std::int64_t i) const { return diagonal_[i] > 1e-8 * largest_[i] ? diagonal_[i] : largest_[i]; }

   private:
    std::vector<double> largest_, diagonal_;
  };

  /// `name` is that of the method in errors: "band" or "profile".
  explicit EnvelopeLdlt(const char* name) : name_(name) {}
  /// Starts a new factorisation of n equations.
  void reset(std::int64_t n, int threads);
  /// Counts the pivot of an equation and keeps its inverse; returns false for a null pivot, whose absolute value is at
  /// most `null_size`. A pivot that is not finite is an Error.
  bool take_pivot(std::int64_t equation, double pivot, double null_size);
  int team() const;  ///< number of threads to use
  /// The inverse pivot of an equation; zero for a null pivot.
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
