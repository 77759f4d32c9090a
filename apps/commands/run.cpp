#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/engine_run.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/read_model.hpp>
#include <voussoir/apps/commands/result_options.hpp>
#include <voussoir/apps/commands/run_saving.hpp>
#include <voussoir/apps/commands/run_summary.hpp>
#include <voussoir/apps/commands/solver_options.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/launcher.hpp>
#include <voussoir/apps/terminal/monitor.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/backend.hpp>
#include <voussoir/jobs/job_fingerprint.hpp>
#include <voussoir/jobs/result_files.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>

namespace voussoir::app {
namespace {

struct RunOptions {
  std::vector<std::string> files;
  SolverOptions solver;
  ResultOptions results;
  std::string output;
  std::string dialect = "calculix";
  bool force = false, no_vtu = false, no_tables = false, no_files = false, frd = false;
  CheckpointOptions checkpoints;
  bool verbose = false, quiet = false, json = false;
  std::string engine, petsc;
  bool pieces = false, slices = false;
  std::string cut = "auto";
};

OutputOptions output_options(const RunOptions& options) {
  OutputOptions output;
  output.folder = options.output;
  output.overwrite = options.force;
  output.vtu = !options.no_vtu && !options.no_files;
  output.tables = !options.no_tables && !options.no_files;
  output.json = !options.no_files;
  output.frd = options.frd && !options.no_files;
  output.pictures = options.no_files ? Pictures::none : options.results.pictures();
  output.picture_field = options.results.picture_field;
  output.in_background = true;
  return output;
}

/// Two files whose results have the same names would replace each other.
void check_result_names(const RunOptions& options) {
  std::map<std::string, std::string> names;
  for (const std::string& file : options.files) {
    const auto [known, fresh] = names.emplace(std::filesystem::path(file).stem().string(), file);
    if (!fresh && !options.no_files)
      throw CLI::ValidationError("FILE", known->second + " and " + file + " would both write results called " +
                                             known->first + "; run them separately, each with its own --output");
  }
}

/// Runs files one after the other; what goes wrong with one does not stop the next.
class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        how_(options.solver.resolved()),
        speaks_(!options.quiet && !options.json),
        monitor_(!options.quiet) {
    check_result_names(options);
  }

  ExitCode all() {
    ExitCode worst = ExitCode::ok;
    for (const std::string& file : options_.files) {
      if (monitor_.keep_going()) worst = worse(worst, one(file));
    }
    if (!monitor_.keep_going()) worst = exit_code_of_signal(monitor_.signal());
    if (options_.json) documents_.print(options_.files.size());
    return worst;
  }

 private:
  ExitCode one(const std::string& file) {
    try {
      return solve(file);
    } catch (const std::exception&) {
      return failed(file, current_error(file));
    }
  }

  /// Whatever is being caught, as an Error.
  static Error current_error(const std::string& file) {
    try {
      throw;
    } catch (const Error& error) {
      return error;
    } catch (const std::bad_alloc&) {
      return {ErrorCode::out_of_memory, "out of memory; `voussoir check` shows what each solver needs", file};
    } catch (const std::exception& error) {
      return {ErrorCode::internal, error.what(), file};
    }
  }

  /// Writes what steps find, and says so.
  class StepWriter : public StepReceiver {
   public:
    StepWriter(Run& run, ResultFiles& files, std::size_t steps) : run_(run), files_(files), steps_(steps) {}
    void step(std::size_t step, StepResult result) override {
      write(step, [&] { files_.step(step, std::move(result)); });
    }
    void modes(std::size_t step, std::shared_ptr<const ModeSet> modes) override {
      write(step, [&] { files_.modes(step, std::move(modes)); });
    }
    void state(std::size_t step, StepState state) override {
      write(step, [&] { files_.state(step, std::move(state)); });
    }
    void end(std::size_t step, StepResponse response) override {
      write(step, [&] { files_.end(step, std::move(response)); });
    }
    void restart(std::size_t step, const std::string& bytes) override {
      write(step, [&] { files_.restart(step, bytes); });
    }

   private:
    template <class Write>
    void write(std::size_t step, Write write) {
      run_.tell(Activity{"", "writing", step + 1, steps_});
      const Monitor::Pause pause(run_.monitor_);
      write();
    }
    Run& run_;
    ResultFiles& files_;
    std::size_t steps_;
  };

  /// What stopped a job that is being caught: where files could not be written, that came first.
  static Error first_error(const std::string& file, ResultFiles& files) {
    try {
      files.check();
      throw;
    } catch (const std::exception&) {
      return current_error(file);
    }
  }

  /// A job that is being solved.
  struct Attempt {
    const std::string& file;
    const Job& job;
    ResultFiles& files;
    RunCheckpoints* checkpoints;  // null: none
    RunRecord record;
  };

  ExitCode solve(const std::string& file) {
    const Stopwatch since_start;
    file_ = file;
    Job job = read(file, since_start);
    const double read_seconds = since_start.seconds();
    if (!monitor_.keep_going()) throw Error(ErrorCode::cancelled, "stopped", file);
    {
      const Monitor::Pause pause(monitor_);
      for (const JobNote& note : job.notes) remark(note.where.empty() ? file : note.where, note.text);
      if (speaks_) print(text_of_sizes(job, read_seconds));
    }
    if (job.steps.empty())
      throw Error(
          ErrorCode::bad_input,
          "there is no step, so there is nothing to solve. Add one with loads and supports (*STEP, *STATIC … *END "
          "STEP in a deck, \"steps\" in a job file), or check the model with `voussoir check`",
          file);

    options_.results.apply(job);
    RunSaving saving(options_.checkpoints, voussoir::app::output_options(options_), job, file,
                     [this, file](const std::string& note) {
                       const Monitor::Pause pause(monitor_);
                       remark(file, note);
                     });
    ResultFiles files(job, saving.output());
    saving.begin(job, files, [this] {
      return Backend::open(how_.backend)->describe() + ", solver " + how_.solver + ", storage " + how_.storage +
             ", tolerance " + fmt::format("{}", how_.relative_tolerance);
    });
    if (solves_elsewhere_) files.prepare();
    const Attempt attempt{file, job, files, saving.checkpoints(), {how_, read_seconds}};
    monitor_.set_last_words([&] {
      const Error error(ErrorCode::cancelled, "stopped by the user", file);
      if (!files.summaries().empty()) files.give_up(error, attempt.record);
      say_stopped(file, job, files);
    });
    const Forget forget{monitor_};
    try {
      Countdown countdown(how_.relative_tolerance);
      StepWriter writer(*this, files, job.steps.size());
      const JobResult result = run_job(
          job, how_, [&](const JobProgress& progress) { return tell_progress(attempt, progress, countdown); }, writer,
          attempt.checkpoints);
      return finish(attempt, result, since_start);
    } catch (const std::exception&) {
      return give_up(attempt);
    }
  }

  bool tell_progress(const Attempt& attempt, const JobProgress& progress, Countdown& countdown) {
    // An increment is finished and saved before the run stops, however long it takes.
    const bool saved = attempt.checkpoints && is_saved(attempt.job.steps[progress.step].procedure);
    monitor_.set_patience(saved ? std::numeric_limits<double>::infinity() : 1.0);
    Activity activity{"", progress.analysis.stage, progress.step + 1, progress.steps};
    activity.iteration = progress.analysis.iteration;
    activity.residual = progress.analysis.residual;
    if (activity.iteration > 0) {
      countdown.add(progress.analysis.seconds, activity.iteration, activity.residual);
      activity.left = countdown.left();
    }
    if (progress.left >= 0) activity.left = progress.left;
    return tell(activity) && !attempt.files.has_failed();
  }

  ExitCode finish(const Attempt& attempt, const JobResult& result, const Stopwatch& since_start) {
    const auto& [file, job, files, checkpoints, record] = attempt;
    Monitor::Pause pause(monitor_);
    pause.forget_last_words();
    files.finish(result, record);
    if (checkpoints) checkpoints->finish();
    for (const std::string& note : files.notes()) remark(file, note);
    if (speaks_) {
      for (const std::string& note : result.notes)
        if (!options_.verbose) remark(file, note);
      print(text_of_steps(files.summaries(), job.units));
      if (options_.verbose) print(text_of_details(job, result, files, how_.backend));
      if (options_.verbose && checkpoints)
        print(fmt::format("  {} written in {:.3g} s\n", counted(checkpoints->written(), "checkpoint"),
                          checkpoints->seconds()));
      print(text_of_end(result, files, record.read_seconds, since_start.seconds()));
    }
    documents_.add(files.json());
    pause.forget_activity();
    for (const std::string& fault : result.faults) show_error("voussoir: {} {}\n", red("error:", Stream::error), fault);
    return result.faults.empty() ? ExitCode::ok : ExitCode::no_solution;
  }

  /// Keeps what has been solved. Called while the exception that stopped the job is being handled.
  ExitCode give_up(const Attempt& attempt) {
    const auto& [file, job, files, checkpoints, record] = attempt;
    Monitor::Pause pause(monitor_);
    const Error error = first_error(file, files);
    pause.forget_last_words();
    pause.forget_activity();
    const bool kept = !files.summaries().empty();
    if (kept) {
      files.give_up(error, record);
      documents_.add(files.json());
    } else {
      documents_.add(failed_run_json(file, error));
    }
    if (error.code() == ErrorCode::cancelled && !monitor_.keep_going()) {
      say_stopped(file, job, files);
      if (checkpoints) show_error("  use --resume to continue from the last checkpoint\n");
      return exit_code_of_signal(monitor_.signal());
    }
    print_error(error, file);
    if (kept) show_error("{}\n", kept_text(job, files));
    if (checkpoints) show_error("  use --resume to continue from the last checkpoint\n");
    return exit_code(error);
  }

  /// Reads the model while the backend is opened for the first time, which takes a GPU some tenths of a second. An
  /// Error of the backend comes first, and ends the reading.
  Job read(const std::string& file, const Stopwatch& since_start) {
    std::atomic<bool> cannot_open = false;
    const auto open = [this, &cannot_open] {
      try {
        solves_elsewhere_ = !Backend::open(how_.backend)->memory(0)->shares_host_memory();
      } catch (...) {
        cannot_open = true;
        throw;
      }
    };
    // A backend on the CPU is there at once, and its threads are those that read.
    std::future<void> opening;
    if (how_.backend.starts_with("openmp") || how_.backend.starts_with("debug")) {
      open();
    } else {
      opening = std::async(open);
    }
    tell("reading");
    try {
      Job job = read_model(file, dialect_of(options_.dialect), [&](double fraction) {
        Activity activity{"", "reading"};
        activity.fraction = fraction;
        if (const double seconds = since_start.seconds(); fraction > 0.02 && seconds > 0.5)
          activity.left = seconds * (1 - fraction) / fraction;
        return tell(activity) && !cannot_open;
      });
      if (opening.valid()) opening.get();
      return job;
    } catch (const std::exception&) {
      if (opening.valid()) opening.get();
      throw;
    }
  }

  /// Last words speak of what is about to go.
  struct Forget {
    Monitor& monitor;
    ~Forget() { Monitor::Pause(monitor).forget_last_words(); }
  };

  bool tell(Activity activity) {
    activity.file = std::filesystem::path(file_).filename().string();
    return monitor_.tell(std::move(activity));
  }
  bool tell(const char* stage) { return tell(Activity{"", stage}); }

  /// An error before anything could be kept.
  ExitCode failed(const std::string& file, const Error& error) {
    Monitor::Pause pause(monitor_);
    pause.forget_last_words();
    pause.forget_activity();
    documents_.add(failed_run_json(file, error));
    if (error.code() == ErrorCode::cancelled && !monitor_.keep_going()) {
      show_error("voussoir: {}: stopped before anything was solved; no files were written\n", file);
      return exit_code_of_signal(monitor_.signal());
    }
    print_error(error, file);
    return exit_code(error);
  }

  void remark(const std::string& where, const std::string& text) const {
    if (!options_.quiet) show_error("voussoir: {} {}: {}\n", yellow("note:", Stream::error), where, text);
  }

  static std::string kept_text(const Job& job, const ResultFiles& files) {
    const std::size_t done = files.summaries().size();
    std::string text = fmt::format("  {} of {} finished", done,
                                   counted(static_cast<long long>(job.steps.size() - job.first_step()), "step"));
    if (files.written().empty()) return text + "; no files were written";
    text += ", and these files are complete:";
    for (const auto& path : files.written()) text += "\n    " + path.string();
    return text;
  }

  static void say_stopped(const std::string& file, const Job& job, const ResultFiles& files) {
    const std::size_t done = job.first_step() + files.summaries().size();
    show_error("voussoir: {}: stopped during step {} ('{}')\n{}\n", file, std::min(done, job.steps.size() - 1) + 1,
               job.steps[std::min(done, job.steps.size() - 1)].name, kept_text(job, files));
  }

  const RunOptions& options_;
  StaticOptions how_;
  bool solves_elsewhere_ = false;  // on devices that leave the processors to us
  bool speaks_;
  Monitor monitor_;
  std::string file_;
  Documents documents_;
};

constexpr const char* run_examples =
    R"(Examples:
  voussoir run beam.inp                          solve, print a table, write beam.vtu, beam.dat, beam.results.json
  voussoir run beam.inp --output out --force     the same into the folder out, replacing what is there
  voussoir run job.json --solver direct          a Gmsh mesh with the loads of a job file
  voussoir run beam.inp --picture                and draw the worst step: beam.png
  voussoir run beam.inp --path A=0,0,5:100,0,5   stresses along a line: beam_path_A.csv and .svg
  voussoir run *.inp --quiet                     many decks; only errors are shown
  voussoir run beam.inp --json | jq .steps       numbers for a script, and nothing else
  voussoir run quake.inp --checkpoint-every 600  save the run every ten minutes
  voussoir run quake.inp --resume                continue it after it was interrupted
  mpirun -n 4 voussoir run big.inp --engine petsc   on four processes, on one or several machines
  mpirun -n 4 voussoir run big.vpart --engine petsc   the same for a job divided by `voussoir partition --output`;
                                                 big.h5 is one in HDF5

Look at a model first: voussoir check beam.inp. Open beam.vtu in ParaView.
Ctrl-C stops cleanly and says what was kept; a second one ends at once.)";

}  // namespace

namespace {

void add_checkpoint_options(CLI::App& run, CheckpointOptions& options) {
  const char* const group = "Checkpoints of steps over time";
  run.add_option("--checkpoint-every", options.every_seconds, "Save the run after this many seconds, and when it stops")
      ->type_name("SECONDS")
      ->check(above_zero())
      ->group(group);
  run.add_option("--checkpoint-steps", options.every_increments, "Save the run after every N increments")
      ->type_name("N")
      ->check(whole_number_between(1, 1000000000))
      ->group(group);
  run.add_flag("--resume", options.resume, "Continue an interrupted run from its last checkpoint")->group(group);
}

void add_engine_options(CLI::App& run, RunOptions& options) {
  const char* const group = "Several processes";
  run.add_option("--engine", options.engine,
                 "Solve on all processes started by mpirun, optionally with a method: petsc:gamg "
                 "(docs/several_machines.md)")
      ->type_name("petsc|petsc:gamg|petsc:hypre|petsc:bddc|petsc:asm|petsc:mumps|petsc:jacobi|petsc:backend-cg")
      ->group(group);
  run.add_option("--petsc", options.petsc, "Options for PETSc, such as \"-ksp_view -pc_type hypre\"")
      ->type_name("OPTIONS")
      ->group(group);
  run.add_option("--cut", options.cut,
                 "How the elements are divided among the processes: a partitioner (see `voussoir partition`), or with "
                 "--slices ptscotch or coordinate")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(group);
  run.add_flag("--pieces", options.pieces,
               "Each process writes VTU files with its own elements, of each step or state; PVTU files join them")
      ->group(group);
  run.add_flag("--slices", options.slices,
               "Each process reads a slice of the mesh (binary .msh 4.1 of a job file), so that none has the whole "
               "model; implies --pieces")
      ->group(group);
}

/// Processes that do not know of each other do the same work and write the same files.
void tell_of_copies() {
  if (launched_processes() > 1 && launched_number() == 0)
    show_error(
        "voussoir: {} started as {} processes without --engine: each of them solves the whole job by itself; add "
        "--engine petsc to solve it together, or start one process\n",
        yellow("note:", Stream::error), launched_processes());
}

ExitCode run_files(const RunOptions& options) {
  if (options.engine.empty()) {
    if (!options.petsc.empty()) throw CLI::ValidationError("--petsc", "requires --engine petsc");
    if (options.pieces) throw CLI::ValidationError("--pieces", "requires --engine petsc");
    if (options.slices) throw CLI::ValidationError("--slices", "requires --engine petsc");
    if (options.cut != "auto") throw CLI::ValidationError("--cut", "requires --engine petsc");
    tell_of_copies();
    return Run(options).all();
  }
  try {
    check_result_names(options);
    return run_on_engine({options.engine, options.petsc, options.files, options.solver.resolved(), options.results,
                          output_options(options), dialect_of(options.dialect), options.verbose, options.quiet,
                          options.json, options.pieces || options.slices, options.slices, options.checkpoints,
                          options.cut});
  } catch (const CLI::ParseError&) {
    if (launched_number() != 0) return silent_exit(ExitCode::command_line);
    throw;
  }
}

}  // namespace

void add_run_command(CLI::App& program) {
  CLI::App* run = program.add_subcommand("run", "Solve decks (.inp) and job files (.json), write results");
  auto options = std::make_shared<RunOptions>();
  run->add_option("FILE", options->files,
                  "Abaqus or CalculiX decks (.inp), job files (.json), divided jobs (.vpart, .h5)")
      ->type_name("FILE")
      ->required();
  add_load_option(*run, "Solving");
  add_solver_options(*run, options->solver);
  run->add_option("--dialect", options->dialect, "The program whose meaning deck names have where the two differ")
      ->check(CLI::IsMember({"calculix", "abaqus"}).description(""))
      ->type_name("calculix|abaqus")
      ->capture_default_str()
      ->group("Reading");
  run->add_option("--output", options->output, "Folder for results (default: the current folder); created if missing")
      ->type_name("DIR")
      ->group("Results");
  run->add_flag("--force", options->force, "Replace existing results")->group("Results");
  run->add_flag("--no-vtu", options->no_vtu, "Do not write VTU and PVD files for ParaView")->group("Results");
  run->add_flag("--frd", options->frd, "Also write an .frd file for CalculiX GraphiX, PrePoMax and FreeCAD")
      ->group("Results");
  run->add_flag("--no-tables", options->no_tables, "Do not write .dat and CSV tables")->group("Results");
  run->add_flag("--no-files", options->no_files, "Write no files; only print")->group("Results");
  add_engine_options(*run, *options);
  add_checkpoint_options(*run, options->checkpoints);
  add_result_options(*run, options->results, "Results");
  CLI::Option* verbose = run->add_flag("-v,--verbose", options->verbose,
                                       "Show element routes, the reason for the choice of solver, residuals");
  run->add_flag("-q,--quiet", options->quiet, "Show errors only")->excludes(verbose);
  run->add_flag("--json", options->json, "Print only results.json on standard output");
  run->footer(run_examples);
  run->callback([options] {
    const ExitCode code = run_files(*options);
    if (code != ExitCode::ok) throw Exit{code};
  });
}

}  // namespace voussoir::app
