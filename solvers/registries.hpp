#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/backends/registry.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/solvers/preconditioners/preconditioner.hpp>

// Solvers, preconditioners and storages by name. make_solver() and make_soe() (static_problem.hpp) find them here, and
// so does the command line. A solver is called
//
//   SOLVER[:OPTIONS][+PRECONDITIONER[:OPTIONS]]        direct:eigen   cg   cg+amg:k-cycle,steps=3
//
// A plus sign ends the first part and a colon begins options; what the options mean is up to the entry.
//
//   VSR_REGISTER(preconditioners, "mine", "what it does in one line",
//                PreconditionerFactory{[](const std::string& options) { return std::make_shared<Mine>(options); }});

namespace voussoir {

/// Makes preconditioners.
struct PreconditionerFactory {
  /// `options` is what follows the colon, or "". Options that are not known should be an Error, bad_input; see
  /// refuse_options(). Null: no preconditioner.
  std::function<std::shared_ptr<Preconditioner>(const std::string& options)> make;
  /// Options worth proposing in help and shell completion: "single" for jacobi:single.
  std::vector<std::string> proposed = {};
};
Registry<PreconditionerFactory>& preconditioners();

/// What a solver is made with.
struct SolverSettings {
  std::string options;  ///< what follows the solver's colon, or ""
  /// Not set: none was named. Null: "none" was named.
  std::optional<std::shared_ptr<Preconditioner>> preconditioner;
  double relative_tolerance = 1e-8;  ///< of iterative solvers
  int max_iterations = 50000;        ///< of iterative solvers
};

/// Makes solvers.
struct SolverFactory {
  /// Never returns null; Error (bad_input) for unknown options.
  std::function<std::shared_ptr<Solver>(const SolverSettings& settings)> make;
  bool takes_preconditioner = false;       ///< else a name with a plus sign is an Error
  std::vector<std::string> proposed = {};  ///< as in PreconditionerFactory
};
Registry<SolverFactory>& solvers();

/// Makes systems of equations.
struct StorageFactory {
  std::function<std::shared_ptr<LinearSOE>()> make;  ///< a new one at each call
  bool stores_matrix = true;  ///< whether there is an assembled matrix, which direct solvers and fsai need
  /// Whether the size depends on the numbering, so that `auto` numbers by reverse Cuthill–McKee. The solver direct:NAME
  /// of the same name factorises it in place.
  bool is_envelope = false;
};
Registry<StorageFactory>& storages();

/// One part of a solver's name.
struct NamePart {
  std::string name;     ///< by which the registry finds it
  std::string options;  ///< what follows the colon, or ""
};

/// A solver's name, taken apart.
struct SolverName {
  NamePart solver;                         ///< "cg" of "cg+amg:k-cycle"
  std::optional<NamePart> preconditioner;  ///< "amg" with options "k-cycle"; none without a plus sign
};
/// Throws Error (not_found) where a part is empty or nothing follows a colon.
SolverName parse_solver_name(const std::string& text);

/// For factories without options: an Error, bad_input, where some are given. `what` names the entry, "preconditioner
/// 'fsai'".
void refuse_options(const std::string& what, const std::string& options);

}  // namespace voussoir
