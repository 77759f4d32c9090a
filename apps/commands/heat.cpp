#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/solver_options.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/monitor.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/jobs/run_heat_job.hpp>

namespace voussoir::app {
namespace {

struct HeatCommand {
  std::string file, backend, output = ".";
  int threads = 0;
  bool force = false, resume = false, no_files = false, no_vti = false, no_picture = false, quiet = false, json = false;
};

/// One job from its reading to its files.
class HeatCommandRun {
 public:
  explicit HeatCommandRun(const HeatCommand& options) : options_(options), monitor_(!options.quiet && !options.json) {}

  ExitCode run() {
    try {
      return solve();
    } catch (const Error& error) {
      hold();
      if (options_.json) print(failure_document(error));
      print_error(error, options_.file);
      return exit_code(error);
    }
  }

 private:
  /// From here on nothing is drawn, and no signal ends the process: files are written and lines printed whole.
  void hold() {
    if (!pause_) pause_.emplace(monitor_);
    pause_->forget_activity();
    pause_->forget_last_words();
  }

  std::string failure_document(const Error& error) const {
    nlohmann::ordered_json document;
    document["job"] = printable_text(options_.file);
    document["complete"] = false;
    document["error"] = printable_text(error.what());
    return document.dump(2) + "\n";
  }

  bool tell(const HeatJobProgress& progress) {
    Activity activity;
    activity.file = std::filesystem::path(options_.file).filename().string();
    activity.stage = progress.stage;
    if (progress.steps > 0) {
      activity.step = static_cast<std::size_t>(progress.step);
      activity.steps = static_cast<std::size_t>(progress.steps);
    } else {
      activity.iteration = static_cast<int>(std::min<std::int64_t>(progress.step, 2000000000));
      activity.residual = progress.residual;
    }
    activity.left = progress.seconds_left;
    if (monitor_.tell(std::move(activity))) return true;
    hold();  // saving the state of a large grid takes its time
    return false;
  }

  std::string backend_of(const HeatJob& job) const {
    SolverOptions both;
    both.how.backend = options_.backend.empty() ? job.backend : options_.backend;
    both.threads = options_.threads;
    return both.resolved().backend;
  }

  ExitCode solve() {
    HeatJob job = read_heat_job(options_.file);
    if (options_.no_vti) job.vti = false;
    if (options_.no_picture) job.picture = false;
    HeatRunOptions how;
    how.backend = backend_of(job);
    how.folder = options_.output;
    how.files = !options_.no_files;
    how.overwrite = options_.force;
    how.resume = options_.resume;
    how.observer = [this](const HeatJobProgress& progress) { return tell(progress); };
    monitor_.set_last_words([this] {
      show_error(
          "voussoir: {}: stopped within a step; use --resume to continue from the last saved state, if there is one\n",
          options_.file);
    });
    const HeatRunResult result = run_heat_job(job, how);
    hold();
    if (!result.complete) return stopped(job, result);
    if (options_.json)
      print(heat_results_json(job, result));
    else if (!options_.quiet)
      print(text_of(job, result));
    return ExitCode::ok;
  }

  ExitCode stopped(const HeatJob& job, const HeatRunResult& result) const {
    const bool kept = !options_.no_files && !job.stationary;
    show_error("voussoir: {}: stopped after {} {}; {}\n", options_.file, result.steps,
               job.stationary ? "iterations" : "steps",
               kept ? "use --resume to continue from there" : "no files were written");
    return exit_code_of_signal(monitor_.signal());
  }

  static std::string text_of(const HeatJob& job, const HeatRunResult& result) {
    std::string nodes;
    for (int a = 0; a < job.grid.dimensions(); ++a) nodes += (a ? " × " : "") + std::to_string(job.grid.nodes(a));
    std::string text = fmt::format("{}: {} nodes, scheme {}, {}\n", printable_text(job.name), nodes,
                                   job.stationary ? "stationary" : to_string(job.options.scheme), result.backend);
    if (job.stationary)
      text += fmt::format("  {} Jacobi iterations, residual {:.2e} of the first one\n", result.steps, result.residual);
    else
      text += fmt::format("  {} steps of {:g} to time {:g}{}\n", result.steps, job.options.time_step, result.time,
                          result.resumed_from > 0 ? fmt::format(", resumed after step {}", result.resumed_from) : "");
    text += fmt::format("  temperature {:.8g} to {:.8g}, mean {:.8g}\n", result.summary.least, result.summary.greatest,
                        result.mean);
    if (!job.stationary) {
      const HeatBalance& b = result.balance;
      text +=
          fmt::format("  heat {:.8g}, {:+.6g} since the beginning: {:.6g} from sources, {:.6g} through flux sides, ",
                      b.content, b.content - b.initial_content, b.from_sources, b.through_flux_sides);
      text += job.grid.has_prescribed_sides()
                  ? fmt::format("{:.6g} through sides of prescribed temperature\n", b.remainder())
                  : fmt::format("defect {:.1e}\n", b.remainder());
    }
    for (std::size_t p = 0; p < job.points.size(); ++p)
      text += fmt::format("  {}: {:.8g}\n", printable_text(job.points[p].name), result.at_points[p]);
    for (const std::string& note : result.notes) text += "  note: " + note + "\n";
    text += fmt::format("  {} in steps, {} in files\n", readable_seconds(result.step_seconds),
                        readable_seconds(result.write_seconds));
    if (result.files.size() > 6)
      text +=
          fmt::format("  {} files, {} the last\n", result.files.size(), printable_text(result.files.back().string()));
    else
      for (const auto& file : result.files) text += "  " + printable_text(file.string()) + "\n";
    return text;
  }

  const HeatCommand& options_;
  Monitor monitor_;
  std::optional<Monitor::Pause> pause_;
};

constexpr const char* heat_examples =
    R"(Examples:
  voussoir heat plate.json                    steps through time; plate.pvd, .csv, .png and .results.json
  voussoir heat plate.json --backend cuda     the same on a GPU
  voussoir heat plate.json --resume           goes on after Ctrl-C or a crash, from the last state that was saved
  voussoir heat plate.json --json | jq .heat  numbers for a script, and nothing else

The job file names a regular grid, its sides, material, sources, scheme and steps: docs/grids.md.)";

}  // namespace

void add_heat_command(CLI::App& program) {
  CLI::App* heat = program.add_subcommand("heat", "Solve heat conduction on a regular grid, from a job file (.json)");
  auto options = std::make_shared<HeatCommand>();
  heat->add_option("FILE", options->file, "Heat job (.json)")->type_name("FILE")->required();
  heat->add_option("--backend", options->backend,
                   "Compute backend (default: that of the job); openmp:N uses N threads, cuda:0,1 two GPUs")
      ->type_name("auto|openmp|openmp:N|debug|cuda|cuda:0,1");
  heat->add_option("--threads", options->threads, "Number of CPU threads (default: all)")
      ->type_name("N")
      ->check(whole_number_between(1, 1024));
  heat->add_option("--output", options->output, "Folder for results (default: the current folder); created if missing")
      ->type_name("DIR")
      ->group("Results");
  CLI::Option* resume =
      heat->add_flag("--resume", options->resume, "Go on from the state of an interrupted run")->group("Results");
  heat->add_flag("--force", options->force, "Replace existing results, and start over")
      ->excludes(resume)
      ->group("Results");
  heat->add_flag("--no-vti", options->no_vti, "Do not write VTI and PVD files for ParaView")->group("Results");
  heat->add_flag("--no-picture", options->no_picture, "Do not draw the field at the end")->group("Results");
  heat->add_flag("--no-files", options->no_files, "Write no files; only print")->excludes(resume)->group("Results");
  heat->add_flag("-q,--quiet", options->quiet, "Show errors only");
  heat->add_flag("--json", options->json, "Print only a JSON document on standard output");
  add_load_option(*heat, "Results");
  heat->footer(heat_examples);
  heat->callback([options] {
    const ExitCode code = HeatCommandRun(*options).run();
    if (code != ExitCode::ok) throw Exit{code};
  });
}

}  // namespace voussoir::app
