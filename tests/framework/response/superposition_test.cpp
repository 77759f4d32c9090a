#include <voussoir/framework/response/superposition.hpp>

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

struct Sample {
  CoordinateHistory history;
  std::vector<double> values;
  std::size_t columns;

  Sample(std::size_t times, std::size_t modes, std::size_t entries) : values(modes * entries), columns(modes) {
    std::mt19937 random(7);
    const auto number = [&] { return static_cast<double>(random()) / 2147483648.0 - 1; };
    history.coordinates = modes;
    for (std::size_t t = 0; t < times; ++t) history.times.push_back(0.5 * static_cast<double>(t));
    history.values.resize(times * modes);
    for (double& v : history.values) v = number();
    for (double& v : values) v = number();
  }
  ModalValues modal() const { return ModalValues(values, columns); }
  double plain(std::size_t time, std::size_t entry) const {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i)
      sum += history.values[time * columns + i] * values[i * (values.size() / columns) + entry];
    return sum;
  }
};

TEST(Superposition, FindsExtremesWithTheirTimes) {
  for (const std::size_t times : {1u, 3u, 4u, 21u})
    for (const std::size_t entries : {1u, 7u, 8u, 19u}) {
      const Sample sample(times, 5, entries);
      const auto found = extremes(sample.history, sample.modal());
      ASSERT_EQ(found.size(), entries);
      for (std::size_t e = 0; e < entries; ++e) {
        std::size_t high = 0, low = 0;
        for (std::size_t t = 1; t < times; ++t) {
          if (sample.plain(t, e) > sample.plain(high, e)) high = t;
          if (sample.plain(t, e) < sample.plain(low, e)) low = t;
        }
        EXPECT_NEAR(found[e].maximum, sample.plain(high, e), 1e-15);
        EXPECT_NEAR(found[e].minimum, sample.plain(low, e), 1e-15);
        EXPECT_EQ(found[e].maximum_time, sample.history.times[high]);
        EXPECT_EQ(found[e].minimum_time, sample.history.times[low]);
      }
    }
}

TEST(Superposition, PeaksHaveASignAndTheEarlierTime) {
  EXPECT_EQ((Extremes{2, 1, -3, 4}.peak().value), -3);
  EXPECT_EQ((Extremes{2, 1, -3, 4}.peak().time), 4);
  EXPECT_EQ((Extremes{3, 5, -3, 4}.peak().value), -3);
  EXPECT_EQ((Extremes{3, 2, -3, 4}.peak().value), 3);
}

TEST(Superposition, HistoriesSnapshotsAndExtremesHaveTheSameBits) {
  const Sample sample(50, 13, 37);
  const std::vector<std::size_t> chosen{36, 0, 5, 5, 20, 31, 7, 8, 9, 10, 11};
  const auto found = extremes(sample.history, sample.modal());
  const auto curves = histories(sample.history, sample.modal(), chosen);
  const auto state = values_at(sample.history, sample.modal(), 17);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const auto first = curves.begin() + static_cast<std::ptrdiff_t>(k * 50);
    EXPECT_EQ(*std::max_element(first, first + 50), found[chosen[k]].maximum);
    EXPECT_EQ(first[17], state[chosen[k]]);
  }
}

TEST(Superposition, DoesNotDependOnTheNumberOfThreads) {
  const Sample sample(300, 20, 1000);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto alone = extremes(sample.history, sample.modal());
  omp_set_num_threads(3);
  const auto together = extremes(sample.history, sample.modal());
  omp_set_num_threads(threads);
  for (std::size_t e = 0; e < alone.size(); ++e) {
    ASSERT_EQ(alone[e].maximum, together[e].maximum);
    ASSERT_EQ(alone[e].minimum_time, together[e].minimum_time);
  }
}

TEST(Superposition, ScalarsOfGroupsAreComputedAtEachTime) {
  for (const std::size_t group : {2u, 6u, 10u}) {
    const Sample sample(30, 4, group * 9);
    const auto norm = [](std::span<const double> v) {
      double sum = 0;
      for (const double x : v) sum += x * x;
      return std::sqrt(sum);
    };
    const auto found = extremes_of(sample.history, sample.modal(), group, norm);
    ASSERT_EQ(found.size(), 9u);
    for (std::size_t g = 0; g < 9; ++g) {
      double largest = 0;
      for (std::size_t t = 0; t < 30; ++t) {
        std::vector<double> members;
        for (std::size_t k = 0; k < group; ++k) members.push_back(sample.plain(t, g * group + k));
        largest = std::max(largest, norm(members));
      }
      EXPECT_NEAR(found[g].maximum, largest, 1e-14);
    }
  }
}

TEST(Superposition, RefusesWhatDoesNotFitAndWhatIsNotFinite) {
  using testing::expect_error;
  Sample sample(9, 4, 20);
  const auto modal = sample.modal();
  expect_error(ErrorCode::misuse, {"4 coordinates but 2 columns"},
               [&] { extremes(sample.history, ModalValues(sample.values, 2)); });
  expect_error(ErrorCode::misuse, {"3 columns of equal length"}, [&] { ModalValues(sample.values, 3); });
  expect_error(ErrorCode::misuse, {"no entry 21"},
               [&] { histories(sample.history, modal, std::vector<std::size_t>{20}); });
  expect_error(ErrorCode::misuse, {"9 times, not 10"}, [&] { values_at(sample.history, modal, 9); });
  expect_error(ErrorCode::misuse, {"groups of 3"},
               [&] { extremes_of(sample.history, modal, 3, [](auto) { return 0.0; }); });
  expect_error(ErrorCode::misuse, {"column of 5 entries"}, [&] {
    ModalValues values = modal;
    values.add(std::span(sample.values).first(5));
  });
  // Wherever the NaN is: at the first time too, where nothing was found before.
  for (const std::size_t time : {0u, 5u, 8u}) {
    Sample broken(9, 4, 20);
    broken.history.values[time * 4] = std::numeric_limits<double>::quiet_NaN();
    expect_error(ErrorCode::not_finite, {"entry 1 is not finite"}, [&] { extremes(broken.history, broken.modal()); });
    expect_error(ErrorCode::not_finite, {"group"}, [&] {
      extremes_of(broken.history, broken.modal(), 2, [](std::span<const double> v) { return v[0]; });
    });
  }
}

}  // namespace
}  // namespace voussoir
