#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/jobs/result_files.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>

namespace voussoir::app {

/// The checkpoints of `voussoir run`, on one process and on several: when a job is saved, and what it goes on from.
class RunSaving {
 public:
  using Remark = std::function<void(const std::string& note)>;  ///< called with a sentence for the user
  /// As the command line asks for, otherwise as the job does. Throws Error (io) if an interrupted run has left
  /// checkpoints that are neither to be resumed nor replaced, and Error (bad_input) without result files.
  RunSaving(const CheckpointOptions& asked, OutputOptions output, const Job& job, const std::string& file,
            Remark remark);

  /// What result files are written with: those of a run that is resumed are replaced.
  const OutputOptions& output() const { return output_; }
  /// Starts the checkpoints, or finds the one to continue from; removes those that are left where there are to be none.
  /// `machine` says what solves, and is called where there are checkpoints; `more` has what must be the same beside the
  /// job when the run is resumed.
  void begin(const Job& job, ResultFiles& files, const std::function<std::string()>& machine,
             const std::vector<FingerprintPart>& more = {});
  /// Of the run, after begin(); null: it has none.
  RunCheckpoints* checkpoints() { return begun_ ? &*checkpoints_ : nullptr; }

 private:
  CheckpointOptions options_;
  OutputOptions output_;
  Remark remark_;
  bool left_ = false;  // by an interrupted run
  std::optional<RunCheckpoints> checkpoints_;
  bool begun_ = false;
};

}  // namespace voussoir::app
