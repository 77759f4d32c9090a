#include <voussoir/framework/io/job/job.hpp>

#include <algorithm>
#include <cmath>

namespace voussoir {

void Supports::apply(Domain& domain, const NodalField* previous) const {
  domain.clear_supports();
  for (const Prescribed& p : values) domain.prescribe_at(domain.node_id(p.node), p.unknown, p.value);
  for (const ObliqueSupport& o : oblique) domain.prescribe_along(domain.node_id(o.node), o.direction, o.value);
  for (const Kept& k : kept) {
    const auto before = [&](const char* unknown) {
      const double value = previous ? previous->at(k.node, unknown) : 0.0;
      return std::isnan(value) ? 0.0 : value;
    };
    if (!k.unknown.empty()) {
      domain.prescribe_at(domain.node_id(k.node), k.unknown, before(k.unknown.c_str()));
      continue;
    }
    double value = 0;
    for (int i = 0; i < 3; ++i)
      if (const char* const names[] = {"ux", "uy", "uz"}; k.direction[i] != 0)
        value += k.direction[i] * before(names[i]);
    domain.prescribe_along(domain.node_id(k.node), k.direction, value);
  }
}

std::string InstanceNumbers::name(const std::vector<Range>& ranges, Id id) {
  const auto above = std::lower_bound(ranges.begin(), ranges.end(), id,
                                      [](const Range& range, Id value) { return range.shift < value; });
  if (above == ranges.begin()) return std::to_string(id);
  return (above - 1)->instance + "." + std::to_string(id - (above - 1)->shift);
}

std::string to_string(Procedure procedure) {
  switch (procedure) {
    case Procedure::statics:
      return "linear statics";
    case Procedure::steady_heat:
      return "steady heat";
    case Procedure::frequency:
      return "natural modes";
    case Procedure::modal_dynamic:
      return "modal dynamics";
    case Procedure::harmonic:
      return "harmonic response";
    case Procedure::spectrum:
      return "response spectrum";
    case Procedure::dynamic:
      return "dynamics";
    case Procedure::transient_heat:
      return "transient heat";
    case Procedure::thermal_stress:
      return "thermal stress";
    case Procedure::nonlinear_statics:
      return "nonlinear statics";
  }
  return "linear statics";
}

bool uses_modes(Procedure procedure) { return has_states(procedure) && !is_integrated(procedure); }

bool has_states(Procedure procedure) { return procedure != Procedure::statics && procedure != Procedure::steady_heat; }

bool is_integrated(Procedure procedure) {
  return procedure == Procedure::nonlinear_statics || procedure == Procedure::dynamic ||
         procedure == Procedure::transient_heat || procedure == Procedure::thermal_stress;
}

bool is_heat(Procedure procedure) {
  return procedure == Procedure::steady_heat || procedure == Procedure::transient_heat;
}

}  // namespace voussoir
