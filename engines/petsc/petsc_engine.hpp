#pragma once
#include <petscksp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/engines/petsc/blas_threads.hpp>
#include <voussoir/engines/petsc/mpi_processes.hpp>
#include <voussoir/partition/process/process_eigen.hpp>
#include <voussoir/partition/process/process_graph.hpp>

namespace voussoir::petsc {

/// PETSc, SLEPc and PT-Scotch on the processes of MPI_COMM_WORLD.
class PetscEngine : public Engine, public EigenEngine, public GraphEngine {
 public:
  explicit PetscEngine(const std::string& options);
  ~PetscEngine() override;
  PetscEngine(const PetscEngine&) = delete;
  PetscEngine& operator=(const PetscEngine&) = delete;

  std::string name() const override { return "petsc"; }
  std::string describe() const override;
  Processes& processes() override { return *processes_; }
  ProcessPlacement placement() override { return processes_->placement(); }
  std::vector<std::pair<std::string, std::string>> methods() const override;
  std::unique_ptr<ProcessSolver> make_solver(const EngineSettings& settings) override;
  std::unique_ptr<ProcessEigenSolver> make_eigen_solver(const EngineSettings& settings) override;
  bool has_graph_partitioner(const std::string& name) const override;
  std::unique_ptr<ProcessGraphPartitioner> make_graph_partitioner(const std::string& name) override;
  std::vector<std::string> notes() const override;

  MPI_Comm communicator() const { return communicator_; }
  int processors() const { return processors_; }  ///< see own_processors()
  /// Whether options that the user has given to PETSc, in whichever way, choose a solver.
  bool user_chooses_solver() const { return user_chooses_solver_; }
  /// Asks every process whether it wants to stop, for functions that PETSc calls in iterations. `stops` is the same on
  /// all of them: whether any does. A progress function that throws stops the iteration.
  PetscErrorCode ask_to_stop(const std::function<bool(int, double)>& progress, PetscInt iteration, double measure,
                             bool& stops) const noexcept;
  /// Sets options of PETSc unless the user has given them, in place of those that were set before.
  void set_starting_options(const std::vector<std::pair<std::string, std::string>>& options);

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::unique_ptr<MpiProcesses> processes_;
  int processors_ = 1;
  bool user_chooses_solver_ = false;
  std::unique_ptr<BlasThreads> blas_threads_;
  std::vector<std::string> user_options_;      // their names
  std::vector<std::string> starting_options_;  // names of those that set_starting_options() has set
  bool started_mpi_ = false;                   // and therefore ends it
};

}  // namespace voussoir::petsc
