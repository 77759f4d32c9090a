#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/analysis/mode_matching.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>

#include "support/expect_error.hpp"

// Modes of one body on different meshes.

namespace voussoir {
namespace {

using testing::expect_error;

/// A clamped box; with three different edges no frequencies are equal.
void build(Domain& d, const std::string& type, int cells, std::array<double, 3> upper = {1.3, 1.1, 0.9}) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {cells, cells, cells};
  mesh.upper = upper;
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 1));
  d.prescribe("xmin", "all");
}

ModeSet modes_of(const Domain& d, int count) {
  EigenRequest request;
  request.modes = count;
  ModalOptions options;
  options.backend = "openmp:2";
  return make_modal_analysis(d, options)->solve(request);
}

TEST(ModeMatching, SameBodyOnDifferentMeshes) {
  Domain coarse, fine, tets;
  build(coarse, "solid.hex8", 4);
  build(fine, "solid.hex8", 6);
  build(tets, "solid.tet10", 3);
  const ModeSet a = modes_of(coarse, 6), b = modes_of(fine, 6), c = modes_of(tets, 6);
  for (const auto& [mesh, set] : {std::pair(&fine, &b), std::pair(&tets, &c)}) {
    const ModeMatch match = match_modes(coarse, a, *mesh, *set);
    EXPECT_EQ(match.nodes, coarse.node_count());
    EXPECT_EQ(match.skipped, 0);
    ASSERT_EQ(match.pairs.size(), 6u);
    for (const ModePair& pair : match.pairs) {
      EXPECT_EQ(pair.a, pair.b);
      EXPECT_GT(pair.mac, 0.95);
      EXPECT_NEAR(pair.frequency_a, pair.frequency_b, 0.06 * pair.frequency_b);
      EXPECT_GE(pair.frequency_a, pair.frequency_b);  // the coarser mesh is the stiffer one
      EXPECT_GE(pair.group_mac, pair.mac - 1e-12);
    }
    EXPECT_LT(match.at(0, 2), 0.05);
  }
}

// On one and the same mesh, interpolation changes nothing.
TEST(ModeMatching, OneMeshIsModalAssurance) {
  Domain d;
  build(d, "solid.hex8", 3);
  const ModeSet a = modes_of(d, 5);
  const std::vector<double> expected = modal_assurance(a, a);
  const ModeMatch match = match_modes(d, a, d, a);
  ASSERT_EQ(match.mac.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(match.mac[i], expected[i], 1e-9);
}

// The first two modes of a cube bend it in planes that each solver mixes as it likes: only both together are the same.
TEST(ModeMatching, EqualFrequenciesAgreeAsGroups) {
  Domain coarse, fine;
  build(coarse, "solid.hex8", 4, {1, 1, 1});
  build(fine, "solid.hex8", 6, {1, 1, 1});
  ModeSet a = modes_of(coarse, 5);
  const ModeSet as_found = a, b = modes_of(fine, 5);
  // As another solver might have it: turned by 40° within the pair.
  const double c = std::cos(0.7), s = std::sin(0.7);
  for (std::size_t i = 0; i < a.shapes[0].values.size(); ++i) {
    const double x = a.shapes[0].values[i], y = a.shapes[1].values[i];
    a.shapes[0].values[i] = c * x + s * y;
    a.shapes[1].values[i] = c * y - s * x;
  }
  const ModeMatch turned = match_modes(coarse, a, coarse, as_found);
  EXPECT_NEAR(turned.at(0, 0), c * c, 1e-6);
  const ModeMatch match = match_modes(coarse, a, fine, b);
  ASSERT_GE(match.pairs.size(), 2u);
  ASSERT_GE(turned.pairs.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_GT(match.pairs[k].group_mac, 0.99);
    EXPECT_GT(turned.pairs[k].group_mac, 0.999);
  }
}

TEST(ModeMatching, NodesOutsideAreCountedAndRefusedIfMostAre) {
  Domain longer, shorter, plane;
  build(longer, "solid.hex8", 4, {1, 1, 1});
  build(shorter, "solid.hex8", 4, {0.8, 1, 1});
  const ModeSet a = modes_of(longer, 3), b = modes_of(shorter, 3);
  const ModeMatch match = match_modes(longer, a, shorter, b);
  EXPECT_EQ(match.skipped, 25);  // the face at x = 1
  EXPECT_EQ(match.nodes, 100);
  EXPECT_GT(match.at(0, 0) + match.at(0, 1), 0.9);
  MatchOptions strict;
  strict.most_skipped = 0.1;
  expect_error(ErrorCode::bad_input, {"25 of 125", "same body"}, [&] { match_modes(longer, a, shorter, b, strict); });
  expect_error(ErrorCode::bad_input, {"does not belong"}, [&] { match_modes(longer, a, plane, b); });
}

}  // namespace
}  // namespace voussoir
