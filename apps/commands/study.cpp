#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/output_checks.hpp>
#include <voussoir/apps/commands/process_study.hpp>
#include <voussoir/apps/commands/read_model.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/partition/decomposition_study.hpp>
#include <voussoir/partition/part_solver.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/solvers/registries.hpp>

namespace voussoir::app {
namespace {

struct StudyCommand {
  std::string file, dialect = "calculix", backend = "openmp", csv, plot;
  std::string parts = "2,4,8", cuts = "auto", methods = "schur,asm,asm2,bddc,amg", contrasts = "1", overlaps = "1";
  std::string part_solver = "direct";
  double tolerance = 1e-8, threshold = 0.1;
  int max_iterations = 2000;
  bool force = false, json = false;
  ProcessStudy processes;
};

std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  std::size_t from = 0;
  while (from <= list.size()) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    items.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return items;
}

/// Numbers of a list "2,4,8", none below `least`.
template <class Number>
std::vector<Number> numbers_of(const std::string& option, const std::string& list, Number least) {
  std::vector<Number> numbers;
  for (const std::string& item : items_of(list)) {
    Number number{};
    const char* const end = item.data() + item.size();
    const auto read = std::from_chars(item.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || !(number >= least) || !(number <= Number(1000000000)))
      throw CLI::ValidationError(
          option,
          fmt::format("'{}' in '{}' is not a number from {} on; separate numbers by commas", item, list, least));
    numbers.push_back(number);
  }
  return numbers;
}

StudyOptions study_options(const StudyCommand& command) {
  StudyOptions options;
  options.parts = numbers_of("--parts", command.parts, 1);
  options.overlaps = numbers_of("--overlap", command.overlaps, 0);
  options.contrasts = numbers_of("--contrast", command.contrasts, 1e-12);
  options.cuts = items_of(command.cuts);
  options.methods = items_of(command.methods);
  options.relative_tolerance = command.tolerance;
  options.max_iterations = command.max_iterations;
  options.part_solver = command.part_solver;
  options.geneo_threshold = command.threshold;
  make_part_solver(options.part_solver);
  for (const std::string& cut : options.cuts) make_partitioner(cut);
  for (const std::string& method : options.methods)
    if (method != "schur" && method != "feti-dp" && method != "geneo") preconditioners().find(method);
  return options;
}

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

std::string study_document(const StudyCommand& command, const std::vector<StudyRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StudyRow& row : rows)
    list.push_back({{"method", row.method},
                    {"cut", row.cut},
                    {"parts", row.parts},
                    {"overlap", row.overlap},
                    {"contrast", row.contrast},
                    {"unknowns", row.unknowns},
                    {"interface_unknowns", row.interface_unknowns},
                    {"coarse_unknowns", row.coarse_unknowns},
                    {"balance", row.balance},
                    {"converged", row.converged},
                    {"iterations", row.iterations},
                    {"condition", number_or_null(row.condition)},
                    {"bound", number_or_null(row.bound)},
                    {"setup_seconds", row.setup_seconds},
                    {"solve_seconds", row.solve_seconds},
                    {"coarse_seconds", row.coarse_seconds},
                    {"bytes", row.bytes},
                    {"error", number_or_null(row.error)},
                    {"failure", row.failure}});
  const nlohmann::ordered_json document{{"voussoir", version()}, {"file", command.file}, {"rows", list}};
  return printable_json(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

void write_plot(const StudyCommand& command, const std::vector<StudyRow>& rows) {
  OutputFile file(command.plot, command.force);
  file.write(study_plot(rows, std::filesystem::path(command.file).filename().string()));
  file.commit();
}

/// A study of processes has an engine instead of methods of its own.
void run_processes(const CLI::App& study, const StudyCommand& command) {
  for (const char* other : {"--parts", "--cut", "--method", "--contrast", "--overlap", "--part-solver", "--threshold",
                            "--backend", "--max-iterations", "--dialect", "--load"})
    if (study.count(other) > 0) throw CLI::ValidationError(other, "has no effect with --mpi; leave it out");
  ProcessStudy processes = command.processes;
  processes.file = command.file;
  processes.csv = command.csv;
  processes.plot = command.plot;
  processes.tolerance = command.tolerance;
  processes.force = command.force;
  processes.json = command.json;
  run_process_study(processes);
}

void run_study_command(const StudyCommand& command) {
  if (command.file.empty()) throw CLI::RequiredError("FILE");
  StudyOptions options = study_options(command);
  check_outputs({command.file}, {command.csv, command.plot});
  for (const std::string& file : {command.csv, command.plot})
    if (!file.empty() && !command.force && std::filesystem::exists(file))
      throw NameTaken(ErrorCode::io, "this file exists already; --force replaces it", file);
  const auto backend = Backend::open(command.backend);
  const Job job = read_model(command.file, dialect_of(command.dialect), {});
  const JobStep* chosen = nullptr;
  for (const JobStep& step : job.steps)
    if (!chosen && !has_states(step.procedure)) chosen = &step;
  if (!chosen)
    throw Error(ErrorCode::bad_input, "it has no step of linear statics or steady heat, which a study solves",
                command.file);
  if (chosen->heated_by)
    throw Error(ErrorCode::bad_input,
                "its first step is loaded by temperatures of another step; a study solves one step",
                chosen->where.empty() ? command.file : chosen->where);
  Domain& domain = *job.domains[chosen->domain];
  if (chosen->supports) chosen->supports->apply(domain);
  Step step{chosen->name, {}, 1};
  if (!chosen->load_case.empty()) step.load_cases[chosen->load_case] = chosen->load_factor;
  if (!command.json)
    show("{}: {}, {}; {}, on {}\n\n", bold(command.file), counted(domain.element_count(), "element"),
         counted(domain.node_count(), "node"), chosen->name, backend->describe());
  const std::vector<StudyRow> rows = run_study(domain, backend, options, {step});
  if (!command.csv.empty()) study_table(rows).write(command.csv, command.force);
  if (!command.plot.empty()) write_plot(command, rows);
  if (command.json) {
    print(study_document(command, rows));
  } else {
    show("{}", study_text(rows));
    for (const std::string& file : {command.csv, command.plot})
      if (!file.empty()) show("Wrote {}\n", file);
  }
  if (!rows.empty() && std::all_of(rows.begin(), rows.end(), [](const StudyRow& row) { return !row.failure.empty(); }))
    throw Error(ErrorCode::bad_input,
                "no method could be used; the first, " + rows.front().method + ": " + rows.front().failure,
                command.file);
}

constexpr const char* study_examples =
    R"(Examples:
  voussoir study beam.inp                                          iterations and times of five methods on 2, 4 and 8 parts
  voussoir study beam.inp --parts 2,4,8,16 --cut metis,rcb --method asm,asm2,bddc --csv study.csv --plot study.svg
  voussoir study beam.inp --method bddc,nn,amg --contrast 1,1e3,1e6   every second part 10³ and 10⁶ times as stiff too
  voussoir study beam.inp --method asm2,bddc --part-solver cg+amg  multigrid in the parts
  voussoir study beam.inp --load libmine.so --method mine,asm2     a preconditioner of your own beside asm2
  voussoir study beam.inp --mpi --processes 1,2,4 --plot scaling.svg  times and memory of 1, 2 and 4 processes
  voussoir study --mpi --weak 20 --processes 1,8                   boxes with 8000 elements per process

The first step of statics or heat is solved; with --mpi, the whole job is run. docs/decomposition.md describes methods
and columns.)";

}  // namespace

void add_study_command(CLI::App& program) {
  CLI::App* study = program.add_subcommand("study", "Compare methods of domain decomposition on a model");
  auto command = std::make_shared<StudyCommand>();
  add_load_option(*study);
  study->add_option("FILE", command->file, "Abaqus or CalculiX deck (.inp) or job file (.json)")->type_name("FILE");
  study->add_option("--parts", command->parts, "Numbers of parts")->type_name("N,N,…")->capture_default_str();
  study->add_option("--cut", command->cuts, "Partitioners")->type_name("NAME,NAME,…")->capture_default_str();
  study
      ->add_option("--method", command->methods,
                   "schur, asm, asm2, geneo, msm, msm2, nn, bddc, feti-dp (all with CG), ras, ras2 (with GMRES), or a "
                   "preconditioner of the undivided system; if the matrix is not symmetric, asm, ras, msm and their "
                   "variants with two levels, with GMRES")
      ->type_name("NAME,NAME,…")
      ->capture_default_str();
  study->add_option("--contrast", command->contrasts, "Factors of the matrices of every second part")
      ->type_name("X,X,…")
      ->capture_default_str();
  study->add_option("--overlap", command->overlaps, "Layers of elements by which parts overlap")
      ->type_name("N,N,…")
      ->capture_default_str();
  study
      ->add_option("--part-solver", command->part_solver,
                   "How the matrices of parts are solved: direct, direct:NAME, a solver such as cg+amg, or, for the "
                   "Schwarz methods, a preconditioner such as amg")
      ->type_name("NAME")
      ->capture_default_str();
  study->add_option("--threshold", command->threshold, "Eigenvalues below it give coarse vectors of geneo")
      ->type_name("X")
      ->check(number_between(1e-6, 1e6))
      ->capture_default_str();
  study->add_option("--backend", command->backend, "Backend")->type_name("NAME")->capture_default_str();
  study->add_option("--tolerance", command->tolerance, "Relative residual at which iterations stop")
      ->type_name("X")
      ->check(number_between(1e-15, 0.5))
      ->capture_default_str();
  study->add_option("--max-iterations", command->max_iterations, "Iterations after which a method stops unconverged")
      ->type_name("N")
      ->check(whole_number_between(1, 1000000))
      ->capture_default_str();
  study->add_option("--csv", command->csv, "Write the table to a file")->type_name("FILE");
  study->add_option("--plot", command->plot, "Write a plot over the numbers of parts or processes to an SVG file")
      ->type_name("FILE");
  study->add_flag("--force", command->force, "Replace existing files");
  study->add_flag("--json", command->json, "Print only a JSON document on standard output");
  study->add_option("--dialect", command->dialect, "The program whose meaning deck names have where the two differ")
      ->check(CLI::IsMember({"calculix", "abaqus"}).description(""))
      ->type_name("calculix|abaqus")
      ->capture_default_str();
  add_process_study_options(*study, command->processes);
  study->footer(study_examples);
  study->callback([study, command] {
    if (command->processes.mpi)
      run_processes(*study, *command);
    else
      run_study_command(*command);
  });
}

}  // namespace voussoir::app
