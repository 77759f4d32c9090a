#include <gtest/gtest.h>

#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/job/job_file.hpp>

#include "job_models.hpp"

// Second-order meshes as Gmsh writes them by default, with nodes inside faces (tests/fuzz/seeds/gmsh,
// written by Gmsh 4.8.4): a bar of 2 × 1 × 1.

namespace voussoir {
namespace {

class SecondOrder : public testing::FolderTest,
                    public ::testing::WithParamInterface<std::pair<const char*, const char*>> {
 protected:
  Job read(const std::string& physics, const std::string& supports, const std::string& load) const {
    const auto folder = std::filesystem::path(VSR_TEST_SOURCE_DIR) / "tests/fuzz/seeds/gmsh";
    return read_job_text(R"({"mesh": ")" + std::string(GetParam().first) +
                             R"(", "materials": {"m": {"young": 100, "poisson": 0.3, "conductivity": 4, "density": 2}},
        "sections": [{"group": "body", "physics": ")" +
                             physics + R"(", "material": "m"}], "supports": [)" + supports + R"(], "loads": [)" + load +
                             "]}",
                         "bar.json", folder);
  }
  StepResult solve(Job& job) const {
    StepResult result;
    run_job(job, testing::plainly(), {}, [&](std::size_t, StepResult found) { result = std::move(found); });
    return result;
  }
};

TEST_P(SecondOrder, NodesLieWhereTheShapeHasThem) {
  const Job job = read("solid", "", "");
  const Domain& domain = *job.domains[0];
  ASSERT_EQ(domain.block_count(), 1u);
  const ElementBlock& block = domain.block(0);
  ASSERT_EQ(block.type_name(), std::string("solid.") + GetParam().second);
  const ShapeTopology& shape = shape_topology(GetParam().second);
  ASSERT_EQ(block.nodes_per_element(), shape.nodes);
  const auto x = domain.coordinates();
  // Elements are straight: every node is the mean of corners that the reference cell tells.
  for (std::int32_t e = 0; e < block.size(); ++e) {
    const auto at = [&](int local, int k) { return x[3 * static_cast<std::size_t>(block.nodes(e)[local]) + k]; };
    for (const auto& edge : shape.edges)
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(at(edge[2], k), (at(edge[0], k) + at(edge[1], k)) / 2, 1e-9);
    for (const ShapeFace& face : shape.faces) {
      if (face.nodes.size() != 9) continue;
      for (int k = 0; k < 3; ++k) {
        double middle = 0;
        for (int i = 0; i < 4; ++i) middle += at(face.nodes[i], k) / 4;
        EXPECT_NEAR(at(face.nodes[8], k), middle, 1e-9);
      }
    }
  }
}

TEST_P(SecondOrder, APressureStretchesTheBarEvenly) {
  // −p on the top stretches it by p L / E; sides are free to contract, and the corner at the origin holds.
  Job job = read("solid", R"({"group": "bottom", "uz": 0}, {"group": "side", "ux": 0})",
                 R"({"group": "top", "pressure": -5})");
  Domain& domain = *job.domains[0];
  auto supports = std::make_shared<Supports>(*job.steps[0].supports);
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    if (domain.coordinates()[3 * static_cast<std::size_t>(n) + 1] == 0) supports->values.push_back({n, "uy", 0.0});
  job.steps[0].supports = supports;
  const StepResult result = solve(job);
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const double* x = &domain.coordinates()[3 * static_cast<std::size_t>(n)];
    EXPECT_NEAR(result.unknowns.at(n, "uz"), 0.05 * x[2], 1e-12);
    EXPECT_NEAR(result.unknowns.at(n, "ux"), -0.3 * 0.05 * x[0], 1e-12);
    EXPECT_NEAR(result.unknowns.at(n, "uy"), -0.3 * 0.05 * x[1], 1e-12);
  }
  for (const MaterialField& field : nodal_stress(domain, result))
    for (std::int32_t n = 0; n < domain.node_count(); ++n) EXPECT_NEAR(field.field.at(n, "szz"), 5, 1e-9);
  EXPECT_NEAR(result.load_sum.at(2), 10, 1e-11);  // 5 on 2 × 1
}

TEST_P(SecondOrder, ATotalForceAndWeightAreWhole) {
  Job job = read("solid", R"({"group": "bottom", "all": 0})",
                 R"({"group": "top", "total_force": [3, 0, 0]}, {"gravity": [0, 0, -10]})");
  const StepResult result = solve(job);
  EXPECT_NEAR(result.reaction_sum.at(0), -3, 1e-10);
  EXPECT_NEAR(result.reaction_sum.at(2), 40, 1e-9);  // density 2, volume 2
}

TEST_P(SecondOrder, HeatFlowsThroughFaces) {
  // 8 per area through a height of 1: a fall of 8 / 4.
  Job job = read("heat", R"({"group": "bottom", "T": 10})", R"({"group": "top", "heat_flux": 8})");
  const StepResult result = solve(job);
  const Domain& domain = *job.domains[0];
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    EXPECT_NEAR(result.unknowns.at(n, "T"), 10 + 2 * domain.coordinates()[3 * static_cast<std::size_t>(n) + 2], 1e-11);
  Job cooled =
      read("heat", R"({"group": "bottom", "T": 10})", R"({"group": "top", "convection": {"film": 4, "sink": 30}})");
  const StepResult film = solve(cooled);  // 4 (T − 10) = 4 (30 − T) at the top
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    EXPECT_NEAR(film.unknowns.at(n, "T"), 10 + 10 * domain.coordinates()[3 * static_cast<std::size_t>(n) + 2], 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Gmsh, SecondOrder,
                         ::testing::Values(std::pair{"hex27_4.1_0.msh", "hex27"}, std::pair{"hex27_2.2_1.msh", "hex27"},
                                           std::pair{"wedge18_4.1_0.msh", "wedge18"}));

}  // namespace
}  // namespace voussoir
