// The program as a user meets it: what it prints, what it writes, how it ends.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/scratch_folder.hpp"

namespace {

struct Outcome {
  int code = -1;
  std::string text;  // what came out on both streams
};

Outcome run(const std::string& arguments) {
  const std::string command = std::string("\"") + VSR_TEST_PROGRAM + "\" " + arguments + " 2>&1";
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return outcome;
  std::array<char, 4096> buffer;
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) outcome.text.append(buffer.data(), n);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return outcome;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Program, TellsItsVersionAndItsCommands) {
  EXPECT_TRUE(contains(run("--version").text, "voussoir 0."));
  const Outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  for (const char* word : {"demo", "info", "bench", "Exit codes"}) EXPECT_TRUE(contains(help.text, word)) << word;
}

TEST(Program, WrongCommandLinesEndWithTwo) {
  for (const char* arguments : {"", "nonsense", "demo --size 0", "demo --size many", "demo --no-such-option"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_FALSE(outcome.text.empty()) << arguments;
  }
}

TEST(Program, AFolderThatCannotBeMadeIsAFaultOfFiles) {
  const std::filesystem::path file = voussoir::testing::scratch_file("no_folder");
  std::ofstream(file) << "a file, not a folder";
  EXPECT_EQ(run("demo --size 6000 --output \"" + file.string() + "\"").code, 5);
}

TEST(Program, InfoShowsBackendsSolversAndElementTypes) {
  Outcome info = run("info");
  info.text += run("info --elements").text;
  EXPECT_EQ(info.code, 0);
  for (const char* word : {"openmp", "debug", "cuda", "eigen", "solid.hex8", "native", "young", "auto is"})
    EXPECT_TRUE(contains(info.text, word)) << word;
}

TEST(Program, DemoBalancesItsLoadsAndWritesFilesThatMayBeWrittenAgain) {
  const std::string folder = voussoir::testing::scratch_file("demo").string();
  for (int again = 0; again < 2; ++again) {
    const Outcome demo = run("demo --size 7000 --backend openmp:2 --output \"" + folder + "\"");
    ASSERT_EQ(demo.code, 0) << demo.text;
    EXPECT_TRUE(contains(demo.text, "gravity + lateral"));
    // The columns of a step: its loads and what the feet answer. 0.4 of the weight pushes sideways.
    const std::size_t line = demo.text.find("  gravity + lateral ");
    ASSERT_NE(line, std::string::npos);
    double moved = 0, mises = 0, load_y = 0, reaction_y = 0, load_z = 0, reaction_z = 0;
    long node = 0, other = 0;
    ASSERT_EQ(std::sscanf(demo.text.c_str() + line + 20, "%lf %ld %lf %ld %lf %lf %lf %lf", &moved, &node, &mises,
                          &other, &load_y, &reaction_y, &load_z, &reaction_z),
              8)
        << demo.text;
    EXPECT_NEAR(load_y, -0.4 * load_z, 0.001);
    EXPECT_NEAR(reaction_y, -load_y, 0.001);
    EXPECT_NEAR(reaction_z, -load_z, 0.001);
    EXPECT_NEAR(load_z, -30, 2) << "some 3 t";
    EXPECT_TRUE(std::filesystem::exists(folder + "/pump.vtu"));
    EXPECT_GT(std::filesystem::file_size(folder + "/pump.png"), 20000u);
  }
}

TEST(Program, NamesABackendThatIsNotThere) {
  const Outcome outcome = run("demo --backend opnemp");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.text, "opnemp"));
  EXPECT_TRUE(contains(outcome.text, "openmp")) << "the nearest name is proposed: " << outcome.text;
}

TEST(Program, NamesASolverThatIsNotThere) {
  const Outcome outcome = run("demo --size 1 --solver cg+magic");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.text, "there is no preconditioner")) << outcome.text;
  EXPECT_TRUE(contains(outcome.text, "fsai")) << outcome.text;
}

TEST(Program, QuickBenchmarkChecksWhatItTimes) {
  const Outcome bench = run("bench --quick --size 3 --backend openmp:1");
  EXPECT_EQ(bench.code, 0) << bench.text;
  for (const char* word : {"Triad", "BSR product", "CG iteration", "Eigen"})
    EXPECT_TRUE(contains(bench.text, word)) << word;
}

TEST(Program, BenchOfFilesReadsBackWhatItWrites) {
  const Outcome bench = run("bench --files --file-size 8");
  EXPECT_EQ(bench.code, 0) << bench.text;
  for (const char* word : {"512 nodes", "read a deck", "read .msh, binary", "write a VTU", "floor", "x arrays"})
    EXPECT_TRUE(contains(bench.text, word)) << word;
}

}  // namespace
