#include <voussoir/jobs/result_files.hpp>

#include <optional>

#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/checkpoint/restart_file.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/output_lock.hpp>
#include <voussoir/jobs/detail/background_work.hpp>
#include <voussoir/jobs/detail/common_files.hpp>
#include <voussoir/jobs/detail/heating_steps.hpp>
#include <voussoir/jobs/detail/judge_step.hpp>
#include <voussoir/jobs/detail/load_case_index.hpp>
#include <voussoir/jobs/detail/part_files.hpp>
#include <voussoir/jobs/detail/restart_state.hpp>
#include <voussoir/jobs/detail/result_names.hpp>
#include <voussoir/jobs/detail/results_json.hpp>
#include <voussoir/jobs/detail/stage_clock.hpp>
#include <voussoir/jobs/detail/state_files.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
#include <voussoir/jobs/detail/step_files.hpp>
#include <voussoir/jobs/detail/step_picture.hpp>
#include <voussoir/jobs/detail/step_probes.hpp>
#include <voussoir/jobs/earlier_files.hpp>

namespace voussoir {
namespace fs = std::filesystem;

/// What the functions of ResultFiles share: the writers of files, and when each of them may write.
struct ResultFiles::State {
  const Job& job;
  OutputOptions options;
  detail::LoadCaseIndex load_cases;
  detail::ResultNames names;
  OutputLock lock;  // until the last file is written
  std::vector<StepSummary> summaries;
  EarlierFiles earlier;  // of a run that this one replaces
  bool lost = false;     // another run writes results of the same name
  std::string json;
  double seconds = 0;
  detail::StageClock clock;  // what they were spent on
  detail::CommonFiles files;
  detail::StepProbes probes;
  detail::StepPictures pictures;
  detail::PartFiles parts;
  detail::HeatingSteps heating;
  detail::StepFiles steps;
  detail::StateFiles states;
  std::shared_ptr<const ModeSet> found_modes;  // of the frequency step that is being written
  std::optional<RestartFileWriter> restarts;   // of a job that writes one
  detail::BackgroundWork background;           // the last member: its thread uses all the others

  State(const Job& j, OutputOptions o)
      : job(j),
        options(std::move(o)),
        load_cases(j),
        names(j, options),
        files(j, options, names),
        probes(j),
        pictures(j, options),
        parts(j, options),
        heating(j),
        steps(files, clock, probes, pictures, parts),
        states(files, heating, probes, pictures, parts) {
    const bool restartable = std::any_of(job.steps.begin(), job.steps.end(),
                                         [](const JobStep& step) { return step.restart != RestartWrite::none; });
    if (!restartable || !options.json || options.merges_parts) return;  // a run without files
    restarts.emplace(files.path(names.name() + ".rout"), job.restart_deck,
                     detail::RestartFingerprint::of(job).to_bytes());
  }

  std::string json_name() const { return names.name() + ".results.json"; }

  State& when_idle() {
    background.wait();
    return *this;
  }

  /// Runs `write`. Where another run took a name meanwhile, that run's files are kept and this one writes no more.
  template <class Write>
  void write_or_lose(Write write) {
    try {
      write();
    } catch (const NameTaken& error) {
      lost = true;
      files.discard();
      throw Error(ErrorCode::io,
                  "another run wrote this file while this one was solving: its results were kept, and nothing more is "
                  "written; choose another folder with --output",
                  error.where());
    }
  }

  /// Everything of one step.
  void write(std::size_t step, StepResult& result, const detail::StepFiles::Acting& acting) {
    const Stopwatch watch;
    clock.timed("summary", [&] { summaries.push_back(summarize(job, step, result)); });
    write_or_lose([&] { steps.write(step, result, acting, summaries.back()); });
    seconds += watch.seconds();
  }

  /// Writes something that is a stage of its own, here and now.
  template <class Write>
  void write_stage(const char* stage, Write write) {
    const Stopwatch watch;
    write_or_lose([&] { clock.timed(stage, write); });
    seconds += watch.seconds();
  }

  /// Writes a part of a step of modes, once nothing is written in the background.
  template <class Write>
  void write_modal(const char* stage, Write write) {
    background.check();
    write_stage(stage, write);
  }

  /// Files that hold all steps get their names.
  void close_files() {
    if (!lost && detail::has_single_results(job)) steps.write_list();
    files.commit();
  }

  void draw_worst() {
    if (lost) return;
    for (const fs::path& file : pictures.draw_worst(options.folder, names.name())) files.done(file);
  }

  /// Removes what an earlier run of this job wrote and this one did not.
  void remove_earlier_files() {
    if (lost) return;
    std::vector<fs::path> ours = files.written();
    if (options.json) ours.push_back(files.path(json_name()));
    const std::vector<std::string> gone = earlier.remove_others(ours);
    if (!gone.empty())
      files.note("removed " + std::to_string(gone.size()) + (gone.size() == 1 ? " file" : " files") +
                 " of an earlier run of this job: " + few_names(gone));
  }

  void write_json(const JobResult* result, const Error* error, const RunRecord& record) {
    detail::JsonContents contents;
    contents.job = &job;
    contents.record = &record;
    contents.result = result;
    contents.error = error;
    contents.steps = &summaries;
    std::vector<fs::path> ours = files.written();
    if (options.json && !lost) ours.push_back(files.path(json_name()));
    contents.files = &ours;
    if (!lost) contents.earlier_files = earlier.others(ours);
    if (!contents.earlier_files.empty())
      files.note("files of an earlier run of this job are still in the folder: " + few_names(contents.earlier_files));
    contents.notes = &files.notes();
    contents.write_seconds = seconds;
    json = detail::results_json(contents);
    if (options.json && !lost) files.write(json_name(), json);
  }
};

ResultFiles::ResultFiles(const Job& job, OutputOptions options)
    : state_(std::make_unique<State>(job, std::move(options))) {
  State& s = *state_;
  const std::string& name = s.names.name();
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos)
    throw Error(ErrorCode::bad_input, "this is not a valid name for results; give a name without '/'",
                "name '" + name + "'");
  const std::vector<std::string> files = s.names.plan(s.probes, s.pictures, s.parts);
  if (files.empty()) return;
  s.names.check_lengths(files);
  s.names.make_folder();
  s.lock.acquire(s.options.folder, name);
  s.names.check_free(files);
  if (s.options.overwrite) s.earlier.read(s.options.folder, s.json_name(), name);
}

ResultFiles::~ResultFiles() = default;

void ResultFiles::prepare() {
  State& s = *state_;
  if (s.options.in_background && s.options.vtu) s.background.begin([&s] { s.steps.prepare(); });
}

void ResultFiles::write_step(std::size_t step, StepResult result) {
  State& s = *state_;
  s.background.check();
  const JobStep& asked = s.job.steps.at(step);
  if (s.heating.contains(step)) s.heating.keep(step, result.unknowns);
  // Load cases may be added while this step is written: what is needed of them is taken now.
  detail::StepFiles::Acting acting;
  const LoadCase* const loads = s.load_cases.find(asked);
  if (asked.procedure == Procedure::statics)
    acting.temperatures =
        detail::acting_temperatures(s.job, asked, loads, asked.heated_by ? s.heating.find(*asked.heated_by) : nullptr);
  acting.loaded_nodes = detail::loaded_nodes(asked, loads);
  acting.parts = s.parts.acting(asked);
  if (!s.options.in_background) return s.write(step, result, acting);
  // A std::function must be copyable, and a result is better not copied.
  const auto kept = std::make_shared<StepResult>(std::move(result));
  s.background.begin([&s, step, kept, acting = std::move(acting)] { s.write(step, *kept, acting); });
}

void ResultFiles::write_merged_step(std::size_t step, StepSummary summary, std::span<const detail::PrintTable> tables,
                                    std::span<const std::string> pieces, std::span<const std::string> notes) {
  State& s = *state_;
  const Stopwatch watch;
  s.summaries.push_back(std::move(summary));
  for (const std::string& text : notes) s.files.note(text);
  take_pieces(pieces);
  if (s.options.tables)
    s.write_or_lose([&] { s.clock.timed("other files", [&] { s.steps.write_tables(step, tables); }); });
  s.seconds += watch.seconds();
}

void ResultFiles::write_merged_state(std::size_t step, const StepState& head,
                                     std::span<const detail::PrintTable> tables,
                                     std::span<const detail::PrintTable> imaginary,
                                     std::span<const std::string> notes) {
  State& s = *state_;
  s.write_modal("states", [&] { s.states.merged_state(step, head, tables, imaginary, notes); });
}

std::size_t ResultFiles::state_count() const { return state_->states.count(); }

void ResultFiles::take_pieces(std::span<const std::string> pieces) {
  for (const std::string& piece : pieces) state_->files.done(state_->files.path(piece));
}

void ResultFiles::list_states(std::size_t step) {
  State& s = *state_;
  s.write_modal("states", [&] { s.states.list(step); });
}

void ResultFiles::write_merged_modes(std::size_t step, std::shared_ptr<const ModeSet> found,
                                     std::span<const std::string> pieces) {
  take_pieces(pieces);
  modes(step, std::move(found));
  end(step, {});
}

void ResultFiles::modes(std::size_t step, std::shared_ptr<const ModeSet> modes) {
  State& s = *state_;
  s.write_modal("modes", [&] { s.states.modes(step, *modes); });
  s.found_modes = std::move(modes);
}

void ResultFiles::state(std::size_t step, StepState state) {
  State& s = *state_;
  if (s.heating.contains(step) && is_heat(s.job.steps[step].procedure)) s.heating.keep(step, state.result.unknowns);
  if (!s.options.in_background || !is_saved(s.job.steps[step].procedure))
    return s.write_modal("states", [&] { s.states.state(step, state); });
  // The next increments are computed while this state is written.
  const auto kept = std::make_shared<StepState>(std::move(state));
  s.background.begin([&s, step, kept] { s.write_stage("states", [&] { s.states.state(step, *kept); }); });
}

void ResultFiles::restart(std::size_t step, const std::string& bytes) {
  State& s = *state_;
  if (!s.restarts) return;
  const fs::path file = s.files.path(s.names.name() + ".rout");
  s.write_modal("other files", [&] {
    s.restarts->add({detail::deck_step(s.job, step), step + 1, bytes},
                    s.job.steps[step].restart == RestartWrite::alone);
  });
  s.files.done(file);
}

void ResultFiles::attach(RunCheckpoints& checkpoints) {
  State& s = *state_;
  s.states.attach(checkpoints);
  checkpoints.settle = [&s] { s.background.check(); };
  checkpoints.restore_files = [&s](std::size_t step, std::string_view bytes) {
    s.background.check();
    s.states.restore(step, bytes);
  };
}

void ResultFiles::end(std::size_t step, StepResponse response) {
  State& s = *state_;
  s.write_modal("states", [&] {
    s.states.end(step, response);
    s.summaries.push_back(summarize(s.job, step, s.found_modes.get(), response));
  });
  s.found_modes.reset();
}

void ResultFiles::finish(const JobResult& result, const RunRecord& record) {
  state_->background.check();
  const Stopwatch watch;
  state_->write_or_lose([&] {
    state_->close_files();
    state_->draw_worst();
    state_->remove_earlier_files();
    state_->seconds += watch.seconds();
    state_->write_json(&result, nullptr, record);
  });
  state_->lock.release();
}

void ResultFiles::give_up(const Error& error, const RunRecord& record) noexcept {
  state_->background.wait();
  try {
    state_->close_files();
    state_->draw_worst();
  } catch (const std::exception&) {
    // A full disk may be why the job stopped; what is written is told by written().
  }
  try {
    state_->write_json(nullptr, &error, record);
  } catch (const std::exception&) {
  }
  state_->lock.release();
}

bool ResultFiles::has_failed() const { return state_->background.has_failed(); }
void ResultFiles::check() { state_->background.check(); }

const std::vector<StepSummary>& ResultFiles::summaries() const { return state_->when_idle().summaries; }
const std::vector<fs::path>& ResultFiles::written() const { return state_->when_idle().files.written(); }
const std::vector<std::string>& ResultFiles::notes() const { return state_->when_idle().files.notes(); }
double ResultFiles::seconds() const { return state_->when_idle().seconds; }
const std::vector<StageTime>& ResultFiles::stage_times() const { return state_->when_idle().clock.times(); }
const std::string& ResultFiles::json() const { return state_->when_idle().json; }

}  // namespace voussoir
