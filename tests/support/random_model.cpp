#include "support/random_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include <voussoir/framework/mesh/structured_mesh.hpp>

namespace voussoir::testing {
namespace {

using Term = Domain::EquationTerm;

/// Draws that do not depend on the standard library: distributions may differ between implementations.
struct Dice {
  std::mt19937 engine;
  double number(double low, double high) { return low + (high - low) * (engine() / 4294967296.0); }
  int below(int count) { return static_cast<int>(engine() % static_cast<std::uint32_t>(count)); }
  bool chance(double p) { return number(0, 1) < p; }
  /// Of either sign, its size spread over several powers of ten.
  double coefficient() {
    const double size = std::pow(10.0, number(-2, 2));
    return chance(0.5) ? size : -size;
  }
};

struct Builder {
  Domain& domain;
  const RandomModelOptions& options;
  Dice dice;
  std::vector<std::string> unknowns;
  std::string text;
  std::vector<std::pair<std::vector<Term>, double>> equations;

  void add_equation(std::vector<Term> terms, double constant = 0) {
    for (std::size_t i = terms.size(); i > 1; --i) std::swap(terms[i - 1], terms[dice.below(static_cast<int>(i))]);
    equations.emplace_back(std::move(terms), constant);
  }

  Id random_node(const std::string& set) {
    const auto nodes = domain.node_set(set);
    return domain.node_id(nodes[dice.below(static_cast<int>(nodes.size()))]);
  }
  const std::string& random_unknown() { return unknowns[dice.below(static_cast<int>(unknowns.size()))]; }

  BoxMesh mesh_of_first() {
    static const char* const types[] = {"solid.hex8", "solid.tet4", "solid.wedge6", "plane_stress.quad4"};
    BoxMesh mesh;
    mesh.type = types[dice.below(4)];
    const bool plane = mesh.type == types[3];
    unknowns = plane ? std::vector<std::string>{"ux", "uy"} : std::vector<std::string>{"ux", "uy", "uz"};
    mesh.cells = {1 + dice.below(3), 1 + dice.below(2), plane ? 1 : 1 + dice.below(2)};
    mesh.upper = {dice.number(0.5, 3), dice.number(0.5, 2), plane ? 1.0 : dice.number(0.5, 2)};
    mesh.distortion = dice.chance(0.5) ? 0.15 : 0.0;
    mesh.block = "first";
    mesh.set_prefix = "a ";
    text += mesh.type;
    return mesh;
  }

  void fill(const BoxMesh& mesh) {
    auto& block = add_box_mesh(domain, mesh);
    block.set_material(
        std::make_shared<IsotropicMaterial>("material of " + mesh.block, dice.number(500, 2000), 0.3, 1));
    if (unknowns.size() == 2) block.set_section("thickness", 1);
  }

  /// The last body: it has the face that is loaded.
  std::string add_bodies() {
    BoxMesh mesh = mesh_of_first();
    fill(mesh);
    if (!options.several_bodies || !dice.chance(0.5)) return "a ";
    text += ", two bodies";
    // The same cells across, so that faces match; without distortion there, so that nodes do.
    const double end = mesh.upper[0];
    mesh.lower[0] = end;
    mesh.upper[0] = end + 1;
    mesh.cells[0] = 1;
    mesh.distortion = 0;
    mesh.block = "second";
    mesh.set_prefix = "b ";
    fill(mesh);
    const auto x = domain.coordinates();
    const auto at = [&](std::int32_t n) { return &x[3 * static_cast<std::size_t>(n)]; };
    for (const std::int32_t n : domain.node_set("b xmin")) {
      std::int32_t nearest = -1;
      double least = 1e30;
      for (const std::int32_t m : domain.node_set("a xmax")) {
        const double distance = std::hypot(at(n)[1] - at(m)[1], at(n)[2] - at(m)[2]);
        if (distance < least) least = distance, nearest = m;
      }
      const double factor = dice.coefficient();
      for (const std::string& u : unknowns)
        add_equation({{domain.node_id(n), u, factor}, {domain.node_id(nearest), u, -factor}});
    }
    return "b ";
  }

  void add_rigid_face(const std::string& face) {
    text += ", rigid face";
    const auto x = domain.coordinates();
    const auto members = domain.node_set(face);
    const std::array<double, 3> origin{x[3 * static_cast<std::size_t>(members[0])] + 0.5,
                                       x[3 * static_cast<std::size_t>(members[0]) + 1] + 0.2, 0.1};
    domain.add_node(9001, origin[0], origin[1], origin[2]);
    domain.add_node(9002, origin[0], origin[1], origin[2]);
    domain.set_rotation_node(9002, 9001);
    for (const std::int32_t n : members) {
      const double* p = &domain.coordinates()[3 * static_cast<std::size_t>(n)];
      const double r[3] = {p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]};
      for (std::size_t k = 0; k < unknowns.size(); ++k) {
        std::vector<Term> terms{{domain.node_id(n), unknowns[k], 1}, {9001, unknowns[k], -1}};
        if (unknowns.size() == 2) {
          terms.push_back({9002, "ux", k == 0 ? r[1] : -r[0]});
        } else {
          const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
          terms.push_back({9002, unknowns[i], -r[j]});
          terms.push_back({9002, unknowns[j], r[i]});
        }
        std::erase_if(terms, [](const Term& t) { return t.coefficient == 0; });
        add_equation(terms);
      }
    }
    if (dice.chance(0.3)) domain.prescribe_at(9002, "ux", 0.01);
  }

  void add_supports(const std::string& last) {
    if (options.loose && dice.chance(0.2)) {
      text += ", loose";
      domain.prescribe_at(random_node("a xmin"), "all");
    } else {
      domain.prescribe("a xmin", "all");
    }
    if (dice.chance(0.4)) domain.prescribe_at(random_node(last + "xmax"), random_unknown(), dice.number(-0.05, 0.05));
    if (!options.oblique) return;
    for (int i = dice.below(3); i > 0; --i) {
      text += ", oblique";
      std::array<double, 3> direction{dice.number(-1, 1), dice.number(-1, 1), dice.number(-1, 1)};
      if (unknowns.size() == 2) direction[2] = 0;
      domain.prescribe_along(random_node(last + "ymax"), direction, dice.chance(0.3) ? 0.01 : 0.0);
    }
  }

  void add_random_equations(const std::string& last) {
    for (int i = dice.below(4); i > 0; --i) {
      text += ", equation";
      std::vector<Term> terms;
      for (int k = 2 + dice.below(4); k > 0; --k)
        terms.push_back(
            {random_node(dice.chance(0.5) ? last + "xmax" : "a zmin"), random_unknown(), dice.coefficient()});
      add_equation(std::move(terms), dice.chance(0.4) ? dice.number(-0.02, 0.02) : 0.0);
    }
  }

  /// A combination of two equations that are there.
  void add_redundant() {
    if (equations.size() < 2) return;
    text += ", redundant";
    const auto a = equations[dice.below(static_cast<int>(equations.size()))];
    const auto b = equations[dice.below(static_cast<int>(equations.size()))];
    const double s = dice.coefficient(), t = dice.coefficient();
    std::vector<Term> terms;
    for (const Term& term : a.first) terms.push_back({term.node, term.unknown, s * term.coefficient});
    for (const Term& term : b.first) terms.push_back({term.node, term.unknown, t * term.coefficient});
    double constant = s * a.second + t * b.second;
    if (options.contradictory && dice.chance(0.3)) {
      text += ", contradictory";
      constant += std::abs(s) + std::abs(t);
    }
    add_equation(std::move(terms), constant);
  }
};

}  // namespace

std::string RandomModel::build(Domain& domain, bool constrained) const {
  Builder b{domain, options_, {std::mt19937(seed_)}, {}, {}, {}};
  const std::string last = b.add_bodies();
  const bool plane = b.unknowns.size() == 2;
  domain.add_load_case("push").traction(last + "xmax", {b.dice.number(-1, 1), b.dice.number(-1, 1), plane ? 0.0 : 0.5});
  domain.add_load_case("weight").gravity("", {0, -0.1, 0});
  if (!constrained) return b.text;
  if (plane) domain.add_node_set("a zmin", std::vector<Id>{b.random_node("a ymin")});
  if (options_.rigid_body && b.dice.chance(0.4)) b.add_rigid_face(last + "xmax");
  b.add_supports(last);
  if (options_.equations) b.add_random_equations(last);
  if (options_.redundant && b.dice.chance(0.5)) b.add_redundant();
  for (std::size_t i = b.equations.size(); i > 1; --i)
    std::swap(b.equations[i - 1], b.equations[b.dice.below(static_cast<int>(i))]);
  for (auto& [terms, constant] : b.equations) domain.add_equation(terms, constant);
  return "seed " + std::to_string(seed_) + ": " + b.text;
}

}  // namespace voussoir::testing
