#include <gtest/gtest.h>

#include <voussoir/backends/divided_multigrid.hpp>

#include <algorithm>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/detail/aggregation_rules.hpp>

#include "backends_under_test.hpp"
#include "support/expect_error.hpp"

// What the devices of a divided hierarchy take from each other: rows of matrices with new numbers for their columns,
// and rows of vectors.

namespace voussoir::conformance {
namespace {

using testing::expect_error;

/// Block rows with 0 to 70 blocks of 2 × 3 numbers; row and column of an entry can be read from its value.
struct Blocks {
  static constexpr std::int32_t rows = 41, columns = 90;
  static constexpr int height = 2, width = 3;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<double> value;

  Blocks() {
    for (std::int32_t i = 0; i < rows; ++i) {
      const std::int32_t length = (i * 29) % 71;
      for (std::int32_t k = 0; k < length; ++k) column.push_back(k * columns / 71);
      start.push_back(static_cast<std::int64_t>(column.size()));
      for (int r = 0; r < height; ++r)
        for (std::int32_t k = 0; k < length; ++k)
          for (int c = 0; c < width; ++c)
            value.push_back(entry(i, column[static_cast<std::size_t>(start[static_cast<std::size_t>(i)] + k)], r, c));
    }
  }
  static double entry(std::int32_t row, std::int32_t col, int r, int c) {
    return 10000.0 * row + 100.0 * col + 10 * r + c;
  }
  LevelMatrix on(const std::shared_ptr<DeviceMemory>& memory) const {
    LevelMatrix m;
    m.rows = rows;
    m.columns = columns;
    m.height = height;
    m.width = width;
    m.start = Array<std::int64_t>(memory, std::span<const std::int64_t>(start));
    m.column = Array<std::int32_t>(memory, std::span<const std::int32_t>(column));
    m.value = Array<double>(memory, std::span<const double>(value));
    return m;
  }
};

/// Which columns of the source each row of the result must have, in their new order, with the values of the source.
void expect_rows(const LevelMatrix& m, const Blocks& source, const std::vector<std::int32_t>& rows,
                 const std::vector<std::int32_t>& number) {
  ASSERT_EQ(m.rows, static_cast<std::int32_t>(rows.size()));
  const auto start = m.start.read_host();
  const auto column = m.column.read_host();
  const auto value = m.value.read_host();
  ASSERT_EQ(start[0], 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::pair<std::int32_t, std::int32_t>> expected;  // new, old
    const auto s = static_cast<std::size_t>(rows[i]);
    for (std::int64_t k = source.start[s]; k < source.start[s + 1]; ++k) {
      const std::int32_t c = source.column[static_cast<std::size_t>(k)];
      if (number[static_cast<std::size_t>(c)] >= 0) expected.emplace_back(number[static_cast<std::size_t>(c)], c);
    }
    std::sort(expected.begin(), expected.end());
    const std::int64_t n = start[i + 1] - start[i];
    ASSERT_EQ(n, static_cast<std::int64_t>(expected.size())) << "row " << i;
    for (std::int64_t k = 0; k < n; ++k) {
      const auto [now, before] = expected[static_cast<std::size_t>(k)];
      ASSERT_EQ(column[static_cast<std::size_t>(start[i] + k)], now);
      for (int r = 0; r < m.height; ++r)
        for (int c = 0; c < m.width; ++c)
          ASSERT_EQ(value[static_cast<std::size_t>(start[i] * m.height * m.width + (r * n + k) * m.width + c)],
                    Blocks::entry(rows[i], before, r, c));
    }
  }
}

class DividedRows : public ::testing::TestWithParam<std::string> {};

TEST_P(DividedRows, TakeNewNumbersAndOtherDevices) {
  const auto backend = Backend::open(GetParam());
  auto& services = backend->service<DividedMultigrid>();
  const int last = backend->devices() - 1;
  const Blocks blocks;
  const LevelMatrix a = blocks.on(backend->memory(last));
  std::vector<std::int32_t> number(Blocks::columns), all(Blocks::rows), none(Blocks::columns, -1);
  for (std::int32_t c = 0; c < Blocks::columns; ++c)  // a third is left out, the rest reversed
    number[static_cast<std::size_t>(c)] = c % 3 == 0 ? -1 : 2 * (Blocks::columns - c);
  for (std::int32_t i = 0; i < Blocks::rows; ++i) all[static_cast<std::size_t>(i)] = i;
  const std::vector<std::int32_t> some{40, 7, 7, 0, 12, 39};
  for (const int to : {0, last}) {
    expect_rows(services.take_rows(a, last, some, number, 200, to), blocks, some, number);
    expect_rows(services.take_all_rows(a, last, number, 200, to), blocks, all, number);
    expect_rows(services.take_all_rows(a, last, none, 1, to), blocks, all, none);
    EXPECT_EQ(services.take_rows(a, last, {}, number, 200, to).rows, 0);
  }
}

TEST_P(DividedRows, KnowTheirColumns) {
  const auto backend = Backend::open(GetParam());
  auto& services = backend->service<DividedMultigrid>();
  const Blocks blocks;
  const LevelMatrix a = blocks.on(backend->memory(0));
  const auto length = [&](std::int32_t row) { return (row * 29) % 71; };
  const std::vector<std::int32_t> rows{1, 0, 3};  // 29, 0 and 16 blocks
  std::vector<std::int32_t> expected;
  for (std::int32_t k = 0; k < 29; ++k) expected.push_back(k * Blocks::columns / 71);
  EXPECT_EQ(services.columns_of(a, 0, rows), expected);
  EXPECT_TRUE(services.columns_of(a, 0, {}).empty());
  EXPECT_TRUE(services.columns_of(a, 0, std::vector<std::int32_t>{0}).empty());
  expected.clear();
  for (std::int32_t i = 0; i < Blocks::rows; ++i)
    if (length(i) > 0 && (length(i) - 1) * Blocks::columns / 71 >= 50) expected.push_back(i);
  EXPECT_EQ(services.rows_reaching(a, 0, 50), expected);
  EXPECT_TRUE(services.rows_reaching(a, 0, Blocks::columns).empty());
}

TEST_P(DividedRows, RefuseWhatIsNotThere) {
  const auto backend = Backend::open(GetParam());
  auto& services = backend->service<DividedMultigrid>();
  const LevelMatrix a = Blocks().on(backend->memory(0));
  const std::vector<std::int32_t> number(Blocks::columns, 0), few(5, 0);
  expect_error(ErrorCode::misuse, {"there is no row 41"},
               [&] { services.take_rows(a, 0, std::vector<std::int32_t>{41}, number, 1, 0); });
  expect_error(ErrorCode::misuse, {"there is no row -1"},
               [&] { services.columns_of(a, 0, std::vector<std::int32_t>{-1}); });
  expect_error(ErrorCode::misuse, {"5 numbers for 90 columns"}, [&] { services.take_all_rows(a, 0, few, 1, 0); });
  expect_error(ErrorCode::misuse, {"there is no column 0"}, [&] { services.take_all_rows(a, 0, number, 0, 0); });
  Array<double> small(backend->memory(0), 3), large(backend->memory(0), 4);
  expect_error(ErrorCode::misuse, {"no room for 4"}, [&] { services.copy_numbers(large, 0, small, 0, 0); });
}

TEST_P(DividedRows, OfVectorsArePackedAndUnpacked) {
  const auto backend = Backend::open(GetParam());
  auto& services = backend->service<DividedMultigrid>();
  for (const bool single : {false, true})
    for (const int columns : {1, 3}) {
      LevelVector x;
      x.columns = columns;
      const auto c = static_cast<std::size_t>(columns);
      const std::vector<std::int32_t> rows{5, 0, 9}, places{1, 2};
      const auto fill = [&](auto values) {
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = static_cast<typename decltype(values)::element_type>(i) + 0.5f;
      };
      if (single) {
        x.single_value = Array<float>(backend->memory(0), 12 * c);
        fill(x.single_value.write_host());
      } else {
        x.value = Array<double>(backend->memory(0), 12 * c);
        fill(x.value.write_host());
      }
      Array<double> values(backend->memory(0), std::span<const double>(std::vector<double>(4 * c, -7.0)));
      services.pack(x, 0, Array<std::int32_t>(backend->memory(0), std::span<const std::int32_t>(rows)), values);
      for (std::size_t i = 0; i < 3 * c; ++i)
        EXPECT_EQ(values.read_host()[i], static_cast<double>(static_cast<std::size_t>(rows[i / c]) * c + i % c) + 0.5);
      EXPECT_EQ(values.read_host()[3 * c], -7.0);
      services.unpack(values, 0, Array<std::int32_t>(backend->memory(0), std::span<const std::int32_t>(places)), x, 10);
      const auto at = [&](std::size_t i) {
        return single ? static_cast<double>(x.single_value.read_host()[i]) : x.value.read_host()[i];
      };
      for (std::size_t i = 0; i < 2 * c; ++i) EXPECT_EQ(at(10 * c + i), values.read_host()[c + i]);
      EXPECT_EQ(at(9 * c), static_cast<double>(9 * c) + 0.5);
    }
}

TEST_P(DividedRows, NoiseGoesOnFromDeviceToDevice) {
  const auto backend = Backend::open(GetParam());
  auto& services = backend->service<DividedMultigrid>();
  const int last = backend->devices() - 1;
  LevelVector x;
  x.value = Array<double>(backend->memory(last), 1000);
  services.fill_with_noise(x, last, 77);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(x.value.read_host()[i], detail::noise(77 + i));
  Array<double> all(backend->memory(0), std::span<const double>(std::vector<double>(1002, 3.0)));
  services.copy_numbers(x.value, last, all, 0, 1);
  EXPECT_EQ(all.read_host()[0], 3.0);
  EXPECT_EQ(all.read_host()[1], detail::noise(77));
  EXPECT_EQ(all.read_host()[1000], detail::noise(1076));
  EXPECT_EQ(all.read_host()[1001], 3.0);
}

INSTANTIATE_TEST_SUITE_P(Backends, DividedRows, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
