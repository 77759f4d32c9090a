#include <gtest/gtest.h>

#include <numeric>

#include <voussoir/partition/decomposition_study.hpp>

#include "partition/reduced_beam.hpp"

// Which parts can be reduced, and where reduced parts can be used.

namespace voussoir {
namespace {

using testing::fill_beam;
using testing::solve;
using testing::text_of_error;
using testing::through_file;
using testing::TwoParts;

TEST(ReducedPart, RefusesInterfacesThatDoNotFit) {
  ReduceOptions options;
  options.modes = 2;
  const TwoParts two(options);
  const auto part = two.parts[1];
  Domain empty;
  EXPECT_NE(text_of_error([&] { add_superelement(empty, part); }).find("has no node"), std::string::npos);
  {
    Domain moved;
    SuperelementOptions placing;
    placing.add_nodes = true;
    const double* const x = part->interface_coordinates.data();
    moved.add_node(part->interface_nodes[0], x[0] + 1e-3, x[1], x[2]);
    const std::string text = text_of_error([&] { add_superelement(moved, part, placing); });
    EXPECT_NE(text.find("node " + std::to_string(part->interface_nodes[0])), std::string::npos) << text;
    EXPECT_NE(text.find("apart"), std::string::npos) << text;
    placing.tolerance = 1e-2;
    EXPECT_NO_THROW(add_superelement(moved, part, placing));
  }
  {
    Domain flat;  // elements with other unknowns at an interface node
    const double* const x = part->interface_coordinates.data();
    flat.add_node(part->interface_nodes[0], x[0], x[1], x[2]);
    flat.add_node(100000, x[0] + 1, x[1], x[2]);
    flat.add_block("heat", "plane_spring")
        .set_section("kx", 1)
        .set_section("ky", 1)
        .add(1, {part->interface_nodes[0], Id{100000}});
    SuperelementOptions placing;
    placing.add_nodes = true;
    EXPECT_NE(text_of_error([&] { add_superelement(flat, part, placing); }).find("unknowns ux uy here"),
              std::string::npos);
  }
  Domain again;
  SuperelementOptions placing;
  placing.add_nodes = true;
  const auto instance = add_superelement(again, part, placing);
  EXPECT_NE(text_of_error([&] { add_superelement(again, part, placing); }).find("block of this name"),
            std::string::npos);
  EXPECT_NE(
      text_of_error([&] { instance->apply(again.add_load_case("x"), "pull"); }, ErrorCode::not_found).find("'push'"),
      std::string::npos);
  again.add_load_case("spin").centrifugal("", 3.0, {0, 0, 0}, {0, 0, 1});
  for (std::size_t i = 0; i < 4; ++i) again.prescribe_at(part->interface_nodes[i], "all");
  EXPECT_NE(text_of_error([&] { solve(again, {{"spin", 1.0}}); }).find("centrifugal"), std::string::npos);
}

/// Motions that strain nothing are found as exactly as those of other elements: methods that need the free motions of
/// each part solve a model of which a part is a superelement alone.
TEST(ReducedPart, FloatsAsAPartOfADecomposition) {
  const auto domain = testing::beam_with_superelement();
  const auto superelement = superelements_of(*domain).at(0);
  const ReducedPart& part = superelement->part();
  const std::size_t n = part.size();
  double largest = 0;
  for (const double entry : part.stiffness) largest = std::max(largest, std::abs(entry));
  for (int c = 0; c < 6; ++c) {
    std::vector<double> motion(n, 0.0);
    for (std::size_t i = 0; i < part.interface_nodes.size(); ++i)
      if (c < 3) {
        motion[3 * i + static_cast<std::size_t>(c)] = 1;
      } else {
        const auto a = static_cast<std::size_t>(c - 2) % 3, b = static_cast<std::size_t>(c - 1) % 3;
        motion[3 * i + a] = -part.interface_coordinates[3 * i + b];
        motion[3 * i + b] = part.interface_coordinates[3 * i + a];
      }
    for (std::size_t i = 0; i < part.interface_size(); ++i) {
      double force = 0;
      for (std::size_t j = 0; j < n; ++j) force += part.stiffness[i * n + j] * motion[j];
      EXPECT_LT(std::abs(force), 1e-14 * largest) << "motion " << c;
    }
  }
  StudyOptions options;
  options.parts = {static_cast<int>(domain->element_count())};
  options.methods = {"bddc", "nn", "feti-dp"};
  options.relative_tolerance = 1e-10;
  for (const StudyRow& row : run_study(*domain, Backend::open("openmp"), options)) {
    SCOPED_TRACE(row.method);
    EXPECT_EQ(row.failure, "");
    EXPECT_TRUE(row.converged);
    EXPECT_LT(row.error, 1e-8);
  }
}

/// Soft springs inside a part are not taken for rounding, however stiff the part is.
TEST(ReducedPart, KeepsSoftSpringsInside) {
  for (const double young : {1e6, 1e9, 1e12}) {
    SCOPED_TRACE(young);
    Domain domain;
    BoxMesh mesh;
    mesh.cells = {3, 2, 2};
    add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("stiff", young, 0.3, 1.0));
    const auto ends = domain.node_set("xmin");
    const std::int32_t end = ends[0];
    domain.add_node(1000, -1, 0, 0);
    domain.add_block("soft", "spring")
        .set_section("kx", 0.5)
        .set_section("ky", 2)
        .set_section("kz", 0)
        .add(500, {Id{1000}, domain.node_id(end)});
    domain.add_node_set("ground", {Id{1000}});
    domain.prescribe("ground", "all");
    const ReducedPart part = reduce_part(domain, "xmax", Backend::open("openmp"));
    const std::size_t n = part.size();
    const double expected[] = {0.5, 2, 0};
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (std::size_t i = c; i < n; i += 3)
        for (std::size_t j = c; j < n; j += 3) sum += part.stiffness[i * n + j];
      EXPECT_NEAR(sum, expected[c], 1e-2) << "direction " << c;
    }
  }
}

TEST(ReducedPart, RefusesPartsThatCannotBeReduced) {
  Domain domain;
  fill_beam(domain);
  const auto backend = Backend::open("openmp");
  EXPECT_NE(text_of_error([&] { reduce_part(domain, "xmin", backend); }).find("support on its interface"),
            std::string::npos);
  EXPECT_NE(text_of_error([&] { reduce_part(domain, "nowhere", backend); }, ErrorCode::not_found).find("nowhere"),
            std::string::npos);
  ReduceOptions negative;
  negative.modes = -1;
  text_of_error([&] { reduce_part(domain, "xmax", backend, negative); });
  // Without the support, the inside of a part that is cut off from its interface can move.
  Domain loose;
  BoxMesh mesh;
  mesh.cells = {2, 1, 1};
  add_box_mesh(loose, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3, 1.0));
  loose.add_node(1000, 5, 5, 5);
  loose.add_node(1001, 6, 5, 5);
  loose.add_block("adrift", "spring")
      .set_section("kx", 1)
      .set_section("ky", 1)
      .set_section("kz", 1)
      .add(500, {Id{1000}, Id{1001}});
  const std::string text = text_of_error([&] { reduce_part(loose, "xmax", backend); }, ErrorCode::singular);
  EXPECT_NE(text.find("node 100"), std::string::npos) << text;
  loose.add_node(1002, 7, 5, 5);
  loose.add_node_set("unused", {Id{1002}});
  EXPECT_NE(text_of_error([&] { reduce_part(loose, "unused", backend); }).find("no element of the part uses"),
            std::string::npos);
  Domain moved;
  add_box_mesh(moved, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3));
  moved.prescribe("xmin", "ux", 0.1);
  EXPECT_NE(text_of_error([&] { reduce_part(moved, "xmax", backend); }).find("other than zero"), std::string::npos);
  Domain massless;
  add_box_mesh(massless, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3));
  ReduceOptions some;
  some.modes = 2;
  EXPECT_NE(text_of_error([&] { reduce_part(massless, "xmax", backend, some); }).find("density"), std::string::npos);
  const ReducedPart still = reduce_part(massless, "xmax", backend);
  EXPECT_TRUE(still.mass.empty());
  EXPECT_TRUE(still.accelerations.empty());
}

TEST(ReducedPart, RefusesHeatSources) {
  Domain whole;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {2, 1, 1};
  auto metal = std::make_shared<Material>("metal");
  metal->set("conductivity", 50.0);
  add_box_mesh(whole, mesh).set_material(metal);
  ReduceOptions options;
  options.name = "block";
  const auto part = std::make_shared<ReducedPart>(reduce_part(whole, "xmax", Backend::open("openmp"), options));
  Domain model;
  SuperelementOptions placing;
  placing.add_nodes = true;
  add_superelement(model, part, placing);
  for (const Id node : part->interface_nodes) model.prescribe_at(node, part->unknowns.front());
  model.add_load_case("source").heat_source("", 1e5);
  const std::string text = text_of_error([&] { solve(model, {{"source", 1.0}}); });
  EXPECT_NE(text.find("superelement 'block'"), std::string::npos) << text;
  EXPECT_NE(text.find("load case of the part"), std::string::npos) << text;
}

TEST(ReducedPart, RefusesDampingOfMaterials) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {2, 1, 1};
  auto steel = std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3, 1.0);
  steel->set_damping({0.0, 1e-4});
  add_box_mesh(domain, mesh).set_material(steel);
  const std::string text = text_of_error([&] { reduce_part(domain, "xmax", Backend::open("openmp")); });
  EXPECT_NE(text.find("material 'steel'"), std::string::npos) << text;
  EXPECT_NE(text.find("damping"), std::string::npos) << text;
}

TEST(ReducedPart, AxisymmetricPartsBelongToAxisymmetricModels) {
  const auto fill = [](Domain& domain, const char* type, double lower) {
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {2, 2, 1};
    mesh.lower = {lower, 0, 0};
    mesh.upper = {lower + 1, 1, 1};
    ElementBlock& block = add_box_mesh(domain, mesh);
    block.set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 7.85e-9));
    if (mesh.type.starts_with("plane")) block.set_section("thickness", 1.0);
  };
  for (const bool axisymmetric : {true, false}) {
    Domain whole;
    fill(whole, axisymmetric ? "axisymmetric.quad4" : "plane_strain.quad4", 1);
    const auto part = through_file(reduce_part(whole, "xmax", Backend::open("openmp")));
    EXPECT_EQ(part->axisymmetric, axisymmetric);
    EXPECT_TRUE(part->follows_rigid_motions);
    SuperelementOptions placing;
    placing.add_nodes = true;
    for (const bool other : {true, false}) {
      Domain model;
      // Other node numbers than those of the part: what does not fit are the elements.
      model.add_node(1000, 9, 9, 0);
      fill(model, other ? "axisymmetric.quad4" : "plane_strain.quad4", 2);
      if (axisymmetric == other)
        EXPECT_NO_THROW(add_superelement(model, part, placing));
      else
        EXPECT_NE(text_of_error([&] { add_superelement(model, part, placing); }).find("axisymmetric"),
                  std::string::npos);
    }
  }
}

TEST(ReducedPart, LumpedMassesAreRefused) {
  ReduceOptions options;
  options.modes = 2;
  TwoParts two(options);
  ModalOptions lumped;
  lumped.backend = "openmp";
  lumped.mass = MassKind::lumped;
  EigenRequest request;
  request.modes = 2;
  EXPECT_NE(text_of_error([&] { make_modal_analysis(two.model, lumped)->solve(request); }).find("cannot be lumped"),
            std::string::npos);
}

TEST(ReducedPart, AllNodesMayBeOnTheInterface) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {1, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3, 1.0));
  std::vector<std::int32_t> all(8);
  std::iota(all.begin(), all.end(), 0);
  ReduceOptions options;
  options.modes = 3;  // there are none
  const ReducedPart part = reduce_part(domain, all, Backend::open("openmp"), options);
  EXPECT_EQ(part.size(), 24u);
  EXPECT_EQ(part.modes(), 0u);
  EXPECT_TRUE(part.follows_rigid_motions);
  EXPECT_NEAR(part.rigid_mass[0], 1.0, 1e-12);
}

}  // namespace
}  // namespace voussoir
