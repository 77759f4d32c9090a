#include <voussoir/jobs/result_files.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_set>

#include <voussoir/framework/analysis/error_estimate.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/checkpoint/restart_file.hpp>
#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/output_lock.hpp>
#include <voussoir/jobs/detail/background_work.hpp>
#include <voussoir/jobs/detail/judge_step.hpp>
#include <voussoir/jobs/detail/load_case_index.hpp>
#include <voussoir/jobs/detail/modal_files.hpp>
#include <voussoir/jobs/detail/part_files.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/detail/restart_state.hpp>
#include <voussoir/jobs/detail/result_names.hpp>
#include <voussoir/jobs/detail/results_json.hpp>
#include <voussoir/jobs/detail/step_bytes.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
#include <voussoir/jobs/detail/step_frd.hpp>
#include <voussoir/jobs/detail/step_picture.hpp>
#include <voussoir/jobs/detail/step_probes.hpp>
#include <voussoir/jobs/detail/table_csv.hpp>
#include <voussoir/jobs/detail/vtu_series.hpp>
#include <voussoir/jobs/earlier_files.hpp>

namespace voussoir {
namespace fs = std::filesystem;

struct ResultFiles::State {
  const Job& job;
  OutputOptions options;
  detail::LoadCaseIndex load_cases;
  detail::ResultNames names;
  std::string name;
  OutputLock lock;  // until the last file is written
  std::vector<StepSummary> summaries;
  std::vector<fs::path> written;
  std::unordered_set<std::string> known;  // the same, to be looked up
  std::vector<std::string> notes;
  std::unordered_set<std::size_t> heating;  // steps that heat later ones
  std::map<std::size_t, NodalField> heat;   // their temperatures
  std::unique_ptr<OutputFile> dat;          // begun, while the job runs
  std::unique_ptr<FrdWriter> frd;           // likewise
  std::map<std::size_t, int> frd_states;    // of steps over time: how many it has
  EarlierFiles earlier;                     // of a run that this one replaces
  bool lost = false;                        // another run writes results of the same name
  std::string json;
  double seconds = 0;
  std::vector<StageTime> stages;  // what they were spent on
  detail::StepProbes probes;
  detail::StateProbes state_probes;
  detail::StepPictures pictures;
  detail::VtuSeries vtus;
  detail::PartFiles parts;
  detail::ModalFiles modal;
  std::shared_ptr<const ModeSet> found_modes;  // of the frequency step that is being written
  std::optional<RestartFileWriter> restarts;   // once a state was written
  RunCheckpoints* checkpoints = nullptr;
  /// What a state adds to files that hold all of them, for checkpoints.
  struct Added {
    std::string dat, frd;
    std::vector<std::string> notes;
  };
  std::optional<Added> added;  // of the state that is being written, if checkpoints save it
  /// Keeps what a state adds, and forgets it in the end, also where a file cannot be written.
  struct Adding {
    State& state;
    Adding(State& s, bool saved) : state(s) {
      if (saved) state.added.emplace();
    }
    ~Adding() {
      state.added.reset();
      if (state.frd) state.frd->set_copy(nullptr);
    }
  };
  detail::BackgroundWork background;  // the last member: its thread uses all the others

  /// What acts in a step, as far as files tell of it.
  struct Acting {
    std::vector<double> temperatures;                 // at the nodes; empty: the initial ones
    std::vector<std::int32_t> loaded_nodes;           // ascending
    std::vector<SuperelementInstance::Acting> parts;  // on each superelement
  };

  State(const Job& j, OutputOptions o)
      : job(j),
        options(std::move(o)),
        load_cases(j),
        names(j, options),
        name(names.name()),
        probes(j),
        state_probes(j, probes),
        pictures(j, options),
        vtus(j, options),
        parts(j, options),
        modal(j, options, surroundings()) {
    for (const JobStep& step : job.steps)
      if (step.heated_by) heating.insert(*step.heated_by);
    if (!job.restart) return;
    for (auto& found : detail::RestartState::of(*job.restart).unknowns)
      if (heating.contains(found.step)) heat[found.step] = std::move(found.values);
  }

  detail::ModalFiles::Surroundings surroundings() {
    return {
        [this](const fs::path& file) { done(file); }, [this](const std::string& text) { append_to_dat(text); },
        [this](const std::string& text) { note(text); },
        [this](std::size_t step, std::size_t request, std::size_t item) { return names.table(step, request, item); }};
  }

  void append_to_dat(const std::string& text) {
    if (!dat) dat = std::make_unique<OutputFile>(path(name + ".dat"), options.overwrite);
    dat->write(text);
    if (added) added->dat += text;
  }

  fs::path path(const std::string& file) const { return options.folder / file; }
  std::string stem(std::size_t step) const { return names.stem(step); }

  void done(const fs::path& file) {
    if (known.insert(file.native()).second) written.push_back(file);
  }

  void write_vtu(std::size_t step, const StepResult& result, const ErrorEstimate& estimate, detail::StepFields& fields,
                 const NodalField& acting) {
    if (fields.too_many_materials)
      note(
          "the model has so many materials that pictures show the mean stress of each element instead of nodal "
          "stresses");
    const std::string file = stem(step) + ".vtu";
    vtus.write(step, file, result, acting, estimate, fields);
    done(path(file));
    if (vtus.list_is_due()) write_list();
  }

  void write_parts(std::size_t step, const NodalField& unknowns, const std::string& base,
                   const std::vector<SuperelementInstance::Acting>& acting) {
    for (const fs::path& file : parts.write(job.steps[step], base, unknowns, acting)) done(file);
  }

  void write_list() {
    if (vtus.write_list(name + ".pvd")) done(path(name + ".pvd"));
  }

  void write_fields(std::size_t step, StepResult& result, const Acting& acts) {
    const std::vector<double>& temperatures = acts.temperatures;
    const JobStep& asked = job.steps[step];
    const Domain& domain = *job.domains[asked.domain];
    detail::StepFields fields;
    timed("nodal values", [&] { fields = detail::make_step_fields(job, asked, result, !options.vtu); });
    join_ranges(summaries.back().ranges, fields.ranges);
    const NodalField acting{"temperature", {"T"}, temperatures};
    if (!temperatures.empty())
      join_ranges(summaries.back().ranges, ranges_of(domain, acting, reported_nodes(job, domain)));
    name_nodes(summaries.back().ranges, job.instances);
    ErrorEstimate estimate;
    timed("error estimate", [&] {
      estimate = estimate_error(domain, result.points);
      detail::judge_step(job, asked, result, estimate, acts.loaded_nodes, summaries.back());
    });
    if (options.vtu) timed("VTU files", [&] { write_vtu(step, result, estimate, fields, acting); });
    timed("VTU files", [&] { write_parts(step, result.unknowns, stem(step), acts.parts); });
    timed("pictures", [&] {
      for (const fs::path& file : pictures.draw(step, result, temperatures, estimate, options.folder, name)) done(file);
    });
  }

  void draw_worst() {
    if (lost) return;
    for (const fs::path& file : pictures.draw_worst(options.folder, name)) done(file);
  }

  void write_probes(std::size_t step, const StepResult& result) {
    if (probes.empty()) return;
    detail::StepProbes::Found found = probes.find(job.steps[step], result);
    const auto write = [&](const std::string& file, const CsvTable& table) {
      table.write(path(file), options.overwrite);
      done(path(file));
    };
    if (options.tables && !found.points.empty())
      write(stem(step) + "_points.csv", detail::csv_of_points(found.points, job.units, job.instances));
    for (const detail::PathResult& along : found.paths) {
      const ProbePath& asked = job.paths[along.path];
      if (along.outside > 0) note(detail::note_of_path(job, along));
      if (!options.tables) continue;
      const std::string base = stem(step) + names.paths()[along.path];
      write(base + ".csv", detail::csv_of_path(along.values, along.names, job.units, job.instances));
      const std::string title =
          "Path " + asked.name + " of " + job.name + (job.steps.size() > 1 ? ", " + job.steps[step].name : "");
      OutputFile file(path(base + ".svg"), options.overwrite);
      file.write(detail::plot_of_path(along, title, job.units));
      file.commit();
      done(path(base + ".svg"));
    }
    summaries.back().points = std::move(found.points);
  }

  void write_tables(std::size_t step, const StepResult& result, const std::vector<double>& temperatures) {
    if (!options.tables) return;
    std::vector<std::string> told;
    const auto tables = detail::print_tables(job, job.steps[step], result, temperatures, told);
    for (const std::string& text : told) note(text);
    write_print_tables(step, tables);
  }

  void write_print_tables(std::size_t step, std::span<const detail::PrintTable> tables) {
    for (const auto& table : tables) {
      append_to_dat(detail::calculix_text(table, job.steps[step].total_time));
      const std::string& base = names.table(step, table.request, table.item);
      if (table.wants_rows) {
        detail::csv_of(table, job.units).write(path(base + ".csv"), options.overwrite);
        done(path(base + ".csv"));
      }
      if (table.wants_totals) {
        detail::csv_of_totals(table, job.units).write(path(base + "_total.csv"), options.overwrite);
        done(path(base + "_total.csv"));
      }
    }
  }

  FrdWriter& frd_file() {
    if (!frd) frd = std::make_unique<FrdWriter>(path(name + ".frd"), options.overwrite, detail::frd_meshes(job));
    return *frd;
  }

  void write_frd(std::size_t step, const StepResult& result, const std::vector<double>& temperatures) {
    if (options.frd) detail::write_frd_step(frd_file(), job, step, result, temperatures);
  }

  /// The states of a step at points and along paths.
  void write_state_probes(std::size_t step) {
    for (const detail::StateProbes::Table& table : state_probes.take()) {
      const fs::path file = path(stem(step) + table.suffix + ".csv");
      table.csv.write(file, options.overwrite);
      done(file);
      if (!table.note.empty()) note(table.note);
    }
  }

  /// Does a part of the work and adds its time to those of its kind.
  template <class Work>
  void timed(const char* stage, Work work) {
    const Stopwatch watch;
    work();
    const auto same = std::find_if(stages.begin(), stages.end(), [&](const StageTime& t) { return t.stage == stage; });
    if (same == stages.end())
      stages.push_back({stage, watch.seconds()});
    else
      same->seconds += watch.seconds();
  }

  void note(const std::string& text) {
    if (std::find(notes.begin(), notes.end(), text) != notes.end()) return;
    notes.push_back(text);
    if (added) added->notes.push_back(text);
  }

  /// Files that hold all steps get their names.
  void close_files() {
    if (!lost && detail::has_single_results(job)) write_list();
    if (const auto file = std::move(frd)) {
      file->commit();
      done(path(name + ".frd"));
    }
    if (const auto file = std::move(dat)) {
      file->commit();
      done(path(name + ".dat"));
    }
  }

  /// Runs `write`. Where another run took a name meanwhile, that run's files are kept and this one writes no more.
  template <class Write>
  void write_or_lose(Write write) {
    try {
      write();
    } catch (const NameTaken& error) {
      lost = true;
      dat.reset();
      frd.reset();
      throw Error(ErrorCode::io,
                  "another run wrote this file while this one was solving: its results were kept, and nothing more is "
                  "written; choose another folder with --output",
                  error.where());
    }
  }

  State& when_idle() {
    background.wait();
    return *this;
  }

  /// Everything of one step.
  void write(std::size_t step, StepResult& result, const Acting& acting) {
    const Stopwatch watch;
    timed("summary", [&] { summaries.push_back(summarize(job, step, result)); });
    write_or_lose([&] {
      write_fields(step, result, acting);
      timed("other files", [&] {
        write_frd(step, result, acting.temperatures);
        write_tables(step, result, acting.temperatures);
        write_probes(step, result);
      });
    });
    seconds += watch.seconds();
  }

  /// Writes a part of a step of modes, here and now.
  template <class Write>
  void write_modal(const char* stage, Write write) {
    background.check();
    const Stopwatch watch;
    write_or_lose([&] { timed(stage, write); });
    seconds += watch.seconds();
  }

  /// Writes one of several states of a step.
  void write_state(std::size_t step, StepState& state) {
    const Procedure procedure = job.steps[step].procedure;
    const bool in_frd =
        options.frd && state.for_viewers && (procedure == Procedure::modal_dynamic || is_integrated(procedure));
    const bool saved = checkpoints && is_saved(procedure);
    // Steps of statics that follow may show the temperatures at the end.
    const double end = job.steps[step].total_time;
    std::optional<NodalField> temperatures;
    if (saved && heating.contains(step) && is_heat(procedure) && std::abs(state.time - end) <= 1e-6 * std::abs(end))
      temperatures = state.result.unknowns;
    const Adding adding(*this, saved);
    if (in_frd) {
      FrdWriter& file = frd_file();
      if (saved) file.set_copy(&added->frd);
      detail::write_frd_state(file, job, step, ++frd_states[step], state);
    }
    if (options.tables) state_probes.add(step, state);
    pictures.take_state(step, state);
    modal.state(step, stem(step), std::move(state));
    if (saved) save_added(step, temperatures);
  }

  /// Writes what a state of a divided job adds to the files of all processes.
  void write_merged_state(std::size_t step, const StepState& head, std::span<const detail::PrintTable> tables,
                          std::span<const detail::PrintTable> imaginary, std::span<const std::string> told) {
    const bool saved = checkpoints && is_saved(job.steps[step].procedure);
    const Adding adding(*this, saved);
    for (const std::string& text : told) note(text);
    if (options.tables) {
      modal.add_tables(step, head, false, tables);
      if (!imaginary.empty()) modal.add_tables(step, head, true, imaginary);
    }
    if (head.for_viewers) modal.add_pieces(step, stem(step), head.at);
    if (saved) save_added(step, {});
  }

  void save_added(std::size_t step, const std::optional<NodalField>& temperatures) {
    const Added& adds = *added;
    ByteWriter out;
    out.put(adds.dat).put(adds.frd).put(frd_states[step]);
    const FrdWriter::Counts counts = frd ? frd->counts() : FrdWriter::Counts();
    out.put(counts.states).put(counts.results).put(adds.notes);
    modal.take_added(out);
    state_probes.take_added(out);
    pictures.take_added(out);
    out.put(temperatures.has_value());
    if (temperatures) detail::put(out, *temperatures);
    checkpoints->add_to_files(step, out.bytes());
  }

  /// Takes back what write_state() of an earlier run has added.
  void restore_state(std::size_t step, std::string_view bytes) {
    background.check();
    ByteReader in(bytes, "the result files of step '" + job.steps[step].name + "'");
    if (const std::string text = in.text(); !text.empty()) append_to_dat(text);
    const std::string text = in.text();
    frd_states[step] = in.get<int>();
    FrdWriter::Counts counts;
    counts.states = in.get<int>();
    counts.results = in.get<int>();
    if (!text.empty()) frd_file().append(text, counts);
    for (const std::string& told : in.texts()) note(told);
    modal.restore(step, stem(step), in);
    state_probes.restore(in);
    pictures.restore(step, in);
    if (in.get<bool>()) heat[step] = detail::get_field(in);
    in.expect_end();
  }

  /// What is asked for of all steps and left out of some.
  void note_left_out(Procedure procedure) {
    if (procedure == Procedure::frequency) return;
    if (options.frd && !detail::is_in_frd(procedure))
      note("harmonic steps and spectra are not written to the .frd file");
    if (!parts.empty()) note("the inside of superelements is not recovered in steps over time or frequency");
    if (procedure != Procedure::spectrum) return;
    if (!probes.empty()) note("points and paths are not evaluated under response spectra");
    if (options.pictures != Pictures::none) note("steps of response spectra are not drawn");
  }

  /// Removes what an earlier run of this job wrote and this one did not.
  void remove_earlier_files() {
    if (lost) return;
    std::vector<fs::path> ours = written;
    if (options.json) ours.push_back(path(name + ".results.json"));
    const std::vector<std::string> gone = earlier.remove_others(ours);
    if (!gone.empty())
      note("removed " + std::to_string(gone.size()) + (gone.size() == 1 ? " file" : " files") +
           " of an earlier run of this job: " + few_names(gone));
  }

  void write_json(const JobResult* result, const Error* error, const RunRecord& record) {
    detail::JsonContents contents;
    contents.job = &job;
    contents.record = &record;
    contents.result = result;
    contents.error = error;
    contents.steps = &summaries;
    std::vector<fs::path> files = written;
    if (options.json && !lost) files.push_back(path(name + ".results.json"));
    contents.files = &files;
    if (!lost) contents.earlier_files = earlier.others(files);
    if (!contents.earlier_files.empty())
      note("files of an earlier run of this job are still in the folder: " + few_names(contents.earlier_files));
    contents.notes = &notes;
    contents.write_seconds = seconds;
    json = detail::results_json(contents);
    if (!options.json || lost) return;
    OutputFile file(path(name + ".results.json"), options.overwrite);
    file.write(json);
    file.commit();
    done(path(name + ".results.json"));
  }
};

ResultFiles::ResultFiles(const Job& job, OutputOptions options)
    : state_(std::make_unique<State>(job, std::move(options))) {
  State& s = *state_;
  if (s.name.empty() || s.name == "." || s.name == ".." || s.name.find('/') != std::string::npos ||
      s.name.find('\0') != std::string::npos)
    throw Error(ErrorCode::bad_input, "this is not a valid name for results; give a name without '/'",
                "name '" + s.name + "'");
  const std::vector<std::string> files = s.names.plan(s.probes, s.pictures, s.parts);
  if (files.empty()) return;
  s.names.check_lengths(files);
  s.names.make_folder();
  s.lock.acquire(s.options.folder, s.name);
  s.names.check_free(files);
  if (s.options.overwrite) s.earlier.read(s.options.folder, s.name + ".results.json", s.name);
}

ResultFiles::~ResultFiles() = default;

void ResultFiles::prepare() {
  State& s = *state_;
  if (s.options.in_background && s.options.vtu) s.background.begin([&s] { s.vtus.prepare(); });
}

void ResultFiles::write_step(std::size_t step, StepResult result) {
  State& s = *state_;
  s.background.check();
  const JobStep& asked = s.job.steps.at(step);
  if (s.heating.contains(step)) s.heat[step] = result.unknowns;
  // Load cases may be added while this step is written: what is needed of them is taken now.
  State::Acting acting;
  const LoadCase* const loads = s.load_cases.find(asked);
  const bool heated = asked.heated_by && s.heat.contains(*asked.heated_by);
  if (asked.procedure == Procedure::statics)
    acting.temperatures =
        detail::acting_temperatures(s.job, asked, loads, heated ? &s.heat.at(*asked.heated_by) : nullptr);
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
  for (const std::string& text : notes) s.note(text);
  take_pieces(pieces);
  if (s.options.tables) s.write_or_lose([&] { s.timed("other files", [&] { s.write_print_tables(step, tables); }); });
  s.seconds += watch.seconds();
}

void ResultFiles::write_merged_state(std::size_t step, const StepState& head,
                                     std::span<const detail::PrintTable> tables,
                                     std::span<const detail::PrintTable> imaginary,
                                     std::span<const std::string> notes) {
  State& s = *state_;
  s.write_modal("states", [&] { s.write_merged_state(step, head, tables, imaginary, notes); });
}

std::size_t ResultFiles::state_count() const { return state_->modal.state_count(); }

void ResultFiles::take_pieces(std::span<const std::string> pieces) {
  for (const std::string& piece : pieces) state_->done(state_->path(piece));
}

void ResultFiles::list_states(std::size_t step) {
  State& s = *state_;
  s.write_modal("states", [&] { s.modal.list_states(step, s.stem(step)); });
}

void ResultFiles::write_merged_modes(std::size_t step, std::shared_ptr<const ModeSet> found,
                                     std::span<const std::string> pieces) {
  take_pieces(pieces);
  modes(step, std::move(found));
  end(step, {});
}

void ResultFiles::modes(std::size_t step, std::shared_ptr<const ModeSet> modes) {
  State& s = *state_;
  s.write_modal("modes", [&] {
    s.modal.modes(step, s.stem(step), *modes);
    if (s.options.frd) detail::write_frd_modes(s.frd_file(), s.job, step, *modes);
    if (s.options.tables) s.state_probes.add(step, *modes);
    for (int m = 0; m < modes->count(); ++m)
      s.write_parts(step, modes->shapes[static_cast<std::size_t>(m)], s.stem(step) + detail::PartFiles::mode_suffix(m),
                    {});
  });
  s.found_modes = std::move(modes);
}

void ResultFiles::state(std::size_t step, StepState state) {
  State& s = *state_;
  if (s.heating.contains(step) && is_heat(s.job.steps[step].procedure)) s.heat[step] = state.result.unknowns;
  if (!s.options.in_background || !is_saved(s.job.steps[step].procedure))
    return s.write_modal("states", [&] { s.write_state(step, state); });
  // The next increments are computed while this state is written.
  const auto kept = std::make_shared<StepState>(std::move(state));
  s.background.begin([&s, step, kept] {
    const Stopwatch watch;
    s.write_or_lose([&] { s.timed("states", [&] { s.write_state(step, *kept); }); });
    s.seconds += watch.seconds();
  });
}

void ResultFiles::restart(std::size_t step, const std::string& bytes) {
  State& s = *state_;
  if (!s.options.json || s.options.merges_parts) return;  // a run without files
  const fs::path file = s.path(s.name + ".rout");
  s.write_modal("other files", [&] {
    if (!s.restarts) s.restarts.emplace(file, s.job.restart_deck);
    s.restarts->add({detail::deck_step(s.job, step), step + 1, bytes},
                    s.job.steps[step].restart == RestartWrite::alone);
  });
  s.done(file);
}

void ResultFiles::attach(RunCheckpoints& checkpoints) {
  State& s = *state_;
  s.checkpoints = &checkpoints;
  checkpoints.settle = [&s] { s.background.check(); };
  checkpoints.restore_files = [&s](std::size_t step, std::string_view bytes) { s.restore_state(step, bytes); };
}

void ResultFiles::end(std::size_t step, StepResponse response) {
  State& s = *state_;
  s.write_modal("states", [&] {
    s.modal.end(step, s.stem(step), response);
    s.write_state_probes(step);
    for (const fs::path& file : s.pictures.draw_states(step, s.options.folder, s.name)) s.done(file);
    s.note_left_out(s.job.steps[step].procedure);
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
const std::vector<fs::path>& ResultFiles::written() const { return state_->when_idle().written; }
const std::vector<std::string>& ResultFiles::notes() const { return state_->when_idle().notes; }
double ResultFiles::seconds() const { return state_->when_idle().seconds; }
const std::vector<StageTime>& ResultFiles::stage_times() const { return state_->when_idle().stages; }
const std::string& ResultFiles::json() const { return state_->when_idle().json; }

}  // namespace voussoir
