#pragma once
#include <voussoir/elements/kernel/fn.hpp>

// Triangles on the reference cell ξ, η ≥ 0, ξ + η ≤ 1, with area coordinates L = (1 − ξ − η, ξ, η). Corners run
// counter-clockwise; the middle nodes of a Tri6 follow in the order of the sides 1-2, 2-3, 3-1.

namespace voussoir {

/// The linear triangle.
struct Tri3 {
  static constexpr const char* name = "tri3";  ///< name, as in shape_topology()
  static constexpr int dim = 2,                ///< dimension of the reference cell
      nodes = 3,                               ///< number of nodes
      order = 1;                               ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) { return a == k + 1 ? 1.0 : 0.0; }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    n[0] = R(1.0) - xi[0] - xi[1];
    n[1] = xi[0];
    n[2] = xi[1];
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R*, R (*g)[2]) {
    g[0][0] = R(-1.0), g[0][1] = R(-1.0);
    g[1][0] = R(1.0), g[1][1] = R(0.0);
    g[2][0] = R(0.0), g[2][1] = R(1.0);
  }
};

/// The quadratic triangle.
struct Tri6 {
  static constexpr const char* name = "tri6";  ///< name, as in shape_topology()
  static constexpr int dim = 2,                ///< dimension of the reference cell
      nodes = 6,                               ///< number of nodes
      order = 2;                               ///< polynomial order: 1 linear, 2 quadratic

  /// The corner at the start (end 0) or the end (end 1) of side s.
  VSR_FN static constexpr int side(int s, int end) { return (s + end) % 3; }

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) {
    return a < 3 ? Tri3::node(a, k) : 0.5 * (Tri3::node(side(a - 3, 0), k) + Tri3::node(side(a - 3, 1), k));
  }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    R l[3]{};
    Tri3::values(xi, l);
    for (int i = 0; i < 3; ++i) n[i] = l[i] * (R(2.0) * l[i] - R(1.0));
    for (int s = 0; s < 3; ++s) n[3 + s] = R(4.0) * l[side(s, 0)] * l[side(s, 1)];
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[2]) {
    R l[3]{}, d[3][2]{};
    Tri3::values(xi, l);
    Tri3::gradients(xi, d);
    for (int k = 0; k < 2; ++k) {
      for (int i = 0; i < 3; ++i) g[i][k] = (R(4.0) * l[i] - R(1.0)) * d[i][k];
      for (int s = 0; s < 3; ++s) {
        const int i = side(s, 0), j = side(s, 1);
        g[3 + s][k] = R(4.0) * (d[i][k] * l[j] + l[i] * d[j][k]);
      }
    }
  }
};

}  // namespace voussoir
