#include <voussoir/backends/array.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

using Intent = DeviceMemory::Intent;

/// A device whose memory is plain memory apart from the host's, and which counts what is asked of it.
class CountingMemory final : public DeviceMemory {
 public:
  int device() const override { return 7; }
  bool shares_host_memory() const override { return false; }
  void* allocate(std::size_t bytes) override {
    ++live;
    count_allocation(bytes);
    return std::calloc(1, bytes);
  }
  void release(void* pointer, std::size_t bytes) noexcept override {
    --live;
    count_release(bytes);
    std::free(pointer);
  }
  void* allocate_host(std::size_t bytes) override {
    ++live_mirrors;
    return std::calloc(1, bytes);
  }
  void release_host(void* pointer, std::size_t) noexcept override {
    --live_mirrors;
    std::free(pointer);
  }
  void copy_to_device(void* device, const void* host, std::size_t bytes) override {
    ++to_device;
    std::memcpy(device, host, bytes);
  }
  void copy_to_host(void* host, const void* device, std::size_t bytes) override {
    ++to_host;
    std::memcpy(host, device, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void clear(void* device, std::size_t first, std::size_t bytes) override {
    std::memset(static_cast<char*>(device) + first, 0, bytes);
  }

  int live = 0, live_mirrors = 0, to_device = 0, to_host = 0;
};

/// Device memory that is host memory.
class SharingMemory final : public DeviceMemory {
 public:
  int device() const override { return 0; }
  bool shares_host_memory() const override { return true; }
  void* allocate(std::size_t bytes) override { return std::calloc(1, bytes); }
  void release(void* pointer, std::size_t) noexcept override { std::free(pointer); }
  void* allocate_host(std::size_t) override { throw Error(ErrorCode::internal, "no mirrors here"); }
  void release_host(void*, std::size_t) noexcept override {}
  void copy_to_device(void*, const void*, std::size_t) override { throw Error(ErrorCode::internal, "no copies here"); }
  void copy_to_host(void*, const void*, std::size_t) override { throw Error(ErrorCode::internal, "no copies here"); }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void clear(void* device, std::size_t first, std::size_t bytes) override {
    std::memset(static_cast<char*>(device) + first, 0, bytes);
  }
};

TEST(Array, ACloneHasTheContentsOfTheSideThatIsCurrent) {
  const auto memory = std::make_shared<CountingMemory>();
  Array<double> a(memory, 2);
  auto w = a.write_host();
  w[0] = 3, w[1] = 4;
  const Array<double> from_host = a.clone();
  a.update_device()[0] = 5;
  const Array<double> from_device = a.clone();
  a.update_host()[1] = 6;
  EXPECT_EQ(from_host.read_host()[0], 3);
  EXPECT_EQ(from_host.read_host()[1], 4);
  EXPECT_EQ(from_device.read_host()[0], 5);
  EXPECT_EQ(from_device.read_host()[1], 4);
  EXPECT_TRUE(Array<double>().clone().empty());
  const auto shared = std::make_shared<SharingMemory>();
  Array<double> b(shared, 1);
  b.write_host()[0] = 7;
  const Array<double> copy = b.clone();
  b.write_host()[0] = 8;
  EXPECT_EQ(copy.read_host()[0], 7);
}

TEST(Array, CopiesOnlyWhatIsStale) {
  const auto memory = std::make_shared<CountingMemory>();
  Array<double> a(memory, 3);
  auto w = a.write_host();
  w[0] = 1, w[1] = 2, w[2] = 3;
  EXPECT_EQ(memory->to_device + memory->to_host, 0) << "writing one side needs nothing of the other";

  const double* p = a.read_device();
  EXPECT_EQ(memory->to_device, 1);
  EXPECT_EQ(p[2], 3.0);
  a.read_device();
  a.read_host();
  EXPECT_EQ(memory->to_device, 1) << "both sides are current";
  EXPECT_EQ(memory->to_host, 0);

  a.update_device()[1] = 20;
  EXPECT_EQ(memory->to_device, 1);
  EXPECT_EQ(a.read_host()[1], 20.0);
  EXPECT_EQ(memory->to_host, 1);

  a.update_host()[0] = 10;
  EXPECT_EQ(memory->to_host, 1);
  EXPECT_EQ(a.update_device()[0], 10.0);
  EXPECT_EQ(memory->to_device, 2);
}

TEST(Array, WritingDropsTheOtherSideWithoutCopying) {
  const auto memory = std::make_shared<CountingMemory>();
  Array<int> a(memory, 2);
  a.write_host()[0] = 1;
  a.write_device()[0] = 5;  // the host's 1 never travels
  EXPECT_EQ(memory->to_device, 0);
  EXPECT_EQ(a.read_host()[0], 5);
  a.write_device()[0] = 6;
  a.write_host()[0] = 7;  // nor does the device's 6
  EXPECT_EQ(memory->to_host, 1);
  EXPECT_EQ(a.read_device()[0], 7);
}

TEST(Array, DroppingTheMirrorKeepsTheValues) {
  const auto memory = std::make_shared<CountingMemory>();
  const std::vector<float> values = {1.5f, 2.5f, 3.5f};
  Array<float> a(memory, std::span<const float>(values));
  EXPECT_EQ(memory->live_mirrors, 1);
  a.drop_host_mirror();
  EXPECT_EQ(memory->live_mirrors, 0);
  EXPECT_EQ(a.read_device()[2], 3.5f);
  EXPECT_EQ(a.read_host()[1], 2.5f);
  EXPECT_EQ(memory->to_device, 1);
  EXPECT_EQ(memory->to_host, 1);
}

TEST(Array, MovesAndFreesOnce) {
  const auto memory = std::make_shared<CountingMemory>();
  {
    Array<double> a(memory, 4);
    a.write_host()[3] = 4;
    Array<double> b(std::move(a));
    EXPECT_EQ(b.size(), 4u);
    EXPECT_EQ(b.read_host()[3], 4.0);
    Array<double> c(memory, 9);
    EXPECT_EQ(memory->live, 2);
    EXPECT_EQ(memory->bytes_in_use(), 13 * sizeof(double));
    c = std::move(b);
    EXPECT_EQ(memory->live, 1);
    EXPECT_EQ(c.read_host()[3], 4.0);
    EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): that is the point
    EXPECT_TRUE(b.empty());  // NOLINT(bugprone-use-after-move)
  }
  EXPECT_EQ(memory->live, 0);
  EXPECT_EQ(memory->live_mirrors, 0);
  EXPECT_EQ(memory->bytes_in_use(), 0u);
  EXPECT_EQ(memory->bytes_peak(), 13 * sizeof(double));
}

TEST(Array, OneBufferWhereMemoryIsShared) {
  Array<double> a(std::make_shared<SharingMemory>(), 2);
  a.write_host()[1] = 8;
  EXPECT_EQ(a.read_device()[1], 8.0);
  EXPECT_EQ(a.read_device(), a.read_host().data());
  a.drop_host_mirror();
  EXPECT_EQ(a.read_host()[1], 8.0);
}

TEST(Array, EmptyOnesAskNothing) {
  const auto memory = std::make_shared<CountingMemory>();
  Array<double> a(memory, 0);
  EXPECT_TRUE(a.read_host().empty());
  EXPECT_EQ(a.read_device(), nullptr);
  EXPECT_EQ(memory->live, 0);
  Array<double> none;
  EXPECT_TRUE(none.write_host().empty());
  EXPECT_THROW(Array<double>(nullptr, 3), Error);
}

}  // namespace
}  // namespace voussoir
