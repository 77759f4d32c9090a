#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/domain.hpp>

// Temperatures of a Domain before anything acts on it.

namespace voussoir {
namespace {

constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

void require_finite(double value, const char* what, const std::string& where) {
  if (!std::isfinite(value)) throw Error(ErrorCode::bad_input, std::string(what) + " is not a finite number", where);
}

}  // namespace

void Domain::set_reference_temperature(double value) {
  require_finite(value, "the reference temperature", "");
  reference_temperature_ = value;
  changed(&DomainRevisions::nodes);
}

void Domain::set_initial_temperature(double value) {
  require_finite(value, "the initial temperature", "");
  initial_temperature_ = value;
  changed(&DomainRevisions::nodes);
}

void Domain::set_initial_temperature(const std::string& set, double value) {
  require_finite(value, "the initial temperature", "node set '" + set + "'");
  const auto nodes = node_set(set);  // throws before anything is changed
  initial_temperatures_.resize(node_ids_.size(), not_given);
  for (const std::int32_t n : nodes) initial_temperatures_[n] = value;
  changed(&DomainRevisions::nodes);
}

void Domain::set_initial_temperature_at(Id node, double value) {
  const std::int32_t n = node_index(node);  // throws before anything is changed
  require_finite(value, "the initial temperature", node_label(n));
  initial_temperatures_.resize(node_ids_.size(), not_given);
  initial_temperatures_[n] = value;
  changed(&DomainRevisions::nodes);
}

double Domain::initial_temperature(std::int32_t node) const {
  if (static_cast<std::size_t>(node) < initial_temperatures_.size() && !std::isnan(initial_temperatures_[node]))
    return initial_temperatures_[node];
  return initial_temperature_.value_or(reference_temperature_);
}

std::vector<double> Domain::initial_temperatures() const {
  std::vector<double> all(node_ids_.size(), initial_temperature_.value_or(reference_temperature_));
  for (std::size_t n = 0; n < std::min(all.size(), initial_temperatures_.size()); ++n)
    if (!std::isnan(initial_temperatures_[n])) all[n] = initial_temperatures_[n];
  return all;
}

}  // namespace voussoir
