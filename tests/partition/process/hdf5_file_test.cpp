// Files of parts in HDF5, as PartFile writes and reads them: complete, and safe against damage, full disks and locks.
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <voussoir/framework/io/detail/unfinished_file.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/partition/process/part_file.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"
#include "support/small_disk.hpp"
#include "two_model_job.hpp"

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::two_model_job;

class Hdf5File : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef VSR_TEST_HDF5
    GTEST_SKIP() << "built without HDF5: install libhdf5-dev";
#endif
    ASSERT_NO_THROW(require_part_format("model.h5"));
    folder_ = testing::empty_scratch_folder("hdf5");
    ::testing::internal::CaptureStderr();
  }
  void TearDown() override {
    if (folder_.empty()) return;
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "HDF5 has printed something";
  }
  static std::string contents_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }

  fs::path folder_;
};

TEST_F(Hdf5File, HasThePartsOfTheDivision) {
  const Job job = two_model_job();
  const JobDivision division(job, 3);
  const fs::path path = folder_ / "model.h5";
  write_part_file(path, division);
  EXPECT_EQ(contents_of(path).substr(1, 3), "HDF");
  const PartFile file(path);
  ASSERT_EQ(file.parts(), 3);
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(encode(file.read(p)) == encode(division.part(p)));
    EXPECT_EQ(file.bytes(p), encode(division.part(p)).size());
  }
  EXPECT_TRUE(PartFile::is_one(path));
  expect_error(ErrorCode::misuse, {"part 3", "there are 3"}, [&] { file.read(3); });
  EXPECT_THROW(write_part_file(path, division), NameTaken);
  const std::string bytes = contents_of(path);
  write_part_file(path, division, true);
  EXPECT_TRUE(contents_of(path) == bytes) << "the same job gives other bytes";
  EXPECT_EQ(files(), std::vector<std::string>{"model.h5"});
}

TEST_F(Hdf5File, IsChosenByTheNameAndRecognisedByTheContents) {
  const Job job = two_model_job();
  const JobDivision division(job, 2);
  for (const char* name : {"a.h5", "b.HDF5", "c.vpart.h5"}) {
    write_part_file(folder_ / name, division);
    EXPECT_EQ(contents_of(folder_ / name).substr(1, 3), "HDF") << name;
    EXPECT_TRUE(is_part_file_name(name));
  }
  for (const char* name : {"a.vpart", "b.h5.vpart", "c"}) {
    write_part_file(folder_ / name, division);
    EXPECT_EQ(contents_of(folder_ / name).substr(0, 8), "VSRPARTS") << name;
  }
  EXPECT_FALSE(is_part_file_name("c") || is_part_file_name("h5"));
  fs::rename(folder_ / "a.h5", folder_ / "other");
  fs::rename(folder_ / "a.vpart", folder_ / "a.h5");
  for (const char* name : {"other", "a.h5"})
    EXPECT_TRUE(encode(PartFile(folder_ / name).read(1)) == encode(division.part(1))) << name;
}

TEST_F(Hdf5File, EmptyPartsAreKept) {
  auto domain = std::make_unique<Domain>();
  testing::add_loaded_bar(*domain, 1);
  const Job job = testing::job_of(std::move(domain));
  const JobDivision division(job, 11);  // of eight elements
  write_part_file(folder_ / "model.h5", division);
  const PartFile file(folder_ / "model.h5");
  for (int p = 0; p < 11; ++p) EXPECT_TRUE(encode(file.read(p)) == encode(division.part(p)));
}

TEST_F(Hdf5File, IsWrittenWhereFilesHaveTemporaryNames) {
  const Job job = two_model_job();
  const JobDivision division(job, 2);
  detail::nameless_files_allowed() = false;
  write_part_file(folder_ / "named.h5", division);
  detail::nameless_files_allowed() = true;
  write_part_file(folder_ / "nameless.h5", division);
  EXPECT_TRUE(contents_of(folder_ / "named.h5") == contents_of(folder_ / "nameless.h5"));
}

// Our tables have checksums, and so has each part; other bytes belong to what other programs read.
TEST_F(Hdf5File, DamageIsRefusedWithThePathOrChangesNothing) {
  const Job job = two_model_job();
  const JobDivision division(job, 2);
  const fs::path path = folder_ / "good.h5", bad = folder_ / "bad.h5";
  write_part_file(path, division);
  const std::string bytes = contents_of(path);
  const std::vector<std::string> parts{encode(division.part(0)), encode(division.part(1))};
  int refused = 0, unharmed = 0;
  const auto read_all = [&](const std::string& contents) {
    std::ofstream(bad, std::ios::binary) << contents;
    try {
      const PartFile file(bad);
      for (int p = 0; p < file.parts(); ++p) EXPECT_TRUE(encode(file.read(p)) == parts[static_cast<std::size_t>(p)]);
      ++unharmed;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input) << error.what();
      EXPECT_NE(std::string(error.what()).find("bad.h5"), std::string::npos) << error.what();
      ++refused;
    }
  };
  for (std::size_t i = 0; i < bytes.size(); i += i < 800 ? 1 : 37) {
    SCOPED_TRACE(i);
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (i % 2 ? 0xff : 1 << i % 8));
    read_all(damaged);
  }
  EXPECT_GT(refused, 200);
  EXPECT_GT(unharmed, 50);
  refused = unharmed = 0;
  for (std::size_t length = 0; length < bytes.size(); length += length < 200 ? 7 : 499)
    read_all(bytes.substr(0, length));
  read_all(bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(unharmed, 0);
}

TEST_F(Hdf5File, AFullDiskLeavesNothingBehind) {
  const Job job = two_model_job(4);
  const JobDivision division(job, 4);
  for (const bool nameless : {true, false})
    for (const rlim_t room : {0, 100, 3000, 20000, 50000}) {
      detail::nameless_files_allowed() = nameless;
      {
        const testing::SmallDisk disk(room);
        expect_error(ErrorCode::io, {"model.h5", "File too large"},
                     [&] { write_part_file(folder_ / "model.h5", division); });
      }
      detail::nameless_files_allowed() = true;
      EXPECT_EQ(files(), std::vector<std::string>{}) << room;
    }
  write_part_file(folder_ / "model.h5", division);  // HDF5 has recovered
  EXPECT_TRUE(encode(PartFile(folder_ / "model.h5").read(3)) == encode(division.part(3)));
}

// HDF5 does not release all that it has read of a damaged file, and would complain about that at the end of a process.
TEST_F(Hdf5File, DamageIsForgottenAtTheEndOfTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  ::testing::internal::GetCapturedStderr();
  const auto read_damaged = [&] {
    const Job job = two_model_job();
    const fs::path path = folder_ / "model.h5";
    write_part_file(path, JobDivision(job, 2));
    const std::string bytes = contents_of(path);
    int refused = 0;
    for (std::size_t i = 48; i < 1000; ++i) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
      std::ofstream(path, std::ios::binary) << damaged;
      try {
        PartFile(path).read(1);
      } catch (const Error&) {
        ++refused;
      }
    }
    std::exit(refused > 100 ? 0 : 1);
  };
  EXPECT_EXIT(read_damaged(), ::testing::ExitedWithCode(0), "^$");
  ::testing::internal::CaptureStderr();
}

// HDF5 complains at the end of a process about files that it could not close.
TEST_F(Hdf5File, AFullDiskIsForgottenAtTheEndOfTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  ::testing::internal::GetCapturedStderr();
  const auto fill_disk = [&] {
    const Job job = two_model_job(4);
    const JobDivision division(job, 4);
    for (const rlim_t room : {100, 3000, 20000, 50000}) {
      const testing::SmallDisk disk(room);
      EXPECT_THROW(write_part_file(folder_ / "model.h5", division), Error) << room;
    }
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(fill_disk(), ::testing::ExitedWithCode(0), "^$");
  ::testing::internal::CaptureStderr();
}

TEST_F(Hdf5File, IsReadWhereAnotherProcessHasLockedIt) {
  const Job job = two_model_job();
  const JobDivision division(job, 2);
  const fs::path path = folder_ / "model.h5";
  write_part_file(path, division);
  std::FILE* const other = std::fopen(path.c_str(), "rb+");
  ASSERT_EQ(::flock(::fileno(other), LOCK_EX), 0);
  EXPECT_EQ(PartFile(path).parts(), 2);
  EXPECT_TRUE(encode(PartFile(path).read(1)) == encode(division.part(1)));
  std::fclose(other);
}

// HDF5 reads this variable once, so that a process of its own sets it.
TEST_F(Hdf5File, TellsWhereLocksThatWereRequestedFail) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  ::testing::internal::GetCapturedStderr();
  const auto read_locked = [&] {
    ::setenv("HDF5_USE_FILE_LOCKING", "TRUE", 1);
    const Job job = two_model_job();
    const fs::path path = folder_ / "model.h5";
    write_part_file(path, JobDivision(job, 2));
    std::FILE* const other = std::fopen(path.c_str(), "rb+");
    if (!other || ::flock(::fileno(other), LOCK_EX) != 0) std::exit(1);
    try {
      PartFile(path).read(1);
    } catch (const Error& error) {
      const std::string text = error.what();
      const bool tells = text.find("model.h5") != std::string::npos && text.find("cannot lock") != std::string::npos &&
                         text.find("set HDF5_USE_FILE_LOCKING=FALSE") != std::string::npos;
      std::exit(error.code() == ErrorCode::io && tells ? 0 : 2);
    }
    std::exit(3);
  };
  EXPECT_EXIT(read_locked(), ::testing::ExitedWithCode(0), "^$");
  ::testing::internal::CaptureStderr();
}

// HDF5 says "bad superblock version number", in which there is a "lock".
TEST_F(Hdf5File, DamageIsNotTakenForALock) {
  const Job job = two_model_job();
  const fs::path path = folder_ / "model.h5";
  write_part_file(path, JobDivision(job, 2));
  std::string bytes = contents_of(path);
  bytes[8] = '\x7f';  // the version of the superblock
  std::ofstream(path, std::ios::binary) << bytes;
  const char* const before = std::getenv("HDF5_USE_FILE_LOCKING");
  const std::string kept = before ? before : "";
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  expect_error(ErrorCode::bad_input, {"model.h5", "damaged or incomplete", "superblock"}, [&] { PartFile{path}; });
  if (before)
    ::setenv("HDF5_USE_FILE_LOCKING", kept.c_str(), 1);
  else
    ::unsetenv("HDF5_USE_FILE_LOCKING");
}

TEST_F(Hdf5File, MissingFilesAndFoldersAreNamed) {
  expect_error(ErrorCode::io, {"none.h5"}, [&] { PartFile(folder_ / "none.h5"); });
  const Job job = two_model_job();
  expect_error(ErrorCode::io, {"model.h5", "create the folder"},
               [&] { write_part_file(folder_ / "none" / "model.h5", JobDivision(job, 2)); });
}

/// What a command prints; empty where it fails.
std::string printed_by(const std::string& command) {
  std::string text;
  std::FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (!pipe) return {};
  for (int c; (c = std::fgetc(pipe)) != EOF;) text.push_back(static_cast<char>(c));
  return ::pclose(pipe) == 0 ? text : std::string();
}

TEST_F(Hdf5File, H5pyReadsTheMesh) {
  std::string script;
  for (const std::string python : {"python3", "/usr/bin/python3"})
    if (printed_by(python + " -c 'import h5py; print(1)'") == "1\n")
      script = python + " " VSR_TEST_SOURCE_DIR "/tests/partition/process/read_parts.py ";
  if (script.empty()) {
    GTEST_SKIP() << "python3-h5py is not installed: tools/install-dependencies interop";
  }
  const Job job = two_model_job(3);
  const Domain& domain = *job.domains[0];
  write_part_file(folder_ / "model.h5", JobDivision(job, 4));
  const auto seen = nlohmann::json::parse(printed_by(script + (folder_ / "model.h5").string()));
  EXPECT_EQ(seen["format"], "voussoir parts");
  EXPECT_EQ(seen["parts"], 4);
  EXPECT_EQ(seen["nodes"], domain.node_count());
  EXPECT_EQ(seen["elements"]["solid.hex8"], domain.block(std::size_t{0}).size());
  EXPECT_EQ(seen["elements"]["truss"], domain.block(std::size_t{1}).size());
  EXPECT_EQ(seen["elements"]["heat.hex8"], std::as_const(*job.domains[1]).block(0).size());
  EXPECT_EQ(seen["block_names"], (nlohmann::json{{"box", "bars"}, {"heat"}}));
  // From coordinates and connectivity: the volume of the bar, which only the right nodes in their order give.
  EXPECT_NEAR(seen["volume"].get<double>(), 4.0, 1e-9);
}

}  // namespace
}  // namespace voussoir
