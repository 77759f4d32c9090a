#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <voussoir/elements/shapes/complete.hpp>
#include <voussoir/elements/shapes/shapes.hpp>
#include <voussoir/framework/domain/shape_functions.hpp>

namespace voussoir {
namespace {

template <class Shape>
class ShapeFunctionsTest : public ::testing::Test {};
using Shapes = ::testing::Types<Line2, Line3, Tri3, Tri6, Quad4, Quad8, Quad9, Tet4, Tet10, Wedge6, Wedge15, Wedge18,
                                Hex8, Hex20, Hex27>;
TYPED_TEST_SUITE(ShapeFunctionsTest, Shapes);

TYPED_TEST(ShapeFunctionsTest, AreThoseOfTheElements) {
  using Shape = TypeParam;
  const ShapeFunctions functions(shape_topology(Shape::name));
  ASSERT_EQ(functions.nodes(), Shape::nodes);
  for (const std::array<double, 3> xi : {std::array{0.21, 0.17, 0.33}, {0.05, 0.61, 0.11}, {0.4, 0.1, -0.2}}) {
    double expected[Shape::nodes], slope[Shape::nodes][Shape::dim];
    Shape::values(xi.data(), expected);
    Shape::gradients(xi.data(), slope);
    double n[Shape::nodes], g[3 * Shape::nodes];
    functions.values(xi, n);
    functions.gradients(xi, g);
    for (int a = 0; a < Shape::nodes; ++a) {
      EXPECT_NEAR(n[a], expected[a], 1e-13) << Shape::name << " " << a;
      for (int k = 0; k < Shape::dim; ++k) EXPECT_NEAR(g[3 * a + k], slope[a][k], 1e-12) << Shape::name << " " << a;
    }
  }
}

TYPED_TEST(ShapeFunctionsTest, RuleIntegratesProductsOfTwo) {
  using Shape = TypeParam;
  const ShapeFunctions functions(shape_topology(Shape::name));
  // Σ_ab ∫ N_a N_b = ∫ 1, and ∫ ξ² of the reference cell: by hand.
  double ones = 0, square = 0, volume = 0;
  for (const auto& q : functions.rule()) {
    double n[Shape::nodes];
    functions.values(q.xi, n);
    double sum = 0;
    for (const double value : n) sum += value;
    ones += q.weight * sum * sum;
    volume += q.weight;
    square += q.weight * q.xi[0] * q.xi[0];
  }
  const std::string name = Shape::name;
  const double cell = name.starts_with("tri")     ? 0.5
                      : name.starts_with("tet")   ? 1.0 / 6
                      : name.starts_with("wedge") ? 1.0
                                                  : std::pow(2.0, Shape::dim);
  const double moment = name.starts_with("tri")     ? 1.0 / 12
                        : name.starts_with("tet")   ? 1.0 / 60
                        : name.starts_with("wedge") ? 1.0 / 6
                                                    : std::pow(2.0, Shape::dim) / 3;
  EXPECT_NEAR(volume, cell, 1e-14);
  EXPECT_NEAR(ones, cell, 1e-13);
  EXPECT_NEAR(square, moment, 1e-14);
}

TYPED_TEST(ShapeFunctionsTest, ClampingKeepsWhatIsInsideAndBringsTheRestBack) {
  const ShapeFunctions functions(shape_topology(TypeParam::name));
  const auto middle = functions.middle();
  EXPECT_EQ(functions.clamped(middle), middle);
  for (const std::array<double, 3> far :
       {std::array{3.0, 3.0, 3.0}, {-2.0, 0.1, 0.2}, {0.2, 5.0, -9.0}, {0.7, 0.7, 0.7}}) {
    const auto xi = functions.clamped(far), again = functions.clamped(xi);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(xi[k], again[k], 1e-15);
    // Inside the cell no corner function of a linear shape is negative.
    const std::string linear =
        std::string(TypeParam::name).substr(0, std::string(TypeParam::name).find_first_of("0123456789"));
    const int corners = shape_topology(TypeParam::name).corners;
    const ShapeFunctions corner_functions(shape_topology(linear + std::to_string(corners)));
    double n[8];
    corner_functions.values(xi, n);
    for (int a = 0; a < corners; ++a) EXPECT_GE(n[a], -1e-14) << TypeParam::name;
  }
}

}  // namespace
}  // namespace voussoir
