#pragma once
#include <string>
#include <vector>

#include <voussoir/apps/commands/result_options.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/result_files.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>
#include <voussoir/solvers/static_problem.hpp>

// `voussoir run` on several processes: mpirun -n 4 voussoir run FILE --engine petsc

namespace voussoir::app {

/// What the command line says of a run on several processes.
struct EngineRun {
  std::string engine;              ///< "petsc", or "petsc:METHOD"
  std::string engine_options;      ///< options of PETSc
  std::vector<std::string> files;  ///< decks and job files
  StaticOptions how;               ///< backend, tolerance …; what an engine does not know is refused
  ResultOptions results;           ///< pictures, points, paths
  OutputOptions output;            ///< files to write
  Dialect dialect = Dialect::calculix;
  bool verbose = false, quiet = false, json = false;
  bool pieces = false;                 ///< each process writes its own results; always so for files of parts
  bool slices = false;                 ///< each process reads a slice of the mesh
  CheckpointOptions checkpoints = {};  ///< of steps over time
  std::string cut = "auto";            ///< how elements are divided among the processes
};

/// Ends a process without a message, since another process reports the error; waits long enough for that report.
ExitCode silent_exit(ExitCode code);

/// Solves the files one after the other. Process 0 reads, prints and writes; an error is reported once, whichever
/// process it occurs on.
ExitCode run_on_engine(const EngineRun& run);

}  // namespace voussoir::app
