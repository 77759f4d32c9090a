// Little memory, and more threads than a machine has: an answer or an error with its exit code, and never a crash or an
// endless wait.

#include <gtest/gtest.h>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_is_watched = true;  // sanitizers need far more addresses than they use
#else
constexpr bool memory_is_watched = false;
#endif

TEST(Limits, EliminationUnderAMemoryLimitSolvesOrSaysSo) {
  if (memory_is_watched) GTEST_SKIP() << "not under a sanitizer";
  RunSettings settings;
  settings.folder = fresh_folder("memory_limit");
  settings.limit_seconds = 120;
  write_text(settings.folder / "block.inp", cantilever_deck(22, 22, 22));
  int solved = 0, refused = 0;
  for (const std::string threads : {"1", "2"})
    for (const std::size_t megabytes : {50, 80, 130, 200, 280, 360, 440, 520, 700, 1400}) {
      settings.address_space = megabytes << 20;
      // Into less than the program and its libraries take, which differs by machine, the system cannot even load them
      // (127), and just above it their static objects find no memory, before a line of main has run (an abort).
      if (run_program({"--version"}, settings).code != 0) continue;
      const Outcome run = run_program(
          {"run", "block.inp", "--solver", "direct", "--threads", threads, "--no-files", "--quiet"}, settings);
      EXPECT_TRUE(run.code == 0 || run.code == 4) << megabytes << " MB: code " << run.code << " " << run.error;
      EXPECT_EQ(run.error.empty(), run.code == 0) << run.error;
      solved += run.code == 0;
      refused += run.code == 4;
    }
  EXPECT_GT(solved, 0);
  EXPECT_GT(refused, 2);
}

TEST(Limits, TheErrorSaysHowMuchIsNeededAndWhatLimitsIt) {
  if (memory_is_watched) GTEST_SKIP() << "not under a sanitizer";
  RunSettings settings;
  settings.folder = fresh_folder("memory_words");
  settings.address_space = std::size_t{380} << 20;
  settings.limit_seconds = 120;
  write_text(settings.folder / "block.inp", cantilever_deck(22, 22, 22));
  const Outcome run =
      run_program({"run", "block.inp", "--solver", "direct:mumps", "--threads", "1", "--no-files"}, settings);
  if (contains(run.error, "no method mumps") || contains(run.error, "this build")) GTEST_SKIP() << run.error;
  EXPECT_EQ(run.code, 4);
  for (const char* piece : {"needs about", "MB", "ulimit -v", "CG"})
    EXPECT_TRUE(contains(run.error, piece)) << run.error;
}

TEST(Limits, MoreThreadsThanAnyMachineHasAreNotStarted) {
  RunSettings settings;
  settings.folder = fresh_folder("many_threads");
  settings.limit_seconds = 60;
  settings.environment = {"OMP_NUM_THREADS=100000"};
  write_text(settings.folder / "bar.inp", cantilever_deck(20, 4, 4));
  for (const std::string solver : {"cg", "cg+fsai", "direct", "direct:band", "direct:profile", "direct:eigen"}) {
    const Outcome run =
        run_program({"run", "bar.inp", "--backend", "openmp", "--solver", solver, "--no-files"}, settings);
    EXPECT_EQ(run.code, 0) << solver << ": " << run.error;
    EXPECT_TRUE(contains(run.out, "OMP_NUM_THREADS requests 100000 threads")) << run.out;
  }
}

}  // namespace
}  // namespace voussoir::testing
