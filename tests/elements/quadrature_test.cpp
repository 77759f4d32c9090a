#include <gtest/gtest.h>

#include <cmath>
#include <voussoir/elements/quadrature/shape_table.hpp>
#include <voussoir/elements/shapes/shapes.hpp>

namespace voussoir {
namespace {

double power(double x, int n) { return n == 0 ? 1.0 : x * power(x, n - 1); }
double factorial(int n) { return n < 2 ? 1.0 : n * factorial(n - 1); }
double on_interval(int n) { return n % 2 ? 0.0 : 2.0 / (n + 1); }

enum class Cell { cube, simplex, wedge };

/// ∫ ξ^i η^j ζ^k over the reference cell, in closed form.
template <int dim>
double exact(Cell cell, const int (&e)[3]) {
  const int i = e[0], j = dim > 1 ? e[1] : 0, k = dim > 2 ? e[2] : 0;
  if (cell == Cell::cube) return on_interval(i) * (dim > 1 ? on_interval(j) : 1.0) * (dim > 2 ? on_interval(k) : 1.0);
  const double triangle = factorial(i) * factorial(j) / factorial(i + j + 2);
  if (cell == Cell::wedge) return triangle * on_interval(k);
  return dim == 2 ? triangle : factorial(i) * factorial(j) * factorial(k) / factorial(i + j + k + 3);
}

/// The largest error over all monomials of a total degree.
template <class Rule>
double error_at_degree(Cell cell, int degree) {
  const auto& q = rule_points<Rule>();
  double worst = 0;
  for (int i = 0; i <= degree; ++i)
    for (int j = 0; j <= (Rule::dim > 1 ? degree - i : 0); ++j) {
      const int k = degree - i - j;
      if (Rule::dim == 1 && i != degree) continue;
      if (Rule::dim == 2 && k != 0) continue;
      double sum = 0;
      for (int p = 0; p < Rule::points; ++p) {
        double value = q.weight[p] * power(q.xi[p][0], i);
        if (Rule::dim > 1) value *= power(q.xi[p][Rule::dim > 1 ? 1 : 0], j);
        if (Rule::dim > 2) value *= power(q.xi[p][Rule::dim > 2 ? 2 : 0], k);
        sum += value;
      }
      const int e[3] = {i, j, k};
      worst = std::fmax(worst, std::fabs(sum - exact<Rule::dim>(cell, e)));
    }
  return worst;
}

template <class Rule>
void check(Cell cell) {
  SCOPED_TRACE(::testing::Message() << Rule::points << " points, degree " << Rule::degree << ", dim " << Rule::dim);
  for (int degree = 0; degree <= Rule::degree; ++degree)
    EXPECT_LT(error_at_degree<Rule>(cell, degree), 1e-14) << degree;
  // It claims no less than it can do.
  EXPECT_GT(error_at_degree<Rule>(cell, Rule::degree + 1), 1e-5);
  for (int p = 0; p < Rule::points; ++p) EXPECT_GT(rule_points<Rule>().weight[p], 0);
}

TEST(Quadrature, GaussRulesHaveTheDegreeTheyClaim) {
  check<GaussLine<1>>(Cell::cube);
  check<GaussLine<2>>(Cell::cube);
  check<GaussLine<3>>(Cell::cube);
  check<GaussLine<4>>(Cell::cube);
  check<GaussLine<5>>(Cell::cube);
  check<GaussQuad<1>>(Cell::cube);
  check<GaussQuad<2>>(Cell::cube);
  check<GaussQuad<3>>(Cell::cube);
  check<GaussQuad<4>>(Cell::cube);
  check<GaussHex<1>>(Cell::cube);
  check<GaussHex<2>>(Cell::cube);
  check<GaussHex<3>>(Cell::cube);
  check<GaussHex<4>>(Cell::cube);
}

TEST(Quadrature, GaussProductsAreExactInEachDirection) {
  // Not only for the total degree: ∫ ξ⁴ η⁴ ζ⁴ = (2/5)³ by 3 × 3 × 3 points.
  const auto& q = rule_points<GaussHex<3>>();
  double sum = 0;
  for (int p = 0; p < 27; ++p) sum += q.weight[p] * power(q.xi[p][0], 4) * power(q.xi[p][1], 4) * power(q.xi[p][2], 4);
  EXPECT_NEAR(sum, 8.0 / 125.0, 1e-15);
}

TEST(Quadrature, TriangleRulesHaveTheDegreeTheyClaim) {
  check<TriangleRule<1>>(Cell::simplex);
  check<TriangleRule<3>>(Cell::simplex);
  check<TriangleRule<6>>(Cell::simplex);
  check<TriangleRule<7>>(Cell::simplex);
}

TEST(Quadrature, TetrahedronRulesHaveTheDegreeTheyClaim) {
  check<TetrahedronRule<1>>(Cell::simplex);
  check<TetrahedronRule<4>>(Cell::simplex);
  check<TetrahedronRule<14>>(Cell::simplex);
}

TEST(Quadrature, WedgeRulesHaveTheDegreeTheyClaim) {
  check<WedgeRule<1, 2>>(Cell::wedge);
  check<WedgeRule<3, 2>>(Cell::wedge);
  check<WedgeRule<3, 3>>(Cell::wedge);
  check<WedgeRule<6, 3>>(Cell::wedge);
}

template <class Rule>
void interpolates_itself() {
  const auto& q = rule_points<Rule>();
  for (int p = 0; p < Rule::points; ++p) {
    double l[Rule::points];
    Rule::interpolate(q.xi[p], l);
    for (int r = 0; r < Rule::points; ++r) EXPECT_NEAR(l[r], p == r ? 1.0 : 0.0, 1e-14);
  }
}

TEST(Quadrature, InterpolationIsOneAtItsPointAndZeroAtTheOthers) {
  interpolates_itself<GaussLine<4>>();
  interpolates_itself<GaussQuad<2>>();
  interpolates_itself<GaussHex<2>>();
  interpolates_itself<GaussHex<3>>();
  interpolates_itself<TriangleRule<1>>();
  interpolates_itself<TriangleRule<3>>();
  interpolates_itself<TetrahedronRule<4>>();
  interpolates_itself<WedgeRule<3, 2>>();
  interpolates_itself<WedgeRule<3, 3>>();
}

TEST(Quadrature, ShapeTableHoldsTheShapeAtThePoints) {
  const auto& table = shape_table<Wedge15, WedgeRule<3, 3>>();
  const auto& q = rule_points<WedgeRule<3, 3>>();
  double n[15], g[15][3];
  Wedge15::values(q.xi[7], n);
  Wedge15::gradients(q.xi[7], g);
  for (int a = 0; a < 15; ++a) {
    EXPECT_EQ(table.value[7][a], n[a]);
    EXPECT_EQ(table.gradient[7][a][2], g[a][2]);
  }
  EXPECT_EQ(table.weight[7], q.weight[7]);
}

}  // namespace
}  // namespace voussoir
