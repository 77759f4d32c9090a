// What is lost on the way out, and words of the command line that are wrong.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

/// Runs a line of the shell, in which $V is the program; standard error goes into the file `error`.
int shell(const std::filesystem::path& folder, const std::string& line) {
  const std::string command =
      "cd '" + folder.string() + "' && V='" + VSR_TEST_PROGRAM + "' && { " + line + "; } 2>error";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Streams, ALimitOfTheSizeOfFilesIsToldLikeAFullDisk) {
  const auto folder = fresh_folder("file_limit");
  write_text(folder / "a.inp", cantilever_deck(12, 3, 3));
  EXPECT_EQ(shell(folder, "(ulimit -f 1; \"$V\" run a.inp --output x >/dev/null)"), 5);
  EXPECT_TRUE(contains(read_text(folder / "error"), "writing failed: File too large")) << read_text(folder / "error");
}

TEST(Streams, LostStandardOutputIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  const auto folder = fresh_folder("lost_output");
  write_text(folder / "a.inp", cantilever_deck(2, 1, 1));
  for (const char* words : {"run a.inp --json --no-files", "run a.inp --no-files", "check a.inp", "info", "--help",
                            "--version", "help run", "man", "completion bash"}) {
    EXPECT_EQ(shell(folder, std::string("\"$V\" ") + words + " >/dev/full"), 5) << words;
    EXPECT_TRUE(contains(read_text(folder / "error"), "standard output could not be written")) << words;
  }
  EXPECT_EQ(shell(folder, "\"$V\" run a.inp --no-files --quiet >/dev/full"), 0) << "nothing was printed, nothing lost";
}

TEST(CommandLine, AMistypedCommandIsToldWithTheOneThatIsMeant) {
  const auto expect = [](const std::vector<std::string>& words, const std::string& text) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, 2) << words[0];
    EXPECT_TRUE(contains(outcome.error, text)) << outcome.error;
  };
  expect({"rnu", "a.inp"}, "there is no command 'rnu'; did you mean 'run'?");
  expect({"chekc"}, "did you mean 'check'?");
  expect({"paint"}, "there is no command 'paint'; there are run, check, plan, modal, heat, mesh");
  expect({"mesh", "bxo", "a.inp"}, "there is no command 'bxo'; did you mean 'box'?");
  expect({"mesh", "sphere", "a.inp"}, "there is no command 'sphere'; there are box, cylinder, plate, pump");
  expect({"help", "rnu"}, "did you mean 'run'?");
  expect({"help", "run", "fast"}, "'voussoir run' has no subcommands");
  expect({"--foo"}, "there is no option '--foo' here");
}

TEST(CommandLine, NumbersOutOfRangeAreToldInWords) {
  const auto expect = [](const std::vector<std::string>& words, const std::string& text) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, 2) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, text)) << outcome.error;
  };
  expect({"mesh", "box", "a.inp", "--size", "-1"}, "--size: must be a number above 0, not '-1'");
  expect({"mesh", "box", "a.inp", "--dofs", "0"}, "--dofs: must be an integer from 1 to 1000000000000, not '0'");
  expect({"run", "a.inp", "--tolerance", "0"}, "--tolerance: must be a number from 1e-15 to 0.5, not '0'");
  expect({"run", "a.inp", "--tolerance", "abc"}, "--tolerance: must be a number from 1e-15 to 0.5, not 'abc'");
  expect({"run", "a.inp", "--threads", "0"}, "--threads: must be an integer from 1 to 1024, not '0'");
  expect({"mesh", "box", "a.inp", "-t", "hex27"}, "there are no elements 'hex27' for this shape; there are hex8, ");
  RunSettings there;
  there.folder = fresh_folder("tiny_cells");
  const Outcome tiny = run_program({"mesh", "box", "a.inp", "--size", "1e-9"}, there);
  EXPECT_EQ(tiny.code, 1);
  EXPECT_TRUE(contains(tiny.error, "cells of size 1e-09 are too many")) << tiny.error;
}

TEST(CheckCommand, QuietErrorsNameTheirFile) {
  const auto folder = fresh_folder("quiet_errors");
  for (const char* name : {"a.inp", "b.inp"}) {
    std::string deck = cantilever_deck(1, 1, 1);
    const std::string nodes = "1, 1, 2, 4, 3, 5, 6, 8, 7";
    const std::size_t at = deck.find(nodes);
    ASSERT_NE(at, std::string::npos);
    write_text(folder / name, deck.replace(at, nodes.size(), "1, 5, 6, 8, 7, 1, 2, 4, 3"));
  }
  RunSettings there;
  there.folder = folder;
  const Outcome outcome = run_program({"check", "a.inp", "b.inp", "-q"}, there);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "error: a.inp: ")) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "error: b.inp: ")) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "without volume: element 1.")) << outcome.error;
}

TEST(InfoCommand, ListsAloneWhatItIsAskedFor) {
  const Outcome elements = run_program({"info", "--elements"});
  EXPECT_TRUE(elements.out.starts_with("element types: ")) << elements.out;
  EXPECT_FALSE(contains(elements.out, "machine"));
  const Outcome decks = run_program({"info", "--decks"});
  EXPECT_TRUE(decks.out.starts_with("in decks")) << decks.out;
  EXPECT_FALSE(contains(decks.out, "machine"));
}

TEST(Completion, OfHelpKnowsAllCommands) {
  EXPECT_TRUE(
      contains(run_program({"completion", "bash"}).out,
               "'run check plan modal heat mesh partition study solve reduce demo info bench completion man help'"));
}

}  // namespace
}  // namespace voussoir::testing
