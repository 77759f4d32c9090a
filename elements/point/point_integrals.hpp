#pragma once
#include <voussoir/elements/point/point_functions.hpp>

// Sums over the integration points: the tangent of some of an element's functions, and the forces on them.

namespace voussoir::detail {

template <class Kernel, class Shape, class Formulation>
struct PointIntegrals {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Functions = PointFunctions<Kernel, Shape, Formulation>;
  template <class R>
  using Input = typename Element::template Input<R>;
  template <class R>
  using Gradient = typename Element::template Gradient<R>;
  template <class R>
  using Basis = typename Functions::template Basis<R>;
  template <class R>
  using Material = PointMaterial<Kernel, Shape, Formulation, R>;
  static constexpr int dim = Element::dim, components = Element::components, rows = Element::rows,
                       points = Element::points;
  static constexpr bool linear = Element::linear, hooped = Element::hooped, bbar = Element::bbar;

  /// Tangent of functions first … first + count − 1, upper triangle by rows.
  template <int first, int count, class R>
  VSR_LARGE_FN static void tangent(const Input<R>& e, const Basis<R>* basis, R* upper) {
    constexpr int n = count * components;
    Material<R> material;
    Point<R> p = material.begin(e);
    if constexpr (kernel_has_pair_block<Kernel> && !hooped && !bbar) {
      if (!material.varies) {
        // Σ w ∇N_a ⊗ ∇N_b over the points first, in registers; the law once per pair.
        for (int a = 0; a < count; ++a) {
          R scaled[points][dim];
          for (int q = 0; q < points; ++q)
            for (int k = 0; k < dim; ++k) scaled[q][k] = basis[q].volume * basis[q].gradient[first + a][k];
          for (int b = a; b < count; ++b) {
            Mat3<R> outer = zero_matrix<R, 3, 3>();
            for (int k = 0; k < dim; ++k)
              for (int l = 0; l < dim; ++l) outer(k, l) = scaled[0][k] * basis[0].gradient[first + b][l];
            VSR_ROLLED
            for (int q = 1; q < points; ++q)
              for (int k = 0; k < dim; ++k)
                for (int l = 0; l < dim; ++l) outer(k, l) += scaled[q][k] * basis[q].gradient[first + b][l];
            const Mat<R, components, components> block = Kernel::pair_block(p, outer);
            for (int i = 0; i < components; ++i) {
              R* row = upper + upper_index<n>(a * components + i, b * components);
              // Bounds known to the compiler: it would call memcpy for a loop from i on.
              for (int j = 0; j < components; ++j)
                if (j >= i || b != a) row[j] = block(i, j);
            }
          }
        }
        return;
      }
    }
    for (int i = 0; i < n * (n + 1) / 2; ++i) upper[i] = R(0.0);
    for (int q = 0; q < points; ++q) {
      material.move(e, Points::value_at(q), p);
      Gradient<R> grad = zero_matrix<R, rows, 3>();
      if constexpr (!linear) grad = Functions::gradient_of(basis[q], e.u);
      for (int b = 0; b < count; ++b)
        for (int j = 0; j < components; ++j) {
          const Gradient<R> flux =
              basis[q].volume * Kernel::dflux(p, grad, Functions::unit_gradient(basis[q], first + b, j));
          for (int a = 0; a <= b; ++a)
            for (int i = 0; i < (a == b ? j + 1 : components); ++i)
              upper[upper_index<n>(a * components + i, b * components + j)] +=
                  Functions::work(basis[q], first + a, i, flux);
        }
    }
  }

  /// Forces on functions first … first + count − 1 at u (`linearised` false), or those of the tangent times u.
  template <bool linearised, int first, int count, class R>
  VSR_LARGE_FN static void forces(const Input<R>& e, const Basis<R>* basis, const R* u, R* r) {
    Material<R> material;
    Point<R> p = material.begin(e);
    for (int i = 0; i < count * components; ++i) r[i] = R(0.0);
    for (int q = 0; q < points; ++q) {
      material.move(e, Points::value_at(q), p);
      const Gradient<R> grad = Functions::gradient_of(basis[q], u);
      Gradient<R> flux;
      if constexpr (!linearised)
        flux = Kernel::flux(p, grad);
      else if constexpr (linear)
        flux = Kernel::dflux(p, grad, grad);
      else
        flux = Kernel::dflux(p, Functions::gradient_of(basis[q], e.u), grad);
      flux = basis[q].volume * flux;
      for (int a = 0; a < count; ++a)
        for (int i = 0; i < components; ++i) r[a * components + i] += Functions::work(basis[q], first + a, i, flux);
    }
  }
};

}  // namespace voussoir::detail
