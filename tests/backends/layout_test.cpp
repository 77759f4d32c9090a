#include <voussoir/backends/layout.hpp>

#include <gtest/gtest.h>

#include <voussoir/backends/debug/debug_memory.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {
namespace {

TEST(Layout, OneDeviceOwnsEverything) {
  const Layout layout(DebugMemory::make(1), {0, 10}, {{}});
  EXPECT_EQ(layout.size(), 10);
  EXPECT_EQ(layout.owned(0), 10);
  EXPECT_EQ(layout.ghosts(0), 0);
  EXPECT_TRUE(layout.exchanges(0).empty());
  EXPECT_EQ(layout.local(0, 9), 9);
  EXPECT_EQ(layout.local(0, 10), -1);
}

TEST(Layout, GhostsFollowOwnedOnesAndKnowTheirOwners) {
  // Device 0 owns 0…3, 1 owns 4…6, 2 owns 7…9; device 1 needs two of device 0 and one of device 2.
  const Layout layout(DebugMemory::make(3), {0, 4, 7, 10}, {{4}, {1, 3, 8}, {}});
  EXPECT_EQ(layout.owned(1), 3);
  EXPECT_EQ(layout.local_size(1), 6);
  EXPECT_EQ(layout.local(1, 4), 0);
  EXPECT_EQ(layout.local(1, 1), 3);
  EXPECT_EQ(layout.local(1, 3), 4);
  EXPECT_EQ(layout.local(1, 8), 5);
  EXPECT_EQ(layout.local(1, 2), -1);
  for (int d = 0; d < 3; ++d)
    for (std::int32_t i = 0; i < layout.local_size(d); ++i) EXPECT_EQ(layout.local(d, layout.global(d, i)), i);

  ASSERT_EQ(layout.exchanges(1).size(), 2u);
  const auto& from0 = layout.exchanges(1)[0];
  EXPECT_EQ(from0.from, 0);
  EXPECT_EQ(from0.first_ghost, 3);
  ASSERT_EQ(from0.send.size(), 2u);
  EXPECT_EQ(from0.send.read_host()[0], 1);
  EXPECT_EQ(from0.send.read_host()[1], 3);
  const auto& from2 = layout.exchanges(1)[1];
  EXPECT_EQ(from2.from, 2);
  EXPECT_EQ(from2.first_ghost, 5);
  ASSERT_EQ(from2.send.size(), 1u);
  EXPECT_EQ(from2.send.read_host()[0], 1);
}

TEST(Layout, RefusesGhostsThatAreNone) {
  EXPECT_THROW(Layout(DebugMemory::make(2), {0, 2, 4}, {{1}, {}}), Error) << "1 is owned by device 0 itself";
  EXPECT_THROW(Layout(DebugMemory::make(2), {0, 2, 4}, {{4}, {}}), Error) << "there is no equation 4";
  EXPECT_THROW(Layout(DebugMemory::make(2), {0, 4}, {{}, {}}), Error);
}

TEST(Vector, GoesToTheDevicesAndBackInEquationOrder) {
  const auto layout = std::make_shared<const Layout>(DebugMemory::make(2), std::vector<std::int64_t>{0, 2, 5},
                                                     std::vector<std::vector<std::int64_t>>{{3}, {0}});
  Vector x(layout, 2);
  const std::vector<double> values = {0, 1, 10, 11, 20, 21, 30, 31, 40, 41};
  x.from_host(values);
  EXPECT_EQ(x.to_host(), values);
  EXPECT_EQ(x.part(1).size(), 8u);
  EXPECT_EQ(x.part(1).read_host()[4], 40.0);
  EXPECT_THROW(x.from_host(std::vector<double>(5)), Error);
}

}  // namespace
}  // namespace voussoir
