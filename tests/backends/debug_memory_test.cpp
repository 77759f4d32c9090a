#include <voussoir/backends/debug/debug_memory.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <ostream>
#include <string>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/error.hpp>

// Each death test plants one access to the wrong side and sees the process die of it with an explanation.

namespace voussoir {
namespace {

class DebugMemoryDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  std::vector<std::shared_ptr<DeviceMemory>> memories_ = DebugMemory::make(2);
};
using DebugMemoryTest = DebugMemoryDeathTest;

/// Keeps an access that nobody looks at.
template <class T>
void touch(const T* pointer) {
  [[maybe_unused]] const volatile T value = *static_cast<const volatile T*>(pointer);
}
template <class T>
void spoil(const T* pointer) {
  *const_cast<volatile T*>(pointer) = T{};
}

TEST_F(DebugMemoryTest, HonestWorkGoesThrough) {
  Array<double> a(memories_[0], 1000);
  for (auto& value : a.write_host()) value = 1;
  {
    const DeviceSection section(*memories_[0]);
    double* p = a.update_device();
    for (int i = 0; i < 1000; ++i) p[i] += i;
    {
      const DeviceSection nested(*memories_[0]);
      EXPECT_EQ(a.read_device()[10], 11.0);
    }
    p[10] = 5;  // the inner section's end does not close what the outer one asked for
  }
  EXPECT_EQ(a.read_host()[10], 5.0);
  EXPECT_EQ(a.read_host()[999], 1000.0);
}

TEST_F(DebugMemoryTest, WhatNobodyWroteIsNaN) {
  Array<double> a(memories_[0], 5);
  EXPECT_TRUE(std::isnan(a.read_host()[4]));
  {
    const DeviceSection section(*memories_[0]);
    double* p = a.write_device();
    for (int i = 0; i < 4; ++i) p[i] = i;
  }
  EXPECT_EQ(a.read_host()[3], 3.0);
  EXPECT_TRUE(std::isnan(a.read_host()[4])) << "asked for by write, but not written";

  Array<float> b(memories_[0], 3);
  EXPECT_TRUE(std::isnan(b.read_host()[2]));
  Array<std::int32_t> c(memories_[0], 3);
  EXPECT_GT(c.read_host()[1], 1000000000);
}

TEST_F(DebugMemoryTest, CountsDeviceBytes) {
  const std::size_t before = memories_[1]->bytes_in_use();
  {
    const Array<double> a(memories_[1], 100);
    EXPECT_EQ(memories_[1]->bytes_in_use(), before + 800);
  }
  EXPECT_EQ(memories_[1]->bytes_in_use(), before);
  EXPECT_GE(memories_[1]->bytes_peak(), before + 800);
}

TEST_F(DebugMemoryTest, BuffersAreAligned) {
  for (const std::size_t n : {1, 7, 8, 9, 513, 4096}) {
    const Array<double> a(memories_[0], n);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.read_host().data()) % 64, 0u);
  }
}

template <class Call>
std::string misuse_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::misuse);
    return error.what();
  }
  return "accepted";
}

TEST_F(DebugMemoryTest, DeviceSideIsRefusedOutsideItsSection) {
  Array<double> a(memories_[1], 3);
  EXPECT_EQ(misuse_of([&] { a.read_device(); }),
            "the device side of an array of 24 bytes of debug device 1 was requested outside a DeviceSection; open a "
            "DeviceSection of device 1 around the work");
  const DeviceSection section(*memories_[0]);
  EXPECT_NE(misuse_of([&] { a.write_device(); }).find("inside a DeviceSection of device 0"), std::string::npos);
}

TEST_F(DebugMemoryTest, HostSideIsRefusedInsideSections) {
  Array<double> a(memories_[0], 3);
  const DeviceSection section(*memories_[0]);
  EXPECT_NE(misuse_of([&] { a.read_host(); }).find("was requested inside a DeviceSection"), std::string::npos);
}

TEST_F(DebugMemoryTest, SectionsOfTwoDevicesAreKeptApart) {
  {
    const DeviceSection first(*memories_[0]);
    EXPECT_NE(misuse_of([&] { const DeviceSection second(*memories_[1]); }).find("while one of device 0 is open"),
              std::string::npos);
  }
  const DeviceSection after(*memories_[1]);
}

TEST_F(DebugMemoryTest, WritingIntoTheLastBytesBeforeTheGuardIsNoticed) {
  Array<double> a(memories_[0], 3);  // 24 bytes: 40 bytes of alignment follow before the forbidden page
  {
    const DeviceSection section(*memories_[0]);
    double* p = a.write_device();
    for (int i = 0; i < 4; ++i) p[i] = i;
  }
  EXPECT_NE(misuse_of([&] { a.read_host(); }).find("wrote just past the end of an array of 24 bytes"),
            std::string::npos);
}

TEST_F(DebugMemoryDeathTest, HostReadsDevicePointerAfterTheSection) {
  Array<double> a(memories_[0], 4);
  const double* p = nullptr;
  {
    const DeviceSection section(*memories_[0]);
    p = a.update_device();
  }
  EXPECT_DEATH(touch(p), "voussoir debug backend: host code accessed device memory of device 0 .array of 32 bytes");
}

TEST_F(DebugMemoryDeathTest, WorkOfOneDeviceTouchesAnothersArray) {
  Array<double> mine(memories_[0], 4), other(memories_[1], 5);
  const double* theirs = nullptr;
  {
    const DeviceSection section(*memories_[1]);
    theirs = other.update_device();
  }
  EXPECT_DEATH(
      {
        const DeviceSection section(*memories_[0]);
        spoil(mine.write_device());
        touch(theirs);
      },
      "work of device 0 accessed device memory of device 1 .array of 40 bytes");
}

TEST_F(DebugMemoryDeathTest, WorkTouchesWhatItDidNotAskFor) {
  Array<double> a(memories_[0], 4);
  const double* p = nullptr;
  {
    const DeviceSection section(*memories_[0]);
    p = a.update_device();
  }
  EXPECT_DEATH(
      {
        const DeviceSection section(*memories_[0]);
        touch(p);
      },
      "did not request in this section");
}

TEST_F(DebugMemoryDeathTest, StaleSpan) {
  Array<double> a(memories_[0], 4);
  const auto span = a.write_host();
  span[0] = 1;
  {
    const DeviceSection section(*memories_[0]);
    spoil(a.update_device());
  }
  EXPECT_DEATH(touch(span.data()), "host code accessed a stale host mirror of device 0 .array of 32 bytes");
}

TEST_F(DebugMemoryDeathTest, HostWritesThatTheDeviceWouldNotSee) {
  Array<double> a(memories_[0], 4);
  const auto span = a.write_host();
  for (auto& value : span) value = 1;
  {
    const DeviceSection section(*memories_[0]);
    EXPECT_EQ(a.read_device()[0], 1.0);
  }
  EXPECT_EQ(span[3], 1.0) << "reading on is fine: both sides are current";
  EXPECT_DEATH(spoil(span.data()), "host code wrote to the host mirror");
}

TEST_F(DebugMemoryDeathTest, WorkTouchesAHostMirror) {
  Array<double> a(memories_[1], 4);
  const auto span = a.write_host();
  span[0] = 1;
  EXPECT_DEATH(
      {
        const DeviceSection section(*memories_[0]);
        touch(span.data());
      },
      "work of device 0 accessed the host mirror of an array of device 1");
  EXPECT_EQ(span[0], 1.0);
}

TEST_F(DebugMemoryDeathTest, WritingToWhatWasAskedForByRead) {
  Array<double> a(memories_[0], 4);
  a.write_host();
  EXPECT_DEATH(
      {
        const DeviceSection section(*memories_[0]);
        spoil(a.read_device());
      },
      "wrote to device memory of device 0 .array of 32 bytes. that was requested for reading");
}

TEST_F(DebugMemoryDeathTest, PastTheEnd) {
  Array<double> a(memories_[0], 8);  // 64 bytes: nothing between the end and the forbidden page
  EXPECT_DEATH(
      {
        const DeviceSection section(*memories_[0]);
        touch(a.update_device() + 8);
      },
      "work of device 0 accessed memory past the end of an array of 64 bytes of device 0");
  EXPECT_DEATH(touch(a.write_host().data() + 8), "past the end of the host mirror of an array of 64 bytes");
}

TEST_F(DebugMemoryDeathTest, BeforeTheBeginning) {
  const auto page = 4096u * 16;  // no page is larger here, so that stepping back one of them leaves the buffer
  Array<char> a(memories_[0], page);
  EXPECT_DEATH(
      {
        const DeviceSection section(*memories_[0]);
        touch(a.update_device() - 1);
      },
      "before the beginning of an array of 65536 bytes");
}

/// Matches text without a given part.
struct Lacks {
  using is_gtest_matcher = void;
  std::string part;
  // NOLINTBEGIN(readability-identifier-naming): the names are GoogleTest's
  bool MatchAndExplain(const std::string& text, std::ostream*) const { return text.find(part) == std::string::npos; }
  void DescribeTo(std::ostream* out) const { *out << "lacks '" << part << "'"; }
  void DescribeNegationTo(std::ostream* out) const { *out << "has '" << part << "'"; }
  // NOLINTEND(readability-identifier-naming)
};

TEST_F(DebugMemoryDeathTest, OtherFaultsGoToTheHandlerBefore) {
  const Array<double> a(memories_[0], 8);  // our handler is in place
  void* forbidden = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(forbidden, MAP_FAILED);
  EXPECT_DEATH(touch(static_cast<const int*>(forbidden)), Lacks{"voussoir debug backend"});
  munmap(forbidden, 4096);
}

}  // namespace
}  // namespace voussoir
