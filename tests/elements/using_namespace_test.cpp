#include <math.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <voussoir/elements/register.hpp>
#include <voussoir/voussoir.hpp>

// A program may open the namespace and go on with the mathematics of C and C++. That this file compiles is most of the
// test; the numbers say that the right function was found.

namespace {

TEST(UsingNamespace, LeavesPlainMathematicsAlone) {
  using namespace voussoir;
  const double x = -2.25;
  EXPECT_EQ(sqrt(2.25), 1.5);
  EXPECT_EQ(sqrt(4), 2.0);
  EXPECT_EQ(sqrt(2.25f), 1.5f);
  EXPECT_EQ(abs(x), 2.25);
  EXPECT_EQ(abs(-3), 3);
  EXPECT_EQ(fabs(x), 2.25);
  EXPECT_EQ(min(x, 1.0), -2.25);
  EXPECT_EQ(max(x, 1.0), 1.0);
  EXPECT_EQ(std::min(1, 2), 1);
}

TEST(UsingNamespace, GoesTogetherWithStd) {
  using namespace voussoir;
  using namespace std;
  const double x = -2.25;
  EXPECT_EQ(sqrt(2.25), 1.5);
  EXPECT_EQ(sqrt(2.25f), 1.5f);
  EXPECT_EQ(sqrt(4), 2.0);
  EXPECT_EQ(abs(x), 2.25);
  EXPECT_EQ(abs(-3), 3);
  EXPECT_EQ(abs(-2.5f), 2.5f);
  EXPECT_EQ(min(x, 1.0), -2.25);
  EXPECT_EQ(max(x, 1.0), 1.0);
  EXPECT_EQ(min(1, 2), 1);
  EXPECT_EQ(max(1, 2), 2);
  EXPECT_EQ(max({1.0, 3.0, 2.0}), 3.0);
}

/// What a kernel outside the house may write, for double and for Pack.
template <class R>
R qualified(R x) {
  return voussoir::max(voussoir::sqrt(voussoir::abs(x)), voussoir::min(x, R(7.0)));
}
template <class R>
R opened(R x) {
  using namespace voussoir;
  return max(sqrt(abs(x)), select_less(x, R(7.0), x, R(7.0)));
}

TEST(UsingNamespace, KernelsComputeAlikeWithDoubleAndPack) {
  for (double x : {-2.25, 0.25, 4.0, 100.0}) {
    const double expected = std::max(std::sqrt(std::abs(x)), std::min(x, 7.0));
    EXPECT_EQ(qualified(x), expected);
    EXPECT_EQ(opened(x), expected);
    EXPECT_EQ(qualified(voussoir::Pack(x))[voussoir::pack_width - 1], expected);
    EXPECT_EQ(opened(voussoir::Pack(x))[0], expected);
  }
}

}  // namespace
