#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "job_models.hpp"
#include "support/expect_error.hpp"

// Two runs of one name in one folder.

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::bar_with_tables;
using testing::expect_error;
using testing::plainly;
using testing::pulled_bar;
using testing::read_all;
using testing::run_and_write;

class ResultLocks : public testing::FolderTest {};

TEST_F(ResultLocks, ARunOfTheSameNameInTheSameFolderIsRefusedBeforeAnythingIsSolved) {
  Job job = bar_with_tables();
  const JobResult solved = run_job(job, plainly());
  OutputOptions pictures = here(), force = here();
  pictures.vtu = pictures.tables = false;
  pictures.pictures = Pictures::worst;
  force.overwrite = true;
  {
    ResultFiles running(job, here());
    for (const OutputOptions& other : {here(), pictures, force})
      expect_error(ErrorCode::io, {"this process", "is writing results of this name", "--output", "'bar'"},
                   [&] { ResultFiles(job, other); });
    OutputOptions elsewhere = here(), renamed = here();
    elsewhere.folder = folder_ / "other";
    renamed.name = "rod";
    EXPECT_NO_THROW((ResultFiles(job, elsewhere), ResultFiles(job, renamed)));
    running.write_step(0, solved.steps[0]);
    running.finish(solved, {plainly(), 0});
    EXPECT_FALSE(fs::exists(folder_ / ".bar.running"));
    ResultFiles(job, force);  // the first one has ended, although its object is still there
  }
  {
    ResultFiles stopped(job, force);
    EXPECT_TRUE(fs::exists(folder_ / ".bar.running"));
    stopped.give_up(Error(ErrorCode::cancelled, "stopped"), {plainly(), 0});
    EXPECT_FALSE(fs::exists(folder_ / ".bar.running"));
  }
  { const ResultFiles forgotten(job, force); }
  EXPECT_FALSE(fs::exists(folder_ / ".bar.running"));
}

TEST_F(ResultLocks, TheLockFileOfAKilledRunIsNoObstacle) {
  Job job = bar_with_tables();
  std::ofstream(folder_ / ".bar.running") << "4711 elsewhere\n";
  ResultFiles results(job, here());
  run_and_write(job, results);
  EXPECT_FALSE(fs::exists(folder_ / ".bar.running"));
}

TEST_F(ResultLocks, WhatIsNoLockFileIsNotTouched) {
  Job job = bar_with_tables();
  std::ofstream(folder_ / "precious") << "precious";
  fs::create_symlink("precious", folder_ / ".bar.running");
  expect_error(ErrorCode::io, {".bar.running", "lock file", "--output"}, [&] { ResultFiles(job, here()); });
  EXPECT_EQ(read_all(folder_ / "precious"), "precious");
  fs::remove(folder_ / ".bar.running");
  fs::create_directory(folder_ / ".bar.running");
  expect_error(ErrorCode::io, {".bar.running", "lock file"}, [&] { ResultFiles(job, here()); });
}

TEST_F(ResultLocks, LongNamesHaveLocksToo) {
  Job job = bar_with_tables();
  OutputOptions first = here(), second = here();
  first.tables = second.tables = first.json = second.json = false;
  first.name = std::string(250, 'n') + "1";
  second.name = std::string(250, 'n') + "2";
  const ResultFiles running(job, first), another(job, second);
  expect_error(ErrorCode::io, {"is writing results of this name"}, [&] { ResultFiles(job, first); });
}

// As on a file system without locks: whoever comes second stops, and keeps the other's files.
TEST_F(ResultLocks, OfTwoRunsWithoutLocksTheSecondFailsAndKeepsTheFirstOnesFiles) {
  Job job = bar_with_tables();
  testing::one_more_step(job);
  const JobResult solved = run_job(job, plainly());
  ResultFiles winner(job, here());
  fs::remove(folder_ / ".bar.running");
  ResultFiles loser(job, here());
  winner.write_step(0, solved.steps[0]);
  expect_error(ErrorCode::io, {"bar_step1.vtu", "another run", "--output"},
               [&] { loser.write_step(0, solved.steps[0]); });
  loser.give_up(Error(ErrorCode::io, "lost"), {plainly(), 0});
  EXPECT_TRUE(loser.written().empty());
  EXPECT_EQ(Json::parse(loser.json())["status"], "failed");
  EXPECT_FALSE(fs::exists(folder_ / "bar.results.json"));
  winner.write_step(1, solved.steps[1]);
  winner.finish(solved, {plainly(), 0});
  EXPECT_EQ(Json::parse(read_all(folder_ / "bar.results.json"))["status"], "finished");
  EXPECT_NE(read_all(folder_ / "bar.pvd").find("bar_step2.vtu"), std::string::npos);
}

TEST_F(ResultLocks, ARunThatLosesItsLastNameKeepsTheOtherFile) {
  for (const std::string taken : {"bar.dat", "bar.results.json"}) {
    Job job = bar_with_tables();
    const JobResult solved = run_job(job, plainly());
    OutputOptions options = here();
    options.folder = folder_ / taken;
    fs::remove_all(options.folder);
    ResultFiles results(job, options);
    results.write_step(0, solved.steps[0]);
    std::ofstream(options.folder / taken) << "precious";
    expect_error(ErrorCode::io, {taken, "another run"}, [&] { results.finish(solved, {plainly(), 0}); });
    results.give_up(Error(ErrorCode::io, "lost"), {plainly(), 0});
    EXPECT_EQ(read_all(options.folder / taken), "precious");
    EXPECT_EQ(fs::exists(options.folder / "bar.results.json"), taken == "bar.results.json");
  }
}

TEST_F(ResultLocks, AListThatSomebodyElseWroteIsNotReplaced) {
  Job job = pulled_bar();
  testing::one_more_step(job);
  const JobResult solved = run_job(job, plainly());
  ResultFiles results(job, here());
  results.write_step(0, solved.steps[0]);
  fs::remove(folder_ / "bar.pvd");
  std::ofstream(folder_ / "bar.pvd") << "precious";
  expect_error(ErrorCode::io, {"bar.pvd", "another run"}, [&] { results.write_step(1, solved.steps[1]); });
  EXPECT_EQ(read_all(folder_ / "bar.pvd"), "precious");
}

}  // namespace
}  // namespace voussoir
