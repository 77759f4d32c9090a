#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/jobs/detail/farthest_node.hpp>

namespace voussoir::detail {
namespace {

/// Node n swings with amplitude n + 1, in the second of two components.
std::vector<double> swing(int nodes, int state) {
  std::vector<double> values;
  for (int n = 0; n < nodes; ++n) {
    values.push_back(1e6);  // does not count
    values.push_back((n + 1) * std::sin(0.1 * (state + 1)));
  }
  return values;
}

TEST(FarthestNode, KeepsTheCurveInBoundedMemory) {
  constexpr int nodes = 1000, states = 500;
  FarthestNode all({0, 1}, std::vector<char>(nodes, 0), 1u << 30), few({0, 1}, std::vector<char>(nodes, 0), 20000);
  FarthestNode again({0, 1}, std::vector<char>(nodes, 0), 20000);
  std::size_t largest = 0, kept = 0;
  for (int s = 0; s < states; ++s) {
    all.add(swing(nodes, s));
    const std::vector<double> row = few.add(swing(nodes, s));
    again.add_kept(row);  // as a run that is resumed does
    kept = row.size();
    largest = std::max(largest, kept * static_cast<std::size_t>(s + 1));
  }
  EXPECT_LT(largest, 2u * 20000u + 2u * nodes) << "at most one state more than the limit before half is given up";
  EXPECT_LE(kept * states, 20000u);
  EXPECT_EQ(all.farthest(), nodes - 1);
  ASSERT_EQ(few.farthest(), nodes - 1);
  EXPECT_EQ(few.curve(nodes - 1, 1), all.curve(nodes - 1, 1));
  EXPECT_EQ(again.curve(nodes - 1, 1), all.curve(nodes - 1, 1));
  EXPECT_FALSE(few.has(0));
}

TEST(FarthestNode, HiddenNodesAndNoMotion) {
  FarthestNode one({1}, {1, 0, 0}, 100);
  one.add({9, 0, 0});
  EXPECT_EQ(one.farthest(), -1);
  one.add({99, -2, 1});
  EXPECT_EQ(one.farthest(), 1);
  EXPECT_FALSE(one.has(0));
}

}  // namespace
}  // namespace voussoir::detail
