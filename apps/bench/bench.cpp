#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <voussoir/apps/bench/bench.hpp>
#include <voussoir/apps/bench/calibrate.hpp>
#include <voussoir/apps/bench/cpu.hpp>
#include <voussoir/apps/bench/files.hpp>
#include <voussoir/apps/bench/workloads.hpp>

// `voussoir bench`: every row is a ratio of times taken in the same run, ours against a floor and against peers, and
// every result that is timed is checked.

namespace voussoir::app {
namespace {

/// How each of the device workloads is measured.
constexpr void (*measure[])(BenchRig&) = {bench_spmv,   bench_matrix_free,  bench_ebe,          bench_modes,
                                          bench_cg,     bench_amg,          bench_integrate,    bench_assemble,
                                          bench_sweeps, bench_stencils,     bench_user_element, bench_explicit,
                                          bench_job,    bench_paper_tables, bench_devices,      bench_condensation};
static_assert(std::size(measure) == std::size(device_workloads));

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

void run_device_workloads(const BenchOptions& options, const std::vector<std::size_t>& workloads) {
  BenchSetup setup;
  setup.backend = options.backend;
  setup.size = options.size.value_or(setup.size);
  setup.dofs = options.dofs;
  setup.quick = options.quick;
  setup.choices = options.work.choices();
  setup.fp64 = options.fp64 * 1e12;
  BenchRig rig(setup);
  for (const std::size_t workload : workloads) measure[workload](rig);
  if (!options.json.empty())
    write(options.json, rig.json().dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  if (!options.markdown.empty()) write(options.markdown, rig.page());
  if (!rig.table().sound())
    throw Error(ErrorCode::internal, "a result that was timed is wrong, or a workload failed; see the rows above");
}

/// Runs `calibrate` or `model`, which stand alone; false where neither is named.
bool run_cost_workloads(const BenchOptions& options) {
  const bool calibrates = asked_for(options, "calibrate"), compares = asked_for(options, "model");
  if (!options.svg.empty() && !compares)
    throw CLI::ValidationError("--svg", "is for the plots of the workload model; name it");
  if (!calibrates && !compares) return false;
  if (options.workloads.size() > 1)
    throw CLI::ValidationError("WORKLOAD", "calibrate and model are run alone; name no other workload beside them");
  require_writable("--json", options.json);
  const CostBench what{options.backend, options.quick, options.size.value_or(0), options.json, options.svg};
  calibrates ? bench_calibrate(what) : bench_model(what);
  return true;
}

}  // namespace

void run_bench(BenchOptions options) {
  const CpuBench cpu{options.backend, options.size.value_or(21), options.memory_size, options.quick};
  if (!options.child.empty())
    return options.files ? bench_files_child(options.child) : bench_cpu_child(cpu, options.child);
  if (options.files) options.workloads.emplace_back("files");
  const bool on_cpu = options.backend == "openmp" || options.backend.starts_with("openmp:");
  if (options.workloads.empty() && on_cpu) options.workloads.emplace_back("cpu");
  // Long ones only where they are named.
  const auto is_default = [](const std::string& name) {
    for (const char* const longer : {"paper-tables", "job", "user-element", "explicit", "stencils", "devices", "schur"})
      if (name == longer) return false;
    return true;
  };
  std::vector<std::size_t> workloads;
  for (std::size_t i = 0; i < std::size(device_workloads); ++i)
    if (const std::string name = device_workloads[i];
        asked_for(options, name) || (options.workloads.empty() && is_default(name)))
      workloads.push_back(i);
  if (run_cost_workloads(options)) return;
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

}  // namespace voussoir::app
