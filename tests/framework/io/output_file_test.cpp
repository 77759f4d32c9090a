#include <voussoir/framework/io/output_file.hpp>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include <voussoir/framework/io/detail/unfinished_file.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using testing::empty_scratch_folder;
using testing::expect_error;

std::string read_all(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Both ways of writing: files without a name until they are complete, and files with a temporary one.
class Output : public ::testing::TestWithParam<bool> {
 protected:
  Output() { detail::nameless_files_allowed() = GetParam(); }
  ~Output() override { detail::nameless_files_allowed() = true; }
};
INSTANTIATE_TEST_SUITE_P(, Output, ::testing::Values(true, false),
                         [](const auto& info) { return info.param ? "Nameless" : "Named"; });

/// What a process that runs `work` and is then killed leaves behind.
template <class Work>
pid_t killed_after(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  return child;
}

TEST_P(Output, AppearsWhenItIsComplete) {
  const fs::path folder = empty_scratch_folder("appears");
  OutputFile file(folder / "a.txt", false);
  file.write("whole");
  EXPECT_FALSE(fs::exists(folder / "a.txt"));
  file.commit();
  EXPECT_EQ(read_all(folder / "a.txt"), "whole");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"a.txt"});
}

TEST_P(Output, OfTwoWritersTheSecondFailsAndKeepsTheFirstOnesFile) {
  const fs::path folder = empty_scratch_folder("two_writers");
  OutputFile first(folder / "a.txt", false), second(folder / "a.txt", false);
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_THROW(second.commit(), NameTaken);
  EXPECT_EQ(read_all(folder / "a.txt"), "first");
  EXPECT_THROW(OutputFile(folder / "a.txt", false), NameTaken);
}

TEST_P(Output, ReplacesAFileWhereThatIsAllowed) {
  const fs::path folder = empty_scratch_folder("replaces");
  std::ofstream(folder / "a.txt") << "old";
  OutputFile file(folder / "a.txt", true);
  file.write("new");
  EXPECT_EQ(read_all(folder / "a.txt"), "old");
  file.commit();
  EXPECT_EQ(read_all(folder / "a.txt"), "new");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"a.txt"});
}

TEST_P(Output, ALinkThatLeadsNowhereTakesTheName) {
  const fs::path folder = empty_scratch_folder("dangling");
  fs::create_symlink(folder / "nowhere" / "at all", folder / "a.txt");
  EXPECT_THROW(OutputFile(folder / "a.txt", false), NameTaken);
  OutputFile file(folder / "a.txt", true);
  file.write("new");
  file.commit();
  EXPECT_EQ(read_all(folder / "a.txt"), "new");
  EXPECT_FALSE(fs::is_symlink(folder / "a.txt"));
}

TEST_P(Output, WhatAKilledProcessLeftIsRemovedByTheNextOne) {
  const fs::path folder = empty_scratch_folder(GetParam() ? "killed_nameless" : "killed_named");
  const pid_t gone = killed_after([&] {
    auto* file = new OutputFile(folder / "a.txt", false);
    file->write(std::string(100000, 'x'));
  });
  const auto left = names_in(folder);
  if (GetParam()) {
    EXPECT_TRUE(left.empty());
    return;
  }
  ASSERT_EQ(left.size(), 1u);
  EXPECT_NE(left[0].find("a.txt.part-"), std::string::npos);
  EXPECT_NE(left[0].find("-" + std::to_string(gone) + "-"), std::string::npos);

  // What looks alike but is not ours stays: another host's, another program's, a link, a folder, a living process'.
  const std::string ours = left[0];
  std::string elsewhere = ours;
  elsewhere[elsewhere.find(".part-") + 6] ^= 1;
  std::string alive = ours;
  alive.replace(alive.find("-" + std::to_string(gone) + "-"), std::to_string(gone).size() + 2,
                "-" + std::to_string(::getppid()) + "-");
  for (const std::string& name : {elsewhere, alive, std::string("a.txt.part-1"), ours + ".txt", std::string("a.part-")})
    std::ofstream(folder / name) << "precious";
  fs::create_symlink("a.part-", folder / ("link-" + ours));
  fs::create_directory(folder / ("folder-" + ours));
  const auto others = names_in(folder).size() - 1;

  killed_after([&] { OutputFile(folder / "b.txt", false).commit(); });
  EXPECT_FALSE(fs::exists(folder / ours));
  EXPECT_TRUE(fs::exists(folder / "b.txt"));
  EXPECT_EQ(names_in(folder).size(), others + 1);
}

TEST_P(Output, AFileThatIsBeingWrittenIsNotRemovedByAnotherProcess) {
  const fs::path folder = empty_scratch_folder(GetParam() ? "busy_nameless" : "busy_named");
  OutputFile file(folder / "a.txt", false);
  file.write("whole");
  killed_after([&] { OutputFile(folder / "b.txt", false).commit(); });
  file.commit();
  EXPECT_EQ(names_in(folder), (std::vector<std::string>{"a.txt", "b.txt"}));
}

TEST_P(Output, AProcessThatEndsWithoutUnwindingCanRemoveItsUnfinishedFiles) {
  const fs::path folder = empty_scratch_folder("ended");
  killed_after([&] {
    auto* file = new OutputFile(folder / "a.txt", false);
    file->write(std::string(100000, 'x'));
    remove_unfinished_files();
  });
  EXPECT_TRUE(names_in(folder).empty());
}

TEST_P(Output, LongNamesLeaveRoomForTheTemporaryOne) {
  const fs::path folder = empty_scratch_folder("long");
  std::string name;
  while (name.size() < 250) name += "ä";
  OutputFile file(folder / name, true);
  file.write("x");
  file.commit();
  EXPECT_EQ(names_in(folder), std::vector<std::string>{name});
}

}  // namespace
}  // namespace voussoir
