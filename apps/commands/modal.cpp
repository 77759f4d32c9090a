#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/modal_text.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/read_model.hpp>
#include <voussoir/apps/commands/solver_options.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/monitor.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/output_lock.hpp>
#include <voussoir/framework/io/vtk/mode_animation.hpp>
#include <voussoir/jobs/earlier_files.hpp>
#include <voussoir/jobs/mode_files.hpp>
#include <voussoir/jobs/mode_pictures.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>

namespace voussoir::app {
namespace {

struct ModalCommand {
  std::string file, dialect = "calculix", backend = "auto", solver = "auto", mass = "consistent", check = "auto",
                    output, animated = "1";
  int modes = 0, step = 1, threads = 0, max_iterations = 500, frames = 0;
  double below = 0, from = 0, tolerance = 1e-8;
  bool force = false, no_files = false, no_vtu = false, no_picture = false, quiet = false, json = false,
       verbose = false;

  /// The mode that is animated, from 1; 0 for all.
  int animated_mode() const { return animated == "all" ? 0 : std::stoi(animated); }

  EigenRequest request() const {
    EigenRequest request;
    request.modes = modes == 0 && below == 0 ? 10 : modes;
    if (below > 0) request.below = below;
    request.from = from;
    request.tolerance = tolerance;
    request.max_iterations = max_iterations;
    request.check = completeness_check(check);
    return request;
  }
};

/// One file from its reading to the files of its modes.
class ModalRun {
 public:
  explicit ModalRun(const ModalCommand& options) : options_(options), monitor_(!options.quiet) {}

  ExitCode run() {
    try {
      return solve();
    } catch (const Error& error) {
      Monitor::Pause pause(monitor_);
      pause.forget_activity();
      if (error.code() == ErrorCode::cancelled && !monitor_.keep_going()) {
        show_error("voussoir: {}: stopped; no files were written\n", options_.file);
        return exit_code_of_signal(monitor_.signal());
      }
      if (options_.json) print(modal_failure_document(options_.file, error));
      print_error(error, options_.file);
      return exit_code(error);
    }
  }

 private:
  bool tell(const std::string& stage, int iteration = 0, double residual = 0) {
    Activity activity;
    activity.file = std::filesystem::path(options_.file).filename().string();
    activity.stage = stage;
    activity.iteration = iteration;
    activity.residual = residual;
    return monitor_.tell(std::move(activity));
  }

  /// The model with the supports of a step.
  Domain& model_of(Job& job) const {
    if (job.steps.empty())
      throw Error(
          ErrorCode::bad_input,
          "the model has no step, and supports are those of a step; add one (*STEP, *STATIC, *END STEP), with or "
          "without loads",
          options_.file);
    if (static_cast<std::size_t>(options_.step) > job.steps.size())
      throw Error(
          ErrorCode::bad_input,
          "there is no step " + std::to_string(options_.step) + "; there are " + std::to_string(job.steps.size()),
          options_.file);
    const JobStep& step = job.steps[static_cast<std::size_t>(options_.step) - 1];
    Domain& domain = *job.domains[step.domain];
    if (step.supports) step.supports->apply(domain, nullptr);
    return domain;
  }

  ExitCode solve() {
    const Stopwatch since_start;
    tell("reading");
    Job job = read_model(options_.file, dialect_of(options_.dialect), [&](double) { return tell("reading"); });
    const double read_seconds = since_start.seconds();
    Domain& domain = model_of(job);
    ModalOptions how;
    SolverOptions both;
    both.how.backend = options_.backend;
    both.threads = options_.threads;
    how.backend = both.resolved().backend;
    how.solver = options_.solver;
    how.mass = options_.mass == "lumped" ? MassKind::lumped : MassKind::consistent;
    const auto analysis = make_modal_analysis(domain, how);
    analysis->observer = [&](const Progress& p) { return tell(p.stage, p.iteration, p.residual); };
    OutputLock lock;
    EarlierFiles earlier;
    if (!options_.no_files) claim_names(job, lock);
    if (!options_.no_files && options_.force) earlier.read(options_.output, job.name + "_modes.json", job.name);
    const ModeSet modes = analysis->solve(options_.request());

    ModalRecord record{options_.file,
                       analysis->backend().describe(),
                       options_.mass,
                       read_seconds,
                       0,
                       analysis->model().free_equation_count(),
                       analysis->stage_times(),
                       analysis->notes()};
    tell("writing");
    const std::vector<std::string> files = write(job, domain, modes, record, earlier);
    record.seconds = since_start.seconds();
    Monitor::Pause pause(monitor_);
    pause.forget_activity();
    if (options_.json)
      print(modal_document(modes, record));
    else if (!options_.quiet)
      print(modal_text(modes, record, files, options_.verbose));
    return verdict(modes);
  }

  ExitCode verdict(const ModeSet& modes) const {
    if (const std::string fault = fault_of(modes.report, options_.tolerance); !fault.empty()) {
      show_error("voussoir: {} {}: {}\n", red("error:", Stream::error), options_.file, fault);
      return ExitCode::no_solution;
    }
    return ExitCode::ok;
  }

  std::filesystem::path path_of(const Job& job, const std::string& ending) const {
    return std::filesystem::path(options_.output) / (job.name + ending);
  }

  /// Nobody else writes files of that name meanwhile; and a name that is taken is found before anything is solved.
  void claim_names(const Job& job, OutputLock& lock) const {
    const std::filesystem::path folder = options_.output.empty() ? "." : options_.output;
    std::filesystem::create_directories(folder);
    lock.acquire(folder, job.name + "_modes");
    std::vector<std::string> endings{"_modes.csv", "_modes.json"};
    if (!options_.no_vtu) endings.push_back("_modes.pvd");
    if (!options_.no_picture) endings.insert(endings.end(), {"_modes.png", "_modes.svg"});
    if (options_.frames > 0) endings.push_back(mode_animation_name("", std::max(options_.animated_mode(), 1)) + ".pvd");
    for (const std::string& ending : endings)
      if (const auto path = path_of(job, ending); !options_.force && std::filesystem::exists(path))
        throw NameTaken(ErrorCode::io, "this file exists already; --force replaces it", path.string());
  }

  /// Writes all files and lists them in `record`. Returns the names to print: for a series, only its index file.
  std::vector<std::string> write(const Job& job, const Domain& domain, const ModeSet& modes, ModalRecord& record,
                                 const EarlierFiles& earlier) const {
    std::vector<std::string> shown;
    if (options_.no_files) return shown;
    std::vector<std::filesystem::path> all;
    const auto add = [&](const std::vector<std::filesystem::path>& paths) {
      for (const auto& each : paths) shown.push_back(each.string());
      all.insert(all.end(), paths.begin(), paths.end());
    };
    modal_table(modes).write(path_of(job, "_modes.csv"), options_.force);
    add({path_of(job, "_modes.csv"), path_of(job, "_modes.json")});
    const ModeFileNames files{options_.output, job.name, options_.force};
    if (!options_.no_picture) add(write_mode_pictures(domain, modes, job.title, files));
    if (options_.frames > 0) {
      const auto series = write_mode_animations(domain, modes, options_.animated_mode(), options_.frames, files);
      add(series);
      for (const std::filesystem::path& list : series)
        for (const std::string& file : mode_animation_files(list.stem().string(), options_.frames))
          if (const auto path = std::filesystem::path(options_.output) / file; path != list) all.push_back(path);
    }
    if (!options_.no_vtu) {
      const auto shapes = write_mode_shapes(domain, modes, options_.output, job.name, options_.force);
      if (!shapes.empty()) shown.push_back(shapes.back().string());  // the list of them will do
      all.insert(all.end(), shapes.begin(), shapes.end());
    }
    for (const std::filesystem::path& path : all) record.files.push_back(path.string());
    if (const auto gone = earlier.remove_others(all); !gone.empty())
      record.notes.push_back("removed " + std::to_string(gone.size()) + (gone.size() == 1 ? " file" : " files") +
                             " of an earlier run: " + few_names(gone));
    OutputFile document(path_of(job, "_modes.json"), options_.force);
    document.write(modal_document(modes, record));
    document.commit();
    return shown;
  }

  const ModalCommand& options_;
  Monitor monitor_;
};

constexpr const char* modal_examples =
    R"(Examples:
  voussoir modal frame.inp                       the first ten modes: a table, frame_modes.csv, .json, .png, .svg, .pvd and VTU files
  voussoir modal frame.inp --modes 27            the first 27
  voussoir modal frame.inp --below 200           all modes below 200 Hz
  voussoir modal frame.inp --from 50 --below 60  all modes between two frequencies
  voussoir modal frame.inp --animate --mode 3    the third mode vibrates in ParaView: frame_mode_003_animation.pvd
  voussoir modal frame.inp --json | jq .modes    numbers for a script, and nothing else

Materials need a density. Loads do not act; supports are those of the first step, or of --step N.
Frequencies are in cycles per unit of time: Hz where the units of the model are consistent with seconds.
Open frame_modes.pvd in ParaView and warp by the displacement; time is the number of the mode (docs/modal.md).)";

void add_modal_solving(CLI::App& modal, ModalCommand& options) {
  modal.add_option("--backend", options.backend, "Compute backend; openmp:N uses N threads, cuda:0,1 two GPUs")
      ->type_name("auto|openmp|openmp:N|debug|cuda|cuda:0,1")
      ->capture_default_str()
      ->group("Solving");
  modal.add_option("--threads", options.threads, "Number of CPU threads (default: all)")
      ->type_name("N")
      ->check(whole_number_between(1, 1024))
      ->group("Solving");
  add_eigen_solver_option(modal, options.solver)->group("Solving");
  modal.add_option("--mass", options.mass, "Form of the mass matrix")
      ->type_name("consistent|lumped")
      ->check(CLI::IsMember({"consistent", "lumped"}).description(""))
      ->capture_default_str()
      ->group("Solving");
  modal
      .add_option("--check", options.check,
                  "How to look for modes that were missed: sturm counts them by a factorisation, probe iterates random "
                  "vectors; auto counts where a factorisation is affordable")
      ->type_name("auto|sturm|probe|none")
      ->check(CLI::IsMember({"auto", "sturm", "probe", "none"}).description(""))
      ->capture_default_str()
      ->group("Solving");
  modal.add_option("--tolerance", options.tolerance, "Largest relative residual of a mode")
      ->type_name("X")
      ->check(number_between(1e-14, 0.1))
      ->capture_default_str()
      ->group("Solving");
  modal.add_option("--max-iterations", options.max_iterations, "Maximum number of iterations of the eigen-solver")
      ->type_name("N")
      ->check(whole_number_between(1, 1000000))
      ->capture_default_str()
      ->group("Solving");
}

void add_animation(CLI::App& modal, ModalCommand& options) {
  CLI::Option* animate =
      modal
          .add_option("--animate", options.frames,
                      "Write one period of a vibration as VTU files, with a PVD list that ParaView plays: N frames; "
                      "default: 24")
          ->type_name("N")
          ->check(whole_number_between(3, 1000))
          ->group("Results");
  modal.add_option("--mode", options.animated, "The mode that --animate writes, or all of them")
      ->type_name("K|all")
      ->check([](const std::string& text) {
        if (text == "all") return std::string();
        return whole_number_between(1, 100000)(text).empty() ? "" : "'" + text + "' is not a mode; write 3, or all";
      })
      ->needs(animate)
      ->capture_default_str()
      ->group("Results");
}

}  // namespace

void add_modal_command(CLI::App& program) {
  CLI::App* modal =
      program.add_subcommand("modal", "Find natural frequencies and modes of a deck (.inp) or job (.json)");
  auto options = std::make_shared<ModalCommand>();
  modal->add_option("FILE", options->file, "Abaqus or CalculiX deck (.inp) or job file (.json)")
      ->type_name("FILE")
      ->required();
  modal->add_option("--modes", options->modes, "Number of modes, the lowest first (default: 10, or all below --below)")
      ->type_name("N")
      ->check(whole_number_between(1, 100000));
  CLI::Option* below = modal->add_option("--below", options->below, "All modes below a frequency, in Hz")
                           ->type_name("HZ")
                           ->check(above_zero());
  modal->add_option("--from", options->from, "Only modes above a frequency, in Hz; with --below")
      ->type_name("HZ")
      ->check(above_zero())
      ->needs(below);
  modal->add_option("--step", options->step, "Step of the file whose supports hold the model")
      ->type_name("N")
      ->check(whole_number_between(1, 1000000))
      ->capture_default_str();
  add_load_option(*modal, "Solving");
  add_modal_solving(*modal, *options);
  modal->add_option("--dialect", options->dialect, "The program whose meaning deck names have where the two differ")
      ->check(CLI::IsMember({"calculix", "abaqus"}).description(""))
      ->type_name("calculix|abaqus")
      ->capture_default_str()
      ->group("Reading");
  modal->add_option("--output", options->output, "Folder for results (default: the current folder); created if missing")
      ->type_name("DIR")
      ->group("Results");
  modal->add_flag("--force", options->force, "Replace existing results")->group("Results");
  modal
      ->add_flag("--no-vtu", options->no_vtu,
                 "Do not write the shapes as VTU and PVD files for ParaView; --animate still writes its own")
      ->group("Results");
  modal
      ->add_flag("--no-picture", options->no_picture,
                 "Do not draw the first modes (NAME_modes.png) and the accumulated effective masses (NAME_modes.svg)")
      ->group("Results");
  add_animation(*modal, *options);
  modal->add_flag("--no-files", options->no_files, "Write no files; only print")->group("Results");
  CLI::Option* verbose = modal->add_flag("-v,--verbose", options->verbose, "Show the choice of solver and times");
  modal->add_flag("-q,--quiet", options->quiet, "Show errors only")->excludes(verbose);
  modal->add_flag("--json", options->json, "Print only a JSON document on standard output");
  modal->footer(modal_examples);
  modal->callback([options] {
    if (options->frames > 0 && options->no_files)
      throw CLI::ValidationError("--animate", "writes files; omit --no-files");
    if (options->frames > 0 && options->request().modes > 0 && options->animated_mode() > options->request().modes)
      throw CLI::ValidationError("--mode", "only " + std::to_string(options->request().modes) + " modes are requested");
    const ExitCode code = ModalRun(*options).run();
    if (code != ExitCode::ok) throw Exit{code};
  });
}

}  // namespace voussoir::app
