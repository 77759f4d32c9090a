#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include <voussoir/framework/analysis/probe.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

StepResult solve(Domain& domain) {
  StaticOptions options;
  options.backend = "openmp:1";
  options.solver = "direct";
  return make_static_analysis(domain, options)->run().front();
}

void set_steel(Domain& domain, double poisson = 0.0) {
  auto steel = std::make_shared<IsotropicMaterial>("steel", 200, poisson);
  steel->set("conductivity", 3);
  for (std::size_t b = 0; b < domain.block_count(); ++b) domain.block(b).set_material(steel);
}

TEST(PointLocator, FindsEveryPointOfABentBodyInEveryShape) {
  for (const char* type : {"plane_stress.tri3", "plane_stress.tri6", "plane_stress.quad4", "plane_stress.quad8",
                           "solid.tet4", "solid.tet10", "solid.wedge6", "solid.wedge15", "solid.hex8", "solid.hex20"}) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {6, 3, 2};
    mesh.upper = {3, 1, 1};
    mesh.map = [](double x, double y, double z) {  // a quarter of a ring
      const double angle = 0.5 * x;
      return std::array<double, 3>{(2 + y) * std::cos(angle), (2 + y) * std::sin(angle), z};
    };
    mesh.distortion = 0.1;
    add_box_mesh(domain, mesh);
    set_steel(domain);
    const PointLocator locator(domain);
    // Points that shape functions put into each element are found there again.
    double n[27];
    for (std::int32_t e = 0; e < domain.block(0).size(); ++e)
      for (const std::array<double, 3> xi : {std::array{0.2, 0.3, 0.1}, {0.6, 0.1, 0.2}, {0.1, 0.05, 0.7}}) {
        const auto inside = locator.functions(0).clamped(xi);
        locator.functions(0).values(inside, n);
        std::array<double, 3> p{};
        for (int a = 0; a < domain.block(0).nodes_per_element(); ++a)
          for (int k = 0; k < 3; ++k) p[k] += n[a] * domain.coordinates()[3 * domain.block(0).nodes(e)[a] + k];
        const auto found = locator.find(p);
        ASSERT_EQ(found.size(), 1u) << type << " element " << e;
        ASSERT_EQ(found[0].element.element, e) << type;
        for (int k = 0; k < 3; ++k) ASSERT_NEAR(found[0].xi[k], inside[k], 1e-8) << type;
      }
    for (std::int32_t i = 0; i < domain.node_count(); ++i) {
      const double* x = &domain.coordinates()[3 * i];
      ASSERT_FALSE(locator.find({x[0], x[1], x[2]}).empty()) << type << " node " << i;
    }
    EXPECT_TRUE(locator.find({0, 0, 0}).empty()) << type;
    // The ring begins at radius 2; facets of linear elements cut it a little short.
    EXPECT_NEAR(locator.distance({0, 0, 0}), 2, 0.03) << type;
  }
}

TEST(Probe, InterpolatesWithTheShapeFunctions) {
  // A bar that bends: u is a polynomial that quadratic elements hold exactly.
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex20";
  mesh.cells = {4, 2, 2};
  mesh.upper = {4, 1, 1};
  add_box_mesh(domain, mesh);
  set_steel(domain);
  // Pure bending with ν = 0: ux = c x y, uy = −c x² / 2, σxx = E c y.
  const double c = 0.01;
  for (const char* side : {"xmin", "xmax"})
    for (const std::int32_t n : domain.node_set(side)) {
      const auto p = domain.node(domain.node_id(n)).position;
      domain.prescribe_at(domain.node_id(n), "ux", c * p[0] * p[1]);
      domain.prescribe_at(domain.node_id(n), "uy", -0.5 * c * p[0] * p[0]);
      domain.prescribe_at(domain.node_id(n), "uz", 0);
    }
  const StepResult result = solve(domain);
  const PointLocator locator(domain);
  const Probe probe(locator, result);
  for (const std::array<double, 3> p :
       {std::array{0.3, 0.21, 0.4}, {2.0, 0.5, 0.5}, {3.9, 0.99, 0.01}, {1.234, 0.0, 1.0}}) {
    const auto values = probe.at(p);
    ASSERT_EQ(values.size(), 1u);
    const auto value = [&](const char* name) { return values[0].values[probe.index(name)]; };
    EXPECT_NEAR(value("ux"), c * p[0] * p[1], 1e-12);
    EXPECT_NEAR(value("uy"), -0.5 * c * p[0] * p[0], 1e-12);
    EXPECT_NEAR(value("sxx"), 200 * c * p[1], 1e-10);
    EXPECT_NEAR(value("sxy"), 0, 1e-10);
    EXPECT_NEAR(value("mises"), 200 * c * p[1], 1e-9);
    EXPECT_NEAR(value("principal1"), 200 * c * p[1], 1e-9);
    EXPECT_EQ(values[0].material, "steel");
    EXPECT_GT(values[0].element, 0);
  }
  ProbePath path{"A", {0, 0.5, 0.5}, {4, 0.5, 0.5}, 9, ""};
  const auto along = probe.along(path);
  ASSERT_EQ(along.size(), 9u);
  EXPECT_DOUBLE_EQ(along[4].distance, 2);
  for (const auto& v : along) EXPECT_NEAR(v.values[probe.index("ux")], c * v.position[0] * 0.5, 1e-12);
  expect_error(ErrorCode::not_found, {"sxxx", "mises"}, [&] { probe.index("sxxx"); });
}

TEST(Probe, SaysHowFarAPointIsOutside) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {2, 2, 2};
  add_box_mesh(domain, mesh);
  set_steel(domain);
  domain.prescribe("xmin", "all");
  const StepResult result = solve(domain);
  const PointLocator locator(domain);
  const Probe probe(locator, result);
  expect_error(ErrorCode::bad_input, {"(1.5, 0.5, 0.5)", "outside", "0.5 away"}, [&] { probe.at({1.5, 0.5, 0.5}); });
  expect_error(ErrorCode::bad_input, {"outside", "5 away"}, [&] { probe.at({4, 5, 0.5}); });  // the corner (1, 1): 3, 4
  EXPECT_NO_THROW(probe.at({1 + 1e-9, 0.5, 0.5})) << "rounding is not outside";
  // A path that leaves the body keeps what is inside; one that never enters is an error.
  EXPECT_EQ(probe.along({"A", {0.5, 0.5, 0.5}, {2.5, 0.5, 0.5}, 5, ""}).size(), 2u);
  expect_error(ErrorCode::bad_input, {"--path X", "outside", "1 away"}, [&] {
    probe.along({"A", {2, 0, 0}, {2, 1, 0}, 5, "--path X"});
  });
  expect_error(ErrorCode::bad_input, {"P", "outside", "2 away"}, [&] {
    check_probe({&locator}, ProbePoint{"P", {0, 0, 3}, "P"});
  });
  expect_error(ErrorCode::bad_input, {"two different ends"}, [&] {
    check_probe({&locator}, ProbePath{"A", {0, 0, 0}, {0, 0, 0}, 5, ""});
  });
  expect_error(ErrorCode::bad_input, {"two points"}, [&] {
    check_probe({&locator}, ProbePath{"A", {0, 0, 0}, {1, 0, 0}, 1, ""});
  });
}

TEST(Probe, HasBothSidesOfABorderOfMaterials) {
  // Two squares on top of each other, stretched sideways alike: σ = E ε on each side.
  Domain domain;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) domain.add_node(1 + 2 * i + j, j, i);
  for (const auto& [name, young, element] : {std::tuple{"soft", 100.0, 1}, {"hard", 700.0, 2}}) {
    ElementBlock& block = domain.add_block(name, "plane_stress.quad4");
    block.set_material(std::make_shared<IsotropicMaterial>(name, young, 0.0));
    const Id first = 2 * element - 1;
    block.add(element, {first, first + 1, first + 3, first + 2});
  }
  for (Id n = 1; n <= 6; ++n) {
    domain.prescribe_at(n, "ux", n % 2 == 0 ? 0.01 : 0);
    domain.prescribe_at(n, "uy");
  }
  const StepResult result = solve(domain);
  const PointLocator locator(domain);
  const Probe probe(locator, result);
  const auto sides = probe.at({0.5, 1, 0});
  ASSERT_EQ(sides.size(), 2u);
  EXPECT_EQ(sides[0].material, "hard");
  EXPECT_EQ(sides[0].element, 2);
  EXPECT_NEAR(sides[0].values[probe.index("sxx")], 7, 1e-12);
  EXPECT_EQ(sides[1].material, "soft");
  EXPECT_NEAR(sides[1].values[probe.index("sxx")], 1, 1e-12);
  EXPECT_NEAR(sides[0].values[probe.index("ux")], 0.005, 1e-15);
  EXPECT_EQ(probe.along({"A", {0.5, 0, 0}, {0.5, 2, 0}, 5, ""}).size(), 6u) << "the middle one twice";
}

TEST(Probe, KnowsTemperaturesAndFluxes) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "axisymmetric_heat.quad8";
  mesh.cells = {4, 1, 1};
  mesh.lower = {1, 0, 0};
  mesh.upper = {2, 1, 0};
  add_box_mesh(domain, mesh);
  set_steel(domain);
  domain.prescribe("ymin", "T", 20);
  domain.prescribe("ymax", "T", 80);
  const StepResult result = solve(domain);
  const PointLocator locator(domain);
  const Probe probe(locator, result);
  EXPECT_EQ(probe.names(), (std::vector<std::string>{"T", "qx", "qy", "qz", "flux"}));
  const auto values = probe.at({1.3, 0.25, 0}).front().values;
  EXPECT_NEAR(values[probe.index("T")], 35, 1e-10);
  EXPECT_NEAR(values[probe.index("qy")], -180, 1e-9);
  EXPECT_NEAR(values[probe.index("flux")], 180, 1e-9);
}

TEST(Probe, FollowsBeams) {
  // A cantilever of two beams with a force at its end: Mz falls to zero there.
  Domain domain;
  for (int i = 0; i < 3; ++i) domain.add_node(i + 1, i, 0, 0);
  ElementBlock& beam = domain.add_block("beam", "beam");
  beam.set_material(std::make_shared<IsotropicMaterial>("steel", 200, 0.3));
  for (const auto& [name, value] : {std::pair{"area", 1.0},
                                    {"shear_modulus", 80.0},
                                    {"inertia_y", 1.0},
                                    {"inertia_z", 1.0},
                                    {"torsion", 1.0},
                                    {"shear_area_y", 0.0},
                                    {"shear_area_z", 0.0},
                                    {"orientation_x", 0.0},
                                    {"orientation_y", 1.0},
                                    {"orientation_z", 0.0}})
    beam.set_section(name, value);
  beam.add(1, {1, 2});
  beam.add(2, {2, 3});
  domain.prescribe_at(1, "all");
  domain.add_load_case("tip").nodal_at(3, "uy", -5);
  const StepResult result = solve(domain);
  const PointLocator locator(domain);
  const Probe probe(locator, result);
  const std::size_t mz = probe.index("Mz"), vy = probe.index("Vy");
  const auto start = probe.at({0, 0, 0}).front(), middle = probe.at({0.5, 0, 0}).front(),
             end = probe.at({2, 0, 0}).front();
  EXPECT_NEAR(std::abs(start.values[mz]), 10, 1e-9);
  EXPECT_NEAR(middle.values[mz], 0.75 * start.values[mz], 1e-9);
  EXPECT_NEAR(end.values[mz], 0, 1e-9);
  EXPECT_NEAR(std::abs(end.values[vy]), 5, 1e-9);
  expect_error(ErrorCode::bad_input, {"0.25 away"}, [&] { probe.at({1, 0.25, 0}); });
}

}  // namespace
}  // namespace voussoir
