#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/jobs/run_job.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir {

/// Of which steps pictures (PNG) are drawn.
enum class Pictures { none, worst, each };

/// What is written of a job, and where.
struct OutputOptions {
  std::filesystem::path folder;        ///< empty: where the program was started; made where it does not exist
  std::string name;                    ///< files are called after it; empty: after the job
  bool overwrite = false;              ///< replace results that are there
  bool vtu = true;                     ///< NAME.vtu and NAME.pvd, for ParaView
  bool tables = true;                  ///< NAME.dat and a CSV per requested table
  bool json = true;                    ///< NAME.results.json
  bool frd = false;                    ///< NAME.frd, for CalculiX's viewers
  Pictures pictures = Pictures::none;  ///< NAME.png of the worst step, or one of each
  /// What pictures are coloured by: "mises", "displacement", "temperature", "sxx", "flux", "error" …; empty: what the
  /// step is about. The worst step is the one with the largest value of it.
  std::string picture_field;
  /// Steps are written in a thread of their own, while the next one is solved. An Error of writing then comes out of
  /// the next write_step() or of finish().
  bool in_background = false;
};

/// Information about a run that is not part of the job; written to results.json.
struct RunRecord {
  StaticOptions options;    ///< backend, solver …, as requested
  double read_seconds = 0;  ///< for reading the job
};

/// Writes what a job found:
///
///   NAME.vtu, NAME.pvd              the deformed body with everything at its nodes (NAME_step1.vtu … where there are
///                                   several steps, which NAME.pvd puts in order)
///   NAME.frd                        the same for CalculiX GraphiX, PrePoMax and FreeCAD, all steps in one file
///   NAME.dat                        the requested tables, in CalculiX's layout
///   NAME_U_SET.csv …                the same tables, each for itself (NAME_step1_U_SET.csv …)
///   NAME.png                        a picture of the worst step (NAME_step1.png … of each), if requested
///   NAME_points.csv                 results at the points of the job
///   NAME_path_A.csv, .svg           results along path A of the job, as a table and as a plot
///   NAME.results.json               what ran on what, sizes, times, extremes, reactions: docs/results.md
///
/// Every file appears complete or not at all. What a step has to say is written when the step is finished, so that a
/// job that fails later, or is stopped, leaves the steps before.
///
///   ResultFiles files(job, options);                       // before solving: the names must be free
///   const JobResult result = run_job(job, how, {}, [&](std::size_t step, StepResult r) {
///     files.write_step(step, std::move(r));
///   });
///   files.finish(result, {how, seconds});
class ResultFiles {
 public:
  /// Looks at every name that will be needed and makes the folder. Results that are there already are an Error (io)
  /// unless they may be overwritten, before any time is spent on solving. So is, in any case, another run that writes
  /// results of this name there: until finish() or give_up(), the name is locked (OutputLock). The job must outlive
  /// this.
  ResultFiles(const Job& job, OutputOptions options);
  ~ResultFiles();
  ResultFiles(const ResultFiles&) = delete;
  ResultFiles& operator=(const ResultFiles&) = delete;

  /// Begins to compress the mesh for the VTU files, in the background; without that, does nothing. Worth it before a
  /// solve that leaves processors idle, as one on a GPU does. From here on, too, the job's domains must not change as
  /// write_step() says.
  void prepare();
  /// Writes the files of one step and keeps its summary. A disk that is full is an Error (io); files finished before
  /// stay. In the background: begins to, after waiting for the step before. What the job's domains hold besides
  /// supports and load cases must not change until finish() or give_up() returns.
  void write_step(std::size_t step, StepResult result);
  /// After the last step: the tables of all steps and results.json.
  void finish(const JobResult& result, const RunRecord& record);
  /// Instead of finish(), if the job was not completed: the tables of the finished steps, and a results.json
  /// with the error. Never throws; files that cannot be written are missing in written().
  void give_up(const Error& error, const RunRecord& record) noexcept;

  /// Whether writing in the background has failed, so that solving more is of no use. Does not wait.
  bool has_failed() const;
  /// Waits for the step that is being written, and throws the Error that its writing, or that of a step before, ended
  /// with.
  void check();

  // The following wait for the step that is being written.

  /// Summaries of the steps written so far.
  const std::vector<StepSummary>& summaries() const;
  /// Files that are complete, in the order of their writing.
  const std::vector<std::filesystem::path>& written() const;
  /// Notes on the results: requested quantities that the elements do not have.
  const std::vector<std::string>& notes() const;
  /// Time spent on writing so far.
  double seconds() const;
  /// What that time was spent on, all steps together: nodal values, error estimate, VTU files …
  const std::vector<StageTime>& stage_times() const;
  /// The text of results.json; empty before finish() or give_up(). Available even if no file was requested.
  const std::string& json() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voussoir
