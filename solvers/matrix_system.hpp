#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

class GivenSOE;

/// What the rows of a given matrix stand for. Multigrid takes nodes, names and positions from here; other solvers only
/// use them in messages.
struct MatrixUnknowns {
  std::vector<std::string> names;       ///< names of unknowns: "ux", "uy", …; up to UnknownSet::most
  std::vector<std::int32_t> node;       ///< node of each row, from 0
  std::vector<std::int32_t> component;  ///< of each row: index into `names`; no two rows have the same node and name
  std::vector<double> coordinates;      ///< three per node; every node has a row

  /// One node with the unknown "x" for each of `rows` rows, all at the origin.
  static MatrixUnknowns plain(std::int64_t rows);
};

/// A system of equations whose matrix is given, row by row, and not assembled from elements: solved by any registered
/// solver, with any preconditioner, on any backend.
///
///   MatrixSystem system(Backend::open("openmp"), rows, MatrixSystem::Symmetry::symmetric);
///   auto solver = make_solver("cg+amg");
///   const SolveReport report = system.solve(*solver, b, x);
///
/// Solvers expect a numbered model. The system has one, whose nodes carry the unknowns and whose elements only say
/// which of them the matrix couples. Methods that divide the elements of a model, or integrate them (bddc, schur, …),
/// reject it with a message.
class MatrixSystem {
 public:
  /// Whether the matrix is symmetric. It decides which solvers accept the system.
  enum class Symmetry { symmetric, unsymmetric };

  /// `rows` has block size 1, is square, and has ascending columns in each row. A matrix that is not as described, or
  /// is called symmetric and is not, is an Error (bad_input) that names the row; a value that is not finite is an Error
  /// (not_finite).
  MatrixSystem(std::shared_ptr<Backend> backend, const HostMatrix& rows, Symmetry symmetry,
               const MatrixUnknowns& unknowns);
  /// With MatrixUnknowns::plain().
  MatrixSystem(std::shared_ptr<Backend> backend, const HostMatrix& rows, Symmetry symmetry);
  ~MatrixSystem();
  MatrixSystem(const MatrixSystem&) = delete;
  MatrixSystem& operator=(const MatrixSystem&) = delete;

  std::int64_t size() const { return static_cast<std::int64_t>(equation_.size()); }  ///< number of rows
  LinearSOE& soe();                                                                  ///< the system for solvers
  const AnalysisModel& model() const { return *model_; }                             ///< the model of the system
  /// Equation of the model of each row.
  std::span<const std::int32_t> equations() const { return equation_; }

  /// Solves A x = b. Both have one number per row, column by column if there are several columns; an iteration starts
  /// from x. Wrong lengths are an Error (misuse).
  SolveReport solve(Solver& solver, std::span<const double> b, std::span<double> x, int columns = 1);
  /// y = M x with an operator on the vectors of the system, a preconditioner for example.
  void apply(const Operator& m, std::span<const double> x, std::span<double> y);

 private:
  void build_domain(const HostMatrix& rows, Symmetry symmetry, const MatrixUnknowns& unknowns, bool every_link);

  std::unique_ptr<Domain> domain_;
  std::unique_ptr<AnalysisModel> model_;
  std::unique_ptr<GivenSOE> soe_;
  std::vector<std::int32_t> equation_;
};

/// Throws Error (bad_input) at the first row that is not that of a square matrix with ascending columns, or, with
/// Symmetry::symmetric, whose entries differ from those of the transposed row by more than rounding; Error (not_finite)
/// at a NaN or an infinity.
void check_rows(const HostMatrix& rows, MatrixSystem::Symmetry symmetry);

/// Whether a matrix with ascending columns equals its transpose, entry by entry.
bool is_symmetric(const HostMatrix& rows);

}  // namespace voussoir
