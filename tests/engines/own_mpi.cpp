#include <mpi.h>

#include <cstdio>
#include <string>

#include <voussoir/partition/process/engine.hpp>

// A program that has started MPI itself still has it after the end of an engine, and ends it itself.

namespace {

int failures = 0;

void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "not so: %s\n", what);
  ++failures;
}

/// Sums of ones over all processes, by MPI and by an engine.
void use_engine() {
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  const auto engine = voussoir::open_engine("petsc");
  double sum = 1;
  engine->processes().sum({&sum, 1});
  expect(engine->processes().count() == count && sum == count, "the engine has the processes of the program");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    use_engine();
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
