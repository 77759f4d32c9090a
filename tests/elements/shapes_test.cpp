#include <gtest/gtest.h>

#include <cmath>
#include <voussoir/backends/error.hpp>
#include <voussoir/elements/shapes/complete.hpp>
#include <voussoir/elements/shapes/shapes.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir {
namespace {

template <class Shape>
class ShapeTest : public ::testing::Test {};
using Shapes = ::testing::Types<Line2, Line3, Tri3, Tri6, Quad4, Quad8, Tet4, Tet10, Wedge6, Wedge15, Hex8, Hex20,
                                Quad9, Wedge18, Hex27>;
TYPED_TEST_SUITE(ShapeTest, Shapes);

// A few points inside every reference cell.
constexpr double inside[4][3] = {{0.21, 0.17, 0.33}, {0.05, 0.61, 0.11}, {0.4, 0.1, 0.2}, {0.13, 0.24, 0.52}};

TYPED_TEST(ShapeTest, IsOneAtItsNodeAndZeroAtTheOthers) {
  using Shape = TypeParam;
  for (int a = 0; a < Shape::nodes; ++a) {
    double xi[Shape::dim], n[Shape::nodes];
    for (int k = 0; k < Shape::dim; ++k) xi[k] = Shape::node(a, k);
    Shape::values(xi, n);
    for (int b = 0; b < Shape::nodes; ++b) EXPECT_NEAR(n[b], a == b ? 1.0 : 0.0, 1e-15) << a << " " << b;
  }
}

TYPED_TEST(ShapeTest, ReproducesConstantsAndCoordinatesAndQuadraticsWhereItClaimsTo) {
  using Shape = TypeParam;
  for (const auto& xi : inside) {
    double n[Shape::nodes];
    Shape::values(xi, n);
    double one = 0;
    for (int a = 0; a < Shape::nodes; ++a) one += n[a];
    EXPECT_NEAR(one, 1.0, 1e-14);
    for (int k = 0; k < Shape::dim; ++k) {
      double x = 0;
      for (int a = 0; a < Shape::nodes; ++a) x += n[a] * Shape::node(a, k);
      EXPECT_NEAR(x, xi[k], 1e-14);
      if (Shape::order < 2) continue;
      for (int l = k; l < Shape::dim; ++l) {
        double product = 0;
        for (int a = 0; a < Shape::nodes; ++a) product += n[a] * Shape::node(a, k) * Shape::node(a, l);
        EXPECT_NEAR(product, xi[k] * xi[l], 1e-14);
      }
    }
  }
}

TYPED_TEST(ShapeTest, GradientIsTheDerivative) {
  using Shape = TypeParam;
  const double h = 1e-5;
  for (const auto& xi : inside) {
    double g[Shape::nodes][Shape::dim];
    Shape::gradients(xi, g);
    for (int k = 0; k < Shape::dim; ++k) {
      double up[3] = {xi[0], xi[1], xi[2]}, down[3] = {xi[0], xi[1], xi[2]}, nu[Shape::nodes], nd[Shape::nodes];
      up[k] += h, down[k] -= h;
      Shape::values(up, nu);
      Shape::values(down, nd);
      // Cubic at most in one coordinate: the central difference is off by h² at most.
      for (int a = 0; a < Shape::nodes; ++a) EXPECT_NEAR(g[a][k], (nu[a] - nd[a]) / (2 * h), 1e-9);
    }
  }
}

TYPED_TEST(ShapeTest, AgreesWithTheTopologyOfTheFramework) {
  using Shape = TypeParam;
  const ShapeTopology& t = shape_topology(Shape::name);
  EXPECT_EQ(t.dim, Shape::dim);
  EXPECT_EQ(t.nodes, Shape::nodes);
  EXPECT_EQ(t.order, Shape::order);
  ASSERT_EQ(static_cast<int>(t.reference_nodes.size()), Shape::nodes);
  ASSERT_EQ(static_cast<int>(t.vtk_order.size()), Shape::nodes);
  for (int a = 0; a < Shape::nodes; ++a)
    for (int k = 0; k < Shape::dim; ++k) EXPECT_EQ(t.reference_nodes[a][k], Shape::node(a, k)) << a << " " << k;
}

using Position = std::array<double, 3>;

Position centre_of(const ShapeTopology& t, const std::vector<int>& nodes) {
  Position c{0, 0, 0};
  for (int a : nodes)
    for (int k = 0; k < 3; ++k) c[k] += t.reference_nodes[a][k] / static_cast<double>(nodes.size());
  return c;
}

TEST(ShapeTopology, FaceNormalsPointOutwardsAndCloseTheCell) {
  for (const ShapeTopology& t : all_shape_topologies()) {
    if (t.dim < 2) continue;
    std::vector<int> all(t.corners);
    for (int a = 0; a < t.corners; ++a) all[a] = a;
    const Position middle = centre_of(t, all);
    Position closed{0, 0, 0};
    for (const ShapeFace& face : t.faces) {
      const ShapeTopology& side = shape_topology(face.shape);
      ASSERT_EQ(side.nodes, static_cast<int>(face.nodes.size())) << t.name;
      EXPECT_EQ(side.order, t.order) << t.name;
      const std::vector<int> corners(face.nodes.begin(), face.nodes.begin() + side.corners);
      // Twice the area vector, by the corners.
      Position normal{0, 0, 0};
      const auto x = [&](int i) { return t.reference_nodes[corners[i]]; };
      if (t.dim == 2) {
        normal = {2 * (x(1)[1] - x(0)[1]), -2 * (x(1)[0] - x(0)[0]), 0};
      } else {
        for (int i = 1; i + 1 < side.corners; ++i)
          for (int k = 0; k < 3; ++k) {
            const int l = (k + 1) % 3, m = (k + 2) % 3;
            normal[k] += (x(i)[l] - x(0)[l]) * (x(i + 1)[m] - x(0)[m]) - (x(i)[m] - x(0)[m]) * (x(i + 1)[l] - x(0)[l]);
          }
      }
      const Position c = centre_of(t, corners);
      double outwards = 0;
      for (int k = 0; k < 3; ++k) outwards += normal[k] * (c[k] - middle[k]), closed[k] += normal[k];
      EXPECT_GT(outwards, 0) << t.name;
      // A middle node of a face lies between the corners that the face's own shape says.
      for (const auto& edge : side.edges)
        for (int k = 0; edge.size() == 3 && k < 3; ++k) {
          const auto y = [&](int i) { return t.reference_nodes[face.nodes[edge[i]]][k]; };
          EXPECT_EQ(y(2), 0.5 * (y(0) + y(1))) << t.name;
        }
    }
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(closed[k], 0, 1e-15) << t.name;
  }
}

TEST(ShapeTopology, CountsFollowEuler) {
  // Vertices − edges + faces = 2 for a solid; a plane cell has as many edges as corners.
  for (const ShapeTopology& t : all_shape_topologies()) {
    const int euler = t.corners - static_cast<int>(t.edges.size()) + static_cast<int>(t.faces.size());
    if (t.dim == 3) {
      EXPECT_EQ(euler, 2) << t.name;
    } else if (t.dim == 2) {
      EXPECT_EQ(t.corners, static_cast<int>(t.edges.size())) << t.name;
    }
  }
}

TEST(ShapeTopology, HasVtksCellTypes) {
  // vtkCellType.h
  EXPECT_EQ(shape_topology("line2").vtk_type, 3);
  EXPECT_EQ(shape_topology("line3").vtk_type, 21);
  EXPECT_EQ(shape_topology("tri3").vtk_type, 5);
  EXPECT_EQ(shape_topology("tri6").vtk_type, 22);
  EXPECT_EQ(shape_topology("quad4").vtk_type, 9);
  EXPECT_EQ(shape_topology("quad8").vtk_type, 23);
  EXPECT_EQ(shape_topology("tet4").vtk_type, 10);
  EXPECT_EQ(shape_topology("tet10").vtk_type, 24);
  EXPECT_EQ(shape_topology("wedge6").vtk_type, 13);
  EXPECT_EQ(shape_topology("wedge15").vtk_type, 26);
  EXPECT_EQ(shape_topology("hex8").vtk_type, 12);
  EXPECT_EQ(shape_topology("hex20").vtk_type, 25);
  EXPECT_EQ(shape_topology("quad9").vtk_type, 28);    // VTK_BIQUADRATIC_QUAD
  EXPECT_EQ(shape_topology("hex27").vtk_type, 29);    // VTK_TRIQUADRATIC_HEXAHEDRON
  EXPECT_EQ(shape_topology("wedge18").vtk_type, 32);  // VTK_BIQUADRATIC_QUADRATIC_WEDGE
}

TEST(ShapeTopology, VtksNodesInsideFacesLieWhereItsDocumentationDrawsThem) {
  const auto at = [](const char* name, int vtk_node) {
    const ShapeTopology& t = shape_topology(name);
    return t.reference_nodes[t.vtk_order[vtk_node]];
  };
  using P = std::array<double, 3>;
  EXPECT_EQ(at("quad9", 8), (P{0, 0, 0}));
  const P hexahedron[] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}, {0, 0, 0}};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(at("hex27", 20 + i), hexahedron[i]) << i;
  const P wedge[] = {{0.5, 0, 0}, {0.5, 0.5, 0}, {0, 0.5, 0}};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(at("wedge18", 15 + i), wedge[i]) << i;
}

TEST(ShapeTopology, CentresOfFacesLieBetweenTheirCorners) {
  for (const ShapeTopology& t : all_shape_topologies())
    for (const ShapeFace& face : t.faces) {
      if (face.nodes.size() != 9) continue;
      for (int k = 0; k < 3; ++k) {
        double middle = 0;
        for (int i = 0; i < 4; ++i) middle += t.reference_nodes[face.nodes[i]][k] / 4;
        EXPECT_EQ(t.reference_nodes[face.nodes[8]][k], middle) << t.name;
      }
    }
}

TEST(ShapeTopology, NamesTheShapesThereAreWhereOneIsNot) {
  try {
    shape_topology("hex9");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(std::string(error.what()).find("hex9"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("hex20"), std::string::npos);
  }
}

}  // namespace
}  // namespace voussoir
