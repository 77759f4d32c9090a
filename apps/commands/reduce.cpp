#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/output_checks.hpp>
#include <voussoir/apps/commands/read_model.hpp>
#include <voussoir/apps/commands/solver_options.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/framework/io/superelement/reduced_part_file.hpp>
#include <voussoir/partition/reduce_part.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>

namespace voussoir::app {
namespace {

struct ReduceCommand {
  std::string file, interface, output, name, solver = "auto", backend = "openmp", dialect = "calculix";
  int modes = 0;
  double below = 0;
  bool stresses = false, no_recovery = false, force = false, json = false;
};

bool same_supports(const std::shared_ptr<const Supports>& a, const std::shared_ptr<const Supports>& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const auto facts = [](const Supports& supports) {
    std::set<std::tuple<std::int32_t, std::string, std::array<double, 3>, double>> all;
    for (const Prescribed& p : supports.values) all.insert({p.node, p.unknown, {}, p.value});
    for (const ObliqueSupport& o : supports.oblique) all.insert({o.node, {}, o.direction, o.value});
    for (const Supports::Kept& k : supports.kept) all.insert({k.node, k.unknown, k.direction, 0.0});
    return all;
  };
  return facts(*a) == facts(*b);
}

/// The load cases of all steps are reduced with the supports of the first one.
void check_supports(const Job& job, const ReduceCommand& command) {
  const JobStep& first = job.steps.front();
  for (const JobStep& step : job.steps)
    if (step.domain == first.domain && !step.load_case.empty() && !same_supports(first.supports, step.supports))
      throw Error(ErrorCode::bad_input,
                  "the supports of step '" + step.name + "' differ from those of step '" + first.name +
                      "', with which the part and all of its load cases are reduced; give all steps the same supports, "
                      "or reduce the part for each set of supports from a file of its own",
                  step.where.empty() ? command.file : step.where);
}

/// The model of the first step, with its supports.
Domain& model_of(const Job& job, const ReduceCommand& command) {
  if (job.steps.empty()) {
    if (job.domains.size() == 1) return *job.domains.front();
    throw Error(ErrorCode::bad_input, "it has no step that would tell which model is to be reduced", command.file);
  }
  check_supports(job, command);
  const JobStep& first = job.steps.front();
  Domain& domain = *job.domains[first.domain];
  if (first.supports) first.supports->apply(domain);
  return domain;
}

std::string reduce_document(const ReduceCommand& command, const ReducedPart& part) {
  nlohmann::ordered_json frequencies = nlohmann::ordered_json::array(), loads = nlohmann::ordered_json::array();
  for (const double value : part.eigenvalues) frequencies.push_back(frequency_of(value));
  for (const auto& load : part.loads) loads.push_back(load.name);
  const nlohmann::ordered_json document{{"voussoir", version()},
                                        {"file", command.file},
                                        {"written", command.output},
                                        {"name", part.name},
                                        {"interface_nodes", part.interface_nodes.size()},
                                        {"interface_unknowns", part.interface_size()},
                                        {"frequencies", frequencies},
                                        {"loads", loads},
                                        {"mass", part.rigid_mass[0]},
                                        {"recovered_unknowns", part.rows()},
                                        {"recovered_stresses", part.stress_rows()},
                                        {"follows_rigid_motions", part.follows_rigid_motions},
                                        {"bytes", part.bytes()}};
  return printable_json(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

void run_reduce(const ReduceCommand& command) {
  check_outputs({command.file}, {command.output});
  { const OutputFile writable(command.output, command.force); }  // fails now if the file exists or cannot be written
  const auto backend = Backend::open(command.backend);
  const Job job = read_model(command.file, dialect_of(command.dialect), {});
  const Domain& domain = model_of(job, command);
  ReduceOptions options;
  options.name = command.name.empty() ? std::filesystem::path(command.output).stem().string() : command.name;
  options.modes = command.modes;
  options.below = command.below;
  options.recovery = !command.no_recovery;
  options.stresses = command.stresses;
  options.eigen_solver = command.solver;
  const ReducedPart part = reduce_part(domain, command.interface, backend, options);
  write_reduced_part(command.output, part, command.force);
  if (command.json) return print(reduce_document(command, part));
  show("{}: {}, {}, reduced to {} of '{}' and {}\n", bold(command.file), counted(domain.element_count(), "element"),
       counted(domain.node_count(), "node"), counted(static_cast<std::int64_t>(part.interface_nodes.size()), "node"),
       command.interface, counted(static_cast<std::int64_t>(part.modes()), "mode"));
  if (part.modes() > 0)
    show("Modes with the interface fixed: {:.6g} to {:.6g} Hz\n", frequency_of(part.eigenvalues.front()),
         frequency_of(part.eigenvalues.back()));
  const bool mechanical = std::find(part.unknowns.begin(), part.unknowns.end(), "ux") != part.unknowns.end();
  if (part.mass.empty())
    show("{}\n", mechanical ? "The part has no mass; it can be used in statics only."
                            : "The part has no heat capacity; it can be used in steady heat conduction only.");
  else if (!part.accelerations.empty())
    show("Mass {:.9g}\n", part.rigid_mass[0]);
  for (const auto& load : part.loads) show("Load '{}'\n", load.name);
  if (!part.follows_rigid_motions)
    show(
        "The part has supports or springs to ground inside: in models that use it, total and effective masses do not "
        "count the mass that they hold, and base motions do not move them.\n");
  show("Wrote {}\n", command.output);
}

constexpr const char* reduce_examples =
    R"(Examples:
  voussoir reduce wing.inp --interface ROOT -o wing.vsup                static condensation (Guyan)
  voussoir reduce wing.inp --interface ROOT --modes 20 -o wing.vsup     with 20 fixed-interface modes (Craig–Bampton)
  voussoir reduce wing.inp --interface ROOT --below 300 --stresses -o wing.vsup

A job file uses the part under "superelements" (docs/superelements.md).)";

}  // namespace

void add_reduce_command(CLI::App& program) {
  CLI::App* reduce = program.add_subcommand("reduce", "Reduce a model to its interface, as a superelement for others");
  auto command = std::make_shared<ReduceCommand>();
  add_load_option(*reduce);
  reduce->add_option("FILE", command->file, "Abaqus or CalculiX deck (.inp) or job file (.json)")
      ->type_name("FILE")
      ->required();
  reduce->add_option("--interface", command->interface, "Node set (deck) or group (job file) of the interface")
      ->type_name("NAME")
      ->required();
  reduce->add_option("-o,--output", command->output, "File to write, NAME.vsup")->type_name("FILE")->required();
  reduce->add_option("--modes", command->modes, "Number of modes with the interface fixed")
      ->type_name("N")
      ->check(whole_number_between(0, 100000))
      ->capture_default_str();
  reduce->add_option("--below", command->below, "All modes below this frequency; with --modes N, at most N of them")
      ->type_name("HZ")
      ->check(CLI::NonNegativeNumber.description(""));
  reduce->add_option("--name", command->name, "Name of the part; the default is that of the file written")
      ->type_name("NAME");
  reduce->add_flag("--stresses", command->stresses, "Also store what recovers the mean stresses of elements");
  reduce->add_flag("--no-recovery", command->no_recovery, "Store nothing about the interior; gives a small file");
  reduce->add_option("--solver", command->solver, "Eigen-solver of the modes")
      ->type_name(name_choices("auto", eigen_solvers().names()))
      ->check([](const std::string& name) {
        return fault_of_name(name, [](const std::string& n) { make_eigen_solver(n); });
      })
      ->capture_default_str();
  reduce->add_option("--backend", command->backend, "Where matrices are assembled: openmp, openmp:N, cuda, debug, …")
      ->type_name("NAME")
      ->capture_default_str();
  reduce->add_flag("--force", command->force, "Replace an existing file");
  reduce->add_flag("--json", command->json, "Print only a JSON document on standard output");
  reduce->add_option("--dialect", command->dialect, "The program whose meaning deck names have where the two differ")
      ->check(CLI::IsMember({"calculix", "abaqus"}).description(""))
      ->type_name("calculix|abaqus")
      ->capture_default_str();
  reduce->footer(reduce_examples);
  reduce->callback([command] { run_reduce(*command); });
}

}  // namespace voussoir::app
