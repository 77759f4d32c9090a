// Kinds of models that divide methods: each is solved by every method and compared with the direct solver.
#include <gtest/gtest.h>

#include <voussoir/framework/domain/host_element.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/partitioners.hpp>

#include "loaded_bar.hpp"
#include "support/decomposition_check.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::decomposition_methods;
using testing::expect_close;
using testing::expect_error;
using testing::expect_right_by_all;
using testing::solved;

/// Deals elements to parts like cards: every part is in many pieces, and most pieces float.
class DealtParts : public GraphPartitioner {
 public:
  std::string name() const override { return "dealt"; }
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override {
    std::vector<std::int32_t> result(graph.weight.size());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<std::int32_t>(i) % parts;
    return result;
  }
};
/// Leaves all parts but the first without elements.
class LazyParts : public GraphPartitioner {
 public:
  std::string name() const override { return "lazy"; }
  std::vector<std::int32_t> partition(const ElementGraph& graph, int) const override {
    return std::vector<std::int32_t>(graph.weight.size(), 0);
  }
};

VSR_REGISTER(partitioners, "dealt", "deals elements to parts like cards",
             PartitionerFactory{[](const std::string&) { return std::make_shared<DealtParts>(); }});
VSR_REGISTER(partitioners, "lazy", "puts all elements into the first part",
             PartitionerFactory{[](const std::string&) { return std::make_shared<LazyParts>(); }});

TEST(DecompositionProof, SixtyFourPartsOfASolid) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {8, 4, 4};
  mesh.upper = {2, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3));
  domain.prescribe("xmin", "all");
  // Loads at single nodes, some of which are on interfaces: they count once.
  auto& load = domain.add_load_case("nodes");
  for (Id node = 5; node <= domain.node_count(); node += 7) load.nodal_at(node, "uy", 0.1 * (node % 5) - 0.3);
  expect_right_by_all(domain, {3, 64}, ",cut=rcb");
}

TEST(DecompositionProof, ThreeMaterialsWithContrast) {
  // Layers of 10³, 1 and 10⁶ in one body, which cuts along its length go through.
  Domain domain;
  const int nx = 10, ny = 6;
  for (int j = 0; j <= ny; ++j)
    for (int i = 0; i <= nx; ++i) domain.add_node(1 + i + (nx + 1) * j, 0.5 * i, 0.2 * j);
  const double young[3] = {1e3, 1, 1e6};
  Id id = 1;
  for (int layer = 0; layer < 3; ++layer) {
    ElementBlock& block = domain.add_block("layer" + std::to_string(layer), "plane_stress.quad4");
    block.set_material(std::make_shared<IsotropicMaterial>("m" + std::to_string(layer), young[layer], 0.3));
    block.set_section("thickness", 1.0);
    for (int j = 2 * layer; j < 2 * layer + 2; ++j)
      for (int i = 0; i < nx; ++i) {
        const Id a = 1 + i + (nx + 1) * j;
        block.add(id++, {a, a + 1, a + nx + 2, a + nx + 1});
      }
  }
  domain.add_node_set_where("left", [](double x, double, double) { return x == 0; });
  domain.add_node_set_where("right", [](double x, double, double) { return x > 4.9; });
  domain.prescribe("left", "all");
  domain.add_load_case("pull").nodal("right", "ux", 1.0).nodal("right", "uy", 1e-3);
  expect_right_by_all(domain, {2, 5, 20}, ",cut=rcb");
  expect_right_by_all(domain, {6}, ",cut=metis");
}

TEST(DecompositionProof, BeamsOnASolid) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {6, 2, 2};
  mesh.upper = {3, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("concrete", 3e4, 0.2));
  domain.prescribe("xmin", "all");
  // Ribs along an upper edge, and a mast at its end.
  auto steel = std::make_shared<IsotropicMaterial>("steel", 2e5, 0.3);
  steel->set("shear_modulus", 0.77e5);
  domain.add_node_set_where("rib", [](double, double y, double z) { return y == 0 && z > 0.9; });
  const auto rib = domain.node_set("rib");
  ASSERT_EQ(rib.size(), 7u);
  ElementBlock& beams = domain.add_block("beams", "beam");
  beams.set_material(steel);
  for (const auto& [name, value] : {std::pair{"area", 0.01},
                                    {"inertia_y", 2e-5},
                                    {"inertia_z", 1e-5},
                                    {"torsion", 2e-5},
                                    {"shear_area_y", 0.008},
                                    {"shear_area_z", 0.008},
                                    {"orientation_x", 0.0},
                                    {"orientation_y", 1.0},
                                    {"orientation_z", 0.0}})
    beams.set_section(name, value);
  Id id = 1000;
  for (std::size_t i = 0; i + 1 < rib.size(); ++i)
    beams.add(id++, {domain.node_id(rib[i]), domain.node_id(rib[i + 1])});
  domain.add_node(2001, 3, 0, 1.5);
  domain.add_node(2002, 3, 0, 2);
  beams.add(id++, {domain.node_id(rib.back()), 2001});
  beams.add(id++, {2001, 2002});
  domain.add_load_case("wind").nodal_at(2002, "uy", 1).nodal_at(2001, "ry", 0.1).traction("xmax", {0, 0, -1});
  expect_right_by_all(domain, {2, 4, 13}, ",cut=rcb");
}

TEST(DecompositionProof, ThinWalls) {
  // A plate of quadratic hexahedra, 40 times as wide as it is thick, bent by its own weight.
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex20";
  mesh.cells = {8, 4, 1};
  mesh.upper = {2, 1, 0.025};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 2e5, 0.3, 7.8e-3));
  domain.prescribe("xmin", "all");
  domain.prescribe("xmax", "all");
  domain.add_load_case("weight").gravity("", {0, 0, -9.81});
  // Rounding of A x leaves a residual of some 1e-10 here.
  expect_right_by_all(domain, {2, 8}, ",cut=rcb", 1e-8, 2e-9);
}

TEST(DecompositionProof, PartsInManyPieces) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  expect_right_by_all(domain, {2, 5}, ",cut=dealt");
  Domain heat;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {5, 4, 3};
  auto material = std::make_shared<Material>("steel");
  material->set("conductivity", 50.0);
  add_box_mesh(heat, mesh).set_material(material);
  heat.prescribe("xmin", "T", 20.0);
  heat.add_load_case("heat").convection("xmax", 7.0, 300.0).heat_flux("ymax", 40.0);
  expect_right_by_all(heat, {3, 7, 60}, ",cut=dealt");
}

TEST(DecompositionProof, PartsThatAPartitionerLeavesEmptyAreFilled) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  expect_right_by_all(domain, {4}, ",cut=lazy");
}

TEST(DecompositionProof, ACutThroughARigidBody) {
  // The middle of the bar is a rigid body around a node of its own, which has a load and a moment; cuts go through it.
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  domain.add_node(9001, 2, 2, 0.5);
  domain.add_node(9002, 2, 2, 0.5);
  domain.set_rotation_node(9002, 9001, true);
  domain.add_node_set_where("body", [](double x, double, double) { return x > 1.2 && x < 2.8; });
  const char* const u[] = {"ux", "uy", "uz"};
  for (const std::int32_t n : domain.node_set("body")) {
    const double* x = &domain.coordinates()[3 * static_cast<std::size_t>(n)];
    const double r[3] = {x[0] - 2, x[1] - 2, x[2] - 0.5};
    for (int k = 0; k < 3; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      std::vector<Domain::EquationTerm> terms{
          {domain.node_id(n), u[k], 1}, {9001, u[k], -1}, {9002, u[i], -r[j]}, {9002, u[j], r[i]}};
      std::erase_if(terms, [](const auto& t) { return t.coefficient == 0; });
      domain.add_equation(terms);
    }
  }
  domain.add_load_case("moment").nodal_at(9001, "uz", -3).nodal_at(9002, "ux", 2);
  expect_right_by_all(domain, {2, 4, 9}, ",cut=rcb");
}

TEST(DecompositionProof, APlaneRigidBodyAcrossInterfaces) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "plane_strain.quad4";
  mesh.cells = {9, 3, 1};
  mesh.upper = {3, 1, 0};
  ElementBlock& block = add_box_mesh(domain, mesh);
  block.set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3));
  domain.prescribe("xmin", "all");
  domain.add_node(901, 3.5, 0.5);
  domain.add_node(902, 3.5, 0.5);
  domain.set_rotation_node(902, 901, true);
  for (const std::int32_t n : domain.node_set("xmax")) {
    const double* x = &domain.coordinates()[3 * static_cast<std::size_t>(n)];
    const Id id = domain.node_id(n);
    std::vector<Domain::EquationTerm> across{{id, "ux", 1}, {901, "ux", -1}, {902, "ux", x[1] - 0.5}},
        up{{id, "uy", 1}, {901, "uy", -1}, {902, "ux", -(x[0] - 3.5)}};
    domain.add_equation(across);
    domain.add_equation(up);
  }
  domain.add_load_case("moment").nodal_at(902, "ux", 2).nodal_at(901, "uy", -1);
  expect_right_by_all(domain, {3, 9}, ",cut=rcb");
}

/// A spring between nodes whose matrix is not symmetric.
class FollowerSpring : public HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  bool symmetric() const override { return false; }
  bool linear() const override { return true; }
  void tangent(const HostElementData&, std::span<double> k) const override {
    for (std::size_t i = 0; i < 6; ++i) k[i * 6 + i] = 1;
    k[0 * 6 + 1] = 0.4;
  }
};

TEST(DecompositionProof, UnsymmetricAndNonlinearModelsAreRefusedByNameOrSolved) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  register_host_element("proof_follower", "", std::make_shared<FollowerSpring>());
  domain.add_block("springs", "proof_follower").add(5000, {domain.node_count(), domain.node_count() - 1});
  const StepResult lu = solved(domain, "direct");
  for (const std::string& method : decomposition_methods()) {
    SCOPED_TRACE(method);
    if (method.starts_with("gmres"))
      expect_close(solved(domain, method + ":parts=3").unknowns, lu.unknowns, 1e-8);
    else
      expect_error(ErrorCode::bad_input, {"symmetric", method.substr(method.find('+') + 1)},
                   [&] { solved(domain, method + ":parts=3"); });
  }

  // Conductivity that follows temperature: the tangent is that of the elements at rest no more.
  Domain heat;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {6, 3, 2};
  auto material = std::make_shared<Material>("steel");
  material->set_table("conductivity", {{0, 50.0}, {400, 30.0}});
  add_box_mesh(heat, mesh).set_material(material);
  heat.prescribe("xmin", "T", 20.0);
  heat.add_load_case("heat").heat_flux("xmax", 4000.0);
  const auto run = [&](const std::string& solver) {
    StaticOptions options;
    options.backend = "openmp:2";
    options.solver = solver;
    options.tangent = "symmetric";
    options.relative_tolerance = 1e-11;
    return make_static_analysis(heat, options)->run().front();
  };
  const StepResult direct = run("direct");
  for (const std::string& method : decomposition_methods()) {
    SCOPED_TRACE(method);
    const bool schwarz = method.find("asm") != std::string::npos || method.find("ras") != std::string::npos ||
                         method.find("msm") != std::string::npos;
    if (schwarz) {
      expect_close(run(method + ":parts=4").unknowns, direct.unknowns, 1e-8);
    } else {
      expect_error(ErrorCode::bad_input, {"not the stiffness of the elements at rest", "use asm2 or amg"},
                   [&] { run(method + ":parts=4"); });
    }
  }
  expect_error(ErrorCode::bad_input, {"asm2", "not the stiffness of the elements at rest"},
               [&] { run("cg+asm2:parts=4,coarse=geneo"); });
}

}  // namespace
}  // namespace voussoir
