// `voussoir check`: reports, exit codes, and a document for scripts.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

using Json = nlohmann::json;

struct CheckProgram : ::testing::Test {
  std::filesystem::path folder = fresh_folder("check");
  RunSettings settings;
  CheckProgram() { settings.folder = folder; }
  Outcome check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    return run_program(arguments, settings);
  }
};

TEST_F(CheckProgram, ReportsASoundModel) {
  write_text(folder / "bar.inp", cantilever_deck(4, 2, 2));
  const Outcome report = check({"bar.inp"});
  EXPECT_EQ(report.code, 0) << report.error;
  for (const char* word :
       {"45", "16 solid.hex8.full", "STEEL", "CLAMP (9)", "worst scaled Jacobian 1 ", "worst aspect ratio 1 ",
        "everything hangs together", "cg+block-jacobi", "matrix-free", "direct", "step 1", "108 unknowns free, 27 held",
        "nothing to complain about", "next: voussoir run bar.inp"})
    EXPECT_TRUE(contains(report.out, word)) << word << "\n" << report.out;
  EXPECT_TRUE(report.error.empty());
  EXPECT_EQ(files_in(folder), (std::vector<std::string>{"bar.inp"})) << "nothing is written";
}

TEST_F(CheckProgram, NamesWhatKeepsAModelFromRunning) {
  std::string deck = cantilever_deck(4, 2, 2);
  deck.replace(deck.find("CLAMP, 1, 3"), 11, "CLAMP, 1, 1");
  // Element 1 upside down.
  const auto element = deck.find("\n1, 1, 2, 7, 6, 16, 17, 22, 21\n");
  ASSERT_NE(element, std::string::npos);
  deck.replace(element, 31, "\n1, 16, 17, 22, 21, 1, 2, 7, 6\n");
  write_text(folder / "bad.inp", deck);
  const Outcome report = check({"bad.inp"});
  EXPECT_EQ(report.code, 1);
  EXPECT_TRUE(contains(report.out, "inside out, or without volume: element 1.")) << report.out;
  EXPECT_TRUE(contains(report.out, "nothing holds it")) << report.out;
  EXPECT_FALSE(contains(report.out, "next: voussoir run"));

  const Outcome quiet = check({"bad.inp", "--quiet"});
  EXPECT_EQ(quiet.code, 1);
  EXPECT_TRUE(quiet.out.empty());
  EXPECT_TRUE(contains(quiet.error, "inside out")) << quiet.error;

  const Outcome document = check({"bad.inp", "--json"});
  EXPECT_EQ(document.code, 1);
  const Json json = Json::parse(document.out);
  EXPECT_FALSE(json["can_run"].get<bool>());
  EXPECT_EQ(json["findings"][0]["severity"], "error");
  EXPECT_EQ(json["findings"][0]["elements"], Json::array({1}));
}

TEST_F(CheckProgram, AFileThatCannotBeReadHasItsPlaceInTheDocument) {
  write_text(folder / "wrong.inp", "*NODES\n");
  const Outcome report = check({"wrong.inp", "none.inp", "--json"});
  EXPECT_EQ(report.code, 5);
  const Json json = Json::parse(report.out);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_FALSE(json[0]["can_run"].get<bool>());
  EXPECT_TRUE(contains(json[0]["findings"][0]["where"], "wrong.inp:1"));
}

TEST_F(CheckProgram, AModelWithoutStepsCanBeLookedAt) {
  const std::string deck = cantilever_deck(4, 2, 2);
  write_text(folder / "mesh.inp", deck.substr(0, deck.find("*STEP")));
  const Outcome report = check({"mesh.inp"});
  EXPECT_EQ(report.code, 0);
  EXPECT_TRUE(contains(report.out, "there is no step")) << report.out;
}

TEST_F(CheckProgram, ListsAllThatIsNotSupported) {
  write_text(folder / "contact.inp",
             "*NODE\n1\n*CONTACT PAIR, INTERACTION=I\nA, B\n*CONTACT PAIR, INTERACTION=I\nC, D\n*MATERIAL, NAME=M\n"
             "*PLASTIC\n1., 0.\n*STEP\n*DYNAMIC\n*END STEP\n");
  const Outcome report = check({"contact.inp"});
  EXPECT_EQ(report.code, 1);
  for (const char* word :
       {"contact.inp:3, 5: *CONTACT PAIR is not supported yet", "contact.inp:8: *PLASTIC is not supported",
        "contact.inp:11: *DYNAMIC is not supported", "3 things not supported, at 4 places"})
    EXPECT_TRUE(contains(report.out, word)) << word << "\n" << report.out;

  const Outcome document = check({"contact.inp", "--json"});
  const Json json = Json::parse(document.out);
  EXPECT_EQ(json["findings"][0]["places"], (std::vector<std::string>{"contact.inp:3", "contact.inp:5"}));
  EXPECT_EQ(json["findings"][2]["kind"], "not supported");

  const Outcome run = run_program({"run", "contact.inp"}, settings);
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(contains(run.error, "contact.inp:3: *CONTACT PAIR is not supported yet")) << run.error;
  EXPECT_TRUE(contains(run.error, "3 more places")) << run.error;
}

}  // namespace
}  // namespace voussoir::testing
