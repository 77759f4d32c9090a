#include <voussoir/framework/analysis/time_loads.hpp>

#include <algorithm>

#include <cmath>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

void require_finite_factor(double factor, const std::string& where) {
  if (!std::isfinite(factor)) throw Error(ErrorCode::bad_input, "the factor is not a finite number", where);
}

}  // namespace

void TimeLoads::add_load_case(std::string name, Amplitude amplitude, double factor) {
  require_finite_factor(factor, "load case '" + name + "'");
  cases_.push_back({std::move(name), std::move(amplitude), factor, {}});
}

void TimeLoads::add_load_case(std::string name, std::function<double(double time)> course) {
  if (!course) throw Error(ErrorCode::misuse, "the course of a load is an empty function", "load case '" + name + "'");
  cases_.push_back({std::move(name), {}, 1, std::move(course)});
}

void TimeLoads::add_base_acceleration(std::string direction, Amplitude acceleration, double factor) {
  require_finite_factor(factor, "base acceleration along " + direction);
  base_.push_back({std::move(direction), std::move(acceleration), factor});
}

void TimeLoads::add_base_acceleration(std::string direction, const Accelerogram& acceleration, double factor) {
  add_base_acceleration(std::move(direction), acceleration.amplitude(), factor);
}

void TimeLoads::move_supports(std::vector<Place> places, SupportMotion motion) {
  moved_.push_back({std::move(places), std::move(motion)});
}

void TimeLoads::move_supports(const Domain& domain, const std::string& node_set, const std::string& unknown,
                              SupportMotion motion) {
  std::vector<Place> places;
  for (const std::int32_t node : domain.node_set(node_set)) places.push_back({node, unknown});
  move_supports(std::move(places), std::move(motion));
}

std::vector<double> TimeLoads::kinks() const {
  std::vector<double> times;
  const auto add = [&](const Amplitude& amplitude) {
    for (const Amplitude::Point& point : amplitude.points()) times.push_back(point.first);
  };
  for (const Case& load : cases_)
    if (!load.course) add(load.amplitude);
  for (const Base& base : base_) add(base.acceleration);
  for (const Moved& moved : moved_) times.insert(times.end(), moved.motion.kinks().begin(), moved.motion.kinks().end());
  times.insert(times.end(), rest_.kinks().begin(), rest_.kinks().end());
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

}  // namespace voussoir
