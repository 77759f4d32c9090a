#include <voussoir/framework/domain/load_case.hpp>

#include <cmath>
#include <limits>
#include <utility>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {
namespace {

void check_finite(const LoadCase& load_case, const char* what, std::initializer_list<double> values) {
  for (double v : values)
    if (!std::isfinite(v))
      throw Error(ErrorCode::bad_input, std::string(what) + " is not a finite number",
                  "load case '" + load_case.name() + "'");
}

}  // namespace

LoadCase& LoadCase::nodal(const std::string& node_set, const std::string& unknown, double value) {
  domain_->changed(&DomainRevisions::loads);
  check_finite(*this, "a nodal load", {value});
  for (std::int32_t n : domain_->node_set(node_set)) nodal_.push_back({n, unknown, value});
  return *this;
}

LoadCase& LoadCase::nodal_at(Id node, const std::string& unknown, double value) {
  domain_->changed(&DomainRevisions::loads);
  check_finite(*this, "a nodal load", {value});
  nodal_.push_back({domain_->node_index(node), unknown, value});
  return *this;
}

LoadCase& LoadCase::surface(const std::string& surface, const char* kind, std::vector<double> values) {
  domain_->changed(&DomainRevisions::loads);
  domain_->surface(surface);  // throws where the name is unknown or the surface empty
  surface_.push_back({surface, kind, std::move(values)});
  return *this;
}

LoadCase& LoadCase::pressure(const std::string& name, double value) {
  check_finite(*this, "a pressure", {value});
  return surface(name, "pressure", {value});
}
LoadCase& LoadCase::traction(const std::string& name, std::array<double, 3> value) {
  check_finite(*this, "a traction", {value[0], value[1], value[2]});
  return surface(name, "traction", {value.begin(), value.end()});
}
LoadCase& LoadCase::inflow(const std::string& name, double value) {
  check_finite(*this, "an inflow", {value});
  return surface(name, "flux", {value});
}
LoadCase& LoadCase::film(const std::string& name, double coefficient, double ambient) {
  return convection(name, coefficient, ambient);
}
LoadCase& LoadCase::source(const std::string& element_set, double value) { return heat_source(element_set, value); }
LoadCase& LoadCase::heat_flux(const std::string& name, double value) {
  check_finite(*this, "a heat flux", {value});
  return surface(name, "flux", {value});
}
LoadCase& LoadCase::convection(const std::string& name, double film, double sink) {
  check_finite(*this, "a film coefficient or a sink temperature", {film, sink});
  if (film < 0)
    throw Error(ErrorCode::bad_input, "the film coefficient is negative; it must be zero or positive",
                "surface '" + name + "'");
  return surface(name, "convection", {film, sink});
}

LoadCase& LoadCase::radiation(const std::string& name, double coefficient, double sink, double absolute_zero) {
  check_finite(*this, "a parameter of a radiating surface", {coefficient, sink, absolute_zero});
  if (coefficient < 0)
    throw Error(ErrorCode::bad_input, "the coefficient of radiation is negative; it must be zero or positive",
                "surface '" + name + "'");
  if (sink < absolute_zero)
    throw Error(ErrorCode::bad_input, "the ambient temperature of radiation is below absolute zero",
                "surface '" + name + "'");
  return surface(name, "radiation", {coefficient, sink, absolute_zero});
}

LoadCase& LoadCase::body(const std::string& element_set, const BodyLoad& load) {
  domain_->changed(&DomainRevisions::loads);
  if (!element_set.empty()) domain_->element_set(element_set);
  body_.push_back({element_set, load});
  return *this;
}

LoadCase& LoadCase::gravity(const std::string& element_set, std::array<double, 3> acceleration) {
  check_finite(*this, "an acceleration", {acceleration[0], acceleration[1], acceleration[2]});
  BodyLoad load;
  for (int i = 0; i < 3; ++i) load.acceleration[i] = acceleration[i];
  return body(element_set, load);
}

LoadCase& LoadCase::centrifugal(const std::string& element_set, double omega, std::array<double, 3> axis_point,
                                std::array<double, 3> axis_direction) {
  check_finite(
      *this, "a parameter of a centrifugal load",
      {omega, axis_point[0], axis_point[1], axis_point[2], axis_direction[0], axis_direction[1], axis_direction[2]});
  const double length = std::hypot(axis_direction[0], axis_direction[1], axis_direction[2]);
  if (!(length > 0))
    throw Error(ErrorCode::bad_input, "the direction of the axis of rotation is zero", "load case '" + name_ + "'");
  BodyLoad load;
  load.angular_velocity_squared = omega * omega;
  for (int i = 0; i < 3; ++i) {
    load.axis_point[i] = axis_point[i];
    load.axis_direction[i] = axis_direction[i] / length;
  }
  return body(element_set, load);
}

LoadCase& LoadCase::heat_source(const std::string& element_set, double value) {
  check_finite(*this, "a heat source", {value});
  BodyLoad load;
  load.source = value;
  return body(element_set, load);
}

LoadCase& LoadCase::temperature(const std::string& node_set, double value) {
  domain_->changed(&DomainRevisions::loads);
  check_finite(*this, "a temperature", {value});
  const auto nodes = domain_->node_set(node_set);  // throws before anything is changed
  temperature_.resize(domain_->node_count(), std::numeric_limits<double>::quiet_NaN());
  for (std::int32_t n : nodes) temperature_[n] = value;
  return *this;
}

LoadCase& LoadCase::temperature_at(Id node, double value) {
  domain_->changed(&DomainRevisions::loads);
  check_finite(*this, "a temperature", {value});
  const std::int32_t n = domain_->node_index(node);  // throws before anything is changed
  temperature_.resize(domain_->node_count(), std::numeric_limits<double>::quiet_NaN());
  temperature_[n] = value;
  return *this;
}

LoadCase& LoadCase::temperature_field(std::vector<double> values) {
  domain_->changed(&DomainRevisions::loads);
  if (static_cast<std::int32_t>(values.size()) != domain_->node_count())
    throw Error(ErrorCode::bad_input,
                std::to_string(values.size()) + " temperatures for " + std::to_string(domain_->node_count()) + " nodes",
                "load case '" + name_ + "'");
  std::vector<char> used;  // made when the first NaN asks for it
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    if (used.empty()) {
      used.assign(values.size(), 0);
      for (std::size_t b = 0; b < domain_->block_count(); ++b)
        for (std::int32_t n : std::as_const(*domain_).block(b).connectivity()) used[n] = 1;
    }
    if (used[i] || !std::isnan(values[i]))
      throw Error(ErrorCode::bad_input, "the temperature is not a finite number",
                  domain_->node_label(static_cast<std::int32_t>(i)));
  }
  temperature_ = std::move(values);
  return *this;
}

}  // namespace voussoir
