#include <voussoir/solvers/cost/device_prediction.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <voussoir/backends/error.hpp>

namespace voussoir {

std::span<const DeviceLink> usual_links() {
  static const std::array<DeviceLink, 2> links{{{"NVLink", 450e9, 7.3e-6}, {"PCIe 5", 55.2e9, 7.3e-6}}};
  return links;
}

IterationPrediction predict_iteration(const DeviceDistribution& distribution, double compute, const DeviceLink& link,
                                      const IterationMessages& messages) {
  const auto sound = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!sound(compute) || !sound(link.latency) || !(link.bytes_per_second > 0) || messages.exchanges < 0 ||
      messages.reductions < 0 || !sound(messages.gathered))
    throw Error(ErrorCode::misuse,
                "times, latencies and counts must not be negative, and the rate of a link must be positive",
                "predict_iteration");
  IterationPrediction prediction;
  prediction.compute = compute;
  const std::size_t devices = distribution.devices.size();
  if (devices < 2) return prediction;
  double halo = 0;
  for (const DeviceDistribution::Device& device : distribution.devices)
    halo = std::max(halo, device.neighbours * link.latency +
                              static_cast<double>(device.ghost_equations) * sizeof(double) / link.bytes_per_second);
  prediction.exchange = messages.exchanges * halo;
  if (messages.overlapped) prediction.exchange = std::max(0.0, prediction.exchange - compute);
  if (messages.gathered > 0) {
    const double others = messages.gathered * static_cast<double>(devices - 1) / static_cast<double>(devices);
    prediction.exchange += 2 * (link.latency + others / link.bytes_per_second);
  }
  prediction.reduction = messages.reductions * 2 * std::ceil(std::log2(static_cast<double>(devices))) * link.latency;
  return prediction;
}

}  // namespace voussoir
