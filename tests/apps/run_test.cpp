// `voussoir run` as a user and as a script meet it.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

using Json = nlohmann::json;

RunSettings in(const std::filesystem::path& folder) {
  RunSettings settings;
  settings.folder = folder;
  return settings;
}

TEST(Run, SolvesADeckPrintsATableAndWritesFiles) {
  const auto folder = fresh_folder("run");
  write_text(folder / "bar.inp", cantilever_deck(10, 1, 1, {25.0, 50.0}));
  const Outcome run = run_program({"run", "bar.inp", "--threads", "1"}, in(folder));
  ASSERT_EQ(run.code, 0) << run.error;
  // Four nodes of 25 N each pull a bar of area 1: u = F l / (E A) = 100 · 10 / 210000 = 4.762e-3, and a little less for
  // the clamped end that cannot contract.
  EXPECT_TRUE(contains(run.out, "displacement")) << run.out;
  EXPECT_TRUE(contains(run.out, "100")) << run.out;
  EXPECT_TRUE(contains(run.out, "-200")) << "the reactions of the second step: " << run.out;
  EXPECT_TRUE(contains(run.out, "44 nodes, 10 elements (solid.hex8.full), 2 steps")) << run.out;
  EXPECT_TRUE(contains(run.out, "openmp: 1 thread")) << run.out;
  for (const char* name : {"bar.pvd", "bar.results.json", "bar.dat", "bar_step1.vtu", "bar_step2.vtu"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
    EXPECT_TRUE(contains(run.out, name)) << name;
  }
  const Json results = Json::parse(read_text(folder / "bar.results.json"));
  const double moved = results["steps"][0]["extremes"]["ux"]["max"]["value"];
  EXPECT_NEAR(moved, 4.762e-3, 0.02 * 4.762e-3);
  EXPECT_TRUE(run.error.empty()) << "a pipe shows no progress: " << run.error;
}

TEST(Run, JsonIsTheDocumentAndNothingElse) {
  const auto folder = fresh_folder("run_json");
  write_text(folder / "bar.inp", cantilever_deck(4, 1, 1));
  const Outcome run = run_program({"run", "bar.inp", "--json"}, in(folder));
  ASSERT_EQ(run.code, 0) << run.error;
  const Json printed = Json::parse(run.out);
  EXPECT_EQ(printed["status"], "finished");
  EXPECT_EQ(printed, Json::parse(read_text(folder / "bar.results.json")));
  // Several files are a list, in which what failed has its place.
  const Outcome both = run_program({"run", "bar.inp", "missing.inp", "--json", "--force"}, in(folder));
  EXPECT_EQ(both.code, 5);
  const Json list = Json::parse(both.out);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["status"], "finished");
  EXPECT_EQ(list[1]["status"], "failed");
  EXPECT_TRUE(contains(both.error, "missing.inp"));
}

TEST(Run, QuietIsQuiet) {
  const auto folder = fresh_folder("run_quiet");
  write_text(folder / "bar.inp", cantilever_deck(4, 1, 1));
  const Outcome run = run_program({"run", "bar.inp", "--quiet"}, in(folder));
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(run.out.empty()) << run.out;
  EXPECT_TRUE(run.error.empty()) << run.error;
  const Outcome wrong = run_program({"run", "none.inp", "--quiet"}, in(folder));
  EXPECT_EQ(wrong.code, 5);
  EXPECT_TRUE(contains(wrong.error, "none.inp")) << "errors are still told";
}

TEST(Run, VerboseTellsRoutesChoicesAndResiduals) {
  const auto folder = fresh_folder("run_verbose");
  write_text(folder / "bar.inp", cantilever_deck(6, 2, 2));
  const Outcome run = run_program({"run", "bar.inp", "--verbose", "--no-files"}, in(folder));
  ASSERT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(contains(run.out, "route native")) << run.out;
  EXPECT_TRUE(contains(run.out, "direct, since")) << "why it was chosen: " << run.out;
  EXPECT_EQ(files_in(folder), (std::vector<std::string>{"bar.inp"})) << "--no-files writes none";
  const Outcome cg = run_program({"run", "bar.inp", "--verbose", "--no-files", "--solver", "cg+jacobi"}, in(folder));
  ASSERT_EQ(cg.code, 0) << cg.error;
  EXPECT_TRUE(contains(cg.out, "iteration")) << cg.out;
}

TEST(Run, ExistingResultsAreKeptUnlessForced) {
  const auto folder = fresh_folder("run_force");
  write_text(folder / "bar.inp", cantilever_deck(4, 1, 1));
  ASSERT_EQ(run_program({"run", "bar.inp", "--output", "new/results"}, in(folder)).code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "new/results/bar.vtu")) << "the folder is made";
  write_text(folder / "new/results/bar.vtu", "precious");
  const Outcome again = run_program({"run", "bar.inp", "--output", "new/results"}, in(folder));
  EXPECT_EQ(again.code, 5);
  EXPECT_TRUE(contains(again.error, "--force")) << again.error;
  EXPECT_EQ(read_text(folder / "new/results/bar.vtu"), "precious");
  EXPECT_EQ(run_program({"run", "bar.inp", "--output", "new/results", "--force"}, in(folder)).code, 0);
  EXPECT_NE(read_text(folder / "new/results/bar.vtu"), "precious");
}

TEST(Run, ChoosesWhatIsWritten) {
  const auto folder = fresh_folder("run_some");
  write_text(folder / "bar.inp", cantilever_deck(4, 1, 1));
  ASSERT_EQ(run_program({"run", "bar.inp", "--no-vtu", "--no-tables"}, in(folder)).code, 0);
  EXPECT_EQ(files_in(folder), (std::vector<std::string>{"bar.inp", "bar.results.json"}));
}

TEST(Run, OneFailingFileDoesNotStopTheOthers) {
  const auto folder = fresh_folder("run_many");
  write_text(folder / "good.inp", cantilever_deck(4, 1, 1));
  write_text(folder / "bad.inp", "*HEADING\nwrong\n*NODEE\n1, 0, 0, 0\n");
  const Outcome run = run_program({"run", "bad.inp", "good.inp"}, in(folder));
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(contains(run.error, "bad.inp:3")) << run.error;
  EXPECT_TRUE(std::filesystem::exists(folder / "good.vtu"));
  const Outcome twice = run_program({"run", "good.inp", "sub/good.inp"}, in(folder));
  EXPECT_EQ(twice.code, 2) << "their results would have the same names";
  EXPECT_TRUE(contains(twice.error, "--output")) << twice.error;
}

TEST(Run, EveryKindOfFailureHasItsExitCode) {
  const auto folder = fresh_folder("run_codes");
  const std::string deck = cantilever_deck(4, 1, 1);
  write_text(folder / "bar.inp", deck);
  // 1: the model.
  std::string no_section = deck;
  no_section.erase(no_section.find("*SOLID SECTION"), no_section.find("*BOUNDARY") - no_section.find("*SOLID SECTION"));
  write_text(folder / "section.inp", no_section);
  EXPECT_EQ(run_program({"run", "section.inp"}, in(folder)).code, 1);
  write_text(folder / "nosteps.inp", deck.substr(0, deck.find("*STEP")));
  const Outcome nosteps = run_program({"run", "nosteps.inp"}, in(folder));
  EXPECT_EQ(nosteps.code, 1);
  EXPECT_TRUE(contains(nosteps.error, "*STEP")) << nosteps.error;
  write_text(folder / "mesh.msh", "$MeshFormat\n");
  const Outcome mesh = run_program({"run", "mesh.msh"}, in(folder));
  EXPECT_EQ(mesh.code, 1);
  EXPECT_TRUE(contains(mesh.error, "job file") && contains(mesh.error, "\"mesh\": \"mesh.msh\"")) << mesh.error;
  write_text(folder / "model.step", "ISO-10303-21;\n");
  const Outcome other = run_program({"run", "model.step"}, in(folder));
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(contains(other.error, ".inp")) << other.error;
  // 2: the command line.
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"run"},
                                             {"run", "bar.inp", "--threads", "0"},
                                             {"run", "bar.inp", "--tolerance", "much"},
                                             {"run", "bar.inp", "--solver", "cg+magic"},
                                             {"run", "bar.inp", "--solver", "cg+amg:stepz=3"},
                                             {"run", "bar.inp", "--storage", "bsrr"},
                                             {"run", "bar.inp", "--dialect", "nastran"},
                                             {"run", "bar.inp", "--quiet", "--verbose"},
                                             {"run", "bar.inp", "--backend", "openmp:2", "--threads", "3"}}) {
    const Outcome outcome = run_program(wrong, in(folder));
    EXPECT_EQ(outcome.code, 2) << wrong.back();
    EXPECT_TRUE(contains(outcome.error, "voussoir run --help")) << outcome.error;
  }
  // 3: no solution.
  std::string loose = deck;
  loose.replace(loose.find("CLAMP, 1, 3"), 11, "CLAMP, 1, 1");
  write_text(folder / "loose.inp", loose);
  const Outcome singular = run_program({"run", "loose.inp"}, in(folder));
  EXPECT_EQ(singular.code, 3);
  EXPECT_TRUE(contains(singular.error, "can rotate about")) << singular.error;
  const Outcome slow = run_program({"run", "bar.inp", "--solver", "cg+jacobi", "--max-iterations", "2"}, in(folder));
  EXPECT_EQ(slow.code, 3);
  EXPECT_TRUE(contains(slow.error, "did not converge")) << slow.error;
  // 4: the machine lacks something; a GPU that is not among those it has is an argument at fault.
  const bool has_gpu = contains(run_program({"info"}, in(folder)).out, "compute capability");
  const Outcome device = run_program({"run", "bar.inp", "--backend", "cuda:99"}, in(folder));
  EXPECT_EQ(device.code, has_gpu ? 1 : 4) << device.error;
  // What cannot be had is known before a deck is read.
  write_text(folder / "unread.inp", "*NONSENSE\n");
  const Outcome unread = run_program({"run", "unread.inp", "--backend", "cuda:99"}, in(folder));
  EXPECT_EQ(unread.code, device.code) << unread.error;
  EXPECT_FALSE(contains(unread.error, "NONSENSE")) << unread.error;
  // 5: files.
  EXPECT_EQ(run_program({"run", "none.inp"}, in(folder)).code, 5);
  std::filesystem::create_directory(folder / "folder.inp");
  EXPECT_EQ(run_program({"run", "folder.inp"}, in(folder)).code, 5);
  write_text(folder / "blocked", "a file, not a folder");
  EXPECT_EQ(run_program({"run", "bar.inp", "--output", "blocked"}, in(folder)).code, 5);
  // Failures leave nothing behind that was not there.
  for (const std::string& name : files_in(folder)) {
    EXPECT_FALSE(contains(name, ".vtu")) << name;
    EXPECT_FALSE(contains(name, "results")) << name;
  }
}

TEST(Run, FinishedStepsAreKeptWhenALaterOneFails) {
  const auto folder = fresh_folder("run_kept");
  // The second step lets go of the clamp.
  std::string deck = cantilever_deck(4, 1, 1, {1.0, 2.0});
  const auto second = deck.rfind("*CLOAD");
  deck.insert(second, "*BOUNDARY, OP=NEW\nCLAMP, 1, 1\n");
  write_text(folder / "bar.inp", deck);
  const Outcome run = run_program({"run", "bar.inp"}, in(folder));
  EXPECT_EQ(run.code, 3) << run.error;
  EXPECT_TRUE(contains(run.error, "1 of 2 steps finished")) << run.error;
  EXPECT_TRUE(contains(run.error, "bar_step1.vtu")) << run.error;
  EXPECT_TRUE(std::filesystem::exists(folder / "bar_step1.vtu"));
  EXPECT_EQ(Json::parse(read_text(folder / "bar.results.json"))["status"], "failed");
}

}  // namespace
}  // namespace voussoir::testing
