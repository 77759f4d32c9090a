#include <voussoir/jobs/detail/background_work.hpp>

#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <chrono>
#include <map>
#include <stdexcept>
#include <vector>

#include "job_models.hpp"
#include "support/expect_error.hpp"
#include "support/small_disk.hpp"

// Files of a step that are written while the next one is solved.

namespace voussoir {
namespace {

using detail::BackgroundWork;
using testing::expect_error;
using testing::plainly;
using testing::read_all;
using testing::SmallDisk;

TEST(BackgroundWork, DoesPiecesInOrderAndOneAtATime) {
  std::vector<int> done;  // unguarded: a thread sanitizer would see two pieces at once
  std::atomic<int> running{0};
  BackgroundWork background;
  for (int i = 0; i < 50; ++i)
    background.begin([&, i] {
      EXPECT_EQ(++running, 1);
      done.push_back(i);
      --running;
    });
  background.wait();
  ASSERT_EQ(done.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(done[i], i);
  EXPECT_FALSE(background.has_failed());
  background.check();
}

TEST(BackgroundWork, UsesAsManyThreadsAsTheCaller) {
  const int before = omp_get_max_threads();
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    BackgroundWork background;
    int seen = 0;
    background.begin([&] { seen = omp_get_max_threads(); });
    background.wait();
    EXPECT_EQ(seen, threads);
  }
  omp_set_num_threads(before);
}

TEST(BackgroundWork, RunsBesideTheCallerAndHoldsNothingAfterwards) {
  std::atomic<bool> go{false};
  const auto held = std::make_shared<int>(1);
  BackgroundWork background;
  background.begin([&go, held] {
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  EXPECT_EQ(held.use_count(), 2);
  go = true;
  background.wait();
  EXPECT_EQ(held.use_count(), 1) << "what a piece holds is let go when it has ended";
}

TEST(BackgroundWork, AFailureComesOutOfTheNextCallAndEndsTheWork) {
  int done = 0;
  {
    BackgroundWork background;
    background.begin([] { throw Error(ErrorCode::io, "the disk is full", "file 'a'"); });
    expect_error(ErrorCode::io, {"the disk is full", "file 'a'"}, [&] { background.begin([&] { ++done; }); });
    EXPECT_TRUE(background.has_failed());
    expect_error(ErrorCode::io, {"the disk is full"}, [&] { background.check(); });
    background.wait();  // tells nothing
    BackgroundWork other;
    other.begin([] { throw std::bad_alloc(); });
    EXPECT_THROW(other.check(), std::bad_alloc);
  }
  EXPECT_EQ(done, 0);
}

TEST(BackgroundWork, TheEndWaitsForThePieceUnderWay) {
  bool done = false;
  {
    BackgroundWork background;
    background.begin([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    });
  }
  EXPECT_TRUE(done);
}

class BackgroundFiles : public testing::FolderTest {
 protected:
  OutputOptions in(const std::string& name, bool background) const {
    OutputOptions options = here();
    options.folder = folder_ / name;
    options.in_background = background;
    return options;
  }
  /// What is in a folder, without what tells times: results.json, and two lines of the .frd.
  std::map<std::string, std::string> contents(const std::string& name) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / name))
      if (entry.path().filename().string().find("results.json") == std::string::npos)
        all[entry.path().filename()] = read_all(entry.path());
    for (auto& [name_of_file, text] : all)
      for (const char* line : {"    1UDATE", "    1UTIME"})
        if (const std::size_t at = text.find(line); name_of_file.ends_with(".frd") && at != text.npos)
          text.erase(at, text.find('\n', at) - at);
    return all;
  }
};

/// Heat and expansion in turn: solving adds load cases to the model, and changes its supports, while it is written.
Job heated_again_and_again() {
  Job job = testing::heated_bar();
  job.name = "bar";
  const JobStep heat = job.steps[0], expand = job.steps[1];
  for (int i = 1; i < 5; ++i) {
    job.steps.push_back(heat);
    job.steps.push_back(expand);
    job.steps.back().heated_by = job.steps.size() - 2;
  }
  PrintRequest request;
  request.at = PrintRequest::At::nodes;
  request.set = "xmax";
  request.quantities = {"U", "RF"};
  for (std::size_t i = 0; i < job.steps.size(); ++i) {
    job.steps[i].name = "step " + std::to_string(i + 1);
    job.steps[i].total_time = static_cast<double>(i + 1);
    if (i % 2 == 1) job.steps[i].prints = {request};
  }
  return job;
}

TEST_F(BackgroundFiles, AreTheSameFiles) {
  for (const std::string how : {"before", "beside", "prepared"}) {
    Job job = heated_again_and_again();
    OutputOptions options = in(how, how != "before");
    options.frd = true;
    ResultFiles files(job, options);
    if (how == "prepared") files.prepare();
    testing::run_and_write(job, files);
    EXPECT_EQ(files.summaries().size(), job.steps.size());
    EXPECT_GT(files.seconds(), 0);
    for (const auto& path : files.written()) EXPECT_TRUE(std::filesystem::exists(path)) << path;
  }
  const auto before = contents("before");
  ASSERT_GT(before.size(), 20u);
  for (const char* how : {"beside", "prepared"}) {
    const auto these = contents(how);
    ASSERT_EQ(before.size(), these.size()) << how;
    for (const auto& [name, text] : before) EXPECT_TRUE(these.at(name) == text) << how << ", " << name;
  }
}

TEST_F(BackgroundFiles, TellWhatTheirTimeWasSpentOn) {
  Job job = heated_again_and_again();
  ResultFiles files(job, in("timed", true));
  testing::run_and_write(job, files);
  double sum = 0;
  for (const StageTime& t : files.stage_times()) sum += t.seconds;
  EXPECT_GT(sum, 0.5 * files.seconds());
  EXPECT_LE(sum, files.seconds());
}

TEST_F(BackgroundFiles, AFullDiskIsReportedAsWithoutAThread) {
  std::string said[2];
  for (const bool background : {false, true}) {
    Job job = heated_again_and_again();
    const std::string folder = background ? "beside" : "before";
    ResultFiles files(job, in(folder, background));
    std::size_t asked = 0;
    const SmallDisk full(300);  // enough for no picture
    try {
      run_job(job, plainly(), {}, [&](std::size_t step, StepResult found) {
        ++asked;
        files.write_step(step, std::move(found));
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      said[background] = error.what();
      EXPECT_EQ(error.code(), ErrorCode::io);
    }
    EXPECT_EQ(asked, background ? 2u : 1u) << "the step after the one that failed is the last";
    EXPECT_EQ(files.has_failed(), background);
    files.give_up(Error(ErrorCode::io, "full"), {plainly(), 0});
    EXPECT_EQ(files.summaries().size(), 1u);
    EXPECT_TRUE(files.written().empty());
    EXPECT_TRUE(contents(folder).empty());
    const std::size_t at = said[background].find(folder);
    ASSERT_NE(at, std::string::npos) << said[background];
    said[background].erase(at, folder.size());
  }
  EXPECT_EQ(said[0], said[1]);
  EXPECT_NE(said[0].find("bar_step1.vtu"), std::string::npos) << said[0];
}

TEST_F(BackgroundFiles, TheLastStepsErrorComesOutOfFinish) {
  Job job = testing::pulled_bar();
  ResultFiles files(job, in("one", true));
  const JobResult solved = run_job(job, plainly());
  const SmallDisk full(300);
  files.write_step(0, solved.steps[0]);
  expect_error(ErrorCode::io, {"bar.vtu", "writing failed"}, [&] { files.finish(solved, {plainly(), 0}); });
  expect_error(ErrorCode::io, {"bar.vtu"}, [&] { files.check(); });
}

TEST_F(BackgroundFiles, OfTwoRunsWithoutLocksTheSecondFails) {
  Job job = testing::pulled_bar();
  testing::one_more_step(job);
  const JobResult solved = run_job(job, plainly());
  ResultFiles winner(job, in("one", true));
  std::filesystem::remove(folder_ / "one" / ".bar.running");
  ResultFiles loser(job, in("one", true));
  winner.write_step(0, solved.steps[0]);
  EXPECT_EQ(winner.summaries().size(), 1u);  // waits
  loser.write_step(0, solved.steps[0]);
  expect_error(ErrorCode::io, {"bar_step1.vtu", "another run", "--output"},
               [&] { loser.write_step(1, solved.steps[1]); });
  loser.give_up(Error(ErrorCode::io, "lost"), {plainly(), 0});
  EXPECT_TRUE(loser.written().empty());
  winner.write_step(1, solved.steps[1]);
  winner.finish(solved, {plainly(), 0});
  EXPECT_NE(read_all(folder_ / "one" / "bar.pvd").find("bar_step2.vtu"), std::string::npos);
}

}  // namespace
}  // namespace voussoir
