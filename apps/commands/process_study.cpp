#include <voussoir/apps/commands/process_study.hpp>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include <voussoir/apps/bench/scratch.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/output_checks.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/partition/process/engine.hpp>
#include <voussoir/partition/process/part_file.hpp>

namespace voussoir::app {
namespace {

using StudyJson = nlohmann::ordered_json;

/// One run of the study.
struct ProcessRow {
  int processes = 1;
  std::int64_t elements = 0, unknowns = 0;
  int iterations = 0;             ///< of the first step
  double assemble = 0;            ///< seconds for matrices
  double set_up = 0;              ///< seconds for preconditioners or factors
  double solve = 0;               ///< seconds for solutions
  double solution = 0;            ///< seconds for all stages but reading and writing
  double whole = 0;               ///< seconds of the whole run, the start of the processes included
  double speed_up = 0;            ///< of `solution`, against the first row
  double efficiency = 0;          ///< of `solution`
  std::int64_t part_bytes = 0;    ///< largest part of the job
  std::int64_t memory_bytes = 0;  ///< largest memory of a process
};

struct FinishedCommand {
  int code = -1;
  std::string out, error;
};

std::vector<int> process_counts(const std::string& list) {
  std::vector<int> counts;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    int count = 0;
    const char* const end = list.data() + comma;
    const auto read = std::from_chars(list.data() + from, end, count);
    if (read.ec != std::errc() || read.ptr != end || count < 1 || count > 1000000)
      throw CLI::ValidationError("--processes",
                                 fmt::format("'{}' is not a list of numbers above 0, separated by commas", list));
    counts.push_back(count);
    from = comma + 1;
  }
  return counts;
}

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(' '); at != std::string::npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(' ', end);
  }
  return words;
}

/// As a shell would take it.
std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$*?[]();&|<>~#`!") == std::string::npos;
    std::string quoted = word;
    for (std::size_t at = 0; !plain && (at = quoted.find('\'', at)) != std::string::npos; at += 4)
      quoted.replace(at, 1, "'\\''");
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return line;
}

/// The environment of the runs: one thread for each process unless the user has said otherwise, and what Open MPI wants
/// in containers and on machines with fewer processors.
std::vector<std::string> study_environment(int processes) {
  std::vector<std::string> all = process_environment();
  const auto add = [&](const char* name, const char* value) {
    if (!std::getenv(name)) all.push_back(std::string(name) + "=" + value);
  };
  add("OMP_NUM_THREADS", "1");
  add("OPENBLAS_NUM_THREADS", "1");
  if (::geteuid() == 0) {
    add("OMPI_ALLOW_RUN_AS_ROOT", "1");
    add("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  if (processes > static_cast<int>(std::thread::hardware_concurrency())) add("OMPI_MCA_rmaps_base_oversubscribe", "1");
  return all;
}

/// A pipe that is closed with this object.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(ErrorCode::io, "cannot make a pipe for a run of the study");
  }
  ~Pipe() {
    for (int end : ends)
      if (end >= 0) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_writer() {
    ::close(ends[1]);
    ends[1] = -1;
  }
};

void read_pipes(Pipe& out, Pipe& error, FinishedCommand& to) {
  std::array<pollfd, 2> ready{pollfd{out.ends[0], POLLIN, 0}, pollfd{error.ends[0], POLLIN, 0}};
  std::array<std::string*, 2> texts{&to.out, &to.error};
  for (int open = 2; open > 0;) {
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw Error(ErrorCode::io, "the output of a run of the study cannot be read");
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].fd < 0 || ready[i].revents == 0) continue;
      std::array<char, 65536> bytes;
      const ssize_t count = ::read(ready[i].fd, bytes.data(), bytes.size());
      if (count > 0) {
        texts[i]->append(bytes.data(), static_cast<std::size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        ready[i].fd = -1;
        --open;
      }
    }
  }
}

/// Runs a command with both streams apart. Signals of the terminal reach it as they reach this program.
FinishedCommand run_command(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  Pipe out, error;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.ends[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);  // this program blocks signals in all threads
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> arguments, variables;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, arguments.front(), &actions, &attributes, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    throw Error(
        ErrorCode::unavailable,
        "'" + words.front() + "' cannot be started: " + std::generic_category().message(failed) +
            "; install an MPI (tools/install-dependencies petsc), name its launcher with --mpirun, or print the "
            "command lines with --commands and run them elsewhere");
  out.close_writer();
  error.close_writer();
  FinishedCommand finished;
  read_pipes(out, error, finished);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

std::string this_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "voussoir" : path.string();
}

/// The most cubic box of so many blocks: the divisors of a number, the largest first.
std::array<int, 3> block_counts(int processes) {
  std::array<int, 3> best{processes, 1, 1};
  for (int i = 1; i <= processes; ++i)
    for (int j = 1; processes % i == 0 && j <= i && i * j <= processes; ++j) {
      if (processes / i % j != 0) continue;
      const int k = processes / i / j;
      if (k <= j && i + j + k < best[0] + best[1] + best[2]) best = {i, j, k};
    }
  return best;
}

std::vector<std::string> mesh_words(const ProcessStudy& study, int processes, const std::string& file) {
  std::vector<std::string> words{this_program(), "mesh", "box", file, "--size", "1", "--extent"};
  for (const int blocks : block_counts(processes)) words.push_back(std::to_string(blocks * study.weak));
  return words;
}

std::vector<std::string> run_words(const ProcessStudy& study, int processes, const std::string& file) {
  std::vector<std::string> words = words_in(study.mpirun);
  const std::string tolerance = fmt::format("{}", study.tolerance);
  for (const std::string& word :
       {std::string("-n"), std::to_string(processes), this_program(), std::string("run"), file, std::string("--engine"),
        study.engine, std::string("--tolerance"), tolerance, std::string("--no-files"), std::string("--json")})
    words.push_back(word);
  if (!study.petsc.empty()) {
    words.push_back("--petsc");
    words.push_back(study.petsc);
  }
  return words;
}

/// The last lines of what a run has said.
std::string last_words(const std::string& text) {
  constexpr std::size_t most = 1500;
  std::string last = text.size() > most ? "…" + text.substr(text.size() - most) : text;
  while (!last.empty() && last.back() == '\n') last.pop_back();
  return last;
}

/// The kind of error that a run has ended with.
ErrorCode error_of_exit(int code) {
  switch (static_cast<ExitCode>(code)) {
    case ExitCode::no_solution:
      return ErrorCode::not_converged;
    case ExitCode::machine:
      return ErrorCode::unavailable;
    case ExitCode::files:
      return ErrorCode::io;
    default:
      return ErrorCode::bad_input;
  }
}

ProcessRow row_of(const StudyJson& results, int processes) {
  ProcessRow row;
  row.processes = processes;
  row.elements = results.at("sizes").at("elements");
  row.unknowns = results.at("sizes").at("equations");
  row.iterations = results.at("steps").at(0).at("solver").at("iterations");
  for (const auto& [stage, seconds] : results.at("seconds").items()) {
    if (!seconds.is_number()) continue;
    const double time = seconds;
    if (stage == "assemble") row.assemble = time;
    if (stage == "set up") row.set_up = time;
    if (stage == "solve") row.solve = time;
    if (stage != "read" && stage != "write") row.solution += time;
  }
  for (const StudyJson& process : results.at("processes")) {
    row.part_bytes = std::max<std::int64_t>(row.part_bytes, process.at("part_bytes"));
    row.memory_bytes = std::max<std::int64_t>(row.memory_bytes, process.at("peak_memory_bytes"));
  }
  return row;
}

ProcessRow measure_processes(const ProcessStudy& study, int processes, const std::string& file) {
  const std::vector<std::string> environment = study_environment(processes);
  if (study.weak > 0) {
    const FinishedCommand mesh = run_command(mesh_words(study, processes, file), environment);
    if (mesh.code != 0)
      throw Error(ErrorCode::io,
                  "the box for " + std::to_string(processes) + " processes was not written: " + last_words(mesh.error));
  }
  const Stopwatch watch;
  const FinishedCommand run = run_command(run_words(study, processes, file), environment);
  const double seconds = watch.seconds();
  if (run.code != 0)
    throw Error(error_of_exit(run.code),
                fmt::format("the run on {} ended with exit code {}:\n{}", counted(processes, "process"), run.code,
                            last_words(run.error.empty() ? run.out : run.error)),
                study.file);
  try {
    ProcessRow row = row_of(StudyJson::parse(run.out), processes);
    row.whole = seconds;
    return row;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::internal, std::string("the results of a run cannot be read: ") + error.what());
  }
}

void compare_rows(std::vector<ProcessRow>& rows, bool weak) {
  for (ProcessRow& row : rows) {
    const ProcessRow& first = rows.front();
    const double faster = row.solution > 0 ? first.solution / row.solution : 0;
    const double more = static_cast<double>(row.processes) / first.processes;
    row.speed_up = weak ? faster * more : faster;
    row.efficiency = row.speed_up / more;
  }
}

std::string process_table(const std::vector<ProcessRow>& rows) {
  std::string text =
      bold(fmt::format("{:>9} {:>10} {:>10} {:>6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>10} {:>9} {:>9}\n",
                       "processes", "elements", "unknowns", "iter", "assemble", "set-up", "solve", "solution",
                       "whole run", "speed-up", "efficiency", "part", "memory"));
  for (const ProcessRow& row : rows)
    text += fmt::format(
        "{:>9} {:>10} {:>10} {:>6} {:>9.3f}s {:>9.3f}s {:>9.3f}s {:>9.3f}s {:>9.3f}s {:>9.2f} {:>8.0f} % {:>9} {:>9}\n",
        row.processes, row.elements, row.unknowns, row.iterations, row.assemble, row.set_up, row.solve, row.solution,
        row.whole, row.speed_up, 100 * row.efficiency, readable_bytes(static_cast<double>(row.part_bytes)),
        readable_bytes(static_cast<double>(row.memory_bytes)));
  return text;
}

CsvTable process_csv(const std::vector<ProcessRow>& rows) {
  CsvTable table({"processes", "elements", "unknowns", "iterations", "assemble_seconds", "setup_seconds",
                  "solve_seconds", "solution_seconds", "run_seconds", "speed_up", "efficiency", "part_bytes",
                  "memory_bytes"});
  for (const ProcessRow& row : rows)
    table.row()
        .add(row.processes)
        .add(row.elements)
        .add(row.unknowns)
        .add(row.iterations)
        .add(row.assemble)
        .add(row.set_up)
        .add(row.solve)
        .add(row.solution)
        .add(row.whole)
        .add(row.speed_up)
        .add(row.efficiency)
        .add(row.part_bytes)
        .add(row.memory_bytes);
  return table;
}

std::string process_document(const ProcessStudy& study, const std::vector<ProcessRow>& rows) {
  StudyJson list = StudyJson::array();
  for (const ProcessRow& row : rows)
    list.push_back({{"processes", row.processes},
                    {"elements", row.elements},
                    {"unknowns", row.unknowns},
                    {"iterations", row.iterations},
                    {"assemble_seconds", row.assemble},
                    {"setup_seconds", row.set_up},
                    {"solve_seconds", row.solve},
                    {"solution_seconds", row.solution},
                    {"run_seconds", row.whole},
                    {"speed_up", row.speed_up},
                    {"efficiency", row.efficiency},
                    {"part_bytes", row.part_bytes},
                    {"memory_bytes", row.memory_bytes}});
  const StudyJson document{
      {"voussoir", version()},  {"scaling", study.weak > 0 ? "weak" : "strong"},     {"file", study.file},
      {"engine", study.engine}, {"processors", std::thread::hardware_concurrency()}, {"rows", list}};
  return printable_json(document.dump(2, ' ', false, StudyJson::error_handler_t::replace)) + "\n";
}

std::string process_plot(const ProcessStudy& study, const std::vector<ProcessRow>& rows) {
  LinePlot::Points speed, ideal, efficiency, part, memory;
  for (const ProcessRow& row : rows) {
    const double n = row.processes;
    speed.emplace_back(n, row.speed_up);
    ideal.emplace_back(n, n / rows.front().processes);
    efficiency.emplace_back(n, 100 * row.efficiency);
    part.emplace_back(n, static_cast<double>(row.part_bytes) / 1e6);
    memory.emplace_back(n, static_cast<double>(row.memory_bytes) / 1e6);
  }
  const std::string what = study.weak > 0 ? fmt::format("boxes of {0} x {0} x {0} elements per process", study.weak)
                                          : std::filesystem::path(study.file).filename().string();
  LinePlot plot((study.weak > 0 ? "Weak scaling, " : "Strong scaling, ") + what + ", " + study.engine, "processes");
  plot.panel("speed-up").curve("measured", speed).curve("ideal", ideal);
  plot.panel("efficiency [%]").curve("measured", efficiency);
  plot.panel("memory per process [MB]").curve("peak of a process", memory).curve("part of the job", part);
  return plot.svg();
}

void check_process_study(const ProcessStudy& study) {
  if (study.weak > 0 && !study.file.empty())
    throw CLI::ValidationError("--weak", "generates its models; leave FILE out");
  if (study.weak == 0 && study.file.empty()) throw CLI::RequiredError("FILE");
  if (words_in(study.mpirun).empty()) throw CLI::ValidationError("--mpirun", "names no launcher");
  std::error_code ignored;
  if (!study.file.empty() && !std::filesystem::exists(study.file, ignored))
    throw Error(ErrorCode::io, "there is no such file", study.file);
  if (is_part_file_name(study.file))
    throw Error(ErrorCode::bad_input, "the number of parts of a divided job is fixed; give the deck it was made from",
                study.file);
  check_outputs({study.file}, {study.csv, study.plot});
  for (const std::string& file : {study.csv, study.plot})
    if (!file.empty() && !study.force && std::filesystem::exists(file))
      throw NameTaken(ErrorCode::io, "this file exists already; --force replaces it", file);
}

void print_commands(const ProcessStudy& study, const std::vector<int>& counts) {
  const char* const given = std::getenv("OMP_NUM_THREADS");
  const std::string threads = shell_line({given && *given ? given : "1"});
  for (const int count : counts) {
    const std::string file = study.weak > 0 ? fmt::format("box_{}.inp", count) : study.file;
    if (study.weak > 0) show("{}\n", shell_line(mesh_words(study, count, file)));
    show("OMP_NUM_THREADS={} {}\n", threads, shell_line(run_words(study, count, file)));
  }
}

}  // namespace

void run_process_study(const ProcessStudy& study) {
  const std::vector<int> counts = process_counts(study.processes);
  check_process_study(study);
  if (study.commands) return print_commands(study, counts);
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  if (!study.json)
    show("{}, engine {}, {} here\n\n",
         bold(study.weak > 0 ? fmt::format("{0} x {0} x {0} elements per process", study.weak) : study.file),
         study.engine, counted(processors, "processor"));
  std::optional<Scratch> scratch;
  if (study.weak > 0) scratch.emplace("processes");
  std::vector<ProcessRow> rows;
  for (const int count : counts) {
    const std::string file = scratch ? (scratch->path / fmt::format("box_{}.inp", count)).string() : study.file;
    rows.push_back(measure_processes(study, count, file));
  }
  compare_rows(rows, study.weak > 0);
  if (!study.csv.empty()) process_csv(rows).write(study.csv, study.force);
  if (!study.plot.empty()) {
    OutputFile file(study.plot, study.force);
    file.write(process_plot(study, rows));
    file.commit();
  }
  if (study.json) return print(process_document(study, rows));
  print(process_table(rows));
  if (*std::max_element(counts.begin(), counts.end()) > processors)
    show("Runs on more than {} share processors, so they cannot be faster.\n", counted(processors, "process"));
  for (const std::string& file : {study.csv, study.plot})
    if (!file.empty()) show("Wrote {}\n", file);
}

void add_process_study_options(CLI::App& study, ProcessStudy& options) {
  const char* const group = "Several processes";
  CLI::Option* mpi =
      study
          .add_flag("--mpi", options.mpi, "Compare numbers of processes instead of methods (docs/several_machines.md)")
          ->group(group);
  study.add_option("--processes", options.processes, "Numbers of processes")
      ->type_name("N,N,…")
      ->capture_default_str()
      ->needs(mpi)
      ->group(group);
  study
      .add_option("--weak", options.weak,
                  "Weak scaling: generated boxes with N x N x N elements per process, instead of a FILE")
      ->type_name("N")
      ->check(whole_number_between(1, 1000))
      ->needs(mpi)
      ->group(group);
  study.add_option("--engine", options.engine, "Engine and its method, as for voussoir run")
      ->type_name("petsc|petsc:METHOD")
      ->capture_default_str()
      ->needs(mpi)
      ->group(group);
  study.add_option("--petsc", options.petsc, "Options for PETSc")->type_name("OPTIONS")->needs(mpi)->group(group);
  study.add_option("--mpirun", options.mpirun, "The launcher with its options, such as \"mpirun --hostfile machines\"")
      ->type_name("COMMAND")
      ->capture_default_str()
      ->needs(mpi)
      ->group(group);
  study.add_flag("--commands", options.commands, "Print the command lines instead of running them")
      ->needs(mpi)
      ->group(group);
}

}  // namespace voussoir::app
