#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <voussoir/framework/model/detail/disjoint_sets.hpp>

namespace voussoir::detail {
namespace {

TEST(DisjointSets, ThreadsFindTheLeastMemberOfEverySet) {
  constexpr std::int32_t count = 20000, classes = 7;
  // Chains through the members of each class in a random order, so that threads meet everywhere.
  std::mt19937 random(5);
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::int32_t c = 0; c < classes; ++c) {
    std::vector<std::int32_t> members;
    for (std::int32_t i = c; i < count; i += classes) members.push_back(i);
    std::shuffle(members.begin(), members.end(), random);
    for (std::size_t k = 1; k < members.size(); ++k) pairs.emplace_back(members[k - 1], members[k]);
  }
  std::shuffle(pairs.begin(), pairs.end(), random);
  for (int run = 0; run < 20; ++run) {
    DisjointSets sets(count);
#pragma omp parallel for num_threads(8) schedule(dynamic, 16)
    for (std::size_t k = 0; k < pairs.size(); ++k) sets.join(pairs[k].first, pairs[k].second);
    for (std::int32_t i = 0; i < count; ++i) ASSERT_EQ(sets.find(i), i % classes) << "run " << run;
  }
}

TEST(DisjointSets, NumbersThatNothingJoinsStayApart) {
  DisjointSets sets(4);
  sets.join(3, 1);
  EXPECT_EQ(sets.find(0), 0);
  EXPECT_EQ(sets.find(1), 1);
  EXPECT_EQ(sets.find(2), 2);
  EXPECT_EQ(sets.find(3), 1);
}

}  // namespace
}  // namespace voussoir::detail
