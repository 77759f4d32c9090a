#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include <voussoir/framework/mesh/block_mesh.hpp>
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using Point = BlockMesh::Point;

/// Two cubes, one of which is turned so that none of its directions agrees with its neighbour's.
BlockMesh two_cubes() {
  BlockMesh mesh(3);
  mesh.add_box({0, 0, 0}, {1, 1, 1}, "left");
  const auto p = [](double x, double y, double z) { return Point{1 + x, y, z}; };
  // Corners of the second in the order of a hex8 whose directions are z, x, y.
  mesh.add_block({p(0, 0, 0), p(0, 0, 1), p(1, 0, 1), p(1, 0, 0), p(0, 1, 0), p(0, 1, 1), p(1, 1, 1), p(1, 1, 0)},
                 "right");
  return mesh;
}

TEST(BlockMesh, JoinsBricksHoweverTheyAreTurned) {
  for (const char* type : {"solid.hex8", "solid.hex20", "solid.tet4", "solid.tet10"}) {
    BlockMesh mesh = two_cubes();
    mesh.refine_to_size(0.34);  // three cells
    Domain domain;
    mesh.fill(domain, type);
    const std::string shape = domain.block(0).type().shape();
    // 6 × 3 × 3 cells: corners, then edges, then all points of the lattice of half cells.
    const std::int64_t corners = 7 * 4 * 4, edges = 6 * 16 + 2 * (7 * 4 * 3);
    EXPECT_EQ(domain.node_count(), shape == "hex20"   ? corners + edges
                                   : shape == "tet10" ? 13 * 7 * 7
                                                      : corners)
        << type;
    EXPECT_EQ(domain.node_count(), mesh.node_count(shape));
    EXPECT_EQ(domain.block("left").size(), domain.block("right").size());
    // Joined faces belong to two elements: the boundary has no node inside the common square.
    domain.add_surface_where("boundary", [](double, double, double) { return true; });
    EXPECT_EQ(domain.surface("boundary").size(), shape.starts_with("hex") ? 90u : 180u);
  }
}

TEST(BlockMesh, CutsAllEdgesThatBelongTogether) {
  BlockMesh mesh(2);
  mesh.add_block({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, "a");
  mesh.add_block({{1, 0, 0}, {5, 0, 0}, {5, 3, 0}, {1, 1, 0}}, "a");  // its right side is three times as high
  mesh.refine_to_size(0.5);
  // Mean of the sides 1, 1 and 3 is 5/3: four cells; along x two and about eight.
  EXPECT_EQ(mesh.node_count("quad4"), (2 + 9 + 1) * 5);
  Domain domain;
  mesh.fill(domain, "plane_stress.quad4");
  EXPECT_EQ(domain.node_count(), 60);
  EXPECT_EQ(domain.block_count(), 1u);
}

TEST(BlockMesh, FollowsArcsWithMidSideNodesToo) {
  BlockMesh mesh(2);
  const double c = std::sqrt(0.5);
  mesh.add_block({{1, 0, 0}, {2, 0, 0}, {2 * c, 2 * c, 0}, {c, c, 0}}, "ring");
  for (const double r : {1.0, 2.0}) mesh.add_arc({r, 0, 0}, {r * c, r * c, 0}, {0, 0, 0}, {0, 0, 1});
  mesh.name_sides_where("inner", [](double x, double y, double) { return std::hypot(x, y) < 1.1; });
  mesh.refine_to_size(0.3);
  Domain domain;
  mesh.fill(domain, "plane_stress.quad8");
  for (const std::int32_t n : domain.node_set("inner"))
    EXPECT_NEAR(std::hypot(domain.coordinates()[3 * n], domain.coordinates()[3 * n + 1]), 1, 1e-12);
  // Inside as well: a ring is cut by circles.
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const double r = std::hypot(domain.coordinates()[3 * n], domain.coordinates()[3 * n + 1]);
    EXPECT_NEAR(r * 8, std::round(r * 8), 1e-9) << "four cells, with middles, between 1 and 2";
  }
}

TEST(BlockMesh, LetsAPartBeCoarser) {
  BlockMesh mesh(3);
  mesh.add_box({0, 0, 0}, {1, 1, 1}, "fine");
  mesh.add_box({1, 0, 0}, {2, 1, 1}, "coarse");
  mesh.set_coarseness("coarse", 2);
  mesh.refine_to_size(0.25);
  Domain domain;
  mesh.fill(domain, "solid.hex8");
  EXPECT_EQ(domain.block("fine").size(), 4 * 4 * 4);
  EXPECT_EQ(domain.block("coarse").size(), 2 * 4 * 4) << "coarser only where the finer part is not cut along";
}

TEST(BlockMesh, ComesNearToANumberOfNodes) {
  for (const char* shape : {"hex8", "hex20", "tet10"})
    for (const std::int64_t nodes : {20000, 400000}) {
      BlockMesh mesh(3);
      mesh.add_box({0, 0, 0}, {1, 2, 3}, "box");
      mesh.refine_to_nodes(nodes, shape);
      EXPECT_NEAR(static_cast<double>(mesh.node_count(shape)) / static_cast<double>(nodes), 1, 0.06) << shape;
    }
  BlockMesh mesh(3);
  mesh.add_box({0, 0, 0}, {1, 2, 3}, "box");
  mesh.refine_to_nodes(1, "hex8");
  EXPECT_EQ(mesh.node_count("hex8"), 8) << "no coarser than the bricks";
}

TEST(BlockMesh, NumbersAlongTheLongestDirection) {
  BlockMesh mesh(3);
  mesh.add_box({0, 0, 0}, {1, 10, 1}, "bar");
  mesh.refine_to_size(1);
  Domain domain;
  mesh.fill(domain, "solid.hex8");
  for (std::int32_t n = 0; n < domain.node_count(); ++n) EXPECT_EQ(domain.coordinates()[3 * n + 1], n / 4);
}

TEST(BlockMesh, SaysWhatIsWrong) {
  expect_error(ErrorCode::misuse, {"2 or 3 dimensions"}, [] { BlockMesh mesh(1); });
  expect_error(ErrorCode::misuse, {"tolerance"}, [] { BlockMesh mesh(3, 0); });
  BlockMesh mesh(3);
  expect_error(ErrorCode::misuse, {"no blocks"}, [&] { mesh.refine_to_size(1); });
  expect_error(ErrorCode::misuse, {"8 corners, not 4"}, [&] {
    mesh.add_block({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, "flat");
  });
  expect_error(ErrorCode::bad_input, {"two corners", "part 'flat'"}, [&] {
    mesh.add_box({0, 0, 0}, {1, 1, 0}, "flat");
  });
  expect_error(ErrorCode::bad_input, {"too large for a tolerance"}, [&] {
    mesh.add_box({0, 0, 0}, {1, 1, std::numeric_limits<double>::infinity()}, "far");
  });
  mesh.add_box({0, 0, 0}, {1, 1, 1}, "cube");
  expect_error(ErrorCode::misuse, {"before"}, [&] { mesh.node_count("hex8"); });
  Domain domain;
  expect_error(ErrorCode::misuse, {"before"}, [&] { mesh.fill(domain, "solid.hex8"); });
  expect_error(ErrorCode::misuse, {"arc", "two corners"}, [&] {
    mesh.add_arc({0, 0, 0}, {3, 3, 3}, {0, 0, 0}, {0, 0, 1});
  });
  expect_error(ErrorCode::misuse, {"axis", "axis of an arc is zero"}, [&] {
    mesh.add_arc({0, 0, 0}, {1, 0, 0}, {0, 0, 0}, {0, 0, 0});
  });
  expect_error(ErrorCode::bad_input, {"side 'roof'", "boundary"},
               [&] { mesh.name_sides_where("roof", [](double, double, double z) { return z > 5; }); });
  expect_error(ErrorCode::misuse, {"coarseness", "part 'ball'"}, [&] { mesh.set_coarseness("ball", 2); });
  expect_error(ErrorCode::bad_input, {"size", "positive"}, [&] { mesh.refine_to_size(0); });
  expect_error(ErrorCode::bad_input, {"too many", "larger"}, [&] { mesh.refine_to_size(1e-9); });
  expect_error(ErrorCode::bad_input, {"nodes", "positive"}, [&] { mesh.refine_to_nodes(0, "hex8"); });
  expect_error(ErrorCode::bad_input, {"quad4", "hex8"}, [&] { mesh.refine_to_nodes(10, "quad4"); });
  mesh.refine_to_size(1e-4);
  expect_error(ErrorCode::bad_input, {"too large", "2^31"}, [&] { mesh.fill(domain, "solid.hex8"); });
  mesh.refine_to_size(1);
  expect_error(ErrorCode::bad_input, {"mass", "no shape"}, [&] { mesh.fill(domain, "mass"); });
  mesh.fill(domain, "solid.hex8");
  expect_error(ErrorCode::bad_input, {"part 'cube'", "another"}, [&] { mesh.fill(domain, "solid.hex8"); });
  mesh.add_box({1, 0, 0}, {2, 1, 1}, "cube");
  mesh.add_box({1, 0, 0}, {0.5, 1, 1}, "cube");
  expect_error(ErrorCode::bad_input, {"three blocks"}, [&] {
    mesh.refine_to_size(1);
    mesh.node_count("hex8");
  });
  BlockMesh turned = two_cubes();
  turned.refine_to_size(1);
  Domain other;
  expect_error(ErrorCode::bad_input, {"wedges"}, [&] { turned.fill(other, "solid.wedge6"); });
}

}  // namespace
}  // namespace voussoir
