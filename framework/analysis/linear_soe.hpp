#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/framework/model/bodies.hpp>

namespace voussoir {

/// A linear system of equations A x = b on a backend: storage only. Solvers work on it. A concrete SOE decides how A is
/// kept: as a band, a profile, sparse rows, sparse blocks, element matrices, or not at all.
class LinearSOE {
 public:
  virtual ~LinearSOE() = default;
  virtual std::string name() const = 0;

  /// Takes the size and the pattern from a model, which must outlive the SOE's use. Values come with form().
  void set_model(const AnalysisModel& model);
  const AnalysisModel& model() const;
  bool has_model() const { return model_ != nullptr; }
  /// For whoever owns the model and is about to destroy it.
  void forget_model();

  /// Computes A = stiffness · K + mass · M at the given unknowns (null: zero).
  virtual void form(const Vector* unknowns, const MatrixTerms& terms) = 0;
  /// A number that no other matrix of the process ever had, new with each form(), so that solvers know when to
  /// factorise or set up again.
  std::uint64_t version() const { return version_; }

  /// Right-hand sides and solutions; a solver solves for all columns.
  Vector& b() { return b_; }
  Vector& x() { return x_; }
  const Vector& b() const { return b_; }
  const Vector& x() const { return x_; }
  void set_columns(int columns);

  /// A as something to multiply with.
  virtual const Operator& matrix() const = 0;
  /// A as a stored matrix on the backend; null where there is none.
  virtual const SparseMatrix* sparse_matrix() const { return nullptr; }
  /// A as element products; null where there are none.
  virtual const ElementOperator* element_operator() const { return nullptr; }
  /// A assembled for the time being, by an SOE that keeps no stored matrix; null where it cannot.
  virtual std::unique_ptr<SparseMatrix> assembled() const { return nullptr; }
  std::string describe() const { return matrix().describe(); }
  /// Which free equations the matrix can tie together; found when it is first asked for.
  const Bodies& bodies() const;

 protected:
  virtual void size_changed() = 0;  ///< the model is new: build patterns
  void formed();

 private:
  const AnalysisModel* model_ = nullptr;
  Vector b_, x_;
  mutable std::unique_ptr<Bodies> bodies_;
  std::uint64_t version_ = 0;
};

/// What an iterative solver did for one of several columns.
struct ColumnReport {
  bool converged = false;
  std::string reason;  ///< how it ended, in words
  int iterations = 0;
  double solve_seconds = 0;     ///< its share, where columns were solved together
  std::vector<double> history;  ///< relative residuals, iteration by iteration
};

/// What a solver did. A solver that did not converge says so here; the analysis decides what that means.
struct SolveReport {
  bool converged = false;
  bool not_positive_definite = false;  ///< seen on the way: the model is not held, or a material is not stable
  std::string solver;                  ///< what solved, with its settings
  std::string choice;                  ///< why it was chosen, where it chose itself
  std::string reason;                  ///< how it ended, in words
  int iterations = 0;                  ///< of the iteration, over all columns; 0 for one direct solve
  /// Computed from x, max over columns: true_residual() below. NaN where there is no x.
  double true_residual = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> column_residuals;  ///< the same for each column, where there are several
  std::vector<double> history;           ///< relative residuals of the first column, iteration by iteration
  double setup_seconds = 0;
  double solve_seconds = 0;
  std::size_t memory_bytes = 0;  ///< what the solver holds besides the SOE
  std::string preconditioner;    ///< what a preconditioner made of the matrix, in words: levels and their sizes
  std::string advice;            ///< what was seen and what to try, where an iteration went badly
  std::string note;              ///< what the answer does not tell and the user should know; may be empty
  /// Free motions found: a vector over all equations each, and empty where the matrix is regular.
  std::vector<std::vector<double>> free_motions;
  std::vector<ColumnReport> columns;  ///< where an iteration solved several: those that were begun

  /// What was done for one column alone, where that can be told; setting up belongs to the first.
  SolveReport of_column(int column) const;
};

/// An algorithm that solves an SOE. It fits every SOE that offers what it needs.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::string name() const = 0;
  /// Solves A x = b for all columns of b, starting from x where the method is iterative.
  virtual SolveReport solve(LinearSOE& soe) = 0;
  /// Whether it finds motions that nothing resists by itself, even where the load does not excite them, as elimination
  /// does. Otherwise an analysis looks for them.
  virtual bool finds_mechanisms() const { return false; }
  /// Called by iterative solvers now and then with (iteration, relative residual); returning false stops them.
  std::function<bool(int, double)> progress;
};

/// For each column the largest ‖b − A x‖ / ‖b‖ of a body (Bodies), whatever the solver believes: a lightly loaded body
/// beside a heavily loaded one is judged by its own load. The residual of a body without load is taken relative to the
/// column's ‖b‖, that of a column without load as it is.
std::vector<double> column_residuals(const LinearSOE& soe);
/// The largest of them; NaN where one is.
double true_residual(const LinearSOE& soe);
/// The largest number; NaN where one is, 0 where there is none.
double largest_or_nan(std::span<const double> numbers);

}  // namespace voussoir
