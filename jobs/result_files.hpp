#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/jobs/process_share.hpp>
#include <voussoir/jobs/run_job.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {
struct PrintTable;
}

namespace voussoir {

/// The steps of which pictures (PNG) are drawn.
enum class Pictures {
  none,   ///< no pictures
  worst,  ///< one picture, of the step with the largest value
  each    ///< a picture of each step
};

/// Which result files are written, and where.
struct OutputOptions {
  std::filesystem::path folder;  ///< output folder, created if it does not exist; empty for the current folder
  std::string name;              ///< NAME in the names of files; empty for Job::name
  /// Whether existing results are replaced; otherwise they are an Error. Files of the run before, as its results.json
  /// lists them, that this one does not write are removed at the end.
  bool overwrite = false;
  bool vtu = true;                     ///< write NAME.vtu and NAME.pvd, for ParaView
  bool tables = true;                  ///< write NAME.dat and a CSV file per requested table
  bool json = true;                    ///< write NAME.results.json
  bool frd = false;                    ///< write NAME.frd, for CalculiX's viewers
  Pictures pictures = Pictures::none;  ///< write NAME.png of the worst step, or one picture per step
  /// The quantity that colours pictures: "mises", "displacement", "temperature", "sxx", "flux", "error" …; empty for
  /// the default of the step's procedure. The worst step is the one with its largest value.
  std::string picture_field;
  /// Whether steps are written by a separate thread while the next one is solved. Errors of writing are then thrown by
  /// the next write_step() or by finish().
  bool in_background = false;
  /// Whether the job is a part of a divided one: its steps are passed on by write_merged_step(), and fields are written
  /// by PieceFiles. Tables requested in local axes must have such axes in at least one part.
  bool merges_parts = false;
  /// Names of the files of PieceFiles in the folder, of all processes: they must be free.
  std::vector<std::string> piece_files = {};
};

/// Information about a run that is not part of the job. Written to results.json.
struct RunRecord {
  StaticOptions options;                       ///< requested backend, solver, …
  double read_seconds = 0;                     ///< time for reading the job
  std::vector<ProcessShare> processes = {};    ///< of a run on several processes
  std::optional<WholeSizes> whole_sizes = {};  ///< if the job is a part of a divided one
};

/// Writes the results of a job:
///
///   NAME.vtu, NAME.pvd              the deformed body with everything at its nodes (NAME_step1.vtu … where there are
///                                   several steps, which NAME.pvd puts in order)
///   NAME.frd                        the same for CalculiX GraphiX, PrePoMax and FreeCAD, all steps in one file
///   NAME.dat                        the requested tables, in CalculiX's layout
///   NAME_U_SET.csv …                the same tables, one file each (NAME_step1_U_SET.csv …)
///   NAME_modes.csv, .json, NAME_mode_001.vtu, …, NAME_modes.pvd   of a frequency step; NAME_modes.png, .svg with
///                                   pictures
///   NAME_time_0001.vtu, …, NAME_times.pvd, NAME_history.csv, .svg, NAME_peaks.csv  of a step of modal dynamics; of a
///                                   harmonic one NAME_frequency_0001.vtu, …, NAME_frequencies.pvd
///   NAME.png                        a picture of the worst step (NAME_step1.png … of each), if requested
///   NAME_points.csv                 results at the points of the job
///   NAME_path_A.csv, .svg           results along path A of the job, as a table and as a plot
///   NAME.rout                       states at the ends of steps, for *RESTART, READ of another deck
///   NAME.results.json               backend, solver, sizes, times, extremes, reactions: docs/results.md
///
/// Every file appears complete or not at all. The files of a step are written when the step is finished, so that a job
/// that fails or is stopped later leaves the results of the earlier steps.
///
///   ResultFiles files(job, options);                       // before solving: the names must be free
///   const JobResult result = run_job(job, how, {}, files);
///   files.finish(result, {how, seconds});
class ResultFiles : public StepReceiver {
 public:
  /// Checks all file names and creates the folder, before any time is spent on solving. Existing results are an Error
  /// (io) unless OutputOptions::overwrite is set. Another run that writes results of this name to the folder is always
  /// an Error (io): the name is locked (OutputLock) until finish() or give_up(). The job must outlive this object.
  ResultFiles(const Job& job, OutputOptions options);
  ~ResultFiles() override;
  ResultFiles(const ResultFiles&) = delete;
  ResultFiles& operator=(const ResultFiles&) = delete;

  /// Starts compressing the mesh for the VTU files in the background; does nothing unless OutputOptions::in_background.
  /// Useful before a solve that leaves processors idle, such as one on a GPU. From now on the job's domains must not
  /// change, as for write_step().
  void prepare();
  /// Writes the files of one step and keeps its summary. A full disk is an Error (io); files that are complete stay. In
  /// the background, waits for the previous step and starts writing this one. Except for supports and load cases, the
  /// job's domains must not change until finish() or give_up() returns.
  void write_step(std::size_t step, StepResult result);
  /// Takes a step of a divided job (OutputOptions::merges_parts): its summary and its tables, merged from those of all
  /// parts, the files that PieceFiles wrote, by their names in the folder, and remarks. Writes the tables.
  void write_merged_step(std::size_t step, StepSummary summary, std::span<const detail::PrintTable> tables,
                         std::span<const std::string> pieces, std::span<const std::string> notes);
  /// write_step(), for run_job().
  void step(std::size_t step, StepResult result) override { write_step(step, std::move(result)); }
  /// Takes the modes of a frequency step of a divided job, whose shapes were written as `pieces`: writes their table,
  /// and keeps the summary of the step.
  void write_merged_modes(std::size_t step, std::shared_ptr<const ModeSet> modes, std::span<const std::string> pieces);
  /// Takes a state of a divided job, whose fields processes write as pieces if it is for viewers: `head` has everything
  /// else. Its tables are merged from those of all parts; `imaginary` are those of harmonic steps.
  void write_merged_state(std::size_t step, const StepState& head, std::span<const detail::PrintTable> tables,
                          std::span<const detail::PrintTable> imaginary, std::span<const std::string> notes);
  /// States for viewers of the step that is being written, so far.
  std::size_t state_count() const;
  /// Takes files that processes have written, by their names in the folder.
  void take_pieces(std::span<const std::string> pieces);
  /// Writes the list of the states of a step so far, if it is due; their pieces must be there.
  void list_states(std::size_t step);
  /// Writes the table and the shapes of modes.
  void modes(std::size_t step, std::shared_ptr<const ModeSet> modes) override;
  /// Writes a state of a step of modes or of mode superposition.
  void state(std::size_t step, StepState state) override;
  /// Completes the files of a step of modes or of mode superposition, and keeps its summary.
  void end(std::size_t step, StepResponse response) override;
  /// Adds the state at the end of a step to NAME.rout.
  void restart(std::size_t step, const std::string& bytes) override;
  /// Connects checkpoints, which store what the states of a step contribute to files and return it when the run is
  /// resumed. They must outlive this object, or its last call.
  void attach(RunCheckpoints& checkpoints);
  /// Called after the last step: writes the tables of all steps and results.json.
  void finish(const JobResult& result, const RunRecord& record);
  /// Called instead of finish() if the job failed: writes the tables of the finished steps, and a results.json with the
  /// error. Files that cannot be written are missing in written().
  void give_up(const Error& error, const RunRecord& record) noexcept;

  /// Whether writing in the background has failed, so that further solving is pointless. Does not wait.
  bool has_failed() const;
  /// Waits for the step that is being written, and throws the first Error of writing in the background, if any.
  void check();

  // The following functions wait for the step that is being written.

  /// Summaries of the steps written so far.
  const std::vector<StepSummary>& summaries() const;
  /// Paths of the complete files, in the order of writing.
  const std::vector<std::filesystem::path>& written() const;
  /// Remarks on the results, such as requested quantities that the elements do not have.
  const std::vector<std::string>& notes() const;
  /// Time spent on writing so far, in seconds.
  double seconds() const;
  /// That time by stage, summed over all steps: nodal values, error estimate, VTU files, …
  const std::vector<StageTime>& stage_times() const;
  /// The text of results.json; empty before finish() or give_up(). Available even if no file was requested.
  const std::string& json() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voussoir
