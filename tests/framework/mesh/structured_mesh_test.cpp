#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

namespace voussoir {
namespace {

struct Case {
  const char* type;
  int elements_per_cell;
  // Nodes of a box of n × m × k cells, counted by hand: corners, edges, face diagonals, body diagonals.
  std::int64_t (*nodes)(std::int64_t n, std::int64_t m, std::int64_t k);
};

std::int64_t corners3(std::int64_t n, std::int64_t m, std::int64_t k) { return (n + 1) * (m + 1) * (k + 1); }
std::int64_t corners2(std::int64_t n, std::int64_t m, std::int64_t) { return (n + 1) * (m + 1); }
std::int64_t hex_edges(std::int64_t n, std::int64_t m, std::int64_t k) {
  return n * (m + 1) * (k + 1) + (n + 1) * m * (k + 1) + (n + 1) * (m + 1) * k;
}
const Case cases[] = {
    {"solid.hex8", 1, corners3},
    {"solid.hex20", 1,
     [](std::int64_t n, std::int64_t m, std::int64_t k) { return corners3(n, m, k) + hex_edges(n, m, k); }},
    {"solid.tet4", 6, corners3},
    {"solid.tet10", 6,
     [](std::int64_t n, std::int64_t m, std::int64_t k) { return (2 * n + 1) * (2 * m + 1) * (2 * k + 1); }},
    {"solid.wedge6", 2, corners3},
    {"solid.wedge15", 2,
     [](std::int64_t n, std::int64_t m, std::int64_t k) {
       return corners3(n, m, k) + hex_edges(n, m, k) + n * m * (k + 1);
     }},
    {"plane_stress.quad4", 1, corners2},
    {"plane_stress.quad8", 1,
     [](std::int64_t n, std::int64_t m, std::int64_t) { return corners2(n, m, 0) + n * (m + 1) + (n + 1) * m; }},
    {"plane_stress.tri3", 2, corners2},
    {"plane_stress.tri6", 2, [](std::int64_t n, std::int64_t m, std::int64_t) { return (2 * n + 1) * (2 * m + 1); }},
};

std::array<double, 3> at(const Domain& domain, std::int32_t node) {
  const auto x = domain.coordinates().subspan(3 * static_cast<std::size_t>(node), 3);
  return {x[0], x[1], x[2]};
}

double triple(const std::array<double, 3>& a, const std::array<double, 3>& b, const std::array<double, 3>& c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/// Volume (area) of an element from its corners, by Gauss's theorem over its faces.
double content(const Domain& domain, const ElementBlock& block, std::int32_t element, const ShapeTopology& shape) {
  const auto nodes = block.nodes(element);
  double sum = 0;
  for (const ShapeFace& face : shape.faces) {
    const int corners = face.shape.empty() ? 1 : shape_topology(face.shape).corners;
    std::vector<std::array<double, 3>> x;
    for (int i = 0; i < corners; ++i) x.push_back(at(domain, nodes[face.nodes[i]]));
    if (shape.dim == 2)
      sum += 0.5 * (x[0][0] * x[1][1] - x[0][1] * x[1][0]);
    else if (corners == 3)
      sum += triple(x[0], x[1], x[2]) / 6;
    else  // the mean of both ways to cut it in triangles, which is exact for a bilinear face
      for (int i = 0; i < 4; ++i) sum += triple(x[i], x[(i + 1) % 4], x[(i + 2) % 4]) / 12;
  }
  return sum;
}

class StructuredMesh : public ::testing::TestWithParam<Case> {};

TEST_P(StructuredMesh, FillsTheBoxWithConformingElementsThatAllPointOutwards) {
  const int n = 3, m = 4, k = 5;
  BoxMesh mesh;
  mesh.type = GetParam().type;
  mesh.cells = {n, m, k};
  mesh.lower = {1, 2, 3};
  mesh.upper = {4, 4, 4};
  mesh.distortion = 0.2;
  Domain domain;
  const ElementBlock& block = add_box_mesh(domain, mesh);
  const ShapeTopology& shape = shape_topology(block.type().shape());
  const int layers = shape.dim == 3 ? k : 1;

  EXPECT_EQ(domain.node_count(), GetParam().nodes(n, m, k));
  EXPECT_EQ(block.size(), n * m * layers * GetParam().elements_per_cell);
  EXPECT_EQ(domain.node_id(0), 1);

  double sum = 0;
  for (std::int32_t e = 0; e < block.size(); ++e) {
    const double part = content(domain, block, e, shape);
    EXPECT_GT(part, 0) << "element " << block.id(e);
    sum += part;
  }
  EXPECT_NEAR(sum, shape.dim == 3 ? 3.0 * 2.0 * 1.0 : 3.0 * 2.0, 1e-12);

  // Every face is shared by two elements, with all its nodes, or lies in exactly one of the sides.
  std::map<std::vector<std::int32_t>, int> count;
  for (std::int32_t e = 0; e < block.size(); ++e)
    for (const ShapeFace& face : shape.faces) {
      std::vector<std::int32_t> nodes;
      for (int local : face.nodes) nodes.push_back(block.nodes(e)[local]);
      std::sort(nodes.begin(), nodes.end());
      ++count[nodes];
    }
  std::size_t outside = 0, sides = 0;
  for (const auto& [nodes, times] : count) {
    EXPECT_LE(times, 2);
    outside += times == 1;
  }
  const char* names[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
  for (int s = 0; s < 2 * shape.dim; ++s) {
    const double plane = s % 2 ? mesh.upper[s / 2] : mesh.lower[s / 2];
    std::set<std::int32_t> of_faces;
    for (const FaceRef& f : domain.surface(names[s])) {
      ++sides;
      for (int local : shape.faces[f.face].nodes) {
        const std::int32_t node = block.nodes(f.element)[local];
        of_faces.insert(node);
        EXPECT_EQ(at(domain, node)[s / 2], plane) << names[s];
      }
    }
    const auto set = domain.node_set(names[s]);
    EXPECT_TRUE(std::equal(set.begin(), set.end(), of_faces.begin(), of_faces.end())) << names[s];
  }
  EXPECT_EQ(sides, outside);

  // Mid-side nodes in the middle of straight edges.
  if (shape.order == 2) {
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (const auto& edge : shape.edges)
        for (int a = 0; a < 3; ++a)
          EXPECT_NEAR(at(domain, block.nodes(e)[edge[2]])[a],
                      0.5 * (at(domain, block.nodes(e)[edge[0]])[a] + at(domain, block.nodes(e)[edge[1]])[a]), 1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, StructuredMesh, ::testing::ValuesIn(cases), [](const auto& info) {
  std::string name = info.param.type;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(StructuredMesh, MapsMidSideNodesOntoTheCurveOrKeepsEdgesStraight) {
  // A quarter of a ring with radii 1 … 2.
  BoxMesh mesh;
  mesh.type = "plane_stress.quad8";
  mesh.cells = {2, 3, 1};
  mesh.map = [](double r, double t, double) {
    return std::array<double, 3>{(1 + r) * std::cos(t * M_PI / 2), (1 + r) * std::sin(t * M_PI / 2), 0.0};
  };
  for (bool straight : {false, true}) {
    mesh.straight_edges = straight;
    Domain domain;
    add_box_mesh(domain, mesh);
    double least = 2;
    for (std::int32_t n : domain.node_set("xmin"))
      least = std::min(least, std::hypot(at(domain, n)[0], at(domain, n)[1]));
    // The middle of a chord over 30 degrees lies at cos 15°.
    EXPECT_NEAR(least, straight ? std::cos(M_PI / 12) : 1.0, 1e-14);
  }
}

TEST(StructuredMesh, DistortsReproducibly) {
  BoxMesh mesh;
  mesh.cells = {4, 4, 4};
  mesh.distortion = 0.2;
  Domain a, b, c;
  add_box_mesh(a, mesh);
  add_box_mesh(b, mesh);
  mesh.seed = 2;
  add_box_mesh(c, mesh);
  EXPECT_TRUE(std::equal(a.coordinates().begin(), a.coordinates().end(), b.coordinates().begin()));
  EXPECT_FALSE(std::equal(a.coordinates().begin(), a.coordinates().end(), c.coordinates().begin()));
}

TEST(StructuredMesh, NumbersAlongTheLongestDirectionSoThatTheBandIsNarrow) {
  BoxMesh mesh;
  mesh.cells = {3, 50, 2};
  Domain domain;
  const ElementBlock& block = add_box_mesh(domain, mesh);
  std::int32_t band = 0;
  for (std::int32_t e = 0; e < block.size(); ++e) {
    const auto [low, high] = std::minmax_element(block.nodes(e).begin(), block.nodes(e).end());
    band = std::max(band, *high - *low);
  }
  EXPECT_EQ(band, 4 * 3 + 3 + 1);  // one layer of 4 × 3 nodes, one line of 3, one node
}

TEST(StructuredMesh, SeveralBoxesShareADomain) {
  Domain domain;
  BoxMesh mesh;
  add_box_mesh(domain, mesh);
  mesh.block = "other";
  mesh.set_prefix = "other_";
  mesh.lower = {2, 0, 0};
  mesh.upper = {3, 1, 1};
  const ElementBlock& second = add_box_mesh(domain, mesh);
  EXPECT_EQ(domain.node_count(), 16);
  EXPECT_EQ(second.id(0), 2);
  EXPECT_EQ(domain.node_set("other_xmin").size(), 4u);
  for (std::int32_t n : domain.node_set("other_xmin")) EXPECT_GE(n, 8);
  EXPECT_THROW(add_box_mesh(domain, mesh), Error);
  EXPECT_EQ(domain.node_count(), 16);
}

TEST(StructuredMesh, RefusesWhatMakesNoMesh) {
  Domain domain;
  const auto text = [&](const BoxMesh& mesh) {
    try {
      add_box_mesh(domain, mesh);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  BoxMesh mesh;
  mesh.cells = {2, 0, 2};
  EXPECT_NE(text(mesh).find("along y is 0"), std::string::npos) << text(mesh);
  mesh.cells = {2, 2, 2};
  mesh.upper = {1, 1, 0};
  EXPECT_NE(text(mesh).find("no extent along z"), std::string::npos) << text(mesh);
  mesh.upper = {1, 1, 1};
  mesh.distortion = 0.7;
  EXPECT_NE(text(mesh).find("distortion"), std::string::npos) << text(mesh);
  mesh.distortion = 0;
  mesh.cells = {2000, 2000, 2000};
  EXPECT_NE(text(mesh).find("too large"), std::string::npos) << text(mesh);
  mesh.type = "no.such";
  EXPECT_NE(text(mesh), "nothing");
  EXPECT_EQ(domain.node_count(), 0);
}

}  // namespace
}  // namespace voussoir
