#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/jobs/run_job.hpp>
#include <voussoir/partition/process/engine.hpp>
#include <voussoir/partition/process/process_part.hpp>

// A job on several processes: process 0 reads it, divides it and writes its results; each process computes a part.

namespace voussoir {

/// How a job is solved on several processes.
struct ProcessOptions {
  std::string backend = "auto";      ///< of each process, see process_backend()
  WorkChoices work = {};             ///< methods that the backends use
  EngineSettings engine;             ///< how the engine solves
  std::string partitioner = "auto";  ///< how elements are divided, a name for make_partitioner()
};

/// What one process had to do.
struct ProcessShare {
  std::string machine;           ///< name of the machine
  std::string backend;           ///< Backend::describe()
  int processors = 1;            ///< that the process may use
  int threads = 0;               ///< host threads of its backend
  std::int64_t elements = 0;     ///< elements of its part
  std::int64_t nodes = 0;        ///< nodes of its part, those that other parts share included
  std::int64_t owned_nodes = 0;  ///< nodes whose equations it stores
  std::int64_t peak_bytes = 0;   ///< largest memory of the process so far, as the system reports it
};

/// The results of a job on several processes.
struct ProcessJobResult {
  JobResult job;                    ///< steps are empty: they were passed on
  std::vector<ProcessShare> parts;  ///< per process; on process 0 only
};

/// The backend of a process: "auto" and "openmp" get as many threads as the process has processors to itself, unless
/// OMP_NUM_THREADS specifies a number; "cuda" becomes the GPU whose number is that of the process on its machine. All
/// other specifications stay.
std::string process_backend(const std::string& specification, const ProcessPlacement& placement);

/// Throws Error (unavailable) that names the first step, or the first property of the job, that is not implemented for
/// several processes.
void check_process_job(const Job& job);

/// Solves a job on the processes of an engine. Collective: all processes call it, and all throw the same SharedError if
/// one of them fails. `job` and `receiver` are needed on process 0 and are ignored on the others; the supports of the
/// job's domains are changed. `receiver` gets the results of the whole model, as run_job() passes them on, so that
/// ResultFiles writes the same files. `observer` is called on every process; returning false on one of them stops all.
ProcessJobResult run_process_job(Engine& engine, Job* job, const ProcessOptions& options,
                                 const std::function<bool(const JobProgress&)>& observer, StepReceiver* receiver);

}  // namespace voussoir
