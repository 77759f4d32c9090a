// The line that shows progress, and its guess of the time left.

#include <voussoir/apps/terminal/progress_line.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/apps/terminal/terminal.hpp>

namespace voussoir::app {
namespace {

TEST(Countdown, FollowsAResidualThatFallsAtAConstantRate) {
  // A tenth every 2 s: from 1 at the start to 1e-8 takes 16 s.
  Countdown countdown(1e-8);
  EXPECT_LT(countdown.left(), 0) << "nothing can be said before something was seen";
  for (int i = 0; i <= 20; ++i) countdown.add(0.2 * i, 10 * i, std::pow(10.0, -0.1 * i));
  EXPECT_NEAR(countdown.left(), 12, 1e-9);
}

TEST(Countdown, ForgetsAnotherSolveAndDoesNotGuessWhereNothingFalls) {
  Countdown countdown(1e-8);
  for (int i = 0; i < 10; ++i) countdown.add(i, i + 1, std::pow(10.0, -i));
  for (int i = 0; i < 10; ++i) countdown.add(10 + i, i, 0.5);
  EXPECT_LT(countdown.left(), 0);
  for (int i = 10; i < 14; ++i) countdown.add(10 + i, i, std::nan(""));
  EXPECT_LT(countdown.left(), 0);
}

TEST(Countdown, IsZeroPastTheGoal) {
  Countdown countdown(1e-2);
  for (int i = 0; i < 10; ++i) countdown.add(i, i, std::pow(10.0, -i));
  EXPECT_EQ(countdown.left(), 0);
}

TEST(ProgressText, SaysWhatIsKnownAndFitsTheTerminal) {
  Activity activity{"beam.inp", "solve", 2, 3};
  activity.iteration = 120;
  activity.residual = 3.14e-5;
  activity.left = 4.04;
  EXPECT_EQ(progress_text(activity, 7, 100),
            "beam.inp  step 2/3  solve  iteration 120  residual 3.1e-05  about 4.0 s left");
  EXPECT_EQ(progress_text(activity, 7, 20).size(), 19u) << "a line that wraps could not be drawn over";
  Activity reading{"beam.inp", "reading"};
  reading.fraction = 0.25;
  EXPECT_EQ(progress_text(reading, 0.2, 100), "beam.inp  reading  25 %");
  Activity direct{"beam.inp", "assemble and solve", 1, 1};
  EXPECT_EQ(progress_text(direct, 12.7, 100), "beam.inp  step 1/1  assemble and solve  12 s");
}

TEST(Terminal, WritesNumbersForPeople) {
  EXPECT_EQ(readable_count(1), "1");
  EXPECT_EQ(readable_count(1234567), "1 234 567");
  EXPECT_EQ(readable_count(-1234), "-1 234");
  EXPECT_EQ(readable_count(-123), "-123");
  EXPECT_EQ(counted(1, "node"), "1 node");
  EXPECT_EQ(counted(2000, "node"), "2 000 nodes");
  EXPECT_EQ(readable_bytes(1.5e9), "1.5 GB");
  EXPECT_EQ(readable_bytes(25e9), "25 GB");
  EXPECT_EQ(readable_bytes(3.2e6), "3 MB");
  EXPECT_EQ(readable_seconds(0.123), "0.12 s");
  EXPECT_EQ(readable_seconds(200), "3 min 20 s");
  EXPECT_EQ(readable_seconds(7260), "2 h 1 min");
}

}  // namespace
}  // namespace voussoir::app
