#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/backends/registry.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/solvers/preconditioners/preconditioner.hpp>

// Solvers, preconditioners and storages by name. make_solver() and make_soe() (static_problem.hpp) and the command line
// look them up here. The name of a solver is
//
//   SOLVER[:OPTIONS][+PRECONDITIONER[:OPTIONS]]        direct:eigen   cg   cg+amg:k-cycle,steps=3
//
// A plus sign precedes the preconditioner and a colon precedes options, which each entry interprets itself. To add one:
//
//   VSR_REGISTER(preconditioners, "mine", "what it does in one line",
//                PreconditionerFactory{[](const std::string& options) { return std::make_shared<Mine>(options); }});

namespace voussoir {

/// Creates preconditioners of one kind.
struct PreconditionerFactory {
  /// Creates a preconditioner; null means none. `options` is the text after the colon, or ""; unknown options should be
  /// an Error (bad_input), see refuse_options().
  std::function<std::shared_ptr<Preconditioner>(const std::string& options)> make;
  /// Options listed in help and shell completion: "single" for jacobi:single.
  std::vector<std::string> proposed = {};
};
/// The registry of preconditioners: built-in ones and those of users.
Registry<PreconditionerFactory>& preconditioners();

/// The arguments of a SolverFactory.
struct SolverSettings {
  std::string options;  ///< the text after the solver's colon, or ""
  /// The preconditioner: not set if the name contains none, null if it is "none".
  std::optional<std::shared_ptr<Preconditioner>> preconditioner;
  double relative_tolerance = 1e-8;  ///< tolerance of iterative solvers
  int max_iterations = 50000;        ///< limit of iterative solvers
};

/// Creates solvers of one kind.
struct SolverFactory {
  /// Creates a solver; must not return null. Unknown options should be an Error (bad_input).
  std::function<std::shared_ptr<Solver>(const SolverSettings& settings)> make;
  bool takes_preconditioner = false;       ///< whether a preconditioner may be named; otherwise that is an Error
  std::vector<std::string> proposed = {};  ///< options listed in help and shell completion
};
/// The registry of solvers: built-in ones and those of users.
Registry<SolverFactory>& solvers();

/// Creates systems of equations with one kind of storage.
struct StorageFactory {
  std::function<std::shared_ptr<LinearSOE>()> make;  ///< creates a new system at each call
  bool stores_matrix = true;  ///< whether there is an assembled matrix, which direct solvers and fsai need
  /// Whether the size depends on the numbering, so that `auto` numbers by reverse Cuthill–McKee. The solver direct:NAME
  /// of the same name then factorises the matrix in its own storage.
  bool is_envelope = false;
};
/// The registry of storages: built-in ones and those of users.
Registry<StorageFactory>& storages();

/// One part of a solver's name.
struct NamePart {
  std::string name;     ///< name in the registry
  std::string options;  ///< the text after the colon, or ""
};

/// The parts of a solver's name.
struct SolverName {
  NamePart solver;                         ///< "cg" of "cg+amg:k-cycle"
  std::optional<NamePart> preconditioner;  ///< "amg" with options "k-cycle"; none without a plus sign
};
/// Splits the name of a solver. An empty part, and a colon without options, are an Error (not_found).
SolverName parse_solver_name(const std::string& text);

/// For factories without options: throws Error (bad_input) unless `options` is empty. `what` names the entry in the
/// message: "preconditioner 'fsai'".
void refuse_options(const std::string& what, const std::string& options);

}  // namespace voussoir
