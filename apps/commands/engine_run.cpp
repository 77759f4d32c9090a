#include <voussoir/apps/commands/engine_run.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/read_model.hpp>
#include <voussoir/apps/commands/run_saving.hpp>
#include <voussoir/apps/commands/run_summary.hpp>
#include <voussoir/apps/commands/solver_options.hpp>
#include <voussoir/apps/terminal/launcher.hpp>
#include <voussoir/apps/terminal/monitor.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/jobs/piece_results.hpp>
#include <voussoir/jobs/process_job.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/partition/process/part_file.hpp>

namespace voussoir::app {
namespace {

[[noreturn]] void refuse_option(const std::string& option, const std::string& text) {
  throw CLI::ValidationError(option, text);
}

/// Refuses partitioners that do not exist, or not for these files.
void check_cut(const EngineRun& run) {
  if (run.cut == "auto") return;
  if (std::any_of(run.files.begin(), run.files.end(), is_part_file_name))
    refuse_option("--cut",
                  "a divided job (.vpart, .h5) is cut already; choose the cut when it is made, by `voussoir "
                  "partition --method`");
  if (run.slices) {
    if (run.cut != "ptscotch" && run.cut != "coordinate")
      refuse_option("--cut", "with --slices there are auto, ptscotch and coordinate, not '" + run.cut + "'");
    return;
  }
  if (run.cut == "ptscotch")
    refuse_option("--cut", "ptscotch is for meshes read in slices: add --slices, or use metis");
  if (const std::string fault = fault_of_name(run.cut, [](const std::string& name) { make_partitioner(name); });
      !fault.empty())
    refuse_option("--cut", fault);
}

/// The settings of an engine, from options that are made for one process.
ProcessOptions process_options(const EngineRun& run) {
  ProcessOptions options;
  options.backend = run.how.backend;
  options.work = run.how.work;
  options.engine.relative_tolerance = run.how.relative_tolerance;
  options.engine.max_iterations = run.how.max_iterations;
  if (const std::size_t colon = run.engine.find(':'); colon != std::string::npos)
    options.engine.method = run.engine.substr(colon + 1);
  if (run.how.solver != "auto") {
    if (options.engine.method != "auto")
      refuse_option("--solver", run.how.solver + " contradicts --engine " + run.engine + "; give one of them");
    if (run.how.solver == "direct")
      options.engine.method = "mumps";
    else if (run.how.solver == "cg+amg")
      options.engine.method = "gamg";
    else
      refuse_option("--solver",
                    "with --engine there are auto, direct and cg+amg; other methods of PETSc are reached "
                    "by --engine petsc:METHOD and by --petsc");
  }
  for (const std::string& file : run.files)
    if (run.slices && std::filesystem::path(file).extension() != ".json")
      refuse_option("--slices", "is for job files (.json) with a Gmsh mesh, not for '" + file + "'");
  if (run.pieces && run.output.frd) refuse_option("--frd", "pieces have no .frd file; omit --frd or --pieces");
  if (run.pieces && run.output.pictures != Pictures::none)
    refuse_option("--picture", "with --pieces no process has the whole model; omit one of them");
  check_cut(run);
  options.partitioner = run.cut;
  options.engine.storage = run.how.storage;
  if (run.how.numbering != "auto") refuse_option("--numbering", "an engine numbers equations itself; leave it out");
  if (run.how.tangent != "auto") refuse_option("--tangent", "it has no effect with --engine; leave it out");
  return options;
}

/// The others wait for this process. Where several fail at once, the lowest ends all of them before others speak.
[[noreturn]] void end_processes(Processes& processes, const std::string& file, const Error& error) {
  const bool all = processes.all_arrive(2.0);  // all have failed, usually for the same reason
  const int wait = all ? 10000 : 100;
  std::this_thread::sleep_for(std::chrono::milliseconds(wait * std::min(processes.own(), 20)));
  const std::string text =
      all ? error.text() : fmt::format("process {} of {}: {}", processes.own(), processes.count(), error.text());
  print_error(Error(error.code(), text, error.where()), file);
  processes.abort(static_cast<int>(exit_code(error)));
  std::_Exit(static_cast<int>(exit_code(error)));  // GCC does not see that abort() never returns
}

/// Reports an error of a process that cannot communicate yet. Usually the first process fails for the same reason, and
/// mpirun then ends this one while it waits. If it does not, this process has failed alone.
ExitCode fail_before_start(const EngineRun& run, const Error& error) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2500 + 200 * std::min(launched_number(), 20)));
  const std::string text = fmt::format("process {} of {}: {}", launched_number(), launched_processes(), error.text());
  print_error(Error(error.code(), text, error.where()), run.files.front());
  return exit_code(error);
}

/// Runs files on the processes of an engine.
class EngineRunner {
 public:
  EngineRunner(const EngineRun& run, Engine& engine)
      : run_(run),
        engine_(engine),
        processes_(engine.processes()),
        options_(process_options(run)),
        speaks_(processes_.is_first() && !run.quiet && !run.json),
        monitor_(processes_.is_first() && !run.quiet) {}

  ExitCode all() {
    ExitCode worst = ExitCode::ok;
    for (const std::string& file : run_.files) {
      worst = worse(worst, one(file));
      if (stopped_) break;
    }
    if (run_.json && processes_.is_first()) documents_.print(run_.files.size());
    return worst;
  }

 private:
  ExitCode one(const std::string& file) {
    try {
      return solve(file);
    } catch (const SharedError& error) {
      return failed(file, error);
    } catch (const Error& error) {
      end_all(file, error);
    } catch (const std::bad_alloc&) {
      end_all(file, Error(ErrorCode::out_of_memory, "out of memory; use more machines, or fewer processes on each"));
    } catch (const std::exception& error) {
      end_all(file, Error(ErrorCode::internal, error.what()));
    }
  }

  /// All processes know of the error; one tells it. A signal may have reached only some of them.
  ExitCode failed(const std::string& file, const Error& error) {
    const auto signal = static_cast<int>(processes_.maximum(std::int64_t{monitor_.signal()}));
    stopped_ = error.code() == ErrorCode::cancelled && signal != 0;
    if (processes_.is_first()) {
      Monitor::Pause pause(monitor_);
      pause.forget_last_words();
      pause.forget_activity();
      const bool kept = files() && !files()->summaries().empty();
      if (kept) files()->give_up(error, record_);
      documents_.add(kept ? files()->json() : failed_run_json(file, error));
      if (stopped_)
        say_stopped(file);
      else
        print_error(error, file);
      if (!stopped_ && kept) show_error("{}\n", kept_text());
      if (saving_ && saving_->checkpoints() && error.code() != ErrorCode::bad_input)
        show_error("  --resume goes on from the last checkpoint\n");
    }
    forget_files();
    return stopped_ ? exit_code_of_signal(signal) : exit_code(error);
  }

  std::string kept_text() {
    std::string text = fmt::format("  {} of {} finished", files()->summaries().size(),
                                   counted(static_cast<long long>(steps_), "step"));
    if (files()->written().empty()) return text + "; no files were written";
    text += ", and these files are complete:";
    for (const auto& path : files()->written()) text += "\n    " + path.string();
    return text;
  }

  void say_stopped(const std::string& file) {
    if (!files()) return show_error("voussoir: {}: stopped before anything was solved; no files were written\n", file);
    const std::size_t done = files()->summaries().size();
    show_error("voussoir: {}: stopped during step {} of {}\n{}\n", file, std::min(done + 1, steps_), steps_,
               kept_text());
  }

  /// Of the run of a file, on process 0; null on the others, and before it begins.
  ResultFiles* files() { return pieces_ ? pieces_->files() : files_ ? &*files_ : nullptr; }
  void forget_files() {
    pieces_.reset();
    files_.reset();
    saving_.reset();
    saved_.clear();
    part_ = {};
  }

  [[noreturn]] void end_all(const std::string& file, const Error& error) { end_processes(processes_, file, error); }

  /// Reads the job on process 0, and checks the names of result files unless each process writes its own.
  void read(const std::string& file, bool in_pieces) {
    std::string saved;  // per step: whether it is
    agree(processes_, [&] {
      if (!processes_.is_first()) return;
      const Stopwatch watch;
      job_ = read_model(file, run_.dialect, [&](double fraction) {
        Activity activity{"", "reading"};
        activity.fraction = fraction;
        return monitor_.tell(activity);
      });
      record_ = RunRecord{run_.how, watch.seconds()};
      {
        const Monitor::Pause pause(monitor_);  // it ends before checkpoints may remark something
        for (const JobNote& note : job_.notes) remark(note.where.empty() ? file : note.where, note.text);
        if (speaks_) print(text_of_sizes(job_, record_.read_seconds));
      }
      steps_ = job_.steps.size();
      if (job_.steps.empty())
        throw Error(ErrorCode::bad_input,
                    "there is no step, so there is nothing to solve. Add one with loads and supports (*STEP, *STATIC … "
                    "*END STEP in a deck, \"steps\" in a job file)",
                    file);
      check_process_job(job_);
      if (in_pieces) leave_restarts_out();
      run_.results.apply(job_);
      if (!in_pieces) open_files(file);
      for (const JobStep& step : job_.steps)
        saved += saving_ && saving_->checkpoints() && is_saved(step.procedure) ? '+' : '-';
    });
    processes_.broadcast(saved);
    saved_ = saved;
  }

  /// Restart files have states of the whole model.
  void leave_restarts_out() {
    for (JobStep& step : job_.steps)
      if (std::exchange(step.restart, RestartWrite::none) != RestartWrite::none)
        remark(step.where, "no restart file is written with --pieces (*RESTART, WRITE); checkpoints are");
  }

  /// The result files of process 0, and the checkpoints of the run.
  void open_files(const std::string& file) {
    prepare_saving(job_, file);
    files_.emplace(job_, saving_->output());
    begin_saving(job_, {{"a run with --engine", 1}});
  }

  void prepare_saving(const Job& job, const std::string& file) {
    saving_.emplace(run_.checkpoints, run_.output, job, file, [this, file](const std::string& note) {
      const Monitor::Pause pause(monitor_);
      remark(file, note);
    });
  }

  /// `more` has what must be the same beside the job.
  void begin_saving(const Job& job, const std::vector<FingerprintPart>& more) {
    saving_->begin(
        job, *files(),
        [this] {
          return fmt::format("engine {} on {} process{}, {}, tolerance {}, options '{}'", run_.engine,
                             processes_.count(), processes_.count() == 1 ? "" : "es", run_.how.backend,
                             run_.how.relative_tolerance, run_.engine_options) +
                 (run_.cut == "auto" ? "" : ", cut '" + run_.cut + "'");
        },
        more);
  }

  /// Results in pieces are continued by the same parts only.
  std::vector<FingerprintPart> fingerprint_of_pieces(const std::string& parts) const {
    std::vector<FingerprintPart> more{{"the number of processes", static_cast<std::uint64_t>(processes_.count())},
                                      {"a run with --engine", 1},
                                      {"results in pieces", 1},
                                      {"the parts of other processes", checksum(parts)}};
    if (run_.cut != "auto") more.push_back({"the cut of the model (--cut)", checksum(run_.cut)});
    return more;
  }

  /// Opens the result files of a run in pieces, and its checkpoints, which process 0 has.
  void open_pieces(const std::string& file) {
    Job& job = part_.part.job;
    OutputOptions output = run_.output;
    std::string choices;
    agree(processes_, [&] {
      if (!processes_.is_first()) return;
      prepare_saving(job, file);
      choices = saving_->output().overwrite ? "+" : "-";
    });
    processes_.broadcast(choices);
    output.overwrite = choices == "+";
    pieces_.emplace(processes_, part_.part, output);
    std::string sums;
    agree(processes_, [&] {
      if (processes_.is_first()) return;
      const std::string source = std::exchange(job.source, "");  // which other processes may not see
      for (const FingerprintPart& part : job_fingerprint(job))
        sums += part.name + " " + std::to_string(part.sum) + "\n";
      job.source = source;
    });
    std::string all, saved;
    processes_.collect(sums, [&](int, const std::string& bytes) { all += bytes + "\n"; });
    agree(processes_, [&] {
      if (!processes_.is_first()) return;
      begin_saving(job, fingerprint_of_pieces(all));
      for (const JobStep& step : job.steps) saved += saving_->checkpoints() && is_saved(step.procedure) ? '+' : '-';
    });
    processes_.broadcast(saved);
    saved_ = saved;
  }

  std::function<bool(const JobProgress&)> observer(const std::string& file) {
    return [this, file](const JobProgress& progress) {
      // An increment is finished and saved before the run stops, however long it takes.
      const bool saved = progress.step < saved_.size() && saved_[progress.step] == '+';
      monitor_.set_patience(saved ? std::numeric_limits<double>::infinity() : 1.0);
      Activity activity{std::filesystem::path(file).filename().string(), progress.analysis.stage, progress.step + 1,
                        progress.steps};
      activity.iteration = progress.analysis.iteration;
      activity.residual = progress.analysis.residual;
      return monitor_.tell(std::move(activity)) && !(files_ && files_->has_failed());
    };
  }

  /// Gets the part of each process: from a file of parts, or from process 0, which forgets the whole job then.
  void get_part(const std::string& file) {
    const bool is_divided = is_part_file_name(file) || run_.slices;
    const Stopwatch watch;
    if (is_divided) {
      part_ = run_.slices ? read_process_slices(engine_, file, options_.partitioner) : read_process_part(engine_, file);
      record_ = RunRecord{run_.how, watch.seconds()};
    } else {
      read(file, true);
      part_ = divide_process_job(engine_, &job_, options_, observer(file));
      job_ = Job();
    }
    agree(processes_, [&] {
      Job& job = part_.part.job;
      if (is_divided) {
        job.source = file;
        job.name = std::filesystem::path(file).stem().string();
        run_.results.apply(job);
      }
      steps_ = job.steps.size();
      if (processes_.is_first() && is_divided)
        for (const JobNote& note : job.notes) remark(note.where.empty() ? file : note.where, note.text);
    });
    open_pieces(file);
    record_.whole_sizes = pieces_->sizes();
    const Monitor::Pause pause(monitor_);
    if (speaks_ && is_divided) print(text_of_divided_job());
  }

  static ExitCode exit_code_of_faults(const ProcessJobResult& result) {
    return result.job.faults.empty() ? ExitCode::ok : ExitCode::no_solution;
  }

  ExitCode solve_in_pieces(const std::string& file) {
    const Stopwatch since_start;
    get_part(file);
    tell_if_stopped(file);
    const ProcessJobResult result = run_process_part(engine_, part_, options_, observer(file), *pieces_,
                                                     saving_ ? saving_->checkpoints() : nullptr);
    agree(processes_, [&] {
      if (processes_.is_first()) finish(file, result, since_start);
    });
    forget_files();
    return exit_code_of_faults(result);
  }

  /// Where a process is ended under work that does not listen, process 0 says so first.
  void tell_if_stopped(const std::string& file) {
    if (!processes_.is_first()) return;
    monitor_.set_last_words([this, file] {
      const Error error(ErrorCode::cancelled, "stopped by the user", file);
      if (files() && !files()->summaries().empty()) files()->give_up(error, record_);
      say_stopped(file);
    });
  }

  /// Writes what steps find.
  class Writer : public StepReceiver {
   public:
    explicit Writer(ResultFiles& files) : files_(files) {}
    void step(std::size_t step, StepResult result) override { files_.step(step, std::move(result)); }
    void modes(std::size_t step, std::shared_ptr<const ModeSet> modes) override {
      files_.modes(step, std::move(modes));
    }
    void state(std::size_t step, StepState state) override { files_.state(step, std::move(state)); }
    void end(std::size_t step, StepResponse response) override { files_.end(step, std::move(response)); }
    void restart(std::size_t step, const std::string& bytes) override { files_.restart(step, bytes); }

   private:
    ResultFiles& files_;
  };

  ExitCode solve(const std::string& file) {
    forget_files();
    if (run_.pieces || is_part_file_name(file)) return solve_in_pieces(file);
    const Stopwatch since_start;
    read(file, false);
    tell_if_stopped(file);
    std::optional<Writer> writer;
    if (files_) writer.emplace(*files_);
    const ProcessJobResult result =
        run_process_job(engine_, &job_, options_, observer(file), writer ? &*writer : nullptr,
                        saving_ ? saving_->checkpoints() : nullptr);
    agree(processes_, [&] {
      if (processes_.is_first()) finish(file, result, since_start);
    });
    forget_files();
    return exit_code_of_faults(result);
  }

  void finish(const std::string& file, const ProcessJobResult& result, const Stopwatch& since_start) {
    Monitor::Pause pause(monitor_);
    pause.forget_last_words();
    record_.processes = result.parts;
    files()->finish(result.job, record_);
    if (saving_ && saving_->checkpoints()) saving_->checkpoints()->finish();
    for (const std::string& note : files()->notes()) remark(file, note);
    if (!run_.verbose || !speaks_)
      for (const std::string& note : result.job.notes) remark(file, note);
    note_shared_gpus(file, result.parts);
    if (speaks_) {
      print(text_of_steps(files()->summaries(), pieces_ ? part_.part.job.units : job_.units));
      // Of a divided job process 0 knows its own elements only, and tells their number for each process.
      if (run_.verbose) print(text_of_details(job_, result.job, *files(), "openmp"));
      print(text_of_processes(result.parts));
      print(text_of_end(result.job, *files(), record_.read_seconds, since_start.seconds()));
    }
    documents_.add(files()->json());
    pause.forget_activity();
    for (const std::string& fault : result.job.faults)
      show_error("voussoir: {} {}\n", red("error:", Stream::error), fault);
  }

  /// Processes that share a GPU wait for each other.
  void note_shared_gpus(const std::string& file, const std::vector<ProcessShare>& parts) const {
    std::map<std::pair<std::string, std::string>, int> users;  // of a machine and its GPU
    for (const ProcessShare& part : parts)
      if (part.backend.starts_with("cuda")) ++users[{part.machine, part.backend}];
    for (const auto& [gpu, count] : users)
      if (count > 1)
        remark(file, fmt::format("{} processes on {} share one GPU ({}); one process per GPU needs less of its memory "
                                 "and does not wait for others",
                                 count, gpu.first, gpu.second));
  }

  std::string text_of_divided_job() const {
    const Job& job = part_.part.job;
    const WholeSizes& sizes = pieces_->sizes();
    std::string types;
    for (const auto& [type, count] : sizes.elements_by_type)
      types +=
          (types.empty() ? "" : ", ") + (sizes.elements_by_type.size() > 1 ? readable_count(count) + " " + type : type);
    return bold(job.source) + (job.title.empty() ? "" : ": " + job.title) +
           fmt::format("\n  {}, {} ({}), {}, divided into {}; read in {}\n", counted(sizes.nodes, "node"),
                       counted(sizes.elements, "element"), types,
                       counted(static_cast<long long>(job.steps.size()), "step"), counted(part_.part.parts, "part"),
                       readable_seconds(record_.read_seconds)) +
           text_of_cut();
  }

  /// How a mesh in slices was cut, and with -v the sizes of all parts.
  std::string text_of_cut() const {
    const PartitionQuality& quality = part_.quality;
    if (quality.parts.empty()) return {};
    std::string text = fmt::format("  cut by {}, balance {:.4f}, {}\n", part_.cut, quality.imbalance,
                                   counted(quality.interface_nodes, "interface node"));
    for (std::size_t p = 0; run_.verbose && p < quality.parts.size(); ++p)
      text += fmt::format("  part     {}: {}, weight {:.6g}, {}, {} on the interface, {}\n", p,
                          counted(quality.parts[p].elements, "element"), quality.parts[p].weight,
                          counted(quality.parts[p].nodes, "node"), quality.parts[p].interface_nodes,
                          counted(quality.parts[p].neighbours, "neighbour"));
    return text;
  }

  std::string text_of_processes(const std::vector<ProcessShare>& parts) const {
    std::set<std::string> machines;
    std::int64_t most_memory = 0;
    int least = parts.front().threads, most = least;
    for (const ProcessShare& part : parts) {
      machines.insert(part.machine);
      most_memory = std::max(most_memory, part.peak_bytes);
      least = std::min(least, part.threads);
      most = std::max(most, part.threads);
    }
    const std::string threads = most == 0       ? ""  // a GPU computes
                                : least == most ? ", " + counted(most, "thread") + " each"
                                                : fmt::format(", {} to {} threads each", least, most);
    std::string text = fmt::format("  engine   {}; {} on {}{}; at most {} of memory\n", engine_.describe(),
                                   parts.size() == 1 ? "1 process" : fmt::format("{} processes", parts.size()),
                                   counted(static_cast<long long>(machines.size()), "machine"), threads,
                                   readable_bytes(static_cast<double>(most_memory)));
    for (std::size_t p = 0; run_.verbose && p < parts.size(); ++p)
      text += fmt::format("  process  {} on {}: {}{}, {}, {} ({} owned), part of {}, {} in all; {}\n", p,
                          parts[p].machine, parts[p].threads == 0 ? "" : counted(parts[p].threads, "thread") + " of ",
                          counted(parts[p].processors, "processor"), counted(parts[p].elements, "element"),
                          counted(parts[p].nodes, "node"), parts[p].owned_nodes,
                          readable_bytes(static_cast<double>(parts[p].part_bytes)),
                          readable_bytes(static_cast<double>(parts[p].peak_bytes)), parts[p].backend);
    return text;
  }

  void remark(const std::string& where, const std::string& text) const {
    if (!run_.quiet) show_error("voussoir: {} {}: {}\n", yellow("note:", Stream::error), where, text);
  }

  const EngineRun& run_;
  Engine& engine_;
  Processes& processes_;
  ProcessOptions options_;
  bool speaks_;
  Monitor monitor_;
  Job job_;
  std::optional<RunSaving> saving_;     // on process 0
  std::optional<ResultFiles> files_;    // of a run whose results process 0 writes
  std::string saved_;                   // per step: '+' if checkpoints save it
  ReceivedPart part_;                   // of a run in pieces
  std::optional<PieceResults> pieces_;  // likewise
  RunRecord record_;
  std::size_t steps_ = 0;
  bool stopped_ = false;  // by a signal
  Documents documents_;
};

}  // namespace

ExitCode silent_exit(ExitCode code) {
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // mpirun ends all processes when the first one ends
  return code;
}

ExitCode run_on_engine(const EngineRun& run) {
  std::unique_ptr<Engine> engine;
  try {
    (void)process_options(run);
    engine = open_engine(run.engine.substr(0, run.engine.find(':')), run.engine_options);
  } catch (const Error& error) {
    if (launched_number() == 0) throw;
    return fail_before_start(run, error);
  } catch (const CLI::ParseError&) {
    if (launched_number() != 0) return silent_exit(ExitCode::command_line);
    throw;
  }
  // What fails before the first file, such as a thread without memory for its stack, must not leave the others waiting.
  try {
    return EngineRunner(run, *engine).all();
  } catch (const Error& error) {
    end_processes(engine->processes(), run.files.front(), error);
  } catch (const std::bad_alloc&) {
    end_processes(engine->processes(), run.files.front(),
                  Error(ErrorCode::out_of_memory, "out of memory; use more machines, or fewer processes on each"));
  } catch (const std::system_error& error) {
    end_processes(engine->processes(), run.files.front(),
                  Error(ErrorCode::out_of_memory, std::string("no thread can be started: ") + error.what()));
  }
}

}  // namespace voussoir::app
