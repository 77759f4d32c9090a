#include <gtest/gtest.h>
#include <voussoir/elements/law_dependence.hpp>
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/physics/polar_orthotropic_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>
#include <voussoir/elements/register_kernel.hpp>

#include <cmath>
#include <vector>

#include "elements/element_run.hpp"
#include "support/finite_strain_laws.hpp"
#include "support/general_laws.hpp"

// What is found out about laws before they are registered.

namespace voussoir {
namespace {

using detail::tangent_origin;

/// Hooke's law, by its flux alone.
struct Hooke {
  static constexpr const char* name = "test_hooke";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"young", "poisson", "density", "expansion"};
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    const R mu = R(0.5) * p[0] / (R(1.0) + p[1]), lambda = R(2.0) * mu * p[1] / (R(1.0) - R(2.0) * p[1]);
    const R thermal = (R(3.0) * lambda + R(2.0) * mu) * p[3] * p.temperature_change;
    Mat3<R> stress;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        stress(i, k) = mu * (grad(i, k) + grad(k, i)) + (i == k ? lambda * trace(grad) - thermal : R(0.0));
    return stress;
  }
};
struct AtATime : Hooke {
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return R(p.time > 1 ? 2.0 : 1.0) * Hooke::flux(p, grad);
  }
};
struct Graded : Hooke {
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return (R(1.0) + p.x[0]) * Hooke::flux(p, grad);
  }
};
struct Softening : Hooke {
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return select_less(trace(grad), R(1e6), R(1.0), R(0.5)) * Hooke::flux(p, grad);
  }
};
struct Warm : Hooke {
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return exp(-p.temperature) * Hooke::flux(p, grad);
  }
};

TEST(LawDependence, TheTangentOfALinearLawDependsOnNothing) {
  EXPECT_EQ((tangent_origin<Hooke, 4>()), Origin::none) << "thermal stress does not count";
  EXPECT_EQ((tangent_origin<Solid, 4>()), Origin::none);
  EXPECT_EQ((tangent_origin<testing::ReactionDiffusion, 2>()), Origin::none);
  EXPECT_EQ((tangent_origin<testing::ThermoElastic, 6>()), Origin::none);
}

TEST(LawDependence, NothingIsSampled) {
  EXPECT_EQ((tangent_origin<AtATime, 4>()), Origin::time);
  EXPECT_EQ((tangent_origin<Graded, 4>()), Origin::position);
  EXPECT_EQ((tangent_origin<Softening, 4>()), Origin::gradient)
      << "though no gradient of a test would reach the branch";
  EXPECT_EQ((tangent_origin<Warm, 4>()), Origin::temperature);
  EXPECT_EQ((tangent_origin<testing::NeoHookeEnergy, 2>()), Origin::gradient);
  EXPECT_EQ((tangent_origin<testing::Ignition, 3>()), Origin::gradient | Origin::value);
  EXPECT_EQ((tangent_origin<testing::J2Plasticity, 4>()), Origin::gradient | Origin::history);
}

/// A law of one unknown by its flux.
struct Scalar {
  static constexpr const char* name = "test_scalar";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"c"};
  static constexpr const char* parameters[] = {"k", "h"};
};
/// A step of the flux: its slope is the same on either side.
struct Stepped : Scalar {
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    Mat<R, 1, 3> q = p[0] * grad;
    for (int k = 0; k < 3; ++k) q(0, k) += p[1] * select_less(grad(0, k), R(0.0), R(-1.0), R(1.0));
    return q;
  }
};
/// A nonlinear law with the stiffness of its start, for a modified Newton method.
struct InitialStiffness : Scalar {
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return (p[0] + p[1] * grad(0, 0) * grad(0, 0)) * grad;
  }
  template <class R>
  VSR_FN static Mat<R, 1, 3> dflux(const Point<R>& p, const Mat<R, 1, 3>&, const Mat<R, 1, 3>& change) {
    return p[0] * change;
  }
};
/// A Hall effect, which is not symmetric and does not say so.
struct Hall : Scalar {
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    Mat<R, 1, 3> q = p[0] * grad;
    q(0, 0) += p[1] * grad(0, 1);
    q(0, 1) -= p[1] * grad(0, 0);
    return q;
  }
};
/// A law that reads a variable which may be something else later.
double factor = 0;
struct Global : Scalar {
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return (p[0] + R(factor) * grad(0, 0)) * grad;
  }
};
/// Positions, temperatures and times in parts that are not multiplied by the gradient.
struct Elsewhere : Scalar {
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    Mat<R, 1, 3> q = p[0] * grad;
    q(0, 0) += p[1] / p.x[0] + log(p.temperature);
    return q;
  }
};
struct Timed : Scalar {
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return (p.time * p[0] + p[1] * p.time_step + (p.time - p.time_step) * p[1]) * grad;
  }
};

TEST(LawDependence, LawsThatOnlyLookLinearAreNot) {
  EXPECT_EQ((tangent_origin<Stepped, 2>()), Origin::gradient);
  EXPECT_EQ((tangent_origin<InitialStiffness, 2>()), Origin::gradient);
  EXPECT_EQ((tangent_origin<Hall, 2>()), Origin::none);
  EXPECT_FALSE((detail::agrees_with_a_tensor<Hall, 2>())) << "not symmetric";
  EXPECT_EQ((tangent_origin<Global, 2>()), Origin::gradient) << "though its factor is zero now";
  EXPECT_EQ((tangent_origin<Timed, 2>()), Origin::time);
  using detail::FoundElement;
  EXPECT_FALSE((FoundElement<PointElement<Stepped, Hex8, Full>>::found()));
  EXPECT_FALSE((FoundElement<PointElement<InitialStiffness, Hex8, Full>>::found()));
  EXPECT_FALSE((FoundElement<PointElement<Hall, Hex8, Full>>::found()));
}

TEST(UniformLaw, IsNotEvaluatedAtZero) {
  EXPECT_TRUE((detail::FoundElement<PointElement<Elsewhere, Hex8, Full>>::found()));
  const double parameters[] = {2.0, 3.0};
  double constants[6];
  detail::UniformLaw<Elsewhere, 2>::prepare(parameters, constants);
  const double expected[] = {2, 0, 0, 2, 0, 2};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(constants[i], expected[i]) << i;
}

/// A plane law that reads the thickness, its element's last parameter.
struct ByThickness : Scalar {
  static constexpr const char* parameters[] = {"k"};
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return (p[0] + p[1]) * grad;
  }
};

TEST(UniformLaw, MayReadTheThicknessOfItsElement) {
  using Found = detail::FoundElement<PointElement<ByThickness, Quad4, Full>>;
  ASSERT_TRUE(Found::found());
  const double parameters[] = {2.0, 0.5};
  double constants[6];
  Found::Completed::prepare(parameters, constants);
  EXPECT_EQ(constants[0], 2.5);
}

/// An energy of the gradient, and a source besides.
struct EnergyAndSource : Scalar {
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    R sum = R(0.0);
    for (int k = 0; k < 3; ++k) sum += grad(0, k) * grad(0, k);
    return R(0.5) * p[0] * sum;
  }
  template <class R>
  VSR_FN static Vec<R, 1> source(const Point<R>& p, const Vec<R, 1>& value, const Mat<R, 1, 3>&) {
    return {{p[1] * value[0]}};
  }
};

TEST(GeneralLaw, AnEnergyDoesNotHideASource) {
  using Response = detail::LawResponse<EnergyAndSource, 2>;
  const double parameters[] = {2.0, 3.0};
  Point<double> p;
  p.x = zero_vector<double, 3>();
  p.parameters = p.constants = parameters;
  p.temperature = p.temperature_change = 0;
  const auto answer = Response::answer(p, Vec<double, 1>{{0.5}}, Mat<double, 1, 3>{{{1, 2, 3}}});
  EXPECT_EQ(answer.source[0], 1.5);
  EXPECT_EQ(answer.flux(0, 2), 6.0);
}

TEST(LawDependence, WhatIsFoundDecidesHowALawIsRegistered) {
  using detail::FoundElement;
  EXPECT_TRUE((FoundElement<PointElement<Hooke, Hex8, Full>>::found()));
  EXPECT_FALSE((FoundElement<PointElement<Graded, Hex8, Full>>::found()));
  EXPECT_FALSE((FoundElement<PointElement<Softening, Hex8, Full>>::found()));
  EXPECT_FALSE((FoundElement<PointElement<testing::Ignition, Hex8, Full>>::found()));
  EXPECT_FALSE((FoundElement<PointElement<Solid, Hex8, Full>>::possible)) << "it has all that it needs";
  EXPECT_FALSE((FoundElement<PointElement<testing::J2Plasticity, Hex8, Full>>::possible));
}

TEST(LawDependence, OperationsOfAnEnergyAreCounted) {
  EXPECT_GT(detail::energy_operations<testing::NeoHookeEnergy>(), 30);
  EXPECT_LT(detail::energy_operations<testing::NeoHookeEnergy>(), 100);
  EXPECT_EQ(detail::energy_operations<Hooke>(), 0);
}

const double crooked[] = {0,   0, 0, 1.1, 0.1,  0,   1,   1,   0.1, -0.1, 0.9, 0,
                          0.1, 0, 1, 1,   -0.1, 1.2, 1.1, 1.1, 0.9, 0,    1,   1};

/// Tangent and action of a law completed by its tensor against those of the library's own solid.
template <class Law, class Formulation>
void expect_stock_matrix() {
  using Own = PointElement<detail::UniformLaw<Law, 4>, Hex8, Formulation>;
  using Stock = PointElement<Solid, Hex8, Formulation>;
  const double table[] = {0, 200, 0.3, 1, 1e-5};
  ElementInput<double, 8, 3, 4> e{};
  for (int a = 0; a < 8; ++a)
    for (int k = 0; k < 3; ++k) e.x[a][k] = crooked[3 * a + k];
  for (int i = 0; i < 24; ++i) e.u[i] = std::sin(1.0 + i);
  e.table = table;
  e.table_rows = 1;
  std::vector<double> own(300), stock(300), action(24), expected(24);
  EXPECT_NEAR(Own::tangent(e, own.data()), Stock::tangent(e, stock.data()), 1e-14);
  double largest = 0;
  for (const double entry : stock) largest = std::max(largest, std::abs(entry));
  for (int i = 0; i < 300; ++i) EXPECT_NEAR(own[i], stock[i], 1e-13 * largest) << i;
  Own::action(e, e.u, action.data());
  Stock::action(e, e.u, expected.data());
  for (int i = 0; i < 24; ++i) EXPECT_NEAR(action[i], expected[i], 1e-12 * largest) << i;
  Own::residual(e, action.data());
  for (int i = 0; i < 24; ++i) EXPECT_NEAR(action[i], expected[i], 1e-12 * largest) << i;
}

TEST(UniformLaw, HasTheMatricesOfTheLibrarysOwnLaw) {
  expect_stock_matrix<Hooke, Full>();
  expect_stock_matrix<Hooke, Incompatible>();
  expect_stock_matrix<Hooke, BBar>();
  expect_stock_matrix<Hooke, Reduced>();
}

/// A body of revolution whose flux depends on the hoop strain and on a value: not symmetric.
struct WarmRing {
  static constexpr const char* name = "test_warm_ring";
  static constexpr int components = 2, gradient_rows = 3;
  static constexpr Geometry geometry = Geometry::axisymmetric;
  static constexpr const char* unknowns[] = {"ux", "uy"};
  static constexpr const char* parameters[] = {"young", "twist"};
  static constexpr bool symmetric = false;
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Vec<R, 2>& value, const Mat3<R>& grad) {
    Mat3<R> f = p[0] * grad;
    f(2, 2) += p[1] * grad(0, 1);
    f(0, 1) += p[1] * value[1];
    return f;
  }
};

/// The tangent summed up as constant_tangents does it, against tangent().
template <class Law, class Shape>
void expect_tangent_of_pieces() {
  using K = PointElement<detail::ConstantLaw<Law>, Shape, Full>;
  using Pieces = typename K::Pieces;
  static_assert(Pieces::constant);
  EXPECT_TRUE((detail::FoundElement<PointElement<Law, Shape, Full>>::found_constant()));
  constexpr int nodes = K::nodes, components = K::components, dofs = nodes * components, kinds = Pieces::kinds;
  double table[2 + K::parameter_count] = {0};
  for (int i = 0; i < K::parameter_count; ++i) table[1 + i] = 0.3 + 0.1 * i;
  typename K::template Input<double> e{};
  for (int a = 0; a < nodes; ++a)
    for (int k = 0; k < K::dim; ++k) e.x[a][k] = Shape::node(a, k) + 3 + 0.1 * std::sin(3.0 * a + k);
  e.table = table;
  e.table_rows = 1;
  std::vector<double> weight(K::points * nodes * kinds), tensor(Pieces::tensor_numbers);
  double health = 1e300;
  for (int q = 0; q < K::points; ++q)
    health = std::min(health, Pieces::scaled_weights_at(
                                  e, q, [&](int a, int k) { return e.x[a][k]; },
                                  [&](int a, int k, double w) { weight[(q * nodes + a) * kinds + k] = w; }));
  Pieces::constant_tensor(table + 1, [&](int place, double value) { tensor[place] = value; });
  std::vector<double> expected(detail::tangent_entries(dofs, K::symmetric));
  EXPECT_NEAR(K::tangent(e, expected.data()), health, 1e-14);
  double largest = 0;
  for (const double entry : expected) largest = std::max(largest, std::abs(entry));
  EXPECT_GT(largest, 0);
  for (int row = 0; row < dofs; ++row)
    for (int column = K::symmetric ? row : 0; column < dofs; ++column) {
      double sum = 0;
      for (int r = 0; r < kinds; ++r)
        for (int c = 0; c < kinds; ++c) {
          const int s = Pieces::slot(row % components, r), t = Pieces::slot(column % components, c);
          for (int q = 0; q < K::points && s >= 0 && t >= 0; ++q)
            sum += tensor[Pieces::place(s, t)] * weight[(q * nodes + row / components) * kinds + r] *
                   weight[(q * nodes + column / components) * kinds + c];
        }
      const int at = K::symmetric ? detail::upper_index<dofs>(row, column) : row * dofs + column;
      EXPECT_NEAR(sum, expected[at], 1e-13 * largest) << row << ' ' << column;
    }
}

TEST(ConstantLaw, HasTheTangentOfItsPieces) {
  expect_tangent_of_pieces<testing::ReactionDiffusion, Hex8>();
  expect_tangent_of_pieces<testing::ConvectionDiffusion, Hex8>();
  expect_tangent_of_pieces<testing::ThermoElastic, Hex8>();
  expect_tangent_of_pieces<testing::ThermoElastic, Tet10>();
  expect_tangent_of_pieces<WarmRing, Quad4>();
}

/// The tangent of B-bar summed up as tensor_tangents does it, against tangent().
template <class Law, class Shape>
void expect_tangent_of_means(std::initializer_list<double> parameters, double size) {
  using K = PointElement<Law, Shape, BBar>;
  using Pieces = typename K::Pieces;
  constexpr int nodes = K::nodes, components = K::components, dofs = nodes * components,
                stored = Pieces::stored_weights;
  std::vector<double> table{0};
  table.insert(table.end(), parameters);
  typename K::template Input<double> e{};
  for (int a = 0; a < nodes; ++a)
    for (int k = 0; k < K::dim; ++k) e.x[a][k] = Shape::node(a, k) + 3 + 0.1 * std::sin(3.0 * a + k);
  for (int i = 0; i < dofs; ++i) e.u[i] = size * std::sin(1.0 + 2.0 * i);
  e.table = table.data();
  e.table_rows = 1;
  const std::vector<double> history(K::points * K::law_history + 1, 0.0);
  e.history = history.data();
  e.history_stride = 1;
  std::vector<double> weight(K::points * nodes * stored), tensor(K::points * Pieces::tensor_numbers), volume(K::points);
  const auto weights_at = [&](int q) {
    return [&, q](int a, int k) -> double& { return weight[(q * nodes + a) * stored + k]; };
  };
  double health = 1e300, whole = 0;
  for (int q = 0; q < K::points; ++q) {
    health = std::min(health, Pieces::plain_weights_at(
                                  e, q, [&](int a, int k) { return e.x[a][k]; },
                                  [&](int a, int k, double w) { weights_at(q)(a, k) = w; }, volume[q]));
    whole += volume[q];
  }
  std::vector<double> mean(dofs, 0.0);
  for (int i = 0; i < dofs; ++i)
    for (int q = 0; q < K::points; ++q)
      mean[i] += volume[q] *
                 Pieces::divergence([&](int a, int k) { return double(weights_at(q)(a, k)); }, i / components,
                                    i % components) /
                 whole;
  for (int q = 0; q < K::points; ++q)
    Pieces::mean_tensor_at(
        e, q, volume[q], [&](int a, int i) { return e.u[a * components + i]; },
        [&](int a, int k) { return double(weights_at(q)(a, k)); },
        [&](int a, int i) { return mean[a * components + i]; },
        [&](int a, int k, double w) { weights_at(q)(a, k) = w; },
        [&](int place, double value) { tensor[q * Pieces::tensor_numbers + place] = value; });
  std::vector<double> expected(detail::tangent_entries(dofs, K::symmetric));
  EXPECT_NEAR(K::tangent(e, expected.data()), health, 1e-14);
  double largest = 0;
  for (const double entry : expected) largest = std::max(largest, std::abs(entry));
  EXPECT_GT(largest, 0);
  for (int row = 0; row < dofs; ++row)
    for (int column = K::symmetric ? row : 0; column < dofs; ++column) {
      double sum = 0;
      for (int q = 0; q < K::points; ++q) {
        const auto seen = [&](int unknown, int kind) {
          const int place = Pieces::weight_of(unknown % components, kind);
          return place < stored ? weights_at(q)(unknown / components, place)
                                : Pieces::shape_at(q, unknown / components);
        };
        for (int r = 0; r < Pieces::kinds; ++r)
          for (int c = 0; c < Pieces::kinds; ++c) {
            const int s = Pieces::slot(row % components, r), t = Pieces::slot(column % components, c);
            if (s >= 0 && t >= 0)
              sum += tensor[q * Pieces::tensor_numbers + Pieces::place(s, t)] * seen(row, r) * seen(column, c);
          }
      }
      const int at = K::symmetric ? detail::upper_index<dofs>(row, column) : row * dofs + column;
      EXPECT_NEAR(sum, expected[at], 1e-12 * largest) << row << ' ' << column;
    }
}

/// A body of revolution that stiffens.
struct StiffeningRing {
  static constexpr const char* name = "test_stiffening_ring";
  static constexpr int components = 2, gradient_rows = 3;
  static constexpr Geometry geometry = Geometry::axisymmetric;
  static constexpr const char* unknowns[] = {"ux", "uy"};
  static constexpr const char* parameters[] = {"young", "more"};
  static constexpr bool symmetric_gradient = true;
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    Mat3<R> strain;
    R square = R(0.0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        strain(i, k) = R(0.5) * (grad(i, k) + grad(k, i));
        square += strain(i, k) * strain(i, k);
      }
    return (p[0] + p[1] * square) * strain;
  }
};

TEST(GeneralLaw, HasTheTangentOfItsMeans) {
  expect_tangent_of_means<testing::J2Plasticity, Hex8>({2, 1, 0.05, 0.3}, 0.05);
  expect_tangent_of_means<StiffeningRing, Quad4>({2, 0.7}, 0.5);
}

/// A plume in a current that grows with x.
struct Shear : testing::Plume {
  template <class R>
  VSR_FN static Vec<R, 1> source(const Point<R>& p, const Vec<R, 1>&, const Mat<R, 1, 3>& grad) {
    return {{p.x[0] * grad(0, 0)}};
  }
};

TEST(ConstantLaw, IsNotFoundWhereTheTangentVaries) {
  EXPECT_TRUE((detail::FoundElement<PointElement<testing::Plume, Hex8, Full>>::found_constant()));
  EXPECT_FALSE((detail::FoundElement<PointElement<Shear, Hex8, Full>>::found_constant()));
  EXPECT_TRUE((detail::FoundElement<PointElement<Shear, Hex8, Full>>::found()));
  EXPECT_FALSE((detail::FoundElement<PointElement<testing::Ignition, Hex8, Full>>::found_constant()));
}

}  // namespace
}  // namespace voussoir
