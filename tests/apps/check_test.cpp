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
        "all connected", "cg+block-jacobi", "matrix-free", "direct", "step 1", "108 unknowns free, 27 prescribed",
        "no problems found", "next: voussoir run bar.inp"})
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
  EXPECT_TRUE(contains(report.out, "inverted, or without volume: element 1.")) << report.out;
  EXPECT_TRUE(contains(report.out, "it is not restrained")) << report.out;
  EXPECT_FALSE(contains(report.out, "next: voussoir run"));

  const Outcome quiet = check({"bad.inp", "--quiet"});
  EXPECT_EQ(quiet.code, 1);
  EXPECT_TRUE(quiet.out.empty());
  EXPECT_TRUE(contains(quiet.error, "inverted")) << quiet.error;

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

TEST_F(CheckProgram, AMeshAloneIsMeasured) {
  // Two boxes of hexahedra, one of them in two groups, which version 2.2 writes twice.
  write_text(folder / "part.msh",
             "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n3 1 \"body\"\n3 2 \"right\"\n2 3 \"foot\"\n"
             "$EndPhysicalNames\n$Nodes\n13\n1 0 0 0\n2 1 0 0\n3 3 0 0\n4 0 1 0\n5 1 1 0\n6 3 1 0\n7 0 0 1\n8 1 0 1\n"
             "9 3 0 1\n10 0 1 1\n11 1 1 1\n12 3 1 1\n13 9 9 9\n$EndNodes\n$Elements\n4\n"
             "1 3 2 3 1 1 4 10 7\n2 5 2 1 1 1 2 5 4 7 8 11 10\n3 5 2 1 2 2 3 6 5 8 9 12 11\n"
             "4 5 2 2 2 2 3 6 5 8 9 12 11\n$EndElements\n");
  const Outcome report = check({"part.msh"});
  EXPECT_EQ(report.code, 0) << report.error;
  for (const char* word : {"nodes         12", "2 solid.hex8", "body (2)", "right (1)", "foot (1)", "x 0 to 3",
                           "worst scaled Jacobian 1 ", "worst aspect ratio 2 (element 3)", "mesh without sections",
                           "1 node of the file is not used", "0 errors, 0 warnings"})
    EXPECT_TRUE(contains(report.out, word)) << word << "\n" << report.out;
  EXPECT_FALSE(contains(report.out, "\n  materials "));
  EXPECT_FALSE(contains(report.out, "next:"));
  const Outcome document = check({"part.msh", "--json"});
  EXPECT_EQ(document.code, 0);
  const Json json = Json::parse(document.out);
  EXPECT_TRUE(json["mesh_only"].get<bool>());
  EXPECT_FALSE(json["can_run"].get<bool>());
  EXPECT_EQ(json["domains"][0]["quality"]["measured_elements"], 2);

  // Surfaces alone: in the plane they have a quality, in space they have sizes.
  const auto surface = [](const char* z) {
    return std::string("$NOD\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 ") + z +
           "\n$ENDNOD\n$ELM\n2\n1 2 1 1 3 1 2 3\n2 2 1 1 3 1 3 4\n$ENDELM\n";
  };
  write_text(folder / "flat.msh", surface("0"));
  EXPECT_TRUE(contains(check({"flat.msh"}).out, "worst scaled Jacobian")) << check({"flat.msh"}).out;
  write_text(folder / "bent.msh", surface("0.5"));
  const Outcome bent = check({"bent.msh"});
  EXPECT_EQ(bent.code, 0) << bent.error;
  EXPECT_TRUE(contains(bent.out, "quality is not measured") && contains(bent.out, "2 plane_stress.tri3")) << bent.out;
  EXPECT_FALSE(contains(bent.out, "worst scaled Jacobian"));
}

TEST_F(CheckProgram, ADeckOfNodesAndElementsIsMeasured) {
  const std::string deck =
      "*NODE, NSET=NALL\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n"
      "*ELEMENT, TYPE=C3D8, ELSET=PART\n1,1,2,3,4,5,6,7,8\n*ELEMENT, TYPE=B31, ELSET=POLE\n2,1,7\n";
  write_text(folder / "mesh.inp", deck);
  const Outcome report = check({"mesh.inp"});
  EXPECT_EQ(report.code, 0) << report.error;
  for (const char* word : {"nodes         8", "1 solid.hex8", "PART (1)", "NALL (8)", "worst scaled Jacobian 1 ",
                           "1 element is ignored", "mesh without sections"})
    EXPECT_TRUE(contains(report.out, word)) << word << "\n" << report.out;
  const Outcome run = run_program({"run", "mesh.inp"}, settings);
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(contains(run.error, "has no section")) << run.error;
  // With a step it is a model, and an incomplete one.
  write_text(folder / "model.inp", deck + "*STEP\n*STATIC\n*END STEP\n");
  const Outcome model = check({"model.inp"});
  EXPECT_EQ(model.code, 1);
  EXPECT_TRUE(contains(model.error, "has no section")) << model.error;
  // Elements that are inside out are found in a mesh, too.
  std::string wrong = deck;
  wrong.replace(wrong.find("1,1,2,3,4,5,6,7,8"), 17, "1,5,6,7,8,1,2,3,4");
  write_text(folder / "wrong.inp", wrong);
  const Outcome inverted = check({"wrong.inp"});
  EXPECT_EQ(inverted.code, 1);
  EXPECT_TRUE(contains(inverted.out, "inverted")) << inverted.out;
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
             "*PLASTIC\n1., 0.\n*STEP\n*BUCKLE\n*END STEP\n");
  const Outcome report = check({"contact.inp"});
  EXPECT_EQ(report.code, 1);
  for (const char* word :
       {"contact.inp:3, 5: *CONTACT PAIR is not supported yet", "contact.inp:8: *PLASTIC is not supported",
        "contact.inp:11: *BUCKLE is not supported", "3 things not supported, at 4 places"})
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
