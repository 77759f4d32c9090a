#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <voussoir/backends/detail/aggregation_rules.hpp>

#include "cpu_backends.hpp"
#include "support/expect_error.hpp"
#include "toy_elements.hpp"

// The steps of algebraic multigrid, one by one. What they give is compared with dense matrices, with what their rules
// say when they are followed one node after another, and with closed forms.

namespace voussoir {
namespace {

using Dense = Eigen::MatrixXd;
using testing::expect_error;
using toy::Case;
using toy::numbers;

// --- matrices and vectors of levels, to and from dense ones --------------------------------------------------------

/// Blocks of a dense matrix in which there is a number.
LevelMatrix level_matrix(const Backend& backend, const Dense& dense, int height, int width) {
  LevelMatrix a;
  a.rows = static_cast<std::int32_t>(dense.rows()) / height;
  a.columns = static_cast<std::int32_t>(dense.cols()) / width;
  a.height = height;
  a.width = width;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<double> value;
  for (int i = 0; i < a.rows; ++i) {
    std::vector<int> kept;
    for (int j = 0; j < a.columns; ++j)
      if (!dense.block(i * height, j * width, height, width).isZero(0)) kept.push_back(j);
    column.insert(column.end(), kept.begin(), kept.end());
    start.push_back(static_cast<std::int64_t>(column.size()));
    for (int r = 0; r < height; ++r)
      for (const int j : kept)
        for (int c = 0; c < width; ++c) value.push_back(dense(i * height + r, j * width + c));
  }
  a.start = Array<std::int64_t>(backend.memory(0), std::span<const std::int64_t>(start));
  a.column = Array<std::int32_t>(backend.memory(0), std::span<const std::int32_t>(column));
  a.value = Array<double>(backend.memory(0), std::span<const double>(value));
  return a;
}

/// Numbers in whichever precision there is.
template <class Holder>
std::vector<double> numbers_of(const Holder& holder) {
  if (holder.single_value.empty()) {
    const auto value = holder.value.read_host();
    return {value.begin(), value.end()};
  }
  const auto value = holder.single_value.read_host();
  return {value.begin(), value.end()};
}

Dense dense_of(const LevelMatrix& a) {
  Dense dense = Dense::Zero(a.rows * a.height, a.columns * a.width);
  const auto start = a.start.read_host();
  const auto column = a.column.read_host();
  const std::vector<double> value = numbers_of(a);
  for (int i = 0; i < a.rows; ++i) {
    const auto first = static_cast<std::size_t>(start[static_cast<std::size_t>(i)]);
    const std::size_t n = static_cast<std::size_t>(start[static_cast<std::size_t>(i) + 1]) - first;
    for (std::size_t k = 0; k < n; ++k) {
      if (k > 0) {
        EXPECT_LT(column[first + k - 1], column[first + k]) << "row " << i;
      }
      for (int r = 0; r < a.height; ++r)
        for (int c = 0; c < a.width; ++c)
          dense(i * a.height + r, column[first + k] * a.width + c) =
              value[(first * static_cast<std::size_t>(a.height) + static_cast<std::size_t>(r) * n + k) *
                        static_cast<std::size_t>(a.width) +
                    static_cast<std::size_t>(c)];
    }
  }
  return dense;
}

Dense dense_of(const LevelDiagonal& d) {
  const std::vector<double> value = numbers_of(d);
  const int n = d.size, rows = static_cast<int>(value.size()) / (n * n);
  Dense dense = Dense::Zero(rows * n, rows * n);
  for (int i = 0; i < rows; ++i)
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) dense(i * n + r, i * n + c) = value[static_cast<std::size_t>((i * n + r) * n + c)];
  return dense;
}

Dense dense_of(const DenseInverse& d) {
  using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const std::vector<double> value = numbers_of(d);
  return Eigen::Map<const ByRows>(value.data(), d.size, d.size);
}

LevelVector level_vector(const Backend& backend, const Dense& dense, bool single) {
  LevelVector x;
  x.columns = static_cast<int>(dense.cols());
  std::vector<double> value;
  for (int i = 0; i < dense.rows(); ++i)
    for (int c = 0; c < dense.cols(); ++c) value.push_back(dense(i, c));
  if (single) {
    const std::vector<float> rounded(value.begin(), value.end());
    x.single_value = Array<float>(backend.memory(0), std::span<const float>(rounded));
  } else {
    x.value = Array<double>(backend.memory(0), std::span<const double>(value));
  }
  return x;
}

/// Without values: they are to be written.
LevelVector empty_vector(const Backend& backend, int rows, int columns, bool single) {
  LevelVector x;
  x.columns = columns;
  const auto size = static_cast<std::size_t>(rows * columns);
  if (single)
    x.single_value = Array<float>(backend.memory(0), size);
  else
    x.value = Array<double>(backend.memory(0), size);
  return x;
}

Dense dense_of(const LevelVector& x) {
  const std::vector<double> value = numbers_of(x);
  Dense dense(static_cast<int>(value.size()) / x.columns, x.columns);
  for (int i = 0; i < dense.rows(); ++i)
    for (int c = 0; c < x.columns; ++c) dense(i, c) = value[static_cast<std::size_t>(i * x.columns + c)];
  return dense;
}

void expect_near(const Dense& found, const Dense& expected, double tolerance) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  if (found.size() == 0) return;
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), tolerance * std::max(1.0, expected.cwiseAbs().maxCoeff()))
      << "found\n"
      << found.topLeftCorner(std::min<int>(8, found.rows()), std::min<int>(8, found.cols())) << "\nexpected\n"
      << expected.topLeftCorner(std::min<int>(8, found.rows()), std::min<int>(8, found.cols()));
}

/// Numbers in about `share` of the blocks.
Dense sparse_blocks(int rows, int columns, int height, int width, double share, unsigned seed) {
  const auto chance = numbers(static_cast<std::size_t>(rows * columns), seed);
  const auto value = numbers(static_cast<std::size_t>(rows * columns * height * width), seed + 1);
  Dense dense = Dense::Zero(rows * height, columns * width);
  std::size_t next = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if ((chance[static_cast<std::size_t>(i * columns + j)] + 1) / 2 < share)
        for (int r = 0; r < height; ++r)
          for (int c = 0; c < width; ++c) dense(i * height + r, j * width + c) = value[next++];
  return dense;
}

/// A symmetric positive definite matrix with numbers in some of its blocks.
Dense positive_blocks(int rows, int size, double share, unsigned seed) {
  const Dense half = sparse_blocks(rows, rows, size, size, share, seed);
  Dense a = half + half.transpose();
  for (int i = 0; i < a.rows(); ++i) a(i, i) = 1 + a.row(i).cwiseAbs().sum();
  return a;
}

Dense random_dense(int rows, int columns, unsigned seed) {
  const auto value = numbers(static_cast<std::size_t>(rows * columns), seed);
  return Eigen::Map<const Dense>(value.data(), rows, columns);
}

// --- the finest level ----------------------------------------------------------------------------------------------

/// The rows of a matrix by nodes, from what it says of itself on the host.
Dense rows_by_nodes(const HostMatrix& m, const std::vector<std::int32_t>& first_equation, int height) {
  const int nodes = static_cast<int>(first_equation.size()) - 1;
  std::vector<int> place;  // of each equation
  for (int n = 0; n < nodes; ++n)
    for (std::int32_t e = first_equation[static_cast<std::size_t>(n)];
         e < first_equation[static_cast<std::size_t>(n) + 1]; ++e)
      place.push_back(n * height + e - first_equation[static_cast<std::size_t>(n)]);
  Dense dense = Dense::Identity(nodes * height, nodes * height);
  for (const int p : place) dense(p, p) = 0;
  const int b = m.block_size;
  for (std::int64_t row = 0; row < m.block_rows(); ++row)
    for (std::int64_t k = m.row_start[static_cast<std::size_t>(row)];
         k < m.row_start[static_cast<std::size_t>(row) + 1]; ++k)
      for (int i = 0; i < b * b; ++i)
        dense(place[static_cast<std::size_t>(row * b + i / b)],
              place[static_cast<std::size_t>(m.column[static_cast<std::size_t>(k)] * b + i % b)]) =
            m.value[static_cast<std::size_t>(k * b * b + i)];
  return dense;
}

struct FinestCase {
  int components, block_size;
  bool spare;  ///< some nodes have an equation more
};

class FinestLevel : public ::testing::TestWithParam<FinestCase> {
 protected:
  static Case make() {
    Case c(9, 7, GetParam().components, 4, true);
    if (GetParam().spare) {
      c.dependencies.clear();
      c.add_spare_equations();
    }
    return c;
  }
};

TEST_P(FinestLevel, HasTheRowsOfTheMatrix) {
  const Case c = make();
  const int height = GetParam().components + (GetParam().spare ? 1 : 0);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    const auto matrix = backend->make_matrix(*model, GetParam().block_size);
    backend->assemble(*model, nullptr, {}, *matrix);
    LevelMatrix rows = backend->multigrid().rows_of(*model, *matrix);
    ASSERT_EQ(rows.height, height);
    ASSERT_EQ(rows.width, height);
    EXPECT_EQ(dense_of(rows), rows_by_nodes(matrix->to_host(), c.first_equation, height));

    const HostMatrix given = matrix->to_host();
    const auto whole = backend->make_matrix(model->layout(), given);
    EXPECT_EQ(dense_of(backend->multigrid().rows_of(*model, *whole)), rows_by_nodes(given, c.first_equation, height));

    MatrixTerms terms;
    terms.stiffness = 0.5;
    terms.mass = 2;
    backend->assemble(*model, nullptr, terms, *matrix);
    const Dense second = rows_by_nodes(matrix->to_host(), c.first_equation, height);
    ASSERT_NE(dense_of(rows), second);
    backend->multigrid().update_rows(*model, *matrix, rows);
    EXPECT_EQ(dense_of(rows), second);
    backend->multigrid().to_single(rows);
    backend->multigrid().update_rows(*model, *matrix, rows);
    EXPECT_EQ(dense_of(rows), second);
  }
}

TEST_P(FinestLevel, TakesAndGivesVectors) {
  const Case c = make();
  const int height = GetParam().components + (GetParam().spare ? 1 : 0);
  const int nodes = static_cast<int>(c.first_equation.size()) - 1;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    const Array<std::int32_t> equation = backend->multigrid().equations_of(*model, height);
    EXPECT_EQ(equation.empty(), !GetParam().spare);
    for (const int columns : {1, 5})
      for (const bool single : {false, true}) {
        auto values = numbers(static_cast<std::size_t>(c.equations() * columns), 3);
        if (single)
          for (double& v : values) v = static_cast<float>(v);
        const Vector from = toy::vector_of(model->layout(), values, columns);
        LevelVector level = empty_vector(*backend, nodes * height, columns, single);
        backend->multigrid().take(from, equation, level);
        const Dense taken = dense_of(level);
        for (int n = 0; n < nodes; ++n)
          for (int r = 0; r < height; ++r)
            for (int k = 0; k < columns; ++k) {
              const std::int32_t e = c.first_equation[static_cast<std::size_t>(n)] + r;
              const bool exists = e < c.first_equation[static_cast<std::size_t>(n) + 1];
              ASSERT_EQ(taken(n * height + r, k), exists ? values[static_cast<std::size_t>(e * columns + k)] : 0.0);
            }
        Vector back(model->layout(), columns);
        backend->multigrid().give(level, equation, back);
        EXPECT_EQ(back.to_host(), values);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FinestLevel,
                         ::testing::Values(FinestCase{1, 1, false}, FinestCase{2, 2, false}, FinestCase{3, 3, false},
                                           FinestCase{3, 1, false}, FinestCase{6, 6, false}, FinestCase{1, 1, true},
                                           FinestCase{3, 1, true}));

TEST(RigidModes, AreWhatARigidBodyDoes) {
  // Nodes with displacements and rotations: a rotation ω about the centre moves a point by ω × x and turns it by ω.
  Case c(5, 4, 6, 4, true);
  for (std::size_t n = 0; 3 * n < c.coordinates.size(); ++n) c.coordinates[3 * n + 2] = 0.03 * static_cast<double>(n);
  const std::vector<Motion> motion{Motion::x,          Motion::y,          Motion::z,
                                   Motion::rotation_x, Motion::rotation_y, Motion::rotation_z};
  const Eigen::Vector3d centre(0.2, 0.1, -0.3);
  const double length = 2.5;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    const Array<double> modes =
        backend->multigrid().rigid_modes(*model, motion, 6, 6, {centre[0], centre[1], centre[2]}, length);
    const auto found = modes.read_host();
    const auto nodes = static_cast<std::size_t>(c.equations()) / 6;
    for (std::size_t n = 0; n < nodes; ++n)
      for (int m = 0; m < 6; ++m) {
        const Eigen::Vector3d point =
            (Eigen::Vector3d(c.coordinates[3 * n], c.coordinates[3 * n + 1], c.coordinates[3 * n + 2]) - centre);
        const Eigen::Vector3d shift = m < 3 ? Eigen::Vector3d::Unit(m) : Eigen::Vector3d::Zero().eval();
        const Eigen::Vector3d turn =
            m < 3 ? Eigen::Vector3d::Zero().eval() : (Eigen::Vector3d::Unit(m - 3) / length).eval();
        Eigen::Matrix<double, 6, 1> expected;
        expected << shift + turn.cross(point), turn;
        for (int r = 0; r < 6; ++r) {
          const auto row = 6 * n + static_cast<std::size_t>(r);
          ASSERT_NEAR(found[row * 6 + static_cast<std::size_t>(m)],
                      c.is_free(static_cast<int>(row)) ? expected[r] : 0.0, 1e-14)
              << "node " << n << ", row " << r << ", mode " << m;
        }
      }
  }
}

TEST(RigidModes, OfPlanesAndOfValues) {
  const Case plane(4, 3, 2, 4, false), scalar(4, 3, 1, 4, false);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(plane.description());
    const std::vector<Motion> xy{Motion::x, Motion::y};
    const Array<double> modes = backend->multigrid().rigid_modes(*model, xy, 2, 3, {0.1, 0.2, 0}, 0.5);
    const auto found = modes.read_host();
    for (std::size_t n = 0; 3 * n < plane.coordinates.size(); ++n) {
      const double x = (plane.coordinates[3 * n] - 0.1) / 0.5, y = (plane.coordinates[3 * n + 1] - 0.2) / 0.5;
      const std::array<double, 6> expected{1, 0, -y, 0, 1, x};
      for (std::size_t k = 0; k < 6; ++k)
        ASSERT_NEAR(found[6 * n + k], plane.is_free(static_cast<int>(2 * n + k / 3)) ? expected[k] : 0.0, 1e-14);
    }
    const auto other = backend->make_model(scalar.description());
    // One motion for every row, as models of several fields have them.
    std::vector<Motion> every(static_cast<std::size_t>(scalar.equations()), Motion::value);
    every[7] = Motion::nothing;
    const Array<double> ones = backend->multigrid().rigid_modes(*other, every, 1, 1, {0, 0, 0}, 1);
    const auto value = ones.read_host();
    for (int e = 0; e < scalar.equations(); ++e)
      ASSERT_EQ(value[static_cast<std::size_t>(e)], scalar.is_free(e) && e != 7 ? 1.0 : 0.0);
  }
}

// --- groups --------------------------------------------------------------------------------------------------------

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
    const Aggregates found = backend->multigrid().aggregate(level_matrix(*backend, a, size, size), threshold);
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

Dense path(int nodes) {
  Dense a = 2 * Dense::Identity(nodes, nodes);
  for (int i = 0; i + 1 < nodes; ++i) a(i, i + 1) = a(i + 1, i) = -1;
  return a;
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
  const Aggregates found = backend->multigrid().aggregate(level_matrix(*backend, a, 2, 2), 0.08);
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
  const Aggregates found = backend->multigrid().aggregate(level_matrix(*backend, a, 1, 1), 0.1);
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
    const LevelMatrix t = backend->multigrid().tentative(groups, height, modes, near_null.value, coarse);
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

// --- products of matrices ------------------------------------------------------------------------------------------

class LevelMultiply : public ::testing::TestWithParam<std::array<int, 3>> {};

TEST_P(LevelMultiply, IsTheProduct) {
  const auto [height, inner, width] = GetParam();
  const Dense a = sparse_blocks(23, 17, height, inner, 0.3, 11), b = sparse_blocks(17, 9, inner, width, 0.3, 12);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const LevelMatrix la = level_matrix(*backend, a, height, inner), lb = level_matrix(*backend, b, inner, width);
    LevelMatrix c = backend->multigrid().product_pattern(la, lb);
    // A block is in the pattern where there is a way to it.
    std::int64_t blocks = 0;
    for (int i = 0; i < 23; ++i)
      for (int j = 0; j < 9; ++j) {
        bool way = false;
        for (int k = 0; k < 17; ++k)
          way = way || (!a.block(i * height, k * inner, height, inner).isZero(0) &&
                        !b.block(k * inner, j * width, inner, width).isZero(0));
        blocks += way;
      }
    EXPECT_EQ(c.blocks(), blocks);
    backend->multigrid().multiply(la, lb, c);
    expect_near(dense_of(c), a * b, 1e-14);
    backend->multigrid().multiply(la, lb, c);  // into numbers that are already there
    expect_near(dense_of(c), a * b, 1e-14);
  }
}

TEST_P(LevelMultiply, TransposesItsFactors) {
  const auto [height, inner, width] = GetParam();
  const Dense a = sparse_blocks(19, 31, height, width, 0.2, 13), other = 2 * a;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    LevelMatrix t = backend->multigrid().transposed(level_matrix(*backend, a, height, width));
    EXPECT_EQ(dense_of(t), a.transpose());
    backend->multigrid().update_transposed(level_matrix(*backend, other, height, width), t);
    EXPECT_EQ(dense_of(t), other.transpose());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LevelMultiply,
                         ::testing::Values(std::array{1, 1, 1}, std::array{2, 2, 3}, std::array{3, 2, 3},
                                           std::array{3, 3, 3}, std::array{3, 3, 6}, std::array{6, 3, 6},
                                           std::array{6, 6, 6}, std::array{4, 5, 2}, std::array{1, 1, 2}));

TEST(LevelMatrix, SmoothsAProlongator) {
  const int nodes = 21, size = 3, modes = 6;
  const Dense a = positive_blocks(nodes, size, 0.2, 21);
  Dense t = Dense::Zero(nodes * size, 4 * modes);
  for (int i = 0; i < nodes; ++i)
    if (i != 5)
      t.block(i * size, i % 4 * modes, size, modes) = random_dense(size, modes, 100 + static_cast<unsigned>(i));
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->multigrid();
    const LevelMatrix la = level_matrix(*backend, a, size, size), lt = level_matrix(*backend, t, size, modes);
    LevelDiagonal inverse;
    ASSERT_EQ(services.invert_diagonal(la, inverse), -1);
    LevelMatrix p = services.product_pattern(la, lt);
    services.multiply(la, lt, p);
    services.smooth_prolongator(inverse, lt, 0.6, p);
    expect_near(dense_of(p), t - 0.6 * dense_of(inverse) * a * t, 1e-14);
  }
}

TEST(LevelMatrix, InvertsItsDiagonal) {
  for (const int size : {1, 2, 3, 4, 6}) {
    Dense a = positive_blocks(15, size, 0.3, 31);
    for (int i = 0; i < 15; ++i) a(i * size + size - 1, i * size + size - 1) *= 1e9;  // other units
    for (const auto& backend : toy::all_backends()) {
      SCOPED_TRACE(backend->describe() + ", blocks of " + std::to_string(size));
      LevelDiagonal inverse;
      ASSERT_EQ(backend->multigrid().invert_diagonal(level_matrix(*backend, a, size, size), inverse), -1);
      const Dense found = dense_of(inverse);
      for (int i = 0; i < 15; ++i) {
        const Dense block = a.block(i * size, i * size, size, size);
        expect_near(found.block(i * size, i * size, size, size) * block, Dense::Identity(size, size), 1e-12);
      }
      backend->multigrid().invert_row_sums(level_matrix(*backend, a, size, size), inverse);
      const Eigen::VectorXd sums = a.cwiseAbs().rowwise().sum();
      expect_near(dense_of(inverse), sums.cwiseInverse().asDiagonal(), 1e-15);
    }
  }
}

TEST(LevelMatrix, SaysWhichDiagonalIsNotPositive) {
  Dense a = positive_blocks(40, 3, 0.2, 32);
  a.block(25 * 3, 25 * 3, 3, 3) << 2, 1, 0, 1, 0.5, 0, 0, 0, 1;  // its second row follows from the first
  a(31 * 3, 31 * 3) = -1;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    LevelDiagonal inverse;
    EXPECT_EQ(backend->multigrid().invert_diagonal(level_matrix(*backend, a, 3, 3), inverse), 25 * 3 + 1);
  }
}

TEST(LevelMatrix, HoldsEmptyRows) {
  Dense a = positive_blocks(12, 3, 0.3, 33);
  for (const int row : {4, 5, 30}) {
    a.row(row).setZero();
    a.col(row).setZero();
  }
  Dense expected = a;
  for (const int row : {4, 5, 30}) expected(row, row) = 1;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    LevelMatrix held = level_matrix(*backend, a, 3, 3);
    backend->multigrid().hold_empty_rows(held);
    EXPECT_EQ(dense_of(held), expected);
  }
}

TEST(DenseInverse, IsTheInverse) {
  for (const int rows : {1, 7, 22, 70}) {
    const Dense a = positive_blocks(rows, 3, 0.3, 41);
    for (const auto& backend : toy::all_backends()) {
      SCOPED_TRACE(backend->describe() + ", " + std::to_string(3 * rows) + " rows");
      DenseInverse inverse = backend->multigrid().invert(level_matrix(*backend, a, 3, 3));
      expect_near(dense_of(inverse) * a, Dense::Identity(3 * rows, 3 * rows), 1e-13);
      for (const int columns : {1, 5}) {
        const Dense x = random_dense(3 * rows, columns, 42);
        LevelVector y = empty_vector(*backend, 3 * rows, columns, false);
        backend->multigrid().apply(inverse, level_vector(*backend, x, false), y);
        expect_near(dense_of(y), a.inverse() * x, 1e-13);
      }
      backend->multigrid().to_single(inverse);
      const Dense x = random_dense(3 * rows, 1, 43);
      LevelVector y = empty_vector(*backend, 3 * rows, 1, true);
      backend->multigrid().apply(inverse, level_vector(*backend, x, true), y);
      expect_near(dense_of(y), a.inverse() * x, 1e-6);
    }
  }
}

TEST(DenseInverse, LeavesOutWhatIsSingular) {
  // A free chain: only differences count, so that one node too many is left out and the others are held by it.
  const int nodes = 150;
  Dense a = path(nodes);
  a(0, 0) = a(nodes - 1, nodes - 1) = 1;
  Eigen::VectorXd load = random_dense(nodes, 1, 44);
  load.array() -= load.mean();
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const Dense inverse = dense_of(backend->multigrid().invert(level_matrix(*backend, a, 1, 1)));
    ASSERT_TRUE(inverse.allFinite());
    EXPECT_EQ((inverse.diagonal().array() == 0).count(), 1);
    expect_near(a * (inverse * load), load, 1e-10);
    // A row that is empty is left out too, and the rows after it are not hurt.
    Dense gap = positive_blocks(nodes, 1, 0.1, 45);
    gap.row(70).setZero();
    gap.col(70).setZero();
    const Dense other = dense_of(backend->multigrid().invert(level_matrix(*backend, gap, 1, 1)));
    Dense unit = Dense::Identity(nodes, nodes);
    unit(70, 70) = 0;
    expect_near(other * gap, unit, 1e-12);
  }
}

// --- vectors and cycles --------------------------------------------------------------------------------------------

struct CycleCase {
  int height, width, columns;
  bool single;
};

class Cycle : public ::testing::TestWithParam<CycleCase> {};

TEST_P(Cycle, MultipliesLikeADenseMatrix) {
  const auto [height, width, columns, single] = GetParam();
  const double tolerance = single ? 2e-6 : 1e-14;
  const int rows = 61, others = 43;
  const Dense a = sparse_blocks(rows, others, height, width, 0.4, 51);
  const Dense x = random_dense(others * width, columns, 52), b = random_dense(rows * height, columns, 53);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->multigrid();
    LevelMatrix la = level_matrix(*backend, a, height, width);
    if (single) services.to_single(la);
    const LevelVector lx = level_vector(*backend, x, single), lb = level_vector(*backend, b, single);
    LevelVector y = empty_vector(*backend, rows * height, columns, single);
    services.product(la, lx, y);
    expect_near(dense_of(y), a * x, tolerance);
    services.residual(la, lx, lb, y);
    expect_near(dense_of(y), b - a * x, tolerance);
    services.add_product(la, lx, y);
    expect_near(dense_of(y), b, tolerance);
  }
}

TEST_P(Cycle, TakesStepsOfASmoother) {
  const auto [size, width, columns, single] = GetParam();
  if (size != width) return;
  const double tolerance = single ? 2e-6 : 1e-14;
  const int rows = 47;
  const Dense a = positive_blocks(rows, size, 0.2, 61);
  const Dense x = random_dense(rows * size, columns, 62), b = random_dense(rows * size, columns, 63),
              d = random_dense(rows * size, columns, 64);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->multigrid();
    LevelMatrix la = level_matrix(*backend, a, size, size);
    LevelDiagonal inverse;
    ASSERT_EQ(services.invert_diagonal(la, inverse), -1);
    const Dense inv = dense_of(inverse);
    if (single) {
      services.to_single(la);
      services.to_single(inverse);
    }
    const LevelVector lx = level_vector(*backend, x, single), lb = level_vector(*backend, b, single);
    LevelVector moved = empty_vector(*backend, rows * size, columns, single);
    LevelVector next = empty_vector(*backend, rows * size, columns, single);

    services.apply(inverse, lx, next);
    expect_near(dense_of(next), inv * x, tolerance);
    services.first_step(inverse, lb, 0.7, moved, next);
    expect_near(dense_of(moved), 0.7 * inv * b, tolerance);
    EXPECT_EQ(dense_of(moved), dense_of(next));

    services.step(la, inverse, lb, lx, 0.7, 0, moved, next);
    const Dense first = 0.7 * inv * (b - a * x);
    expect_near(dense_of(moved), first, tolerance);
    expect_near(dense_of(next), x + first, tolerance);

    moved = level_vector(*backend, d, single);
    services.step(la, inverse, lb, lx, 0.7, 0.3, moved, next);
    const Dense second = 0.3 * d + 0.7 * inv * (b - a * x);
    expect_near(dense_of(moved), second, tolerance);
    expect_near(dense_of(next), x + second, tolerance);

    moved = level_vector(*backend, d, single);
    next = level_vector(*backend, x, single);
    services.step(inverse, lb, 0.7, 0.3, moved, next);
    const Dense third = 0.3 * d + 0.7 * inv * b;
    expect_near(dense_of(moved), third, tolerance);
    expect_near(dense_of(next), x + third, tolerance);
  }
}

TEST_P(Cycle, CombinesVectors) {
  const auto [height, width, columns, single] = GetParam();
  const double tolerance = single ? 2e-6 : 1e-13;
  const int rows = 3000 * height;  // several stretches
  const Dense x = random_dense(rows, columns, 71), y = random_dense(rows, columns, 72);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->multigrid();
    const LevelVector lx = level_vector(*backend, x, single);
    LevelVector ly = level_vector(*backend, y, single);
    EXPECT_NEAR(services.dot(lx, ly), x.cwiseProduct(y).sum(), 1e-5);
    Array<double> scalars(backend->memory(0), static_cast<std::size_t>(3 * columns));
    services.dot(lx, ly, scalars, 2);
    services.dot(lx, lx, scalars, 0);
    for (int c = 0; c < columns; ++c) {
      EXPECT_NEAR(scalars.read_host()[static_cast<std::size_t>(c)], x.col(c).squaredNorm(), 1e-4);
      EXPECT_NEAR(scalars.read_host()[static_cast<std::size_t>(2 * columns + c)], x.col(c).dot(y.col(c)), 1e-5);
    }
    services.axpby(2, lx, -0.5, ly);
    expect_near(dense_of(ly), 2 * x - 0.5 * y, tolerance);
    LevelVector fresh = empty_vector(*backend, rows, columns, single);
    services.axpby(3, lx, 0, fresh);
    expect_near(dense_of(fresh), 3 * x, tolerance);
    services.fill(fresh, 1.5);
    EXPECT_EQ(dense_of(fresh), Dense::Constant(rows, columns, 1.5));
    services.fill_with_noise(fresh);
    const Dense noise = dense_of(fresh);
    EXPECT_LT(noise.cwiseAbs().maxCoeff(), 0.5 + 1e-7);
    EXPECT_NEAR(noise.mean(), 0, 0.02);
    EXPECT_NEAR(noise.squaredNorm() / static_cast<double>(noise.size()), 1.0 / 12, 0.005);
  }
}

TEST_P(Cycle, MinimisesOverTwoDirections) {
  const auto [size, width, columns, single] = GetParam();
  if (size != width) return;
  const double tolerance = single ? 1e-4 : 1e-11;
  const int rows = 20;
  const Dense a = positive_blocks(rows, size, 0.3, 81);
  const Dense b = random_dense(rows * size, columns, 82);
  Dense c = random_dense(rows * size, columns, 83), d = random_dense(rows * size, columns, 84);
  if (columns > 3) {
    c.col(1).setZero();       // nothing to go along
    d.col(2) = 2 * c.col(2);  // no second direction
    d.col(3).setZero();
  }
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    MultigridServices& services = backend->multigrid();
    LevelMatrix la = level_matrix(*backend, a, size, size);
    if (single) services.to_single(la);
    const LevelVector lb = level_vector(*backend, b, single), lc = level_vector(*backend, c, single),
                      ld = level_vector(*backend, d, single);
    const auto fresh = [&] { return empty_vector(*backend, rows * size, columns, single); };
    LevelVector v = fresh(), w = fresh(), r = fresh(), x = fresh();
    Array<double> scalars(backend->memory(0), static_cast<std::size_t>(5 * columns));
    services.product(la, lc, v);
    services.dot(lc, v, scalars, 0);
    services.dot(lc, lb, scalars, 1);
    services.k_residual(scalars, lb, v, r);
    services.product(la, ld, w);
    services.dot(ld, v, scalars, 2);
    services.dot(ld, w, scalars, 3);
    services.dot(ld, r, scalars, 4);
    services.k_combine(scalars, lc, ld, x);
    const Dense remaining = dense_of(r), found = dense_of(x);
    ASSERT_TRUE(found.allFinite());
    for (int k = 0; k < columns; ++k) {
      const bool none = c.col(k).isZero(0), one = columns > 3 && (k == 2 || k == 3);
      Dense basis(rows * size, none ? 0 : one ? 1 : 2);
      if (!none) basis.col(0) = c.col(k);
      if (!none && !one) basis.col(1) = d.col(k);
      Dense expected = Dense::Zero(rows * size, 1), first = expected;
      if (!none) {
        expected = basis * (basis.transpose() * a * basis).ldlt().solve(basis.transpose() * b.col(k));
        first = c.col(k) * (c.col(k).dot(b.col(k)) / c.col(k).dot(a * c.col(k)));
      }
      expect_near(remaining.col(k), b.col(k) - a * first, tolerance);
      expect_near(found.col(k), expected, tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Cycle,
    ::testing::Values(CycleCase{1, 1, 1, false}, CycleCase{2, 2, 1, false}, CycleCase{3, 3, 1, false},
                      CycleCase{6, 6, 1, false}, CycleCase{4, 4, 1, false}, CycleCase{3, 6, 1, false},
                      CycleCase{6, 3, 1, false}, CycleCase{2, 3, 1, false}, CycleCase{5, 2, 1, false},
                      CycleCase{1, 1, 1, true}, CycleCase{3, 3, 1, true}, CycleCase{6, 6, 1, true},
                      CycleCase{3, 6, 1, true}, CycleCase{6, 3, 1, true}, CycleCase{5, 2, 1, true},
                      CycleCase{3, 3, 5, false}, CycleCase{3, 3, 5, true}, CycleCase{6, 6, 11, false},
                      CycleCase{3, 6, 5, false}, CycleCase{6, 3, 5, true}, CycleCase{4, 4, 5, true},
                      CycleCase{3, 3, 2, true}, CycleCase{6, 6, 3, true}, CycleCase{2, 2, 2, false},
                      CycleCase{3, 3, 8, true}, CycleCase{1, 1, 3, false}));

/// All that a hierarchy of two levels is made of, and some of what is done with it.
std::vector<std::vector<double>> whole_story(Backend& backend, const Case& c) {
  MultigridServices& services = backend.multigrid();
  std::vector<std::vector<double>> story;
  const auto model = backend.make_model(c.description());
  const auto matrix = backend.make_matrix(*model, 3);
  backend.assemble(*model, nullptr, {}, *matrix);
  LevelMatrix a = services.rows_of(*model, *matrix);
  story.push_back(numbers_of(a));
  const std::vector<Motion> motion{Motion::x, Motion::y, Motion::z};
  const Array<double> near = services.rigid_modes(*model, motion, 3, 6, {1, 1, 0}, 3);
  const Aggregates groups = services.aggregate(a, 0.02);
  const auto of_node = groups.of_node.read_host();
  story.emplace_back(of_node.begin(), of_node.end());
  Array<double> coarse;
  const LevelMatrix t = services.tentative(groups, 3, 6, near, coarse);
  story.push_back(numbers_of(t));
  story.emplace_back(coarse.read_host().begin(), coarse.read_host().end());
  LevelDiagonal inverse;
  EXPECT_EQ(services.invert_diagonal(a, inverse), -1);
  LevelMatrix p = services.product_pattern(a, t);
  services.multiply(a, t, p);
  services.smooth_prolongator(inverse, t, 0.5, p);
  LevelMatrix r = services.transposed(p);
  LevelMatrix ap = services.product_pattern(a, p);
  services.multiply(a, p, ap);
  LevelMatrix next = services.product_pattern(r, ap);
  services.multiply(r, ap, next);
  services.hold_empty_rows(next);
  story.push_back(numbers_of(next));
  const DenseInverse end = services.invert(next);
  story.push_back(numbers_of(end));
  services.to_single(a);
  services.to_single(inverse);
  for (const int columns : {1, 5}) {
    LevelVector b = empty_vector(backend, a.rows * 3, columns, true),
                x = empty_vector(backend, a.rows * 3, columns, true),
                d = empty_vector(backend, a.rows * 3, columns, true),
                y = empty_vector(backend, a.rows * 3, columns, true);
    services.fill_with_noise(b);
    services.first_step(inverse, b, 0.5, d, x);
    services.step(a, inverse, b, x, 0.4, 0.2, d, y);
    services.residual(a, y, b, x);
    story.push_back(numbers_of(y));
    story.push_back(numbers_of(x));
    story.push_back({services.dot(x, y)});
  }
  return story;
}

TEST(MultigridBits, DoNotDependOnThreadsOrMemory) {
  const Case c(60, 50, 3, 4, true);
  const auto expected = whole_story(*make_openmp_backend(1), c);
  for (const auto& backend : {make_openmp_backend(2), make_openmp_backend(3), make_debug_backend(1)}) {
    SCOPED_TRACE(backend->describe());
    const auto found = whole_story(*backend, c);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) EXPECT_TRUE(found[k] == expected[k]) << "part " << k;
  }
}

TEST(MultigridErrors, AreMisuse) {
  const auto backend = make_openmp_backend(1);
  MultigridServices& services = backend->multigrid();
  const LevelMatrix a = level_matrix(*backend, path(10), 1, 1);
  const LevelMatrix wide = level_matrix(*backend, sparse_blocks(5, 4, 1, 2, 1, 91), 1, 2);
  LevelVector x = empty_vector(*backend, 10, 1, false), single = empty_vector(*backend, 10, 1, true),
              y = empty_vector(*backend, 10, 1, false);
  LevelDiagonal inverse;
  expect_error(ErrorCode::misuse, {"precision"}, [&] { services.product(a, single, y); });
  expect_error(ErrorCode::misuse, {"precision"}, [&] { services.product(a, x, single); });
  expect_error(ErrorCode::misuse, {"square"}, [&] { services.aggregate(wide, 0); });
  expect_error(ErrorCode::misuse, {"square"}, [&] { services.invert(wide); });
  expect_error(ErrorCode::misuse, {"square"}, [&] { services.invert_diagonal(wide, inverse); });
  expect_error(ErrorCode::misuse, {"multiplied"}, [&] { services.product_pattern(a, wide); });
}

}  // namespace
}  // namespace voussoir
