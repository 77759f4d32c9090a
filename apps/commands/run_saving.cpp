#include <voussoir/apps/commands/run_saving.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace voussoir::app {
namespace {

constexpr double usual_seconds_between_checkpoints = 60;

CheckpointOptions checkpoint_options(const CheckpointOptions& asked, const OutputOptions& output, const Job& job,
                                     const std::string& file, const RunSaving::Remark& remark) {
  CheckpointOptions saving = asked;
  const bool is_asked = saving.every_seconds > 0 || saving.every_increments > 0 || saving.resume;
  if (std::none_of(job.steps.begin() + static_cast<std::ptrdiff_t>(job.first_step()), job.steps.end(),
                   [](const JobStep& step) { return is_saved(step.procedure); })) {
    if (is_asked) remark("the job has no step that is solved in increments, so there is nothing to save or resume");
    return {};
  }
  if (!output.json) {
    if (is_asked)
      throw Error(ErrorCode::bad_input, "checkpoints are not available without result files; remove --no-files", file);
    return {};
  }
  if (saving.every_seconds > 0 || saving.every_increments > 0) return saving;
  saving.every_seconds = job.checkpoints.every_seconds;
  saving.every_increments = job.checkpoints.every_increments;
  if (saving.resume && !(saving.every_seconds > 0) && saving.every_increments == 0)
    saving.every_seconds = usual_seconds_between_checkpoints;
  return saving;
}

}  // namespace

RunSaving::RunSaving(const CheckpointOptions& asked, OutputOptions output, const Job& job, const std::string& file,
                     Remark remark)
    : options_(checkpoint_options(asked, output, job, file, remark)),
      output_(std::move(output)),
      remark_(std::move(remark)),
      left_(output_.json && RunCheckpoints::exist(output_.folder, job.name)) {
  if (left_ && !options_.resume && !output_.overwrite)
    throw Error(ErrorCode::io,
                "there are checkpoints of an interrupted run; continue it with --resume, or start over with --force",
                "folder '" + (output_.folder.empty() ? "." : output_.folder.string()) + "'");
  if (left_ && options_.resume) output_.overwrite = true;
}

void RunSaving::begin(const Job& job, ResultFiles& files, const std::function<std::string()>& machine,
                      const std::vector<FingerprintPart>& more) {
  if (!(options_.every_seconds > 0) && options_.every_increments == 0) {
    if (left_) RunCheckpoints::remove(output_.folder, job.name);
    return;
  }
  RunCheckpoints& checkpoints = checkpoints_.emplace(output_.folder, job.name, options_);
  checkpoints.tell = remark_;
  CheckpointSetting setting;
  setting.machine = machine();
  setting.files = std::string(output_.vtu ? "VTU files" : "no VTU files") +
                  (output_.tables ? ", tables" : ", no tables") + (output_.frd ? ", an .frd file" : "");
  std::vector<FingerprintPart> fingerprint = more;  // first: another number of processes changes all parts of the job
  for (FingerprintPart& part : job_fingerprint(job)) fingerprint.push_back(std::move(part));
  checkpoints.begin(std::move(fingerprint), std::move(setting));
  begun_ = true;
  files.attach(checkpoints);
  if (const auto time = checkpoints.resumed_at()) remark_(fmt::format("resumed at time {:.10g}", *time));
}

}  // namespace voussoir::app
