#include <gtest/gtest.h>

#include <limits>
#include <string>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/backends/spelling.hpp>

namespace voussoir {
namespace {

TEST(EditDistance, CountsSlips) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("beam", "beam"), 0u);
  EXPECT_EQ(edit_distance("", "beam"), 4u);
  EXPECT_EQ(edit_distance("beam", ""), 4u);
  EXPECT_EQ(edit_distance("beam", "bean"), 1u);
  EXPECT_EQ(edit_distance("beam", "bem"), 1u);
  EXPECT_EQ(edit_distance("beam", "breams"), 2u);
  EXPECT_EQ(edit_distance("openmp", "opnemp"), 1u) << "neighbours that are swapped are one slip";
  EXPECT_EQ(edit_distance("ab", "ba"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("CUDA", "cuda"), 4u);
}

TEST(NumberText, IsShortOrExact) {
  EXPECT_EQ(short_number(1.0 / 3, 3), "0.333");
  EXPECT_EQ(short_number(1e-9, 6), "1e-09");
  EXPECT_EQ(short_number(210000, 6), "210000");
  EXPECT_EQ(exact_number(0.1), "0.1");
  for (const double value : {1.0 / 3, -2.5e-300, std::numeric_limits<double>::max(), 0.0})
    EXPECT_EQ(std::stod(exact_number(value)), value);
}

}  // namespace
}  // namespace voussoir
