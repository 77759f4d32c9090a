#pragma once
#include <voussoir/elements/shapes/triangle.hpp>

// Wedges: the reference triangle times ζ ∈ [−1, 1]. Nodes 1, 2, 3 are the triangle at ζ = −1, 4, 5, 6 the one at ζ = 1.
// The middle nodes of a Wedge15 (serendipity) lie on the lower triangle's sides, the upper triangle's sides, and the
// upright edges 1-4, 2-5, 3-6.

namespace voussoir {

/// The linear wedge (triangular prism).
struct Wedge6 {
  static constexpr const char* name = "wedge6";  ///< name, as in shape_topology()
  static constexpr int dim = 3,                  ///< dimension of the reference cell
      nodes = 6,                                 ///< number of nodes
      order = 1;                                 ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) { return k == 2 ? (a < 3 ? -1.0 : 1.0) : Tri3::node(a % 3, k); }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    R l[3]{};
    Tri3::values(xi, l);
    for (int i = 0; i < 3; ++i) {
      n[i] = R(0.5) * l[i] * (R(1.0) - xi[2]);
      n[i + 3] = R(0.5) * l[i] * (R(1.0) + xi[2]);
    }
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[3]) {
    R l[3]{}, d[3][2]{};
    Tri3::values(xi, l);
    Tri3::gradients(xi, d);
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 2; ++k) {
        g[i][k] = R(0.5) * d[i][k] * (R(1.0) - xi[2]);
        g[i + 3][k] = R(0.5) * d[i][k] * (R(1.0) + xi[2]);
      }
      g[i][2] = R(-0.5) * l[i];
      g[i + 3][2] = R(0.5) * l[i];
    }
  }
};

/// The quadratic serendipity wedge.
struct Wedge15 {
  static constexpr const char* name = "wedge15";  ///< name, as in shape_topology()
  static constexpr int dim = 3,                   ///< dimension of the reference cell
      nodes = 15,                                 ///< number of nodes
      order = 2;                                  ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) {
    if (a < 6) return Wedge6::node(a, k);
    if (a < 9) return k == 2 ? -1.0 : Tri6::node(a - 3, k);
    if (a < 12) return k == 2 ? 1.0 : Tri6::node(a - 6, k);
    return k == 2 ? 0.0 : Tri3::node(a - 12, k);
  }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    R l[3]{};
    Tri3::values(xi, l);
    const R z = xi[2], down = R(1.0) - z, up = R(1.0) + z;
    for (int i = 0; i < 3; ++i) {
      const R pair = l[i] * l[(i + 1) % 3];
      n[i] = R(0.5) * l[i] * down * (R(2.0) * l[i] - R(2.0) - z);
      n[i + 3] = R(0.5) * l[i] * up * (R(2.0) * l[i] - R(2.0) + z);
      n[i + 6] = R(2.0) * pair * down;
      n[i + 9] = R(2.0) * pair * up;
      n[i + 12] = l[i] * down * up;
    }
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[3]) {
    R l[3]{}, d[3][2]{};
    Tri3::values(xi, l);
    Tri3::gradients(xi, d);
    const R z = xi[2], down = R(1.0) - z, up = R(1.0) + z;
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      for (int k = 0; k < 2; ++k) {
        const R dpair = d[i][k] * l[j] + l[i] * d[j][k];
        g[i][k] = R(0.5) * d[i][k] * down * (R(4.0) * l[i] - R(2.0) - z);
        g[i + 3][k] = R(0.5) * d[i][k] * up * (R(4.0) * l[i] - R(2.0) + z);
        g[i + 6][k] = R(2.0) * dpair * down;
        g[i + 9][k] = R(2.0) * dpair * up;
        g[i + 12][k] = d[i][k] * down * up;
      }
      g[i][2] = R(0.5) * l[i] * (R(1.0) + R(2.0) * z - R(2.0) * l[i]);
      g[i + 3][2] = R(0.5) * l[i] * (R(2.0) * l[i] - R(1.0) + R(2.0) * z);
      g[i + 6][2] = R(-2.0) * l[i] * l[j];
      g[i + 9][2] = R(2.0) * l[i] * l[j];
      g[i + 12][2] = R(-2.0) * l[i] * z;
    }
  }
};

}  // namespace voussoir
