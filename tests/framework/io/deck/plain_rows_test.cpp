#include <gtest/gtest.h>
#include <omp.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>
#include <voussoir/framework/io/deck/detail/deck.hpp>
#include <voussoir/framework/io/deck/detail/parse/plain_rows.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

// Large *NODE and *ELEMENT cards, which several threads read: what they find, and the lines that errors name, must be
// what one line after the other gives.

namespace voussoir::deck {
namespace {

using voussoir::testing::expect_error;

constexpr int many = 30000;  // lines: far more than are worth threads

std::string node_line(int n) {
  char text[80];
  std::snprintf(text, sizeof text, "%d, %.12g, %.3e, -%d.25\n", n, 1.0 / n, 3.0 * n, n);
  return text;
}

/// Lines 1 … of a deck of `many` nodes; line n + 1 is that of node n, unless it is replaced.
std::string nodes_with(int at = 0, const std::string& instead = {}) {
  std::string text = "*NODE, NSET=ALL\n";
  for (int n = 1; n <= many; ++n) text += n == at ? instead : node_line(n);
  return text;
}

/// Elements of eight nodes behind the nodes: element e stands at line many + 2 + e.
std::string bricks_with(int at = 0, const std::string& instead = {}) {
  std::string text = nodes_with() + "*ELEMENT, TYPE=C3D8, ELSET=E\n";
  for (int e = 1; e <= many - 8; ++e) {
    if (e == at) {
      text += instead;
      continue;
    }
    text += std::to_string(e);
    for (int a = 0; a < 8; ++a) text += ", " + std::to_string(e + a);
    text += "\n";
  }
  return text;
}

const std::string rest = "*MATERIAL, NAME=M\n*ELASTIC\n1, 0\n";

Deck parse(const std::string& text) { return parse_deck_text(text, "a.inp", {}, {}); }

void expect_nodes(const Deck& deck) {
  ASSERT_EQ(deck.nodes.ids.size(), std::size_t{many});
  ASSERT_EQ(deck.nodes.coordinates.size(), 3 * std::size_t{many});
  for (int n = 1; n <= many; ++n) {
    ASSERT_EQ(deck.nodes.ids[n - 1], n);
    ASSERT_EQ(deck.nodes.coordinates[3 * (n - 1)], std::stod(node_line(n).substr(node_line(n).find(' ')))) << n;
    ASSERT_EQ(deck.nodes.coordinates[3 * (n - 1) + 2], -(n + 0.25)) << n;
  }
  ASSERT_EQ(deck.node_sets.at("ALL").size(), std::size_t{many});
}

TEST(PlainRows, NodesAreThoseOfTheLines) {
  ASSERT_GT(nodes_with().size(), 3 * worth_threads);
  expect_nodes(parse(nodes_with() + rest));
}

TEST(PlainRows, LinesThatAreNotPlainAreReadWhereTheyStand) {
  // Comments, empty lines, Fortran's numbers and missing coordinates, in the middle and at the very end.
  for (const int at : {1, 2, many / 3, many / 2, many}) {
    const std::string own = node_line(at);
    expect_nodes(parse(nodes_with(at, "** a comment\n" + own) + rest));
    expect_nodes(parse(nodes_with(at, "\n  \t\r\n" + own) + rest));
    expect_nodes(parse(nodes_with(at, "  " + own.substr(0, own.size() - 1) + "  \r\n") + rest));
    const Deck deck = parse(nodes_with(at, std::to_string(at) + ", 1.5D+1, 2.0-1\n") + rest);
    ASSERT_EQ(deck.nodes.ids.size(), std::size_t{many});
    EXPECT_EQ(deck.nodes.coordinates[3 * (at - 1)], 15.0);
    EXPECT_EQ(deck.nodes.coordinates[3 * (at - 1) + 1], 0.2);
    EXPECT_EQ(deck.nodes.coordinates[3 * (at - 1) + 2], 0.0);
    EXPECT_EQ(deck.nodes.ids.back(), many);
  }
}

TEST(PlainRows, TheFirstBadLineIsNamed) {
  for (const int at : {2, many / 2, many - 1}) {
    const std::string line = "a.inp:" + std::to_string(at + 1);
    expect_error(ErrorCode::bad_input, {line, "coordinate 'x' is not a number"},
                 [&] { parse(nodes_with(at, std::to_string(at) + ", x, 0, 0\n") + rest); });
    expect_error(ErrorCode::bad_input, {line, "numbers start at 1"},
                 [&] { parse(nodes_with(at, "0, 1, 2, 3\n") + rest); });
    expect_error(ErrorCode::bad_input, {line, "not an integer"},
                 [&] { parse(nodes_with(at, "1.5, 1, 2, 3\n") + rest); });
    expect_error(ErrorCode::bad_input, {line, "more than three coordinates"},
                 [&] { parse(nodes_with(at, "7, 1, 2, 3, 4\n") + rest); });
    // Of two bad lines the first one counts, whichever thread meets it.
    std::string two = nodes_with(at, "7, y, 2, 3\n") + "oops\n" + rest;
    expect_error(ErrorCode::bad_input, {line, "'y'"}, [&] { parse(two); });
  }
}

TEST(PlainRows, ElementsAreThoseOfTheLinesWithTheirPlaces) {
  for (const int at : {0, many / 2}) {
    const std::string own = std::to_string(at) + ", " + std::to_string(at) + ", " + std::to_string(at + 1) + ",\n" +
                            "** the rest\n" + std::to_string(at + 2) + "," + std::to_string(at + 3) + "," +
                            std::to_string(at + 4) + "," + std::to_string(at + 5) + "," + std::to_string(at + 6) + "," +
                            std::to_string(at + 7) + "\n";
    const Deck deck = parse(bricks_with(at, own) + rest);
    const ElementCard& card = deck.elements.at(0);
    ASSERT_EQ(card.ids.size(), std::size_t{many - 8});
    ASSERT_EQ(card.nodes.size(), 8 * card.ids.size());
    for (int e = 1; e <= many - 8; ++e) {
      ASSERT_EQ(card.ids[e - 1], e);
      for (int a = 0; a < 8; ++a) ASSERT_EQ(card.nodes[8 * (e - 1) + a], e + a) << e;
      ASSERT_EQ(card.lines[e - 1], many + 2 + e + (at > 0 && e > at ? 2 : 0)) << e;
    }
    EXPECT_EQ(deck.element_sets.at("E").size(), card.ids.size());
  }
}

TEST(PlainRows, BadElementsAreNamed) {
  for (const int at : {2, many / 2, many - 9}) {
    const std::string line = "a.inp:" + std::to_string(many + 2 + at);
    const auto refused = [&](const std::string& text, const std::string& says) {
      expect_error(ErrorCode::bad_input, {line, says}, [&] { parse(bricks_with(at, text) + rest); });
    };
    refused("7, 1, 2, 3, 4, 5, 6, 7\n", "element 7 has 7 nodes, but its type C3D8 has 8");
    refused("7, 1, 2, 3, 4, 5, 6, 7, 8, 9\n", "more nodes than the 8");
    refused("7, 1, 2, 3, 4, 5, 6, 7, x\n", "'x'");
    refused("-7, 1, 2, 3, 4, 5, 6, 7, 8\n", "numbers start at 1");
  }
}

TEST(PlainRows, ElementsOfSeveralLines) {
  // Twenty nodes: fifteen with the number on the first line, as CalculiX writes them.
  const auto bricks = [](int at, const std::string& instead) {
    std::string text = nodes_with() + "*ELEMENT, TYPE=C3D20, ELSET=E\n";
    for (int e = 1; e <= many - 20; ++e) {
      if (e == at) {
        text += instead;
        continue;
      }
      text += std::to_string(e);
      for (int a = 0; a < 20; ++a) text += (a == 15 ? ",\n" : ", ") + std::to_string(e + a);
      text += "\n";
    }
    return text + rest;
  };
  const Deck deck = parse(bricks(0, {}));
  const ElementCard& card = deck.elements.at(0);
  ASSERT_EQ(card.ids.size(), std::size_t{many - 20});
  for (int e = 1; e <= many - 20; ++e) {
    ASSERT_EQ(card.ids[e - 1], e);
    ASSERT_EQ(card.nodes[20 * (e - 1) + 19], e + 19);
    ASSERT_EQ(card.lines[e - 1], many + 3 + 2 * (e - 1));
  }
  const int at = many / 2;
  std::string whole = std::to_string(at);
  for (int a = 0; a < 20; ++a) whole += "," + std::to_string(at + a);
  const Deck uneven = parse(bricks(at, whole + "\n"));  // on one line, so that all others begin elsewhere
  EXPECT_EQ(uneven.elements.at(0).ids, card.ids);
  EXPECT_EQ(uneven.elements.at(0).nodes, card.nodes);
  EXPECT_EQ(uneven.elements.at(0).lines.back(), card.lines.back() - 1);
  expect_error(ErrorCode::bad_input, {"a.inp:" + std::to_string(many + 3 + 2 * (at - 1)), "has 19 nodes"}, [&] {
    parse(bricks(at, whole.substr(0, whole.rfind(',')) + "\n*NSET, NSET=X\n1\n*ELEMENT, TYPE=C3D20\n"));
  });
}

TEST(PlainRows, FilesOfDataLines) {
  const auto folder = voussoir::testing::empty_scratch_folder("plain_rows");
  const std::string bricks = bricks_with();
  const std::size_t elements = bricks.find("*ELEMENT"), first = bricks.find('\n', elements) + 1;
  std::ofstream(folder / "elements.txt") << bricks.substr(first);
  std::ofstream(folder / "a.inp") << bricks.substr(0, elements) << "*ELEMENT, TYPE=C3D8, ELSET=E, INPUT=elements.txt\n"
                                  << rest;
  const Deck deck = parse_deck(folder / "a.inp", {});
  ASSERT_EQ(deck.elements.at(0).ids.size(), std::size_t{many - 8});
  for (const std::int32_t line : deck.elements.at(0).lines) ASSERT_EQ(line, many + 2) << "that of the card";
  EXPECT_EQ(deck.elements.at(0).nodes.back(), many - 1);
}

TEST(PlainRows, TheNumberOfThreadsDoesNotMatter) {
  const int before = omp_get_max_threads();
  const std::string text = bricks_with(many / 2, "** nothing\n") + rest;
  omp_set_num_threads(1);
  const Deck one = parse(text);
  omp_set_num_threads(5);
  const Deck five = parse(text);
  omp_set_num_threads(before);
  EXPECT_EQ(one.nodes.ids, five.nodes.ids);
  EXPECT_EQ(one.nodes.coordinates, five.nodes.coordinates);
  EXPECT_EQ(one.elements.at(0).ids, five.elements.at(0).ids);
  EXPECT_EQ(one.elements.at(0).nodes, five.elements.at(0).nodes);
  EXPECT_EQ(one.elements.at(0).lines, five.elements.at(0).lines);
}

}  // namespace
}  // namespace voussoir::deck
