#include <gtest/gtest.h>

#include <memory>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/detail/elimination_effort.hpp>
#include <voussoir/voussoir.hpp>

namespace voussoir {
namespace {

void add_box(Domain& domain, std::array<int, 3> cells, std::array<double, 3> size) {
  BoxMesh mesh;
  mesh.cells = cells;
  mesh.upper = size;
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
}

// From a corner, a row of bricks has levels of 1, 7, 4, 4, … nodes with three unknowns each.
TEST(EliminationEffort, IsTheSumOfTheCubesOfTheLevels) {
  Domain domain;
  add_box(domain, {10, 1, 1}, {10, 1, 1});
  EXPECT_DOUBLE_EQ(detail::elimination_effort(domain), 27.0 + 21 * 21 * 21 + 9 * 12 * 12 * 12);
}

TEST(EliminationEffort, GrowsWithTheLengthOfALongMeshAndFasterWithTheSizeOfACompactOne) {
  const auto effort = [](std::array<int, 3> cells) {
    Domain domain;
    add_box(domain, cells, {1, 1, 1});
    return detail::elimination_effort(domain);
  };
  EXPECT_NEAR(effort({400, 3, 3}) / effort({200, 3, 3}), 2.0, 0.1);
  EXPECT_GT(effort({16, 16, 16}) / effort({8, 8, 8}), 64);     // towards 2⁷: cubes of squares, and their number
  EXPECT_LT(effort({55, 55, 2}), 0.3 * effort({20, 21, 21}));  // 28 224 unknowns each
}

TEST(EliminationEffort, PartsCountEachForItself) {
  Domain one, two;
  add_box(one, {5, 2, 2}, {1, 1, 1});
  const double single = detail::elimination_effort(one);
  BoxMesh mesh;
  mesh.cells = {5, 2, 2};
  add_box_mesh(two, mesh);
  mesh.lower = {5, 0, 0};
  mesh.upper = {6, 1, 1};
  mesh.block = "other";
  mesh.set_prefix = "other ";
  add_box_mesh(two, mesh);
  EXPECT_DOUBLE_EQ(detail::elimination_effort(two), 2 * single);
}

TEST(Auto, FactorisesLongMeshesOfSolids) {
  Domain domain;
  add_box(domain, {1200, 2, 2}, {600, 1, 1});
  domain.prescribe("xmin", "all");
  domain.add_load_case("tip").traction("xmax", {0, 0, -1});
  const SolveReport report = make_static_analysis(domain, {.backend = "openmp:2"})->run().front().report;
  EXPECT_TRUE(report.solver.starts_with("direct")) << report.solver;
  EXPECT_NE(report.choice.find("thin or long"), std::string::npos) << report.choice;
}

}  // namespace
}  // namespace voussoir
