#pragma once
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/solvers/transient_problem.hpp>

// Small models whose motion is known in closed form, for tests of dynamics.

namespace voussoir::testing {

/// A straight chain of springs along x between the nodes 1, 2, … with a point mass at the last node; node 1 is the
/// support, and only ux is free.
inline void add_spring_chain(Domain& d, int springs, double stiffness, double mass) {
  std::vector<Id> nodes;
  for (int i = 0; i <= springs; ++i) {
    d.add_node(i + 1, i, 0, 0);
    nodes.push_back(i + 1);
  }
  auto& chain = d.add_block("springs", "truss");
  chain.set_material(std::make_shared<IsotropicMaterial>("spring", stiffness, 0.3, 0)).set_section("area", 1);
  for (int i = 0; i < springs; ++i) chain.add(i + 1, {i + 1, i + 2});
  auto& point = d.add_block("mass", "mass");
  point.set_section("mass", mass);
  point.add(springs + 1, {springs + 1});
  d.add_node_set("support", {1});
  d.add_node_set("all", nodes);
  d.prescribe("support", "ux");
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
}

/// A mass at the end of a spring along x: ω = √(stiffness / mass). Node 1 is the support, node 2 the mass.
inline void add_oscillator(Domain& d, double stiffness, double mass) { add_spring_chain(d, 1, stiffness, mass); }

/// The displacement at time t of an oscillator with mass 1, stiffness 4 and the given damping under the load 3 t, which
/// starts with displacement 0.3 and velocity 1.
inline double oscillator_on_a_ramp(double damping, double t) {
  const double decay = damping / 2, w = std::sqrt(4 - decay * decay);
  const double p1 = 3.0 / 4, p0 = -damping * p1 / 4;  // particular solution p0 + p1 t
  const double a0 = 0.3 - p0, b0 = (1 - p1 + decay * a0) / w;
  return std::exp(-decay * t) * (a0 * std::cos(w * t) + b0 * std::sin(w * t)) + p0 + p1 * t;
}

/// A bar of trusses along x, E = A = ρ = L = 1, held at x = 0; load case "end" pulls its end with 1. The damping is
/// that of its material.
inline void add_bar(Domain& d, int cells, const RayleighDamping& damping = {}) {
  for (int i = 0; i <= cells; ++i) d.add_node(i + 1, double(i) / cells, 0, 0);
  auto material = std::make_shared<IsotropicMaterial>("m", 1, 0.3, 1);
  material->set_damping(damping);
  auto& bar = d.add_block("bar", "truss");
  bar.set_material(material).set_section("area", 1);
  for (int i = 0; i < cells; ++i) bar.add(i + 1, {i + 1, i + 2});
  d.add_node_set("wall", {1});
  d.add_node_set_where("all", [](double, double, double) { return true; });
  d.prescribe("wall", "ux");
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  d.add_load_case("end").nodal_at(cells + 1, "ux", 1);
}

/// The same bar with a wall whose displacement ux is prescribed as 1, for motions of the support.
inline void add_bar_on_a_moving_wall(Domain& d, int cells) {
  add_bar(d, cells);
  d.clear_supports();
  d.prescribe("wall", "ux", 1);
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
}

/// A field of all unknowns that is 0 everywhere.
inline NodalField zero_field(const AnalysisModel& model) {
  NodalField f{"displacement", model.unknown_names(), {}};
  f.values.assign(static_cast<std::size_t>(model.domain().node_count()) * f.components.size(), 0.0);
  return f;
}

/// The value of an unknown at the node of this index.
inline double& entry(NodalField& f, std::int32_t node, const std::string& unknown) {
  return f.values[static_cast<std::size_t>(node) * f.components.size() +
                  static_cast<std::size_t>(f.component_index(unknown))];
}

/// A field that is `value` for one unknown of the node with this number, and 0 elsewhere.
inline NodalField field_at(const AnalysisModel& model, Id node, const std::string& unknown, double value) {
  NodalField f = zero_field(model);
  entry(f, model.domain().node_index(node), unknown) = value;
  return f;
}

/// Options of a small analysis: one thread, a direct solver.
inline TransientOptions options_of(const std::string& method, const RayleighDamping& damping = {}) {
  TransientOptions options;
  options.backend = "openmp:1";
  options.solver = "direct";
  options.method = method;
  options.damping = damping;
  return options;
}

}  // namespace voussoir::testing
