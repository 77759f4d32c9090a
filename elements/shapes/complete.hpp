#pragma once
#include <voussoir/elements/shapes/hexahedron.hpp>
#include <voussoir/elements/shapes/quadrilateral.hpp>
#include <voussoir/elements/shapes/wedge.hpp>

// Complete (Lagrange) second-order shapes, with nodes at the centres of their quadrilateral faces and, for the
// hexahedron, at its centre, as Gmsh creates them by default. Unlike the serendipity shapes they contain all products
// of quadratic functions, so that curved elements keep the order of convergence.

namespace voussoir {

namespace detail {

/// The quadratic function that is 1 at −1, 0 or 1 and 0 at the other two.
template <class R>
VSR_FN constexpr R lagrange(double at, R x) {
  return at == 0.0 ? R(1.0) - x * x : R(0.5) * x * (x + R(at));
}
template <class R>
VSR_FN constexpr R lagrange_slope(double at, R x) {
  return at == 0.0 ? R(-2.0) * x : x + R(0.5 * at);
}

}  // namespace detail

/// The biquadratic quadrilateral: a Quad8 with a node at its centre.
struct Quad9 {
  static constexpr const char* name = "quad9";  ///< name, as in shape_topology()
  static constexpr int dim = 2,                 ///< dimension of the reference cell
      nodes = 9,                                ///< number of nodes
      order = 2;                                ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) { return a < 8 ? Quad8::node(a, k) : 0.0; }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    for (int a = 0; a < 9; ++a) n[a] = detail::lagrange(node(a, 0), xi[0]) * detail::lagrange(node(a, 1), xi[1]);
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[2]) {
    for (int a = 0; a < 9; ++a) {
      const double x = node(a, 0), y = node(a, 1);
      g[a][0] = detail::lagrange_slope(x, xi[0]) * detail::lagrange(y, xi[1]);
      g[a][1] = detail::lagrange(x, xi[0]) * detail::lagrange_slope(y, xi[1]);
    }
  }
};

/// The triquadratic hexahedron: a Hex20 with nodes at its centre and at the centres of its faces, in the order ζ = −1,
/// ζ = 1, η = −1, ξ = 1, η = 1, ξ = −1.
struct Hex27 {
  static constexpr const char* name = "hex27";  ///< name, as in shape_topology()
  static constexpr int dim = 3,                 ///< dimension of the reference cell
      nodes = 27,                               ///< number of nodes
      order = 2;                                ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) {
    if (a < 20) return Hex20::node(a, k);
    const int axis = a < 21 ? -1 : a < 23 ? 2 : a % 2 == 1 ? 1 : 0;
    if (k != axis) return 0.0;
    return a == 21 || a == 23 || a == 26 ? -1.0 : 1.0;
  }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    for (int a = 0; a < 27; ++a)
      n[a] = detail::lagrange(node(a, 0), xi[0]) * detail::lagrange(node(a, 1), xi[1]) *
             detail::lagrange(node(a, 2), xi[2]);
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[3]) {
    for (int a = 0; a < 27; ++a) {
      R f[3]{}, d[3]{};
      for (int k = 0; k < 3; ++k) {
        f[k] = detail::lagrange(node(a, k), xi[k]);
        d[k] = detail::lagrange_slope(node(a, k), xi[k]);
      }
      for (int k = 0; k < 3; ++k) g[a][k] = d[k] * f[(k + 1) % 3] * f[(k + 2) % 3];
    }
  }
};

/// The biquadratic wedge, a Tri6 times a quadratic line: a Wedge15 with nodes at the centres of its quadrilateral faces
/// 1-2-5-4, 2-3-6-5, 3-1-4-6.
struct Wedge18 {
  static constexpr const char* name = "wedge18";  ///< name, as in shape_topology()
  static constexpr int dim = 3,                   ///< dimension of the reference cell
      nodes = 18,                                 ///< number of nodes
      order = 2;                                  ///< polynomial order: 1 linear, 2 quadratic

  /// Reference coordinate k of node a.
  VSR_FN static constexpr double node(int a, int k) {
    return a < 15 ? Wedge15::node(a, k) : k == 2 ? 0.0 : Tri6::node(a - 12, k);
  }

  /// Shape functions: n[a] = N_a(ξ).
  template <class R>
  VSR_FN static constexpr void values(const R* xi, R* n) {
    R t[6]{};
    Tri6::values(xi, t);
    for (int a = 0; a < 18; ++a) n[a] = t[corner(a)] * detail::lagrange(node(a, 2), xi[2]);
  }

  /// Derivatives of the shape functions: g[a][k] = ∂N_a/∂ξ_k at ξ.
  template <class R>
  VSR_FN static constexpr void gradients(const R* xi, R (*g)[3]) {
    R t[6]{}, d[6][2]{};
    Tri6::values(xi, t);
    Tri6::gradients(xi, d);
    for (int a = 0; a < 18; ++a) {
      const int c = corner(a);
      const R height = detail::lagrange(node(a, 2), xi[2]);
      for (int k = 0; k < 2; ++k) g[a][k] = d[c][k] * height;
      g[a][2] = t[c] * detail::lagrange_slope(node(a, 2), xi[2]);
    }
  }

 private:
  /// The node of the triangle below node a.
  VSR_FN static constexpr int corner(int a) { return a < 3 ? a : a < 9 ? a - 3 : a < 12 ? a - 6 : a - 12; }
};

}  // namespace voussoir
