#include <gtest/gtest.h>

#include <voussoir/backends/multigrid.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/detail/aggregation_rules.hpp>

#include "backends_under_test.hpp"

// The steps of multigrid where matrices are special: rows so long that a backend may treat them in another way than the
// rest, products with very many columns, groups with very many members, many vectors at once.

namespace voussoir::conformance {
namespace {

/// A matrix in the form of a LevelMatrix, on the host.
struct HostLevel {
  std::int32_t rows, columns;
  int height, width;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<double> value;
};

double wave(std::size_t i, double step) { return std::sin(step * static_cast<double>(i + 1)); }

/// Row i has so many blocks, spread over all columns in steps that are not regular.
HostLevel scattered(std::int32_t rows, std::int32_t columns, int height, int width,
                    const std::function<int(int)>& length) {
  HostLevel a{rows, columns, height, width, {0}, {}, {}};
  for (std::int32_t i = 0; i < rows; ++i) {
    std::set<std::int32_t> row;
    for (std::int64_t k = std::int64_t{i} * 977; static_cast<int>(row.size()) < std::min(length(i), columns); ++k)
      row.insert(static_cast<std::int32_t>((k * 7919 + k * k % 13) % columns));
    a.column.insert(a.column.end(), row.begin(), row.end());
    a.start.push_back(static_cast<std::int64_t>(a.column.size()));
  }
  a.value.resize(a.column.size() * static_cast<std::size_t>(height * width));
  for (std::size_t i = 0; i < a.value.size(); ++i) a.value[i] = wave(i, 0.37);
  return a;
}

LevelMatrix on(const Backend& backend, const HostLevel& a) {
  LevelMatrix m;
  m.rows = a.rows;
  m.columns = a.columns;
  m.height = a.height;
  m.width = a.width;
  m.start = Array<std::int64_t>(backend.memory(0), std::span<const std::int64_t>(a.start));
  m.column = Array<std::int32_t>(backend.memory(0), std::span<const std::int32_t>(a.column));
  m.value = Array<double>(backend.memory(0), std::span<const double>(a.value));
  return m;
}

LevelVector vector_on(const Backend& backend, std::int64_t rows, int columns, bool single, double step) {
  LevelVector x;
  x.columns = columns;
  const auto size = static_cast<std::size_t>(rows * columns);
  if (single) {
    x.single_value = Array<float>(backend.memory(0), size);
    const auto values = x.single_value.write_host();
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(wave(i, step));
  } else {
    x.value = Array<double>(backend.memory(0), size);
    const auto values = x.value.write_host();
    for (std::size_t i = 0; i < size; ++i) values[i] = wave(i, step);
  }
  return x;
}

template <class T>
std::vector<T> host(const Array<T>& array) {
  const auto values = array.read_host();
  return {values.begin(), values.end()};
}

/// Numbers in whichever precision there is.
template <class Holder>
std::vector<double> numbers(const Holder& holder) {
  if (holder.single_value.empty()) return host(holder.value);
  const auto values = holder.single_value.read_host();
  return {values.begin(), values.end()};
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double size = 0;
  for (const double x : expected) size = std::max(size, std::fabs(x));
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], tolerance * size) << "number " << i;
}

void expect_same_pattern(const LevelMatrix& found, const LevelMatrix& expected) {
  EXPECT_EQ(host(found.start), host(expected.start));
  EXPECT_EQ(host(found.column), host(expected.column));
}

struct LevelMatricesOn : ::testing::TestWithParam<std::string> {
  std::shared_ptr<Backend> backend = Backend::open(GetParam()), reference = Backend::open(oracle);
  MultigridServices& here = backend->service<MultigridServices>();
  MultigridServices& there = reference->service<MultigridServices>();
};

TEST_P(LevelMatricesOn, MultiplyVectorsByLongRows) {
  const std::vector<HostLevel> matrices{
      scattered(60, 5000, 3, 3, [](int i) { return i == 7 ? 4200 : i % 9; }),  // one very long row among short ones
      scattered(40, 900, 6, 6, [](int i) { return 60 + i; }),                  // few rows, all long
      scattered(50, 900, 4, 5, [](int i) { return i == 3 ? 800 : 3; })};       // blocks of an unusual shape
  for (const HostLevel& a : matrices)
    for (const bool single : {false, true})
      for (const int columns : {1, 5, 33}) {
        SCOPED_TRACE(std::to_string(a.height) + "×" + std::to_string(a.width) + (single ? ", single, " : ", double, ") +
                     std::to_string(columns) + " columns");
        const auto product = [&](const Backend& b, MultigridServices& services) {
          LevelMatrix m = on(b, a);
          if (single) services.to_single(m);
          const LevelVector x = vector_on(b, std::int64_t{a.columns} * a.width, columns, single, 0.7);
          const LevelVector right = vector_on(b, std::int64_t{a.rows} * a.height, columns, single, 0.3);
          LevelVector y = vector_on(b, std::int64_t{a.rows} * a.height, columns, single, 0.1);
          services.residual(m, x, right, y);
          services.add_product(m, x, y);
          services.add_product(m, x, y);
          return numbers(y);
        };
        expect_near(product(*backend, here), product(*reference, there), single ? 2e-4 : 1e-12);
      }
}

TEST_P(LevelMatricesOn, MultiplyMatricesOfLongRowsAndManyColumns) {
  for (const auto& [height, inner, width] : {std::array{3, 3, 6}, std::array{4, 2, 3}, std::array{1, 1, 1}}) {
    SCOPED_TRACE(height);
    const HostLevel a = scattered(300, 400, height, inner, [](int i) { return i == 5 ? 390 : i == 9 ? 250 : i % 6; });
    const HostLevel b = scattered(400, 4500, inner, width, [](int i) { return i % 50 == 0 ? 900 : i % 7; });
    const auto product = [&](const Backend& on_backend, MultigridServices& services) {
      const LevelMatrix ma = on(on_backend, a), mb = on(on_backend, b);
      LevelMatrix c = services.product_pattern(ma, mb);
      services.multiply(ma, mb, c);
      return c;
    };
    const LevelMatrix found = product(*backend, here), expected = product(*reference, there);
    const auto start = host(expected.start);
    ASSERT_GT(start[6] - start[5], 3500);  // the row that is meant to be very long
    expect_same_pattern(found, expected);
    expect_near(numbers(found), numbers(expected), 1e-13);
    const LevelMatrix turned = here.transposed(found), other = there.transposed(expected);
    expect_same_pattern(turned, other);
    expect_near(numbers(turned), numbers(other), 1e-13);
  }
}

TEST_P(LevelMatricesOn, MultiplySymmetricallyWhatIsSymmetric) {
  // Pᵀ (S P) with S = Q Qᵀ: rows of the result, and those that they are made of, fit in a tile or need several.
  struct Case {
    int height, width;
    std::int32_t fine, coarse;
    int length;
  };
  for (const auto& [height, width, fine, coarse, length] :
       {Case{3, 6, 240, 6, 4}, Case{6, 6, 60, 100, 8}, Case{1, 1, 150, 130, 6}, Case{2, 5, 40, 12, 3}}) {
    SCOPED_TRACE(std::to_string(height) + "×" + std::to_string(width));
    const HostLevel p = scattered(fine, coarse, height, width, [&](int i) { return 1 + i % length; });
    const HostLevel q = scattered(fine, fine, height, height, [](int i) { return 1 + i % 4; });
    const auto product = [&](const Backend& on_backend, MultigridServices& services, bool symmetric) {
      const auto times = [&](const LevelMatrix& a, const LevelMatrix& b) {
        LevelMatrix c = services.product_pattern(a, b);
        services.multiply(a, b, c);
        return c;
      };
      const LevelMatrix mp = on(on_backend, p), mq = on(on_backend, q), r = services.transposed(mp);
      const LevelMatrix sp = times(times(mq, services.transposed(mq)), mp);
      LevelMatrix c = services.product_pattern(r, sp);
      if (symmetric)
        services.multiply_symmetric(r, sp, c);
      else
        services.multiply(r, sp, c);
      return c;
    };
    const LevelMatrix found = product(*backend, here, true), whole = product(*backend, here, false),
                      expected = product(*reference, there, true);
    expect_same_pattern(found, expected);
    expect_near(numbers(found), numbers(expected), 1e-12);
    expect_near(numbers(found), numbers(whole), 1e-12);
    const LevelMatrix turned = here.transposed(found);
    expect_same_pattern(turned, found);
    EXPECT_EQ(numbers(turned), numbers(found));  // symmetric to the last bit
    EXPECT_EQ(numbers(product(*backend, here, true)), numbers(found));
  }
}

/// The first rows of a matrix, without the columns from `columns` on.
HostLevel corner(const LevelMatrix& m, std::int32_t rows, std::int32_t columns) {
  HostLevel part{rows, columns, m.height, m.width, {0}, {}, {}};
  const auto start = host(m.start);
  const auto column = host(m.column);
  const std::vector<double> value = numbers(m);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    const auto first = static_cast<std::size_t>(start[i]), length = static_cast<std::size_t>(start[i + 1]) - first;
    std::size_t kept = 0;
    while (kept < length && column[first + kept] < columns) part.column.push_back(column[first + kept++]);
    const auto width = static_cast<std::size_t>(m.width), height = static_cast<std::size_t>(m.height);
    for (std::size_t r = 0; r < height; ++r)
      for (std::size_t k = 0; k < kept * width; ++k)
        part.value.push_back(value[first * height * width + r * length * width + k]);
    part.start.push_back(static_cast<std::int64_t>(part.column.size()));
  }
  return part;
}

// The columns of a device's rows go on with those of nodes that other devices own.
TEST_P(LevelMatricesOn, MultiplyTheRowsOfOneDeviceSymmetrically) {
  constexpr std::int32_t coarse = 90, own = 50;
  const LevelMatrix p = on(*backend, scattered(300, coarse, 3, 6, [](int i) { return 1 + i % 5; }));
  const LevelMatrix r = on(*backend, corner(here.transposed(p), own, 300));
  LevelMatrix found = here.product_pattern(r, p), whole = here.product_pattern(r, p);
  here.multiply_symmetric(r, p, found);
  here.multiply(r, p, whole);
  EXPECT_EQ(found.columns, coarse);
  expect_near(numbers(found), numbers(whole), 1e-12);
  const LevelMatrix square = on(*backend, corner(found, own, own));
  EXPECT_LT(square.blocks(), found.blocks());
  EXPECT_EQ(numbers(here.transposed(square)), numbers(square));
}

TEST_P(LevelMatricesOn, GroupTheNodesOfOneDevice) {
  constexpr std::int32_t nodes = 400, own = 230;
  const LevelMatrix q = on(*backend, scattered(nodes, nodes, 3, 3, [](int i) { return 1 + i % 3; }));
  const LevelMatrix turned = here.transposed(q);
  LevelMatrix a = here.product_pattern(q, turned);
  here.multiply(q, turned, a);
  for (const double threshold : {0.0, 0.3}) {
    SCOPED_TRACE(threshold);
    const Aggregates found = here.aggregate(on(*backend, corner(a, own, nodes)), threshold);
    const Aggregates expected = there.aggregate(on(*reference, corner(a, own, own)), threshold);
    EXPECT_GT(found.count, 1);
    EXPECT_EQ(found.count, expected.count);
    EXPECT_EQ(host(found.of_node), host(expected.of_node));
  }
}

TEST_P(LevelMatricesOn, TransposeWhatHasVeryManyRowsInFewColumns) {
  const HostLevel p = scattered(5000, 3, 2, 3, [](int i) { return i % 4; });
  const LevelMatrix found = here.transposed(on(*backend, p));
  expect_same_pattern(found, there.transposed(on(*reference, p)));
  const LevelMatrix back = here.transposed(found);
  EXPECT_EQ(host(back.column), p.column);
  EXPECT_EQ(numbers(back), p.value);
}

/// A positive matrix in blocks in which each node is tied to so many with lower numbers, a few of them alike.
HostLevel positive(std::int32_t nodes, int size, const std::function<int(int)>& neighbours) {
  std::vector<std::set<std::int32_t>> row(static_cast<std::size_t>(nodes));
  for (std::int32_t i = 0; i < nodes; ++i) {
    row[static_cast<std::size_t>(i)].insert(i);
    for (int k = 1; k <= std::min(neighbours(i), i); ++k) {
      row[static_cast<std::size_t>(i)].insert(i - k);
      row[static_cast<std::size_t>(i - k)].insert(i);
    }
  }
  HostLevel a{nodes, nodes, size, size, {0}, {}, {}};
  for (std::int32_t i = 0; i < nodes; ++i) {
    const auto& own = row[static_cast<std::size_t>(i)];
    a.column.insert(a.column.end(), own.begin(), own.end());
    a.start.push_back(static_cast<std::int64_t>(a.column.size()));
    for (int r = 0; r < size; ++r)
      for (const std::int32_t j : own)
        for (int c = 0; c < size; ++c) {
          // The same number on both sides of the diagonal.
          const auto low = static_cast<std::size_t>(std::min(i, j)), high = static_cast<std::size_t>(std::max(i, j));
          const int low_row = i <= j ? r : c, high_row = i <= j ? c : r;
          const double entry =
              wave((low * 31 + (high - low) / 2) * 64 + static_cast<std::size_t>(low_row * 8 + high_row), 0.7);
          a.value.push_back(i == j ? (r == c ? 400.0 : 120.0 / (r + c)) : entry);
        }
  }
  return a;
}

TEST_P(LevelMatricesOn, HaveTheSameSparseInverse) {
  for (const auto& [size, most] : {std::array{1, 20}, std::array{1, 63}, std::array{2, 31}, std::array{3, 20},
                                   std::array{4, 6}, std::array{6, 9}, std::array{12, 4}}) {
    SCOPED_TRACE(size);
    const HostLevel a = positive(150, size, [](int i) { return i % 3 == 0 ? 40 : i % 7; });
    const auto factor = [&](const Backend& on_backend, MultigridServices& services) {
      const LevelMatrix m = on(on_backend, a);
      LevelMatrix g = services.inverse_factor_pattern(m, most);
      EXPECT_EQ(services.inverse_factor(m, g), -1);
      return g;
    };
    const LevelMatrix found = factor(*backend, here), expected = factor(*reference, there);
    expect_same_pattern(found, expected);
    expect_near(numbers(found), numbers(expected), 1e-12);
  }
  HostLevel bad = positive(40, 3, [](int) { return 5; });
  const auto place = bad.start[20] * 9;  // of node 20: its diagonal block is the sixth of eleven
  bad.value[static_cast<std::size_t>(place + (1 * 11 + 5) * 3 + 1)] = -1;
  for (const Backend* b : {backend.get(), reference.get()}) {
    MultigridServices& services = b == backend.get() ? here : there;
    const LevelMatrix m = on(*b, bad);
    LevelMatrix g = services.inverse_factor_pattern(m, 8);
    EXPECT_EQ(services.inverse_factor(m, g), 61);
  }
}

/// Nodes that are tied to each other, with numbers that depend on who they are.
class Ties {
 public:
  explicit Ties(std::int32_t nodes) : neighbours_(static_cast<std::size_t>(nodes)) {
    for (std::int32_t i = 0; i < nodes; ++i) add(i, i);
  }
  void add(std::int32_t i, std::int32_t j) {
    neighbours_[static_cast<std::size_t>(i)].insert(j);
    neighbours_[static_cast<std::size_t>(j)].insert(i);
  }
  HostLevel matrix() const {
    const auto nodes = static_cast<std::int32_t>(neighbours_.size());
    HostLevel a{nodes, nodes, 1, 1, {0}, {}, {}};
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      for (const std::int32_t j : neighbours_[i]) {
        const auto other = static_cast<std::size_t>(j);
        a.column.push_back(j);
        a.value.push_back(i == other ? 10 : -1 - std::fabs(wave(i * other, 0.9)));
      }
      a.start.push_back(static_cast<std::int64_t>(a.column.size()));
    }
    return a;
  }

 private:
  std::vector<std::set<std::int32_t>> neighbours_;
};

/// A band of nodes, of which every second is also tied to one hub.
HostLevel hub(std::int32_t nodes) {
  Ties ties(nodes);
  for (std::int32_t i = 0; i < nodes; ++i) {
    for (const int step : {1, 60})
      if (i + step < nodes) ties.add(i, i + step);
    if (i % 2 == 0) ties.add(i, 100);
  }
  return ties.matrix();
}

TEST_P(LevelMatricesOn, LetAHubJoinTheGroupOfMostNeighbours) {
  // A hub, leaves around it, and outer nodes with two leaves each, one of them with three. Outer nodes have the numbers
  // that go first and become roots, leaves are beside them, and the hub is beside no root.
  constexpr std::int32_t outers = 300, favourite = 200, leaves = 2 * outers + 1, nodes = 1 + leaves + outers;
  std::vector<std::int32_t> number(nodes);
  for (std::int32_t i = 0; i < nodes; ++i) number[static_cast<std::size_t>(i)] = i;
  std::sort(number.begin(), number.end(), [](std::int32_t i, std::int32_t j) {
    return detail::node_priority(static_cast<std::uint32_t>(i)) < detail::node_priority(static_cast<std::uint32_t>(j));
  });
  Ties ties(nodes);
  for (std::size_t leaf = 1; leaf <= leaves; ++leaf) {
    const std::size_t outer = leaf == leaves ? favourite : (leaf - 1) / 2;
    ties.add(number[0], number[leaf]);
    ties.add(number[leaf], number[1 + leaves + outer]);
  }
  const Aggregates groups = here.aggregate(on(*backend, ties.matrix()), 0.0);
  const std::vector<std::int32_t> of_node = host(groups.of_node);
  EXPECT_EQ(groups.count, outers);
  EXPECT_EQ(of_node[static_cast<std::size_t>(number[0])],
            of_node[static_cast<std::size_t>(number[1 + leaves + favourite])]);
}

TEST_P(LevelMatricesOn, GroupNodesAroundAHub) {
  const HostLevel a = hub(1500);
  for (const double threshold : {0.0, 0.12, 0.16}) {
    SCOPED_TRACE(threshold);
    const Aggregates found = here.aggregate(on(*backend, a), threshold);
    const Aggregates expected = there.aggregate(on(*reference, a), threshold);
    EXPECT_EQ(found.count, expected.count);
    EXPECT_EQ(host(found.of_node), host(expected.of_node));
    std::vector<double> near_null(static_cast<std::size_t>(a.rows) * 2);
    for (std::size_t i = 0; i < near_null.size(); ++i) near_null[i] = 1 + wave(i, 0.2);
    Array<double> coarse, other;
    const LevelMatrix t =
        here.tentative(found, 1, 2, Array<double>(backend->memory(0), std::span<const double>(near_null)), coarse);
    const LevelMatrix u =
        there.tentative(expected, 1, 2, Array<double>(reference->memory(0), std::span<const double>(near_null)), other);
    expect_same_pattern(t, u);
    expect_near(numbers(t), numbers(u), 1e-8);
    expect_near(host(coarse), host(other), 1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, LevelMatricesOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
