// The program as a user meets it: what it prints, what it writes, how it ends.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

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

/// The numbers behind a label of the demonstration's tables.
std::vector<double> numbers_after(const std::string& text, const std::string& label) {
  const std::size_t line = text.find("  " + label + " ");
  std::vector<double> numbers;
  if (line == std::string::npos) return numbers;
  std::istringstream words(text.substr(line + 2 + label.size(), text.find('\n', line) - line - 2 - label.size()));
  std::string word;
  while (words >> word)
    if (std::isdigit(static_cast<unsigned char>(word.back()))) numbers.push_back(std::stod(word));
  return numbers;
}

TEST(Program, DemoShakesAPumpAndWritesFilesThatMayBeWrittenAgain) {
  const std::string folder = voussoir::testing::scratch_file("demo").string();
  for (int again = 0; again < 2; ++again) {
    const Outcome demo = run("demo --size 7000 --backend openmp:2 --output \"" + folder + "\"");
    ASSERT_EQ(demo.code, 0) << demo.text;
    EXPECT_TRUE(contains(demo.text, "verified: 12 of 12 below")) << demo.text;
    // A stiff structure of 3.1 t, which sways along y in its first mode with some 88 % of its mass. The earthquake has
    // the spectrum of Eurocode 8, which rises from 0.3 g at the period 0 to 0.75 g at 0.15 s.
    const auto modes = numbers_after(demo.text, "    1"), moved = numbers_after(demo.text, "displacement along y"),
               mises = numbers_after(demo.text, "von Mises stress around then"),
               shear = numbers_after(demo.text, "base shear along y");
    ASSERT_GT(modes.size(), 4u) << demo.text;
    ASSERT_EQ(moved.size(), 3u) << demo.text;
    ASSERT_EQ(mises.size(), 3u) << demo.text;
    ASSERT_EQ(shear.size(), 2u) << demo.text;
    EXPECT_NEAR(modes[0], 28, 4) << "Hz";
    EXPECT_GT(modes[3], 80) << "percent of the mass sway in it";
    const double acceleration = 9.81 * 0.3 * (1 + 1.5 / (0.15 * modes[0]));
    EXPECT_NEAR(std::abs(shear[0]) / (3.1 * acceleration), 0.95, 0.15) << "kN: mass times acceleration";
    const double omega = 2 * 3.14159265 * modes[0];
    EXPECT_NEAR(moved[0] / (1e3 * acceleration / omega / omega), 1.3, 0.25) << "mm: the top moves more than the mean";
    EXPECT_GT(mises[0], 3);
    for (const auto& peak : {moved, mises}) EXPECT_NEAR(peak[1], 7, 5.5) << "s: when the ground shakes most";
    for (const char* name : {"pump.pvd", "pump_01.vtu", "pump_11.vtu", "pump_modes.svg", "pump_history.svg",
                             "pump_history.csv", "pump_spectrum.svg"})
      EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
    for (const char* name : {"pump.png", "pump_modes.png"})
      EXPECT_GT(std::filesystem::file_size(folder + "/" + name), 20000u) << name;
  }
}

TEST(Program, NamesABackendThatIsNotThere) {
  const Outcome outcome = run("demo --backend opnemp");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.text, "opnemp"));
  EXPECT_TRUE(contains(outcome.text, "openmp")) << "the nearest name is proposed: " << outcome.text;
}

TEST(Program, NamesASolverThatIsNotThere) {
  const Outcome outcome = run("demo --size 1 --solver lancos");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.text, "did you mean 'lanczos'?")) << outcome.text;
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
