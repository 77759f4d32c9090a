// The program on several processes, started by mpirun as a user starts it: answers, messages, exit codes, and nothing
// that hangs. Every run has a time limit.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "engines/on_processes.hpp"

namespace voussoir::testing {
namespace {

TEST(Engine, GivesTheAnswersOfOneProcess) {
  const auto folder = fresh_folder("engine_answers");
  write_text(folder / "bar.inp", cantilever_deck(6, 3, 2, {1.0, -2.5}));
  RunSettings settings;
  settings.folder = folder;
  const Outcome alone = run_program({"run", "bar.inp", "--solver", "direct", "--output", "alone"}, settings);
  ASSERT_EQ(alone.code, 0) << alone.error;
  for (const int count : {1, 2, 3, 4}) {
    const std::string output = "on" + std::to_string(count);
    const Outcome outcome = on_processes(count, folder, {"run", "bar.inp", "--engine", "petsc", "--output", output});
    ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
    expect_same_steps(results_of(folder / "alone" / "bar.results.json"),
                      results_of(folder / output / "bar.results.json"));
    EXPECT_EQ(files_in(folder / "alone"), files_in(folder / output));
    EXPECT_EQ(occurrences(outcome.out, "reaction"), occurrences(alone.out, "reaction")) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, std::to_string(count) + (count == 1 ? " process on" : " processes on")))
        << outcome.out;
  }
}

TEST(Engine, IteratesEquallyOftenOnAnyNumberOfProcesses) {
  const auto folder = fresh_folder("engine_iterations");
  write_text(folder / "bar.inp", cantilever_deck(24, 6, 6));
  for (const std::string method : {"gamg", "hypre"}) {
    std::vector<int> iterations;
    for (const int count : {1, 2, 4}) {
      const Outcome outcome = on_processes(
          count, folder,
          {"run", "bar.inp", "--engine", "petsc:" + method, "--json", "--no-files", "--tolerance", "1e-10"});
      ASSERT_EQ(outcome.code, 0) << outcome.error;
      const Json steps = Json::parse(outcome.out)["steps"];
      iterations.push_back(steps[0]["solver"]["iterations"]);
      EXPECT_LT(steps[0]["solver"]["true_residual"].get<double>(), 1.1e-10);
    }
    for (const int each : iterations) {
      EXPECT_GT(each, 1) << method;
      EXPECT_NEAR(each, iterations.front(), 2) << method;
    }
  }
}

TEST(Engine, WorksWithMoreProcessesThanElements) {
  const auto folder = fresh_folder("engine_few_elements");
  write_text(folder / "two.inp", cantilever_deck(2, 1, 1));
  for (const std::string method : {"mumps", "gamg"}) {
    const Outcome outcome = on_processes(
        4, folder, {"run", "two.inp", "--engine", "petsc:" + method, "--json", "--no-files", "--tolerance", "1e-12"});
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    RunSettings settings;
    settings.folder = folder;
    const Outcome alone = run_program({"run", "two.inp", "--solver", "direct", "--json", "--no-files"}, settings);
    expect_same_steps(Json::parse(alone.out), Json::parse(outcome.out));
  }
}

TEST(Engine, TellsOfABadDeckOnce) {
  const auto folder = fresh_folder("engine_bad_deck");
  std::string deck = cantilever_deck(3, 1, 1);
  deck.replace(deck.find("*ELEMENT"), 8, "*ELEMNT");
  write_text(folder / "bad.inp", deck);
  const Outcome outcome = on_processes(3, folder, {"run", "bad.inp", "--engine", "petsc"});
  EXPECT_EQ(outcome.code, 1) << outcome.error;
  EXPECT_EQ(occurrences(outcome.error, "bad.inp:"), 1u) << outcome.error;
  EXPECT_EQ(files_in(folder), std::vector<std::string>{"bad.inp"});
}

TEST(Engine, TellsOfAFreeModelOnce) {
  const auto folder = fresh_folder("engine_free");
  std::string deck = cantilever_deck(4, 1, 1);
  const std::size_t boundary = deck.find("*BOUNDARY");
  ASSERT_NE(boundary, std::string::npos);
  const std::size_t after = deck.find('*', boundary + 1);
  deck.erase(boundary, after - boundary);
  write_text(folder / "free.inp", deck);
  const Outcome outcome = on_processes(2, folder, {"run", "free.inp", "--engine", "petsc"});
  EXPECT_EQ(outcome.code, 3) << outcome.error;
  EXPECT_EQ(occurrences(outcome.error, "error:"), 1u) << outcome.error;
}

TEST(Engine, RefusesWhatItDoesNotKnow) {
  const auto folder = fresh_folder("engine_refusals");
  std::string deck = cantilever_deck(3, 1, 1);
  write_text(folder / "bar.inp", deck);
  const auto refused = [&](std::vector<std::string> more, int code, const std::string& words) {
    std::vector<std::string> arguments{"run", "bar.inp"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = on_processes(2, folder, arguments);
    EXPECT_EQ(outcome.code, code) << outcome.error;
    EXPECT_EQ(occurrences(outcome.error, words), 1u) << words << "\n" << outcome.error;
  };
  refused({"--engine", "petsc:magic"}, 1, "has no method 'magic'");
  refused({"--engine", "petsk"}, 4, "libvoussoir_petsk.so was not found");
  refused({"--engine", "petsc", "--storage", "bsr"}, 2, "--storage");
  refused({"--engine", "petsc", "--solver", "cg"}, 2, "--solver");
  refused({"--engine", "petsc", "--petsc", "ksp_view"}, 1, "has no option of PETSc");
  const std::size_t place = deck.find("*STATIC");
  ASSERT_NE(place, std::string::npos);
  deck.replace(place, 7, "*FREQUENCY\n3");
  deck.insert(deck.find("*ELASTIC"), "*DENSITY\n1.0\n");
  write_text(folder / "bar.inp", deck);
  refused({"--engine", "petsc"}, 4, "not yet natural modes");
}

TEST(Engine, PassesOptionsToPetsc) {
  const auto folder = fresh_folder("engine_options");
  write_text(folder / "bar.inp", cantilever_deck(4, 2, 2));
  const Outcome outcome = on_processes(
      2, folder,
      {"run", "bar.inp", "--engine", "petsc", "--no-files", "--petsc", "-ksp_type cg -pc_type jacobi -ksp_wrong 3"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "petsc, cg+jacobi")) << outcome.out;
  EXPECT_TRUE(contains(outcome.error, "these --petsc options were not used: -ksp_wrong")) << outcome.error;
  // Options that turn the factorisation into an iteration do not make its residuals acceptable.
  const Outcome stopped = on_processes(
      2, folder,
      {"run", "bar.inp", "--engine", "petsc", "--no-files", "--petsc", "-ksp_type cg -pc_type jacobi -ksp_max_it 3"});
  EXPECT_EQ(stopped.code, 3) << stopped.out;
  EXPECT_TRUE(contains(stopped.error, "did not converge")) << stopped.error;
}

TEST(Engine, ReadsFilesOnTheFirstProcessOnly) {
  const auto folder = fresh_folder("engine_one_reader");
  write_text(folder / "bar.inp", cantilever_deck(4, 1, 1));
  // Every process but the first starts in another folder, where there is no such file.
  std::filesystem::create_directory(folder / "elsewhere");
  write_text(folder / "start.sh",
             "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 0 ] || cd elsewhere\nexec \"" VSR_TEST_PROGRAM "\" \"$@\"\n");
  std::filesystem::permissions(folder / "start.sh", std::filesystem::perms::owner_all);
  const Outcome outcome =
      on_processes(3, folder, {"run", "bar.inp", "--engine", "petsc"}, {}, (folder / "start.sh").string());
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(std::filesystem::exists(folder / "bar.results.json"));
  EXPECT_TRUE(files_in(folder / "elsewhere").empty());
}

TEST(Engine, EndsWhenAProcessIsKilled) {
  const auto folder = fresh_folder("engine_killed");
  write_text(folder / "bar.inp", cantilever_deck(30, 8, 8));
  // One process ends itself after a while, as the system does that runs out of memory.
  write_text(folder / "start.sh",
             "#!/bin/sh\nif [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then\n  (sleep 2; kill -KILL $$) &\nfi\nexec "
             "\"" VSR_TEST_PROGRAM "\" \"$@\"\n");
  std::filesystem::permissions(folder / "start.sh", std::filesystem::perms::owner_all);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = on_processes(3, folder,
                                       {"run", "bar.inp", "--engine", "petsc:gamg", "--no-files", "--petsc",
                                        "-pc_type none -ksp_rtol 1e-300 -ksp_atol 0", "--max-iterations", "100000000"},
                                       {}, (folder / "start.sh").string());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_NE(outcome.code, 0);
  EXPECT_LT(seconds, 120) << "the others went on without it";
  EXPECT_TRUE(contains(outcome.out + outcome.error, "signal 9")) << outcome.out << outcome.error;
}

TEST(Engine, TellsOfAnotherMpi) {
  const auto folder = fresh_folder("engine_other_mpi");
  write_text(folder / "bar.inp", cantilever_deck(2, 1, 1));
  RunSettings settings;
  settings.folder = folder;
  settings.limit_seconds = 120;
  settings.environment = {"PMI_SIZE=4", "OMP_NUM_THREADS=1"};
  const Outcome outcome = run_program({"run", "bar.inp", "--engine", "petsc"}, settings);
  EXPECT_EQ(outcome.code, 4) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "belongs to another MPI")) << outcome.error;
}

TEST(Engine, IsNoBackend) {
  const Outcome outcome = run_program({"run", "none.inp", "--backend", "petsc"});
  EXPECT_EQ(outcome.code, 4) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "not a backend")) << outcome.error;
}

}  // namespace
}  // namespace voussoir::testing
