#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include <voussoir/elements/point/finite_element.hpp>
#include <voussoir/elements/surface/follower_pressure.hpp>

// Elements of large displacements, and pressures that follow them, by themselves.

namespace voussoir {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

/// An element of its own: nodes at the positions of the reference cell, sheared, with the numbers that it reads.
template <class K, class Shape>
struct Alone {
  typename K::template Input<double> e{};
  double table[8] = {0, 1000, 0.3, 2, 0, 0, 0, 0};

  explicit Alone(double first_parameter = 1000) {
    table[1] = first_parameter;
    for (int a = 0; a < K::nodes; ++a) {
      double p[3] = {0, 0, 0};
      for (int k = 0; k < Shape::dim; ++k) p[k] = Shape::node(a, k);
      e.x[a] = {{p[0] + 0.2 * p[1], p[1] - 0.1 * p[2], p[2] + 0.15 * p[0] + (Shape::dim == 2 ? 0.1 * p[0] * p[1] : 0)}};
    }
    e.table = table;
    e.table_rows = 1;
  }
  /// u = (F − 1) x.
  void deform(const Matrix& f) {
    for (int a = 0; a < K::nodes; ++a)
      for (int i = 0; i < 3; ++i) {
        e.u[3 * a + i] = -e.x[a][i];
        for (int j = 0; j < 3; ++j) e.u[3 * a + i] += f[i][j] * e.x[a][j];
      }
  }
};

const double stretch = 1.5, across = std::sqrt(1 - 0.3 * (1.5 * 1.5 - 1));
const Matrix uniaxial{{{stretch, 0, 0}, {0, across, 0}, {0, 0, across}}};
const Matrix sheared{{{1, 0.5, 0}, {0, 1, 0}, {0, 0, 1}}};
/// A quarter turn about z.
const Matrix turned{{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

/// The mean of the first Piola–Kirchhoff stress: Σ f_a ⊗ x_a over the volume.
template <class Shape, class Formulation>
Matrix nominal_stress(const Matrix& f) {
  using K = FiniteElement<FiniteSolid, Shape, Formulation>;
  Alone<K, Shape> alone;
  alone.deform(f);
  double r[K::dofs], out[K::points * K::recovered_count];
  EXPECT_GT(K::residual(alone.e, r), 0);
  EXPECT_GT(K::recover(alone.e, out), 0);
  double volume = 0;
  for (int q = 0; q < K::points; ++q) volume += out[q * K::recovered_count + 3];
  Matrix p{};
  for (int a = 0; a < K::nodes; ++a)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) p[i][j] += r[3 * a + i] * alone.e.x[a][j] / volume;
  return p;
}

// Values of shared cases of the St Venant–Kirchhoff law, E = 1000, ν = 0.3: uniaxial stress S = E (λ² − 1)/2, P = λ S;
// simple shear γ = ½.
template <class Shape, class Formulation>
void expect_closed_forms() {
  SCOPED_TRACE(Shape::name);
  const Matrix pulled = nominal_stress<Shape, Formulation>(uniaxial);
  const Matrix pushed = nominal_stress<Shape, Formulation>(sheared);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(pulled[i][j], i == 0 && j == 0 ? 937.5 : 0, 1e-9);
  EXPECT_NEAR(pushed[0][1], 276.442308, 1e-6);
  EXPECT_NEAR(pushed[1][0], 192.307692, 1e-6);
  EXPECT_NEAR(pushed[0][0], 168.269231, 1e-6);
  EXPECT_NEAR(pushed[1][1], 168.269231, 1e-6);
  // A body that turns is free of stress, and the stress of a deformed one turns with it.
  const Matrix at_rest = nominal_stress<Shape, Formulation>(turned);
  const Matrix both = nominal_stress<Shape, Formulation>(product(turned, sheared)), expected = product(turned, pushed);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      EXPECT_NEAR(at_rest[i][j], 0, 1e-11);
      EXPECT_NEAR(both[i][j], expected[i][j], 1e-9);
    }
}

TEST(FiniteElement, StVenantKirchhoffOfEveryShape) {
  expect_closed_forms<Tet4, Full>();
  expect_closed_forms<Tet10, Full>();
  expect_closed_forms<Wedge6, Full>();
  expect_closed_forms<Wedge6, Reduced>();
  expect_closed_forms<Wedge15, Full>();
  expect_closed_forms<Hex8, Full>();
  expect_closed_forms<Hex20, Full>();
  expect_closed_forms<Hex20, Reduced>();
}

TEST(FiniteElement, ReportsGreensStrainAndCauchysStress) {
  using K = FiniteElement<FiniteSolid, Hex8, Full>;
  Alone<K, Hex8> alone;
  alone.deform(product(turned, uniaxial));
  double out[K::points * K::recovered_count];
  ASSERT_GT(K::recover(alone.e, out), 0);
  const double* values = out + 3 * K::recovered_count;  // any point: all have the same
  EXPECT_NEAR(values[4], 0.625, 1e-12);                 // exx: (λ² − 1) / 2, in the axes of the undeformed body
  EXPECT_NEAR(values[5], (across * across - 1) / 2, 1e-12);
  EXPECT_NEAR(values[10], 0, 1e-9);  // sxx: the body has turned
  EXPECT_NEAR(values[11], 937.5 / (across * across), 1e-9);
  EXPECT_NEAR(values[16], 0.5 * 625 * 0.625, 1e-9);  // ½ S : E
}

TEST(FiniteElement, AnElementTurnedInsideOutIsFound) {
  using K = FiniteElement<FiniteSolid, Hex8, Full>;
  Alone<K, Hex8> alone;
  alone.deform({{{-0.1, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
  double r[K::dofs], out[K::points * K::recovered_count];
  EXPECT_LE(K::residual(alone.e, r), 0);
  EXPECT_LE(K::recover(alone.e, out), 0);
}

/// The tangent of a pressure against the symmetric part of differences of its residual.
template <class Shape>
void expect_symmetric_part() {
  SCOPED_TRACE(Shape::name);
  using K = FollowerPressure<Shape>;
  Alone<K, Shape> alone(7);
  for (int i = 0; i < K::dofs; ++i) alone.e.u[i] = 0.1 * std::sin(1 + 1.7 * i);
  double upper[K::dofs * (K::dofs + 1) / 2], plus[K::dofs], minus[K::dofs];
  ASSERT_GT(K::tangent(alone.e, upper), 0);
  std::vector<double> whole(K::dofs * K::dofs);
  for (int j = 0; j < K::dofs; ++j) {
    const double u = alone.e.u[j], h = 1e-5;
    alone.e.u[j] = u + h;
    K::residual(alone.e, plus);
    alone.e.u[j] = u - h;
    K::residual(alone.e, minus);
    alone.e.u[j] = u;
    for (int i = 0; i < K::dofs; ++i) whole[i * K::dofs + j] = (plus[i] - minus[i]) / (2 * h);
  }
  int at = 0;
  for (int i = 0; i < K::dofs; ++i)
    for (int j = i; j < K::dofs; ++j, ++at)
      EXPECT_NEAR(upper[at], 0.5 * (whole[i * K::dofs + j] + whole[j * K::dofs + i]), 1e-8) << i << " " << j;
}

TEST(FollowerPressure, TangentIsTheSymmetricPart) {
  expect_symmetric_part<Tri3>();
  expect_symmetric_part<Tri6>();
  expect_symmetric_part<Quad4>();
  expect_symmetric_part<Quad8>();
}

TEST(FollowerPressure, PushesOnTheDeformedFace) {
  using K = FollowerPressure<Quad4>;
  Alone<K, Quad4> alone(7);
  double before[K::dofs], after[K::dofs], sum[3] = {0, 0, 0}, turned_sum[3] = {0, 0, 0};
  K::residual(alone.e, before);
  alone.deform(product(turned, {{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}}));
  K::residual(alone.e, after);
  for (int a = 0; a < 4; ++a)
    for (int i = 0; i < 3; ++i) {
      sum[i] += before[3 * a + i];
      turned_sum[i] += after[3 * a + i];
    }
  // Four times the area, and the normal turns with the face.
  EXPECT_NEAR(turned_sum[0], -4 * sum[1], 1e-12);
  EXPECT_NEAR(turned_sum[1], 4 * sum[0], 1e-12);
  EXPECT_NEAR(turned_sum[2], 4 * sum[2], 1e-12);
}

}  // namespace
}  // namespace voussoir
