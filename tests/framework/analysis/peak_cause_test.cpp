#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include <voussoir/framework/analysis/peak_cause.hpp>
#include <voussoir/framework/mesh/block_mesh.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

StepResult solve(Domain& domain) {
  StaticOptions options;
  options.backend = "openmp:1";
  options.solver = "direct";
  return make_static_analysis(domain, options)->run().front();
}

struct Found {
  PeakCause cause;
  std::array<double, 3> position{};  // of the cause
};

/// Why the largest stress of a solved domain is where it is.
Found look(Domain& domain, const std::vector<std::int32_t>& loaded = {}) {
  const StepResult result = solve(domain);
  const auto largest = nodal_stress(domain, result).front().field.largest("mises");
  const StressPeak peak = find_peak_cause(domain, result, estimate_error(domain, result.points), largest.node, loaded);
  if (peak.node < 0) return {peak.cause};
  return {peak.cause, domain.node(domain.node_id(peak.node)).position};
}

void set_steel(Domain& domain) {
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    domain.block(b).set_material(std::make_shared<IsotropicMaterial>("steel", 200, 0.3));
}

/// An L of three squares (cubes), held at the end of one leg and pulled at that of the other.
void add_bracket(Domain& domain, const std::string& type, int dim) {
  BlockMesh body(dim);
  if (dim == 3) {
    body.add_box({0, 0, 0}, {1, 1, 1}, "L");
    body.add_box({1, 0, 0}, {2, 1, 1}, "L");
    body.add_box({0, 1, 0}, {1, 2, 1}, "L");
  } else {
    for (const auto& p : {std::array{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}})
      body.add_block({{p[0], p[1], 0}, {p[0] + 1, p[1], 0}, {p[0] + 1, p[1] + 1, 0}, {p[0], p[1] + 1, 0}}, "L");
  }
  body.name_sides_where("top", [](double, double y, double) { return y == 2; });
  body.name_sides_where("tip", [](double x, double, double) { return x == 2; });
  body.refine_to_size(0.25);
  body.fill(domain, type);
  set_steel(domain);
  domain.prescribe("top", "all");
  domain.add_load_case("pull").traction("tip", {0, -1, 0});
}

TEST(PeakCause, IsAReEntrantCorner) {
  for (const auto& [type, dim] : {std::pair{"plane_strain.quad4", 2},
                                  {"plane_strain.tri6", 2},
                                  {"solid.hex8", 3},
                                  {"solid.tet10", 3},
                                  {"solid.wedge6", 3}}) {
    Domain domain;
    add_bracket(domain, type, dim);
    const Found found = look(domain);
    EXPECT_EQ(found.cause, PeakCause::re_entrant_corner)
        << type << " at " << found.position[0] << " " << found.position[1];
    EXPECT_NEAR(found.position[0], 1, 1e-9) << type;
    EXPECT_NEAR(found.position[1], 1, 1e-9) << type;
  }
}

TEST(PeakCause, AHoleIsNoCorner) {
  // The largest stress stands at the edge of the hole, on a line of symmetry, and converges.
  for (const char* type : {"plane_stress.quad4", "plane_stress.quad8", "plane_stress.tri3"}) {
    PlateModel model;
    model.type = type;
    model.fineness = {0, 1500};
    Domain domain;
    add_plate_model(domain, model);
    const Found found = look(domain);
    EXPECT_EQ(found.cause, PeakCause::none) << type << " at " << found.position[0] << " " << found.position[1];
  }
}

TEST(PeakCause, IsTheEdgeOfAClampedFace) {
  for (const char* type : {"solid.hex8", "plane_strain.quad8"}) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {16, 4, 4};
    mesh.upper = {4, 1, 1};
    add_box_mesh(domain, mesh);
    set_steel(domain);
    domain.prescribe("xmin", "all");
    domain.add_load_case("tip").traction("xmax", {0, -1, 0});
    const Found found = look(domain);
    EXPECT_EQ(found.cause, PeakCause::support_edge) << type;
    EXPECT_EQ(found.position[0], 0) << type;
  }
}

/// A block that a force presses on its top.
Domain& pressed_block(Domain& domain, const std::vector<std::array<double, 2>>& at, std::vector<std::int32_t>& loaded) {
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {4, 4, 4};
  add_box_mesh(domain, mesh);
  set_steel(domain);
  domain.prescribe("zmin", "uz");
  domain.prescribe("xmin", "ux");
  domain.prescribe("ymin", "uy");
  LoadCase& load = domain.add_load_case("press");
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const auto p = domain.node(domain.node_id(n)).position;
    for (const auto& place : at)
      if (p[2] == 1 && p[0] == place[0] && p[1] == place[1]) {
        load.nodal_at(domain.node_id(n), "uz", -1);
        loaded.push_back(n);
      }
  }
  std::sort(loaded.begin(), loaded.end());
  return domain;
}

TEST(PeakCause, IsAForceOnAPointOrLineButNotOnAnArea) {
  std::vector<std::int32_t> loaded;
  Domain point;
  EXPECT_EQ(look(pressed_block(point, {{0.5, 0.5}}, loaded), loaded).cause, PeakCause::point_load);
  loaded.clear();
  Domain line;
  EXPECT_EQ(look(pressed_block(line, {{0.5, 0.25}, {0.5, 0.5}, {0.5, 0.75}}, loaded), loaded).cause,
            PeakCause::point_load);
  loaded.clear();
  Domain area;
  EXPECT_NE(look(pressed_block(area, {{0.5, 0.5}, {0.5, 0.75}, {0.75, 0.5}, {0.75, 0.75}}, loaded), loaded).cause,
            PeakCause::point_load);
}

TEST(PeakCause, IsASupportOfAPointOrWhereASupportEndsOnAFlatSide) {
  const auto block_on = [](const std::function<bool(double, double)>& held) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = "plane_stress.quad4";
    mesh.cells = {8, 8, 1};
    add_box_mesh(domain, mesh);
    set_steel(domain);
    domain.prescribe("xmin", "ux");
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const auto p = domain.node(domain.node_id(n)).position;
      if (held(p[0], p[1])) domain.prescribe_at(domain.node_id(n), "uy");
    }
    domain.add_load_case("press").traction("ymax", {0, -1, 0});
    return look(domain).cause;
  };
  EXPECT_EQ(block_on([](double x, double y) { return y == 0 && x == 0; }), PeakCause::point_support);
  EXPECT_EQ(block_on([](double x, double y) { return y == 0 && x <= 0.5; }), PeakCause::support_edge);
  EXPECT_EQ(block_on([](double, double y) { return y == 0; }), PeakCause::none) << "the stress is the same everywhere";
}

}  // namespace
}  // namespace voussoir
