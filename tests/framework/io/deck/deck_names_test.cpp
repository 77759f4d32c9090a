#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>
#include <voussoir/framework/io/deck/detail/deck.hpp>

#include "deck_text.hpp"
#include "support/expect_error.hpp"

// Names that are used before they are defined, surfaces that stand for sets, and what is not supported.

namespace voussoir::deck {
namespace {

using Ids = std::vector<Id>;

Deck parse(const std::string& text) { return parse_deck_text(text, "a.inp", {}, {}); }

const std::string mesh = "*NODE,NSET=N\n1\n2,1.\n3,0.,1.\n4,0.,0.,1.\n*ELEMENT,TYPE=C3D4,ELSET=E\n1,1,2,3,4\n";

TEST(DeckNames, SetsOfSetsThatComeLater) {
  const Deck deck =
      parse(mesh +
            "*NSET,NSET=ALL\nLATER, 4\n*NSET,NSET=MORE\nALL\n*NSET,NSET=OFE,ELSET=PART\n*NSET,NSET=DEEP\nOFE\n"
            "*NSET,NSET=LATER\nLAST\n*NSET,NSET=LAST\n1, 2\n*ELSET,ELSET=PART\nE\n");
  EXPECT_EQ(deck.node_sets.at("ALL"), (Ids{1, 2, 4}));
  EXPECT_EQ(deck.node_sets.at("MORE"), (Ids{1, 2, 4}));
  EXPECT_EQ(deck.node_sets.at("DEEP"), (Ids{1, 2, 3, 4}));
}

TEST(DeckNames, SetsThatNeverComeOrHoldEachOther) {
  testing::expect_error(ErrorCode::not_found, {"a.inp:9", "no node set (*NSET) 'X'"},
                        [] { parse(mesh + "*NSET,NSET=A\nX\n"); });
  testing::expect_error(ErrorCode::bad_input, {"a.inp:", "contain each other"},
                        [] { parse(mesh + "*NSET,NSET=A\nB\n*NSET,NSET=B\nC\n*NSET,NSET=C\nA\n"); });
  testing::expect_error(ErrorCode::not_found, {"a.inp:8", "no element set (*ELSET) 'X'"},
                        [] { parse(mesh + "*NSET,NSET=A,ELSET=X\n"); });
}

TEST(DeckNames, SpringsBeforeTheirElements) {
  const Deck deck = parse("*SPRING,ELSET=S\n2\n50.\n*SPRING,ELSET=A\n7.\n" + mesh +
                          "*ELEMENT,TYPE=SPRING1,ELSET=S\n2,1\n*ELEMENT,TYPE=SPRINGA,ELSET=A\n3,1,2\n");
  EXPECT_EQ(deck.sections.at(0).spring_dofs, (std::vector<int>{2}));
  EXPECT_EQ(deck.sections[0].spring.at(0).first, 50);
  EXPECT_EQ(deck.sections.at(1).spring.at(0).first, 7);
  testing::expect_error(ErrorCode::bad_input, {"a.inp:2", "two degrees of freedom"}, [] {
    parse("*SPRING,ELSET=S\n1,2,3\n5.\n" + mesh + "*ELEMENT,TYPE=SPRING2,ELSET=S\n2,1,2\n");
  });
}

TEST(DeckNames, ASurfaceStandsForItsElements) {
  const std::string surface = mesh + "*SURFACE,NAME=F\nE,S2\n*MATERIAL,NAME=M\n*SOLID SECTION,ELSET=F,MATERIAL=M\n";
  const Deck deck = parse(surface + "*STEP\n*STATIC\n*DLOAD\nF,GRAV,1.,0,0,1.\nF,P2,3.\n*END STEP\n");
  EXPECT_EQ(deck.element_sets.at("F"), (Ids{1}));
  ASSERT_EQ(deck.notes.size(), 1u);
  EXPECT_NE(deck.notes[0].text.find("'F' is given instead of a set"), std::string::npos);
  testing::expect_error(ErrorCode::bad_input, {"a.inp:15", "faces other than S1"},
                        [&] { parse(surface + "*STEP\n*STATIC\n*DLOAD\nF,P1,3.\n*END STEP\n"); });
  testing::expect_error(ErrorCode::not_found, {"a.inp:13", "*SURFACE of element faces, not a node set"},
                        [&] { parse(surface + "*BOUNDARY\nF,1\n"); });
}

TEST(DeckUnsupported, AllOfItInOneListWithItsLines) {
  const std::string text = mesh +
                           "*CONTACT PAIR\nA,B\n*MATERIAL,NAME=M\n*PLASTIC\n1.,2.\n*ELEMENT,TYPE=S4,ELSET=SHELL\n"
                           "2,1,2,3,4\n*CONTACT PAIR\nC,D\n*SHELL SECTION,ELSET=SHELL,MATERIAL=M\n1.\n*WIGGLE\n1,2\n"
                           "*STEP,NLGEOM\n*STATIC\n*DSLOAD\nX,TRVEC,1.\n*END STEP\n*STEP\n*BUCKLE\n5\n*END STEP\n";
  try {
    parse(text);
    FAIL() << "nothing was thrown";
  } catch (const UnsupportedDeck& deck) {
    EXPECT_EQ(deck.code(), ErrorCode::bad_input);
    EXPECT_EQ(deck.where(), "a.inp:8");
    EXPECT_NE(deck.text().find("*CONTACT PAIR is not supported yet"), std::string::npos);
    EXPECT_NE(deck.text().find("7 more places"), std::string::npos) << deck.text();
    std::vector<std::string> places;
    for (const auto& item : deck.items()) places.insert(places.end(), item.places.begin(), item.places.end());
    EXPECT_EQ(places, (std::vector<std::string>{"a.inp:8", "a.inp:15", "a.inp:13", "a.inp:17", "a.inp:19", "a.inp:24",
                                                "a.inp:27", "a.inp:11"}));
    EXPECT_EQ(deck.places(), 8u);
  }
}

TEST(DeckUnsupported, AnErrorBeforeItIsTheAnswer) {
  testing::expect_error(ErrorCode::bad_input, {"a.inp:2", "not a number"},
                        [] { parse("*NODE\n1,x\n*CONTACT PAIR\nA,B\n"); });
}

TEST(DeckUnsupported, IsNotRecognisedByTheWordsOfAMessage) {
  for (const char* word : {"not supported", "is not known"}) try {
      parse("*NODE\n1, " + std::string(word) + "\n*CONTACT PAIR\nA,B\n");
      FAIL() << "nothing was thrown";
    } catch (const UnsupportedDeck& deck) {
      FAIL() << "an error of the deck's author was listed as not supported: " << deck.what();
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "a.inp:2");
      EXPECT_NE(error.text().find("is not a number"), std::string::npos) << error.text();
    }
}

TEST(DeckUnsupported, AnErrorBehindItIsKept) {
  try {
    parse("*CONTACT PAIR\nA,B\n*NODE\n1,x\n");
    FAIL() << "nothing was thrown";
  } catch (const UnsupportedDeck& deck) {
    EXPECT_EQ(deck.places(), 1u);
    ASSERT_TRUE(deck.consequence());
    EXPECT_EQ(deck.consequence()->where(), "a.inp:4");
  }
}

TEST(DeckSteps, NoAnalysisIsReadAndNotSolved) {
  const Job job =
      testing::job_of(testing::cube_model() + testing::clamped + "*STEP\n*NO ANALYSIS\n*CLOAD\nTOP,3,1.\n*END STEP\n" +
                      testing::static_step("*CLOAD\nTOP,3,2.\n"));
  ASSERT_EQ(job.steps.size(), 1u);
  EXPECT_FALSE(job.notes.empty());
  // A load of the step that is not solved goes on in the next one.
  const Deck deck = parse(mesh + "*STEP\n*NO ANALYSIS\n*CLOAD\n1,1,5.\n*END STEP\n*STEP\n*STATIC\n*END STEP\n");
  ASSERT_EQ(deck.actions.size(), 1u);
  EXPECT_EQ(std::get<NodalLoadCard>(deck.actions[0].card).entries.at(0).value, 5);
  testing::expect_error(ErrorCode::bad_input, {"a.inp:11", "only in the first step"}, [] {
    parse(mesh + "*STEP\n*STATIC\n*END STEP\n*STEP\n*NO ANALYSIS\n*CLOAD\n1,1,5.\n*END STEP\n");
  });
}

TEST(DeckPrints, AQuantityThatIsNamedTwiceIsPrintedOnce) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "U,U,RF,U,U,U,U,U,U,U,U,U,U,U,U,U\n";
  const Deck deck = parse(mesh + "*STEP\n*STATIC\n*NODE PRINT,NSET=N\n" + lines + "*END STEP\n");
  EXPECT_EQ(deck.steps.at(0).prints.at(0).request.quantities, (std::vector<std::string>{"U", "RF"}));
}

/// Seconds of the processor, so that a busy machine does not matter.
double seconds_of(const std::string& text) {
  const std::clock_t start = std::clock();
  testing::job_of(text);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

std::string row_of_cubes(int count) {
  std::string text = "*NODE\n";
  for (int i = 0; i <= count; ++i)
    for (int k = 0; k < 4; ++k)
      text += std::to_string(4 * i + k + 1) + "," + std::to_string(i) + (k == 1 || k == 2 ? ",1" : ",0") +
              (k > 1 ? ",1\n" : ",0\n");
  text += "*ELEMENT,TYPE=C3D8,ELSET=EALL\n";
  for (int i = 0; i < count; ++i) {
    text += std::to_string(i + 1);
    for (int k = 1; k <= 8; ++k) text += "," + std::to_string(4 * i + k);
    text += "\n";
  }
  return text + testing::steel;
}

TEST(DeckSpeed, ManySectionsAndSurfaces) {
  std::string text = row_of_cubes(10000);
  for (int i = 1; i <= 10000; ++i) {
    const std::string n = std::to_string(i);
    text += "*ELSET,ELSET=B" + n + "\n" + n + "\n*SOLID SECTION,ELSET=B" + n + ",MATERIAL=STEEL\n*SURFACE,NAME=S" + n +
            "\nB" + n + ",S3\n";
  }
  EXPECT_LT(seconds_of(text), 15);  // it took 25 s when the faces of all blocks were counted for each surface
}

TEST(DeckSpeed, ManySetsChainsAndSteps) {
  std::string text = row_of_cubes(100) + testing::solid_section;
  for (int i = 0; i < 100000; ++i)
    text += "*NSET,NSET=S" + std::to_string(i) + "\n" + std::to_string(i % 400 + 1) + "\n";
  for (int i = 0; i < 100000; ++i) text += "*NSET,NSET=C" + std::to_string(i) + "\nC" + std::to_string(i + 1) + "\n";
  text += "*NSET,NSET=C100000\n1\n";
  EXPECT_LT(seconds_of(text), 30);
}

}  // namespace
}  // namespace voussoir::deck
