#pragma once
#include <voussoir/elements/point/point_functions.hpp>

// Hourglass control of uniform-strain elements.

namespace voussoir::detail {

/// Hourglass modes of a uniform-strain element get a stiffness: γ_α = h_α − (h_α · x_k) ∂_k N vanishes for
/// constant and linear fields, so rigid-body modes have no energy and the patch test is passed
/// (Flanagan and Belytschko 1981). An axisymmetric section could also rotate about its centre, since the hoop
/// strain of that mode is zero in the mean: there the variation of hoop strain keeps its shear stiffness 2μ.
template <class Kernel, class Shape, class Formulation, class R>
struct Hourglass {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Input = typename Element::template Input<R>;
  using Gradient = typename Element::template Gradient<R>;
  using Basis = typename PointFunctions<Kernel, Shape, Formulation>::template Basis<R>;
  static constexpr int dim = Element::dim, nodes = Element::nodes, components = Element::components,
                       rows = Element::rows, dofs = Element::dofs;
  static constexpr bool hooped = Element::hooped;

  static constexpr int patterns = dim == 2 ? 1 : 4;
  /// Part of the shear stiffness that an hourglass motion gets: enough to be stable, little enough not to lock.
  static constexpr double coefficient = 0.1;
  R gamma[patterns][nodes];
  R stiffness;
  R hoop[hooped ? nodes * nodes : 1];

  VSR_LARGE_FN Hourglass(const Input& e, const Basis& b) {
    for (int h = 0; h < patterns; ++h) {
      R moment[dim];
      for (int k = 0; k < dim; ++k) {
        moment[k] = R(0.0);
        for (int a = 0; a < nodes; ++a) moment[k] += R(pattern(h, a)) * e.x[a][k];
      }
      for (int a = 0; a < nodes; ++a) {
        gamma[h][a] = R(pattern(h, a));
        for (int k = 0; k < dim; ++k) gamma[h][a] -= moment[k] * b.gradient[a][k];
      }
    }
    R squares = R(0.0);
    for (int a = 0; a < nodes; ++a)
      for (int k = 0; k < dim; ++k) squares += b.gradient[a][k] * b.gradient[a][k];
    PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    material.move(e, Points::value_at(0), p);
    const R mu = shear_modulus(p);
    stiffness = R(coefficient / (nodes * nodes)) * mu * b.volume * squares;
    if constexpr (hooped)
      for (int i = 0; i < nodes * nodes; ++i) hoop[i] = R(2.0) * mu * b.hoop_spread[i];
  }

  VSR_FN void add_tangent(R* upper) const {
    for (int a = 0; a < nodes; ++a)
      for (int b = a; b < nodes; ++b) {
        const R k = stiffness * product(a, b);
        for (int i = 0; i < components; ++i) upper[upper_index<dofs>(a * components + i, b * components + i)] += k;
        if constexpr (hooped) upper[upper_index<dofs>(a * components, b * components)] += hoop[a * nodes + b];
      }
  }

  VSR_FN void add_forces(const R* u, R* r) const {
    for (int h = 0; h < patterns; ++h)
      for (int i = 0; i < components; ++i) {
        R amplitude = R(0.0);
        for (int a = 0; a < nodes; ++a) amplitude += gamma[h][a] * u[a * components + i];
        amplitude *= stiffness;
        for (int a = 0; a < nodes; ++a) r[a * components + i] += gamma[h][a] * amplitude;
      }
    if constexpr (hooped)
      for (int a = 0; a < nodes; ++a)
        for (int b = 0; b < nodes; ++b) r[a * components] += hoop[a * nodes + b] * u[b * components];
  }

  /// Σ γ_a γ_b over the patterns.
  VSR_FN R product(int a, int b) const {
    R sum = gamma[0][a] * gamma[0][b];
    for (int h = 1; h < patterns; ++h) sum += gamma[h][a] * gamma[h][b];
    return sum;
  }

 private:
  /// ξη, and in space ηζ, ζξ and ξηζ, at the nodes.
  VSR_FN static constexpr double pattern(int h, int a) {
    const double x = Shape::node(a, 0), y = Shape::node(a, 1), z = dim == 3 ? Shape::node(a, dim - 1) : 1.0;
    return h == 0 ? x * y : h == 1 ? y * z : h == 2 ? z * x : x * y * z;
  }
  /// The mean of the shear moduli, evaluated from the law itself.
  VSR_FN static R shear_modulus(const Point<R>& p) {
    R sum = R(0.0);
    const Gradient none = zero_matrix<R, rows, 3>();
    for (int i = 0; i < dim; ++i)
      for (int j = i + 1; j < dim; ++j) {
        Gradient shear = none;
        shear(i, j) = shear(j, i) = R(0.5);
        sum += Kernel::dflux(p, none, shear)(i, j);
      }
    return R(dim == 2 ? 1.0 : 1.0 / 3.0) * sum;
  }
};

}  // namespace voussoir::detail
