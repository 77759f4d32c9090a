#pragma once
#include <voussoir/elements/shapes/quadrilateral.hpp>

// Hexahedra on the reference cube [−1, 1]³. Nodes 1…4 are the corners at ζ = −1, counter-clockwise seen from above,
// 5…8 those at ζ = 1. The middle nodes of a Hex20 (serendipity) lie on the lower sides 1-2, 2-3, 3-4, 4-1, the upper
// sides 5-6, 6-7, 7-8, 8-5, and the upright edges 1-5, 2-6, 3-7, 4-8.

namespace voussoir {

/// The trilinear hexahedron.
struct Hex8 {
  static constexpr const char* name = "hex8";  ///< name, as in shape_topology()
  static constexpr int dim = 3,                ///< dimension of the reference cell
      nodes = 8,                               ///< number of nodes
      order = 1;                               ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) { return k == 2 ? (a < 4 ? -1.0 : 1.0) : Quad4::node(a % 4, k); }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    for (int a = 0; a < 8; ++a)
      n[a] = R(0.125) * (R(1.0) + R(node(a, 0)) * xi[0]) * (R(1.0) + R(node(a, 1)) * xi[1]) *
             (R(1.0) + R(node(a, 2)) * xi[2]);
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[3]) {
    for (int a = 0; a < 8; ++a) {
      const R p = R(1.0) + R(node(a, 0)) * xi[0], q = R(1.0) + R(node(a, 1)) * xi[1];
      const R s = R(1.0) + R(node(a, 2)) * xi[2];
      g[a][0] = R(0.125 * node(a, 0)) * q * s;
      g[a][1] = R(0.125 * node(a, 1)) * p * s;
      g[a][2] = R(0.125 * node(a, 2)) * p * q;
    }
  }
};

/// The quadratic serendipity hexahedron.
struct Hex20 {
  static constexpr const char* name = "hex20";  ///< name, as in shape_topology()
  static constexpr int dim = 3,                 ///< dimension of the reference cell
      nodes = 20,                               ///< number of nodes
      order = 2;                                ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) {
    if (a < 8) return Hex8::node(a, k);
    if (a < 16) return k == 2 ? (a < 12 ? -1.0 : 1.0) : Quad8::node(4 + a % 4, k);
    return k == 2 ? 0.0 : Quad4::node(a - 16, k);
  }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    for (int a = 0; a < 20; ++a) {
      R f[3]{};
      for (int k = 0; k < 3; ++k) f[k] = R(1.0) + R(node(a, k)) * xi[k];
      if (a < 8) {
        n[a] = R(0.125) * f[0] * f[1] * f[2] * (f[0] + f[1] + f[2] - R(5.0));
      } else {
        const int m = middle(a), i = (m + 1) % 3, j = (m + 2) % 3;
        n[a] = R(0.25) * (R(1.0) - xi[m] * xi[m]) * f[i] * f[j];
      }
    }
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[3]) {
    for (int a = 0; a < 20; ++a) {
      R f[3]{};
      for (int k = 0; k < 3; ++k) f[k] = R(1.0) + R(node(a, k)) * xi[k];
      if (a < 8) {
        const R sum = f[0] + f[1] + f[2] - R(5.0);
        for (int k = 0; k < 3; ++k) g[a][k] = R(0.125 * node(a, k)) * f[(k + 1) % 3] * f[(k + 2) % 3] * (sum + f[k]);
      } else {
        const int m = middle(a), i = (m + 1) % 3, j = (m + 2) % 3;
        const R bubble = R(1.0) - xi[m] * xi[m];
        g[a][m] = R(-0.5) * xi[m] * f[i] * f[j];
        g[a][i] = R(0.25 * node(a, i)) * bubble * f[j];
        g[a][j] = R(0.25 * node(a, j)) * bubble * f[i];
      }
    }
  }

 private:
  /// The direction along whose edge middle node a lies.
  VSR_FN static constexpr int middle(int a) { return a >= 16 ? 2 : a % 2; }
};

}  // namespace voussoir
