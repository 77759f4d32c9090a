#include <voussoir/jobs/run_checkpoints.hpp>

#include <algorithm>
#include <utility>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/backends/version.hpp>

namespace voussoir {
namespace {

namespace fs = std::filesystem;

constexpr const char* run_mark = "VSRRUN";
constexpr std::uint32_t run_format = 5;
constexpr std::size_t flush_bytes = std::size_t{16} << 20;
constexpr std::size_t most_waiting_bytes = std::size_t{256} << 20;

fs::path checkpoint_path(const fs::path& folder, const std::string& name) { return folder / (name + ".checkpoint"); }
fs::path journal_path(const fs::path& folder, const std::string& name) { return folder / (name + ".journal"); }

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i == 0 ? "" : "; ") + names[i];
  if (names.size() > most) text += "; and " + std::to_string(names.size() - most) + " more";
  return text;
}

}  // namespace

bool is_saved(Procedure procedure) {
  return procedure == Procedure::nonlinear_statics || procedure == Procedure::dynamic ||
         procedure == Procedure::transient_heat;
}

RunCheckpoints::RunCheckpoints(const fs::path& folder, const std::string& name, CheckpointOptions options)
    : options_(options),
      pair_(checkpoint_path(folder, name), run_mark, run_format),
      journal_(journal_path(folder, name)) {}

bool RunCheckpoints::exist(const fs::path& folder, const std::string& name) {
  return CheckpointPair(checkpoint_path(folder, name), run_mark, run_format).exists();
}

void RunCheckpoints::remove(const fs::path& folder, const std::string& name) noexcept {
  try {
    // Without its checkpoints a journal is nothing: they go first.
    CheckpointPair(checkpoint_path(folder, name), run_mark, run_format).remove();
    Journal(journal_path(folder, name)).remove();
  } catch (const std::exception&) {  // out of memory
  }
}

void RunCheckpoints::note(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) != notes_.end()) return;
  notes_.push_back(text);
  if (tell) tell(text);
}

void RunCheckpoints::begin(std::vector<FingerprintPart> job, CheckpointSetting setting) {
  setting_ = std::move(setting);
  if (options_.resume && pair_.exists())
    read(job);
  else if (options_.resume)
    note("there is no checkpoint: the run starts at its beginning");
  job_ = std::move(job);
  if (!resumes_) {
    pair_.remove();
    journal_.create();
    // A run that is killed from here on can be resumed, whatever files it has written.
    journal_.flush();
    write(std::nullopt, 0, {});
    if (failing_) throw Error(ErrorCode::io, notes_.back(), pair_.files().front().string());
  }
  since_written_ = Stopwatch();
}

void RunCheckpoints::read(const std::vector<FingerprintPart>& job) {
  std::vector<std::string> refused;
  const std::vector<CheckpointPair::Found> found = pair_.read(refused);
  for (const CheckpointPair::Found& candidate : found) {
    try {
      if (!take(candidate, job)) continue;
      for (const std::string& text : refused) note("a damaged checkpoint is ignored: " + text);
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::bad_input || error.where() != journal_.path().string()) throw;
      refused.push_back(candidate.path.string() + ": " + error.where() + ": " + error.text());
    }
  }
  throw Error(ErrorCode::bad_input,
              "the run cannot be resumed, because no checkpoint is intact: " + joined(refused) +
                  "; start over with --force and without --resume",
              pair_.files().front().string());
}

/// Goes on from a generation. Throws Error (bad_input) at the path of the journal if that is damaged.
bool RunCheckpoints::take(const CheckpointPair::Found& found, const std::vector<FingerprintPart>& job) {
  const std::string where = found.path.string();
  ByteReader in(found.bytes, where);
  const std::string program = in.text();
  std::vector<FingerprintPart> before;
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    FingerprintPart& part = before.emplace_back();
    part.name = in.text();
    part.sum = in.get<std::uint64_t>();
  }
  if (const auto changed = changed_parts(before, job); !changed.empty())
    throw Error(ErrorCode::bad_input,
                "the run cannot be resumed: the checkpoint is of another job; these differ: " + joined(changed) +
                    "; restore the input file, or start over with --force and without --resume",
                where);
  const std::string machine = in.text(), files = in.text();
  if (files != setting_.files)
    throw Error(ErrorCode::bad_input,
                "the run cannot be resumed with other result files: it was started with '" + files +
                    "', and now has '" + setting_.files + "'; give the same options",
                where);
  Journal::Place place;
  place.length = in.get<std::uint64_t>();
  place.sum = in.get<std::uint64_t>();
  journal_.check(place);
  const auto step = in.get<std::int64_t>();
  const auto time = in.get<double>();
  std::string state = in.text();
  in.expect_end();
  if (machine != setting_.machine)
    note("the checkpoint was made with " + machine + ", and the run continues with " + setting_.machine +
         ": results agree up to rounding errors");
  if (program != version())
    note("the checkpoint was made by version " + program + ", and the run continues with version " + version() +
         ": results agree up to rounding errors");
  index_journal(place);
  if (step >= 0) {
    open_step_ = static_cast<std::size_t>(step);
    open_state_ = std::move(state);
  }
  if (open_step_ || !ends_.empty()) resumed_at_ = time;
  journal_.continue_at(place);
  pair_.go_on_from(found);
  resumes_ = true;
  return true;
}

void RunCheckpoints::index_journal(const Journal::Place& place) {
  rows_.clear();
  of_files_.clear();
  ends_.clear();
  for (const Journal::Record& record : journal_.records(place)) {
    if (record.kind == static_cast<std::uint8_t>(Record::row)) rows_[record.step].push_back(record);
    if (record.kind == static_cast<std::uint8_t>(Record::files)) of_files_[record.step].push_back(record);
    if (record.kind == static_cast<std::uint8_t>(Record::end)) ends_[record.step] = record;
  }
}

void RunCheckpoints::visit(const RecordsOfSteps& records, std::size_t step,
                           const std::function<void(std::string_view)>& visit) const {
  if (const auto found = records.find(step); found != records.end()) journal_.read(found->second, visit);
}

bool RunCheckpoints::is_due() const {
  return (options_.every_seconds > 0 && since_written_.seconds() >= options_.every_seconds) ||
         (options_.every_increments > 0 && increments_ >= options_.every_increments);
}

void RunCheckpoints::add_to_files(std::size_t step, std::string_view bytes) {
  journal_.append(static_cast<std::uint8_t>(Record::files), static_cast<std::uint32_t>(step), bytes);
}

void RunCheckpoints::write(std::optional<std::size_t> step, double time, const std::string& state) {
  if (settle) settle();
  const Stopwatch watch;
  try {
    journal_.flush();
    ByteWriter out;
    out.put(version()).put(static_cast<std::uint64_t>(job_.size()));
    for (const FingerprintPart& part : job_) out.put(part.name).put(part.sum);
    out.put(setting_.machine).put(setting_.files);
    out.put(journal_.place().length).put(journal_.place().sum);
    out.put(step ? static_cast<std::int64_t>(*step) : std::int64_t{-1}).put(time).put(state);
    pair_.write(out.bytes());
    ++written_;
    if (failing_) note("checkpoints can be written again");
    failing_ = false;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io) throw;
    failing_ = true;
    note("a checkpoint could not be written, and the previous one is kept: " + error.where() + ": " + error.text());
    if (journal_.waiting_bytes() > most_waiting_bytes) throw;
  }
  seconds_ += watch.seconds();
  since_written_ = Stopwatch();
  increments_ = 0;
}

/// What waits for the next checkpoint is written early if it is much. It counts once a checkpoint says so.
void RunCheckpoints::flush_if_large() {
  if (journal_.waiting_bytes() < flush_bytes) return;
  if (settle) settle();
  try {
    journal_.flush();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io || journal_.waiting_bytes() > most_waiting_bytes) throw;
  }
}

void RunCheckpoints::finish() noexcept {
  pair_.remove();
  journal_.remove();
}

bool StepCheckpoint::is_complete() const { return run_ && run_->ends_.contains(step_); }

bool StepCheckpoint::is_open() const { return run_ && run_->open_step_ == step_; }

std::string StepCheckpoint::ending() const {
  std::string bytes;
  run_->journal_.read({&run_->ends_.at(step_), 1}, [&](std::string_view found) { bytes = found; });
  return bytes;
}

std::string StepCheckpoint::take_state() { return std::exchange(run_->open_state_, {}); }

void StepCheckpoint::visit_rows(const std::function<void(std::string_view)>& visit) const {
  if (run_) run_->visit(run_->rows_, step_, visit);
}

void StepCheckpoint::replay_files() const {
  if (!run_ || !run_->restore_files) return;
  run_->visit(run_->of_files_, step_, [&](std::string_view bytes) { run_->restore_files(step_, bytes); });
}

void StepCheckpoint::add_row(std::string_view bytes) {
  if (!run_) return;
  run_->journal_.append(static_cast<std::uint8_t>(RunCheckpoints::Record::row), static_cast<std::uint32_t>(step_),
                        bytes);
}

bool StepCheckpoint::count_increment() {
  if (!run_) return false;
  ++run_->increments_;
  return run_->is_due();
}

void StepCheckpoint::flush() {
  if (run_) run_->flush_if_large();
}

void StepCheckpoint::write(double time, const std::string& state) {
  if (run_) run_->write(step_, time, state);
}

void StepCheckpoint::increment(double time, bool stops, const std::function<void(ByteWriter&)>& save) {
  if (!run_) return;
  if (!count_increment() && !stops) return flush();
  ByteWriter state;
  save(state);
  write(time, state.take());
}

void StepCheckpoint::finish(double time, std::string_view bytes) {
  if (!run_) return;
  if (run_->settle) run_->settle();  // what files have to add stands before the end
  run_->journal_.append(static_cast<std::uint8_t>(RunCheckpoints::Record::end), static_cast<std::uint32_t>(step_),
                        bytes);
  run_->write(std::nullopt, time, {});
}

}  // namespace voussoir
