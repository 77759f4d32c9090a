#pragma once
#include <voussoir/elements/point/integration_points.hpp>

// The functions of a point element at its integration points, in terms of which every formulation is defined: the shape
// functions of the nodes, and incompatible modes. For each function f
//   gradient[f]    ∇f in space
//   hoop[f]        f/r, in a ring
//   correction[f]  the B-bar correction of the three normal strains, per component of the unknown
// and for each point a volume. Everything else is implemented once, in these terms.

namespace voussoir::detail {

template <class Kernel, class Shape, class Formulation>
struct PointFunctions {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Rule = typename Element::Rule;
  using Centre = typename Points::Centre;
  template <class R>
  using Input = typename Element::template Input<R>;
  template <class R>
  using Gradient = typename Element::template Gradient<R>;
  template <class R>
  using Jacobians = typename Points::template Jacobians<R>;
  static constexpr int dim = Element::dim, nodes = Element::nodes, components = Element::components,
                       rows = Element::rows;
  static constexpr int points = Element::points, functions = Element::functions, dofs = Element::dofs;
  static constexpr bool uniform = Element::uniform, bbar = Element::bbar, incompatible = Element::incompatible;
  static constexpr bool ring = Element::ring, hooped = Element::hooped;

  /// The functions of the element at one integration point.
  template <class R>
  struct Basis {
    R gradient[functions][dim];
    R hoop[hooped ? functions : 1];
    R correction[bbar ? functions * components : 1];
    R hoop_spread[uniform && hooped ? nodes * nodes
                                    : 1];  // ∫ (f/r − mean) (g/r − mean) dV, of an axisymmetric uniform-strain element
    R volume;
  };

  /// The functions at all points of the element. Returns its health.
  template <class R>
  VSR_LARGE_FN static R make_basis(const Input<R>& e, Basis<R>* basis) {
    R health = R(1e300);
    const Jacobians<R> jacobians(e);
    if constexpr (uniform) {
      Basis<R>& mean = basis[0];
      clear(mean);
      for (int q = 0; q < Rule::points; ++q) {
        Basis<R> b;
        health = min(health, basis_at(e, jacobians, q, b));
        mean.volume += b.volume;
        for (int a = 0; a < nodes; ++a) {
          for (int k = 0; k < dim; ++k) mean.gradient[a][k] += b.volume * b.gradient[a][k];
          if constexpr (hooped) {
            mean.hoop[a] += b.volume * b.hoop[a];
            for (int c = 0; c < nodes; ++c) mean.hoop_spread[a * nodes + c] += b.volume * b.hoop[a] * b.hoop[c];
          }
        }
      }
      const R f = R(1.0) / mean.volume;
      for (int a = 0; a < nodes; ++a) {
        for (int k = 0; k < dim; ++k) mean.gradient[a][k] *= f;
        if constexpr (hooped) mean.hoop[a] *= f;
      }
      if constexpr (hooped)
        for (int a = 0; a < nodes; ++a)
          for (int c = 0; c < nodes; ++c) mean.hoop_spread[a * nodes + c] -= mean.volume * mean.hoop[a] * mean.hoop[c];
    } else {
      for (int q = 0; q < points; ++q) health = min(health, basis_at(e, jacobians, q, basis[q]));
    }
    if constexpr (incompatible) add_modes(e, basis);
    if constexpr (bbar) add_corrections(basis);
    return health;
  }

  template <class R>
  VSR_FN static void clear(Basis<R>& b) {
    b.volume = R(0.0);
    for (int a = 0; a < nodes; ++a) {
      for (int k = 0; k < dim; ++k) b.gradient[a][k] = R(0.0);
      if constexpr (hooped) {
        b.hoop[a] = R(0.0);
        for (int c = 0; c < nodes; ++c) b.hoop_spread[a * nodes + c] = R(0.0);
      }
    }
  }

  // ---- Gradients and work at a point ----

  template <class R>
  VSR_FN static Gradient<R> gradient_of(const Basis<R>& b, const R* u) {
    Gradient<R> g = zero_matrix<R, rows, 3>();
    for (int f = 0; f < functions; ++f)
      for (int i = 0; i < components; ++i)
        for (int k = 0; k < dim; ++k) g(i, k) += b.gradient[f][k] * u[f * components + i];
    if constexpr (hooped)
      for (int f = 0; f < functions; ++f) g(2, 2) += b.hoop[f] * u[f * components];
    if constexpr (bbar) {
      R sum = R(0.0);
      for (int i = 0; i < dofs; ++i) sum += b.correction[i] * u[i];
      for (int i = 0; i < 3; ++i) g(i, i) += sum;
    }
    return g;
  }

  /// The gradient of function f times unit vector j.
  template <class R>
  VSR_FN static Gradient<R> unit_gradient(const Basis<R>& b, int f, int j) {
    Gradient<R> g = zero_matrix<R, rows, 3>();
    for (int k = 0; k < dim; ++k) g(j, k) = b.gradient[f][k];
    if constexpr (hooped)
      if (j == 0) g(2, 2) = b.hoop[f];
    if constexpr (bbar)
      for (int i = 0; i < 3; ++i) g(i, i) += b.correction[f * components + j];
    return g;
  }

  /// Work of a flux on function f times unit vector i.
  template <class R>
  VSR_FN static R work(const Basis<R>& b, int f, int i, const Gradient<R>& flux) {
    R sum = flux(i, 0) * b.gradient[f][0];
    for (int k = 1; k < dim; ++k) sum += flux(i, k) * b.gradient[f][k];
    if constexpr (hooped)
      if (i == 0) sum += flux(2, 2) * b.hoop[f];
    if constexpr (bbar) sum += trace(flux) * b.correction[f * components + i];
    return sum;
  }

 private:
  /// The shape functions at point q of the stiffness rule, and the volume there.
  template <class R>
  VSR_FN static R basis_at(const Input<R>& e, const Jacobians<R>& jacobians, int q, Basis<R>& b) {
    const auto& table = shape_table<Shape, Rule>();
    R inv[dim][dim];
    const R det = jacobians.invert(e, q, inv);
    R r = R(1.0);
    if constexpr (ring) r = Points::radius(e, table, q);
    b.volume = R(table.weight[q]) * det * Points::depth(e, r);
    for (int a = 0; a < nodes; ++a)
      for (int k = 0; k < dim; ++k) {
        R g = R(table.gradient[q][a][0]) * inv[k][0];
        for (int m = 1; m < dim; ++m) g += R(table.gradient[q][a][m]) * inv[k][m];
        b.gradient[a][k] = g;
      }
    if constexpr (hooped) {
      const R f = R(1.0) / r;
      for (int a = 0; a < nodes; ++a) b.hoop[a] = R(table.value[q][a]) * f;
    }
    if constexpr (ring)
      return min(det, r);
    else
      return det;
  }

  /// Mode m is 1 − ξ_m². Its gradient is taken through the Jacobian of the element's centre and scaled by the ratio of
  /// volumes there and here, so that its integral is zero: a constant stress does no work on it, and the patch test is
  /// passed. If axisymmetric, its hoop strain, made orthogonal to constants in the same way, is zero at the 2 × 2
  /// points.
  template <class R>
  VSR_FN static void add_modes(const Input<R>& e, Basis<R>* basis) {
    const auto& centre = shape_table<Shape, Centre>();
    const auto& rule = rule_points<Rule>();
    R inv[dim][dim];
    const R det = Points::invert(e, centre, 0, inv);
    R r = R(1.0);
    if constexpr (ring) r = Points::radius(e, centre, 0);
    const R volume = det * Points::depth(e, r);
    for (int q = 0; q < points; ++q) {
      const R ratio = volume * R(rule.weight[q]) / basis[q].volume;
      for (int m = 0; m < dim; ++m) {
        const R f = R(-2.0 * rule.xi[q][m]) * ratio;
        for (int k = 0; k < dim; ++k) basis[q].gradient[nodes + m][k] = f * inv[k][m];
        if constexpr (hooped) basis[q].hoop[nodes + m] = R(0.0);
      }
    }
  }

  /// A third of the element's mean divergence less the divergence here, of every function and component.
  template <class R>
  VSR_FN static void add_corrections(Basis<R>* basis) {
    R mean[dofs], volume = R(0.0);
    for (int i = 0; i < dofs; ++i) mean[i] = R(0.0);
    for (int q = 0; q < points; ++q) {
      volume += basis[q].volume;
      for (int i = 0; i < dofs; ++i) mean[i] += basis[q].volume * divergence(basis[q], i);
    }
    const R f = R(1.0) / volume;
    for (int i = 0; i < dofs; ++i) mean[i] *= f;
    for (int q = 0; q < points; ++q)
      for (int i = 0; i < dofs; ++i) basis[q].correction[i] = R(1.0 / 3.0) * (mean[i] - divergence(basis[q], i));
  }
  template <class R>
  VSR_FN static R divergence(const Basis<R>& b, int i) {
    R d = b.gradient[i / components][i % components];
    if constexpr (hooped)
      if (i % components == 0) d += b.hoop[i / components];
    return d;
  }
};

}  // namespace voussoir::detail
