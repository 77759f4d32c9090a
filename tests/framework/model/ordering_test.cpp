#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <voussoir/backends/error.hpp>
#include <voussoir/framework/model/ordering.hpp>

namespace voussoir {
namespace {

struct Graph {
  std::vector<std::int64_t> row_start;
  std::vector<std::int32_t> column;
};

Graph graph_of(int n, const std::vector<std::pair<int, int>>& edges) {
  std::vector<std::vector<std::int32_t>> rows(n);
  for (auto [a, b] : edges) {
    rows[a].push_back(b);
    rows[b].push_back(a);
  }
  Graph graph;
  graph.row_start.push_back(0);
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    graph.column.insert(graph.column.end(), row.begin(), row.end());
    graph.row_start.push_back(static_cast<std::int64_t>(graph.column.size()));
  }
  return graph;
}

// A width × height grid with five-point neighbours, its vertices numbered at random.
Graph shuffled_grid(int width, int height, unsigned seed) {
  std::vector<int> name(width * height);
  std::iota(name.begin(), name.end(), 0);
  std::shuffle(name.begin(), name.end(), std::mt19937(seed));
  std::vector<std::pair<int, int>> edges;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (x + 1 < width) edges.emplace_back(name[y * width + x], name[y * width + x + 1]);
      if (y + 1 < height) edges.emplace_back(name[y * width + x], name[(y + 1) * width + x]);
    }
  }
  return graph_of(width * height, edges);
}

bool is_permutation_of_all(std::vector<std::int32_t> order) {
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (order[k] != static_cast<std::int32_t>(k)) return false;
  }
  return true;
}

// The bandwidth of a w × w grid cannot be below w (Chvátalová 1975); diagonal levels of Cuthill-McKee reach it but for
// a few places.
TEST(Ordering, BringsAShuffledGridBackToItsWidth) {
  const Graph grid = shuffled_grid(20, 20, 7);
  EXPECT_GT(bandwidth(grid.row_start, grid.column), 300);
  const auto order = reverse_cuthill_mckee(grid.row_start, grid.column);
  ASSERT_TRUE(is_permutation_of_all(order));
  EXPECT_GE(bandwidth(grid.row_start, grid.column, order), 20);
  EXPECT_LE(bandwidth(grid.row_start, grid.column, order), 22);
}

TEST(Ordering, FollowsTheLongSideOfAStrip) {
  const Graph strip = shuffled_grid(4, 250, 3);
  const auto order = reverse_cuthill_mckee(strip.row_start, strip.column);
  EXPECT_LE(bandwidth(strip.row_start, strip.column, order), 6);
  EXPECT_LE(profile(strip.row_start, strip.column, order), 1000 * 7);
}

TEST(Ordering, APathBecomesTridiagonal) {
  const Graph path = shuffled_grid(1, 100, 11);
  const auto order = reverse_cuthill_mckee(path.row_start, path.column);
  EXPECT_EQ(bandwidth(path.row_start, path.column, order), 1);
  EXPECT_EQ(profile(path.row_start, path.column, order), 199);
}

TEST(Ordering, TakesPartsThatAreNotConnectedAndLonelyVertices) {
  // 0-2-4-6-8, 1-3-5-7, and 9 alone: in the order of names every edge spans two places.
  const Graph graph = graph_of(10, {{0, 2}, {2, 4}, {4, 6}, {6, 8}, {1, 3}, {3, 5}, {5, 7}});
  EXPECT_EQ(bandwidth(graph.row_start, graph.column), 2);
  const auto order = reverse_cuthill_mckee(graph.row_start, graph.column);
  ASSERT_TRUE(is_permutation_of_all(order));
  EXPECT_EQ(bandwidth(graph.row_start, graph.column, order), 1);
}

// A star of five: the centre first costs 1 + 2 + 3 + 4 + 5, the centre last 4 + 5.
TEST(Ordering, MeasuresProfileByHand) {
  const Graph star = graph_of(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  EXPECT_EQ(profile(star.row_start, star.column), 15);
  const std::vector<std::int32_t> centre_last = {1, 2, 3, 4, 0};
  EXPECT_EQ(profile(star.row_start, star.column, centre_last), 9);
  EXPECT_EQ(inverse_order(centre_last), (std::vector<std::int32_t>{4, 0, 1, 2, 3}));
}

TEST(Ordering, AnEmptyGraphHasAnEmptyOrder) {
  EXPECT_TRUE(reverse_cuthill_mckee({}, {}).empty());
  EXPECT_EQ(bandwidth({}, {}), 0);
}

TEST(Ordering, RefusesGraphsThatAreNone) {
  const std::vector<std::int64_t> start = {0, 1, 1};
  EXPECT_THROW(reverse_cuthill_mckee(start, std::vector<std::int32_t>{1}), Error);  // one direction only
  EXPECT_THROW(reverse_cuthill_mckee(start, std::vector<std::int32_t>{5}), Error);
  EXPECT_THROW(inverse_order(std::vector<std::int32_t>{0, 0}), Error);
}

}  // namespace
}  // namespace voussoir
