// Libraries of users on the command line, and what `voussoir partition` and `voussoir info` make of them.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include <voussoir/partition/process/part_file.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

const std::string library =
    std::filesystem::weakly_canonical(VSR_TEST_PLUGIN_DIR "/libwrite_a_solver_library.so").string();

struct InFolder : public ::testing::Test {
  RunSettings settings;
  void SetUp() override {
    settings.folder = fresh_folder("load");
    write_text(settings.folder / "beam.inp", cantilever_deck(8, 2, 2));
  }
  Outcome run(const std::vector<std::string>& arguments) const { return run_program(arguments, settings); }
};

TEST_F(InFolder, ALibraryAddsSolversThatRunUses) {
  // Before and behind the options that use it.
  for (const std::string solver : {"descent+amg", "cg+neumann:5"}) {
    std::vector<std::string> arguments{"run", "beam.inp", "--solver", solver, "--no-files", "--json"};
    arguments.insert(solver == "descent+amg" ? arguments.begin() + 1 : arguments.end(), {"--load", library});
    const Outcome outcome = run(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["steps"][0]["solver"]["name"], solver + " on bsr") << json["steps"][0].dump(2);
  }
  const Outcome without = run({"run", "beam.inp", "--solver", "descent+amg", "--no-files"});
  EXPECT_EQ(without.code, 2);
  EXPECT_TRUE(contains(without.error, "there is no solver of this name")) << without.error;
  const Outcome wrong = run({"run", "beam.inp", "--load", library, "--solver", "cg+neumann:many", "--no-files"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.error, "give the number of terms")) << wrong.error;
}

TEST_F(InFolder, InfoListsWhereEverythingComesFrom) {
  const Outcome plain = run({"info"});
  for (const char* word : {"preconditioners", "block-jacobi", "partitioners", "inertial", "procedures", "storages"})
    EXPECT_TRUE(contains(plain.out, word)) << word;
  EXPECT_FALSE(contains(plain.out, "neumann"));
  const Outcome loaded = run({"info", "--load", library});
  EXPECT_TRUE(contains(loaded.out, "truncated Neumann series; neumann:N has N terms (" + library + ")")) << loaded.out;
  EXPECT_TRUE(contains(loaded.out, "loaded libraries\n  " + library + "\n    preconditioner 'neumann'")) << loaded.out;
  const auto json = nlohmann::json::parse(run({"info", "--json", "--elements", "--load", library}).out);
  bool found = false;
  for (const auto& entry : json["registered"]["solver"])
    if (entry["name"] == "descent") found = entry["origin"] == library;
  EXPECT_TRUE(found) << json["registered"].dump(2);
  EXPECT_EQ(json["registered"]["storage"][0]["origin"], "built in");
  EXPECT_EQ(json["libraries"][0]["path"], library);
  EXPECT_EQ(json["element_types"][0]["origin"], "built in");
}

TEST_F(InFolder, ALibraryThatCannotBeUsedIsAnErrorOfItsOwn) {
  struct Case {
    std::string file;
    int code;
    std::string text;
  };
  write_text(settings.folder / "text.so", "not a library");
  for (const Case& c : {Case{"missing.so", 5, "missing.so: the library cannot be loaded: No such file"},
                        {"text.so", 4, "not a shared library"},
                        {VSR_TEST_PLUGIN_DIR "/libuser_old.so", 4, "ABI 1"},
                        {VSR_TEST_PLUGIN_DIR "/libuser_clash.so", 1, "preconditioner 'amg' is registered twice"}})
    for (const char* command : {"run", "check", "partition", "bench", "info", "demo"}) {
      std::vector<std::string> arguments{command, "--load", c.file};
      if (command != std::string("bench") && command != std::string("info") && command != std::string("demo"))
        arguments.emplace_back("beam.inp");
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.code, c.code) << command << ": " << outcome.error;
      EXPECT_TRUE(contains(outcome.error, c.text)) << command << ": " << outcome.error;
      EXPECT_TRUE(outcome.out.empty()) << outcome.out;
    }
}

TEST_F(InFolder, PartitionDividesByTheMethodNamed) {
  const auto json = nlohmann::json::parse(
      run({"partition", "beam.inp", "--parts", "4", "--load", library, "--method", "slabs", "--json"}).out);
  EXPECT_EQ(json["method"], "slabs");
  EXPECT_EQ(json["interface_nodes"], 27) << "three planes of 3 x 3 nodes";
  ASSERT_EQ(json["parts"].size(), 4u);
  for (const auto& part : json["parts"]) EXPECT_EQ(part["elements"], 8);
  EXPECT_EQ(json["parts"][1]["neighbours"], (std::vector<int>{0, 2}));

  const Outcome files = run({"partition", "beam.inp", "--method", "coordinate", "--csv", "p.csv", "--vtu", "p.vtu"});
  ASSERT_EQ(files.code, 0) << files.error;
  EXPECT_TRUE(contains(files.out, "2 parts, balance 1.0000, edge cut 4, 9 interface nodes")) << files.out;
  std::istringstream table(read_text(settings.folder / "p.csv"));
  std::string line;
  int lines = 0, of_part_1 = 0;
  for (; std::getline(table, line); ++lines) of_part_1 += line.ends_with(",1");
  EXPECT_EQ(lines, 33);
  EXPECT_EQ(of_part_1, 16);
  EXPECT_TRUE(contains(read_text(settings.folder / "p.vtu"), "Name=\"part\""));
  const Outcome drawn = run({"partition", "beam.inp", "--method", "coordinate", "--picture", "p.png"});
  EXPECT_TRUE(contains(drawn.out, "Wrote p.png")) << drawn.out << drawn.error;
  EXPECT_EQ(read_text(settings.folder / "p.png").substr(1, 3), "PNG");
  EXPECT_EQ(run({"partition", "beam.inp", "--method", "coordinate", "--picture", "p.png"}).code, 5);
  EXPECT_EQ(run({"partition", "beam.inp", "--parts", "1", "--picture", "p.png", "--force"}).code, 0);
  EXPECT_EQ(run({"partition", "beam.inp", "--method", "coordinate", "--csv", "p.csv"}).code, 5);
  EXPECT_EQ(run({"partition", "beam.inp", "--method", "coordinate", "--csv", "p.csv", "--force"}).code, 0);
  const Outcome wrong = run({"partition", "beam.inp", "--method", "cordinate"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.error, "did you mean 'coordinate'?")) << wrong.error;
  const Outcome many = run({"partition", "beam.inp", "--parts", "33"});
  EXPECT_EQ(many.code, 1);
  EXPECT_TRUE(contains(many.error, "only 32 elements")) << many.error;
}

TEST_F(InFolder, PartitionWritesTheDividedJob) {
  const Outcome outcome = run({"partition", "beam.inp", "--parts", "3", "--output", "beam.vpart"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "Wrote beam.vpart")) << outcome.out;
  const PartFile file(settings.folder / "beam.vpart");
  ASSERT_EQ(file.parts(), 3);
  std::int64_t elements = 0;
  for (int p = 0; p < 3; ++p) {
    const ProcessPart part = file.read(p);
    elements += part.job.domains[0]->element_count();
    EXPECT_FALSE(part.job.steps.empty());
  }
  EXPECT_EQ(elements, 32);
  EXPECT_EQ(run({"partition", "beam.inp", "--parts", "3", "--output", "beam.vpart"}).code, 5);
  EXPECT_EQ(run({"partition", "beam.inp", "--output", "beam.inp"}).code, 5);
  const Outcome unnamed = run({"partition", "beam.inp", "--output", "beam.hdf", "--csv", "beam.csv"});
  EXPECT_EQ(unnamed.code, 1);
  EXPECT_TRUE(contains(unnamed.error, "'beam.hdf': ") && contains(unnamed.error, "must end in .vpart, .h5 or .hdf5"))
      << unnamed.error;
  EXPECT_FALSE(std::filesystem::exists(settings.folder / "beam.hdf") ||
               std::filesystem::exists(settings.folder / "beam.csv"));
  // Without supports, no part of it could be solved, and no part alone would show it.
  std::string loose = cantilever_deck(8, 2, 2);
  const std::size_t at = loose.find("*BOUNDARY");
  ASSERT_NE(at, std::string::npos);
  loose.erase(at, loose.find("\n*", at) + 1 - at);
  write_text(settings.folder / "loose.inp", loose);
  const Outcome refused = run({"partition", "loose.inp", "--output", "loose.vpart"});
  EXPECT_EQ(refused.code, 1) << refused.error;
  EXPECT_FALSE(std::filesystem::exists(settings.folder / "loose.vpart"));
}

TEST_F(InFolder, PartitionShowsTheQualityOfEachPart) {
  const Outcome table = run({"partition", "beam.inp", "--method", "coordinate", "--parts", "4"});
  ASSERT_EQ(table.code, 0) << table.error;
  EXPECT_TRUE(contains(table.out,
                       "part elements weight nodes interface neighbours pieces floating corners aspect\n"
                       "   0        8      8    27         9          1      1        0       0   1.00\n"
                       "   1        8      8    27        18          2      1        1       0   1.00\n"))
      << table.out;
  EXPECT_TRUE(contains(table.out, "parts 1-3 float: no support holds them\n")) << table.out;
  EXPECT_TRUE(contains(table.out, "parts 1-3 float with fewer than 3 corners")) << table.out;
  const auto json =
      nlohmann::json::parse(run({"partition", "beam.inp", "--method", "coordinate", "--parts", "4", "--json"}).out);
  EXPECT_EQ(json["parts"][1]["corners"], 0);
  EXPECT_EQ(json["parts"][1]["weight"], 8);
  EXPECT_EQ(json["parts"][0]["floating_pieces"], 0);
  EXPECT_EQ(json["parts"][1]["floating_pieces"], 1);
  EXPECT_EQ(json["findings"].size(), 2u);
  // Of a mesh alone nobody knows what will hold it.
  const std::string deck = read_text(settings.folder / "beam.inp");
  write_text(settings.folder / "mesh.inp", deck.substr(0, deck.find("*NSET, NSET=CLAMP")));
  const auto mesh = nlohmann::json::parse(run({"partition", "mesh.inp", "--method", "coordinate", "--json"}).out);
  for (const auto& part : mesh["parts"]) EXPECT_TRUE(part["floating_pieces"].is_null()) << part.dump();
  EXPECT_EQ(mesh["parts"].size(), 2u);
  EXPECT_TRUE(mesh["findings"].empty()) << mesh["findings"].dump();
  const Outcome wrong = run({"partition", "beam.inp", "--method", "metis:graph=faces"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.error, "there is no graph 'faces'; there are dual (the default) and nodes"))
      << wrong.error;
}

TEST_F(InFolder, PartitionTellsThatDividedJobsWriteNoRestartFile) {
  const auto with = [&](const std::string& name, const std::string& step, const std::string& dialect = "calculix") {
    std::string deck = cantilever_deck(8, 2, 2, {});
    deck.replace(deck.find("*ELASTIC"), 8, "*DENSITY\n7.8e-9\n*ELASTIC");
    write_text(settings.folder / name, deck + step);
    return run({"partition", name, "--output", name + ".vpart", "--dialect", dialect});
  };
  const std::string load = "*CLOAD\nTIP, 3, 1.\n*END STEP\n";
  const Outcome statics = with("statics.inp", "*STEP\n*STATIC\n*RESTART, WRITE\n" + load);
  ASSERT_EQ(statics.code, 0) << statics.error;
  EXPECT_TRUE(contains(statics.error, "statics.inp:")) << statics.error;
  EXPECT_TRUE(contains(statics.error, "write no restart file (*RESTART, WRITE); run the deck on one process"))
      << statics.error;
  EXPECT_FALSE(contains(statics.error, "heckpoints")) << statics.error;

  // In Abaqus, FREQUENCY counts increments, and the ends of all steps are written.
  const Outcome dynamics =
      with("dynamics.inp", "*STEP\n*DYNAMIC, DIRECT\n1e-5, 1e-4\n*RESTART, WRITE, FREQUENCY=5\n" + load, "abaqus");
  ASSERT_EQ(dynamics.code, 0) << dynamics.error;
  EXPECT_TRUE(contains(dynamics.error, "write no restart file")) << dynamics.error;
  EXPECT_TRUE(contains(dynamics.error, "write checkpoints after every 5 increments instead")) << dynamics.error;
  EXPECT_TRUE(contains(dynamics.error, "--checkpoint-steps")) << dynamics.error;
  // That is so: each part has the request.
  const PartFile file(settings.folder / "dynamics.inp.vpart");
  for (int p = 0; p < 2; ++p) EXPECT_EQ(file.read(p).job.checkpoints.every_increments, 5);

  const Outcome each = with("each.inp", "*STEP\n*DYNAMIC, DIRECT\n1e-5, 1e-4\n*RESTART, WRITE\n" + load);
  EXPECT_TRUE(contains(each.error, "write checkpoints after every increment instead")) << each.error;
  // The fifth step would be written, and there is only one.
  const Outcome fifth = with("fifth.inp", "*STEP\n*DYNAMIC, DIRECT\n1e-5, 1e-4\n*RESTART, WRITE, FREQUENCY=5\n" + load);
  ASSERT_EQ(fifth.code, 0) << fifth.error;
  EXPECT_FALSE(contains(fifth.error, "RESTART")) << fifth.error;
  const Outcome silent = with("silent.inp", "*STEP\n*STATIC\n*RESTART, WRITE, FREQUENCY=0\n" + load);
  ASSERT_EQ(silent.code, 0) << silent.error;
  EXPECT_FALSE(contains(silent.error, "RESTART")) << silent.error;
  // Without --output, nothing is dropped.
  EXPECT_FALSE(contains(run({"partition", "statics.inp"}).error, "RESTART"));
}

}  // namespace
}  // namespace voussoir::testing
