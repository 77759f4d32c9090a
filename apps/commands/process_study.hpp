#pragma once
#include <CLI/CLI.hpp>
#include <string>

// `voussoir study --mpi`: how the time of a job falls with the number of processes (strong scaling), or how it changes
// if the model grows with them (weak scaling).

namespace voussoir::app {

/// What the command line says of a study of processes.
struct ProcessStudy {
  std::string file;                  ///< deck or job file; empty for boxes
  std::string processes = "1,2,4";   ///< numbers of processes
  std::string engine = "petsc";      ///< as for `voussoir run`
  std::string petsc;                 ///< options of PETSc
  std::string mpirun = "mpirun";     ///< the launcher, with its options
  std::string csv, plot;             ///< files to write; may be empty
  double tolerance = 1e-8;           ///< of iterative methods
  int weak = 0;                      ///< elements along each edge of the box of one process; 0: strong scaling
  bool mpi = false;                  ///< whether the study is one of processes
  bool commands = false;             ///< print the command lines instead of running them
  bool force = false, json = false;  ///< as for the other studies
};

/// Adds --mpi and the options that belong to it.
void add_process_study_options(CLI::App& study, ProcessStudy& options);
/// Runs the program with the launcher for each number of processes, then prints and writes the table.
void run_process_study(const ProcessStudy& study);

}  // namespace voussoir::app
