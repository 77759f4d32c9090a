#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/checkpoint/checkpoint_file.hpp>
#include <voussoir/framework/io/checkpoint/journal.hpp>
#include <voussoir/jobs/job_fingerprint.hpp>

namespace voussoir {

/// Whether checkpoints save steps of this procedure: dynamics and transient heat. All others are computed again.
bool is_saved(Procedure procedure);

/// When the dynamic and transient heat steps of a job are saved.
struct CheckpointOptions {
  double every_seconds = 0;  ///< a checkpoint after so many seconds; 0: not by time
  int every_increments = 0;  ///< a checkpoint after so many increments; 0: not by number
  bool resume = false;       ///< continue from an existing checkpoint
};

/// The settings of a run, apart from its job. Some of them may differ when a run is resumed.
struct CheckpointSetting {
  std::string machine;  ///< backend, threads, devices and solver: if they differ, answers agree to rounding
  std::string files;    ///< which result files are written: must be the same
};

/// The checkpoints of a run of a job, so that a run that is killed at any moment can be resumed with the same results:
///
///   NAME.checkpoint-a, -b   the last two checkpoints: the place in the journal, and the state of the current step
///   NAME.journal            the output of dynamic and transient heat steps: rows of histories, contributions to
///                           result files, ends of steps
///
/// Each runner of a dynamic or transient heat step uses it through a StepCheckpoint. Steps of statics, of steady heat,
/// of modes and of mode superposition are computed again when a run is resumed. A checkpoint that cannot be written,
/// for example because the disk is full, does not stop the run: a note says so, the older one stays, and the next one
/// is tried when it is due. If more than 256 MB wait to be written, the run stops with Error (io).
class RunCheckpoints {
 public:
  /// Names of files begin with `folder`/`name`. Nothing is read or written yet.
  RunCheckpoints(const std::filesystem::path& folder, const std::string& name, CheckpointOptions options);

  /// Whether an earlier run has left checkpoints.
  static bool exist(const std::filesystem::path& folder, const std::string& name);
  /// Removes what an earlier run has left.
  static void remove(const std::filesystem::path& folder, const std::string& name) noexcept;

  /// Begins: writes a first checkpoint without a state, or finds the one to continue from. A checkpoint that is damaged
  /// is named in notes(), and the one before is used. Throws Error (bad_input) if all of them are damaged, or if they
  /// are of another job, and names what has changed.
  void begin(std::vector<FingerprintPart> job, CheckpointSetting setting);
  /// Whether the run continues from a checkpoint.
  bool resumes() const { return resumes_; }
  /// Removes all files, after the last result is written.
  void finish() noexcept;

  /// Called before a checkpoint is written: adds everything that result files still have for the journal.
  std::function<void()> settle;
  /// Receives what add_to_files() was given for a step, in the same order.
  std::function<void(std::size_t step, std::string_view bytes)> restore_files;
  /// Called with a sentence for the user.
  std::function<void(const std::string& note)> tell;
  /// Adds to the journal what a state has contributed to result files. May be called from another thread as long as
  /// `settle` waits for it.
  void add_to_files(std::size_t step, std::string_view bytes);

  const std::vector<std::string>& notes() const { return notes_; }  ///< for the user, since the beginning
  int written() const { return written_; }                          ///< checkpoints of this run
  double seconds() const { return seconds_; }                       ///< spent on writing them
  /// The time of the state from which the run was resumed; none if it started from the beginning.
  std::optional<double> resumed_at() const { return resumed_at_; }

 private:
  friend class StepCheckpoint;
  enum class Record : std::uint8_t { row = 1, files = 2, end = 3 };

  void read(const std::vector<FingerprintPart>& job);
  bool take(const CheckpointPair::Found& found, const std::vector<FingerprintPart>& job);
  using RecordsOfSteps = std::map<std::size_t, std::vector<Journal::Record>>;
  void index_journal(const Journal::Place& place);
  void visit(const RecordsOfSteps& records, std::size_t step, const std::function<void(std::string_view)>& visit) const;
  bool is_due() const;
  /// Writes a checkpoint of an open step; without a state, one between steps.
  void write(std::optional<std::size_t> step, double time, const std::string& state);
  void flush_if_large();
  void note(const std::string& text);

  CheckpointOptions options_;
  CheckpointPair pair_;
  Journal journal_;
  std::vector<FingerprintPart> job_;
  CheckpointSetting setting_;
  bool resumes_ = false;
  // What the run continues from:
  RecordsOfSteps rows_, of_files_;
  std::map<std::size_t, Journal::Record> ends_;  // of steps over time that came to their end
  std::optional<std::size_t> open_step_;
  std::string open_state_;
  std::optional<double> resumed_at_;

  Stopwatch since_written_;
  int increments_ = 0;  // since the last checkpoint
  int written_ = 0;
  double seconds_ = 0;
  bool failing_ = false;
  std::vector<std::string> notes_;
};

/// The link between the runner of a dynamic or transient heat step and the checkpoints of its run. Without checkpoints,
/// all functions do nothing.
///
///   StepCheckpoint saved(checkpoints, step);
///   if (saved.is_complete()) { saved.replay_files(); … take saved.ending() …; return; }
///   if (saved.is_open())     { saved.replay_files(); saved.visit_rows(…); … restore from saved.take_state() … }
///   …after each increment:   saved.add_row(…); saved.increment(time, stops, save)
///   …after the last one:     saved.finish(bytes)
class StepCheckpoint {
 public:
  /// `run` may be null and must outlive this.
  StepCheckpoint(RunCheckpoints* run, std::size_t step) : run_(run), step_(step) {}
  virtual ~StepCheckpoint() = default;

  virtual bool is_on() const { return run_ != nullptr; }  ///< whether the run has checkpoints
  virtual bool is_complete() const;                       ///< whether an earlier run finished the step
  virtual bool is_open() const;                           ///< whether there is a state to continue from
  virtual std::string ending() const;                     ///< of a complete step: what finish() was given
  virtual std::string take_state();                       ///< of an open step: what `save` has written; once
  /// Visits what add_row() was given before the checkpoint, in the same order.
  void visit_rows(const std::function<void(std::string_view)>& visit) const;
  /// Gives result files what they have added for this step before the checkpoint.
  void replay_files() const;
  /// Adds to the history of the step: bytes that visit_rows() returns.
  void add_row(std::string_view bytes);
  /// Ends an increment at a time. Makes a checkpoint if it is due, and in any case if the run is to stop; `save` puts
  /// the state of the step into it.
  virtual void increment(double time, bool stops, const std::function<void(ByteWriter&)>& save);
  /// Ends the step, stores what later steps and the summary need from it, and writes a checkpoint.
  virtual void finish(double time, std::string_view bytes);

 protected:
  /// Counts an increment. Returns whether a checkpoint is due; false where the run has none.
  bool count_increment();
  /// Writes what waits for the next checkpoint, if it is much.
  void flush();
  /// Writes a checkpoint of the open step.
  void write(double time, const std::string& state);

 private:
  RunCheckpoints* run_;
  std::size_t step_;
};

}  // namespace voussoir
