// Every method of domain decomposition against a direct solver, and its convergence against the theory.
#include <gtest/gtest.h>

#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/decomposition_study.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "loaded_bar.hpp"
#include "support/decomposition_check.hpp"
#include "support/expect_error.hpp"
#include "support/random_model.hpp"

namespace voussoir {
namespace {

using testing::decomposition_methods;
using testing::expect_close;
using testing::expect_error;
using testing::expect_right_by_all;
using testing::RandomModel;
using testing::solved;

void add_bar(Domain& domain) { testing::add_loaded_bar(domain, 3); }

TEST(DecompositionMethods, GiveTheDirectAnswerForASolid) {
  Domain domain;
  add_bar(domain);
  expect_right_by_all(domain, {1, 2, 5, 16});
}

TEST(DecompositionMethods, GiveTheDirectAnswerForAPlateWithAHole) {
  Domain domain;
  PlateModel plate;
  plate.type = "plane_stress.quad8";
  plate.fineness = {0, 800};
  add_plate_model(domain, plate);
  expect_right_by_all(domain, {2, 8});
  expect_right_by_all(domain, {4}, ",cut=metis");
}

TEST(DecompositionMethods, GiveTheDirectAnswerForHeatWithFilms) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "heat.tet4";
  mesh.cells = {5, 4, 3};
  auto material = std::make_shared<Material>("steel");
  material->set("conductivity", 50.0);
  add_box_mesh(domain, mesh).set_material(material);
  domain.prescribe("xmin", "T", 20.0);
  domain.add_load_case("heat").convection("xmax", 7.0, 300.0).heat_flux("ymax", 40.0);
  expect_right_by_all(domain, {2, 7});
}

TEST(DecompositionMethods, GiveTheDirectAnswerWithConstraintsAcrossInterfaces) {
  Domain domain;
  add_bar(domain);
  // Oblique supports along a whole edge, some of them moved, and a tie from end to end of the bar.
  testing::support_edge_obliquely(domain);
  const Id far = domain.node_id(domain.node_set("xmax")[5]);
  domain.add_node_set_where("near",
                            [](double x, double y, double z) { return x > 0.4 && x < 0.6 && y > 0.9 && z > 0.9; });
  ASSERT_FALSE(domain.node_set("near").empty());
  domain.add_equation({{far, "uz", 1.0}, {domain.node_id(domain.node_set("near")[0]), "uz", -0.5}}, 0.01);
  expect_right_by_all(domain, {2, 6});
  const StepResult direct = solved(domain, "direct");
  for (const std::string& method : decomposition_methods()) {
    SCOPED_TRACE(method + " on debug:2");
    expect_close(solved(domain, method + ":parts=6", "debug:2").unknowns, direct.unknowns, 1e-8);
  }
}

TEST(DecompositionMethods, GiveTheDirectAnswerForRandomConstraints) {
  int solvable = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    Domain domain;
    SCOPED_TRACE(RandomModel(seed).build(domain));
    StepResult direct;
    try {
      direct = solved(domain, "direct");
    } catch (const Error& error) {  // some of them contradict themselves
      ASSERT_EQ(error.code(), ErrorCode::bad_input) << error.what();
      continue;
    }
    ++solvable;
    const std::string parts = std::to_string(std::min<std::int64_t>(4, domain.element_count()));
    for (const char* method : {"cg+asm2", "cg+bddc", "cg+nn", "schur", "feti-dp"}) {
      SCOPED_TRACE(method);
      expect_close(solved(domain, std::string(method) + ":parts=" + parts).unknowns, direct.unknowns, 1e-8);
    }
  }
  EXPECT_GT(solvable, 6);
}

TEST(DecompositionMethods, GiveTheDirectAnswerForContrastAndDisconnectedParts) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {6, 2, 2};
  mesh.upper = {3, 1, 1};
  const double young[3] = {1e9, 1e3, 1e6};
  for (int b = 0; b < 3; ++b) {  // three bars side by side that share no node: bodies of their own
    mesh.lower = {0, 2.0 * b, 0};
    mesh.upper = {3, 2.0 * b + 1, 1};
    mesh.block = "bar" + std::to_string(b);
    mesh.set_prefix = mesh.block + "_";
    add_box_mesh(domain, mesh)
        .set_material(std::make_shared<IsotropicMaterial>("m" + std::to_string(b), young[b], 0.3));
    domain.prescribe(mesh.set_prefix + "xmin", "all");
    domain.add_load_case("push" + std::to_string(b)).traction(mesh.set_prefix + "xmax", {1, 0, young[b] * 1e-6});
  }
  expect_right_by_all(domain, {2, 4, 9});
}

TEST(DecompositionMethods, GiveTheDirectAnswerForFrames) {
  // A frame of 4 × 3 cells of beams in space: nodes with six unknowns, and parts that hang together at single nodes.
  Domain domain;
  for (int j = 0; j <= 3; ++j)
    for (int i = 0; i <= 4; ++i) domain.add_node(1 + i + 5 * j, i, 0.1 * i * j, j);
  auto steel = std::make_shared<IsotropicMaterial>("steel", 2e5, 0.3);
  steel->set("shear_modulus", 0.77e5);
  ElementBlock& block = domain.add_block("frame", "beam");
  block.set_material(steel);
  for (const auto& [name, value] : {std::pair{"area", 1.0},
                                    {"inertia_y", 0.2},
                                    {"inertia_z", 0.1},
                                    {"torsion", 0.2},
                                    {"shear_area_y", 0.8},
                                    {"shear_area_z", 0.8},
                                    {"orientation_x", 0.0},
                                    {"orientation_y", 1.0},
                                    {"orientation_z", 0.0}})
    block.set_section(name, value);
  Id id = 1;
  for (int j = 0; j <= 3; ++j)
    for (int i = 0; i <= 4; ++i) {
      if (i < 4) block.add(id++, {Id{1 + i + 5 * j}, Id{2 + i + 5 * j}});
      if (j < 3) block.add(id++, {Id{1 + i + 5 * j}, Id{6 + i + 5 * j}});
    }
  for (const int n : {1, 3, 5}) domain.prescribe_at(n, "all");
  domain.add_load_case("tip").nodal_at(20, "uy", 3).nodal_at(18, "rz", 1);
  expect_right_by_all(domain, {2, 5, 31});
}

TEST(DecompositionMethods, AreRejectedByNameWhereTheyCannotBeUsed) {
  Domain domain;
  add_bar(domain);
  expect_error(ErrorCode::bad_input, {"cg+ras", "not symmetric", "gmres+ras"}, [&] { solved(domain, "cg+ras"); });
  expect_error(ErrorCode::bad_input, {"asm", "part=4", "parts=", "overlap="}, [&] { solved(domain, "cg+asm:part=4"); });
  expect_error(ErrorCode::bad_input, {"parts=0", "whole number"}, [&] { solved(domain, "cg+asm:parts=0"); });
  expect_error(ErrorCode::bad_input, {"overlap=-1"}, [&] { solved(domain, "cg+asm:overlap=-1"); });
  expect_error(ErrorCode::not_found, {"rbc", "rcb"}, [&] { solved(domain, "cg+asm:cut=rbc"); });
  expect_error(ErrorCode::not_found, {"part solver", "dirct", "direct"},
               [&] { solved(domain, "cg+asm:solver=dirct"); });
  expect_error(ErrorCode::bad_input, {"with=amg", "bddc, nn, jacobi, none"}, [&] { solved(domain, "schur:with=amg"); });
  expect_error(ErrorCode::bad_input, {"73 parts", "72 elements"}, [&] { solved(domain, "cg+bddc:parts=73"); });
  expect_error(ErrorCode::bad_input, {"penalty", "transformation"}, [&] {
    StaticOptions options;
    options.backend = "openmp:1";
    options.solver = "cg+bddc";
    options.constraints = "penalty";
    make_static_analysis(domain, options)->run();
  });
}

TEST(DecompositionMethods, PartsWithoutCornersAreNamedOrSolved) {
  Domain domain;
  add_bar(domain);
  // Slabs of a bar have one face with each neighbour and no corner at all.
  expect_error(ErrorCode::bad_input, {"part 1 of 4", "floats", "0 primal unknowns", "primal=cef"},
               [&] { solved(domain, "cg+bddc:parts=4,cut=rcb,primal=c"); });
  const StepResult direct = solved(domain, "direct");
  for (const char* name : {"cg+bddc:parts=4,cut=rcb,primal=f", "cg+bddc:parts=4,cut=rcb,weights=multiplicity",
                           "schur:parts=4,with=none", "schur:parts=4,with=jacobi", "schur:parts=4,with=nn"}) {
    SCOPED_TRACE(name);
    expect_close(solved(domain, name).unknowns, direct.unknowns, 1e-8);
  }
}

TEST(DecompositionMethods, FindThatAModelIsNotSupported) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {4, 2, 2};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3));
  domain.prescribe("xmin", "ux");
  domain.add_load_case("push").traction("xmax", {1, 0, 0});
  for (const std::string& method : decomposition_methods()) {
    SCOPED_TRACE(method);
    expect_error(ErrorCode::singular, {}, [&] { solved(domain, method + ":parts=3"); });
  }
}

}  // namespace
}  // namespace voussoir
