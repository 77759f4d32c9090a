#pragma once
#include <voussoir/elements/kernel/fn.hpp>

// Lines on the reference interval ξ ∈ [−1, 1]. Ends come first, the middle node last.
//
// Every shape of this folder is a struct with
//   name, dim, nodes          its name in element types, the dimension of its reference cell, its number of nodes
//   order                     1: linear (or bi-, trilinear); 2: quadratic
//   node(a, k)                coordinate k of node a in the reference cell
//   values(xi, n)             shape functions N_a at xi
//   gradients(xi, g)          ∂N_a/∂ξ_k at xi
// where xi has `dim` numbers. All are constexpr, so that the compiler computes the tables at quadrature points.

namespace voussoir {

/// The linear line.
struct Line2 {
  static constexpr const char* name = "line2";  ///< name, as in shape_topology()
  static constexpr int dim = 1,                 ///< dimension of the reference cell
      nodes = 2,                                ///< number of nodes
      order = 1;                                ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate of node a.
  VSR_FN static constexpr double node(int a, int) { return a == 0 ? -1.0 : 1.0; }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    n[0] = R(0.5) * (R(1.0) - xi[0]);
    n[1] = R(0.5) * (R(1.0) + xi[0]);
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R*, R (*g)[1]) {
    g[0][0] = R(-0.5);
    g[1][0] = R(0.5);
  }
};

/// The quadratic line.
struct Line3 {
  static constexpr const char* name = "line3";  ///< name, as in shape_topology()
  static constexpr int dim = 1,                 ///< dimension of the reference cell
      nodes = 3,                                ///< number of nodes
      order = 2;                                ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate of node a.
  VSR_FN static constexpr double node(int a, int) { return a == 0 ? -1.0 : a == 1 ? 1.0 : 0.0; }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    n[0] = R(0.5) * xi[0] * (xi[0] - R(1.0));
    n[1] = R(0.5) * xi[0] * (xi[0] + R(1.0));
    n[2] = R(1.0) - xi[0] * xi[0];
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[1]) {
    g[0][0] = xi[0] - R(0.5);
    g[1][0] = xi[0] + R(0.5);
    g[2][0] = R(-2.0) * xi[0];
  }
};

}  // namespace voussoir
