#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <voussoir/elements/kernel/upper_triangle.hpp>
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

// The pieces of a matrix make the matrix that the element gives as a whole.

namespace voussoir {
namespace {

/// One element with its nodes moved about, 3 to the right of its reference cell so that a ring has a hole.
template <class Kernel, class Shape, class Formulation>
struct OneElement {
  using K = PointElement<Kernel, Shape, Formulation>;
  static constexpr int parameter_count = K::parameter_count;
  typename K::template Input<double> in;
  std::vector<double> table{0.0};

  OneElement() {
    std::mt19937 generator(3);
    std::uniform_real_distribution<double> move(-0.08, 0.08);
    for (int a = 0; a < K::nodes; ++a) {
      for (int k = 0; k < 3; ++k)
        in.x[a][k] = k < K::dim ? Shape::node(a, k) + move(generator) + (k == 0 ? 3.0 : 0.0) : 0.0;
      in.temperature[a] = in.initial_temperature[a] = 0;
    }
    for (double& u : in.u) u = move(generator);
    for (int i = 0; i < parameter_count; ++i) table.push_back(number(K::parameters[i]));
    in.expansion_reference = 0;
    in.has_temperature = false;
    in.table = table.data();
    in.table_rows = 1;
  }

  static double number(const std::string& name) {
    if (name == "poisson" || name.starts_with("nu")) return 0.3;
    if (name == "axis11" || name == "axis22") return 0.8;
    if (name == "axis12") return 0.6;
    if (name == "axis21") return -0.6;
    if (name == "axis33") return 1;
    if (name.starts_with("axis")) return 0;
    return name.starts_with("E") || name == "young" ? 100.0 + 10 * name.back() : 2.0 + 0.1 * name.back();
  }
};

double largest(const std::vector<double>& v) {
  double m = 0;
  for (const double x : v) m = std::max(m, std::abs(x));
  return m;
}
void expect_equal(const std::vector<double>& v, const std::vector<double>& w) {
  ASSERT_EQ(v.size(), w.size());
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], w[i], 1e-13 * largest(w)) << "entry " << i;
}

template <class Element>
struct PointPiecesTest : ::testing::Test {
  using K = typename Element::K;
  using Pieces = typename K::Pieces;
  Element element;
  std::vector<double> unwritten = std::vector<double>(K::entries, std::nan(""));

  std::vector<double> tangent() const {
    std::vector<double> upper(K::entries);
    EXPECT_GT(K::tangent(element.in, upper.data()), 0);
    return upper;
  }
  /// What modes leave of a tangent over all functions.
  static std::vector<double> without_modes(std::vector<double> full) {
    constexpr int all = K::functions * K::components, dofs = K::dofs;
    const auto at = [&](int i, int j) -> double& {
      return full[detail::upper_index<all>(std::min(i, j), std::max(i, j))];
    };
    for (int m = all - 1; m >= dofs; --m)
      for (int i = 0; i < m; ++i)
        for (int j = i; j < m; ++j) at(i, j) -= at(i, m) * at(j, m) / at(m, m);
    std::vector<double> upper;
    for (int i = 0; i < dofs; ++i)
      for (int j = i; j < dofs; ++j) upper.push_back(at(i, j));
    return upper;
  }
};

using Elements = ::testing::Types<
    OneElement<Solid, Hex8, Full>, OneElement<Solid, Hex8, Incompatible>, OneElement<Solid, Hex8, Reduced>,
    OneElement<Solid, Hex8, BBar>, OneElement<OrthotropicSolid, Hex8, BBar>, OneElement<OrthotropicSolid, Hex8, Full>,
    OneElement<OrthotropicSolid, Hex8, Incompatible>, OneElement<Solid, Hex20, Full>,
    OneElement<OrthotropicSolid, Tet10, Full>, OneElement<Solid, Tet4, Full>, OneElement<Solid, Wedge15, Full>,
    OneElement<Heat, Hex8, Full>, OneElement<PlaneStress, Quad4, Full>, OneElement<PlaneStress, Quad4, Incompatible>,
    OneElement<PlaneStrain, Quad4, BBar>, OneElement<PlaneStrain, Quad4, Reduced>, OneElement<Axisymmetric, Tri3, Full>,
    OneElement<Axisymmetric, Quad4, Incompatible>, OneElement<OrthotropicAxisymmetric, Quad4, BBar>,
    OneElement<Axisymmetric, Quad8, Reduced>, OneElement<AxisymmetricHeat, Quad4, Full>>;
TYPED_TEST_SUITE(PointPiecesTest, Elements);

TYPED_TEST(PointPiecesTest, TangentEntryByEntry) {
  using K = typename TypeParam::K;
  if constexpr (K::Pieces::streams) {
    auto upper = this->unwritten;
    EXPECT_GT(K::Pieces::tangent_to(this->element.in, [&](int place, double value) { upper[place] = value; }), 0);
    expect_equal(upper, this->tangent());
  }
}

TYPED_TEST(PointPiecesTest, TangentByPairs) {
  using K = typename TypeParam::K;
  using Pieces = typename K::Pieces;
  if constexpr (Pieces::pairs) {
    constexpr int rows = Pieces::rows, all = K::functions * K::components;
    const auto& in = this->element.in;
    std::vector<double> g(K::points * K::functions * rows), root(K::points), own(Pieces::room_for_numbers);
    const auto at = [&](int q, int f, int k) -> double& { return g[(q * K::functions + f) * rows + k]; };
    double volume = 0;
    for (int q = 0; q < K::points; ++q) {
      Pieces::gradients_at(in, q, root[q], [&](int f, int k, double value) { at(q, f, k) = value; });
      volume += root[q] * root[q];
    }
    Pieces::prepare(in.table + 1, own.data());
    std::vector<double> full(all * (all + 1) / 2);
    for (int a = 0; a < K::functions; ++a)
      for (int b = a; b < K::functions; ++b) {
        double m[rows][rows] = {}, spread[rows][rows];
        for (int k = 0; k < rows; ++k)
          for (int l = 0; l < rows; ++l) {
            double mean_a = 0, mean_b = 0;
            for (int q = 0; q < K::points; ++q) {
              m[k][l] += at(q, a, k) * at(q, b, l);
              mean_a += root[q] * at(q, a, k);
              mean_b += root[q] * at(q, b, l);
            }
            spread[k][l] = m[k][l] - mean_a * mean_b / volume;
          }
        const auto block = Pieces::block(in.table + 1, own.data(), m, spread);
        for (int i = 0; i < K::components; ++i)
          for (int j = a == b ? i : 0; j < K::components; ++j)
            full[detail::upper_index<all>(a * K::components + i, b * K::components + j)] = block(i, j);
      }
    expect_equal(this->without_modes(full), this->tangent());
  }
}

TYPED_TEST(PointPiecesTest, TangentByPoints) {
  using K = typename TypeParam::K;
  if constexpr (K::Pieces::by_points) {
    std::vector<double> upper(K::entries);
    for (int q = 0; q < K::points; ++q) {
      K::Pieces::point_tangent(this->element.in, q, 1.0, [&](int place, double value) { upper[place] += value; });
      K::Pieces::point_tangent(this->element.in, q, 0.0, [&](int, double value) { EXPECT_EQ(value, 0); });
    }
    expect_equal(upper, this->tangent());
  }
}

TYPED_TEST(PointPiecesTest, MassByPairs) {
  using K = typename TypeParam::K;
  const auto& in = this->element.in;
  std::vector<double> upper(K::entries), pairs(K::entries), lumped(K::entries);
  EXPECT_GT(K::mass(in, upper.data()), 0);
  K::Pieces::mass_pairs(in, [&](int a, int b, double mass) {
    for (int i = 0; i < K::components; ++i)
      pairs[detail::upper_index<K::dofs>(a * K::components + i, b * K::components + i)] = mass;
  });
  expect_equal(pairs, upper);
  double nodes[K::nodes];
  K::node_masses(in, nodes);
  K::lumped_mass(in, lumped.data());
  std::vector<double> product(K::dofs), expected(K::dofs);
  K::Pieces::mass_action(in, in.u, product.data());
  detail::multiply_upper<double, K::dofs>(upper.data(), in.u, expected.data());
  expect_equal(product, expected);
  K::Pieces::lumped_action(in, in.u, product.data());
  detail::multiply_upper<double, K::dofs>(lumped.data(), in.u, expected.data());
  expect_equal(product, expected);
  for (int i = 0; i < K::dofs; ++i) EXPECT_EQ(lumped[detail::upper_index<K::dofs>(i, i)], nodes[i / K::components]);
}

/// Three directions, and what the tangent makes of them.
template <class Element>
struct Directions {
  using K = typename Element::K;
  static constexpr int columns = 3;
  double u[columns][K::dofs];
  std::vector<double> expected[columns];

  explicit Directions(const Element& element) {
    std::vector<double> upper(K::entries);
    K::tangent(element.in, upper.data());
    for (int w = 0; w < columns; ++w) {
      for (int i = 0; i < K::dofs; ++i) u[w][i] = std::sin(1.0 + i + 5.0 * w);
      expected[w].resize(K::dofs);
      detail::multiply_upper<double, K::dofs>(upper.data(), u[w], expected[w].data());
    }
  }
  auto direction() const {
    return [this](int w, int a, int i) { return u[w][a * K::components + i]; };
  }
};

TYPED_TEST(PointPiecesTest, ActionsAreProductsWithTheTangent) {
  using K = typename TypeParam::K;
  const Directions<TypeParam> given(this->element);
  std::vector<double> one(K::dofs), all(4 * K::dofs, std::nan(""));
  const double health = K::action(this->element.in, given.u[0], one.data());
  expect_equal(one, given.expected[0]);
  EXPECT_NEAR((K::template actions<4>(this->element.in, 3, given.direction(), all.data())), health, 1e-14 * health);
  for (int w = 0; w < 3; ++w)
    expect_equal({all.begin() + w * K::dofs, all.begin() + (w + 1) * K::dofs}, given.expected[w]);
  EXPECT_TRUE(std::isnan(all[3 * K::dofs])) << "a fourth column was written";
}

TYPED_TEST(PointPiecesTest, CompactActionsAreProductsWithTheTangent) {
  using K = typename TypeParam::K;
  if constexpr (K::has_compact_action) {
    const Directions<TypeParam> given(this->element);
    const auto& in = this->element.in;
    std::vector<double> scratch(4 * K::dofs, std::nan("")), found(K::dofs);
    const auto room = [&](int n) -> double& { return scratch.at(static_cast<std::size_t>(n)); };
    const auto put = [&](int a, int i, double force) { found[a * K::components + i] = force; };
    typename K::template CompactFlow<double> one[1], three[3];
    const double health = K::action(in, given.u[0], found.data());
    EXPECT_NEAR((K::template compact_actions<K::dofs>(in, given.direction(), room, one)), health, 1e-14 * health);
    one[0].forces(put);
    expect_equal(found, given.expected[0]);
    // With much room directions wait there as well.
    EXPECT_NEAR((K::template compact_actions<4 * K::dofs>(in, given.direction(), room, three)), health, 1e-14 * health);
    for (int w = 0; w < 3; ++w) {
      three[w].forces(put);
      expect_equal(found, given.expected[w]);
    }
  }
}

}  // namespace
}  // namespace voussoir
