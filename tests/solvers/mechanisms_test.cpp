#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/domain/superelement_instance.hpp>
#include <voussoir/framework/model/rigid_clusters.hpp>
#include <voussoir/partition/reduce_part.hpp>

#include "solver_models.hpp"
#include "support/expect_error.hpp"

// Mechanisms that the load does not excite are found by every solver, and nothing that is sound is taken for one.

namespace voussoir::test {
namespace {

using testing::expect_error;

/// Hexahedra where filled(i, j, k) says so, in cubes of unit length; nodes are shared.
template <class Filled>
void add_cells(Domain& d, std::array<int, 3> cells, const Filled& filled, const std::string& name = "cells",
               double modulus = 210e3) {
  const auto id = [&](int i, int j, int k) {
    return static_cast<Id>(1 + i + (cells[0] + 1) * (j + (cells[1] + 1) * k));
  };
  auto& block = d.add_block(name, "solid.hex8");
  block.set_material(std::make_shared<IsotropicMaterial>(name, modulus, 0.3));
  Id element = static_cast<Id>(d.element_count()) + 1;
  for (int k = 0; k < cells[2]; ++k)
    for (int j = 0; j < cells[1]; ++j)
      for (int i = 0; i < cells[0]; ++i) {
        if (!filled(i, j, k)) continue;
        std::vector<Id> nodes;
        for (const auto& [a, b, c] :
             {std::array{0, 0, 0}, std::array{1, 0, 0}, std::array{1, 1, 0}, std::array{0, 1, 0}, std::array{0, 0, 1},
              std::array{1, 0, 1}, std::array{1, 1, 1}, std::array{0, 1, 1}}) {
          nodes.push_back(id(i + a, j + b, k + c));
          if (!d.has_node(nodes.back())) d.add_node(nodes.back(), i + a, j + b, k + c);
        }
        block.add(element++, nodes);
      }
}

/// Two blocks of n³ cubes that share an edge along y: a hinge. The first is clamped; the second is pulled along the
/// hinge, which does not turn it.
void add_hinge(Domain& d, int n) {
  add_cells(d, {2 * n, n, 2 * n}, [n](int i, int, int k) { return (i < n) == (k < n); });
  d.add_node_set_where("clamp", [](double x, double, double) { return x < 1e-9; });
  d.prescribe("clamp", "all");
  d.add_node_set_where("end", [n](double x, double, double) { return x > 2 * n - 1e-9; });
  d.add_load_case("along the hinge").nodal("end", "uy", 1.0);
}

StaticOptions how(const std::string& solver, const std::string& storage = "auto",
                  const std::string& backend = "openmp:2") {
  StaticOptions options;
  options.backend = backend;
  options.solver = solver;
  options.storage = storage;
  return options;
}

const std::vector<std::string> iterations = cg_solvers();

TEST(Hinge, IsRefusedByEverySolverInTheSameWords) {
  Domain d;
  add_hinge(d, 3);
  std::vector<std::string> all = iterations;
  all.push_back("direct");
  for (const std::string& solver : all) {
    SCOPED_TRACE(solver);
    expect_error(ErrorCode::singular,
                 {"the model is under-constrained", "a mechanism", "nodes can move without resistance"},
                 [&] { make_static_analysis(d, how(solver))->run(); });
  }
}

TEST(Hinge, IsRefusedOnEveryStorageAndBackend) {
  Domain d;
  add_hinge(d, 2);
  for (const std::string& storage : general_storages())
    for (const char* backend : {"openmp:1", "debug:2"}) {
      SCOPED_TRACE(std::string(storage) + ", " + backend);
      expect_error(ErrorCode::singular, {"a mechanism", "the largest motion is at node"},
                   [&] { make_static_analysis(d, how("cg+block-jacobi", storage, backend))->run(); });
    }
}

TEST(Hinge, IsRefusedWhereAutoIterates) {
  Domain d;
  add_hinge(d, 15);
  ASSERT_GT(3 * d.node_count(), 20000);
  auto analysis = make_static_analysis(d, how("auto"));
  ASSERT_EQ(analysis->collaborators().solver->name(), "cg+amg");
  expect_error(ErrorCode::singular, {"the model is under-constrained", "a mechanism"}, [&] { analysis->run(); });
}

TEST(Hinge, ThatASpringHoldsIsSound) {
  for (const double stiffness : {1e3, 1e-3}) {
    Domain d;
    add_hinge(d, 2);
    const Id end = d.node_id(d.node_set("end")[0]);
    auto& springs = d.add_block("spring", "spring_to_ground");
    springs.set_section("kx", 0).set_section("ky", 0).set_section("kz", stiffness);
    springs.add(100000, {end});
    for (const std::string& solver : {std::string("direct"), std::string("cg+jacobi"), std::string("cg+amg")}) {
      SCOPED_TRACE(solver + ", " + std::to_string(stiffness));
      const auto r = make_static_analysis(d, how(solver))->run();
      EXPECT_TRUE(r.at(0).report.converged);
      EXPECT_TRUE(r.at(0).report.note.empty()) << r.at(0).report.note;
    }
  }
}

TEST(Hinge, WithBothBlocksHeldIsSound) {
  Domain d;
  add_hinge(d, 3);
  d.prescribe("end", "uz");
  const auto expected = make_static_analysis(d, how("direct"))->run().at(0).unknowns.largest("uy").value;
  for (const std::string& solver : iterations)
    EXPECT_NEAR(make_static_analysis(d, how(solver))->run().at(0).unknowns.largest("uy").value, expected,
                1e-5 * std::abs(expected))
        << solver;
}

/// The second block is a superelement with so many unknowns that its eigenvalues are not computed.
TEST(Hinge, OfALargeSuperelementIsFound) {
  constexpr int n = 4;
  Domain second;
  add_cells(second, {2 * n, n, 2 * n}, [](int i, int, int k) { return i >= n && k >= n; });
  second.add_node_set_where("all", [](double, double, double) { return true; });
  const auto part = std::make_shared<const ReducedPart>(reduce_part(second, "all", Backend::open("openmp")));
  ASSERT_GT(part->size(), 300u);
  for (const bool held : {false, true}) {
    Domain d;
    add_cells(d, {2 * n, n, 2 * n}, [](int i, int, int k) { return i < n && k < n; });
    SuperelementOptions placing;
    placing.add_nodes = true;
    add_superelement(d, part, placing);
    d.add_node_set_where("clamp", [](double x, double, double) { return x < 1e-9; });
    d.prescribe("clamp", "all");
    d.add_node_set_where("end", [](double x, double, double) { return x > 2 * n - 1e-9; });
    d.add_load_case("along the hinge").nodal("end", "uy", 1.0);
    if (held) d.prescribe("end", "uz");
    for (const std::string& solver : {std::string("direct"), std::string("cg+jacobi")}) {
      SCOPED_TRACE(solver + (held ? ", held" : ""));
      if (held) {
        const auto r = make_static_analysis(d, how(solver))->run();
        EXPECT_TRUE(r.at(0).report.converged);
        EXPECT_TRUE(r.at(0).report.note.empty()) << r.at(0).report.note;
      } else {
        expect_error(ErrorCode::singular, {"the model is under-constrained", "a mechanism"},
                     [&] { make_static_analysis(d, how(solver))->run(); });
      }
    }
  }
}

TEST(Vertex, IsABallJoint) {
  // Three blocks in a chain, joined by a vertex and by an edge, the last one held along the edge only.
  Domain d;
  add_cells(d, {4, 2, 4},
            [](int i, int j, int k) { return (i < 2 && k < 2 && j < 1) || (i >= 2 && k >= 2 && j >= 1); });
  d.add_node_set_where("clamp", [](double x, double, double) { return x < 1e-9; });
  d.prescribe("clamp", "all");
  d.add_node_set_where("top", [](double, double, double z) { return z > 4 - 1e-9; });
  d.add_load_case("none");
  System s(d, "csr");
  EXPECT_EQ(RigidClusters(s.model).motions().size(), 3u);  // a ball joint leaves three rotations
  EXPECT_TRUE(RigidClusters(s.model).undecided().empty());
}

TEST(Equations, ThatTieTwoBodiesAlongALineAreAHinge) {
  // Four bricks beside four bricks, two meshes; uy, ux and uz of the nodes on one line tied, then of a whole face.
  for (const bool whole_face : {false, true}) {
    Domain d;
    BoxMesh mesh;
    mesh.cells = {2, 2, 1};
    mesh.set_prefix = "a_";
    mesh.block = "a";
    add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("a", 1000, 0.3));
    mesh.lower = {1, 0, 0};
    mesh.upper = {2, 1, 1};
    mesh.set_prefix = "b_";
    mesh.block = "b";
    add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("b", 1000, 0.3));
    d.prescribe("a_xmin", "all");
    const auto left = d.node_set("a_xmax"), right = d.node_set("b_xmin");
    const auto x = d.coordinates();
    for (const std::int32_t n : left)
      for (const std::int32_t m : right) {
        const bool same = x[3 * n + 1] == x[3 * m + 1] && x[3 * n + 2] == x[3 * m + 2];
        if (!same || (!whole_face && x[3 * n + 2] > 0)) continue;
        for (const char* unknown : {"ux", "uy", "uz"})
          d.add_equation({{d.node_id(m), unknown, 1}, {d.node_id(n), unknown, -1}});
      }
    d.add_load_case("along").nodal("b_xmax", "uy", 1);
    for (const char* solver : {"direct", "cg+jacobi"}) {
      SCOPED_TRACE(std::string(solver) + (whole_face ? ", face" : ", line"));
      if (whole_face)
        EXPECT_TRUE(make_static_analysis(d, how(solver))->run().at(0).report.note.empty());
      else
        expect_error(ErrorCode::singular, {"a mechanism"}, [&] { make_static_analysis(d, how(solver))->run(); });
    }
  }
}

TEST(SoundModels, AreNotTakenForMechanisms) {
  const auto steel = [] { return std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3); };
  struct Case {
    std::string name;
    BoxMesh mesh;
  };
  std::vector<Case> cases(6);
  cases[0].name = "cantilever 1 : 1000";
  cases[0].mesh.cells = {1000, 1, 1};
  cases[0].mesh.upper = {1000, 1, 1};
  cases[1].name = "cantilever of long bricks";
  cases[1].mesh.cells = {100, 2, 2};
  cases[1].mesh.upper = {1000, 1, 1};
  cases[2].name = "thin plate";
  cases[2].mesh.cells = {20, 20, 1};
  cases[2].mesh.upper = {1, 1, 1e-3};
  cases[3].name = "tetrahedra";
  cases[3].mesh.type = "solid.tet10";
  cases[3].mesh.cells = {12, 1, 1};
  cases[3].mesh.upper = {120, 1, 1};
  cases[4].name = "reduced bricks";
  cases[4].mesh.type = "solid.hex8.reduced";
  cases[4].mesh.cells = {40, 2, 2};
  cases[4].mesh.upper = {40, 1, 1};
  cases[5].name = "plane";
  cases[5].mesh.type = "plane_stress.quad4";
  cases[5].mesh.cells = {100, 2, 1};
  cases[5].mesh.upper = {100, 1, 1};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Domain d;
    auto& block = add_box_mesh(d, c.mesh);
    block.set_material(steel());
    if (c.mesh.type.starts_with("plane_stress")) block.set_section("thickness", 1.0);
    d.prescribe("xmin", "all");
    d.add_load_case("pull").traction("xmax", {1, 0, 0});
    System s(d, "csr");
    const RigidClusters clusters(s.model);
    EXPECT_TRUE(clusters.motions().empty());
    EXPECT_TRUE(clusters.undecided().empty()) << clusters.undecided();
  }
}

TEST(ReducedQuadraticBricks, MayHaveModesOfTheirOwnSoThatTheReportSaysWhatWasNotExcluded) {
  // 20 nodes and 8 points: six motions of a single element cost no energy and are not rigid.
  Domain d;
  BoxMesh mesh;
  mesh.type = "solid.hex20.reduced";
  mesh.cells = {4, 3, 3};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3));
  d.prescribe("xmin", "all");
  d.add_load_case("pull").traction("xmax", {1, 0, 0});
  const SolveReport iterated = make_static_analysis(d, how("cg+block-jacobi"))->run().at(0).report;
  EXPECT_TRUE(iterated.converged);
  EXPECT_NE(iterated.note.find("mechanisms that the load does not excite were not excluded"), std::string::npos);
  EXPECT_NE(iterated.note.find("solid.hex20.reduced"), std::string::npos) << iterated.note;
  EXPECT_TRUE(make_static_analysis(d, how("direct"))->run().at(0).report.note.empty());
}

TEST(SoundModels, WithSoftInclusionsAreSolved) {
  Domain d;
  add_cells(
      d, {12, 4, 4}, [](int i, int j, int k) { return (i + j + k) % 3 != 0; }, "hard", 210e3);
  add_cells(
      d, {12, 4, 4}, [](int i, int j, int k) { return (i + j + k) % 3 == 0; }, "soft", 210e3 * 1e-6);
  d.add_node_set_where("clamp", [](double x, double, double) { return x < 1e-9; });
  d.prescribe("clamp", "all");
  d.add_node_set_where("end", [](double x, double, double) { return x > 12 - 1e-9; });
  d.add_load_case("pull").nodal("end", "ux", 1);
  const double expected = make_static_analysis(d, how("direct"))->run().at(0).unknowns.largest("ux").value;
  for (const char* solver : {"cg+block-jacobi", "cg+amg"}) {
    const auto r = make_static_analysis(d, how(solver))->run().at(0);
    EXPECT_NEAR(r.unknowns.largest("ux").value / expected, 1, 1e-5) << solver;
    EXPECT_TRUE(r.report.note.empty()) << r.report.note;
  }
}

TEST(SoundModels, OfBeamsOnSolidsAreSolvedAndLooseOnesAreNot) {
  for (const bool held : {true, false}) {
    Domain d;
    add_bar(d);
    const Id corner = d.node_id(d.node_set("xmax")[0]);
    d.add_node(1000, 3, 0, 0);
    d.add_node(1001, 4, 0, 0);
    auto& beam = d.add_block("beam", "beam");
    auto m = std::make_shared<IsotropicMaterial>("rod", 1000, 0.3);
    m->set("shear_modulus", 400);
    beam.set_material(m);
    for (const char* p : {"area", "inertia_y", "inertia_z", "torsion", "shear_area_y", "shear_area_z", "orientation_z"})
      beam.set_section(p, 1);
    beam.set_section("orientation_x", 0).set_section("orientation_y", 0);
    beam.add(5000, {corner, 1000});
    beam.add(5001, {1000, 1001});
    d.add_node_set("tip", {1001});
    // A beam that stands on one node of a solid turns about it.
    if (held)
      for (const char* unknown : {"rx", "uy", "uz"}) d.prescribe("tip", unknown);
    d.add_load_case("axial").nodal("tip", "ux", 1);
    for (const char* solver : {"direct", "cg+jacobi"}) {
      SCOPED_TRACE(std::string(solver) + (held ? ", held" : ", loose"));
      if (held)
        EXPECT_TRUE(make_static_analysis(d, how(solver))->run().at(0).report.note.empty());
      else
        expect_error(ErrorCode::singular, {"the model is under-constrained", "a mechanism"},
                     [&] { make_static_analysis(d, how(solver))->run(); });
    }
  }
}

}  // namespace
}  // namespace voussoir::test
