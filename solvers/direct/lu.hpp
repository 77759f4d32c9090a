#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/operator.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

// Direct solution of sparse systems that are not symmetric, on the host: A = L U, once, then any number of right-hand
// sides.

namespace voussoir {

/// A sparse matrix by rows; columns ascend within a row. Equations count from 0.
struct GeneralCsr {
  std::int64_t n = 0;                   ///< equations
  std::vector<std::int64_t> row_start;  ///< n + 1 positions
  std::vector<std::int32_t> column;     ///< of each entry
  std::vector<double> value;            ///< of each entry
};

/// A backend's matrix by single entries, for direct solvers. `place` gives each equation's number in the result, −1 for
/// those to leave out; numbers ascend with equations.
GeneralCsr whole_rows(const HostMatrix& matrix, std::span<const std::int32_t> place);

/// The factorisation of one sparse matrix. The matrix is equilibrated by powers of two before it is factorised, which
/// costs no accuracy.
class LuFactorization {
 public:
  /// `automatic` is MUMPS where it is built in, else Eigen. Throws Error{unavailable} where this build lacks a method,
  /// and Error{bad_input} for methods that are for symmetric matrices.
  static std::unique_ptr<LuFactorization> make(DirectMethod method = DirectMethod::automatic,
                                               const DirectOptions& options = {});
  virtual ~LuFactorization() = default;
  LuFactorization(const LuFactorization&) = delete;
  LuFactorization& operator=(const LuFactorization&) = delete;

  /// Computes the factors. Throws Error{not_finite} at a NaN, Error{singular} that names an equation ("equation 12")
  /// where a pivot vanishes, and Error{out_of_memory}.
  void factorise(GeneralCsr matrix);
  /// Overwrites right-hand sides by solutions; `columns` vectors of n numbers, one after the other.
  void solve(std::span<double> rhs_and_solution, int columns = 1);
  const DirectStatistics& statistics() const { return statistics_; }  ///< up to now

 protected:
  explicit LuFactorization(const DirectOptions& options) : options_(options) {}  ///< for methods
  // What a method must bring along. All of it works on the equilibrated matrix, and never on one of size zero.
  virtual void do_factorise(const GeneralCsr& matrix) = 0;  ///< throws as factorise() does
  virtual void do_solve(double* vectors, int columns) = 0;  ///< overwrites right-hand sides

  DirectOptions options_;        ///< as given
  DirectStatistics statistics_;  ///< that the method fills

 private:
  std::vector<double> row_scale_, column_scale_;
  bool factorised_ = false;
};

}  // namespace voussoir
