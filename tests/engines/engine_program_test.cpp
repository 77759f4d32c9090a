// The program on several processes, started by mpirun as a user starts it: answers, messages, exit codes, and nothing
// that hangs. Every run has a time limit.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engines/bar_deck.hpp"
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

/// A cantilever with a step for its lowest modes, whose tables have displacements, reactions and stresses.
std::string vibrating_deck(const std::string& request) {
  std::string deck = cantilever_deck(6, 3, 2);
  deck.insert(deck.find("*ELASTIC"), "*DENSITY\n7.8e-9\n");
  deck.resize(deck.find("*STEP"));
  return deck + "*STEP\n*FREQUENCY\n" + request +
         "\n*NODE PRINT, NSET=TIP\nU\n*NODE PRINT, NSET=CLAMP, TOTALS=ONLY\nRF\n*EL PRINT, ELSET=BEAM\nS\n*END STEP\n";
}

TEST(Engine, FindsTheModesOfOneProcess) {
  const auto folder = fresh_folder("engine_modes");
  write_text(folder / "bar.inp", vibrating_deck("8"));
  RunSettings settings;
  settings.folder = folder;
  const Outcome alone = run_program({"run", "bar.inp", "--output", "alone"}, settings);
  ASSERT_EQ(alone.code, 0) << alone.error;
  const Json expected = results_of(folder / "alone" / "bar.results.json");
  ASSERT_EQ(expected["steps"][0]["modes"].size(), 8u);
  for (const int count : {1, 3}) {
    const std::string output = "on" + std::to_string(count);
    const Outcome outcome = on_processes(count, folder, {"run", "bar.inp", "--engine", "petsc", "--output", output});
    ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
    expect_same_steps(expected, results_of(folder / output / "bar.results.json"));
    EXPECT_EQ(files_in(folder / "alone"), files_in(folder / output));
    EXPECT_TRUE(contains(outcome.out, "verified: 8 of 8 below")) << outcome.out;
  }
}

/// A cantilever with a step of dynamics, and the tables of its states.
std::string shaken_deck(const std::string& step, int length = 6) {
  std::string deck = cantilever_deck(length, 3, 2);
  deck.insert(deck.find("*ELASTIC"), "*DENSITY\n7.8e-9\n");
  deck.resize(deck.find("*STEP"));
  return deck + "*AMPLITUDE, NAME=RISE\n0., 0., 2e-4, 1.\n*STEP, INC=100000\n" + step +
         "\n*CLOAD, AMPLITUDE=RISE\nTIP, 2, -10.\n*NODE PRINT, NSET=TIP\nU, V\n*NODE PRINT, NSET=CLAMP, "
         "TOTALS=ONLY\nRF\n*EL PRINT, ELSET=BEAM, FREQUENCY=4\nS\n*END STEP\n";
}

TEST(Engine, IntegratesOverTimeAsOneProcess) {
  const auto folder = fresh_folder("engine_steps");
  write_text(folder / "bar.inp", shaken_deck("*DYNAMIC, DIRECT\n5e-5, 4e-4"));
  RunSettings settings;
  settings.folder = folder;
  const Outcome alone = run_program({"run", "bar.inp", "--solver", "direct", "--output", "alone"}, settings);
  ASSERT_EQ(alone.code, 0) << alone.error;
  for (const std::string method : {"mumps", "gamg"}) {
    const Outcome outcome = on_processes(
        3, folder, {"run", "bar.inp", "--engine", "petsc:" + method, "--output", method, "--tolerance", "1e-13"});
    ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
    EXPECT_EQ(files_in(folder / "alone"), files_in(folder / method));
    EXPECT_EQ(occurrences(outcome.out, "8 increments"), occurrences(alone.out, "8 increments")) << outcome.out;
    if (method != "mumps") continue;
    Json expected = results_of(folder / "alone" / "bar.results.json");
    Json found = results_of(folder / method / "bar.results.json");
    // On both sides of a plane of symmetry, peaks are equally large.
    for (Json* document : {&expected, &found}) (*document)["steps"][0].erase("peaks");
    expect_same_steps(expected, found);
  }
  // In pieces: the same tables, and a file of each process instead of each VTU file.
  const Outcome pieces = on_processes(
      3, folder,
      {"run", "bar.inp", "--engine", "petsc:mumps", "--pieces", "--output", "pieces", "--checkpoint-steps", "3"});
  ASSERT_EQ(pieces.code, 0) << pieces.error;
  std::vector<std::string> files;
  for (const std::string& file : files_in(folder / "alone")) {
    const std::size_t ending = file.find(".vtu");
    files.push_back(ending == std::string::npos ? file : file.substr(0, ending) + ".pvtu");
    for (int p = 0; ending != std::string::npos && p < 3; ++p)
      files.push_back(file.substr(0, ending) + "_p000" + std::to_string(p) + ".vtu");
  }
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files_in(folder / "pieces"), files);
}

// Copies of a run that broke off are resumed by one and by three processes, which divide the model in other ways.
void resume_on_others(const std::filesystem::path& folder, std::vector<std::string> resuming) {
  for (const int processes : {1, 3}) {
    const std::string copy = "on_" + std::to_string(processes);
    std::filesystem::copy(folder / "out", folder / copy);
    resuming[5] = copy;
    const Outcome other = on_processes(processes, folder, resuming);
    ASSERT_EQ(other.code, 0) << other.error;
    EXPECT_EQ(occurrences(other.error, "resumed at time"), 1u) << other.error;
    EXPECT_EQ(occurrences(other.error, "results agree up to rounding errors"), 1u) << other.error;
    EXPECT_EQ(files_in(folder / "whole"), files_in(folder / copy));
    Json expected = results_of(folder / "whole" / "bar.results.json");
    Json found = results_of(folder / copy / "bar.results.json");
    // On both sides of a plane of symmetry, peaks are equally large; iterations depend on the parts.
    for (Json* document : {&expected, &found}) {
      (*document)["steps"][0].erase("peaks");
      (*document)["steps"][0]["integration"].erase("iterations");
    }
    expect_same_steps(expected, found);
  }
}

// A run whose process is killed after a checkpoint is resumed, and writes the files of a run without a break, byte by
// byte.
void expect_resumed(const std::filesystem::path& folder, const std::vector<std::string>& more) {
  write_text(folder / "bar.inp", shaken_deck("*DYNAMIC, DIRECT\n1e-6, 2e-4"));
  write_text(
      folder / "start.sh",
      "#!/bin/sh\nif [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then\n  (while [ ! -e out/bar.checkpoint-b ]; do kill -0 $$ "
      "2>/dev/null || exit; sleep 0.02; done; kill -KILL $$) &\nfi\nexec \"" VSR_TEST_PROGRAM "\" \"$@\"\n");
  std::filesystem::permissions(folder / "start.sh", std::filesystem::perms::owner_all);
  // MUMPS on several processes adds messages in the order in which they arrive, so that rounding differs between runs.
  std::vector<std::string> saving{"run",      "bar.inp", "--engine",    "petsc:gamg",
                                  "--output", "whole",   "--tolerance", "1e-13"};
  saving.insert(saving.end(), more.begin(), more.end());
  const Outcome whole = on_processes(2, folder, saving);
  ASSERT_EQ(whole.code, 0) << whole.error;
  saving[5] = "out";
  saving.insert(saving.end(), {"--checkpoint-steps", "20"});
  const Outcome killed = on_processes(2, folder, saving, {}, (folder / "start.sh").string());
  ASSERT_NE(killed.code, 0) << "the run was over before it was killed";
  ASSERT_TRUE(std::filesystem::exists(folder / "out" / "bar.journal"));
  // Neither without --resume, nor without --engine, nor by another number of processes where each writes pieces.
  std::vector<std::string> resuming = saving;
  const Outcome left = on_processes(2, folder, saving);
  EXPECT_EQ(left.code, 5) << left.error;
  EXPECT_TRUE(contains(left.error, "there are checkpoints of an interrupted run")) << left.error;
  resuming.push_back("--resume");
  if (more.empty()) {
    resume_on_others(folder, resuming);
  } else {
    const Outcome other = on_processes(3, folder, resuming);
    EXPECT_EQ(other.code, 1) << other.error;
    EXPECT_EQ(occurrences(other.error, "the number of processes"), 1u) << other.error;
  }
  RunSettings settings;
  settings.folder = folder;
  const Outcome alone = run_program({"run", "bar.inp", "--output", "out", "--resume"}, settings);
  EXPECT_EQ(alone.code, 1) << alone.error;
  EXPECT_TRUE(contains(alone.error, "a run with --engine")) << alone.error;
  const Outcome resumed = on_processes(2, folder, resuming);
  ASSERT_EQ(resumed.code, 0) << resumed.error;
  EXPECT_EQ(occurrences(resumed.error, "resumed at time"), 1u) << resumed.error;
  EXPECT_EQ(files_in(folder / "whole"), files_in(folder / "out"));
  expect_same_steps(results_of(folder / "whole" / "bar.results.json"), results_of(folder / "out" / "bar.results.json"));
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "whole")) {
    if (entry.path().filename() == "bar.results.json") continue;  // it has the times of the run
    EXPECT_EQ(read_text(entry.path()), read_text(folder / "out" / entry.path().filename())) << entry.path();
    ++compared;
  }
  EXPECT_GT(compared, 3);
}

TEST(Engine, GoesOnAfterAProcessWasKilled) { expect_resumed(fresh_folder("engine_resumed"), {}); }

TEST(Engine, GoesOnInPiecesAfterAProcessWasKilled) {
  const auto folder = fresh_folder("engine_resumed_pieces");
  expect_resumed(folder, {"--pieces"});
  EXPECT_TRUE(std::filesystem::exists(folder / "out" / "bar_time_0001_p0001.vtu"));
}

TEST(Engine, EndsWhenAProcessIsKilledInAStepOverTime) {
  const auto folder = fresh_folder("engine_killed_step");
  write_text(folder / "bar.inp", shaken_deck("*DYNAMIC, DIRECT\n1e-7, 1.", 20));
  write_text(folder / "start.sh",
             "#!/bin/sh\nif [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then\n  (sleep 3; kill -KILL $$) &\nfi\nexec "
             "\"" VSR_TEST_PROGRAM "\" \"$@\"\n");
  std::filesystem::permissions(folder / "start.sh", std::filesystem::perms::owner_all);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = on_processes(3, folder, {"run", "bar.inp", "--engine", "petsc", "--no-files"}, {},
                                       (folder / "start.sh").string());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_NE(outcome.code, 0);
  EXPECT_LT(seconds, 120) << "the others went on without it";
  EXPECT_TRUE(contains(outcome.out + outcome.error, "signal 9")) << outcome.out << outcome.error;
}

TEST(Engine, SaysWhereModesAreNotExactOrNotChecked) {
  const auto folder = fresh_folder("engine_modes_fault");
  write_text(folder / "bar.inp", vibrating_deck("8"));
  const auto run = [&](const std::string& engine, const std::string& options) {
    return on_processes(2, folder, {"run", "bar.inp", "--no-files", "--engine", engine, "--petsc", options});
  };
  const Outcome short_of_iterations =
      run("petsc:gamg", "-eps_type gd -st_type precond -st_ksp_type preonly -eps_max_it 2");
  EXPECT_EQ(short_of_iterations.code, 3) << short_of_iterations.out;
  EXPECT_EQ(occurrences(short_of_iterations.error, "error: bar.inp"), 1u) << short_of_iterations.error;
  EXPECT_TRUE(contains(short_of_iterations.error, "INCOMPLETE: ")) << short_of_iterations.error;
  EXPECT_FALSE(contains(short_of_iterations.out, "verified")) << short_of_iterations.out;
  const Outcome refused = run("petsc:bddc", "-log_exclude vec");
  EXPECT_EQ(refused.code, 4) << refused.error;
  EXPECT_EQ(occurrences(refused.error, "does not find modes"), 1u) << refused.error;
  const Outcome on_backends = run("petsc:backend-cg", "-log_exclude vec");
  EXPECT_EQ(on_backends.code, 4) << on_backends.error;
  EXPECT_EQ(occurrences(on_backends.error, "does not find modes"), 1u) << on_backends.error;
  const Outcome highest = run("petsc", "-st_type shift");
  EXPECT_EQ(highest.code, 1) << highest.error << highest.out;
  EXPECT_EQ(occurrences(highest.error, "-st_type shift does not lead to the lowest modes"), 1u) << highest.error;
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
  for (const std::string method : {"mumps", "gamg", "asm"}) {
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
  refused({"--engine", "petsc", "--storage", "band"}, 1, "storage 'band' is for one process");
  refused({"--engine", "petsc:gamg", "--storage", "matrix-free"}, 1, "the method gamg needs a stored matrix");
  refused({"--engine", "petsc:backend-cg"}, 1, "the method backend-cg needs products without a stored matrix");
  refused({"--engine", "petsc", "--no-such-option"}, 2, "See voussoir run --help");
  refused({"--engine", "petsc", "--solver", "cg"}, 2, "--solver");
  refused({"--engine", "petsc", "--petsc", "ksp_view"}, 1, "has no option of PETSc");
  const std::size_t place = deck.find("*STATIC");
  ASSERT_NE(place, std::string::npos);
  deck.replace(place, 7, "*DYNAMIC, EXPLICIT\n, 1.\n*FIXED MASS SCALING, TYPE=BELOW MIN, DT=0.1");
  deck.insert(deck.find("*ELASTIC"), "*DENSITY\n1.0\n");
  write_text(folder / "bar.inp", deck);
  refused({"--engine", "petsc"}, 1, "is that of element");  // far too much mass
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

// The preconditioner `voussoir` of PETSc: parts are solved by Voussoir's own solvers.
TEST(Engine, SolvesPartsByPartSolvers) {
  const auto folder = fresh_folder("engine_part_solvers");
  write_text(folder / "bar.inp", cantilever_deck(12, 4, 4));
  RunSettings settings;
  settings.folder = folder;
  const Outcome alone = run_program({"run", "bar.inp", "--solver", "direct", "--json", "--no-files"}, settings);
  const auto run = [&](int count, const std::string& method, const std::string& options) {
    return on_processes(count, folder,
                        {"run", "bar.inp", "--engine", "petsc:" + method, "--json", "--no-files", "--tolerance",
                         "1e-12", "--petsc", options});
  };
  const std::string both = "-pc_bddc_dirichlet_pc_type voussoir -pc_bddc_neumann_pc_type voussoir";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"asm", "-sub_pc_voussoir_solver direct:eigen"}, {"asm", "-sub_pc_voussoir_solver amg"}, {"bddc", both}};
  for (const auto& [method, options] : cases)
    for (const int count : {2, 3}) {
      const Outcome outcome = run(count, method, options);
      ASSERT_EQ(outcome.code, 0) << options << outcome.error;
      EXPECT_FALSE(contains(outcome.error, "not used")) << outcome.error;
      expect_same_steps(Json::parse(alone.out), Json::parse(outcome.out));
    }
  // As many iterations as with MUMPS in its place: both are exact.
  const auto iterations = [](const Outcome& outcome) {
    return Json::parse(outcome.out)["steps"][0]["solver"]["iterations"].get<int>();
  };
  EXPECT_NEAR(iterations(run(2, "bddc", both)), iterations(run(2, "bddc", "-ksp_atol 0")), 1);
  EXPECT_GT(iterations(run(2, "asm", "-sub_pc_voussoir_solver amg")), iterations(run(2, "asm", "-ksp_atol 0")));
  const Outcome wrong = run(2, "asm", "-sub_pc_voussoir_solver magic");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_TRUE(contains(wrong.error, "part solver 'magic'")) << wrong.error;
  const Outcome whole = run(2, "gamg", "-pc_type voussoir");
  EXPECT_EQ(whole.code, 1);
  EXPECT_TRUE(contains(whole.error, "-pc_type asm -sub_pc_type voussoir")) << whole.error;
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
  write_text(folder / "bar.inp", cantilever_deck(40, 16, 16));
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
