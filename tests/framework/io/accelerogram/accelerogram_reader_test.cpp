#include <voussoir/framework/io/accelerogram/accelerogram_reader.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

std::vector<double> list(std::span<const double> values) { return {values.begin(), values.end()}; }

AccelerogramFormat one_column(double step) {
  AccelerogramFormat format;
  format.layout = AccelerogramLayout::one_value;
  format.time_step = step;
  return format;
}

AccelerogramFormat many_columns(double step) {
  AccelerogramFormat format = one_column(step);
  format.layout = AccelerogramLayout::many_values;
  return format;
}

void refused(const std::string& text, std::initializer_list<std::string> pieces,
             const AccelerogramFormat& format = {}) {
  testing::expect_error(ErrorCode::bad_input, pieces, [&] { parse_accelerogram(text, "quake.txt", format); });
}

TEST(AccelerogramReader, ReadsTwoColumnsWithUnevenSteps) {
  const auto a = parse_accelerogram("0 0.1\n0.01\t-0.2\r\n  0.5 , +3.5e-1\n1;.25\n", "a");
  EXPECT_EQ(list(a.times()), (std::vector<double>{0, 0.01, 0.5, 1}));
  EXPECT_EQ(list(a.values()), (std::vector<double>{0.1, -0.2, 0.35, 0.25}));
}

TEST(AccelerogramReader, SkipsHeadersAndComments) {
  const auto a = parse_accelerogram(
      "\xef\xbb\xbfStation Nowhere, component EW\ntime [s]  acceleration [g]\n# 1 2\n\n0 1\n% half\n// way\n0.5 "
      "2\n!\n$\n"
      "\"q\"\n* 7\n1 3",
      "a");
  EXPECT_EQ(list(a.values()), (std::vector<double>{1, 2, 3}));
}

TEST(AccelerogramReader, ReadsOneColumnAtAConstantStep) {
  AccelerogramFormat format = one_column(0.02);
  format.start = 3;
  format.scale = 9.81;
  const auto a = parse_accelerogram("values\n1\n-2.0D+00\n 0.5d0 \n", "a", format);
  EXPECT_EQ(list(a.times()), (std::vector<double>{3, 3 + 0.02, 3 + 2 * 0.02}));
  EXPECT_EQ(list(a.values()), (std::vector<double>{9.81, -2 * 9.81, 0.5 * 9.81}));
}

TEST(AccelerogramReader, ReadsTheLinesOfPeerFiles) {
  const std::string text =
      "PEER NGA STRONG MOTION DATABASE RECORD\nImperial Valley\nACCELERATION TIME SERIES IN UNITS OF G\n"
      "NPTS=    7, DT=   .0100 SEC\n  -.1E-02  .2E-02   0.3E-02\n   .4E-02   .5E-02  -.6E-02\n   .7E-02\n";
  const auto a = parse_accelerogram(text, "a", many_columns(0.01));
  EXPECT_EQ(list(a.values()), (std::vector<double>{-0.001, 0.002, 0.003, 0.004, 0.005, -0.006, 0.007}));
  EXPECT_EQ(a.times()[6], 0.06);
}

TEST(AccelerogramReader, ScalesTimesAndSkipsLines) {
  AccelerogramFormat format;
  format.time_scale = 0.001;
  format.skip_lines = 2;
  const auto a = parse_accelerogram("1940 El Centro\n2 columns\n0 1\n20 2\n", "a", format);
  EXPECT_EQ(list(a.times()), (std::vector<double>{0, 0.02}));
}

TEST(AccelerogramReader, ErrorsNameFileAndLine) {
  refused("0 1\n0.1 2\n0.1 3\n", {"quake.txt:3", "0.1 is not after"});
  refused("0 1\n0.2 2\n0.1 3\n", {"quake.txt:3", "0.2"});
  refused("# c\n0 1\n0.1 nan\n", {"quake.txt:3", "'nan' is not finite"});
  refused("nan 1\n0.1 2\n", {"quake.txt:1", "'nan' is not finite"});
  refused("0 1\n0.1 1e999\n", {"quake.txt:2", "not finite"});
  refused("0 1\n0.1 -inf\n", {"quake.txt:2", "not finite"});
  refused("0 1\n0.1 2\nend\n", {"quake.txt:3", "1 column instead of 2"});
  refused("0 1\n0.1 2x\n", {"quake.txt:2", "'2x' is not a number"});
  refused("0 1\n0.1 2 3\n", {"quake.txt:2", "3 columns instead of 2"});
  refused("0 1\n0.1\n", {"quake.txt:2", "1 column instead of 2"});
  refused("0,00;0,1\n", {"quake.txt:1", "4 columns", "decimals"});
  refused("0,,1\n", {"quake.txt:1", "3 columns"});
  refused(",1\n", {"quake.txt:1", "is not a number"});
  refused("1940 El Centro\n0 1\n", {"quake.txt:1", "columns"});
  refused("1 2\n3 4\n", {"quake.txt:1", "2 columns instead of 1"}, one_column(0.1));
  refused("1 2\n3,5 4\n", {"quake.txt:2", "'3,5' is not a number"}, many_columns(0.1));
  refused("", {"quake.txt", "0 values"});
  refused("time value\n0 1\n", {"quake.txt", "1 values"});
  refused("0 1\n1 \x1b[31m\n", {"quake.txt:2", "\\x1b"});
}

TEST(AccelerogramReader, RefusesFormatsThatContradictThemselves) {
  refused("1\n2\n", {"positive time step"}, one_column(0));
  AccelerogramFormat format;
  format.time_step = 0.1;
  refused("0 1\n1 2\n", {"choose one of them"}, format);
  format = {};
  format.scale = 0;
  refused("0 1\n1 2\n", {"factor"}, format);
  format = {};
  format.scale = 1e200;
  refused("0 1\n1 1e200\n", {"quake.txt:2", "too large after scaling"}, format);
  format = {};
  format.time_scale = -1;
  refused("0 1\n1 2\n", {"factor"}, format);
}

TEST(AccelerogramReader, SurvivesFilesThatAreDamaged) {
  const std::string good = "Station\n0.00, 1.5e-3\n0.01; -2.5D-3\n# note\n0.02 +4\n0.03 nan\n";
  const std::string pieces = "0123456789.,;+-eEdD \t\n\r#/naif\x80\xff";
  std::uint32_t random = 12345;
  const auto next = [&](std::size_t below) {
    random = random * 1664525u + 1013904223u;
    return static_cast<std::size_t>(random >> 8) % below;
  };
  int read = 0, refusals = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good.substr(0, good.size() - next(12));
    for (std::size_t k = next(6); k > 0; --k) text[next(text.size())] = pieces[next(pieces.size())];
    try {
      const auto a = parse_accelerogram(text, "damaged", i % 3 == 0 ? AccelerogramFormat{} : many_columns(0.1));
      for (const double value : a.values()) ASSERT_TRUE(std::isfinite(value));
      ++read;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::bad_input) << error.what();
      ++refusals;
    }
  }
  EXPECT_GT(read, 10);
  EXPECT_GT(refusals, 1000);
}

TEST(AccelerogramReader, ReadsFiles) {
  const auto path = testing::scratch_file("record.txt");
  std::ofstream(path) << "0 1\n1 -2\n";
  EXPECT_EQ(read_accelerogram(path).peak().value, -2);
  testing::expect_error(ErrorCode::io, {"nowhere.txt"}, [] { read_accelerogram("nowhere.txt"); });
}

}  // namespace
}  // namespace voussoir
