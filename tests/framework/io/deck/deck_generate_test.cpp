#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>
#include <voussoir/framework/io/deck/detail/deck.hpp>

#include "deck_text.hpp"
#include "support/expect_error.hpp"

// Nodes and elements that decks generate, and numbers that have names.

namespace voussoir::deck {
namespace {

using Ids = std::vector<Id>;
using Point = std::array<double, 3>;

Deck parse(const std::string& text) { return parse_deck_text(text, "a.inp", {}, {}); }

/// Where a node is; the last time that it is given counts.
Point at(const Deck& deck, Id id) {
  Point x{NAN, NAN, NAN};
  for (std::size_t n = 0; n < deck.nodes.ids.size(); ++n)
    if (deck.nodes.ids[n] == id)
      x = {deck.nodes.coordinates[3 * n], deck.nodes.coordinates[3 * n + 1], deck.nodes.coordinates[3 * n + 2]};
  return x;
}

void expect_at(const Deck& deck, Id id, const Point& wanted) {
  const Point x = at(deck, id);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(x[k], wanted[k], 1e-12) << "node " << id << ", coordinate " << k;
}

TEST(DeckGenerate, NodesAlongLinesParabolasAndArcs) {
  const Deck deck = parse(
      "*NODE\n1, 0, 0, 0\n11, 10, 0, 0\n101, 2, 0, 0\n103, 0, 2, 0\n200, 0, 0, 0\n301, 3, 0, 0\n305, -3, 0, 0\n"
      "401, 4, 0, 0\n409, 4, 0, 0\n"
      "*NGEN, NSET=LINE\n1, 11, 5\n*NGEN, LINE=P, NSET=BOW\n11, 1, -2, , 5., 4., 0.\n"
      "*NGEN, LINE=C\n101, 103, 1, 200\n301, 305, 1, , 0, 0, 0, 0, 0, 1\n*NGEN, LINE=C, NSET=RING\n"
      "401, 409, 2, 200, , , , 0, 0, -1\n");
  EXPECT_EQ(deck.node_sets.at("LINE"), (Ids{1, 6, 11}));
  expect_at(deck, 6, {5, 0, 0});
  EXPECT_EQ(deck.node_sets.at("BOW"), (Ids{1, 3, 5, 7, 9, 11}));
  // u = 1/5 along the parabola through (10, 0), (5, 4), (0, 0): y = 16 u (1 − u).
  expect_at(deck, 9, {8, 16 * .2 * .8, 0});
  expect_at(deck, 102, {std::sqrt(2.), std::sqrt(2.), 0});
  expect_at(deck, 303, {0, 3, 0});
  expect_at(deck, 302, {3 * std::sqrt(.5), 3 * std::sqrt(.5), 0});
  EXPECT_EQ(deck.node_sets.at("RING"), (Ids{401, 403, 405, 407, 409}));
  expect_at(deck, 403, {0, -4, 0});
  expect_at(deck, 405, {-4, 0, 0});
}

TEST(DeckGenerate, NodesBetweenTwoSets) {
  const Deck deck = parse(
      "*NODE\n1, 0, 0\n3, 0, 2\n101, 7, 0\n103, 7, 2\n*NGEN, NSET=A\n1, 3\n*NGEN, NSET=B\n101, 103\n"
      "*NFILL, NSET=ALL, BIAS=0.5\nA, B, 3, 10\n*NFILL\nA, B, 2, 50\n");
  EXPECT_EQ(deck.node_sets.at("ALL"), (Ids{1, 2, 3, 11, 12, 13, 21, 22, 23, 101, 102, 103}));
  expect_at(deck, 11, {1, 0, 0});
  expect_at(deck, 22, {3, 1, 0});
  expect_at(deck, 52, {3.5, 1, 0});
}

TEST(DeckGenerate, CopiesOfNodes) {
  const std::string nodes = "*NODE, NSET=A\n1, 1, 0, 0\n2, 2, 1, 0\n";
  Deck deck =
      parse(nodes + "*NCOPY, OLD SET=A, CHANGE NUMBER=10, SHIFT, MULTIPLE=2, NEW SET=N\n0, 0, 1\n0,0,0,0,0,1,90\n");
  EXPECT_EQ(deck.node_sets.at("N"), (Ids{11, 12, 21, 22}));
  expect_at(deck, 11, {0, 1, 1});
  expect_at(deck, 22, {-2, -1, 2});
  deck = parse(nodes + "*NCOPY, OLD SET=A, CHANGE NUMBER=10, REFLECT=LINE\n0,0,0, 0,1,0\n");
  expect_at(deck, 12, {-2, 1, 0});
  deck = parse(nodes + "*NCOPY, OLD SET=A, CHANGE NUMBER=10, REFLECT=MIRROR\n0,0,0, 0,0,1\n0,1,0\n");
  expect_at(deck, 12, {-2, 1, 0});
  deck = parse(nodes + "*NCOPY, OLD SET=A, CHANGE NUMBER=10, REFLECT=POINT\n0,0,1\n");
  expect_at(deck, 12, {-2, -1, 2});
  deck = parse(nodes + "*NCOPY, OLD SET=A, CHANGE NUMBER=10, POLE\n1\n");
  expect_at(deck, 12, {3, 2, 0});
  deck = parse(nodes + "*NCOPY, OLD SET=A, CHANGE NUMBER=10, POLE\n, 0, 0, 0\n");
  expect_at(deck, 12, {4, 2, 0});
}

TEST(DeckGenerate, NodesAreMappedFromOtherSystems) {
  const std::string nodes = "*NODE, NSET=A\n1, 2, 90, 5\n";
  Deck deck = parse(nodes + "*NMAP, NSET=A, TYPE=CYLINDRICAL\n0,0,0, 0,0,1\n1,0,0\n");
  expect_at(deck, 1, {0, 2, 5});
  deck = parse(nodes + "*NMAP, NSET=A, TYPE=CYLINDRICAL\n1,0,0, 1,1,0\n1,0,1\n1., 1., 2.\n");
  expect_at(deck, 1, {3, 10, 0});
  deck = parse(nodes + "*NMAP, NSET=A, TYPE=RECTANGULAR\n10, 20, 30\n");
  expect_at(deck, 1, {12, 110, 35});
  deck = parse(nodes + "*NMAP, NSET=A, TYPE=RECTANGULAR\n0,0,0, 0,1,0\n-1,0,0\n");
  expect_at(deck, 1, {-90, 2, 5});
  deck = parse("*NODE, NSET=A\n1, 2, 90, 30\n*NMAP, NSET=A, TYPE=SPHERICAL\n0,0,0, 0,0,1\n1,0,0\n");
  expect_at(deck, 1, {0, std::sqrt(3.), 1});
  deck = parse("*NODE, SYSTEM=S\n1, 2, 90, 30\n");
  expect_at(deck, 1, {0, std::sqrt(3.), 1});
}

TEST(DeckGenerate, RowsAndLayersOfElements) {
  const Deck deck = parse(
      "*NODE\n1\n*ELEMENT, TYPE=C3D8, ELSET=FIRST\n1, 1, 2, 12, 11, 101, 102, 112, 111\n"
      "*ELGEN, ELSET=ALL\n1, 3, 1, 1, 2, 10, 3, 2, 100, 6\n"
      "*ELCOPY, ELEMENT SHIFT=100, OLD SET=FIRST, SHIFT NODES=1000, NEW SET=COPY\n");
  EXPECT_EQ(deck.element_sets.at("ALL"), (Ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(deck.element_sets.at("COPY"), (Ids{101}));
  ASSERT_EQ(deck.elements.size(), 3u);
  const ElementCard& made = deck.elements[1];
  EXPECT_EQ(made.ids.back(), 12);
  EXPECT_EQ(Ids(made.nodes.end() - 8, made.nodes.end()), (Ids{113, 114, 124, 123, 213, 214, 224, 223}));
  EXPECT_EQ(deck.where({made.place.file, made.lines.at(0)}), "a.inp:6");
  EXPECT_EQ(deck.elements[2].nodes.at(0), 1001);
}

TEST(DeckGenerate, AWholeBlockOfThem) {
  // A bar of 4 × 1 × 1 cubes, as hand-written decks have it.
  const Job job = testing::job_of(
      "*NODE\n1, 0, 0, 0\n5, 4, 0, 0\n11, 0, 1, 0\n15, 4, 1, 0\n*NGEN, NSET=LOW\n1, 5\n11, 15\n"
      "*NCOPY, OLD SET=LOW, CHANGE NUMBER=100, SHIFT, NEW SET=HIGH\n0, 0, 1\n\n"
      "*ELEMENT, TYPE=C3D8\n1, 1, 2, 12, 11, 101, 102, 112, 111\n*ELGEN, ELSET=EALL\n1, 4\n" +
      testing::steel + testing::solid_section +
      "*NSET, NSET=END\n1, 11, 101, 111\n*BOUNDARY\nEND, 1, 3\n*STEP\n*STATIC\n*DLOAD\nEALL, GRAV, 1., 0., 0., -1.\n"
      "*END STEP\n");
  EXPECT_EQ(job.domains.at(0)->element_count(), 4);
  EXPECT_EQ(job.domains[0]->node_count(), 20);
}

TEST(DeckGenerate, WhatCannotBeGenerated) {
  const std::string nodes = "*NODE, NSET=A\n1, 1, 0, 0\n2, 2, 1, 0\n*NSET, NSET=ONE\n1\n";
  const std::vector<std::pair<std::string, std::vector<std::string>>> wrong = {
      {"*NGEN\n1, 9\n", {"a.inp:7", "node 9 does not exist yet"}},
      {"*NGEN\n1, 2, 3\n", {"a.inp:7", "does not lead from node 1 to node 2"}},
      {"*NGEN, LINE=C\n1, 2, 1\n", {"a.inp:7", "needs the centre"}},
      {"*NGEN, LINE=C\n1, 2, 1, , 1, 0, 0\n", {"a.inp:7", "coincides with its centre"}},
      {"*NGEN, LINE=C\n1, 2, 1, , 1.5, .5, 0\n", {"a.inp:7", "needs its normal"}},
      {"*NFILL\nA, X, 2\n", {"a.inp:7", "no node set (*NSET) 'X'"}},
      {"*NFILL, BIAS=0\nA, ONE, 2\n", {"a.inp:6", "BIAS"}},
      {"*NFILL, SINGULAR=1\nA, ONE, 2\n", {"a.inp:6", "SINGULAR is not supported yet"}},
      {"*NCOPY, OLD SET=A, CHANGE NUMBER=0, SHIFT\n", {"a.inp:6", "CHANGE NUMBER=0 is not allowed"}},
      {"*NCOPY, OLD SET=A, CHANGE NUMBER=5\n", {"a.inp:6", "needs one of SHIFT, POLE and REFLECT"}},
      {"*NCOPY, OLD SET=A, CHANGE NUMBER=-5, SHIFT\n1.\n", {"node number -4 is not allowed"}},
      {"*NMAP, NSET=A, TYPE=C\n0,0,0,1,0,0\n2,0,0\n", {"a.inp:6", "are collinear"}},
      {"*ELGEN\n1, 2\n", {"a.inp:7", "element 1 does not exist yet"}},
      {"*NODE\n3000000000, 1.\n*NGEN\n1, 3000000000\n", {"a.inp:9", "generates more than"}},
      {"*NSET, NSET=W, GENERATE\n1, 9000000000\n*NMAP, NSET=W, TYPE=R\n1.\n", {"far larger than the model"}},
  };
  for (const auto& [text, pieces] : wrong) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, text);
    try {
      parse(nodes + text);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      for (const std::string& piece : pieces)
        EXPECT_NE(std::string(error.what()).find(piece), std::string::npos) << piece << ": " << error.what();
    }
  }
}

TEST(DeckParameters, StandForNumbersAndTexts) {
  const Deck deck = parse(
      "*PARAMETER\n# sizes\nwidth = 3.0   # in mm\nhalf = width/2\nn = 2*(1+1)\nlast = n**2 - 1\nname = 'ALL'\nangle = "
      "sin(pi/6)\\\n + 1\nneg = -2**2\n*NODE, NSET=<name>\n<n>, <width>, <half>, <angle>\n< last >, <neg>, -<half>\n");
  EXPECT_EQ(deck.node_sets.at("ALL"), (Ids{4, 15}));
  expect_at(deck, 4, {3, 1.5, 1.5});
  expect_at(deck, 15, {-4, -1.5, 0});
}

TEST(DeckParameters, AreRefusedWhereTheyHaveNoValue) {
  const auto wrong = [](const std::string& lines, std::initializer_list<std::string> pieces,
                        ErrorCode code = ErrorCode::bad_input) {
    testing::expect_error(code, pieces, [&] { parse("*PARAMETER\n" + lines + "*NODE\n1\n"); });
  };
  wrong("a = 7/2\n", {"a.inp:2", "7/2", "7./2"});
  wrong("a = 1./0\n", {"division by zero"});
  wrong("a = sqrt(-1)\n", {"sqrt() has no finite value"});
  wrong("a = b + 1\n", {"no parameter 'b'"}, ErrorCode::not_found);
  wrong("a = 1 +\n", {"is incomplete"});
  wrong("a = (1\n", {"not closed"});
  wrong("a = open('x')\n", {"no function 'open'"}, ErrorCode::not_found);
  wrong("a = 'x' * 2\n", {"cannot be used in arithmetic"});
  wrong("a = 2**2000.\n", {"no finite value"});
  wrong("a = 9223372036854775807 + 1\n", {"too large"});
  wrong("import os\n", {"NAME = EXPRESSION"});
  wrong("a = " + std::string(5000, '(') + "\n", {"nested parentheses"});
  wrong("a = 1\n*NODE\n1, <b>\n", {"a.inp:4", "no parameter 'b'"}, ErrorCode::not_found);
}

}  // namespace
}  // namespace voussoir::deck
