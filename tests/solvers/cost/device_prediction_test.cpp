// Predicted iterations on several devices: the formula by hand, and its limits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/cost/device_prediction.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

DeviceDistribution slabs(int devices, std::int32_t equations, std::int32_t halo) {
  DeviceDistribution distribution;
  for (int d = 0; d < devices; ++d) {
    DeviceDistribution::Device device;
    device.equations = equations / devices;
    device.neighbours = devices == 1 ? 0 : d == 0 || d == devices - 1 ? 1 : 2;
    device.ghost_equations = device.neighbours * halo;
    distribution.devices.push_back(device);
  }
  return distribution;
}

TEST(DevicePrediction, FollowsItsFormula) {
  const DeviceLink link{"link", 8e9, 1e-5};
  const IterationPrediction one = predict_iteration(slabs(1, 1000, 0), 3e-4, link, {});
  EXPECT_EQ(one.seconds(), 3e-4);
  // Two neighbours: 2 · 10 µs + 2 · 1000 · 8 bytes / 8 GB/s = 22 µs. Four devices: two sums of 2 · 2 messages.
  const IterationPrediction four = predict_iteration(slabs(4, 1000, 1000), 3e-4, link, {});
  EXPECT_NEAR(four.exchange, 22e-6, 1e-12);
  EXPECT_NEAR(four.reduction, 80e-6, 1e-12);
  EXPECT_NEAR(four.seconds(), 402e-6, 1e-12);
  // Overlapped with the product, halos cost nothing until they take longer.
  IterationMessages overlapped;
  overlapped.overlapped = true;
  overlapped.reductions = 1;
  EXPECT_EQ(predict_iteration(slabs(4, 1000, 1000), 3e-4, link, overlapped).exchange, 0);
  EXPECT_NEAR(predict_iteration(slabs(4, 1000, 1000), 1e-5, link, overlapped).exchange, 12e-6, 1e-12);
  EXPECT_NEAR(predict_iteration(slabs(4, 1000, 1000), 3e-4, link, overlapped).reduction, 40e-6, 1e-12);
  // 8 MB to one of two devices and back: half of it travels, 0.5 ms each way.
  IterationMessages gathered;
  gathered.gathered = 8e6;
  EXPECT_NEAR(predict_iteration(slabs(2, 1000, 0), 0, link, gathered).exchange, 2 * (1e-5 + 5e-4) + 1e-5, 1e-12);
}

TEST(DevicePrediction, RejectsNonsense) {
  const DeviceDistribution two = slabs(2, 10, 1);
  for (const DeviceLink& link : usual_links()) EXPECT_GT(predict_iteration(two, 1e-4, link, {}).seconds(), 1e-4);
  const DeviceLink good{"link", 1e9, 1e-5};
  const auto refused = [&](double compute, const DeviceLink& link, const IterationMessages& messages) {
    testing::expect_error(ErrorCode::misuse, {"negative"}, [&] { predict_iteration(two, compute, link, messages); });
  };
  refused(-1, good, {});
  refused(std::numeric_limits<double>::quiet_NaN(), good, {});
  refused(1, {"link", 0, 1e-5}, {});
  refused(1, {"link", 1e9, -1e-5}, {});
  IterationMessages negative;
  negative.reductions = -1;
  refused(1, good, negative);
}

}  // namespace
}  // namespace voussoir
