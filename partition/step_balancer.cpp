#include <voussoir/partition/step_balancer.hpp>

#include <algorithm>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/model/divided_numberer.hpp>
#include <voussoir/partition/load_balancer.hpp>
#include <voussoir/solvers/cost/device_speeds.hpp>

namespace voussoir {
namespace {

/// Measurements of which the shortest time of each device counts, before anything moves: other work on the machine only
/// makes times longer.
constexpr int repeated_measurements = 3;

/// Nodes that are on another device in a division than in a model.
std::int64_t count_moved_nodes(const AnalysisModel& model, const std::vector<std::int32_t>& part_of_node) {
  std::int64_t moved = 0, k = 0;
  const auto numbered = model.numbered_nodes();
  for (int d = 0; d < model.device_model().devices(); ++d)
    for (std::int32_t n = 0; n < model.device_model().part(d).owned_nodes; ++n, ++k)
      moved += part_of_node[static_cast<std::size_t>(numbered[static_cast<std::size_t>(k)])] != d;
  return moved;
}

/// The times of devices that have a share.
std::vector<double> busy_seconds(const std::vector<double>& seconds) {
  std::vector<double> busy;
  for (const double s : seconds)
    if (s > 0) busy.push_back(s);
  return busy;
}

}  // namespace

StepBalancer::StepBalancer() : StepBalancer(Options{}) {}

StepBalancer::StepBalancer(Options options) : options_(std::move(options)), next_check_(options_.first_check) {
  if (!(options_.tolerance >= 1) || options_.first_check < 1 || options_.longest_wait < 1 ||
      !(options_.least_gain >= 0))
    throw Error(ErrorCode::bad_input,
                "balancing between steps needs a tolerance of at least 1, measurements after one step or more, and a "
                "gain that is not negative");
}

std::vector<double> StepBalancer::measure(const AnalysisModel& model) {
  const Layout& layout = *model.device_model().layout();
  ++measurements_;
  std::vector<double> seconds =
      options_.measure ? options_.measure(model.backend(), layout) : device_seconds(model.backend(), layout);
  if (static_cast<int>(seconds.size()) != layout.devices())
    throw Error(ErrorCode::misuse, std::to_string(seconds.size()) + " times were measured for " +
                                       std::to_string(layout.devices()) + " devices");
  return seconds;
}

bool StepBalancer::after_step(const AnalysisModel& model, const TransientProgress& progress) {
  if (model.device_model().devices() == 1 || progress.steps < next_check_) return false;
  next_check_ = progress.steps + std::min<std::int64_t>(progress.steps, options_.longest_wait);
  // At best, all devices but one wait all the time.
  const auto pays = [&](double imbalance) {
    return progress.seconds_left * (1 - 1 / imbalance) > options_.least_gain * set_up_seconds_;
  };
  if (!pays(model.device_model().devices())) return false;
  std::vector<double> seconds = measure(model);
  const auto is_balanced = [&] {
    const std::vector<double> busy = busy_seconds(seconds);
    return busy.empty() || !LoadBalancer::worth_repartition(busy, options_.tolerance) ||
           !pays(LoadBalancer::imbalance(busy));
  };
  for (int k = 1; k < repeated_measurements && !is_balanced(); ++k) {
    const std::vector<double> again = measure(model);
    for (std::size_t d = 0; d < seconds.size(); ++d) seconds[d] = std::min(seconds[d], again[d]);
  }
  if (is_balanced()) return false;

  DividedNumberer::Options division;
  division.part_of_node = LoadBalancer().rebalanced_parts(model, seconds, options_.tolerance);
  const std::int64_t moved = count_moved_nodes(model, division.part_of_node);
  if (moved == 0) return false;
  numberer_ = std::make_shared<DividedNumberer>(std::move(division));
  ++divisions_;
  moved_nodes_ += moved;
  notes_.push_back("devices took different times for their shares (the longest was " +
                   short_number(LoadBalancer::imbalance(busy_seconds(seconds)), 3) + " times the mean): after " +
                   std::to_string(progress.steps) + " increments, " + std::to_string(moved) +
                   (moved == 1 ? " node" : " nodes") + " moved to other devices");
  return true;
}

}  // namespace voussoir
