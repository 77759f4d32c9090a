#pragma once
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/domain/load_case.hpp>

namespace voussoir::deck {

/// The loads of a step before they become a load case, so that those of two steps can be compared: steps with the same
/// loads share one load case.
struct LoadRecord {
  struct Nodal {
    Id node;
    std::string unknown;
    double value;
    bool operator==(const Nodal&) const = default;
  };
  struct Surface {
    std::string kind;  ///< as LoadCase::Surface has it
    std::string surface;
    std::vector<double> numbers;
    bool operator==(const Surface&) const = default;
  };
  struct Body {
    std::string kind;  ///< "gravity", "centrifugal", "source"
    std::string set;
    std::vector<double> numbers;
    bool operator==(const Body&) const = default;
  };
  bool exists = false;  ///< a step that is heated needs a case to live in, even where nothing else acts
  std::vector<Nodal> nodal;
  std::vector<Surface> surfaces;
  std::vector<Body> bodies;
  std::vector<std::pair<Id, double>> temperatures;  ///< of single nodes
  std::vector<double> temperature_field;            ///< of all nodes; may be empty

  bool operator==(const LoadRecord&) const = default;
  bool empty() const {
    return !exists && nodal.empty() && surfaces.empty() && bodies.empty() && temperatures.empty() &&
           temperature_field.empty();
  }

  /// Gives all of it to a load case.
  void apply(LoadCase& c) const {
    for (const Nodal& n : nodal) c.nodal_at(n.node, n.unknown, n.value);
    for (const Surface& s : surfaces) {
      const std::vector<double>& v = s.numbers;
      if (s.kind == "pressure") c.pressure(s.surface, v[0]);
      if (s.kind == "flux") c.heat_flux(s.surface, v[0]);
      if (s.kind == "convection") c.convection(s.surface, v[0], v[1]);
      if (s.kind == "radiation") c.radiation(s.surface, v[0], v[1], v[2]);
    }
    for (const Body& b : bodies) {
      const std::vector<double>& v = b.numbers;
      if (b.kind == "gravity") c.gravity(b.set, {v[0], v[1], v[2]});
      if (b.kind == "centrifugal") c.centrifugal(b.set, std::sqrt(v[0]), {v[1], v[2], v[3]}, {v[4], v[5], v[6]});
      if (b.kind == "source") c.heat_source(b.set, v[0]);
    }
    for (const auto& [node, value] : temperatures) c.temperature_at(node, value);
    if (!temperature_field.empty()) c.temperature_field(temperature_field);
  }
};

}  // namespace voussoir::deck
