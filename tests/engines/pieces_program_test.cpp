// Divided jobs and results in pieces, by the program as a user starts it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engines/on_processes.hpp"
#include "support/vtu_file.hpp"

namespace voussoir::testing {
namespace {

namespace fs = std::filesystem;

Outcome alone(const fs::path& folder, const std::vector<std::string>& arguments) {
  RunSettings settings;
  settings.folder = folder;
  return run_program(arguments, settings);
}

void divide(const fs::path& folder, const std::string& deck, int parts, const std::string& output) {
  const Outcome outcome =
      alone(folder, {"partition", deck, "--parts", std::to_string(parts), "--output", output, "--force"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
}

std::int64_t largest_part(const Json& results) {
  std::int64_t largest = 0;
  for (const Json& process : results["processes"])
    largest = std::max(largest, process["part_bytes"].get<std::int64_t>());
  return largest;
}

TEST(Pieces, OfADividedJobHaveTheAnswersOfTheDeck) {
  const auto folder = fresh_folder("pieces_answers");
  write_text(folder / "bar.inp", cantilever_deck(6, 3, 2, {1.0, -2.5}));
  ASSERT_EQ(alone(folder, {"run", "bar.inp", "--solver", "direct", "--output", "alone"}).code, 0);
  const Json expected = results_of(folder / "alone" / "bar.results.json");
  for (const int count : {1, 2, 3}) {
    divide(folder, "bar.inp", count, "bar.vpart");
    fs::rename(folder / "bar.inp", folder / "hidden");  // nobody reads the deck
    const std::string output = "on" + std::to_string(count);
    const Outcome outcome = on_processes(count, folder, {"run", "bar.vpart", "--engine", "petsc", "--output", output});
    fs::rename(folder / "hidden", folder / "bar.inp");
    ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
    const Json found = results_of(folder / output / "bar.results.json");
    expect_same_steps(expected, found);
    EXPECT_EQ(found["sizes"]["nodes"], expected["sizes"]["nodes"]);
    EXPECT_EQ(found["sizes"]["elements_by_type"], expected["sizes"]["elements_by_type"]);
    EXPECT_EQ(found["processes"].size(), static_cast<std::size_t>(count));
    std::vector<std::string> files{"bar.dat", "bar.pvd", "bar.results.json"};
    for (const std::string step : {"bar_step1", "bar_step2"}) {
      for (int p = 0; p < count; ++p) files.push_back(step + "_p000" + std::to_string(p) + ".vtu");
      files.push_back(step + ".pvtu");
      files.push_back(step + "_U_TIP.csv");
    }
    std::sort(files.begin(), files.end());
    EXPECT_EQ(files_in(folder / output), files);
  }
}

// PETSc may bring an HDF5 of its own, one with MPI.
TEST(Pieces, OfAnHdf5FileAreThoseOfAVpartFile) {
#ifndef VSR_TEST_HDF5
  GTEST_SKIP() << "built without HDF5: install libhdf5-dev";
#endif
  const auto folder = fresh_folder("pieces_hdf5");
  write_text(folder / "bar.inp", cantilever_deck(6, 3, 2, {1.0, -2.5}));
  for (const std::string name : {"bar.h5", "bar.vpart"}) divide(folder, "bar.inp", 2, name);
  fs::remove(folder / "bar.inp");
  for (const std::string name : {"bar.h5", "bar.vpart"}) {
    const Outcome outcome = on_processes(2, folder, {"run", name, "--engine", "petsc", "--output", "out_" + name});
    ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
    EXPECT_FALSE(contains(outcome.error, "HDF5")) << outcome.error;
  }
  EXPECT_EQ(files_in(folder / "out_bar.h5"), files_in(folder / "out_bar.vpart"));
  const Json expected = results_of(folder / "out_bar.vpart" / "bar.results.json"),
             found = results_of(folder / "out_bar.h5" / "bar.results.json");
  expect_same_steps(expected, found);
  for (const char* size : {"nodes", "elements_by_type", "free_equations"})
    EXPECT_EQ(found["sizes"][size], expected["sizes"][size]) << size;
  EXPECT_EQ(largest_part(found), largest_part(expected));
  // A file that ends too early: one message for both processes.
  const std::string bytes = read_text(folder / "bar.h5");
  write_text(folder / "short.h5", bytes.substr(0, bytes.size() - 100));
  const Outcome cut = on_processes(2, folder, {"run", "short.h5", "--engine", "petsc"});
  EXPECT_EQ(cut.code, 1) << cut.error;
  EXPECT_EQ(occurrences(cut.error, "damaged or incomplete"), 1u) << cut.error;
  EXPECT_FALSE(contains(cut.error, "HDF5-DIAG")) << cut.error;
}

TEST(Pieces, OfIterativeMethodsTellThatMechanismsWereNotSearchedFor) {
  const auto folder = fresh_folder("pieces_mechanisms");
  write_text(folder / "bar.inp", cantilever_deck(6, 3, 2));
  divide(folder, "bar.inp", 2, "bar.vpart");
  const std::string note = "the method mumps of the engine detects them, iterative methods do not\n";
  for (const std::string method : {"gamg", "mumps"}) {
    const Outcome outcome = on_processes(2, folder, {"run", "bar.vpart", "--engine", "petsc:" + method, "--no-files"});
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(occurrences(outcome.error, note), method == "gamg" ? 1u : 0u) << outcome.error;
  }
}

TEST(Pieces, OfADeckAreWrittenOnRequest) {
  const auto folder = fresh_folder("pieces_deck");
  write_text(folder / "bar.inp", cantilever_deck(5, 2, 2));
  ASSERT_EQ(alone(folder, {"run", "bar.inp", "--solver", "direct", "--output", "alone"}).code, 0);
  const auto run = [&](int count) {
    return on_processes(count, folder,
                        {"run", "bar.inp", "--engine", "petsc", "--pieces", "--output", "out", "--force"});
  };
  Outcome outcome = run(3);
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  expect_same_steps(results_of(folder / "alone" / "bar.results.json"), results_of(folder / "out" / "bar.results.json"));
  EXPECT_TRUE(fs::exists(folder / "out" / "bar_p0002.vtu"));
  EXPECT_FALSE(fs::exists(folder / "out" / "bar.vtu"));
  // Fewer processes leave no piece of the run before.
  outcome = run(2);
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(fs::exists(folder / "out" / "bar_p0001.vtu"));
  EXPECT_FALSE(fs::exists(folder / "out" / "bar_p0002.vtu"));
  const Outcome again = on_processes(2, folder, {"run", "bar.inp", "--engine", "petsc", "--pieces", "--output", "out"});
  EXPECT_EQ(again.code, 5) << again.error;
  EXPECT_EQ(occurrences(again.error, "exist already"), 1u) << again.error;
}

/// A cantilever with a step for its lowest modes; the cross-section makes all frequencies different.
std::string vibrating_pieces_deck(const std::string& requests) {
  std::string deck = cantilever_deck(6, 3, 2);
  deck.insert(deck.find("*ELASTIC"), "*DENSITY\n7.8e-9\n");
  deck.resize(deck.find("*STEP"));
  return deck + "*STEP\n*FREQUENCY\n5\n" + requests + "*END STEP\n";
}

std::map<std::int64_t, std::vector<double>> displacements_by_node(const VtuFile& file) {
  const auto nodes = file.array<std::int64_t>("node_id");
  const auto values = file.array<double>("displacement");
  std::map<std::int64_t, std::vector<double>> result;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    result[nodes[i]].assign(values.begin() + static_cast<std::ptrdiff_t>(3 * i),
                            values.begin() + static_cast<std::ptrdiff_t>(3 * i + 3));
  return result;
}

/// Shapes with their signs; nodes on interfaces have the same bits in all pieces.
void expect_same_shape(const VtuFile& whole, const std::vector<VtuFile>& pieces) {
  const auto expected = displacements_by_node(whole);
  double largest = 0;
  for (const auto& [node, values] : expected)
    for (const double value : values) largest = std::max(largest, std::abs(value));
  std::map<std::int64_t, std::vector<double>> seen;
  for (const VtuFile& piece : pieces)
    for (const auto& [node, values] : displacements_by_node(piece)) {
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(values[c], expected.at(node)[c], 1e-7 * largest) << node;
      EXPECT_EQ(seen.emplace(node, values).first->second, values) << node;
    }
  EXPECT_EQ(seen.size(), expected.size());
}

TEST(Pieces, OfModesHaveTheShapesOfTheDeck) {
  const auto folder = fresh_folder("pieces_modes");
  write_text(folder / "bar.inp", vibrating_pieces_deck(""));
  ASSERT_EQ(alone(folder, {"run", "bar.inp", "--output", "alone"}).code, 0);
  const Json expected = results_of(folder / "alone" / "bar.results.json");
  ASSERT_EQ(expected["steps"][0]["modes"].size(), 5u);
  const auto check = [&](int count, const std::string& output) {
    expect_same_steps(expected, results_of(folder / output / "bar.results.json"));
    std::vector<std::string> files = files_in(folder / "alone");
    for (int m = 1; m <= 5; ++m) {
      const std::string mode = "bar_mode_00" + std::to_string(m);
      std::vector<VtuFile> pieces;
      for (int p = 0; p < count; ++p) {
        files.push_back(mode + "_p000" + std::to_string(p) + ".vtu");
        pieces.emplace_back(folder / output / files.back());
        EXPECT_TRUE(contains(read_text(folder / output / (mode + ".pvtu")), files.back()));
      }
      expect_same_shape(VtuFile(folder / "alone" / (mode + ".vtu")), pieces);
      std::replace(files.begin(), files.end(), mode + ".vtu", mode + ".pvtu");
      EXPECT_TRUE(contains(read_text(folder / output / "bar_modes.pvd"), mode + ".pvtu"));
    }
    std::sort(files.begin(), files.end());
    EXPECT_EQ(files_in(folder / output), files);
  };
  for (const int count : {1, 3}) {
    divide(folder, "bar.inp", count, "bar.vpart");
    const std::string output = "on" + std::to_string(count);
    const Outcome outcome = on_processes(count, folder, {"run", "bar.vpart", "--engine", "petsc", "--output", output});
    ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "verified: 5 of 5 below")) << outcome.out;
    check(count, output);
  }
  const Outcome sent = on_processes(2, folder, {"run", "bar.inp", "--engine", "petsc", "--pieces", "--output", "sent"});
  ASSERT_EQ(sent.code, 0) << sent.error;
  check(2, "sent");
}

TEST(Pieces, OfModesHaveNoTables) {
  const auto folder = fresh_folder("pieces_mode_tables");
  write_text(folder / "bar.inp", vibrating_pieces_deck("*NODE PRINT, NSET=TIP\nU\n"));
  const Outcome divided = alone(folder, {"partition", "bar.inp", "--parts", "2", "--output", "bar.vpart"});
  EXPECT_EQ(divided.code, 0) << divided.error;
  EXPECT_TRUE(contains(divided.error, "divided jobs have no tables of modes")) << divided.error;
  const Outcome outcome = on_processes(2, folder, {"run", "bar.vpart", "--engine", "petsc"});
  EXPECT_EQ(outcome.code, 4) << outcome.error;
  EXPECT_EQ(occurrences(outcome.error, "tables of modes"), 1u) << outcome.error;
}

TEST(Pieces, OfAWrongJobLeaveNoOtherFiles) {
  const auto folder = fresh_folder("pieces_wrong_job");
  std::string deck = cantilever_deck(3, 1, 1);
  const std::size_t boundary = deck.find("*BOUNDARY");
  deck.erase(boundary, deck.find('*', boundary + 1) - boundary);
  write_text(folder / "free.inp", deck);
  const Outcome outcome = alone(folder, {"partition", "free.inp", "--parts", "2", "--output", "free.vpart", "--csv",
                                         "parts.csv", "--vtu", "parts.vtu"});
  EXPECT_EQ(outcome.code, 1) << outcome.error;
  EXPECT_EQ(files_in(folder), std::vector<std::string>{"free.inp"});
}

TEST(Pieces, OfAJobBecomeSmallerWithMoreProcesses) {
  const auto folder = fresh_folder("pieces_memory");
  write_text(folder / "bar.inp", cantilever_deck(32, 6, 6));
  std::int64_t whole = 0;
  for (const int count : {1, 2, 4}) {
    divide(folder, "bar.inp", count, "bar.vpart");
    const Outcome outcome =
        on_processes(count, folder, {"run", "bar.vpart", "--engine", "petsc", "--json", "--no-files"});
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    const Json results = Json::parse(outcome.out);
    const std::int64_t largest = largest_part(results);
    if (count == 1) whole = largest;
    EXPECT_GT(whole, 0);
    EXPECT_LT(static_cast<double>(largest), 1.4 * static_cast<double>(whole) / count) << count;
    for (const Json& process : results["processes"]) EXPECT_GT(process["peak_memory_bytes"].get<std::int64_t>(), 0);
  }
}

TEST(Pieces, RefuseWhatDoesNotFit) {
  const auto folder = fresh_folder("pieces_refusals");
  write_text(folder / "bar.inp", cantilever_deck(4, 1, 1));
  divide(folder, "bar.inp", 3, "bar.vpart");
  const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& words) {
    arguments.insert(arguments.begin(), "run");
    const Outcome outcome = on_processes(2, folder, arguments);
    EXPECT_EQ(outcome.code, code) << outcome.error;
    EXPECT_EQ(occurrences(outcome.error, words), 1u) << words << "\n" << outcome.error;
  };
  refused({"bar.vpart", "--engine", "petsc"}, 1, "divided into 3 parts, and this run has 2 processes");
  refused({"none.vpart", "--engine", "petsc"}, 5, "none.vpart");
  write_text(folder / "text.vpart", "not a divided job");
  refused({"text.vpart", "--engine", "petsc"}, 1, "not a file of parts");
  divide(folder, "bar.inp", 2, "two.vpart");
  std::string bytes = read_text(folder / "two.vpart");
  bytes[bytes.size() - 20] ^= 1;
  write_text(folder / "damaged.vpart", bytes);
  refused({"damaged.vpart", "--engine", "petsc"}, 1, "checksum is wrong");
  refused({"two.vpart", "--engine", "petsc", "--frd"}, 4, "an .frd file cannot be written");
  refused({"two.vpart", "--engine", "petsc", "--point", "A=0,0,0"}, 4, "results at points cannot be written");
  refused({"bar.inp", "--engine", "petsc", "--pieces", "--picture"}, 2, "--picture");
  const Outcome single = alone(folder, {"run", "two.vpart"});
  EXPECT_EQ(single.code, 1);
  EXPECT_TRUE(contains(single.error, "mpirun -n N voussoir run two.vpart --engine petsc")) << single.error;
  const Outcome existing = alone(folder, {"partition", "bar.inp", "--output", "two.vpart"});
  EXPECT_EQ(existing.code, 5);
  EXPECT_TRUE(contains(existing.error, "replace it with --force")) << existing.error;
  EXPECT_EQ(alone(folder, {"run", "bar.inp", "--pieces"}).code, 2);
}

TEST(Pieces, NeedTheSameFileOnAllProcesses) {
  const auto folder = fresh_folder("pieces_files");
  write_text(folder / "bar.inp", cantilever_deck(4, 1, 1));
  divide(folder, "bar.inp", 2, "bar.vpart");
  fs::create_directory(folder / "elsewhere");
  write_text(folder / "start.sh",
             "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 0 ] || cd elsewhere\nexec \"" VSR_TEST_PROGRAM "\" \"$@\"\n");
  fs::permissions(folder / "start.sh", fs::perms::owner_all);
  const auto run = [&] {
    return on_processes(2, folder, {"run", "bar.vpart", "--engine", "petsc"}, {}, (folder / "start.sh").string());
  };
  const Outcome missing = run();
  EXPECT_EQ(missing.code, 5) << missing.error;
  EXPECT_EQ(occurrences(missing.error, "process 1"), 1u) << missing.error;
  write_text(folder / "other.inp", cantilever_deck(5, 1, 1));
  divide(folder, "other.inp", 2, "elsewhere/bar.vpart");
  const Outcome other = run();
  EXPECT_EQ(other.code, 1) << other.error;
  EXPECT_EQ(occurrences(other.error, "processes see different files"), 1u) << other.error;
}

TEST(Engine, TellsOfBadOptionsOnce) {
  const auto folder = fresh_folder("engine_bad_options");
  write_text(folder / "bar.inp", cantilever_deck(3, 1, 1));
  const auto told_once = [&](std::vector<std::string> more, int code, const std::string& words) {
    std::vector<std::string> arguments{"run", "bar.inp", "--engine", "petsc", "--no-files"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = on_processes(3, folder, arguments);
    EXPECT_EQ(outcome.code, code) << outcome.error;
    EXPECT_EQ(occurrences(outcome.error, words), 1u) << outcome.error;
  };
  told_once({"--petsc", "-ksp_type nonsense"}, 4, "PETSc failed");
  told_once({"--resume"}, 0, "no step that is solved in increments");
}

TEST(Engine, TellsOfCopiesWithoutIt) {
  const auto folder = fresh_folder("engine_copies");
  write_text(folder / "bar.inp", cantilever_deck(2, 1, 1));
  const Outcome outcome = on_processes(2, folder, {"run", "bar.inp", "--no-files"}, {"TERM=xterm"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(occurrences(outcome.error, "without --engine"), 1u) << outcome.error;
  EXPECT_FALSE(contains(outcome.out + outcome.error, "\x1b")) << "colours in what mpirun passes on";
}

TEST(Engine, TellsOfNodesWithoutElements) {
  const auto folder = fresh_folder("engine_unused");
  std::string deck = cantilever_deck(3, 1, 1);
  deck.insert(deck.find("*ELEMENT"), "900, 5., 5., 5.\n901, 6., 5., 5.\n");
  write_text(folder / "bar.inp", deck);
  const Outcome outcome = on_processes(2, folder, {"run", "bar.inp", "--engine", "petsc", "--no-files"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(occurrences(outcome.error, "2 nodes are used by no element"), 1u) << outcome.error;
}

TEST(Engine, SolvesSteadyHeatWithAVaryingDensity) {
  const auto folder = fresh_folder("engine_density");
  std::string deck = cantilever_deck(4, 1, 1);
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(deck.find(from), std::string::npos) << from;
    deck.replace(deck.find(from), from.size(), to);
  };
  replace("TYPE=C3D8", "TYPE=DC3D8");
  replace("*ELASTIC\n210000., 0.3\n", "*CONDUCTIVITY\n50.\n*DENSITY\n7.8, 0.\n7.5, 100.\n*SPECIFIC HEAT\n5.\n");
  replace("*BOUNDARY\nCLAMP, 1, 3\n", "");
  replace("*STATIC\n*CLOAD\nTIP, 1, 1\n",
          "*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nCLAMP, 11, 11, 20.\n*CFLUX\nTIP, 11, 3.\n");
  replace("*NODE PRINT, NSET=TIP\nU\n", "");
  write_text(folder / "rod.inp", deck);
  const Outcome outcome = on_processes(2, folder, {"run", "rod.inp", "--engine", "petsc", "--json", "--no-files"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  // q L / k A = 4 nodes · 3 · 4 / (50 · 1)
  EXPECT_NEAR(Json::parse(outcome.out)["steps"][0]["extremes"]["temperature"]["max"]["value"].get<double>(),
              20 + 12.0 * 4 / 50, 1e-9);
  replace("50.\n", "50., 0.\n60., 100.\n");
  write_text(folder / "rod.inp", deck);
  const Outcome curved = on_processes(2, folder, {"run", "rod.inp", "--engine", "petsc", "--json", "--no-files"});
  ASSERT_EQ(curved.code, 0) << curved.error;
  // 50 (T − 20) + 0.05 (T² − 20²) = 48
  EXPECT_NEAR(Json::parse(curved.out)["steps"][0]["extremes"]["temperature"]["max"]["value"].get<double>(),
              (std::sqrt(2500 + 0.2 * 1068) - 50) / 0.1, 1e-6);
}

// An iteration that does not end by itself.
TEST(Engine, SaysThatItWasStopped) {
  const auto folder = fresh_folder("engine_stopped");
  write_text(folder / "bar.inp", cantilever_deck(30, 8, 8));
  RunSettings settings;
  settings.program = VSR_TEST_MPIRUN;
  settings.folder = folder;
  settings.limit_seconds = 240;
  settings.environment = {"OMP_NUM_THREADS=1"};
  settings.signal = SIGINT;
  settings.after = 6;
  std::vector<std::string> words{"--oversubscribe",
                                 "-n",
                                 "2",
                                 VSR_TEST_PROGRAM,
                                 "run",
                                 "bar.inp",
                                 "--engine",
                                 "petsc:gamg",
                                 "--no-files",
                                 "--petsc",
                                 "-ksp_type richardson -ksp_richardson_scale 1e-30 -pc_type none",
                                 "--max-iterations",
                                 "100000000"};
  if (geteuid() == 0) words.insert(words.begin(), "--allow-run-as-root");
  const Outcome outcome = run_program(words, settings);
  EXPECT_NE(outcome.code, 0);
  EXPECT_EQ(occurrences(outcome.error, "bar.inp: stopped during step 1"), 1u) << outcome.error << outcome.out;
}

TEST(ProcessStudy, MeasuresStrongScaling) {
  const auto folder = fresh_folder("process_study");
  write_text(folder / "bar.inp", cantilever_deck(12, 4, 4));
  const std::vector<std::string> study{"study",      "bar.inp", "--mpi",       "--processes", "1,2",
                                       "--csv",      "s.csv",   "--plot",      "s.svg",       "--engine",
                                       "petsc:gamg", "--json",  "--tolerance", "1e-10"};
  const Outcome outcome = alone(folder, study);
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const Json document = Json::parse(outcome.out);
  ASSERT_EQ(document["rows"].size(), 2u);
  EXPECT_EQ(document["scaling"], "strong");
  for (const Json& row : document["rows"]) {
    EXPECT_EQ(row["elements"], 12 * 4 * 4);
    EXPECT_EQ(row["unknowns"], 3 * 13 * 5 * 5);
    EXPECT_GT(row["iterations"].get<int>(), 1);
    EXPECT_GT(row["solution_seconds"].get<double>(), 0);
    EXPECT_GT(row["run_seconds"].get<double>(), row["solution_seconds"].get<double>());
  }
  EXPECT_EQ(document["rows"][0]["speed_up"], 1.0);
  EXPECT_LT(document["rows"][1]["part_bytes"].get<double>(), 0.75 * document["rows"][0]["part_bytes"].get<double>());
  EXPECT_EQ(occurrences(read_text(folder / "s.csv"), "\n"), 3u);
  EXPECT_TRUE(contains(read_text(folder / "s.svg"), "Strong scaling, bar.inp"));
  EXPECT_EQ(alone(folder, study).code, 5) << "the files exist";
}

TEST(ProcessStudy, MeasuresWeakScaling) {
  const auto folder = fresh_folder("process_study_weak");
  const Outcome outcome = alone(folder, {"study", "--mpi", "--weak", "4", "--processes", "1,2", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const Json document = Json::parse(outcome.out);
  EXPECT_EQ(document["scaling"], "weak");
  EXPECT_EQ(document["rows"][0]["elements"], 64);
  EXPECT_EQ(document["rows"][1]["elements"], 128);
  EXPECT_DOUBLE_EQ(document["rows"][1]["efficiency"].get<double>() * 2, document["rows"][1]["speed_up"].get<double>());
  EXPECT_TRUE(files_in(folder).empty());
}

TEST(ProcessStudy, PrintsCommandsAndRefusesWhatIsWrong) {
  const auto folder = fresh_folder("process_study_wrong");
  write_text(folder / "bar.inp", cantilever_deck(2, 1, 1));
  RunSettings threads;
  threads.folder = folder;
  threads.environment = {"OMP_NUM_THREADS=1"};
  const Outcome commands = run_program({"study", "bar.inp", "--mpi", "--processes", "1,16", "--commands", "--mpirun",
                                        "srun --mpi=pmix", "--petsc", "-ksp_view"},
                                       threads);
  EXPECT_EQ(commands.code, 0) << commands.error;
  EXPECT_TRUE(contains(commands.out, "srun --mpi=pmix -n 16 ")) << commands.out;
  EXPECT_EQ(occurrences(commands.out, "run bar.inp --engine petsc"), 2u) << commands.out;
  EXPECT_EQ(occurrences(commands.out, "OMP_NUM_THREADS=1 "), 2u) << commands.out;
  threads.environment = {"OMP_NUM_THREADS=3"};
  const Outcome three = run_program({"study", "bar.inp", "--mpi", "--processes", "2", "--commands"}, threads);
  EXPECT_EQ(occurrences(three.out, "OMP_NUM_THREADS=3 "), 1u) << three.out;
  const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& words) {
    arguments.insert(arguments.begin(), "study");
    const Outcome outcome = alone(folder, arguments);
    EXPECT_EQ(outcome.code, code) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, words)) << outcome.error;
  };
  refused({"bar.inp", "--mpi", "--mpirun", "no-such-launcher"}, 4, "'no-such-launcher' cannot be started");
  refused({"bar.inp", "--mpi", "--engine", "petsk", "--processes", "1"}, 4, "libvoussoir_petsk.so was not found");
  refused({"bar.inp", "--mpi", "--processes", "1,0"}, 2, "'1,0' is not a list of numbers");
  refused({"bar.inp", "--mpi", "--weak", "3"}, 2, "leave FILE out");
  refused({"bar.inp", "--mpi", "--parts", "3"}, 2, "no effect with --mpi");
  refused({"--mpi"}, 2, "FILE is required");
  refused({}, 2, "FILE is required");
  refused({"bar.inp", "--processes", "2"}, 2, "--mpi");
  refused({"none.inp", "--mpi"}, 5, "there is no such file");
}

}  // namespace
}  // namespace voussoir::testing
