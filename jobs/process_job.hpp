#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <voussoir/jobs/process_share.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>
#include <voussoir/jobs/run_job.hpp>
#include <voussoir/partition/partition_quality.hpp>
#include <voussoir/partition/process/engine.hpp>
#include <voussoir/partition/process/process_part.hpp>

// A job on several processes: process 0 reads it, divides it and writes its results, or each process reads its part
// from a file and writes its own results; each process computes a part.

namespace voussoir {

/// How a job is solved on several processes.
struct ProcessOptions {
  std::string backend = "auto";  ///< of each process, see process_backend() and backend_in_list()
  WorkChoices work = {};         ///< methods that the backends use
  EngineSettings engine;         ///< how the engine solves
  /// How elements are divided: a name for make_partitioner(); for meshes in slices "auto", "coordinate" or the name of
  /// a partitioner of the engine, such as "ptscotch".
  std::string partitioner = "auto";
};

/// The results of a job on several processes.
struct ProcessJobResult {
  JobResult job;                    ///< steps are empty: they were passed on
  std::vector<ProcessShare> parts;  ///< per process; on process 0 only
};

/// The backend of a process in a list such as "cuda/openmp": the processes take its entries in turn, so that processes
/// on a GPU and on a CPU share one model. UnequalParts gives them parts for their speeds. An empty entry is an Error
/// (bad_input).
std::string backend_in_list(const std::string& list, int process);

/// The backend of a process: "auto" and "openmp" get as many threads as the process has processors to itself, unless
/// OMP_NUM_THREADS specifies a number; "cuda" becomes the GPU of the process, where those of a machine are given to its
/// processes in turn. All other specifications stay.
std::string process_backend(const std::string& specification, const ProcessPlacement& placement);
/// Gives the calling thread's OpenMP work, such as copies beside a backend, as many threads as the process has
/// processors to itself. Threads that wait for work keep processors busy. A number that the user has specified stays.
void share_processors(const ProcessPlacement& placement);

/// Throws Error (unavailable) that names the first step, or the first property of the job, that is not implemented for
/// several processes.
void check_process_job(const Job& job);

/// Solves a job on the processes of an engine. Collective: all processes call it, and all throw the same SharedError if
/// one of them fails. `job` and `receiver` are needed on process 0 and are ignored on the others; the supports of the
/// job's domains are changed. `receiver` gets the results of the whole model, as run_job() passes them on, so that
/// ResultFiles writes the same files. `observer` is called on every process; returning false on one of them stops all.
/// `checkpoints`, on process 0, save steps over time and have begun; the run that is resumed may have had another
/// number of processes and another division.
ProcessJobResult run_process_job(Engine& engine, Job* job, const ProcessOptions& options,
                                 const std::function<bool(const JobProgress&)>& observer, StepReceiver* receiver,
                                 RunCheckpoints* checkpoints = nullptr);

/// Receives the results of the steps of a job, part by part. All functions are collective.
class PartReceiver {
 public:
  virtual ~PartReceiver() = default;
  /// The result of a step of statics or steady heat for the part of this process, as ProcessStatics returns it. `heat`
  /// are the temperatures of the step that heats it, by local nodes, or null.
  virtual void step(std::size_t step, StepResult own, const NodalField* heat) = 0;
  /// The modes of a frequency step, as ProcessModes returns them: shapes of the part's nodes, everything else of the
  /// whole model; signs are any.
  virtual void modes(std::size_t step, ModeSet own) = 0;
  /// A state of a step over time, of the part of this process: fields have all unknowns of the whole model and are
  /// complete on shared nodes.
  virtual void state(std::size_t step, StepState own) = 0;
  /// The end of a step over time; `response` is that of the whole model, on process 0.
  virtual void end(std::size_t step, StepResponse response) = 0;
  /// Waits until everything that was passed on is written; before a checkpoint.
  virtual void settle() = 0;
};

/// The part of a process, and what only the process that has seen the whole job can say.
struct ReceivedPart {
  ProcessPart part;                     ///< of this process
  std::int64_t bytes = 0;               ///< its encoded size
  std::vector<std::string> notes;       ///< remarks on the whole model; on process 0 only
  std::vector<std::string> mechanisms;  ///< notes on what iterative methods would not find; on process 0 only
  std::string cut;                      ///< how a mesh in slices was divided, as in ProcessOptions::partitioner
  PartitionQuality quality;             ///< of a mesh in slices, as SlicedPart has it; on process 0 only
  std::map<std::size_t, std::vector<std::string>> step_notes = {};  ///< remarks on steps over time; likewise
};

/// Checks and divides a job on process 0 and sends each process its part. Collective; `job` is ignored on the other
/// processes and may be destroyed afterwards.
ReceivedPart divide_process_job(Engine& engine, Job* job, const ProcessOptions& options,
                                const std::function<bool(const JobProgress&)>& observer);

/// Reads the part of each process from a file of parts (.vpart), so that no process ever has the whole job. Collective.
/// Errors: bad_input if the file does not have one part for each process, or if processes see different files.
ReceivedPart read_process_part(Engine& engine, const std::string& path);

/// Reads a job file in slices (read_sliced_job()), so that no process ever has the whole job, and divides it by
/// `partitioner`. Collective. A partitioner that the engine lacks is an Error (not_found or unavailable).
ReceivedPart read_process_slices(Engine& engine, const std::string& path, const std::string& partitioner = "auto");

/// Solves a job of which each process has a part. Collective, as run_process_job(). No process gets the results of the
/// whole model: `receiver` gets those of the part of this process, and the part must outlive the receiver.
/// `checkpoints` are those of process 0, as in run_process_job().
ProcessJobResult run_process_part(Engine& engine, ReceivedPart& part, const ProcessOptions& options,
                                  const std::function<bool(const JobProgress&)>& observer, PartReceiver& receiver,
                                  RunCheckpoints* checkpoints = nullptr);

}  // namespace voussoir
