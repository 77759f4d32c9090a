#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <voussoir/backends/registry.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/solvers/direct/choice.hpp>
#include <voussoir/solvers/direct/lu.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

// Solvers for the matrices of parts, by name: NAME[:OPTIONS]. To add one:
//
//   VSR_REGISTER(part_solvers, "mine", "what it does in one line",
//                PartSolverFactory{[](const std::string& options) { return std::make_unique<Mine>(options); }});

namespace voussoir {

/// Solves A x = b repeatedly for the symmetric matrix of a part.
///
/// solve() must apply a symmetric positive definite operator. It is **exact** if it is A⁻¹ up to a relative
/// residual of 1e-11 or less. Methods on the interface (schur, bddc, nn, feti-dp) need exact ones, because the solvers
/// are part of the operator S itself; the Schwarz methods accept inexact ones, which cost iterations but do not change
/// the answer. An inexact solver that is not linear is **flexible**, and requires flexible CG.
class PartSolver {
 public:
  virtual ~PartSolver() = default;
  virtual std::string name() const = 0;  ///< for reports
  /// Called before set_up() with the equation of the model of each unknown of the matrix. Multigrid takes rigid-body
  /// motions from there. The default ignores it.
  virtual void describe(const AnalysisModel& /*model*/, std::span<const std::int32_t> /*equations*/) {}
  virtual bool is_exact() const { return true; }  ///< whether solve() is A⁻¹ up to a residual of 1e-11
  /// Whether solve() is not linear in b. Methods ask before set_up().
  virtual bool is_flexible() const { return false; }
  /// Whether set_up() and solve() of different objects may run in different threads at the same time. The default says
  /// no; parts are then solved one after the other.
  virtual bool works_side_by_side() const { return false; }
  /// Prepares for a matrix. `where` names it in messages ("part 3"), `label` one of its unknowns ("node 7, ux"). A
  /// singular matrix is an Error (singular).
  virtual void set_up(const SymmetricCsr& matrix, const std::string& where,
                      const std::function<std::string(std::int64_t)>& label) = 0;
  /// Replaces b by x.
  virtual void solve(std::span<double> b_and_x) = 0;
  virtual std::size_t bytes() const = 0;  ///< memory of the factor or of what else is kept
};

/// A second base class for part solvers that also take matrices that are not symmetric. The Schwarz methods, which
/// accept such matrices, reject part solvers without it by name.
class UnsymmetricPartSolver {
 public:
  virtual ~UnsymmetricPartSolver() = default;
  /// Whether this one does: an iteration does so only with some methods and preconditioners.
  virtual bool takes_unsymmetric() const { return true; }
  /// As PartSolver::set_up(), for a matrix that need not be symmetric. PartSolver::solve() then solves with it.
  virtual void set_up_unsymmetric(const GeneralCsr& matrix, const std::string& where,
                                  const std::function<std::string(std::int64_t)>& label) = 0;
};

/// Creates solvers of one kind.
struct PartSolverFactory {
  /// Creates a solver. `options` is the text after the colon, or ""; unknown options should be an Error (bad_input).
  std::function<std::unique_ptr<PartSolver>(const std::string& options)> make;
};
/// The registry of part solvers: built-in ones and those of users.
Registry<PartSolverFactory>& part_solvers();

/// Creates a part solver by name. There are
///
///   direct, direct:eigen, …            factorisation; direct is direct:multifrontal, so that parts are factorised and
///                                      solved by several threads at the same time, as by all methods but mumps;
///                                      LU by Eigen (direct, direct:eigen) or MUMPS if the matrix is not symmetric
///   cg+amg, cg+fsai, gmres+jacobi, …   any registered solver with any preconditioner, iterated to a relative residual
///                                      of 1e-11: exact
///   amg, fsai, …                       one application of a registered preconditioner: inexact
///   a user's own                       of part_solvers()
///
/// Options of solvers and preconditioners are separated by slashes, since commas separate those of the method:
/// amg:full/steps=3. An unknown name is an Error (not_found).
///
/// Registered solvers and preconditioners work on `backend`; if it is null, on that of the model that describe() gives,
/// and otherwise on OpenMP. Factorisations and solvers of users work on the host.
std::unique_ptr<PartSolver> make_part_solver(const std::string& name, std::shared_ptr<Backend> backend = nullptr);

/// The interface for matrices that are not symmetric; null if the part solver does not take them.
UnsymmetricPartSolver* unsymmetric_part_solver(PartSolver& solver);

/// Throws Error (bad_input) if a part solver, made by this name, is not exact.
void require_exact(const PartSolver& solver, const std::string& name);

}  // namespace voussoir
