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
// where xi holds `dim` numbers. They are constexpr: tables at quadrature points are made by the compiler.

namespace voussoir {

/// The linear line.
struct Line2 {
  static constexpr const char* name = "line2";
  static constexpr int dim = 1, nodes = 2, order = 1;

  VSR_FN static constexpr double node(int a, int) { return a == 0 ? -1.0 : 1.0; }

  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    n[0] = R(0.5) * (R(1.0) - xi[0]);
    n[1] = R(0.5) * (R(1.0) + xi[0]);
  }

  template <class R>
  VSR_FN static constexpr void gradients(const R*, R (*g)[1]) {
    g[0][0] = R(-0.5);
    g[1][0] = R(0.5);
  }
};

/// The quadratic line.
struct Line3 {
  static constexpr const char* name = "line3";
  static constexpr int dim = 1, nodes = 3, order = 2;

  VSR_FN static constexpr double node(int a, int) { return a == 0 ? -1.0 : a == 1 ? 1.0 : 0.0; }

  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    n[0] = R(0.5) * xi[0] * (xi[0] - R(1.0));
    n[1] = R(0.5) * xi[0] * (xi[0] + R(1.0));
    n[2] = R(1.0) - xi[0] * xi[0];
  }

  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[1]) {
    g[0][0] = xi[0] - R(0.5);
    g[1][0] = xi[0] + R(0.5);
    g[2][0] = R(-2.0) * xi[0];
  }
};

}  // namespace voussoir
