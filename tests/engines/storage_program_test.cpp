// The program on several processes: matrices of all types, products without a stored matrix, and processes on unlike
// backends.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engines/bar_deck.hpp"
#include "engines/on_processes.hpp"
#include "support/further_backends.hpp"

namespace voussoir::testing {
namespace {

TEST(Engine, MultipliesWithoutAStoredMatrix) {
  const auto folder = fresh_folder("engine_products");
  write_text(folder / "bar.inp", cantilever_deck(6, 2, 2));
  RunSettings settings;
  settings.folder = folder;
  ASSERT_EQ(run_program({"run", "bar.inp", "--solver", "direct", "--output", "alone"}, settings).code, 0);
  const std::string ours = "cg+jacobi on the backends of the processes", petscs = "petsc, cg+jacobi";
  const std::vector<std::pair<std::string, std::string>> methods{{"petsc", ours}, {"petsc:jacobi", petscs}};
  for (const std::string storage : {"matrix-free", "element"})
    for (const auto& [method, name] : methods) {
      const std::string output = storage + method.substr(5);
      const Outcome outcome = on_processes(
          2, folder,
          {"run", "bar.inp", "--engine", method, "--storage", storage, "--tolerance", "1e-13", "--output", output});
      ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
      expect_same_steps(results_of(folder / "alone" / "bar.results.json"),
                        results_of(folder / output / "bar.results.json"));
      EXPECT_TRUE(contains(outcome.out, storage + ", no stored matrix, on 2 processes")) << outcome.out;
      EXPECT_TRUE(contains(outcome.out, name)) << outcome.out;
    }
  // Options of PETSc are for a method of PETSc.
  const Outcome with_options = on_processes(
      2, folder,
      {"run", "bar.inp", "--engine", "petsc", "--storage", "matrix-free", "--no-files", "--petsc", "-ksp_type gmres"});
  ASSERT_EQ(with_options.code, 0) << with_options.error;
  EXPECT_TRUE(contains(with_options.out, "petsc, gmres+jacobi")) << with_options.out;
}

// The vectors of this method stay on the backends. All processes say the same, on each run and on unlike backends.
TEST(Engine, IteratesOnTheBackendsOfTheProcesses) {
  const auto folder = fresh_folder("engine_backend_cg");
  write_text(folder / "bar.inp", cantilever_deck(12, 3, 3));
  const auto run = [&](const std::string& backend, const std::string& output,
                       const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"run",         "bar.inp",   "--engine", "petsc:backend-cg", "--storage",
                                   "matrix-free", "--backend", backend,    "--output",         output};
    words.insert(words.end(), more.begin(), more.end());
    return on_processes(3, folder, words);
  };
  const auto steps_of = [&](const std::string& output) {
    return results_of(folder / output / "bar.results.json")["steps"][0]["extremes"].dump();
  };
  for (const std::string backend : {"openmp:1", "debug:2/openmp:1/debug"}) {
    SCOPED_TRACE(backend);
    const std::string name = backend.substr(0, 5);
    const Outcome outcome = run(backend, name + "_once");
    ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
    ASSERT_EQ(run(backend, name + "_again").code, 0);
    EXPECT_EQ(steps_of(name + "_once"), steps_of(name + "_again"));
  }
  const Outcome stopped = run("openmp:1", "stopped", {"--max-iterations", "5"});
  EXPECT_EQ(stopped.code, 3) << stopped.out;
  EXPECT_EQ(occurrences(stopped.error, "the limit of 5 iterations was reached"), 1u) << stopped.error;
}

TEST(Engine, AssemblesMatricesOfOtherTypes) {
  const auto folder = fresh_folder("engine_types");
  write_text(folder / "bar.inp", cantilever_deck(6, 2, 2));
  RunSettings settings;
  settings.folder = folder;
  ASSERT_EQ(run_program({"run", "bar.inp", "--solver", "direct", "--output", "alone"}, settings).code, 0);
  const auto run = [&](int processes, const std::string& method, const std::string& type,
                       const std::string& more = "") {
    return on_processes(processes, folder,
                        {"run", "bar.inp", "--engine", "petsc:" + method, "--tolerance", "1e-13", "--output",
                         method + type + std::to_string(processes), "--petsc", "-mat_type " + type + more});
  };
  // By coordinates: types derived from aij. By blocks: baij.
  const std::vector<std::pair<std::string, std::string>> cases{{"gamg", "aijperm"},   {"mumps", "aijperm"},
                                                               {"jacobi", "aijsell"}, {"jacobi", "baij"},
                                                               {"asm", "baij"},       {"hypre", "baij"}};
  for (const auto& [method, type] : cases)
    for (const int processes : {1, 3}) {
      const Outcome outcome = run(processes, method, type);
      ASSERT_EQ(outcome.code, 0) << method << " " << type << "\n" << outcome.error << outcome.out;
      expect_same_steps(results_of(folder / "alone" / "bar.results.json"),
                        results_of(folder / (method + type + std::to_string(processes)) / "bar.results.json"));
    }
  EXPECT_TRUE(contains(run(2, "jacobi", "baij", " -ksp_view").error, "type: mpibaij"));
  EXPECT_TRUE(contains(run(2, "gamg", "aijperm", " -ksp_view").error, "type: mpiaijperm"));
}

// Nodes of beams have six unknowns and those of solids three: there are no blocks of one size.
TEST(Engine, SolvesBeamsOnSolidsInAllForms) {
  const auto folder = fresh_folder("engine_mixed_types");
  std::string deck = test::bar(6, "C3D8", test::elastic,
                               "*NODE\n101, 1.4, 0.1, 0.1\n102, 1.7, 0.1, 0.15\n*ELEMENT, TYPE=B31, ELSET=MAST\n"
                               "101, 55, 101\n102, 61, 101\n103, 63, 101\n104, 101, 102\n"
                               "*BEAM SECTION, ELSET=MAST, MATERIAL=M, SECTION=RECT\n0.05, 0.08\n0., 0.6, 0.8\n"
                               "*BOUNDARY\nLEFT, 1, 3\n*STEP\n*STATIC\n*CLOAD\n102, 2, 0.01\n102, 5, 0.002\n"
                               "*NODE PRINT, NSET=TIP\nU\n*END STEP\n");
  write_text(folder / "mast.inp", deck);
  RunSettings settings;
  settings.folder = folder;
  const Outcome alone = run_program({"run", "mast.inp", "--solver", "direct", "--output", "alone"}, settings);
  ASSERT_EQ(alone.code, 0) << alone.error << alone.out;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"jacobi", "baij"}, {"asm", "baij"}, {"jacobi", "aijperm"}, {"mumps", "aijperm"}};
  // Rotations of nodes are on another process than the displacements.
  const std::vector<std::pair<int, std::string>> cuts{{1, "auto"}, {2, "10/1"}, {2, "6/1"}, {4, "20/20/1/1"}};
  for (const auto& [processes, shares] : cuts)
    for (const std::string method : {"jacobi", "backend-cg"}) {
      const std::string output = method + "_products" + std::to_string(processes) + shares.substr(0, 1),
                        cut = (processes > 1 ? "coordinate:shares=" : "") + shares;
      const Outcome outcome = on_processes(processes, folder,
                                           {"run", "mast.inp", "--engine", "petsc:" + method, "--storage",
                                            "matrix-free", "--tolerance", "1e-13", "--cut", cut, "--output", output});
      ASSERT_EQ(outcome.code, 0) << output << "\n" << outcome.error << outcome.out;
      expect_same_steps(results_of(folder / "alone" / "mast.results.json"),
                        results_of(folder / output / "mast.results.json"));
    }
  for (const auto& [method, type] : cases)
    for (const int processes : {1, 3}) {
      const std::string output = method + type + std::to_string(processes);
      const Outcome outcome = on_processes(processes, folder,
                                           {"run", "mast.inp", "--engine", "petsc:" + method, "--tolerance", "1e-13",
                                            "--output", output, "--petsc", "-mat_type " + type});
      ASSERT_EQ(outcome.code, 0) << output << "\n" << outcome.error << outcome.out;
      expect_same_steps(results_of(folder / "alone" / "mast.results.json"),
                        results_of(folder / output / "mast.results.json"));
    }
}

// Processes on different backends share a model, each with a part for its speed.
TEST(Engine, SharesAModelAmongUnequalBackends) {
  const auto folder = fresh_folder("engine_unequal");
  write_text(folder / "bar.inp", cantilever_deck(12, 2, 2));
  RunSettings settings;
  settings.folder = folder;
  ASSERT_EQ(run_program({"run", "bar.inp", "--solver", "direct", "--output", "alone"}, settings).code, 0);
  const auto run = [&](const std::string& backend, const std::string& cut, const std::string& output) {
    return on_processes(3, folder,
                        {"run", "bar.inp", "--engine", "petsc", "--storage", "matrix-free", "--tolerance", "1e-13",
                         "--backend", backend, "--cut", cut, "--output", output});
  };
  const Outcome outcome = run("openmp:1/debug/debug:2", "coordinate:shares=8/3/1", "unequal");
  ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
  const Json found = results_of(folder / "unequal" / "bar.results.json");
  expect_same_steps(results_of(folder / "alone" / "bar.results.json"), found);
  const Json& parts = found["processes"];
  ASSERT_EQ(parts.size(), 3u) << found.dump(1);
  const std::vector<int> elements{32, 12, 4};  // of 48
  for (std::size_t p = 0; p < 3; ++p) EXPECT_EQ(parts[p]["elements"], elements[p]) << parts.dump(1);
  EXPECT_TRUE(contains(parts[0]["backend"].get<std::string>(), "openmp")) << parts.dump(1);
  EXPECT_TRUE(contains(parts[2]["backend"].get<std::string>(), "debug")) << parts.dump(1);
  const Outcome few = run("openmp:1/debug", "coordinate:shares=8/3", "few");
  EXPECT_EQ(few.code, 1) << few.error;
  EXPECT_EQ(occurrences(few.error, "3 parts need as many shares, but there are 2"), 1u) << few.error;
  const Outcome empty = run("openmp:1//debug", "auto", "empty");
  EXPECT_EQ(empty.code, 1) << empty.error;
  EXPECT_EQ(occurrences(empty.error, "has an empty entry"), 1u) << empty.error;
}

// A GPU, and its emulation, beside the CPU: each process has a part for its backend's speed, in whichever order they
// stand, with matrices of the backends (stored or not) and part solvers on them; in statics, dynamics and heat.
TEST(Engine, SharesAModelBetweenAGpuAndTheCpu) {
  const further::EmulationPath path;
  std::vector<std::string> gpus;
  for (const std::string& one : further::specifications())
    if (one == "cuda" || one == "emulated") gpus.push_back(one);
  if (gpus.empty()) GTEST_SKIP() << further::cuda_info().reason;
  const auto folder = fresh_folder("engine_gpu_and_cpu");
  write_text(folder / "solid.inp", cantilever_deck(6, 2, 2));
  write_text(folder / "moving.inp", test::bar(6, "C3D8", test::elastic + "*DAMPING, ALPHA=1., BETA=1E-4\n",
                                              test::held + "*STEP\n*DYNAMIC, DIRECT\n0.01, 0.04\n" +
                                                  "*CLOAD, AMPLITUDE=PULSE\nTIP, 2, 0.3\n" + test::printed));
  write_text(folder / "heated.inp",
             test::bar(6, "DC3D8", test::heat,
                       "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n*BOUNDARY\nLEFT, 11, 11, 20.\n*STEP\n"
                       "*HEAT TRANSFER, DIRECT\n0.01, 0.03\n*CFLUX, AMPLITUDE=PULSE\nTIP, 11, 40.\n" +
                           test::printed_heat));
  const auto steps_of = [&](const std::string& output, const std::string& deck) {
    Json results = results_of(folder / output / (deck + ".results.json"));
    for (Json& step : results["steps"]) {
      if (step.contains("integration")) step["integration"].erase("iterations");
      step.erase("statement");  // has an imbalance that is rounding
    }
    return results;
  };
  const auto run = [&](const std::string& deck, const std::string& engine, const std::string& backend,
                       const std::string& storage, const std::string& output) {
    return on_processes(2, folder,
                        {"run", deck + ".inp", "--engine", engine, "--backend", backend, "--storage", storage, "--cut",
                         "coordinate:shares=3/1", "--tolerance", "1e-13", "--output", output});
  };
  RunSettings settings;
  settings.folder = folder;
  for (const std::string deck : {"solid", "moving", "heated"}) {
    const std::string alone = deck + "_alone";
    const Outcome one = run_program({"run", deck + ".inp", "--solver", "direct", "--output", alone}, settings);
    ASSERT_EQ(one.code, 0) << one.error << one.out;
    for (const std::string& gpu : gpus)
      for (const bool first : {true, false})
        for (const auto& [engine, storage] : {std::pair<std::string, std::string>{"petsc:gamg", "auto"},
                                              {"petsc:jacobi", "matrix-free"},
                                              {"petsc:backend-cg", "matrix-free"},
                                              {"petsc:asm", "auto"}}) {
          if (!first && storage == "auto") continue;
          const bool stored = deck != "solid";  // as engines need it for steps in increments
          if (stored && engine == "petsc:backend-cg") continue;
          const std::string backend = first ? gpu + "/openmp:1" : "openmp:1/" + gpu;
          const std::string output = deck + "_" + gpu + engine.substr(6) + (first ? "_first" : "_second");
          const Outcome outcome = run(deck, engine, backend, stored ? "auto" : storage, output);
          ASSERT_EQ(outcome.code, 0) << output << "\n" << outcome.error << outcome.out;
          const Json found = steps_of(output, deck);
          expect_same_steps(steps_of(alone, deck), found);
          const Json& parts = found["processes"];
          ASSERT_EQ(parts.size(), 2u) << output;
          EXPECT_EQ(parts[0]["elements"], 18) << output;  // of 24
          for (const std::size_t p : {0u, 1u})
            EXPECT_TRUE(parts[p]["backend"].get<std::string>().starts_with((p == 0) == first ? gpu : "openmp"))
                << output << "\n"
                << parts.dump(1);
        }
  }
}

}  // namespace
}  // namespace voussoir::testing
