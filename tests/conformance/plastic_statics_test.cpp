#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/domain/plastic_material.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/transient_problem.hpp>

#include "backends_under_test.hpp"

// Statics in increments with plastic flow: every backend against the oracle, and the same bits on every run.

namespace voussoir::conformance {
namespace {

struct PlasticStaticsOn : ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, PlasticStaticsOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

/// A bar that is bent until it yields, and back.
StepResult bend_plastic_bar(const std::string& type, const std::string& backend) {
  Domain d;
  BoxMesh mesh;
  mesh.type = type;
  // A single layer with reduced integration would be a mechanism.
  mesh.cells = type.ends_with("reduced") ? std::array{2, 2, 2} : std::array{type.ends_with("hex20") ? 2 : 3, 1, 1};
  mesh.upper = {3, 1, 1};
  auto metal = std::make_shared<PlasticMaterial>("metal", std::vector<HardeningPoint>{{10, 0}, {20, 0.02}, {26, 0.1}});
  metal->set("young", 1000).set("poisson", 0.25);
  add_box_mesh(d, mesh).set_material(metal);
  for (const char* u : {"ux", "uy", "uz"}) d.prescribe("xmin", u);
  d.prescribe("xmax", "uz", 0.5);
  TransientOptions options;
  options.method = "static";
  const auto analysis = make_transient_analysis(d, Backend::open(backend), options);
  analysis->loads().move_supports(SupportMotion::by_displacement(Amplitude({{0, 0}, {1, 1}, {2, 0.2}})));
  analysis->set_steps(
      {.end = 2, .step = type.find("10") != std::string::npos || type.find("20") != std::string::npos ? 0.5 : 0.25});
  return analysis->run().back();
}

TEST_P(PlasticStaticsOn, AgreesWithTheOracle) {
  for (const char* type : {"finite_solid.hex8", "finite_solid.tet4", "finite_solid.tet10", "finite_solid.hex20.reduced",
                           "solid.hex8.full", "solid.hex20"}) {
    const StepResult expected = bend_plastic_bar(type, oracle), found = bend_plastic_bar(type, GetParam());
    for (std::size_t i = 0; i < expected.unknowns.values.size(); ++i)
      EXPECT_NEAR(found.unknowns.values[i], expected.unknowns.values[i], 1e-8) << type << " " << i;
    const PointField &a = found.points.at(0), &b = expected.points.at(0);
    const auto at = static_cast<std::size_t>(b.name_index("peeq"));
    double largest = 0;
    for (std::size_t p = at; p < b.values.size(); p += b.names.size()) {
      EXPECT_NEAR(a.values[p], b.values[p], 1e-7) << type;
      largest = std::max(largest, b.values[p]);
    }
    EXPECT_GT(largest, 0.01) << type;
    const StepResult again = bend_plastic_bar(type, GetParam());
    EXPECT_EQ(again.unknowns.values, found.unknowns.values) << type;
  }
}

}  // namespace
}  // namespace voussoir::conformance
