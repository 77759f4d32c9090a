#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <voussoir/jobs/summary.hpp>

namespace voussoir {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// As many nodes as threads share, with ids that are not their places.
struct RangesOf : ::testing::Test {
  RangesOf() {
    for (int n = 0; n < 40000; ++n) domain.add_node(10 * n + 7, n, 0, 0);
  }
  Domain domain;
};

TEST_F(RangesOf, OfEqualValuesTheFirstNodeCounts) {
  NodalField field{"stress", {"a", "b", "nowhere"}, {}};
  for (int n = 0; n < domain.node_count(); ++n) {
    const double a = n == 0 ? nan : n % 1000 == 500 ? 8 : n % 20000 == 19000 ? -3 : 1;
    field.values.insert(field.values.end(), {a, 5, nan});
  }
  const auto ranges = ranges_of(domain, field, domain.node_count());
  ASSERT_EQ(ranges.size(), 2u);  // a quantity that no node has is left out
  EXPECT_EQ(ranges[0].quantity, "a");
  EXPECT_EQ(ranges[0].least.value, -3);
  EXPECT_EQ(ranges[0].least.node, 10 * 19000 + 7);
  EXPECT_EQ(ranges[0].greatest.value, 8);
  EXPECT_EQ(ranges[0].greatest.node, 10 * 500 + 7);
  EXPECT_EQ(ranges[1].least.node, 7);
  EXPECT_EQ(ranges[1].greatest.node, 7);
}

TEST_F(RangesOf, NodesBehindTheReportedOnesDoNotCount) {
  NodalField field{"temperature", {"T"}, std::vector<double>(40000, 20.0)};
  field.values[39999] = 1000;
  const auto ranges = ranges_of(domain, field, 39999);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].quantity, "temperature");
  EXPECT_EQ(ranges[0].greatest.value, 20);
}

TEST_F(RangesOf, DisplacementsHaveALength) {
  NodalField field{"displacement", {"ux", "uy"}, std::vector<double>(80000, 0.0)};
  field.values[2 * 30000] = -3;
  field.values[2 * 30000 + 1] = 4;
  field.values[2 * 5] = nan;  // a node without elements
  field.values[2 * 5 + 1] = nan;
  const auto ranges = ranges_of(domain, field, domain.node_count());
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[2].quantity, "displacement");
  EXPECT_EQ(ranges[2].least.value, 0);
  EXPECT_EQ(ranges[2].greatest.value, 5);
  EXPECT_EQ(ranges[2].greatest.node, 300007);
}

}  // namespace
}  // namespace voussoir
