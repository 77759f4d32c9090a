#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/mesh/block_mesh.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/solvers/static_problem.hpp>
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using V = std::array<double, 3>;

V at(const Domain& domain, std::int32_t node) {
  const auto x = domain.coordinates().subspan(3 * static_cast<std::size_t>(node), 3);
  return {x[0], x[1], x[2]};
}
V minus(const V& a, const V& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double triple(const V& a, const V& b, const V& c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/// What every mesh must be: no element inside out at any corner, no face in more than two elements, no two nodes at one
/// place, every node used. Returns the faces that belong to one element and the sum of all volumes (from the corners).
struct Checked {
  std::size_t boundary_faces = 0;
  double volume = 0;
};

Checked check_mesh(const Domain& domain) {
  Checked result;
  std::vector<std::array<std::int32_t, 4>> faces;  // corners, ascending
  std::vector<char> used(domain.node_count(), 0);
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const ShapeTopology& shape = shape_topology(block.type().shape());
    // The neighbours of each corner along edges, in a right-handed order in the reference cell.
    std::vector<std::array<int, 3>> neighbours;
    if (shape.dim == 3)
      for (int c = 0; c < shape.corners; ++c) {
        std::vector<int> ends;
        for (const auto& edge : shape.edges)
          if (edge[0] == c || edge[1] == c) ends.push_back(edge[0] == c ? edge[1] : edge[0]);
        const auto& r = shape.reference_nodes;
        if (triple(minus(r[ends[0]], r[c]), minus(r[ends[1]], r[c]), minus(r[ends[2]], r[c])) < 0)
          std::swap(ends[0], ends[1]);
        neighbours.push_back({ends[0], ends[1], ends[2]});
      }
    int inside_out = 0;
    for (std::int32_t e = 0; e < block.size(); ++e) {
      const auto nodes = block.nodes(e);
      for (const std::int32_t n : nodes) used[n] = 1;
      for (std::size_t c = 0; c < neighbours.size(); ++c) {
        const V x = at(domain, nodes[c]);
        const auto& [i, j, k] = neighbours[c];
        if (!(triple(minus(at(domain, nodes[i]), x), minus(at(domain, nodes[j]), x), minus(at(domain, nodes[k]), x)) >
              0))
          ++inside_out;
      }
      for (const ShapeFace& face : shape.faces) {
        const int corners = shape_topology(face.shape).corners;
        std::array<std::int32_t, 4> key{-1, -1, -1, -1};
        for (int i = 0; i < corners; ++i) key[i] = nodes[face.nodes[i]];
        if (shape.dim == 3)  // by Gauss's theorem; the mean of both ways to cut a quadrilateral
          for (int i = 0; i < (corners == 4 ? 4 : 1); ++i)
            result.volume +=
                triple(at(domain, key[i]), at(domain, key[(i + 1) % corners]), at(domain, key[(i + 2) % corners])) /
                (corners == 4 ? 12 : 6);
        else
          result.volume +=
              0.5 * (at(domain, key[0])[0] * at(domain, key[1])[1] - at(domain, key[0])[1] * at(domain, key[1])[0]);
        std::sort(key.begin(), key.end());
        faces.push_back(key);
      }
    }
    EXPECT_EQ(inside_out, 0) << block.name();
  }
  std::sort(faces.begin(), faces.end());
  for (std::size_t i = 0; i < faces.size();) {
    std::size_t next = i + 1;
    while (next < faces.size() && faces[next] == faces[i]) ++next;
    EXPECT_LE(next - i, 2u);
    result.boundary_faces += next == i + 1;
    i = next;
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), 0), 0) << "nodes that no element uses";
  std::vector<std::array<std::int64_t, 3>> places;
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const V x = at(domain, n);
    places.push_back({std::llround(x[0] * 1e8), std::llround(x[1] * 1e8), std::llround(x[2] * 1e8)});
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  EXPECT_EQ(places.size(), static_cast<std::size_t>(domain.node_count())) << "nodes that should be one";
  return result;
}

/// Mid-side nodes may leave the middle of their edge where it is curved, but not far.
void check_mid_sides(const Domain& domain) {
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const ShapeTopology& shape = shape_topology(block.type().shape());
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (const auto& edge : shape.edges) {
        const auto nodes = block.nodes(e);
        const V p = at(domain, nodes[edge[0]]), q = at(domain, nodes[edge[1]]), m = at(domain, nodes[edge[2]]);
        const V off{m[0] - 0.5 * (p[0] + q[0]), m[1] - 0.5 * (p[1] + q[1]), m[2] - 0.5 * (p[2] + q[2])};
        const V d = minus(p, q);
        ASSERT_LT(std::hypot(off[0], off[1], off[2]), 0.2 * std::hypot(d[0], d[1], d[2])) << "element " << block.id(e);
      }
  }
}

class EverySolidShape : public ::testing::TestWithParam<const char*> {};

TEST_P(EverySolidShape, FillsABoxExactly) {
  BoxModel model;
  model.type = GetParam();
  model.extent = {3, 2, 1};
  model.fineness = {0.5, 0};
  Domain domain;
  add_box_model(domain, model);
  const Checked mesh = check_mesh(domain);
  EXPECT_NEAR(mesh.volume, 6, 1e-12);
  // 6 × 4 × 2 cells have 2 (24 + 12 + 8) outer squares: quadrilaterals, two triangles each, or, of wedges that stand
  // along z, triangles below and above.
  const std::string type = GetParam();
  const std::size_t expected = type.find("hex") != std::string::npos   ? 88
                               : type.find("tet") != std::string::npos ? 176
                                                                       : 136;
  EXPECT_EQ(mesh.boundary_faces, expected);
  for (const char* side : {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"})
    EXPECT_TRUE(domain.has_surface(side)) << side;
  for (const std::int32_t n : domain.node_set("zmax")) EXPECT_EQ(at(domain, n)[2], 1);
  EXPECT_EQ(domain.surface("zmax").size(), type.find("hex") != std::string::npos ? 24u : 48u);
}

TEST_P(EverySolidShape, FillsACylinderUpToTheChordsOfItsCircle) {
  CylinderModel model;
  model.type = GetParam();
  model.radius = 0.5;
  model.length = 1;
  model.fineness = {0.15, 0};
  Domain domain;
  add_cylinder_model(domain, model);
  const Checked mesh = check_mesh(domain);
  // The circle is a regular polygon; its corners are the corner nodes of the outer side on the ground.
  std::set<std::int32_t> corners;
  const ElementBlock& block = domain.block("cylinder");
  const int count = shape_topology(block.type().shape()).corners;
  for (std::int32_t e = 0; e < block.size(); ++e)
    for (int i = 0; i < count; ++i) {
      const V x = at(domain, block.nodes(e)[i]);
      if (x[2] == 0 && std::hypot(x[0], x[1]) > 0.5 - 1e-9) corners.insert(block.nodes(e)[i]);
    }
  const auto n = static_cast<double>(corners.size());
  EXPECT_GE(n, 16);
  EXPECT_NEAR(mesh.volume, n / 2 * 0.25 * std::sin(2 * std::numbers::pi / n), 1e-9);
  if (shape_topology(block.type().shape()).order == 2) check_mid_sides(domain);
  for (const std::int32_t node : domain.node_set("outer"))  // mid-side nodes too
    EXPECT_NEAR(std::hypot(at(domain, node)[0], at(domain, node)[1]), 0.5, 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Shapes, EverySolidShape,
                         ::testing::Values("solid.hex8", "solid.hex20", "solid.tet4", "solid.tet10", "solid.wedge6",
                                           "solid.wedge15"),
                         [](const auto& info) { return std::string(info.param).substr(6); });

TEST(SampleModels, BoxBendsAsBeamTheorySays) {
  BoxModel model;
  model.type = "solid.hex20";
  model.extent = {4, 0.2, 0.2};
  model.fineness = {0.2, 0};
  model.material.poisson = 0;
  Domain domain;
  const auto steps = add_box_model(domain, model);
  auto analysis = make_static_analysis(domain, {.backend = "openmp", .solver = "direct"});
  analysis->add_step({steps[0].name, steps[0].load_cases, 1});
  const double bent = analysis->run().front().unknowns.largest("uz").value;
  const double theory = -3 * model.pressure * std::pow(4, 4) / (2 * model.material.young * std::pow(0.2, 3));
  EXPECT_NEAR(bent / theory, 1, 0.01);  // shear adds 0.3 %
}

TEST(SampleModels, TubeGrowsAsLameSays) {
  CylinderModel model;
  model.type = "solid.hex20";
  model.inner_radius = 0.3;
  model.length = 0.4;
  model.fineness = {0.1, 0};
  Domain domain;
  const auto steps = add_cylinder_model(domain, model);
  check_mesh(domain);
  auto analysis = make_static_analysis(domain, {.backend = "openmp", .solver = "direct"});
  analysis->add_step({steps[0].name, steps[0].load_cases, 1});
  const StepResult result = analysis->run().front();
  // Open ends: u(a) = p a ((1 − ν) a² + (1 + ν) b²) / (E (b² − a²)).
  const double a = 0.3, b = 0.5, nu = 0.3;
  const double theory = model.pressure * a * ((1 - nu) * a * a + (1 + nu) * b * b) / (210e9 * (b * b - a * a));
  for (const std::int32_t n : domain.node_set("inner")) {
    const V x = at(domain, n);
    const double u = (result.unknowns.at(n, 0) * x[0] + result.unknowns.at(n, 1) * x[1]) / a;
    EXPECT_NEAR(u / theory, 1, 2e-3);
  }
}

TEST(SampleModels, PlateHasItsAreaAndKirschsStress) {
  for (const bool quarter : {true, false})
    for (const char* type : {"plane_stress.quad8", "plane_stress.tri3", "solid.hex8", "solid.wedge15"}) {
      SCOPED_TRACE(type);
      PlateModel model;
      model.type = type;
      model.quarter = quarter;
      model.thickness = 0.05;
      model.fineness = {0.05, 0};
      Domain domain;
      add_plate_model(domain, model);
      const Checked mesh = check_mesh(domain);
      const double area = (2 * 1 - std::numbers::pi * 0.01) / (quarter ? 4 : 1);
      EXPECT_NEAR(mesh.volume / area, std::string(type).starts_with("solid") ? 0.05 : 1, 3e-4);
    }
  PlateModel model;
  model.width = model.height = 4;
  model.radius = 0.1;
  model.fineness = {0.02, 0};
  Domain domain;
  const auto steps = add_plate_model(domain, model);
  auto analysis = make_static_analysis(domain, {.backend = "openmp", .solver = "direct"});
  analysis->add_step({steps[0].name, steps[0].load_cases, 1});
  const auto stress = nodal_stress(domain, analysis->run().front());
  EXPECT_NEAR(stress[0].field.largest("sxx").value / model.tension, 3, 0.06);
}

class PumpOfEveryShape : public ::testing::TestWithParam<const char*> {};

TEST_P(PumpOfEveryShape, IsOneSoundBodyStandingOnItsFeet) {
  PumpModel model;
  model.type = GetParam();
  model.fineness = {0, 30000};
  Domain domain;
  add_pump_model(domain, model);
  const Checked mesh = check_mesh(domain);
  const ShapeTopology& shape = shape_topology(domain.block("pump").type().shape());
  if (shape.order == 2) check_mid_sides(domain);
  // Frame: plates, counted by hand (see below); pump: cylinders of the profile, less what chords cut off, and a nozzle.
  EXPECT_GT(mesh.volume, 0.5);
  EXPECT_LT(mesh.volume, 0.6);

  const auto feet = domain.node_set("feet");
  V low{9, 9, 9}, high{-9, -9, -9};
  for (const std::int32_t n : feet) {
    EXPECT_EQ(at(domain, n)[2], 0);
    for (int k = 0; k < 3; ++k)
      low[k] = std::min(low[k], at(domain, n)[k]), high[k] = std::max(high[k], at(domain, n)[k]);
  }
  EXPECT_EQ(low, (V{-0.05, -0.62, 0}));
  EXPECT_EQ(high, (V{2.45, 0.62, 0}));
  EXPECT_EQ(domain.prescribed().size(), feet.size());

  // All in one piece: from one element every other one is reached over shared nodes.
  std::vector<std::int32_t> parent(domain.node_count());
  for (std::int32_t n = 0; n < domain.node_count(); ++n) parent[n] = n;
  const auto root = [&](std::int32_t n) {
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
  };
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e)
      for (const std::int32_t n : domain.block(b).nodes(e)) parent[root(n)] = root(domain.block(b).nodes(e)[0]);
  for (std::int32_t n = 0; n < domain.node_count(); ++n) ASSERT_EQ(root(n), root(0));
}

INSTANTIATE_TEST_SUITE_P(Shapes, PumpOfEveryShape,
                         ::testing::Values("solid.hex8", "solid.hex20", "solid.tet4", "solid.tet10"),
                         [](const auto& info) { return std::string(info.param).substr(6); });

TEST(SampleModels, FrameOfThePumpHasTheVolumeOfItsPlates) {
  PumpModel model;
  model.fineness = {0.05, 0};
  Domain domain;
  add_pump_model(domain, model);
  double volume = 0;
  const ElementBlock& frame = domain.block("frame");
  for (std::int32_t e = 0; e < frame.size(); ++e) {
    const auto nodes = frame.nodes(e);
    double top = 0;
    for (const std::int32_t n : nodes) top = std::max(top, at(domain, n)[2]);
    if (top > 0.55 + 1e-9) continue;  // saddles
    const V a = at(domain, nodes[0]), b = at(domain, nodes[6]);
    volume += (b[0] - a[0]) * (b[1] - a[1]) * (b[2] - a[2]);  // boxes along the axes
  }
  // Long beams: two flanges and a web each, with four stiffeners in them. Legs: two flanges and a web; foot plates.
  // Cross beams, between the webs of the long ones, less what they share with their flanges.
  const double h = 0.2 - 2 * 0.016, inner = 2 * (0.5 - 0.006);
  const double longs = 2 * 2.4 * (2 * 0.14 * 0.016 + h * 0.012), stiffeners = 8 * 0.016 * (0.14 - 0.012) * h;
  const double leg = (0.35 - 0.025) * (2 * 0.14 * 0.016 + (0.14 - 2 * 0.016) * 0.012), foot = 0.24 * 0.24 * 0.025;
  const double shared = 0.07 - 0.006;  // half a flange of a long beam
  const double flanges = 4 * 2 * 0.14 * 0.016 * (inner - 2 * shared);
  const double webs = 4 * 0.012 * h * inner;
  EXPECT_NEAR(volume, longs + stiffeners + 4 * (leg + foot) + flanges + webs, 1e-9);
}

TEST(SampleModels, PumpComesNearToTheUnknownsThatWereAskedFor) {
  for (const char* type : {"solid.hex8", "solid.hex20"})
    for (const std::int64_t dofs : {50000, 300000}) {
      PumpModel model;
      model.type = type;
      model.fineness = {0, dofs};
      Domain domain;
      add_pump_model(domain, model);
      EXPECT_NEAR(3.0 * domain.node_count() / static_cast<double>(dofs), 1, 0.05) << type << " " << dofs;
    }
}

TEST(SampleModels, PumpIsWeighedByItsMassAndLeansSideways) {
  PumpModel model;
  model.fineness = {0, 20000};
  Domain domain;
  const auto steps = add_pump_model(domain, model);
  ASSERT_EQ(steps.size(), 2u);
  const double frame_and_pump = check_mesh(domain).volume;
  auto analysis = make_static_analysis(domain, {.backend = "openmp", .solver = "direct"});
  for (const SampleStep& step : steps) analysis->add_step({step.name, step.load_cases, 1});
  const auto results = analysis->run();
  const double weight = -results[0].load_sum[2];
  EXPECT_GT(weight, 4800 * 9.81 * frame_and_pump);
  EXPECT_LT(weight, 7850 * 9.81 * frame_and_pump);
  EXPECT_NEAR(results[1].load_sum[1] / weight, 0.4, 1e-12);
  EXPECT_NEAR(results[1].reaction_sum[1] / results[1].load_sum[1], -1, 1e-7);
  EXPECT_GT(results[1].unknowns.largest("uy").value, 1e-4);
}

TEST(SampleModels, SayWhatIsWrongWithThem) {
  Domain domain;
  expect_error(ErrorCode::bad_input, {"box", "either the size", "unknowns"}, [&] {
    BoxModel model;
    model.fineness = {0.1, 1000};
    add_box_model(domain, model);
  });
  expect_error(ErrorCode::bad_input, {"box", "extent", "positive"}, [&] {
    BoxModel model;
    model.extent[1] = 0;
    add_box_model(domain, model);
  });
  expect_error(ErrorCode::bad_input, {"box", "solid.hex8"}, [&] {
    BoxModel model;
    model.type = "plane_stress.quad4";
    add_box_model(domain, model);
  });
  expect_error(ErrorCode::bad_input, {"cylinder", "solid.hex8"}, [&] {
    CylinderModel model;
    model.type = "plane_stress.quad4";
    add_cylinder_model(domain, model);
  });
  expect_error(ErrorCode::bad_input, {"box", "heat.hex8", "solid"}, [&] {
    BoxModel model;
    model.type = "heat.hex8";
    add_box_model(domain, model);
  });
  expect_error(ErrorCode::bad_input, {"cylinder", "inner radius"}, [&] {
    CylinderModel model;
    model.inner_radius = 0.5;
    add_cylinder_model(domain, model);
  });
  expect_error(ErrorCode::bad_input, {"plate", "hole does not fit"}, [&] {
    PlateModel model;
    model.radius = 0.5;
    add_plate_model(domain, model);
  });
  expect_error(ErrorCode::bad_input, {"pump", "solid.hex20"}, [&] {
    PumpModel model;
    model.type = "plane_strain.quad4";
    add_pump_model(domain, model);
  });
  expect_error(ErrorCode::bad_input, {"wedges", "hexahedra or tetrahedra"}, [&] {
    PumpModel model;
    model.type = "solid.wedge6";
    add_pump_model(domain, model);
  });
  EXPECT_EQ(domain.node_count(), 0) << "a model that is wrong leaves the domain as it was";
}

}  // namespace
}  // namespace voussoir
