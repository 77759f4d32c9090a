#include <voussoir/framework/mesh/mesh_quality.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

namespace voussoir {
namespace {

/// One element of a type at the given places.
void add_element(Domain& domain, const std::string& type, const std::vector<std::array<double, 3>>& places) {
  std::vector<Id> nodes;
  const Id first = domain.node_count() + 1;
  for (std::size_t i = 0; i < places.size(); ++i) {
    nodes.push_back(first + static_cast<Id>(i));
    domain.add_node(nodes.back(), places[i][0], places[i][1], places[i][2]);
  }
  const auto block_name = "block" + std::to_string(domain.block_count());
  domain.add_block(block_name, type).add(500 + static_cast<Id>(domain.block_count()), nodes);
}

ElementQuality quality_of(const std::string& type, const std::vector<std::array<double, 3>>& places) {
  Domain domain;
  add_element(domain, type, places);
  return element_quality(domain, {0, 0});
}

std::vector<std::array<double, 3>> reference(const std::string& shape) { return shape_topology(shape).reference_nodes; }

TEST(MeshQuality, RegularShapesHaveTheBestNumbers) {
  for (const std::string type : {"solid.hex8", "solid.hex20", "plane_stress.quad4", "plane_stress.quad8"}) {
    const auto q = quality_of(type, reference(ElementLibrary::instance().find(type).shape()));
    EXPECT_NEAR(q.scaled_jacobian, 1, 1e-14) << type;
    EXPECT_NEAR(q.aspect_ratio, 1, 1e-14) << type;
  }
  const double h = std::sqrt(3.0) / 2;
  const auto triangle = quality_of("plane_stress.tri3", {{0, 0, 0}, {1, 0, 0}, {0.5, h, 0}});
  EXPECT_NEAR(triangle.scaled_jacobian, 1, 1e-14);
  const auto tetrahedron =
      quality_of("solid.tet4", {{0, 0, 0}, {1, 0, 0}, {0.5, h, 0}, {0.5, h / 3, std::sqrt(2.0 / 3)}});
  EXPECT_NEAR(tetrahedron.scaled_jacobian, 1, 1e-14);
  EXPECT_NEAR(tetrahedron.aspect_ratio, 1, 1e-14);
  const auto wedge = quality_of("solid.wedge6", {{0, 0, 0}, {1, 0, 0}, {0.5, h, 0}, {0, 0, 1}, {1, 0, 1}, {0.5, h, 1}});
  EXPECT_NEAR(wedge.scaled_jacobian, 1, 1e-14);
}

TEST(MeshQuality, AParallelogramHasTheSineOfItsAngle) {
  for (const double degrees : {15.0, 45.0, 80.0}) {
    const double a = degrees * std::acos(-1.0) / 180, c = std::cos(a), s = std::sin(a);
    const auto q = quality_of("plane_stress.quad4", {{0, 0, 0}, {2, 0, 0}, {2 + c, s, 0}, {c, s, 0}});
    EXPECT_NEAR(q.scaled_jacobian, s, 1e-14);
    EXPECT_NEAR(q.aspect_ratio, 2, 1e-14);
  }
}

TEST(MeshQuality, TurningAnElementInsideOutTurnsTheSign) {
  auto hex = reference("hex8");
  for (int i = 0; i < 4; ++i) std::swap(hex[i], hex[i + 4]);
  EXPECT_NEAR(quality_of("solid.hex8", hex).scaled_jacobian, -1, 1e-14);
  auto tet = reference("tet10");
  for (auto& p : tet) p[2] = -p[2];
  EXPECT_LT(quality_of("solid.tet10", tet).scaled_jacobian, 0);
}

TEST(MeshQuality, AMiddleNodePastTheQuarterPointFoldsACorner) {
  // On an edge from −1 to 1 the map 4m − 3a − b changes its sign where the middle node passes −1/2.
  for (const double m : {-0.4, -0.6}) {
    auto quad = reference("quad8");
    quad[4][0] = m;
    const auto q = quality_of("plane_stress.quad8", quad);
    EXPECT_EQ(q.scaled_jacobian > 0, m > -0.5) << m;
  }
}

TEST(MeshQuality, CollapsedAndBrokenElementsAreTheWorst) {
  auto hex = reference("hex8");
  hex[1] = hex[0];
  const auto collapsed = quality_of("solid.hex8", hex);
  EXPECT_EQ(collapsed.scaled_jacobian, 0);
  EXPECT_TRUE(std::isinf(collapsed.aspect_ratio));
}

TEST(MeshQuality, CountsEveryElementOnceAndNamesTheWorst) {
  Domain domain;
  BoxMesh box;
  box.type = "solid.hex8";
  box.cells = {4, 3, 2};
  box.upper = {8, 3, 2};  // every element is 2 × 1 × 1
  add_box_mesh(domain, box);
  const MeshQuality plain = measure_quality(domain);
  EXPECT_EQ(plain.measured, 24);
  EXPECT_NEAR(plain.largest_aspect_ratio, 2, 1e-12);
  EXPECT_NEAR(plain.smallest_scaled_jacobian, 1, 1e-12);
  EXPECT_EQ(plain.folded_count, 0);
  EXPECT_EQ(plain.jacobian_histogram.back(), 24);
  EXPECT_EQ(std::accumulate(plain.aspect_histogram.begin(), plain.aspect_histogram.end(), std::int64_t{0}), 24);

  auto hex = reference("hex8");
  for (int i = 0; i < 4; ++i) std::swap(hex[i], hex[i + 4]);
  add_element(domain, "solid.hex8", hex);
  domain.add_block("line", "truss").add(1000, {1, 2});
  const MeshQuality mixed = measure_quality(domain);
  EXPECT_EQ(mixed.measured, 25) << "a truss has no shape to measure";
  EXPECT_EQ(mixed.folded_count, 1);
  ASSERT_EQ(mixed.folded.size(), 1u);
  EXPECT_EQ(mixed.folded[0], (ElementRef{1, 0}));
  EXPECT_EQ(mixed.worst, (ElementRef{1, 0}));
  EXPECT_EQ(mixed.jacobian_histogram.front(), 1);
  EXPECT_EQ(element_quality(domain, {2, 0}).aspect_ratio, 1);
}

TEST(MeshQuality, AnEmptyModelHasNothingToMeasure) {
  const MeshQuality quality = measure_quality(Domain());
  EXPECT_EQ(quality.measured, 0);
  EXPECT_EQ(quality.worst.block, -1);
}

}  // namespace
}  // namespace voussoir
