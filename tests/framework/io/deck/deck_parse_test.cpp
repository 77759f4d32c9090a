#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <voussoir/framework/io/deck/detail/deck.hpp>

#include "support/expect_error.hpp"

// The grammar of decks: what the lines of an .inp file say, before anything is made of them.

namespace voussoir::deck {
namespace {

using testing::expect_error;
namespace fs = std::filesystem;
using Ids = std::vector<Id>;

Deck parse(const std::string& text) { return parse_deck_text(text, "a.inp", {}, {}); }

/// A folder of its own for every test, gone afterwards.
class DeckFiles : public ::testing::Test {
 protected:
  DeckFiles() {
    folder_ = fs::temp_directory_path() / ("voussoir_deck_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_ / "parts");
  }
  ~DeckFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  fs::path folder_;
};

// --- lines
// ------------------------------------------------------------------------------------------------------------

TEST(DeckLines, CaseBlanksTabsCommentsAndLineEndsDoNotMatter) {
  const Deck deck = parse(
      "\xef\xbb\xbf** made by hand\r\n"
      "*Heading\r\n"
      "  Two nodes, and a *star\r\n"
      "\r\n"
      "  * node ,\tnset = My Set\r\n"
      "\t 1 ,\t0.5, 1.5 ,2.5\r\n"
      "** between\r\n"
      "2,+1.,-.5,1.e2,\r\n"
      "*NSET,NSET=\"a set\"\r\n"
      "MySet");
  EXPECT_EQ(deck.title, "Two nodes, and a *star");
  EXPECT_EQ(deck.nodes.ids, (Ids{1, 2}));
  EXPECT_EQ(deck.nodes.coordinates, (std::vector<double>{0.5, 1.5, 2.5, 1, -0.5, 100}));
  EXPECT_EQ(deck.nodes.cards.at(0).line, 5);
  EXPECT_EQ(deck.node_sets.at("MYSET"), (Ids{1, 2}));
  EXPECT_EQ(deck.node_sets.at("A SET"), (Ids{1, 2}));
  EXPECT_EQ(deck.where(deck.nodes.cards[0]), "a.inp:5");
}

TEST(DeckLines, AKeywordLineGoesOnBehindAComma) {
  const Deck deck = parse("*NODE,\n** why not\n NSET=A,\nSYSTEM=R\n1\n*NSET,NSET=B,\n*NODE\n2\n");
  EXPECT_EQ(deck.node_sets.at("A"), (Ids{1}));
  EXPECT_TRUE(deck.node_sets.at("B").empty());
  EXPECT_EQ(deck.nodes.ids, (Ids{1, 2}));
  EXPECT_EQ(deck.nodes.cards[0].line, 1);
}

TEST(DeckLines, ACommaBeforeDataContinuesNothing) {
  const Deck deck = parse(
      "*HEADING,\nE = 5\n*NODE, NSET=N,\n1\n2,1.\n3,0.,1.\n4,0.,0.,1.\n*ELEMENT, TYPE=C3D4,\nELSET=E\n1,1,2,3,4\n"
      "*NSET,NSET=G,\nGENERATE\n1,3\n*NSET,NSET=FIXED,\n1,2\n*NSET,NSET=S,\nFIXED\n*MATERIAL,NAME=M,\n*ELASTIC,\n7.,."
      "3\n"
      "*SOLID SECTION, ELSET=E,\n  MATERIAL=M,\n*BOUNDARY,\nFIXED,1,3\n"
      "*STEP,\nINC=10, NLGEOM=NO,\nload = 5\n*STATIC,\n1.,2.\n*NODE PRINT,NSET=N,\nU\n*END STEP\n");
  EXPECT_EQ(deck.title, "E = 5");
  EXPECT_EQ(deck.element_sets.at("E"), (Ids{1}));
  EXPECT_EQ(deck.node_sets.at("G"), (Ids{1, 2, 3}));
  EXPECT_EQ(deck.node_sets.at("S"), (Ids{1, 2}));
  EXPECT_EQ(deck.materials.at("M").elastic->rows.at(0).values, (std::vector<double>{7, .3}));
  ASSERT_EQ(deck.steps.size(), 1u);
  EXPECT_EQ(deck.steps[0].title, "load = 5");
  EXPECT_EQ(deck.steps[0].period, 2);
  EXPECT_EQ(deck.steps[0].prints.at(0).request.quantities, (std::vector<std::string>{"U"}));
  const auto& held = std::get<BoundaryCard>(deck.actions.at(0).card);
  EXPECT_EQ(held.entries.at(0).node.set, "FIXED");
}

TEST(DeckLines, BlanksInKeywordsMeanNothing) {
  const Deck deck = parse(
      "*NODE\n1\n2\n3\n*NSET,NSET=N\n1,2\n*RIGIDBODY,NSET=N,REFNODE=3\n"
      "*STEP\n*HEATTRANSFER,STEADYSTATE\n*NODEPRINT,NSET=N\nNT\n*ENDSTEP\n");
  ASSERT_EQ(deck.rigid_bodies.size(), 1u);
  EXPECT_EQ(deck.rigid_bodies[0].reference->id, 3);
  ASSERT_EQ(deck.steps.size(), 1u);
  EXPECT_EQ(deck.steps[0].procedure, Procedure::steady_heat);
  EXPECT_EQ(deck.steps[0].prints.size(), 1u);
}

TEST(DeckLines, NumbersAsFortranWritesThem) {
  const Deck deck = parse("*NODE\n1, 1.D-3, 1.5d+2, 2.5+5\n+2, +1.5, -1.E-400, .5E1\n3,4\n4\n5, 1,,3\n6,1,2,,0.\n");
  EXPECT_EQ(deck.nodes.coordinates,
            (std::vector<double>{1e-3, 150, 2.5e5, 1.5, 0, 5, 4, 0, 0, 0, 0, 0, 1, 0, 3, 1, 2, 0}));
}

TEST_F(DeckFiles, IncludedFilesHoldCardsOrDataLines) {
  write("parts/nodes.inc", "1,1.,2.,3.\n2,4.,5.,6.\n*INCLUDE, INPUT=more.inc\n");
  write("parts/more.inc", "3,7,8,9\n");
  write("Sets.inc", "*NSET,NSET=A\n1,3");
  const fs::path path = write("main.inp",
                              "*NODE\n*include, input=parts/nodes.inc\n4,0\n*INCLUDE,INPUT=\"Sets.inc\"\n"
                              "*NODE,INPUT=parts/more.inc\n5,0\n");
  const Deck deck = parse_deck(path, {});
  EXPECT_EQ(deck.nodes.ids, (Ids{1, 2, 3, 4, 3, 5}));
  EXPECT_EQ(deck.node_sets.at("A"), (Ids{1, 3}));
  EXPECT_EQ(deck.nodes.cards.size(), 2u);
  EXPECT_EQ(deck.where(deck.nodes.cards[1]), path.string() + ":5");

  // An error within an included file names that file.
  write("parts/more.inc", "3,7,8,9\nfour,0,0,0\n");
  expect_error(ErrorCode::bad_input, {"more.inc:2", "node number 'four'"}, [&] { parse_deck(path, {}); });
  EXPECT_EQ(parse_deck_text("*INCLUDE,INPUT=Sets.inc\n*NODE\n1\n2\n3\n", "text", {}, folder_).node_sets.at("A"),
            (Ids{1, 3}));
}

TEST_F(DeckFiles, IncludesThatCannotBeFollowed) {
  const fs::path path = write("a.inp", "*HEADING\n*INCLUDE,INPUT=b.inc\n");
  expect_error(ErrorCode::io, {"a.inp:2", "there is no file", "b.inc"}, [&] { parse_deck(path, {}); });
  write("b.inc", "** nothing\n*INCLUDE,INPUT=c.inc\n");
  write("c.inc", "*INCLUDE,INPUT=b.inc\n");
  // Both places: where it happens, and where the file was included first.
  expect_error(ErrorCode::bad_input, {"c.inc:1", "'b.inc' is being read already", "a.inp:2"},
               [&] { parse_deck(path, {}); });
  write("c.inc", "*INCLUDE,INPUT=a.inp\n");
  expect_error(ErrorCode::bad_input, {"c.inc:1", "it is the deck itself"}, [&] { parse_deck(path, {}); });
  write("c.inc", "*INCLUDE,INPUT=parts\n");
  expect_error(ErrorCode::io, {"c.inc:1", "parts", "is not a file"}, [&] { parse_deck(path, {}); });
  write("c.inc", "*INCLUDE\n");
  expect_error(ErrorCode::bad_input, {"c.inc:1", "*INCLUDE, INPUT="}, [&] { parse_deck(path, {}); });
  write("c.inc", "*INCLUDE, INPUT=" + std::string(5000, 'x') + "\n");
  expect_error(ErrorCode::io, {"c.inc:1", "is not a valid file name"}, [&] { parse_deck(path, {}); });
  write("c.inc", "*INCLUDE, INPUT=d.inc, SOFTLY\n");
  expect_error(ErrorCode::not_found, {"c.inc:1", "no parameter 'SOFTLY'"}, [&] { parse_deck(path, {}); });
  if (::geteuid() != 0) {  // nothing is closed to root
    write("c.inc", "");
    fs::permissions(folder_ / "c.inc", fs::perms::none);
    expect_error(ErrorCode::io, {"b.inc:2", "c.inc", "cannot be opened"}, [&] { parse_deck(path, {}); });
  }
  expect_error(ErrorCode::bad_input, {"text:1", "'b.inc'", "pass the folder"},
               [] { parse_deck_text("*INCLUDE,INPUT=b.inc\n", "text", {}, {}); });
}

TEST_F(DeckFiles, NestingAndNumberOfIncludesAreLimited) {
  for (int i = 0; i < 40; ++i) write(std::to_string(i), "*INCLUDE,INPUT=" + std::to_string(i + 1) + "\n");
  expect_error(ErrorCode::bad_input, {"31:1", "more than 32 deep"}, [&] { parse_deck(folder_ / "0", {}); });
  // Each file includes the next one twice: without a limit this would be read 2^20 times.
  for (int i = 0; i < 20; ++i) {
    const std::string line = "*INCLUDE,INPUT=" + std::to_string(i + 1) + "\n";
    write(std::to_string(i), line + line);
  }
  write("20", "** the end\n");
  expect_error(ErrorCode::bad_input, {"more than 10000 files are included"}, [&] { parse_deck(folder_ / "0", {}); });
}

TEST_F(DeckFiles, FilesThatCannotBeRead) {
  expect_error(ErrorCode::io, {"nowhere.inp"}, [&] { parse_deck(folder_ / "nowhere.inp", {}); });
  expect_error(ErrorCode::io, {"folder"}, [&] { parse_deck(folder_, {}); });
  expect_error(ErrorCode::io, {"/dev/zero", "device"}, [] { parse_deck("/dev/zero", {}); });
  expect_error(ErrorCode::bad_input, {"e.inp", "the deck is empty"}, [&] { parse_deck(write("e.inp", ""), {}); });
  expect_error(ErrorCode::bad_input, {"a.inp", "the deck is empty"}, [] { parse("** nothing\n\n"); });
  expect_error(ErrorCode::bad_input, {"a.inp", "UTF-16"}, [] { parse("\xff\xfe*\n"); });
  expect_error(ErrorCode::bad_input, {"a.inp:2", "begins with a keyword line"}, [] { parse("\n1,2,3\n*NODE\n"); });
}

TEST_F(DeckFiles, ProgressRisesAndCanStopTheReading) {
  std::string text = "*NODE\n";
  while (text.size() < 9u << 20) text += "1,0.000000000000000000000000000000000000000000000000000000000000000000\n";
  const fs::path path = write("large.inp", text);
  std::vector<double> fractions;
  DeckOptions options;
  options.progress = [&](double fraction) {
    fractions.push_back(fraction);
    return true;
  };
  parse_deck(path, options);
  ASSERT_GE(fractions.size(), 3u);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_LE(fractions.back(), 1.0);
  options.progress = [](double fraction) { return fraction < 0.3; };
  expect_error(ErrorCode::cancelled, {"large.inp", "stopped"}, [&] { parse_deck(path, options); });
}

// --- elements, sets, surfaces
// -------------------------------------------------------------------------------------------

TEST(DeckMesh, NodesOfTheElementsOfASet) {
  const Deck deck = parse(
      "*NODE\n1\n2\n3\n4\n5\n6\n7\n*ELEMENT,TYPE=C3D4,ELSET=E\n1,1,2,3,4\n*ELEMENT,TYPE=T3D2\n8,6,2\n"
      "*ELSET,ELSET=BAR,GENERATE\n2,1000000000000\n*NSET,NSET=A,ELSET=BAR\n7\n"
      "*ELEMENT,TYPE=T3D2,ELSET=BAR\n9,5,6\n*NSET,NSET=B,ELSET=BAR\n*NSET,NSET=C\nA\n*NSET,NSET=D,ELSET=E\n");
  EXPECT_EQ(deck.node_sets.at("A"), (Ids{2, 6, 7}));  // with the node that is listed; element 9 comes later
  EXPECT_EQ(deck.node_sets.at("B"), (Ids{2, 5, 6}));
  EXPECT_EQ(deck.node_sets.at("C"), (Ids{2, 6, 7}));
  EXPECT_EQ(deck.node_sets.at("D"), (Ids{1, 2, 3, 4}));
  // A short deck cannot ask for nodes without end.
  std::string text = "*ELEMENT,TYPE=T3D2,ELSET=BAR\n";
  for (int i = 1; i <= 3000; ++i) text += std::to_string(i) + ",1,2\n";
  for (int i = 0; i < 4000; ++i) text += "*NSET,NSET=A,ELSET=BAR\n";
  expect_error(ErrorCode::bad_input, {"*NSET, ELSET= is used too often", "node sets instead"}, [&] { parse(text); });
}

TEST(DeckMesh, ElementsTakeTheNodesOfTheirTypeOverSeveralLines) {
  const Deck deck = parse(
      "*ELEMENT, TYPE=C3D8, ELSET=A\n 7,1,2,3,4,\n5,6,7,8\n9,1,2,3,4,5,6,7,8,,\n"
      "*ELEMENT, TYPE=c3d20r\n1, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n16,17,18,19,20\n"
      "2, 1,2,3,4,5,6,7,8,9,10,\n11,12,13,14,15,\n16,17,18,19,20,\n*ELEMENT,TYPE=C3D8I\n30,1,2,3,4,5,6,7,8,9,10,\n");
  ASSERT_EQ(deck.elements.size(), 3u);
  EXPECT_EQ(deck.elements[0].ids, (Ids{7, 9}));
  EXPECT_EQ(deck.elements[0].nodes, (Ids{1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(deck.elements[0].lines, (std::vector<std::int32_t>{2, 4}));
  EXPECT_EQ(deck.elements[1].type, "C3D20R");
  EXPECT_EQ(deck.elements[1].nodes_per_element, 20);
  EXPECT_EQ(deck.elements[1].ids, (Ids{1, 2}));
  EXPECT_EQ(deck.elements[1].nodes.size(), 40u);
  EXPECT_EQ(deck.elements[1].nodes[39], 20);
  EXPECT_EQ(deck.elements[2].nodes.size(), 8u);
  ASSERT_EQ(deck.notes.size(), 1u);
  EXPECT_EQ(deck.notes[0].where, "a.inp:12");
  EXPECT_EQ(deck.element_sets.at("A"), (Ids{7, 9}));
}

TEST(DeckMesh, SetsOfRangesNumbersAndSets) {
  std::string text = "*NODE\n";
  for (int i = 1; i <= 20; ++i) text += std::to_string(i) + "\n";
  const Deck deck = parse(text +
                          "*NSET, NSET=ODD, GENERATE\n1,19,2\n*NSET,NSET=ALL,GENERATE\n1,1000000000000\n"
                          "3,9223372036854775807,3\n*NSET,NSET=MIX,UNSORTED\n 20, ODD ,2,\n2,+4\n"
                          "*NSET,NSET=MIX\n18\n*NSET,NSET=LATE\n21,22\n*NSET,NSET=ONE,GENERATE\n5\n"
                          "*NODE,NSET=MORE,SYSTEM=C\n21,2,90,7\n*NSET,NSET=EMPTY\n");
  EXPECT_EQ(deck.node_sets.at("ODD"), (Ids{1, 3, 5, 7, 9, 11, 13, 15, 17, 19}));
  EXPECT_EQ(deck.node_sets.at("ALL").size(), 21u);
  EXPECT_EQ(deck.node_sets.at("MIX"), (Ids{1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 17, 18, 19, 20}));
  EXPECT_EQ(deck.node_sets.at("LATE"), (Ids{21}));
  EXPECT_EQ(deck.node_sets.at("ONE"), (Ids{5}));
  EXPECT_EQ(deck.node_sets.at("MORE"), (Ids{21}));
  EXPECT_TRUE(deck.node_sets.at("EMPTY").empty());
  // Cylindrical coordinates: radius 2 at 90° is (0, 2).
  EXPECT_NEAR(deck.nodes.coordinates[60], 0, 1e-15);
  EXPECT_NEAR(deck.nodes.coordinates[61], 2, 1e-15);
  EXPECT_EQ(deck.nodes.coordinates[62], 7);
  ASSERT_EQ(deck.notes.size(), 1u);
  EXPECT_NE(deck.notes[0].text.find("'LATE' names 1 node that does not exist (the first is 22)"), std::string::npos)
      << deck.notes[0].text;
}

TEST(DeckMesh, SetsOfSetsDoNotGrowWithoutBound) {
  // 60 sets, each of which names the one before twice: 2^60 members if they were copied.
  std::string text = "*NODE\n1\n2\n3\n*NSET,NSET=S0\n1,3\n";
  for (int i = 1; i < 60; ++i)
    text += "*NSET,NSET=S" + std::to_string(i) + "\nS" + std::to_string(i - 1) + ",S" + std::to_string(i - 1) + "\n";
  EXPECT_EQ(parse(text).node_sets.at("S59"), (Ids{1, 3}));
  // Many sets of many scattered nodes: refused instead of filling the memory.
  text = "*NODE\n1\n*NSET,NSET=S\n";
  for (int i = 0; i < 20000; ++i) text += std::to_string(2 * i + 1) + "\n";
  for (int i = 0; i < 2000; ++i) text += "*NSET,NSET=T" + std::to_string(i) + "\nS\n";
  expect_error(ErrorCode::bad_input, {"a.inp:", "more than 5400000 members"}, [&] { parse(text); });
}

TEST(DeckMesh, RangesWithAStepMeanThoseThatExist) {
  // Numbers with gaps, and ranges that name more or fewer than there are.
  const Deck deck = parse(
      "*NODE\n2\n3\n6\n9\n1000000000000\n9223372036854775807\n*NSET,NSET=A,GENERATE\n3,1000000000000,3\n"
      "*NSET,NSET=B,GENERATE\n1,9223372036854775807,9223372036854775806\n"
      "*NSET,NSET=C,GENERATE\n2,8,2\n4,1000000000000,2\n*NSET,NSET=D,GENERATE\n3,9,6\n");
  EXPECT_EQ(deck.node_sets.at("A"), (Ids{3, 6, 9}));
  EXPECT_EQ(deck.node_sets.at("B"), (Ids{9223372036854775807}));
  EXPECT_EQ(deck.node_sets.at("C"), (Ids{2, 6, 1000000000000}));
  EXPECT_EQ(deck.node_sets.at("D"), (Ids{3, 9}));
}

TEST(DeckMesh, RangesThatWouldTakeForeverAreRefused) {
  // Scattered numbers and thousands of different steps: every range would look at every node.
  std::string text = "*NODE\n";
  for (Id i = 0; i < 40000; ++i) text += std::to_string(1 + i * 100'000'000'000) + "\n";
  text += "*NSET,NSET=A,GENERATE\n";
  for (int i = 0; i < 40000; ++i) text += "1,4000000000000000," + std::to_string(2 + i) + "\n";
  expect_error(ErrorCode::bad_input, {"a.inp", "too many ranges with an increment"}, [&] { parse(text); });
}

TEST(DeckMesh, SurfacesOfFacesAndOfNodes) {
  const Deck deck = parse(
      "*NODE\n1\n2\n3\n4\n*NSET,NSET=N\n2,3\n*ELEMENT,TYPE=C3D4,ELSET=E\n1,1,2,3,4\n"
      "*SURFACE,NAME=TOP\n1,s2\nE,S1\nE\n*SURFACE,TYPE=NODE,NAME=PINS\n1\nN, 1.\n");
  const SurfaceCard& top = deck.surfaces.at("TOP");
  ASSERT_EQ(top.faces.size(), 3u);
  EXPECT_EQ(top.faces[0].element, 1);
  EXPECT_EQ(top.faces[0].label, "S2");
  EXPECT_EQ(top.faces[1].set, "E");
  EXPECT_EQ(deck.where(top.faces[1].place), "a.inp:12");
  EXPECT_TRUE(top.faces[2].label.empty());
  EXPECT_TRUE(deck.surfaces.at("PINS").of_nodes);
  EXPECT_EQ(deck.surfaces.at("PINS").nodes, (Ids{1, 2, 3}));
}

TEST(DeckMesh, OnePartThatStaysWhereItIsIsAFlatDeck) {
  // As Abaqus/CAE writes it; sets of the part and of the assembly may have the same name.
  const Deck deck = parse(
      "*Heading\n*Preprint, echo=NO, model=NO, history=NO, contact=NO\n"
      "*Part, name=Bar\n*Node\n1,0.,0.,0.\n2,1.,0.,0.\n*Element, type=T3D2\n1, 1, 2\n"
      "*Elset, elset=Set-1\n1,\n*Nset, nset=Set-1, generate\n1,2,1\n"
      "*Solid Section, elset=Set-1, material=Steel\n0.1,\n*End Part\n"
      "*Assembly, name=Assembly\n*Instance, name=Bar-1, part=Bar\n0.,0.,0.\n*End Instance\n"
      "*Nset, nset=Set-1, internal, instance=Bar-1\n2,\n*Nset, nset=ALSO, instance=Bar-1\nSet-1\n*End Assembly\n"
      "*Material, name=Steel\n*Elastic\n210000., 0.3\n"
      "*Step, name=Step-1, nlgeom=NO\n*Static\n1., 1., 1e-05, 1.\n*Boundary\nBar-1.1, ENCASTRE\n"
      "*Cload\nSet-1, 1, 5.\nBar-1.Set-1, 2, 7.\n*Dload\n, GRAV, 9.81, 0., 0., -1.\n"
      "*Restart, write, frequency=0\n*Output, field, variable=PRESELECT\n*End Step\n");
  EXPECT_EQ(deck.node_sets.at("SET-1"), (Ids{2}));
  EXPECT_EQ(deck.node_sets.at("BAR-1.SET-1"), (Ids{1, 2}));
  EXPECT_EQ(deck.sections.at(0).set, "BAR-1.SET-1");
  EXPECT_EQ(deck.sections[0].values, (std::vector<double>{0.1}));
  ASSERT_EQ(deck.steps.size(), 1u);
  EXPECT_EQ(deck.steps[0].title, "STEP-1");
  EXPECT_FALSE(deck.steps[0].nlgeom);
  const auto& held = std::get<BoundaryCard>(deck.steps[0].actions.at(0).card);
  ASSERT_EQ(held.entries.size(), 6u);
  EXPECT_EQ(held.entries[0].node.id, 1);
  EXPECT_EQ(held.entries[5].first, 6);
  const auto& forces = std::get<NodalLoadCard>(deck.steps[0].actions.at(1).card);
  EXPECT_EQ(forces.entries[0].node.set, "SET-1");
  EXPECT_EQ(forces.entries[1].node.set, "BAR-1.SET-1");
  const auto& weight = std::get<ElementLoadCard>(deck.steps[0].actions.at(2).card);
  EXPECT_EQ(deck.element_sets.at(weight.entries.at(0).element.set), (Ids{1}));
  EXPECT_EQ(weight.entries[0].values, (std::vector<double>{9.81, 0, 0, -1}));
  ASSERT_EQ(deck.notes.size(), 1u);
  EXPECT_NE(deck.notes[0].text.find("read as a flat deck"), std::string::npos);
}

}  // namespace
}  // namespace voussoir::deck
