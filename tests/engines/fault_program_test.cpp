// Faults of installations, models and options on several processes: one message, the right exit code, and no hang.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/gmsh/gmsh_writer.hpp>

#include "engines/on_processes.hpp"

namespace voussoir::testing {
namespace {

namespace fs = std::filesystem;

/// The plugin as it is on a machine without PETSc: it needs a library of another name, which nobody has.
void write_plugin_without_petsc(const fs::path& folder) {
  std::string bytes = read_text(fs::path(VSR_TEST_PROGRAM).parent_path() / "libvoussoir_petsc.so");
  const std::string needed = "libpetsc";
  std::size_t changed = 0;
  for (std::size_t at = bytes.find(needed); at != std::string::npos; at = bytes.find(needed, at + 1), ++changed)
    bytes.replace(at, needed.size(), "libabsnt");
  ASSERT_GT(changed, 0u);
  fs::create_directory(folder);
  write_text(folder / "libvoussoir_petsc.so", bytes);
}

TEST(Faults, NoPetsc) {
  const auto folder = fresh_folder("faults_no_petsc");
  write_text(folder / "bar.inp", cantilever_deck(2, 1, 1));
  write_plugin_without_petsc(folder / "plugins");
  const Outcome outcome = on_processes(2, folder, {"run", "bar.inp", "--engine", "petsc"},
                                       {"VOUSSOIR_PLUGIN_PATH=" + (folder / "plugins").string()});
  EXPECT_EQ(outcome.code, 4) << outcome.error;
  EXPECT_EQ(occurrences(outcome.error, "cannot be loaded"), 1u) << outcome.error;
  EXPECT_EQ(occurrences(outcome.error, "libabsnt"), 1u) << outcome.error;
}

TEST(Faults, TypesOfMatricesThatAreNotAssembled) {
  const auto folder = fresh_folder("faults_baij");
  write_text(folder / "bar.inp", cantilever_deck(4, 2, 2));
  const auto refused = [&](const std::string& method, const std::string& type, const std::string& words) {
    const Outcome outcome = on_processes(
        2, folder, {"run", "bar.inp", "--no-files", "--engine", "petsc:" + method, "--petsc", "-mat_type " + type});
    EXPECT_EQ(outcome.code, 1) << outcome.error;
    EXPECT_EQ(occurrences(outcome.error, words), 1u) << outcome.error;
  };
  refused("gamg", "baij", "gamg does not work with matrices of type baij");
  refused("mumps", "baij", "factorisations and natural modes need rows");
  refused("jacobi", "sbaij", "Leave out -mat_type");
  refused("jacobi", "dense", "Leave out -mat_type");
  const Outcome rows =
      on_processes(2, folder, {"run", "bar.inp", "--no-files", "--engine", "petsc:gamg", "--petsc", "-mat_type aij"});
  EXPECT_EQ(rows.code, 0) << rows.error;
}

TEST(Faults, ModelsThatAreTooSmallForBddcAreToldWhatToUse) {
  const auto folder = fresh_folder("faults_bddc");
  for (const int size : {1, 2, 3}) {
    write_text(folder / "bar.inp", cantilever_deck(2 * size, size, 1));
    for (const int count : {2, 4}) {
      const Outcome outcome = on_processes(count, folder, {"run", "bar.inp", "--no-files", "--engine", "petsc:bddc"});
      if (outcome.code == 0) continue;  // large enough
      EXPECT_TRUE(outcome.code == 3 || outcome.code == 4) << outcome.code << outcome.error;
      EXPECT_TRUE(contains(outcome.error, "use --engine petsc:mumps")) << outcome.error;
    }
  }
}

/// Two blocks that have an edge in common: a hinge, of which the second block has no supports.
std::string hinge_deck() {
  return "*NODE, NSET=ALL\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n"
         "9,2,1,0\n10,2,2,0\n11,1,2,0\n12,2,1,1\n13,2,2,1\n14,1,2,1\n"
         "*ELEMENT, TYPE=C3D8, ELSET=E\n1,1,2,3,4,5,6,7,8\n2,3,9,10,11,7,12,13,14\n"
         "*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.3\n*SOLID SECTION, ELSET=E, MATERIAL=M\n"
         "*NSET, NSET=FIX\n1,4,5,8\n*BOUNDARY\nFIX,1,3\n*STEP\n*STATIC\n*CLOAD\n2,2,1.\n*END STEP\n";
}

TEST(Faults, AHingeIsNamedAsOnOneProcess) {
  const auto folder = fresh_folder("faults_hinge");
  write_text(folder / "hinge.inp", hinge_deck());
  RunSettings settings;
  settings.folder = folder;
  const Outcome alone = run_program({"run", "hinge.inp", "--no-files", "--solver", "cg"}, settings);
  ASSERT_EQ(alone.code, 3) << alone.error;
  const std::string words = "under-constrained: ";
  ASSERT_EQ(occurrences(alone.error, words), 1u) << alone.error;
  const std::string motion = alone.error.substr(alone.error.find(words));
  for (const std::string engine : {"petsc:gamg", "petsc:hypre", "petsc:mumps"}) {
    const Outcome outcome = on_processes(2, folder, {"run", "hinge.inp", "--no-files", "--engine", engine});
    EXPECT_EQ(outcome.code, 3) << outcome.error;
    EXPECT_EQ(occurrences(outcome.error, motion.substr(0, motion.find('('))), 1u) << outcome.error << motion;
  }
}

/// One process has a limit on its memory (in kB), and the others have none. A process of a few libraries needs some 150
/// MB of addresses, MPI and PETSc with their threads another 100 MB.
TEST(Faults, OneProcessWithoutMemory) {
  const auto folder = fresh_folder("faults_memory");
  write_text(folder / "bar.inp", cantilever_deck(30, 8, 8));
  write_text(folder / "start.sh",
             "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 1 ] && ulimit -v $LIMIT\nexec \"" VSR_TEST_PROGRAM
             "\" \"$@\"\n");
  fs::permissions(folder / "start.sh", fs::perms::owner_all);
  int messages = 0;
  for (const int limit : {140000, 180000, 220000, 315000, 328000, 345000, 4000000}) {
    SCOPED_TRACE(limit);
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = on_processes(2, folder, {"run", "bar.inp", "--no-files", "--engine", "petsc"},
                                         {"LIMIT=" + std::to_string(limit)}, (folder / "start.sh").string());
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 60);
    if (outcome.code == 0) continue;
    if (outcome.code == 127) continue;  // the program's own libraries do not fit, and the loader says so
    EXPECT_EQ(outcome.code, 4) << outcome.error;
    EXPECT_EQ(occurrences(outcome.error, "voussoir: error:"), 1u) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, "memory")) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, "process 1 of 2")) << outcome.error;
    EXPECT_LT(limit, 4000000) << outcome.error;
    ++messages;
  }
  EXPECT_GT(messages, 0) << "all limits were high enough, or too low";
}

// ---- Meshes in slices

constexpr int length = 8;

void write_sliced_job(const fs::path& folder, const std::string& more) {
  Domain domain;
  const auto node = [](int i, int j, int k) { return Id{1} + i + (length + 1) * (j + 3 * k); };
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i <= length; ++i) domain.add_node(node(i, j, k), i, 0.9 * j, 0.7 * k);
  ElementBlock& block = domain.add_block("beam", "solid.hex8");
  Id id = 0;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < length; ++i)
        block.add(++id, {node(i, j, k), node(i + 1, j, k), node(i + 1, j + 1, k), node(i, j + 1, k), node(i, j, k + 1),
                         node(i + 1, j, k + 1), node(i + 1, j + 1, k + 1), node(i, j + 1, k + 1)});
  domain.add_surface_where("left", [](double x, double, double) { return x < 1e-9; });
  domain.add_surface_where("right", [](double x, double, double) { return x > length - 1e-9; });
  domain.add_surface_where("top", [](double, double, double z) { return z > 1.4 - 1e-9; });
  write_gmsh(domain, folder / "beam.msh", {true});
  write_text(folder / "beam.json",
             "{\"mesh\": \"beam.msh\", \"materials\": {\"m\": {\"young\": 200, \"poisson\": 0.3, \"density\": 1}},\n"
             "\"sections\": [{\"group\": \"beam\", \"physics\": \"solid\", \"material\": \"m\"}],\n" +
                 more +
                 "\"loads\": [{\"group\": \"right\", \"total_force\": [0, 1, 2]}, {\"group\": \"top\", \"pressure\": "
                 "0.1}, {\"gravity\": [0, 0, -0.01]}],\n\"print\": [{\"at\": \"nodes\", \"group\": \"right\", "
                 "\"values\": [\"displacement\"]}]}\n");
}

const std::string clamp = "\"supports\": [{\"group\": \"left\", \"all\": 0}],\n";

TEST(Slices, HaveTheAnswersOfOneProcess) {
  const auto folder = fresh_folder("slices_answers");
  write_sliced_job(folder, clamp);
  RunSettings settings;
  settings.folder = folder;
  const Outcome alone = run_program({"run", "beam.json", "--solver", "direct", "--output", "alone"}, settings);
  ASSERT_EQ(alone.code, 0) << alone.error;
  const Json expected = results_of(folder / "alone" / "beam.results.json");
  for (const int count : {1, 2, 3}) {
    const std::string output = "on" + std::to_string(count);
    const Outcome outcome =
        on_processes(count, folder, {"run", "beam.json", "--engine", "petsc", "--slices", "--output", output});
    ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
    const Json found = results_of(folder / output / "beam.results.json");
    expect_same_steps(expected, found);
    EXPECT_EQ(found["sizes"]["nodes"], expected["sizes"]["nodes"]);
    EXPECT_EQ(found["sizes"]["elements_by_type"], expected["sizes"]["elements_by_type"]);
    EXPECT_TRUE(fs::exists(folder / output / ("beam_p000" + std::to_string(count - 1) + ".vtu")));
  }
  const Outcome iterated =
      on_processes(2, folder, {"run", "beam.json", "--engine", "petsc:gamg", "--slices", "--no-files"});
  EXPECT_EQ(iterated.code, 0) << iterated.error;
  EXPECT_EQ(occurrences(iterated.error, "whole model; the method mumps of the engine detects them"), 1u)
      << iterated.error;
}

/// The results of a run in slices by a partitioner; null where the engine was built without PT-Scotch. Not with MUMPS
/// or GAMG, which add messages in the order in which they arrive.
Json cut_by(const std::string& cut, int count, const fs::path& folder, const std::string& output, std::string& out) {
  const Outcome outcome = on_processes(count, folder,
                                       {"run", "beam.json", "--engine", "petsc:jacobi", "--tolerance", "1e-13",
                                        "--slices", "--cut", cut, "-v", "--output", output});
  if (contains(outcome.error, "has no PT-Scotch")) {
    EXPECT_EQ(outcome.code, 4);
    return nullptr;
  }
  EXPECT_EQ(outcome.code, 0) << outcome.error << outcome.out;
  out = outcome.out;
  return outcome.code == 0 ? results_of(folder / output / "beam.results.json") : Json();
}

TEST(Slices, AreCutByPtScotch) {
  const auto folder = fresh_folder("slices_cut");
  write_sliced_job(folder, clamp);
  RunSettings settings;
  settings.folder = folder;
  const Outcome alone = run_program({"run", "beam.json", "--solver", "direct", "--output", "alone"}, settings);
  ASSERT_EQ(alone.code, 0) << alone.error;
  const Json expected = results_of(folder / "alone" / "beam.results.json");
  for (const int count : {2, 3, 4}) {
    SCOPED_TRACE(count);
    std::string out, again_out;
    const std::string name = std::to_string(count);
    const Json found = cut_by("ptscotch", count, folder, "on" + name, out);
    if (found.is_null()) GTEST_SKIP() << "the engine was built without PT-Scotch";
    expect_same_steps(expected, found);
    EXPECT_TRUE(contains(out, "cut by ptscotch")) << out;
    for (int p = 0; p < count; ++p) {
      const std::string part = "part     " + std::to_string(p) + ": ";
      EXPECT_EQ(occurrences(out, part), 1u) << out;
      EXPECT_FALSE(contains(out, part + "0 elements")) << out;
    }
    // The same bits on each run.
    const Json again = cut_by("ptscotch", count, folder, "again" + name, again_out);
    EXPECT_EQ(again["steps"][0]["extremes"], found["steps"][0]["extremes"]);
    for (int p = 0; p < count; ++p) {
      const std::string file = "beam_p000" + std::to_string(p) + ".vtu";
      EXPECT_TRUE(read_text(folder / ("on" + name) / file) == read_text(folder / ("again" + name) / file)) << file;
    }
  }
}

TEST(Slices, CutsThatDoNotExistAreRefused) {
  const auto folder = fresh_folder("slices_wrong_cut");
  write_sliced_job(folder, clamp);
  const auto refused = [&](std::vector<std::string> more, const std::string& words) {
    std::vector<std::string> arguments{"run", "beam.json", "--engine", "petsc", "--no-files", "--cut"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = on_processes(2, folder, arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.error;
    EXPECT_EQ(occurrences(outcome.error, words), 1u) << outcome.error;
  };
  refused({"metis", "--slices"}, "there are auto, ptscotch and coordinate");
  refused({"ptscotch"}, "add --slices");
  refused({"ptscoch"}, "ptscoch");
  const Outcome rcb = on_processes(2, folder, {"run", "beam.json", "--engine", "petsc", "--no-files", "--cut", "rcb"});
  EXPECT_EQ(rcb.code, 0) << rcb.error;
}

TEST(Slices, OfAFreeModelAreRefused) {
  const auto folder = fresh_folder("slices_free");
  write_sliced_job(folder, "\"supports\": [{\"group\": \"left\", \"ux\": 0, \"uz\": 0}],\n");
  for (const std::string method : {"gamg", "mumps"}) {
    const Outcome outcome =
        on_processes(2, folder, {"run", "beam.json", "--engine", "petsc:" + method, "--slices", "--no-files"});
    EXPECT_EQ(outcome.code, 3) << outcome.error << outcome.out;
    EXPECT_EQ(occurrences(outcome.error, "error:"), 1u) << outcome.error;
    if (method == "gamg") {
      EXPECT_EQ(occurrences(outcome.error, "it moves along y"), 1u) << outcome.error;
    }
  }
}

TEST(Slices, NeedTheMeshOnAllProcesses) {
  const auto folder = fresh_folder("slices_elsewhere");
  write_sliced_job(folder, clamp);
  fs::create_directory(folder / "elsewhere");
  write_text(folder / "start.sh",
             "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 0 ] || cd elsewhere\nexec \"" VSR_TEST_PROGRAM "\" \"$@\"\n");
  fs::permissions(folder / "start.sh", fs::perms::owner_all);
  const std::vector<std::string> arguments{"run", "beam.json", "--engine", "petsc", "--slices", "--no-files"};
  const Outcome missing = on_processes(3, folder, arguments, {}, (folder / "start.sh").string());
  EXPECT_EQ(missing.code, 5) << missing.error;
  EXPECT_EQ(occurrences(missing.error, "process 1 of 3: the file cannot be opened"), 1u) << missing.error;
  const Outcome deck = on_processes(2, folder, {"run", "beam.inp", "--engine", "petsc", "--slices"});
  EXPECT_EQ(deck.code, 2) << deck.error;
  EXPECT_EQ(occurrences(deck.error, "is for job files"), 1u) << deck.error;
}

}  // namespace
}  // namespace voussoir::testing
