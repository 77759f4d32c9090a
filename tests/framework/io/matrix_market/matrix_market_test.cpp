// Matrix Market files: what is read, and where errors are.
#include <gtest/gtest.h>

#include <voussoir/framework/io/matrix_market/matrix_market.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

MarketMatrix parsed(const std::string& text) { return parse_matrix_market(text, "a.mtx"); }

TEST(MatrixMarket, ReadsEveryKindThatItNames) {
  const MarketMatrix general = parsed(
      "%%MatrixMarket matrix coordinate real general\n% comment\n\n 2 3 4 \n2 3 -1.5e2\n1 1 +2\r\n2 1 1D-1\n1 2 .5\n");
  EXPECT_EQ(general.rows, 2);
  EXPECT_EQ(general.columns, 3);
  EXPECT_FALSE(general.symmetric);
  EXPECT_EQ(general.by_columns(), (std::vector<double>{2, 0.1, 0.5, 0, 0, -150}));
  EXPECT_EQ(general.entries.row_start, (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(general.entries.column, (std::vector<std::int32_t>{0, 1, 0, 2}));

  const MarketMatrix symmetric =
      parsed("%%matrixmarket MATRIX Coordinate Integer SYMMETRIC\n3 3 4\n1 1 4\n3 1 -1\n2 2 5\n3 3 6\n");
  EXPECT_TRUE(symmetric.symmetric);
  EXPECT_EQ(symmetric.by_columns(), (std::vector<double>{4, 0, -1, 0, 5, 0, -1, 0, 6}));

  const MarketMatrix array = parsed("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
  EXPECT_TRUE(array.is_array);
  EXPECT_EQ(array.by_columns(), (std::vector<double>{1, 2, 3, 4})) << "column by column";
  const MarketMatrix packed = parsed("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(packed.by_columns(), (std::vector<double>{1, 2, 3, 2, 4, 5, 3, 5, 6}));
  EXPECT_EQ(parsed("%%MatrixMarket matrix coordinate real general\n0 0 0\n").rows, 0);
  EXPECT_EQ(parsed("%%MatrixMarket matrix coordinate real general\n3 3 0").entries.row_start.size(), 4u);
  EXPECT_EQ(parsed("%%MatrixMarket matrix array real general\n1 1\n1e-999\n").entries.value[0], 0);
}

TEST(MatrixMarket, ErrorsNameTheLine) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  const auto wrong = [](const std::string& text, const std::string& place, const std::string& word) {
    expect_error(ErrorCode::bad_input, {"a.mtx:" + place + ":", word}, [&] { parsed(text); });
  };
  wrong("", "1", "%%MatrixMarket");
  wrong("1 2 3\n", "1", "%%MatrixMarket");
  wrong("%%MatrixMarket vector coordinate real general\n", "1", "vector");
  wrong("%%MatrixMarket matrix diagonal real general\n", "1", "diagonal");
  wrong("%%MatrixMarket matrix coordinate complex general\n", "1", "complex");
  wrong("%%MatrixMarket matrix coordinate pattern general\n", "1", "pattern");
  wrong("%%MatrixMarket matrix coordinate real skew-symmetric\n", "1", "skew-symmetric");
  wrong("%%MatrixMarket matrix coordinate real hermitian\n", "1", "hermitian");
  wrong("%%MatrixMarket matrix coordinate real\n1 1 1\n", "1", "''");
  wrong("%%MatrixMarket matrix coordinate real general more\n", "1", "more");
  wrong(head, "2", "sizes");
  wrong(head + "2 2\n", "2", "number of entries is missing");
  wrong(head + "2 x 2\n", "2", "columns 'x'");
  wrong(head + "-1 2 2\n", "2", "rows '-1'");
  wrong(head + "2 2 1 7\n1 1 1\n", "2", "one item too many");
  wrong(head + "2 2 999999999999\n1 1 1\n", "2", "too short");
  wrong(head + "2000000000 2 1\n1 1 1\n", "2", "too short");
  wrong(head + "9999999999 2 1\n1 1 1\n", "2", "9999999999");
  wrong(head + "2 2 2\n% c\n1 1 1\n", "5", "ends after 1 of 2");
  wrong(head + "2 2 1\n1 1 1\n\n2 2 2\n", "5", "follows the last entry");
  wrong(head + "2 2 1\n0 1 1\n", "3", "row '0'");
  wrong(head + "2 2 1\n1 3 1\n", "3", "column '3'");
  wrong(head + "2 2 1\n1 1\n", "3", "value is missing");
  wrong(head + "2 2 1\n1 1 one\n", "3", "'one' is not a number");
  wrong(head + "2 2 1\n1 1 1.0.0\n", "3", "not a number");
  wrong(head + "2 2 1\n1 1 nan\n", "3", "not finite");
  wrong(head + "2 2 1\n1 1 -inf\n", "3", "not finite");
  wrong(head + "2 2 1\n1 1 1e999\n", "3", "too large");
  wrong(head + "2 2 1\n1 1 1 1\n", "3", "one item too many");
  wrong(head + "2 2 2\n1 1 1\n1 1 1\n", "4", "(1, 1) is in line 3 already");
  const std::string half = "%%MatrixMarket matrix coordinate integer symmetric\n";
  wrong(half + "2 3 1\n1 1 1\n", "2", "as many rows as columns");
  wrong(half + "2 2 1\n1 2 1\n", "3", "above the diagonal");
  wrong(half + "2 2 1\n1 1 1.5\n", "3", "'1.5'");
  wrong(half + "3 3 3\n1 1 1\n3 2 1\n3 2 1\n", "5", "(3, 2) is in line 4 already");
  const std::string array = "%%MatrixMarket matrix array real general\n";
  wrong(array + "2 2\n1\n2\n3\n", "6", "ends after 3 of 4");
  wrong(array + "1 1\n1 2\n", "3", "one item too many");
  wrong(array + "1 1\n1\n2\n", "4", "follows the last entry");
  wrong(array + "2000000000 2000000000\n1\n", "2", "too short");
  expect_error(ErrorCode::io, {"/nowhere/a.mtx"}, [] { read_matrix_market("/nowhere/a.mtx"); });
}

TEST(MatrixMarket, WritesWhatItReadsBack) {
  const std::filesystem::path path = "matrix_market_test_x.mtx";
  std::filesystem::remove(path);
  const std::vector<double> values{1.0 / 3, -2e-300, 0, 1e22, -0.1, 5};
  write_matrix_market(path, 3, values, "two\ncolumns", false);
  const MarketMatrix again = read_matrix_market(path);
  EXPECT_EQ(again.rows, 3);
  EXPECT_EQ(again.columns, 2);
  EXPECT_EQ(again.by_columns(), values);
  expect_error(ErrorCode::io, {"matrix_market_test_x.mtx"}, [&] { write_matrix_market(path, 3, values, "", false); });
  write_matrix_market(path, 6, values, "", true);
  EXPECT_EQ(read_matrix_market(path).columns, 1);
  expect_error(ErrorCode::misuse, {"6 values", "4"}, [&] { write_matrix_market(path, 4, values, "", true); });
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace voussoir
