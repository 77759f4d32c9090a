#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/apps/bench/bench.hpp>
#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/work_options.hpp>

// `voussoir bench`: its options. What they lead to is in apps/bench.

namespace voussoir::app {
namespace {

std::vector<std::string> workload_names() {
  std::vector<std::string> names{"cpu", "files", "calibrate", "model"};
  names.insert(names.end(), std::begin(device_workloads), std::end(device_workloads));
  return names;
}

std::string workload_choices() {
  std::string text;
  for (const std::string& name : workload_names()) text += (text.empty() ? "" : "|") + name;
  return text;
}

constexpr const char* bench_examples =
    R"(Workloads, each with what it is checked by:
  cpu           the CPU backend on a cantilever, against a triad and Eigen (what runs on openmp where none is named)
  files         reading and writing of decks, Gmsh meshes and VTU
  calibrate     the rates of a backend, kept as its profile for `voussoir plan` and --storage auto
  model         predictions of the cost model beside measurements  (--svg FILE plots both)
  spmv          products with stored matrices                     (the CPU backend's product)
  matrix-free   products with nothing stored                      (the same)
  ebe           products with element matrices                    (the same)
  modes         projections, blocks of vectors, cycles for blocks  (products of the CPU backend)
  cg            iterations of CG, and whole solves                (ten iterations on the CPU; true residuals)
  amg           multigrid: set-up, set-up again, solve            (true residuals)
  integrate     element matrices, each way that the backend knows (a product with them)
  assemble      patterns, and integration into a matrix           (a product; the same bits twice)
  sweeps        batches of tridiagonal systems                    (residuals)
  stencils      Jacobi iterations on a grid, in memory and streamed (the same bits); only where it is named
  user-element  elements as users write them, beside the library's (differences of residuals); only where it is named
  explicit      steps of explicit dynamics and of Newmark's method (the CPU's displacements); only where it is named
  job           a pump from its deck to its result files, by stages (loads and reactions; the same files every run);
                only where it is named
  devices       a cube on 1, 2, 4 and 8 devices of cuda or debug  (the solution on one device); only where it is named
  schur         Schur complements of parts, dense on the devices   (sparse elimination on the host); only where it is named
  paper-tables  the tables of FEStudio's paper, theirs and ours   (products and true residuals); only where it is named

All but cpu, files, calibrate, model, job, sweeps, stencils and schur take a cube of size³ Hex8 and run on every backend. The floor is what must be moved over the
speed of a copy, or what must be computed over the device's rate where that takes longer.

Examples:
  voussoir bench                                 the CPU
  voussoir bench --backend cuda                  everything on a GPU
  voussoir bench --backend cuda spmv cg --json numbers.json
  voussoir bench --backend cuda integrate --integration pairs
  voussoir bench job --dofs 300000 --json job.json
  voussoir bench calibrate --backend cuda        seconds, once per machine
  voussoir bench model --json model.json --svg model.svg
  voussoir bench --backend cuda paper-tables --markdown tables.md)";

}  // namespace

void add_bench_command(CLI::App& program) {
  CLI::App* bench = program.add_subcommand(
      "bench", "Compare a backend with the machine's limits and with other libraries, in one run");
  auto options = std::make_shared<BenchOptions>();
  bench->add_option("WORKLOAD", options->workloads, "What to measure (default: cpu on openmp, else all for devices)")
      ->type_name(workload_choices())
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
      ->add_option(
          "--size", options->size,
          "Cantilever of 10n × n × n elements (default: 21), or cube of n × n × n (default: 84; of model: points)")
      ->type_name("N")
      ->check(whole_number_between(2, 2000));
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
  bench
      ->add_option("--json", options->json,
                   "Write the numbers of the device workloads, of calibrate or of model to a file")
      ->type_name("FILE");
  bench->add_option("--svg", options->svg, "Write the plots of the workload model to FILE-long-vectors.svg, …")
      ->type_name("FILE");
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
  bench->footer(bench_examples);
  bench->callback([options] { run_bench(*options); });
}

}  // namespace voussoir::app
