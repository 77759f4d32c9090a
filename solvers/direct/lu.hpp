#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/operator.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

// Direct solution of sparse unsymmetric systems on the host: A = L U once, then any number of right-hand sides.

namespace voussoir {

/// A sparse matrix by rows; columns ascend within a row. Equations count from 0.
struct GeneralCsr {
  std::int64_t n = 0;                   ///< number of equations
  std::vector<std::int64_t> row_start;  ///< first entry of each row, and the number of entries
  std::vector<std::int32_t> column;     ///< column of each entry
  std::vector<double> value;            ///< value of each entry
};

/// A backend's matrix as single entries, for direct solvers. `place` has the number of each equation in the result, or
/// −1 to omit it; numbers ascend with equations.
GeneralCsr whole_rows(const HostMatrix& matrix, std::span<const std::int32_t> place);

/// The LU factorisation of a sparse matrix. Before it is factorised, the matrix is equilibrated by powers of two,
/// without loss of accuracy.
class LuFactorization {
 public:
  /// Creates a factorisation; `automatic` is MUMPS if it is built in, else Eigen. A method that this build lacks is an
  /// Error (unavailable), a method for symmetric matrices only an Error (bad_input).
  static std::unique_ptr<LuFactorization> make(DirectMethod method = DirectMethod::automatic,
                                               const DirectOptions& options = {});
  virtual ~LuFactorization() = default;
  LuFactorization(const LuFactorization&) = delete;
  LuFactorization& operator=(const LuFactorization&) = delete;

  /// Computes the factors. A NaN is an Error (not_finite), a zero pivot an Error (singular) that names the equation
  /// ("equation 12"), and lack of memory an Error (out_of_memory).
  void factorise(GeneralCsr matrix);
  /// Overwrites right-hand sides by solutions: `columns` vectors of n numbers, one after the other.
  void solve(std::span<double> rhs_and_solution, int columns = 1);
  const DirectStatistics& statistics() const { return statistics_; }  ///< sizes and times so far

 protected:
  explicit LuFactorization(const DirectOptions& options) : options_(options) {}  ///< called by implementations
  // The functions that a method implements. They work on the equilibrated matrix, whose size is never zero.
  virtual void do_factorise(const GeneralCsr& matrix) = 0;  ///< implements factorise()
  virtual void do_solve(double* vectors, int columns) = 0;  ///< implements solve()

  DirectOptions options_;        ///< the options passed to make()
  DirectStatistics statistics_;  ///< filled in by the method

 private:
  std::vector<double> row_scale_, column_scale_;
  bool factorised_ = false;
};

}  // namespace voussoir
