#pragma once
#include <voussoir/elements/kernel/fn.hpp>

// The quadrature rules. A rule is a struct with
//   dim, points     dimension of the reference cell, number of points
//   degree          every polynomial up to this total degree is integrated exactly
//   make()          the points and weights, computed by the compiler; the weights sum to the volume of the cell
// and, if the points determine a complete polynomial,
//   interpolate(xi, l)   weights l_q that interpolate values at the points to xi (or extrapolate them)
//
// Reference cells are those of the shapes: the interval, square and cube [−1, 1]ⁿ, the unit triangle and tetrahedron,
// and the triangle times [−1, 1].

namespace voussoir {

/// Points and weights of a rule.
template <int dim, int points>
struct QuadraturePoints {
  double xi[points][dim];  ///< reference coordinates of each point
  double weight[points];   ///< weight of each point
};

/// Gauss–Legendre with n points: degree 2n − 1.
template <int n>
struct GaussLine {
  static_assert(n >= 1 && n <= 5, "Gauss rules are tabulated for 1 to 5 points");
  static constexpr int dim = 1,  ///< dimension of the reference cell
      points = n,                ///< number of points
      degree = 2 * n - 1;        ///< polynomial degree that is integrated exactly

  /// Points in ascending order. The roots and weights are the closed forms of the Legendre polynomials of degree ≤ 5.
  static constexpr QuadraturePoints<1, n> make() {
    QuadraturePoints<1, n> q{};
    if constexpr (n == 1) {
      q.weight[0] = 2.0;
    } else if constexpr (n == 2) {
      pair(q, 0, 0.57735026918962576451, 1.0);  // √(1/3)
    } else if constexpr (n == 3) {
      pair(q, 0, 0.77459666924148337704, 0.55555555555555555556);  // √(3/5), 5/9
      q.weight[1] = 0.88888888888888888889;                        // 8/9
    } else if constexpr (n == 4) {
      pair(q, 0, 0.86113631159405257522, 0.34785484513745385737);  // √(3/7 + 2/7 √(6/5)), (18 − √30)/36
      pair(q, 1, 0.33998104358485626480, 0.65214515486254614263);  // √(3/7 − 2/7 √(6/5)), (18 + √30)/36
    } else {
      pair(q, 0, 0.90617984593866399280, 0.23692688505618908751);  // √(5 + 2√(10/7))/3, (322 − 13√70)/900
      pair(q, 1, 0.53846931010568309104, 0.47862867049936646804);  // √(5 − 2√(10/7))/3, (322 + 13√70)/900
      q.weight[2] = 0.56888888888888888889;                        // 128/225
    }
    return q;
  }

  /// The Lagrange polynomials of the points at xi.
  static constexpr void interpolate(const double* xi, double* l) {
    const auto q = make();
    for (int i = 0; i < n; ++i) {
      l[i] = 1.0;
      for (int j = 0; j < n; ++j)
        if (j != i) l[i] *= (xi[0] - q.xi[j][0]) / (q.xi[i][0] - q.xi[j][0]);
    }
  }

 private:
  static constexpr void pair(QuadraturePoints<1, n>& q, int i, double x, double w) {
    q.xi[i][0] = -x, q.xi[n - 1 - i][0] = x;
    q.weight[i] = q.weight[n - 1 - i] = w;
  }
};

/// The product of a rule on a cell and one on the interval; the index of the cell's points runs fastest.
template <class Base, class Line>
struct ProductRule {
  static constexpr int dim = Base::dim + 1,  ///< dimension of the reference cell
      points = Base::points * Line::points;  ///< number of points
  /// Polynomial degree that is integrated exactly.
  static constexpr int degree = Base::degree < Line::degree ? Base::degree : Line::degree;

  /// Points and weights.
  static constexpr QuadraturePoints<dim, points> make() {
    const auto base = Base::make();
    const auto line = Line::make();
    QuadraturePoints<dim, points> q{};
    for (int j = 0; j < Line::points; ++j)
      for (int i = 0; i < Base::points; ++i) {
        const int p = j * Base::points + i;
        for (int k = 0; k < Base::dim; ++k) q.xi[p][k] = base.xi[i][k];
        q.xi[p][Base::dim] = line.xi[j][0];
        q.weight[p] = base.weight[i] * line.weight[j];
      }
    return q;
  }

  /// Weights that interpolate values at the points to xi: products of those of the two rules.
  static constexpr void interpolate(const double* xi, double* l) {
    double base[Base::points]{}, line[Line::points]{};
    Base::interpolate(xi, base);
    Line::interpolate(xi + Base::dim, line);
    for (int j = 0; j < Line::points; ++j)
      for (int i = 0; i < Base::points; ++i) l[j * Base::points + i] = base[i] * line[j];
  }
};

/// n × n points on the square: degree 2n − 1 in each direction.
template <int n>
using GaussQuad = ProductRule<GaussLine<n>, GaussLine<n>>;
/// n × n × n points on the cube: degree 2n − 1 in each direction.
template <int n>
using GaussHex = ProductRule<GaussQuad<n>, GaussLine<n>>;

/// Rules on the triangle with 1, 3, 6 and 7 points: degrees 1, 2, 4 and 5. Symmetric, with positive weights and all
/// points inside (Strang and Fix 1973; Dunavant 1985).
template <int n>
struct TriangleRule {
  static_assert(n == 1 || n == 3 || n == 6 || n == 7, "triangle rules have 1, 3, 6 or 7 points");
  /// Dimension of the reference cell, number of points, and polynomial degree that is integrated exactly.
  ///@{
  static constexpr int dim = 2, points = n, degree = n == 1 ? 1 : n == 3 ? 2 : n == 6 ? 4 : 5;
  ///@}

  /// Points and weights.

  static constexpr QuadraturePoints<2, n> make() {
    QuadraturePoints<2, n> q{};
    if constexpr (n == 1) {
      centre(q, 0, 0.5);
    } else if constexpr (n == 3) {
      orbit(q, 0, 1.0 / 6.0, 1.0 / 6.0);
    } else if constexpr (n == 6) {
      orbit(q, 0, 0.09157621350977074346, 0.05497587182766093382);
      orbit(q, 3, 0.44594849091596488632, 0.11169079483900573285);
    } else {
      centre(q, 0, 0.1125);
      orbit(q, 1, 0.10128650732345633880, 0.06296959027241357630);  // (6 − √15)/21, (155 − √15)/2400
      orbit(q, 4, 0.47014206410511508977, 0.06619707639425309037);  // (6 + √15)/21, (155 + √15)/2400
    }
    return q;
  }

  /// Weights that interpolate values at the points to xi: constant for one point, linear for three.
  static constexpr void interpolate(const double* xi, double* l) requires(n <= 3) {
    if constexpr (n == 1) {
      l[0] = 1.0;
    } else {
      // Area coordinates are 2/3, 1/6, 1/6 at the points: the line through those values is 2 L − 1/3.
      const double area[3] = {1.0 - xi[0] - xi[1], xi[0], xi[1]};
      for (int i = 0; i < 3; ++i) l[i] = 2.0 * area[i] - 1.0 / 3.0;
    }
  }

 private:
  static constexpr void centre(QuadraturePoints<2, n>& q, int i, double w) {
    q.xi[i][0] = q.xi[i][1] = 1.0 / 3.0;
    q.weight[i] = w;
  }
  /// Area coordinates (1 − 2a, a, a) and its turns; the first point is nearest to node 1 where a < 1/3.
  static constexpr void orbit(QuadraturePoints<2, n>& q, int i, double a, double w) {
    for (int t = 0; t < 3; ++t) {
      q.xi[i + t][0] = t == 1 ? 1.0 - 2.0 * a : a;
      q.xi[i + t][1] = t == 2 ? 1.0 - 2.0 * a : a;
      q.weight[i + t] = w;
    }
  }
};

/// Rules on the tetrahedron with 1, 4 and 14 points: degrees 1, 2 and 5. Symmetric, with positive weights and all
/// points inside (Hammer and Stroud 1956; Walkington 2000).
template <int n>
struct TetrahedronRule {
  static_assert(n == 1 || n == 4 || n == 14, "tetrahedron rules have 1, 4 or 14 points");
  /// Dimension of the reference cell, number of points, and polynomial degree that is integrated exactly.
  ///@{
  static constexpr int dim = 3, points = n, degree = n == 1 ? 1 : n == 4 ? 2 : 5;
  ///@}

  /// Points and weights.

  static constexpr QuadraturePoints<3, n> make() {
    QuadraturePoints<3, n> q{};
    if constexpr (n == 1) {
      for (int k = 0; k < 3; ++k) q.xi[0][k] = 0.25;
      q.weight[0] = 1.0 / 6.0;
    } else if constexpr (n == 4) {
      corners(q, 0, near_, 1.0 / 24.0);
    } else {
      corners(q, 0, 0.31088591926330060980, 0.018781320953002641800);
      corners(q, 4, 0.092735250310891226402, 0.012248840519393658257);
      edges(q, 8, 0.045503704125649649492, 0.0070910034628469110730);
    }
    return q;
  }

  /// Weights that interpolate values at the points to xi: constant for one point, linear for four.
  static constexpr void interpolate(const double* xi, double* l) requires(n <= 4) {
    if constexpr (n == 1) {
      l[0] = 1.0;
    } else {
      const double volume[4] = {1.0 - xi[0] - xi[1] - xi[2], xi[0], xi[1], xi[2]};
      for (int i = 0; i < 4; ++i) l[i] = (volume[i] - near_) / (1.0 - 4.0 * near_);
    }
  }

 private:
  static constexpr double near_ = 0.13819660112501051518;  // (5 − √5)/20

  /// Volume coordinates (1 − 3a, a, a, a) and its turns.
  static constexpr void corners(QuadraturePoints<3, n>& q, int i, double a, double w) {
    for (int t = 0; t < 4; ++t) {
      for (int k = 0; k < 3; ++k) q.xi[i + t][k] = t == k + 1 ? 1.0 - 3.0 * a : a;
      q.weight[i + t] = w;
    }
  }
  /// Volume coordinates (½ − a, ½ − a, a, a) and its turns.
  static constexpr void edges(QuadraturePoints<3, n>& q, int i, double a, double w) {
    for (int s = 0; s < 4; ++s)
      for (int t = s + 1; t < 4; ++t, ++i) {
        for (int k = 0; k < 3; ++k) q.xi[i][k] = s == k + 1 || t == k + 1 ? 0.5 - a : a;
        q.weight[i] = w;
      }
  }
};

/// A triangle rule times a Gauss rule on the height of the wedge.
template <int triangle, int line>
using WedgeRule = ProductRule<TriangleRule<triangle>, GaussLine<line>>;

}  // namespace voussoir
