#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/read_model.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/jobs/heat_plan.hpp>
#include <voussoir/jobs/plan.hpp>

namespace voussoir::app {
namespace {

struct PlanOptions {
  std::vector<std::string> files;
  std::vector<std::string> backends;
  std::string dialect = "calculix";
  double tolerance = 1e-8;
  bool json = false;
};

/// Those of this machine: the CPU, and GPUs where there are some.
std::vector<std::string> default_backends() {
  std::vector<std::string> names{"openmp"};
  for (const BackendInfo& info : Backend::available())
    if (info.usable && info.name != "openmp" && info.name != "debug" && info.name != "emulated")
      names.push_back(info.name);
  return names;
}

std::string time_or_unknown(const std::optional<double>& seconds) {
  if (!seconds) return "unknown";
  if (*seconds < 1e-3) return fmt::format("{:.0f} µs", 1e6 * *seconds);
  if (*seconds < 1) return fmt::format("{:.3g} ms", 1e3 * *seconds);
  return readable_seconds(*seconds);
}

std::string text_of(const ModelPlan& model) {
  std::string text = fmt::format("    {}, {} unknowns, {}, {}\n", model.procedure,
                                 readable_count(static_cast<long long>(model.shape.equations)),
                                 counted(static_cast<long long>(model.steps), "step"),
                                 model.matrices == 1 ? "1 matrix" : fmt::format("{} matrices", model.matrices));
  text += fmt::format("    {:<16} {:<12} {:>3} {:>10} {:>11} {:>11} {:>12} {:>10}\n", "solver", "storage", "dev",
                      "set-up", "iteration", "iterations", "predicted", "memory");
  for (const StrategyPlan& s : model.strategies)
    text += fmt::format("    {:<16} {:<12} {:>3} {:>10} {:>11} {:>11} {:>12} {:>10}{}{}\n", s.solver, s.storage,
                        s.devices, time_or_unknown(s.set_up_seconds), time_or_unknown(s.iteration_seconds),
                        s.count ? fmt::format("{:.0f}", s.count->iterations) : "–", time_or_unknown(s.seconds),
                        readable_bytes(s.memory), s.fits ? "" : "  " + yellow("does not fit"),
                        s.chosen ? "  " + bold("auto") : "");
  if (!model.chosen_solver.empty())
    text += fmt::format("    auto takes {} with storage {}{}\n", model.chosen_solver, model.chosen_storage,
                        model.reason.empty() ? "" : ": " + model.reason);
  std::vector<std::string> assumptions;
  for (const StrategyPlan& s : model.strategies)
    if (s.count && std::find(assumptions.begin(), assumptions.end(), s.count->text) == assumptions.end())
      assumptions.push_back(s.count->text);
  for (const std::string& assumption : assumptions) text += "    assumption: " + assumption + "\n";
  for (const std::string& note : model.notes) text += "    note: " + note + "\n";
  return text;
}

/// What is said of a backend, whatever the job: its device and its profile.
template <class Plan>
std::string heading_of(const Plan& backend) {
  std::string text = fmt::format("\n  backend {}: {}\n", backend.backend, backend.device);
  if (!backend.usable) return text;
  return text + (backend.is_assumption ? fmt::format("    {} built-in rates of other machines, since {}\n",
                                                     yellow("rough:"), backend.profile_note)
                                       : fmt::format("    {}\n", backend.profile_note));
}

std::string text_of(const HeatPlan& plan) {
  std::string text = bold(plan.source) + (plan.title.empty() ? "" : ": " + printable_text(plan.title)) + "\n";
  text += fmt::format("  Predictions, nothing was computed. Heat on a grid of {} nodes\n",
                      readable_count(static_cast<long long>(plan.nodes)));
  for (const HeatBackendPlan& backend : plan.backends) {
    text += heading_of(backend);
    if (!backend.usable) continue;
    text += fmt::format("    {:<18} {:>11} {:>11} {:>10} {:>10} {:>12} {:>10}\n", "scheme", "time step", "steps",
                        "set-up", "step", "predicted", "memory");
    for (const HeatSchemePlan& s : backend.schemes) {
      text +=
          fmt::format("    {:<18} {:>11} {:>11.0f} {:>10} {:>10} {:>12} {:>10}{}{}{}\n", s.scheme,
                      s.time_step > 0 ? fmt::format("{:.4g}", s.time_step) : "–", s.steps,
                      time_or_unknown(s.set_up_seconds), time_or_unknown(s.step_seconds), time_or_unknown(s.seconds),
                      readable_bytes(s.memory), s.fits ? "" : "  " + yellow("does not fit"),
                      s.chosen ? "  " + bold("the job's") : "", s.note.empty() ? "" : "  " + s.note);
      if (s.count) text += "    assumption: " + s.count->text + "\n";
    }
  }
  for (const std::string& note : plan.notes) text += "  note: " + note + "\n";
  return text + fmt::format("\n  next: voussoir heat {}\n", plan.source);
}

std::string text_of(const JobPlan& plan) {
  std::string text = bold(plan.source) + (plan.title.empty() ? "" : ": " + plan.title) + "\n";
  text += "  Predictions, nothing was solved.\n";
  for (const BackendPlan& backend : plan.backends) {
    text += heading_of(backend);
    for (const ModelPlan& model : backend.models) text += text_of(model);
  }
  for (const std::string& note : plan.notes) text += "  note: " + note + "\n";
  return text + fmt::format("\n  next: voussoir run {}\n", plan.source);
}

/// Prints a plan. Nothing was predicted for a backend that was asked for by name and cannot be used: that is an error.
template <class Plan>
ExitCode show_plan(const Plan& plan, const PlanOptions& options, Documents& documents) {
  if (options.json)
    documents.add(to_json(plan));
  else
    print(text_of(plan));
  const bool all_usable =
      std::all_of(plan.backends.begin(), plan.backends.end(), [](const auto& b) { return b.usable; });
  return options.backends.empty() || all_usable ? ExitCode::ok : ExitCode::machine;
}

ExitCode plan_file(const PlanOptions& options, const std::string& file, Documents& documents) {
  try {
    const auto backends = options.backends.empty() ? default_backends() : options.backends;
    if (is_heat_job(file)) return show_plan(plan_heat_job(read_heat_job(file), backends, file), options, documents);
    const Job job = read_model(file, dialect_of(options.dialect), {});
    StaticOptions how;
    how.relative_tolerance = options.tolerance;
    return show_plan(plan_job(job, backends, how), options, documents);
  } catch (const Error& error) {
    print_error(error, file);
    return exit_code(error);
  }
}

constexpr const char* plan_examples =
    R"(Examples:
  voussoir plan beam.inp                          time and memory of every strategy, before anything runs
  voussoir plan beam.inp --backend openmp --backend cuda:0,1
  voussoir plan beam.inp --json                   the same as a document
  voussoir plan plate.json                        schemes of heat on a grid, beside the job's own
  voussoir bench calibrate                        measures this machine, so that times are its own

Times are predictions of the cost model (docs/cost_model.md), from a profile of the machine where there is one. The
number of iterations is an assumption; the time of one iteration is given beside it.)";

}  // namespace

void add_plan_command(CLI::App& program) {
  CLI::App* plan =
      program.add_subcommand("plan", "Predict time and memory of a job for every strategy, without running it");
  auto options = std::make_shared<PlanOptions>();
  plan->add_option("FILE", options->files, "Abaqus or CalculiX decks (.inp), job files and heat jobs (.json)")
      ->type_name("FILE")
      ->required();
  plan->add_option("--backend", options->backends, "Backends to predict for (default: those of this machine)")
      ->type_name("openmp|openmp:N|cuda|cuda:0,1")
      ->take_all();
  add_load_option(*plan);
  plan->add_option("--dialect", options->dialect, "The program whose meaning deck names have where the two differ")
      ->check(CLI::IsMember({"calculix", "abaqus"}).description(""))
      ->type_name("calculix|abaqus")
      ->capture_default_str();
  plan->add_option("--tolerance", options->tolerance, "Tolerance of iterative solvers")
      ->type_name("X")
      ->check(above_zero())
      ->capture_default_str();
  plan->add_flag("--json", options->json, "Print only a JSON document on standard output");
  plan->footer(plan_examples);
  plan->callback([options] {
    ExitCode worst = ExitCode::ok;
    Documents documents;
    for (const std::string& file : options->files) worst = worse(worst, plan_file(*options, file, documents));
    if (options->json) documents.print(options->files.size());
    if (worst != ExitCode::ok) throw Exit{worst};
  });
}

}  // namespace voussoir::app
