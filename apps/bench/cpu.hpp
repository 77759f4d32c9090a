#pragma once
#include <string>

namespace voussoir::app {

/// What the benchmark of the CPU backend measures, and how large.
struct CpuBench {
  std::string backend = "openmp";
  int size = 21;
  int memory_size = 32;
  bool quick = false;
};

/// Measures the CPU backend on a cantilever of 10n × n × n elements, against a triad and against Eigen.
void bench_cpu(const CpuBench& options);

/// What a process of its own does to tell its memory: a whole analysis, mesh included, to the usual tolerance. Prints
/// its peak in kB.
void bench_cpu_child(const CpuBench& options, const std::string& storage);

/// a = b + s c over arrays far larger than any cache: bytes per second, counting three streams.
double triad_bandwidth(int threads);

}  // namespace voussoir::app
