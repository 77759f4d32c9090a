#pragma once
#include <voussoir/elements/kernel/fn.hpp>

// Tetrahedra on the reference cell ξ, η, ζ ≥ 0, ξ + η + ζ ≤ 1, with volume coordinates L = (1 − ξ − η − ζ, ξ, η, ζ).
// Seen from node 4 the nodes 1, 2, 3 run counter-clockwise. The middle nodes of a Tet10 lie on the edges 1-2, 2-3,
// 3-1, 1-4, 2-4, 3-4, in this order.

namespace voussoir {

/// The linear tetrahedron.
struct Tet4 {
  static constexpr const char* name = "tet4";  ///< name, as in shape_topology()
  static constexpr int dim = 3,                ///< dimension of the reference cell
      nodes = 4,                               ///< number of nodes
      order = 1;                               ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) { return a == k + 1 ? 1.0 : 0.0; }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    n[0] = R(1.0) - xi[0] - xi[1] - xi[2];
    for (int k = 0; k < 3; ++k) n[k + 1] = xi[k];
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R*, R (*g)[3]) {
    for (int a = 0; a < 4; ++a)
      for (int k = 0; k < 3; ++k) g[a][k] = a == 0 ? R(-1.0) : R(node(a, k));
  }
};

/// The quadratic tetrahedron.
struct Tet10 {
  static constexpr const char* name = "tet10";  ///< name, as in shape_topology()
  static constexpr int dim = 3,                 ///< dimension of the reference cell
      nodes = 10,                               ///< number of nodes
      order = 2;                                ///< polynomial order: 1 linear, 2 quadratic

  /// The corner at the start (end 0) or the end (end 1) of edge e.
  VSR_FN static constexpr int edge(int e, int end) {
    if (e < 3) return (e + end) % 3;
    return end == 0 ? e - 3 : 3;
  }

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) {
    return a < 4 ? Tet4::node(a, k) : 0.5 * (Tet4::node(edge(a - 4, 0), k) + Tet4::node(edge(a - 4, 1), k));
  }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    R l[4]{};
    Tet4::values(xi, l);
    for (int i = 0; i < 4; ++i) n[i] = l[i] * (R(2.0) * l[i] - R(1.0));
    for (int e = 0; e < 6; ++e) n[4 + e] = R(4.0) * l[edge(e, 0)] * l[edge(e, 1)];
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[3]) {
    R l[4]{}, d[4][3]{};
    Tet4::values(xi, l);
    Tet4::gradients(xi, d);
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < 4; ++i) g[i][k] = (R(4.0) * l[i] - R(1.0)) * d[i][k];
      for (int e = 0; e < 6; ++e) {
        const int i = edge(e, 0), j = edge(e, 1);
        g[4 + e][k] = R(4.0) * (d[i][k] * l[j] + l[i] * d[j][k]);
      }
    }
  }
};

}  // namespace voussoir
