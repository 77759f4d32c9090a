#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/apps/commands/work_options.hpp>

// What `voussoir bench` measures (bench.cpp), as its command (commands/bench.cpp) sees it.

namespace voussoir::app {

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
  std::string json, markdown, svg, child;
  WorkOptions work;
};

/// Workloads that run on every backend, in the order that they are run in. Besides, there are `cpu`, `files`,
/// `calibrate` and `model`.
inline constexpr const char* device_workloads[] = {
    "spmv",   "matrix-free", "ebe",          "modes",    "cg",  "amg",          "integrate", "assemble",
    "sweeps", "stencils",    "user-element", "explicit", "job", "paper-tables", "devices",   "schur"};

/// Measures and prints. A program that was built without benchmarks (VOUSSOIR_BENCH=OFF) says so.
void run_bench(BenchOptions options);

}  // namespace voussoir::app
