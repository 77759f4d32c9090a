#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/bodies.hpp>

namespace voussoir {
namespace {

struct BodiesOf : ::testing::Test {
  void add_box(const std::string& prefix, double x) {
    BoxMesh mesh;
    mesh.cells = {2, 1, 1};
    mesh.lower = {x, 0, 0};
    mesh.upper = {x + 2, 1, 1};
    mesh.block = prefix + "box";
    mesh.set_prefix = prefix;
    add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>(prefix + "m", 1000, 0.3));
  }
  std::int32_t count() {
    return Bodies(AnalysisModel(domain, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer())).count();
  }
  Domain domain;
};

TEST_F(BodiesOf, BoxesAreAsManyAsHangTogether) {
  add_box("a_", 0);
  EXPECT_EQ(count(), 1);
  add_box("b_", 5);
  EXPECT_EQ(count(), 2);
  const Id a = domain.node_id(domain.node_set("a_xmax")[0]), b = domain.node_id(domain.node_set("b_xmin")[0]);
  domain.add_equation({{a, "ux", 1}, {b, "ux", -1}});
  EXPECT_EQ(count(), 1);
}

TEST_F(BodiesOf, HeldNodesTieNothing) {
  // The middle of three layers of nodes is held altogether: two systems of equations that know nothing of each other.
  add_box("a_", 0);
  domain.add_node_set_where("middle", [](double x, double, double) { return std::abs(x - 1) < 1e-9; });
  domain.prescribe("middle", "ux");
  EXPECT_EQ(count(), 1);
  domain.prescribe("middle", "uy");
  domain.prescribe("middle", "uz");
  EXPECT_EQ(count(), 2);
}

TEST_F(BodiesOf, NormsAreThoseOfTheirEquationsOfAnySize) {
  add_box("a_", 0);
  add_box("b_", 5);
  domain.prescribe("a_xmin", "all");
  const AnalysisModel model(domain, Backend::open("openmp:2"), TransformationHandler(), PlainNumberer());
  const Bodies bodies(model);
  ASSERT_EQ(bodies.count(), 2);
  Vector x = model.make_vector(2);
  std::vector<double> values(2 * static_cast<std::size_t>(model.equation_count()));
  double expected[2] = {0, 0};
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const double v = std::sin(1.0 + e);
    values[static_cast<std::size_t>(2 * e)] = 1e200 * v;
    values[static_cast<std::size_t>(2 * e + 1)] = 1e-200 * v;
    if (bodies.of(e) >= 0) expected[bodies.of(e)] += v * v;
  }
  x.from_host(values);
  const auto norms = bodies.norms(model.backend(), x);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(norms[2 * k] / 1e200, std::sqrt(expected[k]), 1e-13);
    EXPECT_NEAR(norms[2 * k + 1] * 1e200, std::sqrt(expected[k]), 1e-13);
  }
  bodies.scale(model.backend(), std::vector<double>{0, 1, 2, 0.5}, x);
  const auto scaled = x.to_host();
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const auto at = static_cast<std::size_t>(2 * e);
    const double first = bodies.of(e) == 0 ? 0 : bodies.of(e) == 1 ? 2 : 1;
    ASSERT_EQ(scaled[at], first * values[at]);
    ASSERT_EQ(scaled[at + 1], (bodies.of(e) == 1 ? 0.5 : 1) * values[at + 1]);
  }
}

}  // namespace
}  // namespace voussoir
