#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include <voussoir/backends/detail/aggregation_rules.hpp>

#include "backends/cpu_backends.hpp"
#include "backends/toy_elements.hpp"
#include "level_dense.hpp"

// Groups of nodes, compared with what their rules say when they are followed one node after another, and the bases on
// them.

namespace voussoir {
namespace {

using namespace levels;

/// The groups that follow when nodes are asked one after another, the one of the largest word first: rounds that all
/// nodes go through at once must end the same way.
struct Groups {
  int count = 0;
  std::vector<std::int32_t> of_node;
};

using Neighbours = std::vector<std::set<int>>;

Neighbours strong_neighbours(const Dense& a, int size, double threshold) {
  const int nodes = static_cast<int>(a.rows()) / size;
  Neighbours near(static_cast<std::size_t>(nodes));
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j < nodes; ++j) {
      const double own =
          a.block(i * size, i * size, size, size).norm() * a.block(j * size, j * size, size, size).norm();
      if (i != j && a.block(i * size, j * size, size, size).squaredNorm() > threshold * threshold * own)
        near[static_cast<std::size_t>(i)].insert(j);
    }
  return near;
}

Groups groups_by_rule(const Neighbours& near, const std::vector<bool>& tied) {
  const int nodes = static_cast<int>(near.size());
  std::vector<int> order;
  for (int i = 0; i < nodes; ++i)
    if (tied[static_cast<std::size_t>(i)]) order.push_back(i);
  const auto word = [](int i) {
    return detail::root_word(detail::RootStatus::undecided, static_cast<std::uint32_t>(i));
  };
  std::sort(order.begin(), order.end(), [&](int i, int j) { return word(i) > word(j); });
  std::set<int> roots;
  for (const int i : order) {
    bool alone = true;
    for (const int j : near[static_cast<std::size_t>(i)]) {
      alone = alone && !roots.count(j);
      for (const int k : near[static_cast<std::size_t>(j)]) alone = alone && !roots.count(k);
    }
    if (alone) roots.insert(i);
  }
  Groups groups;
  std::map<int, int> number;
  for (const int i : roots) number[i] = groups.count++;
  std::vector<std::int32_t> joined(near.size(), -1);
  for (int i = 0; i < nodes; ++i) {
    if (roots.count(i)) joined[static_cast<std::size_t>(i)] = number[i];
    for (const int j : near[static_cast<std::size_t>(i)])
      if (roots.count(j)) joined[static_cast<std::size_t>(i)] = number[j];
  }
  groups.of_node = joined;
  for (int i = 0; i < nodes; ++i) {
    if (joined[static_cast<std::size_t>(i)] >= 0) continue;
    std::map<std::int32_t, int> votes;
    for (const int j : near[static_cast<std::size_t>(i)])
      if (joined[static_cast<std::size_t>(j)] >= 0) ++votes[joined[static_cast<std::size_t>(j)]];
    int most = 0;
    for (const auto& [group, count] : votes)
      if (count > most) {
        most = count;
        groups.of_node[static_cast<std::size_t>(i)] = group;
      }
  }
  return groups;
}

void expect_groups(const Dense& a, int size, double threshold) {
  const int nodes = static_cast<int>(a.rows()) / size;
  const Neighbours near = strong_neighbours(a, size, threshold), entries = strong_neighbours(a, size, 0);
  std::vector<bool> tied;
  for (const auto& list : entries) tied.push_back(!list.empty());
  const Groups expected = groups_by_rule(near, tied);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const Aggregates found =
        backend->service<MultigridServices>().aggregate(level_matrix(*backend, a, size, size), threshold);
    const auto of_node = found.of_node.read_host();
    ASSERT_EQ(found.count, expected.count);
    ASSERT_EQ(std::vector<std::int32_t>(of_node.begin(), of_node.end()), expected.of_node);
    // Nodes of a group are within two steps of one of them, its root.
    for (int g = 0; g < found.count; ++g) {
      std::set<int> members;
      for (int i = 0; i < nodes; ++i)
        if (of_node[static_cast<std::size_t>(i)] == g) members.insert(i);
      EXPECT_TRUE(std::any_of(members.begin(), members.end(),
                              [&](int root) {
                                std::set<int> reached{root};
                                for (const int j : near[static_cast<std::size_t>(root)]) {
                                  reached.insert(j);
                                  reached.insert(near[static_cast<std::size_t>(j)].begin(),
                                                 near[static_cast<std::size_t>(j)].end());
                                }
                                return std::includes(reached.begin(), reached.end(), members.begin(), members.end());
                              }))
          << "group " << g;
    }
  }
}

/// Blocks of `size` rows between neighbours of a grid, `across` times as large in the second direction.
Dense grid(int nx, int ny, int size, double across) {
  const int nodes = nx * ny;
  Dense a = Dense::Zero(nodes * size, nodes * size);
  const Dense block = Dense::Identity(size, size) + 0.1 * Dense::Ones(size, size);
  const auto tie = [&](int i, int j, double strength) {
    a.block(i * size, j * size, size, size) -= strength * block;
    a.block(j * size, i * size, size, size) -= strength * block;
    a.block(i * size, i * size, size, size) += strength * block;
    a.block(j * size, j * size, size, size) += strength * block;
  };
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      if (x + 1 < nx) tie(y * nx + x, y * nx + x + 1, 1);
      if (y + 1 < ny) tie(y * nx + x, (y + 1) * nx + x, across);
    }
  return a;
}

TEST(Aggregates, OfAPathFollowTheRules) { expect_groups(path(200), 1, 0.1); }

TEST(Aggregates, OfAGridFollowTheRules) { expect_groups(grid(23, 17, 3, 1), 3, 0); }

TEST(Aggregates, GoAlongStrongDirections) {
  const Dense a = grid(12, 12, 2, 0.001);
  expect_groups(a, 2, 0.08);
  const auto backend = make_openmp_backend(1);
  const Aggregates found = backend->service<MultigridServices>().aggregate(level_matrix(*backend, a, 2, 2), 0.08);
  const auto of_node = found.of_node.read_host();
  for (std::size_t i = 0; i < 144; ++i)
    for (std::size_t j = 0; j < 144; ++j)
      if (of_node[i] == of_node[j]) {
        EXPECT_EQ(i / 12, j / 12) << "nodes " << i << " and " << j;
      }
}

TEST(Aggregates, LeaveOutWhatNothingIsTiedTo) {
  Dense a = path(30);
  a.row(7).setZero();
  a.col(7).setZero();
  a(7, 7) = 1;
  a(20, 21) = a(21, 20) = 1e-9;  // tied, but only just: groups end here
  a(21, 22) = a(22, 21) = 1e-9;
  expect_groups(a, 1, 0.1);
  const auto backend = make_openmp_backend(2);
  const Aggregates found = backend->service<MultigridServices>().aggregate(level_matrix(*backend, a, 1, 1), 0.1);
  const auto of_node = found.of_node.read_host();
  EXPECT_EQ(of_node[7], -1);
  EXPECT_EQ(std::count(of_node.begin(), of_node.end(), -1), 1);
  EXPECT_EQ(std::count(of_node.begin(), of_node.end(), of_node[21]), 1) << "node 21 is a group of its own";
}

TEST(Tentative, IsAnOrthonormalBasisOnEachGroup) {
  const int height = 3, modes = 6, nodes = 40;
  // Groups of many nodes, of one (too small for six vectors), and nodes in none.
  std::vector<std::int32_t> of_node;
  for (int i = 0; i < nodes; ++i) of_node.push_back(i == 11 || i == 30 ? -1 : i == 17 ? 4 : i % 4);
  const Dense near = random_dense(nodes * height, modes, 7);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    Aggregates groups{5, Array<std::int32_t>(backend->memory(0), std::span<const std::int32_t>(of_node))};
    const LevelVector near_null = level_vector(*backend, near, false);
    Array<double> coarse;
    const LevelMatrix t =
        backend->service<MultigridServices>().tentative(groups, height, modes, near_null.value, coarse);
    ASSERT_EQ(t.rows, nodes);
    ASSERT_EQ(t.columns, 5);
    ASSERT_EQ(t.blocks(), nodes - 2);
    const Dense basis = dense_of(t);
    Dense unit = Dense::Identity(30, 30);
    for (int k = 27; k < 30; ++k) unit(k, k) = 0;  // what the group of one node has no room for
    expect_near(basis.transpose() * basis, unit, 1e-14);
    LevelVector factors;
    factors.columns = modes;
    factors.value = std::move(coarse);
    Dense expected = near;
    for (int r = 0; r < height; ++r)
      for (const int node : {11, 30}) expected.row(node * height + r).setZero();
    expect_near(basis * dense_of(factors), expected, 1e-14);
  }
}

}  // namespace
}  // namespace voussoir
