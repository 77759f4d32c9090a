// Names from decks and folders hold any bytes. A terminal must not obey them.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

/// Whether text has a control character that a terminal obeys, other than ends of lines and, with `colours`, ours.
bool has_controls(std::string text, bool colours) {
  if (colours)
    for (const std::string ours : {"\x1b[0m", "\x1b[1m", "\x1b[31;1m", "\x1b[33m", "\r\x1b[K", "\r"})
      for (std::size_t at; (at = text.find(ours)) != std::string::npos;) text.erase(at, ours.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return true;
    if (c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

const std::string evil =
    "E\x1b]0;owned\x07\xc2\x9b"
    "8m\x1b[8m";

std::string evil_deck() {
  std::string deck = cantilever_deck(2, 1, 1);
  deck.replace(deck.find("A cantilever"), 12, "A " + evil);
  for (std::size_t at = 0; (at = deck.find("TIP", at)) != std::string::npos; at += evil.size())
    deck.replace(at, 3, evil);
  return deck;
}

TEST(Names, OfADeckDoNotReachTheTerminalAsControlCharacters) {
  RunSettings settings;
  settings.folder = fresh_folder("evil");
  write_text(settings.folder / "evil.inp", evil_deck());
  std::string wrong = evil_deck();
  wrong.replace(wrong.find("MATERIAL=STEEL"), 14, "MATERIAL=" + evil);
  write_text(settings.folder / "wrong.inp", wrong);
  const std::string file = "f\x1b[2Jile.inp";
  write_text(settings.folder / file, evil_deck());
  for (const bool terminal : {false, true}) {
    settings.terminal = terminal;
    for (const std::vector<std::string>& command : {std::vector<std::string>{"run", "evil.inp", "--force"},
                                                    {"check", "evil.inp", "--verbose"},
                                                    {"run", "evil.inp", "--no-files", "--verbose"},
                                                    {"run", "evil.inp", "--json", "--no-files"},
                                                    {"check", "evil.inp", "--json"},
                                                    {"run", "wrong.inp"},
                                                    {"check", "wrong.inp"},
                                                    {"check", "wrong.inp", "--json"},
                                                    {"run", file, "--force"},
                                                    {"run", "none" + evil},
                                                    {"check", "--" + evil},
                                                    {evil}}) {
      const Outcome run = run_program(command, settings);
      EXPECT_FALSE(has_controls(run.out, false)) << command[0] << " " << command.back() << "\n" << run.out;
      EXPECT_FALSE(has_controls(run.error, terminal)) << command[0] << " " << command.back() << "\n" << run.error;
    }
  }
}

TEST(Names, OfADeckAreShownAsEscapes) {
  RunSettings settings;
  settings.folder = fresh_folder("evil_shown");
  write_text(settings.folder / "evil.inp", evil_deck());
  const Outcome run = run_program({"check", "evil.inp"}, settings);
  EXPECT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(contains(run.out, "A E\\x1b]0;owned\\x07\\u009b8m")) << run.out;
}

TEST(Names, OfAnyEncodingMakeValidJson) {
  RunSettings settings;
  settings.folder = fresh_folder("latin");
  std::string deck = cantilever_deck(2, 1, 1);
  deck.replace(deck.find("A cantilever"), 12, "Tr\xe4ger");
  write_text(settings.folder / "bar.inp", deck);
  for (const std::string command : {"run", "check"}) {
    const Outcome run = run_program({command, "bar.inp", "--json"}, settings);
    EXPECT_TRUE(nlohmann::json::accept(run.out)) << run.out;
  }
  EXPECT_TRUE(nlohmann::json::accept(read_text(settings.folder / "bar.results.json")));
}

}  // namespace
}  // namespace voussoir::testing
