#include <voussoir/partition/load_balancer.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

void check_seconds(std::span<const double> seconds) {
  for (std::size_t p = 0; p < seconds.size(); ++p)
    if (!(seconds[p] > 0) || !std::isfinite(seconds[p]))
      throw Error(ErrorCode::bad_input, "a measured time is not positive", "part " + std::to_string(p));
}

}  // namespace

LoadBalancer::LoadBalancer(double damping) : damping_(damping) {
  if (!(damping > 0 && damping <= 1)) throw Error(ErrorCode::bad_input, "the damping is outside 0 … 1");
}

std::vector<double> LoadBalancer::weights(const Partition& partition, std::span<const double> seconds) const {
  if (static_cast<int>(seconds.size()) != partition.parts())
    throw Error(ErrorCode::bad_input,
                std::to_string(seconds.size()) + " times for " + std::to_string(partition.parts()) + " parts");
  check_seconds(seconds);
  std::vector<double> rate(partition.parts());
  for (int p = 0; p < partition.parts(); ++p) {
    if (!(partition.weight(p) > 0))
      throw Error(ErrorCode::bad_input, "the weight of the part is zero, so its time cannot be used",
                  "part " + std::to_string(p));
    rate[p] = std::pow(seconds[p] / partition.weight(p), damping_);
  }
  std::vector<double> result(partition.weights().begin(), partition.weights().end());
  double before = 0, after = 0;
  for (std::size_t e = 0; e < result.size(); ++e) {
    before += result[e];
    result[e] *= rate[partition.part_of_element()[e]];
    after += result[e];
  }
  for (double& w : result) w *= before / after;
  return result;
}

double LoadBalancer::imbalance(std::span<const double> seconds) {
  if (seconds.empty()) throw Error(ErrorCode::bad_input, "there are no times to compare");
  check_seconds(seconds);
  double sum = 0;
  for (double s : seconds) sum += s;
  return *std::max_element(seconds.begin(), seconds.end()) * static_cast<double>(seconds.size()) / sum;
}

}  // namespace voussoir
