// Progress on a terminal, none in a pipe; Ctrl-C.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A model that CG without a preconditioner works on for minutes, since its tolerance is below rounding.
struct LongRun {
  std::filesystem::path folder;
  std::vector<std::string> arguments{"run",   "long.inp",         "--solver",  "cg+none",   "--tolerance",
                                     "1e-15", "--max-iterations", "100000000", "--threads", "1"};
  explicit LongRun(const std::string& name) : folder(fresh_folder(name)) {
    write_text(folder / "long.inp", cantilever_deck(200, 6, 6));
  }
};

TEST(Progress, IsDrawnOnATerminalAndClearedAtTheEnd) {
  const auto folder = fresh_folder("progress");
  write_text(folder / "bar.inp", cantilever_deck(150, 6, 6));
  RunSettings settings;
  settings.folder = folder;
  settings.terminal = true;
  const Outcome run =
      run_program({"run", "bar.inp", "--solver", "cg+jacobi", "--threads", "1", "--no-files"}, settings);
  ASSERT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(contains(run.error, "\r")) << run.error;
  EXPECT_TRUE(contains(run.error, "bar.inp  step 1/1")) << run.error;
  EXPECT_TRUE(contains(run.error, "iteration")) << run.error;
  EXPECT_TRUE(contains(run.error, "residual")) << run.error;
  const auto last = run.error.rfind("\r\x1b[K");
  ASSERT_NE(last, std::string::npos);
  EXPECT_EQ(run.error.substr(last), "\r\x1b[K") << "the line is taken off at the end";
  // At most ten lines a second: far fewer than iterations.
  settings.terminal = false;
  const Outcome pipe =
      run_program({"run", "bar.inp", "--solver", "cg+jacobi", "--threads", "1", "--no-files"}, settings);
  EXPECT_TRUE(pipe.error.empty()) << pipe.error;
  settings.terminal = true;
  const Outcome quiet =
      run_program({"run", "bar.inp", "--solver", "cg+jacobi", "--threads", "1", "--no-files", "--quiet"}, settings);
  EXPECT_TRUE(quiet.error.empty()) << quiet.error;
}

TEST(Progress, ColoursFollowTheUsersWish) {
  RunSettings settings;
  settings.folder = fresh_folder("colours");
  settings.terminal = true;
  EXPECT_TRUE(contains(run_program({"run", "none.inp"}, settings).error, "\x1b[31;1merror:")) << "red on a terminal";
  settings.environment = {"NO_COLOR=1"};
  EXPECT_FALSE(contains(run_program({"run", "none.inp"}, settings).error, "\x1b[31"));
}

TEST(Interrupt, CtrlCStopsALongSolveAndLeavesNoHalfFiles) {
  const LongRun model("interrupt");
  RunSettings settings;
  settings.folder = model.folder;
  settings.signal = SIGINT;
  settings.terminal = true;
  settings.when = "iteration";
  const auto start = std::chrono::steady_clock::now();
  const Outcome run = run_program(model.arguments, settings);
  EXPECT_EQ(run.code, 130) << run.error;
  EXPECT_LT(seconds_since(start), 20) << "reading, numbering and stopping";
  EXPECT_TRUE(contains(run.error, "stopped during step 1")) << run.error;
  EXPECT_TRUE(contains(run.error, "no files were written")) << run.error;
  EXPECT_EQ(files_in(model.folder), (std::vector<std::string>{"long.inp"}));
}

TEST(Interrupt, TerminationHasItsOwnCode) {
  const LongRun model("terminate");
  RunSettings settings;
  settings.folder = model.folder;
  settings.signal = SIGTERM;
  settings.terminal = true;
  settings.when = "iteration";
  EXPECT_EQ(run_program(model.arguments, settings).code, 143);
  EXPECT_EQ(files_in(model.folder), (std::vector<std::string>{"long.inp"}));
}

TEST(Interrupt, AnEliminationIsEndedUnderWay) {
  // A direct solver does not listen; the program is ended for it, within a second or two.
  const auto folder = fresh_folder("interrupt_direct");
  write_text(folder / "block.inp", cantilever_deck(26, 26, 26));
  RunSettings settings;
  settings.folder = folder;
  settings.signal = SIGINT;
  settings.terminal = true;
  settings.when = "assemble and solve";
  const Outcome run = run_program({"run", "block.inp", "--solver", "direct:eigen", "--threads", "1"}, settings);
  EXPECT_EQ(run.code, 130) << run.error;
  EXPECT_TRUE(contains(run.error, "stopped during step 1")) << run.error;
  EXPECT_EQ(files_in(folder), (std::vector<std::string>{"block.inp"}));
}

// METIS catches SIGTERM for itself while it orders the equations, which takes most of the first seconds here.
TEST(Interrupt, TerminationIsNotLostToALibrary) {
  const auto folder = fresh_folder("terminate_ordering");
  for (const double after : {0.4, 0.8, 1.2}) {
    RunSettings settings;
    settings.folder = folder;
    settings.signal = SIGTERM;
    settings.after = after;
    settings.limit_seconds = 60;
    const Outcome run = run_program({"demo", "--size", "150000", "--solver", "lanczos"}, settings);
    EXPECT_EQ(run.code, 143) << "after " << after << " s: " << run.error;
  }
  EXPECT_TRUE(files_in(folder).empty());
}

TEST(Interrupt, EveryCommandEndsWithTheSignalsCode) {
  const auto folder = fresh_folder("interrupt_commands");
  const std::vector<std::vector<std::string>> commands{
      {"demo", "--size", "400000"}, {"mesh", "box", "box.inp", "--dofs", "30000000"}, {"bench", "--files"}};
  for (const auto& command : commands)
    for (const int signal : {SIGINT, SIGTERM}) {
      RunSettings settings;
      settings.folder = folder;
      settings.signal = signal;
      settings.after = 0.2;
      settings.limit_seconds = 60;
      EXPECT_EQ(run_program(command, settings).code, 128 + signal) << command[0];
      EXPECT_TRUE(files_in(folder).empty()) << command[0];
    }
}

}  // namespace
}  // namespace voussoir::testing
