#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/apps/bench/cpu.hpp>
#include <voussoir/apps/bench/files.hpp>
#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/work_options.hpp>

// `voussoir bench`: every row is a ratio of times taken in the same run, ours against a floor and against peers, and
// every result that is timed is checked.

namespace voussoir::app {
namespace {

struct BenchOptions {
  std::vector<std::string> workloads;
  std::string backend = "openmp";
  std::optional<int> size;
  int memory_size = 32;
  bool quick = false;
  bool files = false;
  int file_size = 100;
  std::int64_t dofs = 0;
  double fp64 = 0;  // TFLOP/s
  std::string json, markdown, child;
  WorkOptions work;
};

struct Workload {
  std::string name;
  std::function<void(BenchRig&)> run;
};

/// Those that run on every backend, in the order that they are run in.
const std::vector<Workload>& device_workloads() {
  static const std::vector<Workload> all{{"spmv", bench_spmv},         {"matrix-free", bench_matrix_free},
                                         {"ebe", bench_ebe},           {"cg", bench_cg},
                                         {"amg", bench_amg},           {"integrate", bench_integrate},
                                         {"assemble", bench_assemble}, {"user-element", bench_user_element},
                                         {"job", bench_job},           {"paper-tables", bench_paper_tables}};
  return all;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names{"cpu", "files"};
  for (const Workload& workload : device_workloads()) names.push_back(workload.name);
  return names;
}

std::string choices() {
  std::string text;
  for (const std::string& name : workload_names()) text += (text.empty() ? "" : "|") + name;
  return text;
}

bool asked_for(const BenchOptions& options, const std::string& name) {
  return std::find(options.workloads.begin(), options.workloads.end(), name) != options.workloads.end();
}

/// Before anything is measured.
void require_writable(const char* option, const std::string& path) {
  if (path.empty()) return;
  if (!std::ofstream(path, std::ios::app)) throw CLI::ValidationError(option, "cannot write to " + path);
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw Error(ErrorCode::io, "cannot write the measurements", path);
}

void run_device_workloads(const BenchOptions& options, const std::vector<const Workload*>& workloads) {
  BenchSetup setup;
  setup.backend = options.backend;
  setup.size = options.size.value_or(setup.size);
  setup.dofs = options.dofs;
  setup.quick = options.quick;
  setup.choices = options.work.choices();
  setup.fp64 = options.fp64 * 1e12;
  BenchRig rig(setup);
  for (const Workload* workload : workloads) workload->run(rig);
  if (!options.json.empty())
    write(options.json, rig.json().dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  if (!options.markdown.empty()) write(options.markdown, rig.page());
  if (!rig.table().sound())
    throw Error(ErrorCode::internal, "a result that was timed is wrong, or a workload failed; see the rows above");
}

void run_bench(BenchOptions options) {
  const CpuBench cpu{options.backend, options.size.value_or(21), options.memory_size, options.quick};
  if (!options.child.empty())
    return options.files ? bench_files_child(options.child) : bench_cpu_child(cpu, options.child);
  if (options.files) options.workloads.emplace_back("files");
  const bool on_cpu = options.backend == "openmp" || options.backend.starts_with("openmp:");
  if (options.workloads.empty() && on_cpu) options.workloads.emplace_back("cpu");
  std::vector<const Workload*> workloads;
  for (const Workload& workload : device_workloads())
    if (asked_for(options, workload.name) || (options.workloads.empty() && workload.name != "paper-tables" &&
                                              workload.name != "job" && workload.name != "user-element"))
      workloads.push_back(&workload);
  if (workloads.empty() && !(options.json.empty() && options.markdown.empty()))
    throw CLI::ValidationError(options.json.empty() ? "--markdown" : "--json",
                               "cpu and files print only a table; name another workload, such as spmv");
  if (!options.markdown.empty() && !asked_for(options, "paper-tables"))
    throw CLI::ValidationError("--markdown", "is for the tables of the workload paper-tables; name it");
  require_writable("--json", options.json);
  require_writable("--markdown", options.markdown);
  if (asked_for(options, "cpu")) bench_cpu(cpu);
  if (asked_for(options, "files")) bench_files(options.file_size);
  if (!workloads.empty()) run_device_workloads(options, workloads);
}

constexpr const char* examples =
    R"(Workloads, each with what it is checked by:
  cpu           the CPU backend on a cantilever, against a triad and Eigen (what runs on openmp where none is named)
  files         reading and writing of decks, Gmsh meshes and VTU
  spmv          products with stored matrices                     (the CPU backend's product)
  matrix-free   products with nothing stored                      (the same)
  ebe           products with element matrices                    (the same)
  cg            iterations of CG, and whole solves                (ten iterations on the CPU; true residuals)
  amg           multigrid: set-up, set-up again, solve            (true residuals)
  integrate     element matrices, each way that the backend knows (a product with them)
  assemble      patterns, and integration into a matrix           (a product; the same bits twice)
  user-element  elements as users write them, beside the library's (differences of residuals); only where it is named
  job           a pump from its deck to its result files, by stages (loads and reactions; the same files every run);
                only where it is named
  paper-tables  the tables of FEStudio's paper, theirs and ours   (products and true residuals); only where it is named

All but cpu, files and job take a cube of size³ Hex8 and run on every backend. The floor is what must be moved over the
speed of a copy, or what must be computed over the device's rate where that takes longer.

Examples:
  voussoir bench                                 the CPU
  voussoir bench --backend cuda                  everything on a GPU
  voussoir bench --backend cuda spmv cg --json numbers.json
  voussoir bench --backend cuda integrate --integration pairs
  voussoir bench job --dofs 300000 --json job.json
  voussoir bench --backend cuda paper-tables --markdown tables.md)";

}  // namespace

void add_bench_command(CLI::App& program) {
  CLI::App* bench = program.add_subcommand(
      "bench", "Compare a backend with the machine's limits and with other libraries, in one run");
  auto options = std::make_shared<BenchOptions>();
  bench->add_option("WORKLOAD", options->workloads, "What to measure (default: cpu on openmp, else all for devices)")
      ->type_name(choices())
      ->check([](const std::string& name) {
        const auto known = workload_names();
        if (std::find(known.begin(), known.end(), name) != known.end()) return std::string();
        std::string list;
        for (const std::string& each : known) list += (list.empty() ? "" : ", ") + each;
        return "there is no workload '" + name + "'; there are " + list;
      });
  bench->add_option("--backend", options->backend, "Where to measure")
      ->type_name("openmp|openmp:N|debug|cuda|cuda:0,1")
      ->capture_default_str();
  bench
      ->add_option("--size", options->size,
                   "Cantilever of 10n × n × n elements (default: 21), or cube of n × n × n (default: 84)")
      ->type_name("N")
      ->check(whole_number_between(2, 400));
  bench->add_option("--memory-size", options->memory_size, "Size of the cantilever for memory measurements")
      ->capture_default_str()
      ->check(whole_number_between(2, 200));
  bench->add_flag("--quick", options->quick,
                  "Skip long solves, the pump of amg, memory and vendor libraries; repeat fewer times");
  bench
      ->add_option("--fp64", options->fp64,
                   "Double-precision rate of the device in TFLOP/s, for floors (default: by its name)")
      ->type_name("X")
      ->check(above_zero());
  bench->add_option("--json", options->json, "Write the numbers of the device workloads to a file")->type_name("FILE");
  bench->add_option("--markdown", options->markdown, "Write the paper's tables to a file")->type_name("FILE");
  add_work_options(*bench, options->work, "Ways of working");
  bench->add_flag("--files", options->files, "Same as the workload `files`");
  bench->add_option("--file-size", options->file_size, "Files of a block of n × n × n nodes")
      ->capture_default_str()
      ->check(whole_number_between(2, 400));
  bench
      ->add_option("--dofs", options->dofs,
                   "Unknowns of the pump of the workload job (default: 300000, on a GPU 1842375)")
      ->type_name("N")
      ->check(whole_number_between(1000, 1000000000));
  add_load_option(*bench);
  bench->add_option("--child", options->child)->group("");
  bench->footer(examples);
  bench->callback([options] { run_bench(*options); });
}

}  // namespace voussoir::app
