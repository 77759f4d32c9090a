#include <voussoir/apps/commands/engine_run.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>
#include <thread>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/read_model.hpp>
#include <voussoir/apps/commands/run_summary.hpp>
#include <voussoir/apps/terminal/monitor.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/jobs/process_job.hpp>

namespace voussoir::app {
namespace {

/// The number that a launcher has given to this process, before MPI is there to ask; 0 without a launcher.
int launched_number() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return 0;
}

[[noreturn]] void refuse_option(const std::string& option, const std::string& text) {
  throw CLI::ValidationError(option, text);
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
  if (run.how.storage != "auto") refuse_option("--storage", "an engine stores its matrix itself; leave it out");
  if (run.how.numbering != "auto") refuse_option("--numbering", "an engine numbers equations itself; leave it out");
  if (run.how.tangent != "auto") refuse_option("--tangent", "it has no effect with --engine; leave it out");
  return options;
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
    for (const std::string& file : run_.files) worst = worse(worst, one(file));
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

  /// All processes know of the error; one tells it.
  ExitCode failed(const std::string& file, const Error& error) {
    if (processes_.is_first()) {
      Monitor::Pause pause(monitor_);
      pause.forget_activity();
      const bool kept = files_ && !files_->summaries().empty();
      if (kept) files_->give_up(error, record_);
      documents_.add(kept ? files_->json() : failed_run_json(file, error));
      print_error(error, file);
      if (kept)
        show_error("  {} of {} finished\n", files_->summaries().size(),
                   counted(static_cast<long long>(steps_), "step"));
    }
    files_.reset();
    return exit_code(error);
  }

  /// The others wait for this process. Where several fail at once, the lowest ends all of them before others speak.
  [[noreturn]] void end_all(const std::string& file, const Error& error) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100 * std::min(processes_.own(), 20)));
    const std::string text = fmt::format("process {} of {}: {}", processes_.own(), processes_.count(), error.text());
    print_error(Error(error.code(), text, error.where()), file);
    processes_.abort(static_cast<int>(exit_code(error)));
    std::_Exit(static_cast<int>(exit_code(error)));  // GCC does not see that abort() never returns
  }

  /// Reads the job on process 0 and checks the names of result files.
  void read(const std::string& file) {
    agree(processes_, [&] {
      files_.reset();
      if (!processes_.is_first()) return;
      const Stopwatch watch;
      job_ = read_model(file, run_.dialect, [&](double fraction) {
        Activity activity{"", "reading"};
        activity.fraction = fraction;
        return monitor_.tell(activity);
      });
      record_ = RunRecord{run_.how, watch.seconds()};
      const Monitor::Pause pause(monitor_);
      for (const JobNote& note : job_.notes) remark(note.where.empty() ? file : note.where, note.text);
      if (speaks_) print(text_of_sizes(job_, record_.read_seconds));
      steps_ = job_.steps.size();
      if (job_.steps.empty())
        throw Error(ErrorCode::bad_input,
                    "there is no step, so there is nothing to solve. Add one with loads and supports (*STEP, *STATIC … "
                    "*END STEP in a deck, \"steps\" in a job file)",
                    file);
      check_process_job(job_);
      run_.results.apply(job_);
      files_.emplace(job_, run_.output);
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

   private:
    ResultFiles& files_;
  };

  ExitCode solve(const std::string& file) {
    const Stopwatch since_start;
    read(file);
    std::optional<Writer> writer;
    if (files_) writer.emplace(*files_);
    const ProcessJobResult result = run_process_job(
        engine_, &job_, options_,
        [&](const JobProgress& progress) {
          Activity activity{std::filesystem::path(file).filename().string(), progress.analysis.stage, progress.step + 1,
                            progress.steps};
          activity.iteration = progress.analysis.iteration;
          activity.residual = progress.analysis.residual;
          return monitor_.tell(std::move(activity)) && !(files_ && files_->has_failed());
        },
        writer ? &*writer : nullptr);
    agree(processes_, [&] {
      if (processes_.is_first()) finish(file, result, since_start);
    });
    files_.reset();
    return result.job.faults.empty() ? ExitCode::ok : ExitCode::no_solution;
  }

  void finish(const std::string& file, const ProcessJobResult& result, const Stopwatch& since_start) {
    Monitor::Pause pause(monitor_);
    files_->finish(result.job, record_);
    for (const std::string& note : files_->notes()) remark(file, note);
    if (!run_.verbose || !speaks_)
      for (const std::string& note : result.job.notes) remark(file, note);
    if (speaks_) {
      print(text_of_steps(files_->summaries(), job_.units));
      if (run_.verbose) print(text_of_details(job_, result.job, *files_, "openmp"));
      print(text_of_processes(result.parts));
      print(text_of_end(result.job, *files_, record_.read_seconds, since_start.seconds()));
    }
    documents_.add(files_->json());
    pause.forget_activity();
    for (const std::string& fault : result.job.faults)
      show_error("voussoir: {} {}\n", red("error:", Stream::error), fault);
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
    const std::string threads =
        least == most ? counted(most, "thread") + " each" : fmt::format("{} to {} threads each", least, most);
    std::string text = fmt::format("  engine   {}; {} on {}, {}; at most {} of memory\n", engine_.describe(),
                                   parts.size() == 1 ? "1 process" : fmt::format("{} processes", parts.size()),
                                   counted(static_cast<long long>(machines.size()), "machine"), threads,
                                   readable_bytes(static_cast<double>(most_memory)));
    for (std::size_t p = 0; run_.verbose && p < parts.size(); ++p)
      text += fmt::format("  process  {} on {}: {} of {}, {}, {} ({} owned), {}; {}\n", p, parts[p].machine,
                          counted(parts[p].threads, "thread"), counted(parts[p].processors, "processor"),
                          counted(parts[p].elements, "element"), counted(parts[p].nodes, "node"), parts[p].owned_nodes,
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
  std::optional<ResultFiles> files_;
  RunRecord record_;
  std::size_t steps_ = 0;
  Documents documents_;
};

}  // namespace

ExitCode run_on_engine(const EngineRun& run) {
  std::unique_ptr<Engine> engine;
  try {
    (void)process_options(run);
    engine = open_engine(run.engine.substr(0, run.engine.find(':')), run.engine_options);
  } catch (const Error& error) {
    // Every process has come here by itself.
    if (launched_number() != 0) return exit_code(error);
    throw;
  } catch (const CLI::ParseError&) {
    if (launched_number() != 0) return ExitCode::command_line;
    throw;
  }
  return EngineRunner(run, *engine).all();
}

}  // namespace voussoir::app
