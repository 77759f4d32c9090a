// Trusses, beams, springs and masses against closed forms, alone and together with solids.
#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

/// Popov, Engineering Mechanics of Solids: three bars from one joint, a load that hangs from it.
TEST(PopovTruss, ForcesAndDeflection) {
  const double area = 10, young = 3000, length = 200, alpha = pi / 6, load = 200;
  Domain domain;
  domain.add_node(1, 0, 0);
  domain.add_node(2, 0, length);
  domain.add_node(3, -length * std::tan(alpha), length);
  domain.add_node(4, length * std::tan(alpha), length);
  ElementBlock& bars = domain.add_block("bars", "truss");
  bars.set_material(elastic(young, 0.3)).set_section("area", area);
  bars.add(1, {1, 2});
  bars.add(2, {1, 3});
  bars.add(3, {1, 4});
  domain.add_node_set("top", {2, 3, 4});
  domain.add_node_set("joint", {1});
  domain.prescribe("top", "all");
  domain.prescribe("joint", "uz");
  domain.add_load_case("hang").nodal("joint", "uy", -load);
  const StepResult result = solve(domain);
  const double c = std::cos(alpha), f1 = load / (2 * c * c * c + 1), f2 = f1 * c * c;
  expect_relative(result.unknowns.at(0, "uy"), -f1 * length / (area * young), 1e-12);
  EXPECT_NEAR(result.unknowns.at(0, "ux"), 0, 1e-14);
  const PointField& forces = result.points.at(0);
  expect_relative(forces.at(0, 0, "N"), f1, 1e-12);
  expect_relative(forces.at(1, 0, "N"), f2, 1e-12);
  expect_relative(forces.at(2, 0, "N"), f2, 1e-12);
  expect_relative(result.reactions.at(1, "uy"), f1, 1e-12);
  expect_relative(result.reaction_sum[1], load, 1e-12);
}

/// A quarter ring of beams under a radial load at its end: bending alone gives π F R³ / (4 E I) (Castigliano).
TEST(BeamFrame, QuarterRing) {
  const double radius = 4.22, young = 1e7, width = 0.1, depth = 0.2, area = width * depth;
  const int parts = 64;
  Domain domain;
  for (int i = 0; i <= parts; ++i) {
    const double t = 0.5 * pi * i / parts;
    domain.add_node(i + 1, radius * std::cos(t), radius * std::sin(t));
  }
  ElementBlock& block = domain.add_block("ring", "beam");
  block.set_material(elastic(young, 0.25));
  // Local y points across the ring, so local z lies in its plane: the depth resists bending about y.
  const double inertia = width * depth * depth * depth / 12;
  block.set_section("shear_modulus", young / 2.5).set_section("area", area).set_section("torsion", 4.58e-5);
  block.set_section("inertia_y", inertia).set_section("inertia_z", depth * width * width * width / 12);
  block.set_section("shear_area_y", 0).set_section("shear_area_z", 0);
  block.set_section("orientation_x", 0).set_section("orientation_y", 0).set_section("orientation_z", -1);
  for (int i = 0; i < parts; ++i) block.add(i + 1, {i + 1, i + 2});
  domain.add_node_set("root", {1});
  domain.add_node_set("tip", {parts + 1});
  domain.prescribe("root", "all");
  domain.add_load_case("radial").nodal("tip", "uy", 1);
  const StepResult result = solve(domain);
  const double bending = pi * radius * radius * radius / (4 * young * inertia),
               stretch = pi * radius / (4 * young * area);
  expect_relative(result.unknowns.at(parts, "uy"), bending + stretch, 1e-3);
}

/// One beam in a skew direction under its own weight: w L⁴/(8 E I) + w L²/(2 G A_s) at its tip, for one element as for
/// ten, and section forces w L and w L²/2 at its root.
TEST(BeamFrame, SkewCantileverUnderItsWeight) {
  const double young = 2e11, shear = 8e10, area = 0.02, inertia = 3e-5, shear_area = 0.015, density = 7850, g = 9.81,
               length = 3;
  const Position along{2.0 / 3, 1.0 / 3, 2.0 / 3}, across{-2.0 / 3, 2.0 / 3, 1.0 / 3};
  for (int parts : {1, 10}) {
    Domain domain;
    for (int i = 0; i <= parts; ++i) {
      const double s = length * i / parts;
      domain.add_node(i + 1, s * along[0], s * along[1], s * along[2]);
    }
    ElementBlock& block = domain.add_block("beam", "beam");
    block.set_material(elastic(young, 0.25, density));
    block.set_section("shear_modulus", shear).set_section("area", area).set_section("torsion", 1e-5);
    block.set_section("inertia_y", 2 * inertia).set_section("inertia_z", inertia);
    block.set_section("shear_area_y", shear_area).set_section("shear_area_z", shear_area);
    block.set_section("orientation_x", across[0])
        .set_section("orientation_y", across[1])
        .set_section("orientation_z", across[2]);
    for (int i = 0; i < parts; ++i) block.add(i + 1, {i + 1, i + 2});
    domain.add_node_set("root", {1});
    domain.prescribe("root", "all");
    domain.add_load_case("weight").gravity("", {-g * across[0], -g * across[1], -g * across[2]});
    const StepResult result = solve(domain);
    const double w = density * area * g;
    const double tip = w * std::pow(length, 4) / (8 * young * inertia) + w * length * length / (2 * shear * shear_area);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(result.unknowns.at(parts, k), -tip * across[k], 1e-10 * tip) << parts;
    double weight = 0;
    for (int k = 0; k < 3; ++k) weight += result.reaction_sum[k] * across[k];
    expect_relative(weight, w * length, 1e-10);
    // The reaction's moment, a vector along the local z axis.
    const Position z{along[1] * across[2] - along[2] * across[1], along[2] * across[0] - along[0] * across[2],
                     along[0] * across[1] - along[1] * across[0]};
    double moment = 0;
    for (int k = 0; k < 3; ++k) moment += result.reactions.at(0, 3 + k) * z[k];
    expect_relative(moment, w * length * length / 2, 1e-10);
  }
}

TEST(Truss, HeldBarThatIsWarmed) {
  Domain domain;
  domain.add_node(1, 0, 0);
  domain.add_node(2, 3, 4);
  ElementBlock& block = domain.add_block("bar", "plane_truss");
  block.set_material(elastic(200e3, 0.3, 1, 1e-5)).set_section("area", 7);
  block.add(1, {1, 2});
  domain.add_node_set("ends", {1, 2});
  domain.prescribe("ends", "all");
  domain.set_reference_temperature(20);
  domain.add_load_case("warm").temperature("ends", 70);
  const StepResult result = solve(domain);
  expect_relative(result.points.at(0).at(0, 0, "N"), -200e3 * 7 * 1e-5 * 50, 1e-12);
  expect_relative(result.reactions.at(0, "ux"), 200e3 * 7 * 1e-5 * 50 * 0.6, 1e-12);
  expect_relative(result.reactions.at(1, "uy"), -200e3 * 7 * 1e-5 * 50 * 0.8, 1e-12);
}

TEST(Springs, MassHangsFromASpring) {
  Domain domain;
  domain.add_node(5, 0, 0, 0);
  ElementBlock& spring = domain.add_block("spring", "spring_to_ground");
  spring.set_section("kx", 100).set_section("ky", 200).set_section("kz", 400);
  spring.add(1, {5});
  ElementBlock& mass = domain.add_block("mass", "mass");
  mass.set_section("mass", 12);
  mass.add(2, {5});
  domain.add_load_case("weight").gravity("", {1, 2, -10});
  const StepResult result = solve(domain);
  expect_relative(result.unknowns.at(0, "ux"), 12 * 1 / 100.0, 1e-12);
  expect_relative(result.unknowns.at(0, "uy"), 12 * 2 / 200.0, 1e-12);
  expect_relative(result.unknowns.at(0, "uz"), -12 * 10 / 400.0, 1e-12);
  expect_relative(result.load_sum[2], -120, 1e-12);
}

/// A bar of solid elements beside four springs: u = F / (E A/L + 4 k).
TEST(Springs, InParallelWithASolid) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {3, 1, 1};
  mesh.upper = {3, 1, 1};
  add_box_mesh(domain, mesh).set_material(elastic(900, 0));
  ElementBlock& springs = domain.add_block("springs", "spring_to_ground");
  springs.set_section("kx", 50).set_section("ky", 0).set_section("kz", 0);
  Id id = 100;
  for (std::int32_t n : domain.node_set("xmax")) springs.add(id++, {domain.node_id(n)});
  domain.prescribe("xmin", "all");
  domain.add_load_case("pull").traction("xmax", {10, 0, 0});
  const StepResult result = solve(domain);
  for (std::int32_t n : domain.node_set("xmax"))
    expect_relative(result.unknowns.at(n, "ux"), 10.0 / (900.0 / 3 + 200), 1e-10);
}

/// A beam that stands on a solid, whose nodes have three unknowns where the beam's have six: above its foot, which may
/// move but not turn, it bends by F L³/(3 E I).
TEST(BeamFrame, OnASolid) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {2, 2, 2};
  add_box_mesh(domain, mesh).set_material(elastic(1000, 0.3));
  const std::int32_t foot = node_at(domain, {0.5, 0.5, 1});
  const Id tip = domain.node_count() + 1;
  domain.add_node(tip, 0.5, 0.5, 3);
  ElementBlock& beam = domain.add_block("mast", "beam");
  beam.set_material(elastic(1e4, 0.25))
      .set_section("shear_modulus", 4e3)
      .set_section("area", 0.01)
      .set_section("torsion", 1e-5);
  beam.set_section("inertia_y", 2e-5)
      .set_section("inertia_z", 3e-5)
      .set_section("shear_area_y", 0)
      .set_section("shear_area_z", 0);
  beam.set_section("orientation_x", 1).set_section("orientation_y", 0).set_section("orientation_z", 0);
  beam.add(1000, {domain.node_id(foot), tip});
  domain.prescribe("zmin", "all");
  for (const char* r : {"rx", "ry", "rz"}) domain.prescribe(only(domain, foot), r);
  domain.add_node_set("tip", {tip});
  domain.add_load_case("wind").nodal("tip", "ux", 0.01);
  for (const char* solver : {"auto", "direct:eigen", "cg"}) {
    SCOPED_TRACE(solver);
    StaticOptions options;
    options.solver = solver;
    options.relative_tolerance = 1e-12;
    const StepResult result = solve(domain, options);
    // Local y is x, so bending in that plane is about z: inertia_z.
    const double bend = result.unknowns.at(domain.node_index(tip), "ux") - result.unknowns.at(foot, "ux");
    expect_relative(bend, 0.01 * 8 / (3 * 1e4 * 3e-5), 1e-8);
    EXPECT_GT(result.unknowns.at(foot, "ux"), 0.0);
    expect_relative(result.reaction_sum[0], -0.01, 1e-8);
    expect_relative(result.reactions.at(foot, "ry"), -0.01 * 2, 1e-8);
  }
}

}  // namespace
}  // namespace voussoir::validation
