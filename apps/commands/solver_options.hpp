#pragma once
#include <CLI/CLI.hpp>
#include <string>

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

/// Adds --backend, --solver, --storage, --threads, --tolerance, --max-iterations and those of WorkOptions.
void add_solver_options(CLI::App& command, SolverOptions& options);
/// The option --solver alone. Names that are not known are refused before anything is read.
CLI::Option* add_solver_option(CLI::App& command, std::string& solver);

}  // namespace voussoir::app
