#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/output_checks.hpp>
#include <voussoir/apps/commands/solver_options.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/matrix_market/matrix_market.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/solvers/matrix_system.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir::app {
namespace {

struct SolveCommand {
  std::string matrix, rhs, output, backend = "openmp", solver = "direct";
  double tolerance = 1e-8;
  int max_iterations = 50000;
  bool force = false, json = false;
};

/// A · (1, …, 1).
std::vector<double> row_sums(const HostMatrix& rows) {
  std::vector<double> sums;
  for (std::size_t i = 0; i + 1 < rows.row_start.size(); ++i) {
    double sum = 0;
    for (auto k = rows.row_start[i]; k < rows.row_start[i + 1]; ++k) sum += rows.value[static_cast<std::size_t>(k)];
    sums.push_back(sum);
  }
  return sums;
}

/// Names of the solvers that need no more than a matrix, other than plain `direct`.
std::vector<std::string> solvers_of_matrices() {
  std::vector<std::string> names = solver_names();
  std::erase_if(names, [](const std::string& name) {
    return name == "direct" || name.starts_with("schur") || name.starts_with("feti-dp") ||
           name.find("+bddc") != std::string::npos || name.find("+nn") != std::string::npos ||
           name.find("geneo") != std::string::npos;
  });
  return names;
}

/// What was read: the matrix and the right-hand sides.
struct GivenSystem {
  MarketMatrix a;
  bool symmetric = false;
  std::vector<double> b;
  int columns = 1;
};

GivenSystem read_system(const SolveCommand& command) {
  GivenSystem system;
  system.a = read_matrix_market(command.matrix);
  const MarketMatrix& a = system.a;
  if (a.rows != a.columns)
    throw Error(ErrorCode::bad_input,
                fmt::format("the matrix has {} rows and {} columns; a system of equations needs as many of both",
                            a.rows, a.columns),
                command.matrix);
  if (a.rows == 0) throw Error(ErrorCode::bad_input, "the matrix has no rows", command.matrix);
  system.symmetric = a.symmetric || is_symmetric(a.entries);
  if (command.rhs.empty()) {
    system.b = row_sums(a.entries);
    return system;
  }
  const MarketMatrix b = read_matrix_market(command.rhs);
  if (b.rows != a.rows || b.columns < 1 || b.columns > 1000)
    throw Error(ErrorCode::bad_input,
                fmt::format("it has {} rows and {} columns; right-hand sides of this matrix have {} rows and 1 to 1000 "
                            "columns",
                            b.rows, b.columns, a.rows),
                command.rhs);
  system.b = b.by_columns();
  system.columns = static_cast<int>(b.columns);
  return system;
}

/// Words about models in words about matrices: "node 7, x" is row 7.
std::string about_matrices(std::string text) {
  static const std::pair<std::regex, const char*> words[] = {{std::regex("node ([0-9]+), x"), "row $1"},
                                                             {std::regex(" of this model"), ""},
                                                             {std::regex("this model"), "this matrix"}};
  for (const auto& [word, other] : words) text = std::regex_replace(text, word, other);
  return text;
}

constexpr const char* singular_matrix =
    "the matrix is singular, or so nearly that rounding hides the difference: it does not determine this unknown. "
    "Check "
    "the row and the column, and whether the numbers of some rows are too small beside those of others";

/// What solvers say of models, said of a matrix. Of a singular one they name a node or an equation, and propose
/// supports.
[[noreturn]] void rethrow_as_row(const Error& error, const std::string& file) {
  if (error.code() == ErrorCode::singular) {
    const std::string all = error.text() + " " + error.where();
    std::smatch found;
    std::string row;
    if (std::regex_search(all, found, std::regex("node ([0-9]+)")))
      row = found[1];
    else if (std::regex_search(all, found, std::regex("equation ([0-9]+)")))
      row = std::to_string(std::stoll(found[1]) + 1);
    throw Error(error.code(), singular_matrix, row.empty() ? file : file + ", row " + row);
  }
  const std::string where = about_matrices(error.where());
  throw Error(error.code(), about_matrices(error.text()), where.empty() ? file : file + ", " + where);
}

/// Why a system was not solved. A free motion of a model is a vector that the matrix maps to zero.
std::string outcome_of(const SolveReport& report) {
  if (report.free_motions.empty())
    return report.reason.empty() ? (report.converged ? "solved" : "not solved") : about_matrices(report.reason);
  const std::vector<double>& one = report.free_motions.front();
  std::size_t largest = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    if (std::abs(one[i]) > std::abs(one[largest])) largest = i;
  const std::size_t count = report.free_motions.size();
  return fmt::format("the matrix is singular: up to rounding it maps {} to zero, with the largest entry in row {}",
                     count == 1 ? "a vector" : fmt::format("{} vectors", count), largest + 1);
}

struct Solved {
  SolveReport report;
  std::vector<double> x;
  double read_seconds = 0, build_seconds = 0, error_of_ones = 0;
};

Solved solve_system(const SolveCommand& command, const GivenSystem& system, const std::shared_ptr<Backend>& backend) {
  Solved solved;
  solved.x.assign(system.b.size(), 0.0);
  try {
    const Stopwatch building;
    MatrixSystem given(backend, system.a.entries,
                       system.symmetric ? MatrixSystem::Symmetry::symmetric : MatrixSystem::Symmetry::unsymmetric);
    solved.build_seconds = building.seconds();
    const auto solver = make_solver(command.solver, command.tolerance, command.max_iterations);
    solved.report = given.solve(*solver, system.b, solved.x, system.columns);
  } catch (const Error& error) {
    rethrow_as_row(error, command.matrix);
  }
  for (const double x : solved.x) solved.error_of_ones = std::max(solved.error_of_ones, std::abs(x - 1));
  return solved;
}

nlohmann::ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

std::string solve_document(const SolveCommand& command, const GivenSystem& system, const Solved& solved,
                           const std::string& backend) {
  const SolveReport& report = solved.report;
  nlohmann::ordered_json document{{"voussoir", version()},
                                  {"matrix", command.matrix},
                                  {"rhs", command.rhs},
                                  {"output", command.output},
                                  {"rows", system.a.rows},
                                  {"entries", system.a.entries.column.size()},
                                  {"symmetric", system.symmetric},
                                  {"columns", system.columns},
                                  {"backend", backend},
                                  {"solver", report.solver},
                                  {"preconditioner", report.preconditioner},
                                  {"converged", report.converged},
                                  {"reason", outcome_of(report)},
                                  {"iterations", report.iterations},
                                  {"true_residual", finite_or_null(report.true_residual)},
                                  {"column_residuals", nlohmann::ordered_json::array()},
                                  {"read_seconds", solved.read_seconds},
                                  {"build_seconds", solved.build_seconds},
                                  {"setup_seconds", report.setup_seconds},
                                  {"solve_seconds", report.solve_seconds},
                                  {"memory_bytes", report.memory_bytes}};
  for (const double r : report.column_residuals) document["column_residuals"].push_back(finite_or_null(r));
  if (command.rhs.empty()) document["error_of_ones"] = finite_or_null(solved.error_of_ones);
  return printable_json(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

void show_table(const SolveCommand& command, const GivenSystem& system, const Solved& solved,
                const std::string& backend) {
  const SolveReport& report = solved.report;
  show("{}: {} rows, {} entries, {}; {}, on {}\n\n", bold(command.matrix), system.a.rows,
       system.a.entries.column.size(), system.symmetric ? "symmetric" : "not symmetric",
       command.rhs.empty() ? "right-hand side A·(1, …, 1)" : counted(system.columns, "right-hand side"), backend);
  show("{:<16} {}\n", "solver", report.solver);
  if (!report.preconditioner.empty()) show("{:<16} {}\n", "preconditioner", report.preconditioner);
  show("{:<16} {}\n", "outcome", outcome_of(report));
  show("{:<16} {}\n", "iterations", report.iterations);
  show("{:<16} {:.3e}\n", "true residual", report.true_residual);
  if (command.rhs.empty()) show("{:<16} {:.3e}\n", "error of ones", solved.error_of_ones);
  show("{:<16} read {:.3f}, build {:.3f}, set up {:.3f}, solve {:.3f}\n", "seconds", solved.read_seconds,
       solved.build_seconds, report.setup_seconds, report.solve_seconds);
  show("{:<16} {:.1f}\n", "MB of the solver", static_cast<double>(report.memory_bytes) / 1e6);
}

void run_solve_command(const SolveCommand& command) {
  check_outputs({command.matrix, command.rhs}, {command.output});
  if (!command.output.empty() && !command.force && std::filesystem::exists(command.output))
    throw NameTaken(ErrorCode::io, "this file exists already; --force replaces it", command.output);
  const auto backend = Backend::open(command.backend);
  const Stopwatch reading;
  const GivenSystem system = read_system(command);
  const double read_seconds = reading.seconds();
  Solved solved = solve_system(command, system, backend);
  solved.read_seconds = read_seconds;
  if (solved.report.converged && !command.output.empty())
    write_matrix_market(command.output, system.a.rows, solved.x,
                        "x of A x = b, A in " + command.matrix + ", by " + solved.report.solver, command.force);
  if (command.json)
    print(solve_document(command, system, solved, backend->describe()));
  else
    show_table(command, system, solved, backend->describe());
  if (!solved.report.converged) {
    const SolveReport& report = solved.report;
    throw Error(
        report.not_positive_definite || !report.free_motions.empty() ? ErrorCode::singular : ErrorCode::not_converged,
        "the system was not solved: " + outcome_of(report) +
            (command.output.empty() ? "" : "; no solution was written"),
        command.matrix);
  }
  if (!command.json && !command.output.empty()) show("Wrote {}\n", command.output);
}

constexpr const char* solve_examples =
    R"(Examples:
  voussoir solve A.mtx --rhs b.mtx --output x.mtx                  factorise and solve
  voussoir solve A.mtx --solver cg+amg --backend openmp:4 --json   iterate; the right-hand side is A·(1, …, 1)
  voussoir solve A.mtx --rhs b.mtx --solver gmres+jacobi           a matrix that is not symmetric

docs/solvers.md describes solvers and preconditioners, docs/command-line.md this command.)";

}  // namespace

void add_solve_command(CLI::App& program) {
  CLI::App* solve = program.add_subcommand("solve", "Solve a system of equations from Matrix Market files");
  auto command = std::make_shared<SolveCommand>();
  add_load_option(*solve);
  solve->add_option("FILE", command->matrix, "Matrix Market file (.mtx) of the matrix")->type_name("FILE")->required();
  solve
      ->add_option("--rhs", command->rhs,
                   "Matrix Market file of the right-hand sides, one per column; without it A·(1, …, 1)")
      ->type_name("FILE");
  solve->add_option("--output", command->output, "Write the solutions to a Matrix Market file")->type_name("FILE");
  solve->add_option("--solver", command->solver, "Solver, with a preconditioner where it takes one")
      ->type_name(name_choices("direct", solvers_of_matrices()))
      ->check([](const std::string& name) { return fault_of_name(name, [](const std::string& n) { make_solver(n); }); })
      ->capture_default_str();
  solve->add_option("--backend", command->backend, "Backend")->type_name("NAME")->capture_default_str();
  solve->add_option("--tolerance", command->tolerance, "Relative residual at which iterations stop")
      ->type_name("X")
      ->check(number_between(1e-15, 0.5))
      ->capture_default_str();
  solve->add_option("--max-iterations", command->max_iterations, "Iterations after which a solver stops unconverged")
      ->type_name("N")
      ->check(whole_number_between(1, 1000000000))
      ->capture_default_str();
  solve->add_flag("--force", command->force, "Replace an existing file");
  solve->add_flag("--json", command->json, "Print only a JSON document on standard output");
  solve->footer(solve_examples);
  solve->callback([command] { run_solve_command(*command); });
}

}  // namespace voussoir::app
