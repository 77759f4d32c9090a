// A thick-walled cylinder under internal pressure, elastic and perfectly plastic, in plane strain: Hill, The
// Mathematical Theory of Plasticity, 1950, chapter V.2, with the yield stress in plane strain Y = 2 σy / √3.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/plastic_material.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/transient_problem.hpp>

#include "support/expect_error.hpp"

namespace voussoir::validation {
namespace {

/// A quarter of a cylinder of inner radius 100 and outer radius 200, one element long.
struct Cylinder {
  static constexpr double inner = 100, outer = 200, young = 210, poisson = 0.3, yield = 0.24;
  static constexpr double plane_yield = 2 * yield / std::numbers::sqrt3;
  static constexpr double angle = std::numbers::pi / 2;
  Domain domain;

  explicit Cylinder(const std::string& type) {
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {8, 4, 1};
    mesh.lower = {inner, 0, 0};
    mesh.upper = {outer, angle, 20};
    mesh.map = [](double r, double phi, double z) {
      return std::array<double, 3>{r * std::cos(phi), r * std::sin(phi), z};
    };
    auto steel = std::make_shared<PlasticMaterial>("steel", std::vector<HardeningPoint>{{yield, 0}});
    steel->set("young", young).set("poisson", poisson);
    add_box_mesh(domain, mesh).set_material(steel);
    domain.prescribe("ymin", "uy");
    domain.prescribe("zmin", "uz");
    domain.prescribe("zmax", "uz");
    domain.prescribe("ymax", "ux");
    domain.add_load_case("inside").pressure("xmin", 1);
  }

  /// The pressure at which the body is plastic up to a radius.
  static double pressure(double radius) {
    return plane_yield * (std::log(radius / inner) + 0.5 * (1 - radius * radius / (outer * outer)));
  }
  /// What the outer radius grows by.
  static double growth(double radius) {
    return plane_yield * radius * radius * (1 - poisson * poisson) / (young * outer);
  }
  static double limit() { return plane_yield * std::log(outer / inner); }

  /// The state at each of the pressures.
  std::vector<StepResult> load(const std::vector<double>& pressures) const {
    TransientOptions options;
    options.method = "static";
    options.solver = "direct";
    options.backend = "openmp";
    const auto analysis = make_transient_analysis(domain, options);
    std::vector<Amplitude::Point> points{{0, 0}};
    TimeSteps steps;
    for (const double p : pressures) {
      points.push_back({static_cast<double>(points.size()), p});
      steps.times.push_back(points.back().first);
    }
    analysis->loads().add_load_case("inside", Amplitude(points));
    steps.end = points.back().first;
    steps.step = 0.25;
    steps.automatic = true;
    steps.longest = 0.25;
    steps.shortest = 0.02;
    analysis->set_steps(steps);
    return analysis->run();
  }
};

TEST(PlasticCylinder, PlasticRadiusAndGrowth) {
  const std::vector<double> radii{110, 125, 150, 175};
  for (const char* type : {"solid.hex20.reduced", "solid.hex20"}) {
    const Cylinder cylinder(type);
    std::vector<double> pressures;
    for (const double radius : radii) pressures.push_back(Cylinder::pressure(radius));
    const std::vector<StepResult> results = cylinder.load(pressures);
    ASSERT_EQ(results.size(), radii.size());
    const std::int32_t outside = cylinder.domain.node_set("xmax")[0];
    const auto at = cylinder.domain.coordinates().subspan(3 * static_cast<std::size_t>(outside), 3);
    for (std::size_t k = 0; k < radii.size(); ++k) {
      SCOPED_TRACE(std::string(type) + ", plastic up to " + std::to_string(radii[k]));
      const StepResult& result = results[k];
      const double growth =
          (at[0] * result.unknowns.at(outside, "ux") + at[1] * result.unknowns.at(outside, "uy")) / Cylinder::outer;
      // Hill's solution neglects that the elastic strains of the plastic part are compressible.
      EXPECT_NEAR(growth, Cylinder::growth(radii[k]), 0.015 * Cylinder::growth(radii[k]));
      double farthest = 0, nearest = Cylinder::outer;  // of points that yield, and of points that do not
      const PointField& field = result.points.at(0);
      for (std::int32_t e = 0; e < cylinder.domain.block(0).size(); ++e)
        for (int p = 0; p < field.points; ++p) {
          const double radius = std::hypot(field.at(e, p, "x"), field.at(e, p, "y"));
          if (field.at(e, p, "peeq") > 0)
            farthest = std::max(farthest, radius);
          else
            nearest = std::min(nearest, radius);
        }
      EXPECT_LT(farthest, radii[k] + 6);
      EXPECT_GT(nearest, radii[k] - 6);
    }
  }
}

TEST(PlasticCylinder, LimitPressure) {
  const Cylinder cylinder("solid.hex20.reduced");
  EXPECT_NO_THROW(cylinder.load({0.9 * Cylinder::limit(), 0.998 * Cylinder::limit()}));
  testing::expect_error(ErrorCode::not_converged, {}, [&] {
    cylinder.load({0.9 * Cylinder::limit(), 1.004 * Cylinder::limit()});
  });
}

}  // namespace
}  // namespace voussoir::validation
