#pragma once
#include <voussoir/elements/point/compact_action.hpp>
#include <voussoir/elements/point/integration_points.hpp>
#include <voussoir/elements/point/trilinear_coefficients.hpp>

// The tangent of a Tet10 times directions with few operations and few live values. In volume coordinates the derivative
// of a field with value u_v at corner v and u_vw at the middle of the edge from v to w is
//   D_v = ∂u/∂L_v = 4 Σ_w L_w u_vw − u_v,   u_vv = u_v
// and L = b + (a − b) δ_wQ at the point near corner Q, so that D_v = B_v + c u_vQ with the same B_v at all points. Of
// these only the differences to D_0 matter, which are the derivatives in the directions of the cell.

namespace voussoir::detail {

/// The result for one direction: forces on the nodes.
template <class R, int components>
struct TetFlow {
  R force[components][10];

  /// put(a, i, force) takes component i at node a.
  template <class Put>
  VSR_FN void forces(const Put& put) const {
    VSR_UNROLLED
    for (int a = 0; a < 10; ++a) VSR_UNROLLED
    for (int i = 0; i < components; ++i) put(a, i, force[i][a]);
  }
};

template <class R, int components, bool trilinear>
struct CompactFlowOf {
  using type = TetFlow<R, components>;
};
template <class R, int components>
struct CompactFlowOf<R, components, true> {
  using type = CompactFlow<R, components>;
};

/// The action of a Tet10 with a linear law, whose parameters do not vary within the element.
template <class Kernel, class Formulation>
struct CompactTetAction {
  using Element = PointElement<Kernel, Tet10, Formulation>;
  using Rule = typename Element::Rule;
  template <class R>
  using Gradient = typename Element::template Gradient<R>;
  static constexpr int components = Element::components, rows = Element::rows;

  /// The node at corner v, or on the edge between v and w.
  VSR_FN static constexpr int node(int v, int w) {
    if (v == w) return v;
    const int low = v < w ? v : w, high = v < w ? w : v;
    return high == 3 ? 7 + low : low == 0 && high == 2 ? 6 : 4 + low;
  }
  /// The corner near point q.
  VSR_FN static constexpr int corner(int q) { return q; }
  static constexpr double b = Rule::make().xi[0][0], c = 4 * (1 - 4 * b);
  static constexpr double weight = Rule::make().weight[0];
  /// Whether the points of the rule are as described above.
  static constexpr bool fits() {
    const auto rule = Rule::make();
    for (int q = 0; q < 4; ++q) {
      double l[4]{};
      Tet4::values(rule.xi[q], l);
      for (int v = 0; v < 4; ++v) {
        const double difference = l[v] - (v == corner(q) ? b + 0.25 * c : b);
        if (difference > 1e-15 || difference < -1e-15 || rule.weight[q] != weight) return false;
      }
    }
    return true;
  }
  static_assert(fits());

  /// What all points have in common of the derivatives of a field: u(a) is its value at node a.
  template <class R, class Field>
  VSR_FN static void common_slopes(const Field& u, R (&slope)[3]) {
    R at[4];
    VSR_UNROLLED
    for (int v = 0; v < 4; ++v) {
      R sum = u(node(v, 0));
      VSR_UNROLLED
      for (int w = 1; w < 4; ++w) sum += u(node(v, w));
      at[v] = R(4 * b) * sum - u(v);
    }
    VSR_UNROLLED
    for (int m = 0; m < 3; ++m) slope[m] = at[m + 1] - at[0];
  }

  /// Of the Jacobian j; returns its determinant.
  template <class R>
  VSR_FN static R cofactors(const R (&j)[3][3], R (&cofactor)[3][3]) {
    VSR_UNROLLED
    for (int m = 0; m < 3; ++m) VSR_UNROLLED
    for (int k = 0; k < 3; ++k) {
      const int n = (m + 1) % 3, o = (m + 2) % 3, l = (k + 1) % 3, r = (k + 2) % 3;
      cofactor[k][m] = j[n][l] * j[o][r] - j[n][r] * j[o][l];
    }
    return j[0][0] * cofactor[0][0] + j[0][1] * cofactor[1][0] + j[0][2] * cofactor[2][0];
  }

  /// Adds to the forces on the nodes what `total`, the forces in the directions of the cell summed over the points,
  /// does through the common slopes.
  template <class R>
  VSR_FN static void add_common(const R (&total)[3], R (&force)[10]) {
    const R at[4] = {-(total[0] + total[1] + total[2]), total[0], total[1], total[2]};
    VSR_UNROLLED
    for (int v = 0; v < 4; ++v) {
      force[v] += R(4 * b - 1) * at[v];
      VSR_UNROLLED
      for (int u = v + 1; u < 4; ++u) force[node(v, u)] += R(4 * b) * (at[v] + at[u]);
    }
  }

  /// PointElement::compact_actions().
  template <int room, int columns, class R, class Input, class Direction, class Scratch>
  VSR_FN static R actions(const Input& e, const Direction& du, const Scratch& scratch,
                          TetFlow<R, components> (&flow)[columns]) {
    // Common slopes are kept in scratch memory, first those of positions, as far as they fit.
    constexpr int fields = room / 3;
    R kept[3 + columns * components][3];
    const auto keep = [&](int field, const auto& u) {
      R slope[3];
      common_slopes(u, slope);
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m)
        if (field < fields)
          scratch(3 * field + m) = slope[m];
        else
          kept[field][m] = slope[m];
    };
    const auto common = [&](int field, int m) -> R {
      return field < fields ? R(scratch(3 * field + m)) : kept[field][m];
    };
    VSR_UNROLLED
    for (int k = 0; k < 3; ++k) keep(k, [&](int a) { return e.x[a][k]; });
    R total[columns][components][3];  // forces in the directions of the cell, summed over the points
    VSR_UNROLLED
    for (int w = 0; w < columns; ++w) VSR_UNROLLED
    for (int i = 0; i < components; ++i) {
      keep(3 + w * components + i, [&](int a) { return du(w, a, i); });
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m) total[w][i][m] = R(0.0);
      VSR_UNROLLED
      for (int a = 0; a < 10; ++a) flow[w].force[i][a] = R(0.0);
    }
    PointMaterial<Kernel, Tet10, Formulation, R> material;
    Point<R> p = material.begin(e);
    R health = R(1e300);
    VSR_UNROLLED
    for (int q = 0; q < 4; ++q) {
      const int near = corner(q);
      R j[3][3];
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m) VSR_UNROLLED
      for (int k = 0; k < 3; ++k) j[m][k] = common(k, m) + R(c) * (e.x[node(m + 1, near)][k] - e.x[node(0, near)][k]);
      // Cofactors instead of an inverse; the law is linear, so its flux is scaled instead of the gradient.
      R cofactor[3][3];
      const R det = cofactors(j, cofactor), scale = R(weight) * reciprocal(det);
      health = min(health, det);
      material.move(e, shape_table<Tet10, Rule>().value[q], p);
      VSR_UNROLLED
      for (int w = 0; w < columns; ++w) {
        Gradient<R> grad = zero_matrix<R, rows, 3>();
        VSR_UNROLLED
        for (int i = 0; i < components; ++i) {
          const R zero = du(w, node(0, near), i);
          R slope[3];
          VSR_UNROLLED
          for (int m = 0; m < 3; ++m)
            slope[m] = common(3 + w * components + i, m) + R(c) * (du(w, node(m + 1, near), i) - zero);
          VSR_UNROLLED
          for (int k = 0; k < 3; ++k)
            grad(i, k) = slope[0] * cofactor[k][0] + slope[1] * cofactor[k][1] + slope[2] * cofactor[k][2];
        }
        const Gradient<R> flux = scale * Kernel::dflux(p, grad, grad);
        VSR_UNROLLED
        for (int i = 0; i < components; ++i) {
          R sum = R(0.0);
          VSR_UNROLLED
          for (int m = 0; m < 3; ++m) {
            const R force = flux(i, 0) * cofactor[0][m] + flux(i, 1) * cofactor[1][m] + flux(i, 2) * cofactor[2][m];
            total[w][i][m] += force;
            flow[w].force[i][node(m + 1, near)] += R(c) * force;
            sum += force;
          }
          flow[w].force[i][node(0, near)] -= R(c) * sum;
        }
      }
    }
    VSR_UNROLLED
    for (int w = 0; w < columns; ++w) VSR_UNROLLED
    for (int i = 0; i < components; ++i) add_common(total[w][i], flow[w].force[i]);
    return health;
  }
};

}  // namespace voussoir::detail
