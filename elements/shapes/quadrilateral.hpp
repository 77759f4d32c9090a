#pragma once
#include <voussoir/elements/kernel/fn.hpp>

// Quadrilaterals on the reference square [−1, 1]². Corners run counter-clockwise from (−1, −1); the middle nodes of a
// Quad8 (serendipity) follow in the order of the sides 1-2, 2-3, 3-4, 4-1.

namespace voussoir {

/// The bilinear quadrilateral.
struct Quad4 {
  static constexpr const char* name = "quad4";  ///< name, as in shape_topology()
  static constexpr int dim = 2,                 ///< dimension of the reference cell
      nodes = 4,                                ///< number of nodes
      order = 1;                                ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) {
    return k == 0 ? (a == 1 || a == 2 ? 1.0 : -1.0) : (a >= 2 ? 1.0 : -1.0);
  }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    for (int a = 0; a < 4; ++a) n[a] = R(0.25) * (R(1.0) + R(node(a, 0)) * xi[0]) * (R(1.0) + R(node(a, 1)) * xi[1]);
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[2]) {
    for (int a = 0; a < 4; ++a) {
      g[a][0] = R(0.25 * node(a, 0)) * (R(1.0) + R(node(a, 1)) * xi[1]);
      g[a][1] = R(0.25 * node(a, 1)) * (R(1.0) + R(node(a, 0)) * xi[0]);
    }
  }
};

/// The quadratic serendipity quadrilateral.
struct Quad8 {
  static constexpr const char* name = "quad8";  ///< name, as in shape_topology()
  static constexpr int dim = 2,                 ///< dimension of the reference cell
      nodes = 8,                                ///< number of nodes
      order = 2;                                ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) {
    return a < 4 ? Quad4::node(a, k) : 0.5 * (Quad4::node(a - 4, k) + Quad4::node((a - 3) % 4, k));
  }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    for (int a = 0; a < 8; ++a) {
      const double x = node(a, 0), y = node(a, 1);
      const R p = R(1.0) + R(x) * xi[0], q = R(1.0) + R(y) * xi[1];
      if (a < 4)
        n[a] = R(0.25) * p * q * (p + q - R(3.0));
      else if (x == 0.0)
        n[a] = R(0.5) * (R(1.0) - xi[0] * xi[0]) * q;
      else
        n[a] = R(0.5) * p * (R(1.0) - xi[1] * xi[1]);
    }
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[2]) {
    for (int a = 0; a < 8; ++a) {
      const double x = node(a, 0), y = node(a, 1);
      const R p = R(1.0) + R(x) * xi[0], q = R(1.0) + R(y) * xi[1];
      if (a < 4) {
        g[a][0] = R(0.25 * x) * q * (R(2.0) * p + q - R(3.0));
        g[a][1] = R(0.25 * y) * p * (p + R(2.0) * q - R(3.0));
      } else if (x == 0.0) {
        g[a][0] = -xi[0] * q;
        g[a][1] = R(0.5 * y) * (R(1.0) - xi[0] * xi[0]);
      } else {
        g[a][0] = R(0.5 * x) * (R(1.0) - xi[1] * xi[1]);
        g[a][1] = -xi[1] * p;
      }
    }
  }
};

}  // namespace voussoir
