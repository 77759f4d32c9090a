#include <gtest/gtest.h>

#include <memory>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/free_motion.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

std::shared_ptr<Material> steel() {
  auto m = std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 1);
  m->set("conductivity", 1).set("shear_modulus", 400).set("area", 1);
  return m;
}

std::vector<std::string> motions(const Domain& d) {
  const AnalysisModel model(d, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
  std::vector<std::string> texts;
  for (const auto& m : find_free_motions(model)) texts.push_back(m.text);
  return texts;
}

bool has(const std::vector<std::string>& texts, const std::string& piece) {
  for (const auto& t : texts)
    if (t.find(piece) != std::string::npos) return true;
  return false;
}

void add_cube(Domain& d, double shift = 0, const std::string& name = "box", int cells = 2) {
  BoxMesh mesh;
  mesh.cells = {cells, cells, cells};
  mesh.lower = {shift, 0, 0};
  mesh.upper = {shift + 1, 1, 1};
  mesh.block = name;
  mesh.set_prefix = name == "box" ? "" : name + ".";
  add_box_mesh(d, mesh).set_material(steel());
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& t : texts) all += t + "\n";
  return all;
}

TEST(FreeMotions, AFreeCubeHasAllSix) {
  Domain d;
  add_cube(d);
  const auto found = motions(d);
  ASSERT_EQ(found.size(), 1u) << joined(found);
  EXPECT_TRUE(has(found, "all 6 rigid")) << joined(found);
}

TEST(FreeMotions, ACubeHeldAtOneNodeTurnsAboutThreeAxes) {
  Domain d;
  add_cube(d);
  d.add_node_set("one", {1});  // the corner at the origin
  d.prescribe("one", "all");
  const auto found = motions(d);
  ASSERT_EQ(found.size(), 3u) << joined(found);
  for (const char* axis : {"x", "y", "z"})
    EXPECT_TRUE(has(found, std::string("can rotate about an axis along ") + axis)) << joined(found);
}

TEST(FreeMotions, AHingeLineLeavesOneTurn) {
  Domain d;
  add_cube(d);
  d.add_node_set_where("hinge", [](double x, double, double z) { return x == 1 && z == 0; });
  d.prescribe("hinge", "all");
  const auto found = motions(d);
  ASSERT_EQ(found.size(), 1u) << joined(found);
  EXPECT_TRUE(has(found, "can rotate about an axis along y through (1, ")) << joined(found);
  d.add_node_set_where("far", [](double x, double y, double z) { return x == 0 && y == 0 && z == 0; });
  d.prescribe("far", "uz");
  EXPECT_TRUE(motions(d).empty());
}

TEST(FreeMotions, AWallThatOnlyPushesLeavesThree) {
  Domain d;
  add_cube(d);
  d.prescribe("zmin", "uz");
  const auto found = motions(d);
  ASSERT_EQ(found.size(), 3u) << joined(found);
  for (const char* text : {"can move along x", "can move along y", "can rotate about an axis along z"})
    EXPECT_TRUE(has(found, text)) << joined(found);
}

TEST(FreeMotions, ThePartThatIsFreeIsNamed) {
  Domain d;
  add_cube(d);
  add_cube(d, 5, "other");
  d.prescribe("xmin", "all");
  const auto found = motions(d);
  ASSERT_EQ(found.size(), 1u) << joined(found);
  EXPECT_TRUE(has(found, "the part with node 28 (27 of 54 nodes) can move in all 6 rigid ways")) << joined(found);
  const AnalysisModel model(d, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
  const auto free = find_free_motions(model);
  EXPECT_EQ(free[0].nodes.size(), 27u);
  EXPECT_EQ(d.node_id(free[0].nodes[0]), 28);
  expect_error(ErrorCode::singular, {"the part with node 28", "Add supports"}, [&] { require_no_free_motion(free); });
}

TEST(FreeMotions, EquationsHoldOnePartAtTheOther) {
  Domain d;
  add_cube(d);
  add_cube(d, 1, "other");
  d.prescribe("xmin", "all");
  EXPECT_EQ(motions(d).size(), 1u);
  const auto left = d.node_set("xmax"), right = d.node_set("other.xmin");
  for (std::size_t i = 0; i < left.size(); ++i)
    for (const char* u : {"ux", "uy", "uz"}) d.add_equation({{d.node_id(right[i]), u, 1}, {d.node_id(left[i]), u, -1}});
  EXPECT_TRUE(motions(d).empty());
}

TEST(FreeMotions, UnknownsThatNoEquationNamesHoldNothing) {
  // The mean of a face in a node of its own: its uy and uz exist, but nobody means them.
  Domain d;
  add_cube(d);
  d.prescribe("xmin", "ux");
  EXPECT_EQ(motions(d).size(), 3u);
  d.add_node(500, 3, 0, 0);
  const auto face = d.node_set("xmax");
  std::vector<Domain::EquationTerm> terms{{500, "ux", -static_cast<double>(face.size())}};
  for (const std::int32_t n : face) terms.push_back({d.node_id(n), "ux", 1});
  d.add_equation(terms);
  EXPECT_EQ(motions(d).size(), 3u);
  d.prescribe_at(500, "ux", 0.1);
  EXPECT_EQ(motions(d).size(), 3u);
}

TEST(FreeMotions, TheRotationOfAReferenceNodeIsARotation) {
  // A rigid cube, held at its reference node by a ball joint: the unknowns ux, uy, uz of node 502 are angles.
  Domain d;
  add_cube(d);
  const std::int32_t count = d.node_count();
  d.add_node(501, 0, 0, 0);
  d.add_node(502, 0, 0, 0);
  d.set_rotation_node(502, 501, true);
  const char* const u[] = {"ux", "uy", "uz"};
  for (std::int32_t n = 0; n < count; ++n) {
    const auto r = d.node(d.node_id(n)).position;
    for (int k = 0; k < 3; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      d.add_equation({{d.node_id(n), u[k], 1}, {501, u[k], -1}, {502, u[i], -r[j]}, {502, u[j], r[i]}});
    }
  }
  EXPECT_EQ(motions(d).size(), 1u);  // all six
  d.prescribe_at(501, "all");
  const auto free = motions(d);
  EXPECT_EQ(free.size(), 3u);
  for (const char* axis : {"x", "y", "z"})
    EXPECT_TRUE(has(free, std::string("can rotate about an axis along ") + axis));
  for (const auto& text : free) EXPECT_EQ(text.find("502"), std::string::npos) << text;
  d.prescribe_at(502, "ux");
  EXPECT_EQ(motions(d).size(), 2u);
  d.prescribe_at(502, "all");
  EXPECT_TRUE(motions(d).empty());
  // Errors name the reference node and its degree of freedom.
  d.prescribe_at(502, "uy", 0.1);
  expect_error(ErrorCode::bad_input, {"node 501", "rotation about y", "degree of freedom 5"}, [&] { motions(d); });
}

TEST(FreeMotions, PlaneModelsHaveThree) {
  Domain d;
  BoxMesh mesh;
  mesh.type = "plane_strain.quad4";
  mesh.cells = {3, 2, 1};
  add_box_mesh(d, mesh).set_material(steel());
  EXPECT_TRUE(has(motions(d), "all 3 rigid")) << joined(motions(d));
  d.add_node_set("one", {1});
  d.prescribe("one", "all");
  EXPECT_EQ(motions(d), std::vector<std::string>{"it can rotate about an axis along z through (0, 0, 0)"});
  d.prescribe("xmin", "ux");
  EXPECT_TRUE(motions(d).empty());
}

TEST(FreeMotions, APlaneTrussIsPlaneNotARing) {
  Domain d;
  d.add_node(1, 0, 0);
  d.add_node(2, 1, 0);
  d.add_node(3, 0, 1);
  auto& bars = d.add_block("bars", "plane_truss");
  bars.set_material(steel());
  bars.add(1, {1, 2});
  bars.add(2, {2, 3});
  bars.add(3, {3, 1});
  EXPECT_TRUE(has(motions(d), "all 3 rigid")) << joined(motions(d));
  d.add_node_set("roller", {1, 2});
  d.prescribe("roller", "uy");
  EXPECT_EQ(motions(d), std::vector<std::string>{"it can move along x"});
}

TEST(FreeMotions, RingsMoveAlongTheirAxis) {
  Domain d;
  BoxMesh mesh;
  mesh.type = "axisymmetric.quad4";
  mesh.lower = {1, 0, 0};
  mesh.upper = {2, 1, 0};
  add_box_mesh(d, mesh).set_material(steel());
  EXPECT_EQ(motions(d), std::vector<std::string>{"it can move along the axis (uy)"});
  d.add_node_set("one", {1});
  d.prescribe("one", "uy");
  EXPECT_TRUE(motions(d).empty());
}

TEST(FreeMotions, HeatNeedsATemperatureOrAFilm) {
  for (const bool film : {false, true}) {
    Domain d;
    BoxMesh mesh;
    mesh.type = "heat.tet4";
    mesh.cells = {2, 2, 2};
    add_box_mesh(d, mesh).set_material(steel());
    d.add_load_case("l").heat_flux("xmin", 1);
    if (film) d.add_load_case("f").convection("xmax", 3, 20);
    const auto found = motions(d);
    if (film)
      EXPECT_TRUE(found.empty()) << joined(found);
    else
      EXPECT_TRUE(has(found, "no prescribed temperature")) << joined(found);
  }
}

TEST(FreeMotions, SpringsToGroundHold) {
  Domain d;
  add_cube(d);
  auto& springs = d.add_block("springs", "spring_to_ground");
  springs.set_section("kx", 0.1).set_section("ky", 0.1).set_section("kz", 0.1);
  springs.add(1001, {1});
  EXPECT_EQ(motions(d).size(), 3u) << joined(motions(d));
  springs.add(1002, {3});
  EXPECT_EQ(motions(d).size(), 1u) << joined(motions(d));
  springs.add(1003, {27});
  EXPECT_TRUE(motions(d).empty()) << joined(motions(d));
}

TEST(FreeMotions, ABeamOnTwoBallJointsSpins) {
  Domain d;
  for (int i = 0; i < 4; ++i) d.add_node(i + 1, i, 0, 0);
  auto& beam = d.add_block("beam", "beam");
  beam.set_material(steel());
  for (const char* p : {"inertia_y", "inertia_z", "torsion", "shear_area_y", "shear_area_z", "orientation_z"})
    beam.set_section(p, 1);
  beam.set_section("orientation_x", 0).set_section("orientation_y", 0);
  for (int i = 0; i < 3; ++i) beam.add(i + 1, {i + 1, i + 2});
  d.add_node_set("ends", {1, 4});
  for (const char* u : {"ux", "uy", "uz"}) d.prescribe("ends", u);
  const auto found = motions(d);
  ASSERT_EQ(found.size(), 1u) << joined(found);
  EXPECT_TRUE(has(found, "can rotate about an axis along x")) << joined(found);
  d.add_node_set("start", {1});
  d.prescribe("start", "rx");
  EXPECT_TRUE(motions(d).empty());
}

TEST(FreeMotions, AStraightBarDoesNotSpin) {
  Domain d;
  d.add_node(1, 0, 0, 0);
  d.add_node(2, 1, 1, 1);
  auto& bar = d.add_block("bar", "truss");
  bar.set_material(steel()).add(1, {1, 2});
  d.add_node_set("both", {1, 2});
  d.prescribe("both", "all");
  EXPECT_TRUE(motions(d).empty()) << joined(motions(d));
}

// --- what solvers find
// ------------------------------------------------------------------------------------------------

struct Choice {
  const char* solver;
  const char* storage;
};
constexpr Choice choices[] = {{"direct", "csr"},
                              {"direct", "bsr"},
                              {"direct:eigen", "csr"},
                              {"direct:band", "band"},
                              {"direct:profile", "profile"},
                              {"cg+none", "csr"},
                              {"cg+jacobi", "bsr"},
                              {"cg+block-jacobi", "element"},
                              {"cg+chebyshev", "matrix-free"},
                              {"cg+block-jacobi", "matrix-free"},
                              {"cg+fsai", "csr"}};

std::unique_ptr<StaticAnalysis> analysis(const Domain& d, const Choice& choice) {
  StaticOptions options;
  options.backend = "openmp:1";
  options.solver = choice.solver;
  options.storage = choice.storage;
  return make_static_analysis(d, options);
}

TEST(NotHeld, IsFoundByEverySolver) {
  Domain d;
  add_cube(d, 0, "box", 1);
  d.add_node_set("one", {1});
  d.prescribe("one", "all");
  d.add_load_case("push").pressure("xmax", 1);
  for (const auto& choice : choices) {
    SCOPED_TRACE(std::string(choice.solver) + " on " + choice.storage);
    expect_error(ErrorCode::singular, {"under-constrained", "can rotate about an axis along y"},
                 [&] { analysis(d, choice)->run(); });
    // Also where the check of the geometry is switched off: the solver itself must not return a number.
    expect_error(ErrorCode::singular, {}, [&] {
      auto a = analysis(d, choice);
      a->set_free_motion_check(false);
      a->run();
    });
  }
}

/// Three sides of a square without a diagonal, standing on nodes 1 and 2: the top sways along x for nothing.
void add_sway(Domain& d) {
  d.add_node(1, 0, 0);
  d.add_node(2, 1, 0);
  d.add_node(33, 1, 1);
  d.add_node(44, 0, 1);
  auto& bars = d.add_block("bars", "plane_truss");
  bars.set_material(steel());
  bars.add(1, {1, 44});
  bars.add(2, {2, 33});
  bars.add(3, {44, 33});
  d.add_node_set("ground", {1, 2});
  d.add_node_set("top", {33, 44});
  d.prescribe("ground", "all");
  d.add_load_case("wind").nodal("top", "ux", 1).nodal("top", "uy", -1);
}

TEST(NotHeld, AMechanismIsFoundByEverySolver) {
  Domain d;
  add_sway(d);
  EXPECT_TRUE(motions(d).empty());  // no part as a whole is free
  for (const auto& choice : choices) {
    SCOPED_TRACE(std::string(choice.solver) + " on " + choice.storage);
    try {
      analysis(d, choice)->run();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.code(), ErrorCode::singular) << text;
      EXPECT_TRUE(text.find("node 33, ux") != std::string::npos || text.find("node 44, ux") != std::string::npos)
          << text;
    }
  }
}

TEST(NotHeld, ARowOfBeamsOnSolidsTurnsAboutItself) {
  // Solids hold no rotations, so beams in a straight line through their corners spin: a mechanism within a held part.
  Domain d;
  add_cube(d, 0, "box", 1);
  d.prescribe("xmin", "all");
  d.add_node(99, 2, 1, 1);
  auto& beam = d.add_block("beam", "beam");
  beam.set_material(steel());
  for (const char* p : {"inertia_y", "inertia_z", "torsion", "shear_area_y", "shear_area_z", "orientation_z"})
    beam.set_section(p, 1);
  beam.set_section("orientation_x", 0).set_section("orientation_y", 0);
  Id corner = 0;
  for (std::int32_t n : d.node_set("xmax"))
    if (d.node(d.node_id(n)).position == std::array<double, 3>{1, 1, 1}) corner = d.node_id(n);
  beam.add(50, {corner, 99});
  d.add_node_set("tip", {99});
  for (const char* u : {"ux", "uy", "uz"}) d.prescribe("tip", u);
  d.add_load_case("turn").nodal("tip", "rx", 1);
  expect_error(ErrorCode::singular, {"mechanism", "rx"}, [&] { analysis(d, {"direct", "csr"})->run(); });
}

TEST(NotHeld, UnknownsWithoutStiffnessAreNamed) {
  // Bars in a row: the middle node has no stiffness across them.
  Domain d;
  for (int i = 1; i <= 3; ++i) d.add_node(10 * i, i, 0, 0);
  auto& bars = d.add_block("bars", "truss");
  bars.set_material(steel());
  bars.add(1, {10, 20});
  bars.add(2, {20, 30});
  d.add_node_set("ends", {10, 30});
  d.add_node_set("middle", {20});
  d.prescribe("ends", "all");
  d.add_load_case("l").nodal("middle", "ux", 1).nodal("middle", "uy", 1);
  for (const auto& choice : choices) {
    SCOPED_TRACE(std::string(choice.solver) + " on " + choice.storage);
    expect_error(ErrorCode::singular, {"node 20, u"}, [&] { analysis(d, choice)->run(); });
  }
}

TEST(NotHeld, AMassOnItsOwnIsAPartOfItsOwn) {
  Domain d;
  add_cube(d);
  d.prescribe("xmin", "all");
  d.add_node(500, 3, 3, 3);
  d.add_block("lump", "mass").set_section("mass", 1).add(777, {500});
  d.add_load_case("l").gravity("", {0, 0, -1});
  for (const auto& choice : choices)
    expect_error(ErrorCode::singular, {"the part with node 500 (1 of 28 nodes)"}, [&] { analysis(d, choice)->run(); });
}

}  // namespace
}  // namespace voussoir
