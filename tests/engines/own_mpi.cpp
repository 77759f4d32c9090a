#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <voussoir/partition/process/engine.hpp>
#include <voussoir/partition/process/own_processors.hpp>

// A program that has started MPI itself still has it after the end of an engine, and ends it itself. While there is an
// engine, OpenBLAS has no more threads than the process has processors, unless the user has said how many.

namespace {

int failures = 0;

void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "not so: %s\n", what);
  ++failures;
}

/// Threads of OpenBLAS; 0 for another BLAS, and where OpenMP has the threads.
int blas_threads() {
  const auto parallel = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_parallel"));
  const auto threads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  return parallel && threads && parallel() != 2 ? threads() : 0;
}

/// Sums of ones over all processes, by MPI and by an engine.
void use_engine() {
  const int wanted = 2;
  if (blas_threads() > 0) reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))(wanted);
  unsetenv("OPENBLAS_NUM_THREADS");
  const int before = blas_threads();
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  const auto engine = voussoir::open_engine("petsc");
  double sum = 1;
  engine->processes().sum({&sum, 1});
  expect(engine->processes().count() == count && sum == count, "the engine has the processes of the program");
  const int own = voussoir::own_processors(engine->placement());
  expect(blas_threads() == std::min(before, own), "OpenBLAS has the processors of the process");
}

void use_engine_and_end_it() {
  use_engine();
  const int after = blas_threads();
  expect(after == 0 || after == 2, "OpenBLAS has its threads again");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    use_engine_and_end_it();
  } catch (const voussoir::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    ++failures;
  }
  int ended = 0;
  MPI_Finalized(&ended);
  expect(!ended, "MPI still works after the engine");
  if (ended) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  try {
    voussoir::open_engine("petsc");
    expect(false, "a second engine is refused");
  } catch (const voussoir::Error& error) {
    const bool told = std::string(error.what()).find("once in a process") != std::string::npos;
    expect(error.code() == voussoir::ErrorCode::misuse && told, error.what());
  }
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
