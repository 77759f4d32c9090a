#include "validation/support.hpp"

#include <algorithm>
#include <map>

#include <voussoir/elements/quadrature/quadrature.hpp>
#include <voussoir/elements/shapes/shapes.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir::validation {

Position position(const Domain& domain, std::int32_t node) {
  const auto x = domain.coordinates().subspan(3 * static_cast<std::size_t>(node), 3);
  return {x[0], x[1], x[2]};
}

std::int32_t node_at(const Domain& domain, Position place) {
  std::int32_t best = 0;
  double least = 1e300;
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const Position x = position(domain, n);
    const double distance = std::hypot(x[0] - place[0], x[1] - place[1], x[2] - place[2]);
    if (distance < least) least = distance, best = n;
  }
  EXPECT_LT(least, 1e-9 * (1 + std::hypot(place[0], place[1], place[2])))
      << "no node at " << place[0] << ", " << place[1] << ", " << place[2];
  return best;
}

std::string only(Domain& domain, std::int32_t node) {
  const std::string name = "node " + std::to_string(domain.node_id(node));
  domain.add_node_set(name, {domain.node_id(node)});
  return name;
}

std::vector<std::int32_t> skin(const Domain& domain) {
  std::map<std::vector<std::int32_t>, int> count;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const ShapeTopology& shape = shape_topology(block.type().shape());
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (const ShapeFace& face : shape.faces) {
        std::vector<std::int32_t> nodes;
        for (int n : face.nodes) nodes.push_back(block.nodes(e)[n]);
        std::sort(nodes.begin(), nodes.end());
        ++count[nodes];
      }
  }
  std::vector<std::int32_t> all;
  for (const auto& [nodes, times] : count)
    if (times == 1) all.insert(all.end(), nodes.begin(), nodes.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void prescribe_field(Domain& domain, const std::vector<std::int32_t>& nodes, const std::vector<std::string>& names,
                     const std::function<std::vector<double>(const Position&)>& field) {
  for (std::int32_t n : nodes) {
    const std::vector<double> values = field(position(domain, n));
    const std::string set = only(domain, n);
    for (std::size_t i = 0; i < names.size(); ++i) domain.prescribe(set, names[i], values[i]);
  }
}

StepResult solve(const Domain& domain, const StaticOptions& options) {
  auto analysis = make_static_analysis(domain, options);
  std::vector<StepResult> results = analysis->run();
  return std::move(results.at(0));
}

double at_node(const Domain& domain, const StepResult& result, const std::string& name, std::int32_t node) {
  return nodal_values(domain, result.points, {name}).at(0).field.at(node, 0);
}

void expect_relative(double value, double expected, double tolerance, const std::string& what) {
  EXPECT_NEAR(value, expected, tolerance * std::abs(expected)) << what;
}

std::shared_ptr<Material> elastic(double young, double poisson, double density, double expansion) {
  return std::make_shared<IsotropicMaterial>("elastic", young, poisson, density, expansion);
}

std::shared_ptr<Material> conducting(double conductivity) {
  auto m = std::make_shared<Material>("conducting");
  m->set("conductivity", conductivity);
  return m;
}

void add_plane_traction(Domain& domain, LoadCase& load, const std::string& surface, double thickness,
                        const std::function<std::array<double, 2>(const Position&)>& traction) {
  std::map<std::int32_t, std::array<double, 2>> force;
  const auto rule = GaussLine<5>::make();
  for (const FaceRef& f : domain.surface(surface)) {
    const ElementBlock& block = domain.block(f.block);
    const ShapeFace& face = shape_topology(block.type().shape()).faces[f.face];
    for (int q = 0; q < 5; ++q) {
      double n[3], g[3][1];
      if (face.nodes.size() == 2) {
        Line2::values(rule.xi[q], n);
        Line2::gradients(rule.xi[q], g);
      } else {
        Line3::values(rule.xi[q], n);
        Line3::gradients(rule.xi[q], g);
      }
      Position x{0, 0, 0}, tangent{0, 0, 0};
      for (std::size_t a = 0; a < face.nodes.size(); ++a) {
        const Position p = position(domain, block.nodes(f.element)[face.nodes[a]]);
        for (int k = 0; k < 3; ++k) x[k] += n[a] * p[k], tangent[k] += g[a][0] * p[k];
      }
      const auto t = traction(x);
      const double area = thickness * rule.weight[q] * std::hypot(tangent[0], tangent[1]);
      for (std::size_t a = 0; a < face.nodes.size(); ++a)
        for (int k = 0; k < 2; ++k) force[block.nodes(f.element)[face.nodes[a]]][k] += n[a] * t[k] * area;
    }
  }
  for (const auto& [node, f] : force) load.nodal(only(domain, node), "ux", f[0]).nodal(only(domain, node), "uy", f[1]);
}

Id build_deep_beam(Domain& domain) {
  BoxMesh mesh;
  mesh.type = "solid.hex20";
  mesh.cells = {10, 2, 2};
  mesh.upper = {10, 2, 2};
  add_box_mesh(domain, mesh).set_material(elastic(200e9, 0.3, 8000));
  domain.add_node_set_where("ends", [](double x, double y, double) { return (x == 0 || x == 10) && y == 1; });
  domain.add_node_set_where("left", [](double x, double y, double) { return x == 0 && y == 1; });
  domain.add_node_set_where("middle", [](double, double, double z) { return z == 1; });
  domain.prescribe("ends", "uy");
  // The response is symmetric to the mid-planes of height and width: nothing is held that would move.
  domain.prescribe("left", "ux");
  domain.prescribe("middle", "uz");
  domain.add_load_case("load").gravity("", {0, -250e3 / 8000, 0});
  return domain.node_id(node_at(domain, {5, 1, 1}));
}

}  // namespace voussoir::validation
