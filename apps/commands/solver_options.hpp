#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/apps/commands/work_options.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir::app {

/// What a command line says about how to solve.
struct SolverOptions {
  StaticOptions how;
  WorkOptions work;
  int threads = 0;  ///< 0: all

  /// With the ways of working, and the threads worked into the backend's name. Throws Error (bad_input) where both name
  /// a number of threads.
  StaticOptions resolved() const;
};

/// "auto|direct|cg", from which help and shell completion take the choices.
std::string name_choices(const std::string& first, const std::vector<std::string>& rest);
/// What is wrong with a name other than auto, or nothing; `make` throws where it is not known.
std::string fault_of_name(const std::string& name, const std::function<void(const std::string&)>& make);

/// Adds --backend, --solver, --storage, --numbering, --threads, --tolerance, --max-iterations and those of WorkOptions.
void add_solver_options(CLI::App& command, SolverOptions& options);
/// The option --solver alone. Names that are not known are refused before anything is read.
CLI::Option* add_solver_option(CLI::App& command, std::string& solver);
/// The option --solver of commands that look for modes, with the names of eigen_solvers().
CLI::Option* add_eigen_solver_option(CLI::App& command, std::string& solver);

}  // namespace voussoir::app
