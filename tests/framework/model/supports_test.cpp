// Supports along directions, nodes that only equations know, and the forces that both are told by.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

/// A bar of one element along x, 2 long with a section of 1 × 1; ends "xmin" and "xmax".
void build_bar(Domain& domain) {
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {2, 1, 1};
  mesh.upper = {2, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.0));
}

StepResult solve(const Domain& domain, const StaticOptions& options = {}) {
  return make_static_analysis(domain, options)->run().front();
}

/// A truss of two bars that meet on a roller inclined by 30°: statics alone gives all forces.
void build_roller(Domain& domain) {
  domain.add_node(1, 0, 0, 0);
  domain.add_node(2, 3, 0, 0);
  domain.add_node(3, 0, 4, 0);
  auto& bars = domain.add_block("bars", "truss");
  bars.set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3));
  bars.set_section("area", 1);
  bars.add(1, {1, 2});
  bars.add(2, {3, 2});
  domain.add_node_set("walls", {1, 3});
  domain.add_node_set("roller", {2});
  domain.prescribe("walls", "all");
  domain.prescribe("roller", "uz");
  domain.prescribe_along(2, {std::sin(std::numbers::pi / 6), std::cos(std::numbers::pi / 6), 0});
  domain.add_load_case("push").nodal("roller", "ux", 10);
}

TEST(ObliqueSupport, HoldsItsDirectionAloneAndTellsItsReaction) {
  Domain domain;
  build_roller(domain);
  for (const char* handler : {"transformation", "penalty"}) {
    StaticOptions options;
    options.constraints = handler;
    const double exact = std::string(handler) == "penalty" ? 1e-6 : 1e-12;
    const StepResult r = solve(domain, options);
    const std::int32_t node = domain.node_index(2);
    const double c = std::cos(std::numbers::pi / 6), s = 0.5;
    const double ux = r.unknowns.at(node, "ux"), uy = r.unknowns.at(node, "uy");
    EXPECT_NEAR(s * ux + c * uy, 0, exact * std::abs(ux)) << handler;
    // Along the roller t = (c, −s): (k₁ (e₁·t)² + k₂ (e₂·t)²) q = 10 c, e₁ = (1, 0), e₂ = (0.6, −0.8).
    const double along = 0.6 * c + 0.8 * s;
    const double q = 10 * c / (1000.0 / 3 * c * c + 1000.0 / 5 * along * along);
    EXPECT_NEAR(ux, q * c, exact * 10 * q) << handler;
    // The roller pushes across itself, and all forces balance.
    const double rx = r.reactions.at(node, "ux"), ry = r.reactions.at(node, "uy");
    EXPECT_NEAR(rx * c - ry * s, 0, 1e-5) << handler;
    EXPECT_GT(std::hypot(rx, ry), 0.1) << handler;
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(r.load_sum[k] + r.reaction_sum[k], 0, 1e-4) << handler << k;
    // What the elements resist with is load plus reaction.
    EXPECT_NEAR(r.internal_forces.at(node, "ux"), 10 + rx, 1e-5) << handler;
    EXPECT_NEAR(r.internal_forces.at(node, "uy"), ry, 1e-5) << handler;
  }
}

TEST(ObliqueSupport, IsTakenOffWithTheOtherSupports) {
  Domain domain;
  build_roller(domain);
  EXPECT_EQ(domain.oblique_supports().size(), 1u);
  domain.clear_supports();
  EXPECT_TRUE(domain.oblique_supports().empty());
}

TEST(ObliqueSupport, WrongOnesAreRefused) {
  Domain domain;
  build_roller(domain);
  expect_error(ErrorCode::bad_input, {"node 2", "is zero"}, [&] { domain.prescribe_along(2, {0, 0, 0}); });
  expect_error(ErrorCode::bad_input, {"node 2", "finite"}, [&] { domain.prescribe_along(2, {1, NAN, 0}); });
  expect_error(ErrorCode::not_found, {"9"}, [&] { domain.prescribe_along(9, {1, 1, 0}); });
  expect_error(ErrorCode::bad_input, {"node 2", "finite"}, [&] { domain.prescribe_at(2, "ux", INFINITY); });
  Domain plane;
  BoxMesh mesh;
  mesh.type = "plane_stress.quad4";
  add_box_mesh(plane, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3));
  plane.prescribe("xmin", "all");
  plane.prescribe_along(2, {1, 0, 1});
  expect_error(ErrorCode::bad_input, {"node 2", "oblique support", "uz"}, [&] { solve(plane); });
}

TEST(EquationNode, LeadsOthersThoughNoElementUsesIt) {
  // The end of the bar follows node 100, which is pulled: u = F L / (E A).
  Domain domain;
  build_bar(domain);
  domain.prescribe("xmin", "all");
  domain.add_node(100, 5, 0, 0);
  for (std::int32_t n : domain.node_set("xmax")) domain.add_equation({{domain.node_id(n), "ux", 1}, {100, "ux", -1}});
  domain.add_load_case("pull").nodal_at(100, "ux", 10);
  for (const char* solver : {"direct", "cg+block-jacobi"}) {
    StaticOptions options;
    options.solver = solver;
    options.relative_tolerance = 1e-12;
    const StepResult r = solve(domain, options);
    EXPECT_NEAR(r.unknowns.at(domain.node_index(100), "ux"), 10 * 2 / 1000.0, 1e-10) << solver;
    EXPECT_NEAR(r.reaction_sum[0], -10, 1e-9) << solver;
    EXPECT_NEAR(r.internal_forces.at(domain.node_index(100), "ux"), 10, 1e-9) << solver;
  }
}

TEST(EquationNode, TellsTheReactionOfWhatItLeads) {
  Domain domain;
  build_bar(domain);
  domain.prescribe("xmin", "all");
  domain.add_node(100, 5, 0, 0);
  for (std::int32_t n : domain.node_set("xmax")) domain.add_equation({{domain.node_id(n), "ux", 1}, {100, "ux", -1}});
  domain.prescribe_at(100, "ux", 0.02);
  const StepResult r = solve(domain);
  const std::int32_t lead = domain.node_index(100);
  EXPECT_NEAR(r.reactions.at(lead, "ux"), 0.02 * 1000 / 2, 1e-9);  // E A u / L
  EXPECT_NEAR(r.internal_forces.at(lead, "ux"), 0.02 * 1000 / 2, 1e-9);
  EXPECT_NEAR(r.reaction_sum[0], 0, 1e-9);
}

TEST(EquationNode, ARigidEndTurnsAboutItsReferenceNode) {
  // The end section follows a reference node (100) that moves and a second one (101) whose "displacements" are the
  // rotation. A moment about z bends the bar (ν = 0, incompatible modes): φ = M L / (E I).
  Domain domain;
  build_bar(domain);
  domain.prescribe("xmin", "all");
  domain.add_node(100, 2, 0.5, 0.5);
  domain.add_node(101, 2, 0.5, 0.5);
  for (std::int32_t n : domain.node_set("xmax")) {
    const Id id = domain.node_id(n);
    const Node at = domain.node(id);
    const double y = at.position[1] - 0.5, z = at.position[2] - 0.5;
    domain.add_equation({{id, "ux", 1}, {100, "ux", -1}, {101, "uy", -z}, {101, "uz", y}});
    domain.add_equation({{id, "uy", 1}, {100, "uy", -1}, {101, "ux", z}});
    domain.add_equation({{id, "uz", 1}, {100, "uz", -1}, {101, "ux", -y}});
  }
  domain.add_load_case("bend").nodal_at(101, "uz", 3);
  const StepResult r = solve(domain);
  const double angle = 3 * 2 / (1000.0 / 12);
  EXPECT_NEAR(r.unknowns.at(domain.node_index(101), "uz"), angle, 1e-9);
  EXPECT_NEAR(r.unknowns.at(domain.node_index(100), "uy"), angle * 2 / 2, 1e-9);  // M L² / (2 E I)
}

TEST(EquationNode, UnknownsThatNothingNamesAreHeld) {
  // Only uz of node 100 is named: its ux and uy have no stiffness and must not make the system singular.
  Domain domain;
  build_bar(domain);
  domain.prescribe("xmin", "all");
  domain.add_node(100, 5, 0, 0);
  for (std::int32_t n : domain.node_set("xmax")) domain.add_equation({{domain.node_id(n), "uz", 1}, {100, "uz", -1}});
  domain.add_load_case("pull").nodal_at(100, "uz", 1);
  const StepResult r = solve(domain);
  EXPECT_EQ(r.unknowns.at(domain.node_index(100), "ux"), 0);
  EXPECT_GT(r.unknowns.at(domain.node_index(100), "uz"), 0);
}

TEST(InternalForces, AreWhatLoadsAndReactionsSumTo) {
  Domain domain;
  build_bar(domain);
  domain.prescribe("xmin", "all");
  domain.add_load_case("side").traction("xmax", {7, 0, 2});
  const StepResult r = solve(domain);
  double end = 0, foot = 0;
  for (std::int32_t n : domain.node_set("xmax")) end += r.internal_forces.at(n, "ux");
  for (std::int32_t n : domain.node_set("xmin")) foot += r.internal_forces.at(n, "uz");
  EXPECT_NEAR(end, 7, 1e-9);
  EXPECT_NEAR(foot, -2, 1e-9);
}

}  // namespace
}  // namespace voussoir
