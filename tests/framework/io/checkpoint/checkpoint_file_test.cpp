#include <gtest/gtest.h>

#include <fstream>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/checkpoint/checkpoint_file.hpp>
#include <voussoir/framework/io/checkpoint/journal.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"
#include "support/small_disk.hpp"

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using testing::SmallDisk;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

void damage(const fs::path& path, std::size_t at) {
  std::string bytes = bytes_of(path);
  bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(CheckpointFile, EveryDamagedByteIsNoticed) {
  const fs::path path = testing::empty_scratch_folder("one_checkpoint") / "state";
  const std::string contents("some bytes\0and more", 19);
  write_checkpoint_file(path, "MARK", 3, contents);
  EXPECT_EQ(read_checkpoint_file(path, "MARK", 3), contents);
  const std::size_t size = bytes_of(path).size();
  for (std::size_t at = 0; at < size; ++at) {
    damage(path, at);
    EXPECT_THROW(read_checkpoint_file(path, "MARK", 3), Error) << "byte " << at;
    damage(path, at);
  }
  EXPECT_EQ(read_checkpoint_file(path, "MARK", 3), contents);
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{31}, size - 1}) {
    std::ofstream(path.string() + "2", std::ios::binary) << bytes_of(path).substr(0, length);
    EXPECT_THROW(read_checkpoint_file(path.string() + "2", "MARK", 3), Error) << length << " bytes";
  }
  EXPECT_THROW(read_checkpoint_file(path, "MARK", 4), Error);
  EXPECT_THROW(read_checkpoint_file(path, "OTHER", 3), Error);
}

TEST(GrowingFile, WhatIsAppendedCountsCompletelyOrNotAtAll) {
  const fs::path path = testing::empty_scratch_folder("growing_file") / "states";
  GrowingFile file(path, "MARK", 3);
  file.write("one, ");
  EXPECT_EQ(GrowingFile::read(path, "MARK", 3), "one, ");
  const std::string before = bytes_of(path);
  file.append("two, ");
  EXPECT_EQ(GrowingFile::read(path, "MARK", 3), "one, two, ");
  const std::string all = bytes_of(path);
  // A run that is killed has appended some bytes, and the beginning of the file is still the old one.
  for (std::size_t length = before.size(); length <= all.size(); ++length) {
    std::ofstream(path.string() + "2", std::ios::binary) << before << all.substr(before.size(), length - before.size());
    EXPECT_EQ(GrowingFile::read(path.string() + "2", "MARK", 3), "one, ") << length;
  }
  EXPECT_THROW(read_checkpoint_file(path.string() + "2", "MARK", 3), Error);  // of a file that does not grow
  {
    const SmallDisk disk(all.size() + 2);
    EXPECT_THROW(file.append("three, "), Error);
  }
  EXPECT_EQ(bytes_of(path), all);
  file.append("four");  // there is room again
  EXPECT_EQ(GrowingFile::read(path, "MARK", 3), "one, two, four");
  for (std::size_t at = 0; at < bytes_of(path).size(); ++at) {
    damage(path, at);
    EXPECT_THROW(GrowingFile::read(path, "MARK", 3), Error) << "byte " << at;
    damage(path, at);
  }
  file.write("anew");
  EXPECT_EQ(GrowingFile::read(path, "MARK", 3), "anew");
}

TEST(CheckpointPair, TheOlderOneIsReplaced) {
  const fs::path folder = testing::empty_scratch_folder("pair");
  CheckpointPair pair(folder / "run.checkpoint", "RUN", 1);
  EXPECT_FALSE(pair.exists());
  for (const char* text : {"first", "second", "third"}) pair.write(text);
  std::vector<std::string> refused;
  auto found = pair.read(refused);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].bytes, "third");
  EXPECT_EQ(found[1].bytes, "second");
  damage(found[0].path, 40);
  found = pair.read(refused);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].bytes, "second");
  ASSERT_EQ(refused.size(), 1u);
  // A run that goes on from the intact one replaces the damaged one.
  CheckpointPair next(folder / "run.checkpoint", "RUN", 1);
  next.go_on_from(found[0]);
  next.write("fourth");
  refused.clear();
  found = next.read(refused);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(refused.empty());
  EXPECT_EQ(found[0].bytes, "fourth");
  EXPECT_EQ(found[1].bytes, "second");
  next.remove();
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(CheckpointPair, AFullDiskDestroysNothing) {
  const fs::path folder = testing::empty_scratch_folder("full_pair");
  CheckpointPair pair(folder / "run.checkpoint", "RUN", 1);
  pair.write("first");
  pair.write("second");
  {
    const SmallDisk disk(1000);
    EXPECT_THROW(pair.write(std::string(5000, 'x')), Error);
  }
  std::vector<std::string> refused;
  auto found = pair.read(refused);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].bytes, "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2) << "nothing else is left";
  pair.write("third");
  found = pair.read(refused);
  EXPECT_EQ(found[0].bytes, "third");
  EXPECT_EQ(found[1].bytes, "second");
}

TEST(Journal, IsCutOffWhereTheCheckpointWasMade) {
  const fs::path path = testing::empty_scratch_folder("journal") / "run.journal";
  Journal::Place place;
  {
    Journal journal(path);
    journal.create();
    journal.append(1, 0, "a");
    journal.append(2, 1, "bb");
    journal.flush();
    place = journal.place();
    journal.append(1, 1, "after the checkpoint");
    journal.flush();
  }
  Journal journal(path);
  journal.check(place);
  journal.continue_at(place);
  EXPECT_EQ(fs::file_size(path), place.length);
  {
    const SmallDisk disk(place.length + 10);
    journal.append(3, 2, "does not fit on the disk");
    EXPECT_THROW(journal.flush(), Error);
  }
  EXPECT_EQ(fs::file_size(path), place.length);
  journal.flush();  // there is room again
  std::string all;
  const std::vector<Journal::Record> records = journal.records(journal.place());
  auto record = records.begin();
  journal.read(records, [&](std::string_view bytes) {
    all += std::to_string(record->kind) + "/" + std::to_string(record->step) + ":" + std::string(bytes) + " ";
    ++record;
  });
  EXPECT_EQ(all, "1/0:a 2/1:bb 3/2:does not fit on the disk ");
  damage(path, 3);
  EXPECT_THROW(journal.check(place), Error);
}

}  // namespace
}  // namespace voussoir
