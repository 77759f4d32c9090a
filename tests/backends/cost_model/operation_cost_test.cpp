#include <voussoir/backends/cost_model/operation_cost.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

TEST(OperationCost, IsLatencyAndRoundsOfUnits) {
  OperationCost cost;
  cost.latency = 5;
  cost.width = 4;
  cost.levels = {{1, 0.5}};
  EXPECT_DOUBLE_EQ(cost.seconds(1, 100), 5 + 4 * 0.5);  // one round of four, however few units
  EXPECT_DOUBLE_EQ(cost.seconds(4, 100), 5 + 4 * 0.5);
  EXPECT_DOUBLE_EQ(cost.seconds(5, 100), 5 + 8 * 0.5);
  EXPECT_EQ(cost.seconds(0, 100), 0);
  EXPECT_EQ(cost.seconds(-3, 100), 0);
}

TEST(OperationCost, InterpolatesInLogarithms) {
  OperationCost cost;
  cost.levels = {{100, 1}, {10000, 3}};
  EXPECT_DOUBLE_EQ(cost.seconds_per_unit(1), 1);
  EXPECT_DOUBLE_EQ(cost.seconds_per_unit(100), 1);
  EXPECT_NEAR(cost.seconds_per_unit(1000), std::sqrt(3), 1e-12);  // half-way between 10² and 10⁴
  EXPECT_DOUBLE_EQ(cost.seconds_per_unit(10000), 3);
  EXPECT_DOUBLE_EQ(cost.seconds_per_unit(1e9), 3);
  EXPECT_DOUBLE_EQ(cost.streaming_rate(), 3);
}

TEST(OperationCost, TimesThatDoNotDependOnTheSizeStaySoBetweenLevels) {
  OperationCost cost;
  for (double n = 10; n < 1e5; n *= 10) cost.levels.push_back({8 * n, 2e-6 / n});
  for (const double n : {10.0, 25.0, 40.0, 3000.0}) EXPECT_NEAR(cost.work_seconds(n, 8 * n), 2e-6, 1e-18) << n;
}

TEST(OperationCost, QueuedLaunchesOverlapWithExecution) {
  const OperationCost cost = queued_operation("add", 4e-6, {{1000, 16e3, 1e-6, 0}, {1e6, 16e6, 1e-3, 0.1}});
  EXPECT_DOUBLE_EQ(cost.seconds(1000, 16e3), 4e-6);
  EXPECT_DOUBLE_EQ(cost.seconds(1e6, 16e6), 1e-3);
  EXPECT_EQ(cost.noise, 0.1);
  EXPECT_THROW(queued_operation("add", 4e-6, {}), Error);
  EXPECT_THROW(queued_operation("add", -1, {{1, 8, 1, 0}}), Error);
  EXPECT_THROW(queued_operation("add", 1, {{1, 8, std::nan(""), 0}}), Error);
}

// 1 ns per unit up to a megabyte, 4 ns beyond, and a latency that hides sizes below some 2000 units.
TEST(OperationCost, KnowsTheSizeAtWhichTheRateChanges) {
  std::vector<CostSample> samples;
  for (double n = 64; n < 2e7; n *= 1.5) samples.push_back({n, 16 * n, 2e-6 + n * (16 * n <= 1e6 ? 1e-9 : 4e-9), 0});
  const OperationCost cost = fit_operation("test", samples);
  ASSERT_TRUE(cost.cached_rate());
  EXPECT_NEAR(*cost.cached_rate(), 1e-9, 0.05e-9);
  ASSERT_TRUE(cost.cache_bytes());
  EXPECT_GT(*cost.cache_bytes(), 1e6 / 1.5);
  EXPECT_LT(*cost.cache_bytes(), 1e6 * 1.5);
  EXPECT_TRUE(cost.resolved());
  // Without a faster cache, and where the latency hides everything, nothing is claimed.
  const OperationCost flat = fit_operation("flat", {{1e3, 16e3, 3e-6, 0}, {1e6, 16e6, 1.002e-3, 0}});
  EXPECT_FALSE(flat.cached_rate());
  EXPECT_FALSE(flat.cache_bytes());
  OperationCost hidden;
  hidden.latency = 1e-3;
  hidden.levels = {{800, 1e-12, 100}, {8000, 1e-12, 1000}};
  EXPECT_FALSE(hidden.resolved());
  EXPECT_FALSE(hidden.cached_rate());
}

TEST(FitLine, FindsTheLineOfExactNumbers) {
  const std::vector<CostSample> samples{{1, 8, 7, 0}, {10, 80, 25, 0}, {100, 800, 205, 0}};  // 5 + 2 n
  const LineFit line = fit_line(samples);
  EXPECT_NEAR(line.intercept, 5, 1e-10);
  EXPECT_NEAR(line.slope, 2, 1e-12);
  EXPECT_NEAR(line.deviation, 0, 1e-12);
}

TEST(FitLine, HasNoNegativeCoefficients) {
  const LineFit falling = fit_line(std::vector<CostSample>{{1, 8, 10, 0}, {2, 8, 5, 0}, {3, 8, 1, 0}});
  EXPECT_GE(falling.intercept, 0);
  EXPECT_GE(falling.slope, 0);
  const LineFit steep = fit_line(std::vector<CostSample>{{10, 8, 1, 0}, {20, 8, 4, 0}});  // would start below zero
  EXPECT_EQ(steep.intercept, 0);
  EXPECT_GT(steep.slope, 0);
}

TEST(FitLine, RefusesWhatIsNoMeasurement) {
  EXPECT_THROW(fit_line(std::vector<CostSample>{}), Error);
  EXPECT_THROW(fit_line(std::vector<CostSample>{{5, 8, 1, 0}, {5, 8, 2, 0}}), Error);
  EXPECT_THROW(fit_line(std::vector<CostSample>{{1, 8, std::nan(""), 0}, {5, 8, 2, 0}}), Error);
  EXPECT_THROW(fit_line(std::vector<CostSample>{{1, 8, -1, 0}, {5, 8, 2, 0}}), Error);
}

/// Times of an operation of 2 µs and two rates, 1 ns in a cache of 1 MB and 3 ns beyond, with noise that only adds.
std::vector<CostSample> noisy_samples(double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> extra(1.0);
  std::vector<CostSample> samples;
  for (double n = 64; n < 2e7; n *= 2) {
    const double exact = 2e-6 + n * (16 * n < 1e6 ? 1e-9 : 3e-9);
    double least = 1e9;
    for (int repetition = 0; repetition < 7; ++repetition) least = std::min(least, exact * (1 + noise * extra(random)));
    samples.push_back({n, 16 * n, least, noise});
  }
  return samples;
}

TEST(FitOperation, FindsLatencyAndRatesInNoise) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const OperationCost cost = fit_operation("test", noisy_samples(0.2, seed));
    EXPECT_NEAR(cost.latency, 2e-6, 0.3e-6) << seed;
    EXPECT_NEAR(cost.seconds(1e4, 16e4) / (2e-6 + 1e4 * 1e-9), 1, 0.15) << seed;
    EXPECT_NEAR(cost.seconds(1e7, 16e7) / (2e-6 + 1e7 * 3e-9), 1, 0.15) << seed;
  }
}

TEST(FitOperation, GrowsWithTheSizeWhateverTheNoise) {
  for (const unsigned seed : {4u, 5u, 6u, 7u}) {
    const auto samples = noisy_samples(1.0, seed);
    const OperationCost cost = fit_operation("test", samples);
    for (std::size_t i = 1; i < samples.size(); ++i)
      EXPECT_GE(cost.seconds(samples[i].units, samples[i].working_set) * (1 + 1e-12),
                cost.seconds(samples[i - 1].units, samples[i - 1].working_set))
          << seed;
  }
}

TEST(FitOperation, RefusesTimesThatDoNotGrow) {
  try {
    fit_operation("dot", {{10, 80, 1e-3, 0}, {10000, 80000, 0.9e-3, 0}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_EQ(error.where(), "dot");
    EXPECT_NE(error.text().find("do not grow"), std::string::npos);
  }
  EXPECT_THROW(fit_operation("x", {}), Error);
  EXPECT_THROW(fit_operation("x", {{1, 8, 0, 0}}), Error);
  EXPECT_THROW(fit_operation("x", {{1, 8, 1, 0}}, 0.5), Error);
}

TEST(FitOperation, TakesASingleSizeAsARate) {
  const OperationCost cost = fit_operation("x", {{100, 800, 2, 0}});
  EXPECT_EQ(cost.latency, 0);
  EXPECT_DOUBLE_EQ(cost.seconds(50, 400), 1);
}

TEST(FitWidth, FindsTheStepsOfAGpu) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(0, 0.02);
  std::vector<CostSample> stepped, smooth;
  for (double n = 1000; n <= 80000; n += 1000) {
    stepped.push_back({n, n, (3 + 1.5 * std::ceil(n / 13000)) * (1 + noise(random)), 0});
    smooth.push_back({n, n, (3 + 1e-4 * n) * (1 + noise(random)), 0});
  }
  EXPECT_EQ(fit_width(stepped, 1000), 13000);
  EXPECT_EQ(fit_width(smooth, 1000), 1);
  EXPECT_EQ(fit_width(std::span(stepped).first(3), 1000), 1);
}

TEST(NormalisedDeviation, IsThePapersFormula) {
  const std::vector<double> measured{1, 2, 4}, predicted{1.1, 1.8, 4};
  EXPECT_NEAR(normalised_deviation(measured, predicted), std::sqrt((0.01 + 0.01) / 3), 1e-12);
  EXPECT_THROW(normalised_deviation(measured, std::vector<double>{1.0}), Error);
  EXPECT_THROW(normalised_deviation(std::vector<double>{0.0}, std::vector<double>{1.0}), Error);
}

}  // namespace
}  // namespace voussoir
