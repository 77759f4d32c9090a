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
  virtual std::string name() const = 0;  ///< as in make_soe() and make_solver()

  /// Takes the size and the pattern from a model, which must outlive the SOE's use. Values come with form().
  void set_model(const AnalysisModel& model);
  const AnalysisModel& model() const;                   ///< throws Error (misuse) before set_model()
  bool has_model() const { return model_ != nullptr; }  ///< whether set_model() was called
  /// Must be called by the owner of the model after AnalysisModel::update() has changed it.
  void follow_model(const ModelUpdate& update);
  /// Must be called by the owner of the model before destroying it.
  void forget_model();

  /// Computes A = stiffness · K + mass · M at a state.
  virtual void form(const ElementState& state, const MatrixTerms& terms) = 0;
  /// A number unique to this matrix within the process, new with each form(), so that solvers know when to
  /// factorise or set up again; 0 where there is no matrix yet.
  std::uint64_t version() const { return version_; }

  /// Right-hand sides and solutions; a solver solves for all columns.
  Vector& b() { return b_; }
  Vector& x() { return x_; }              ///< the solutions
  const Vector& b() const { return b_; }  ///< right-hand sides
  const Vector& x() const { return x_; }  ///< solutions
  void set_columns(int columns);          ///< number of right-hand sides

  /// A as something to multiply with.
  virtual const Operator& matrix() const = 0;
  /// A as a stored matrix on the backend; null where there is none.
  virtual const SparseMatrix* sparse_matrix() const { return nullptr; }
  /// A as element products; null where there are none.
  virtual const ElementOperator* element_operator() const { return nullptr; }
  /// A assembled for the time being, by an SOE that keeps no stored matrix; null where it cannot.
  virtual std::unique_ptr<SparseMatrix> assembled() const { return nullptr; }
  std::string describe() const { return matrix().describe(); }  ///< for reports: format, size, memory
  /// The sets of free equations coupled by the matrix; computed on first use.
  const Bodies& bodies() const;

 protected:
  virtual void size_changed() = 0;  ///< the model is new: build patterns
  /// The free equations or the batches of the model are others, its size is not. Returns whether the values of the
  /// last form() are still there. The default begins anew.
  virtual bool model_changed(const ModelUpdate& /*update*/) {
    size_changed();
    return false;
  }
  void formed();  ///< called by form() when the values are new: changes version()

 private:
  const AnalysisModel* model_ = nullptr;
  Vector b_, x_;
  mutable std::unique_ptr<Bodies> bodies_;
  std::uint64_t version_ = 0;
};

/// What an iterative solver did for one of several columns.
struct ColumnReport {
  bool converged = false;       ///< to the tolerance of the solver
  std::string reason;           ///< the outcome as text
  int iterations = 0;           ///< of this column
  double solve_seconds = 0;     ///< its share of the time, if columns were solved together
  std::vector<double> history;  ///< relative residuals, iteration by iteration
};

/// The report of a solver. A solver that did not converge reports it here; the analysis decides how to proceed.
struct SolveReport {
  bool converged = false;  ///< all columns, to the tolerance of the solver; true for a direct solve that succeeded
  bool not_positive_definite = false;  ///< detected: the model is under-constrained, or a material is not stable
  std::string solver;                  ///< the solver with its settings
  std::string choice;                  ///< why it was chosen, where it chose itself
  std::string reason;                  ///< the outcome as text
  int iterations = 0;                  ///< of the iteration, over all columns; 0 for one direct solve
  /// Computed from x, max over columns: true_residual() below. NaN where there is no x.
  double true_residual = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> column_residuals;  ///< the same for each column, where there are several
  std::vector<double> history;           ///< relative residuals of the first column, iteration by iteration
  double setup_seconds = 0;              ///< factorisation, or set-up of the preconditioner
  double solve_seconds = 0;              ///< iterations or substitutions, all columns
  std::size_t memory_bytes = 0;          ///< memory of the solver in addition to the SOE
  std::string preconditioner;            ///< description of the preconditioner: levels and their sizes
  std::string advice;                    ///< diagnosis and suggestions if an iteration converged poorly
  bool impossible_state = false;         ///< stopped at a state with an inverted element or values that are not finite
  int reduced_increments = 0;            ///< times that an increment was halved because it led to an impossible state
  int line_searches = 0;  ///< iterations whose increment was shortened because it did not reduce the unbalance
  std::string note;       ///< limits of the result that the user should know; may be empty
  /// Free motions found: a vector over all equations each, and empty where the matrix is regular.
  std::vector<std::vector<double>> free_motions;
  std::vector<ColumnReport> columns;  ///< where an iteration solved several: those that were begun

  /// The part of the report for one column, where it can be separated; set-up is assigned to the first.
  SolveReport of_column(int column) const;
};

/// An algorithm that solves an SOE. It works with every SOE that provides the operations it needs.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::string name() const = 0;  ///< as in make_soe() and make_solver()
  /// Solves A x = b for all columns of b, starting from x where the method is iterative.
  virtual SolveReport solve(LinearSOE& soe) = 0;
  /// Whether it detects free motions by itself, even those that the load does not excite, as direct solvers
  /// do. Otherwise the analysis checks for them.
  virtual bool finds_mechanisms() const { return false; }
  /// Called by iterative solvers now and then with (iteration, relative residual); returning false stops them.
  std::function<bool(int, double)> progress;
};

/// For each column the largest ‖b − A x‖ / ‖b‖ of a body (Bodies), computed independently of the solver: a lightly
/// loaded body beside a heavily loaded one is compared with its own load. The residual of a body without load is
/// relative to the column's ‖b‖, that of a column without load as it is.
std::vector<double> column_residuals(const LinearSOE& soe);
/// The largest of them; NaN where one is.
double true_residual(const LinearSOE& soe);
/// The largest number; NaN where one is, 0 where there is none.
double largest_or_nan(std::span<const double> numbers);

}  // namespace voussoir
