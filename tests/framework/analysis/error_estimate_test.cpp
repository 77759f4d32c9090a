// The estimate of Zienkiewicz and Zhu, against errors that are known because the exact solution is.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include <voussoir/framework/analysis/error_estimate.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

std::shared_ptr<IsotropicMaterial> steel(const std::string& name = "steel", double young = 200,
                                         double conductivity = 3) {
  auto material = std::make_shared<IsotropicMaterial>(name, young, 0.3, 1.0, 1e-3);
  material->set("conductivity", conductivity);
  return material;
}

StepResult solve(Domain& domain) {
  StaticOptions options;
  options.backend = "openmp:1";
  options.solver = "direct";
  return make_static_analysis(domain, options)->run().front();
}

struct Norms {
  double estimated = 0, exact = 0, percent = 0;
};

/// A block [0.3, 1.3]^dim that conducts, with the temperature T of an exact solution on its whole boundary.
Norms conduct(const std::string& type, int cells, const std::function<double(double, double, double)>& temperature,
              const std::function<std::array<double, 3>(double, double, double)>& gradient) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {cells, cells, cells};
  mesh.lower = {0.3, 0.3, 0};
  mesh.upper = {1.3, 1.3, 1};
  add_box_mesh(domain, mesh).set_material(steel());
  for (const char* side : {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"})
    if (domain.has_node_set(side))
      for (const std::int32_t n : domain.node_set(side)) {
        const auto p = domain.node(domain.node_id(n)).position;
        domain.prescribe_at(domain.node_id(n), "T", temperature(p[0], p[1], p[2]));
      }
  const StepResult result = solve(domain);
  const ErrorEstimate estimate = estimate_error(domain, result.points);
  EXPECT_EQ(estimate.quantity, "flux");
  EXPECT_EQ(estimate.elements, domain.element_count());
  double square = 0;
  const PointField& field = result.points.front();
  for (std::int32_t e = 0; e < domain.block(0).size(); ++e)
    for (int p = 0; p < field.points; ++p) {
      const auto g = gradient(field.at(e, p, "x"), field.at(e, p, "y"), field.at(e, p, "z"));
      const double dx = field.at(e, p, "gx") - g[0], dy = field.at(e, p, "gy") - g[1], dz = field.at(e, p, "gz") - g[2];
      square += 3 * (dx * dx + dy * dy + dz * dz) * field.at(e, p, "volume");
    }
  // The squares of the elements add up, and the percentages are their mean by volume.
  double sum = 0;
  for (const double e : estimate.element_error) sum += e * e;
  EXPECT_NEAR(std::sqrt(sum), estimate.error, 1e-12 * estimate.error);
  return {estimate.error, std::sqrt(square), estimate.percent()};
}

TEST(ErrorEstimate, OfHeatIsNearTheErrorAndFallsWithIt) {
  // T = x³ − 3 x y² is harmonic. Full rules see the error of the flux between the points that are best; where the
  // points are those at which the flux is best (reduced rules, one point), the points alone cannot tell the true error.
  const auto t = [](double x, double y, double) { return x * x * x - 3 * x * y * y; };
  const auto g = [](double x, double y, double) { return std::array<double, 3>{3 * x * x - 3 * y * y, -6 * x * y, 0}; };
  for (const char* type : {"plane_heat.quad4", "heat.hex8"}) {
    const Norms coarse = conduct(type, 4, t, g), fine = conduct(type, 8, t, g);
    EXPECT_NEAR(coarse.estimated, coarse.exact, 0.25 * coarse.exact) << type;
    EXPECT_NEAR(fine.estimated, fine.exact, 0.15 * fine.exact) << type;
    EXPECT_LT(fine.percent, 0.6 * coarse.percent) << type;
    EXPECT_GT(fine.percent, 0.3) << type;
  }
}

TEST(ErrorEstimate, OfQuadraticElementsOnARegularMeshIsNotZero) {
  // There the gradient is exact at the points of the reduced rule, averages of it at nodes agree from all sides, and
  // the error between the points would be overlooked. It is 3 (ξ² − η²) about the middle of a square of side 2 h, less
  // its mean: 3 · 9 · 2 · 4/45 h⁴ = 4.8 h⁴ per area with k = 3.
  const auto t = [](double x, double y, double) { return x * x * x - 3 * x * y * y; };
  const auto g = [](double x, double y, double) { return std::array<double, 3>{3 * x * x - 3 * y * y, -6 * x * y, 0}; };
  for (const char* type : {"plane_heat.quad8", "heat.hex20"})
    for (const int cells : {4, 8}) {
      const double h = 0.5 / cells, expected = std::sqrt(4.8) * h * h;
      EXPECT_NEAR(conduct(type, cells, t, g).estimated, expected, 0.3 * expected) << type << " " << cells;
    }
}

TEST(ErrorEstimate, OfElementsWithOnePointIsNotFooledByTheirPoint) {
  const auto t = [](double x, double y, double) { return x * x - y * y; };
  const auto g = [](double x, double y, double) { return std::array<double, 3>{2 * x, -2 * y, 0}; };
  for (const char* type : {"plane_heat.tri3", "heat.tet4"}) {
    const Norms coarse = conduct(type, 4, t, g), fine = conduct(type, 8, t, g);
    // Of a linear gradient, a constant piece of size h is off by about h/√12 per direction: 3 (4/12 + 4/12) h² in all.
    EXPECT_GT(coarse.estimated, 0.5 * std::sqrt(2.0) / 4) << type;
    EXPECT_LT(coarse.estimated, 1.5 * std::sqrt(2.0) / 4) << type;
    EXPECT_NEAR(fine.estimated, coarse.estimated / 2, 0.3 * coarse.estimated / 2) << type;
  }
}

TEST(ErrorEstimate, OfStressFallsWithTheOrderOfTheElement) {
  // u = ∇φ with φ = x⁴ − 6 x² y² + y⁴ harmonic has neither divergence nor forces: σ = 2 μ ∇u.
  const auto solve_block = [](const std::string& type, int cells) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {cells, cells, 1};
    mesh.upper = {1, 1, 0.25};
    add_box_mesh(domain, mesh).set_material(steel());
    for (const char* side : {"xmin", "xmax", "ymin", "ymax"})
      for (const std::int32_t n : domain.node_set(side)) {
        const auto p = domain.node(domain.node_id(n)).position;
        domain.prescribe_at(domain.node_id(n), "ux", 4 * p[0] * p[0] * p[0] - 12 * p[0] * p[1] * p[1]);
        domain.prescribe_at(domain.node_id(n), "uy", -12 * p[0] * p[0] * p[1] + 4 * p[1] * p[1] * p[1]);
      }
    if (domain.has_node_set("zmin"))
      for (const char* side : {"zmin", "zmax"}) domain.prescribe(side, "uz");
    const StepResult result = solve(domain);
    const ErrorEstimate estimate = estimate_error(domain, result.points);
    EXPECT_EQ(estimate.quantity, "stress");
    // ‖u‖² = ∫ 2 μ ∇u : ∇u is known up to the thickness; the mesh is fine enough for a few percent.
    const double thickness = domain.has_node_set("zmin") ? 0.25 : 1;
    const double mu = 200 / 2.6, a = 12, b = 24;  // uxx = a (x² − y²), uxy = −b x y
    const double energy = 2 * mu * thickness * (2 * a * a * (2.0 / 5 - 2.0 / 9) + 2 * b * b / 9);
    EXPECT_NEAR(estimate.solution * estimate.solution, energy, 0.1 * energy) << type;
    return estimate.percent();
  };
  for (const char* type : {"plane_strain.quad4", "plane_strain.tri3", "solid.hex8", "solid.tet4"}) {
    const double coarse = solve_block(type, 6), fine = solve_block(type, 12);
    EXPECT_GT(coarse, 3) << type;
    EXPECT_LT(fine, 0.65 * coarse) << type;
    EXPECT_GT(fine, 0.35 * coarse) << type;
  }
  for (const char* type : {"plane_strain.quad8", "plane_strain.tri6", "solid.hex20", "solid.tet10", "solid.wedge15"}) {
    const double coarse = solve_block(type, 4), fine = solve_block(type, 8);
    EXPECT_GT(coarse, 0.05) << type;
    EXPECT_LT(fine, 0.45 * coarse) << type;
  }
}

TEST(ErrorEstimate, IsFittedWithinAMaterial) {
  // Two bars that share a line of nodes, one stretched, one not. Along a common face the jumps of stress and strain are
  // orthogonal to each other, so that their product would not tell a fit across materials from one within each.
  const auto percent = [](const std::string& second) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = "solid.hex8";
    mesh.cells = {2, 2, 2};
    mesh.upper = {1, 1, 1};
    mesh.block = "stretched";
    add_box_mesh(domain, mesh).set_material(steel("first"));
    std::map<std::array<int, 3>, Id> at;
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const auto p = domain.node(domain.node_id(n)).position;
      at[{static_cast<int>(std::lround(2 * p[0])), static_cast<int>(std::lround(2 * p[1])),
          static_cast<int>(std::lround(2 * p[2]))}] = domain.node_id(n);
    }
    ElementBlock& block = domain.add_block("still", "solid.hex8");
    block.set_material(steel(second));
    Id next = 1000;
    for (int i = -2; i <= 0; ++i)
      for (int j = 0; j <= 2; ++j)
        for (int k = -2; k <= 0; ++k)
          if (i < 0 || k < 0) {
            domain.add_node(next, 0.5 * i, 0.5 * j, 0.5 * k);
            at[{i, j, k}] = next++;
          }
    for (int i = -2; i < 0; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = -2; k < 0; ++k)
          block.add(next++,
                    {at[{i, j, k}], at[{i + 1, j, k}], at[{i + 1, j + 1, k}], at[{i, j + 1, k}], at[{i, j, k + 1}],
                     at[{i + 1, j, k + 1}], at[{i + 1, j + 1, k + 1}], at[{i, j + 1, k + 1}]});
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const Id id = domain.node_id(n);
      domain.prescribe_at(id, "ux", 0.01 * std::max(0.0, domain.node(id).position[0]));
      domain.prescribe_at(id, "uy");
      domain.prescribe_at(id, "uz");
    }
    return estimate_error(domain, solve(domain).points).percent();
  };
  EXPECT_LT(percent("second"), 1e-6);
  EXPECT_GT(percent("first"), 5);  // of one material, the jump is an error
}

TEST(ErrorEstimate, IsZeroWhereTheSolutionIsExact) {
  // Two bars of different stiffness side by side, stretched alike: the stress jumps where they touch, and is exact.
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {4, 2, 2};
  mesh.upper = {4, 1, 1};
  mesh.block = "soft";
  auto soft = std::make_shared<IsotropicMaterial>("soft", 100, 0.0),
       hard = std::make_shared<IsotropicMaterial>("hard", 700, 0.0);
  add_box_mesh(domain, mesh).set_material(soft);
  ElementBlock& block = domain.add_block("hard", "solid.hex8");
  block.set_material(hard);
  // The second bar uses the top nodes of the first.
  std::map<std::array<int, 3>, Id> at;
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const auto p = domain.node(domain.node_id(n)).position;
    at[{static_cast<int>(std::lround(2 * p[0])), static_cast<int>(std::lround(2 * p[1])),
        static_cast<int>(std::lround(2 * p[2]))}] = domain.node_id(n);
  }
  Id next = 1000;
  for (int i = 0; i <= 4; ++i)
    for (int j = 0; j <= 2; ++j) {
      domain.add_node(next, i, 0.5 * j, 1.5);
      at[{2 * i, j, 3}] = next++;
    }
  Id element = 1000;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      block.add(element++,
                {at[{2 * i, j, 2}], at[{2 * i + 2, j, 2}], at[{2 * i + 2, j + 1, 2}], at[{2 * i, j + 1, 2}],
                 at[{2 * i, j, 3}], at[{2 * i + 2, j, 3}], at[{2 * i + 2, j + 1, 3}], at[{2 * i, j + 1, 3}]});
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const auto p = domain.node(domain.node_id(n)).position;
    if (p[0] == 0 || p[0] == 4) domain.prescribe_at(domain.node_id(n), "ux", 0.01 * p[0]);
    if (p[1] == 0) domain.prescribe_at(domain.node_id(n), "uy");
    if (p[2] == 0) domain.prescribe_at(domain.node_id(n), "uz");
  }
  StepResult result = solve(domain);
  const ErrorEstimate estimate = estimate_error(domain, result.points);
  EXPECT_NEAR(estimate.solution * estimate.solution, 0.01 * 0.01 * (100 * 4 + 700 * 2), 1e-9);
  EXPECT_LT(estimate.percent(), 1e-6);
  EXPECT_EQ(estimate.elements, domain.element_count());
}

TEST(ErrorEstimate, KnowsTheWorstElementsAndLeavesLinesOut) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "plane_stress.quad4";
  mesh.cells = {8, 4, 1};
  mesh.upper = {2, 1, 1};
  add_box_mesh(domain, mesh).set_material(steel());
  ElementBlock& bar = domain.add_block("bar", "plane_truss");
  bar.set_material(steel()).set_section("area", 1e-9);
  bar.add(500, {1, 2});
  domain.prescribe("xmin", "all");
  domain.add_load_case("tip").traction("xmax", {0, -1, 0});
  const StepResult result = solve(domain);
  const ErrorEstimate estimate = estimate_error(domain, result.points);
  ASSERT_EQ(estimate.element_error.size(), 33u);
  EXPECT_TRUE(std::isnan(estimate.element_error.back()));
  EXPECT_EQ(estimate.elements, 32);
  const auto worst = estimate.worst(domain, 3);
  ASSERT_EQ(worst.size(), 3u);
  EXPECT_GE(worst[0].error, worst[1].error);
  for (const double e : estimate.element_error) EXPECT_TRUE(std::isnan(e) || e <= worst[0].error);
  // The clamped corners are the worst of a cantilever.
  const auto nodes = domain.block(0).nodes(worst[0].element.element);
  double left = 2;
  for (const std::int32_t n : nodes) left = std::min(left, domain.coordinates()[3 * n]);
  EXPECT_LE(left, 0.25);
  EXPECT_TRUE(estimate_error(domain, {}).quantity.empty());
  EXPECT_EQ(estimate_error(domain, {}).percent(), 0);
}

TEST(ErrorEstimate, OfARingWeighsByRadius) {
  // The Lamé solution of a thick ring under pressure; the estimate falls with the mesh, and the volume is that of the
  // ring.
  const auto ring = [](int cells) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = "axisymmetric.quad4";
    mesh.cells = {cells, 1, 1};
    mesh.lower = {1, 0, 0};
    mesh.upper = {2, 0.2, 0};
    add_box_mesh(domain, mesh).set_material(steel());
    domain.prescribe("ymin", "uy");
    domain.prescribe("ymax", "uy");
    domain.add_load_case("p").pressure("xmin", 10);
    const StepResult result = solve(domain);
    return estimate_error(domain, result.points).percent();
  };
  const double coarse = ring(4), fine = ring(16);
  EXPECT_GT(coarse, 3);
  EXPECT_NEAR(fine, coarse / 4, 0.3 * coarse / 4);
}

}  // namespace
}  // namespace voussoir
