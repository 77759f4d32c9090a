#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "job_models.hpp"
#include "support/expect_error.hpp"
#include "support/small_disk.hpp"

// Existing files are kept, places where nothing can be written are found before solving, and no partial file is left.

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using testing::bar_with_tables;
using testing::expect_error;
using testing::plainly;
using testing::pulled_bar;
using testing::read_all;
using testing::run_and_write;
using testing::SmallDisk;

class ResultFileSafety : public testing::FolderTest {};

TEST_F(ResultFileSafety, ExistingResultsAreRefusedBeforeAnythingIsSolved) {
  Job job = bar_with_tables();
  std::ofstream(folder_ / "bar.results.json") << "precious";
  expect_error(ErrorCode::io, {"bar.results.json", "--force", "--output", folder_.string()},
               [&] { ResultFiles(job, here()); });
  std::ofstream(folder_ / "bar.vtu") << "precious";
  std::ofstream(folder_ / "bar_U_xmax.csv") << "precious";
  expect_error(ErrorCode::io, {"and 1 more"}, [&] { ResultFiles(job, here()); });
  EXPECT_EQ(read_all(folder_ / "bar.vtu"), "precious");
  // Files that this run would not write do not matter.
  OutputOptions tables = here();
  tables.vtu = tables.json = false;
  expect_error(ErrorCode::io, {"bar_U_xmax.csv"}, [&] { ResultFiles(job, tables); });
  OutputOptions force = here();
  force.overwrite = true;
  ResultFiles results(job, force);
  run_and_write(job, results);
  EXPECT_NE(read_all(folder_ / "bar.vtu"), "precious");
  EXPECT_NE(read_all(folder_ / "bar.results.json"), "precious");
  EXPECT_EQ(files().size(), 8u);
}

TEST_F(ResultFileSafety, ALinkThatLeadsNowhereIsNoticedBeforeAnythingIsSolved) {
  Job job = bar_with_tables();
  fs::create_symlink("nowhere", folder_ / "bar.dat");
  expect_error(ErrorCode::io, {"bar.dat (a dangling link)", "--force"}, [&] { ResultFiles(job, here()); });
  OutputOptions force = here();
  force.overwrite = true;
  ResultFiles results(job, force);
  run_and_write(job, results);
  EXPECT_FALSE(fs::is_symlink(folder_ / "bar.dat"));
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
}

TEST_F(ResultFileSafety, OutputGoesToAFolderThatIsMade) {
  Job job = pulled_bar();
  OutputOptions options = here();
  options.folder /= "deep/down";
  options.name = "other";
  ResultFiles results(job, options);
  run_and_write(job, results);
  EXPECT_TRUE(fs::exists(folder_ / "deep/down/other.vtu"));
}

TEST_F(ResultFileSafety, RefusesPlacesWhereNothingCanBeWritten) {
  Job job = pulled_bar();
  OutputOptions options = here();
  std::ofstream(folder_ / "file") << "x";
  options.folder = folder_ / "file" / "below";
  expect_error(ErrorCode::io, {"cannot be created", "--output"}, [&] { ResultFiles(job, options); });
  options = here();
  for (const char* name : {"a/b", "..", "."}) {
    options.name = name;
    expect_error(ErrorCode::bad_input, {"without '/'"}, [&] { ResultFiles(job, options); });
  }
  fs::create_directories(folder_ / "bar.vtu");
  expect_error(ErrorCode::io, {"a folder has the name", "bar.vtu"}, [&] { ResultFiles(job, here()); });
  job.name.clear();
  expect_error(ErrorCode::bad_input, {"name ''"}, [&] { ResultFiles(job, here()); });
  if (::geteuid() != 0) {  // to root every folder is open
    fs::create_directories(folder_ / "closed");
    fs::permissions(folder_ / "closed", fs::perms::owner_read | fs::perms::owner_exec);
    options = here();
    options.folder = folder_ / "closed";
    job.name = "bar";
    expect_error(ErrorCode::io, {"the folder is not writable", "--output"}, [&] { ResultFiles(job, options); });
  }
}

TEST_F(ResultFileSafety, NamesThatAreTooLongAreToldBeforeSolving) {
  const Job job = pulled_bar();
  OutputOptions options = here();
  options.name = std::string(250, 'n');
  try {
    const ResultFiles results(job, options);
    ADD_FAILURE() << "no file can have such a name";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("the limit is 255"), std::string::npos) << error.what();
  }
  options.name = std::string(230, 'n');
  options.overwrite = true;
  Job again = pulled_bar();
  again.steps[0].prints.clear();
  for (int i = 0; i < 2; ++i) {  // to replace a file takes a temporary name beside it
    ResultFiles results(again, options);
    run_and_write(again, results);
  }
  EXPECT_TRUE(fs::exists(folder_ / (options.name + ".results.json")));
}

TEST_F(ResultFileSafety, WithoutAnEndNothingHalfIsLeft) {
  Job job = bar_with_tables();
  {
    ResultFiles results(job, here());
    run_job(job, plainly(), {}, [&](std::size_t step, StepResult r) { results.write_step(step, std::move(r)); });
  }
  // The .dat was begun and never finished: it is not there, and neither is its beginning.
  for (const std::string& name : files()) {
    EXPECT_EQ(name.find(".part"), std::string::npos) << name;
    EXPECT_EQ(name.find(".dat"), std::string::npos) << name;
  }
}

TEST_F(ResultFileSafety, AFullDiskLeavesWholeFilesOnly) {
  Job job = bar_with_tables();
  ResultFiles results(job, here());
  const JobResult solved = run_job(job, plainly());
  {
    const SmallDisk full(300);  // enough for no picture
    expect_error(ErrorCode::io, {"bar.vtu", "writing failed"}, [&] { results.write_step(0, solved.steps[0]); });
    results.give_up(Error(ErrorCode::io, "full"), {plainly(), 0});
  }
  EXPECT_TRUE(files().empty()) << files().front();
  EXPECT_TRUE(results.written().empty());
  {
    const SmallDisk full(8000);  // the picture fits, results.json might; the tables of points do not
    for (int k = 0; k < 6; ++k) job.steps[0].prints.push_back(job.steps[0].prints[1]);
    ResultFiles more(job, here());
    EXPECT_THROW(
        {
          more.write_step(0, solved.steps[0]);
          more.finish({}, {plainly(), 0});
        },
        Error);
    for (const std::string& name : files()) EXPECT_EQ(name.find(".part"), std::string::npos) << name;
    for (const auto& path : more.written()) EXPECT_TRUE(fs::exists(path)) << path;
    EXPECT_EQ(more.written().size() + 1, files().size());  // the lock is held until give_up()
  }
}

TEST_F(ResultFileSafety, AKilledProgramLeavesWholeFilesOnly) {
  Job job = bar_with_tables();
  const JobResult solved = run_job(job, plainly());
  const pid_t child = ::fork();
  if (child == 0) {
    omp_set_num_threads(1);  // the threads of before are not there after a fork
    ResultFiles results(job, here());
    OutputOptions options = here();
    options.vtu = false;
    options.name = "killed";
    ResultFiles tables(job, options);
    tables.write_step(0, solved.steps[0]);  // the .dat is begun
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto names = files();
  EXPECT_TRUE(std::count(names.begin(), names.end(), "killed_U_xmax.csv"));
  EXPECT_FALSE(std::count(names.begin(), names.end(), "killed.dat"));
}

}  // namespace
}  // namespace voussoir
