#pragma once
#include <voussoir/elements/point/hourglass.hpp>
#include <voussoir/elements/point/incompatible_modes.hpp>

// Internal forces of a point element, and the tangent times directions without the tangent, of several columns at once:
// du(w, a, i), `columns` and `most` as for PointElement::actions().

namespace voussoir::detail {

template <class Kernel, class Shape, class Formulation>
struct PointAction {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Functions = PointFunctions<Kernel, Shape, Formulation>;
  using Integrals = PointIntegrals<Kernel, Shape, Formulation>;
  using Modes = IncompatibleModes<Kernel, Shape, Formulation>;
  using Rule = typename Element::Rule;
  template <class R>
  using Input = typename Element::template Input<R>;
  template <class R>
  using Gradient = typename Element::template Gradient<R>;
  template <class R>
  using Basis = typename Functions::template Basis<R>;
  template <class R>
  using Material = PointMaterial<Kernel, Shape, Formulation, R>;
  static constexpr int dim = Element::dim, nodes = Element::nodes, components = Element::components,
                       rows = Element::rows;
  static constexpr int points = Element::points, functions = Element::functions, dofs = Element::dofs;
  static constexpr int mode_dofs = Modes::mode_dofs;
  static constexpr bool uniform = Element::uniform, incompatible = Element::incompatible, ring = Element::ring;

  /// A single nodal vector of the element as a Direction.
  template <class R>
  VSR_FN static auto along(const R* u) {
    return [u](int, int a, int i) { return u[a * components + i]; };
  }

  /// Internal forces of columns: the residual at u (`linearised` false), or the tangent times u.
  template <bool linearised, int most, class R, class Direction>
  VSR_LARGE_FN static R forces(const Input<R>& e, int columns, const Direction& du, R* r) {
    Basis<R> basis[points];
    const R health = Functions::make_basis(e, basis);
    R u[functions * components], stiffness[incompatible ? mode_dofs * (mode_dofs + 1) / 2 : 1];
    if constexpr (incompatible) Modes::factorise_modes(e, basis, stiffness);
    VSR_ROLLED
    for (int w = 0; w < (most == 1 ? 1 : columns); ++w) {
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < components; ++i) u[a * components + i] = du(w, a, i);
      if constexpr (incompatible) Modes::template find_modes<linearised>(e, basis, stiffness, u);
      Integrals::template forces<linearised, 0, nodes>(e, basis, u, r + w * dofs);
    }
    if constexpr (uniform) {
      const Hourglass<Kernel, Shape, Formulation, R> hourglass(e, basis[0]);
      VSR_ROLLED
      for (int w = 0; w < (most == 1 ? 1 : columns); ++w) {
        for (int a = 0; a < nodes; ++a)
          for (int i = 0; i < components; ++i) u[a * components + i] = du(w, a, i);
        hourglass.add_forces(u, r + w * dofs);
      }
    }
    return health;
  }

  /// The tangent times du of a full, linear element, without data carried from point to point.
  template <int most, class R, class Direction>
  VSR_LARGE_FN static R direct_actions(const Input<R>& e, int columns, const Direction& du, R* r) {
    const auto& table = shape_table<Shape, Rule>();
    Material<R> material;
    Point<R> p = material.begin(e);
    R health = R(1e300);
    each_column<most>(columns, [&](int w) {
      for (int i = 0; i < dofs; ++i) r[w * dofs + i] = R(0.0);
    });
    for (int q = 0; q < points; ++q) {
      R inv[dim][dim];
      const R det = Points::invert(e, table, q, inv);
      material.move(e, table.value[q], p);
      const R volume = R(table.weight[q]) * det * Points::depth(e, p.x[0]);
      each_column<most>(columns, [&](int w) {
        R reference[components][dim];
        for (int i = 0; i < components; ++i)
          for (int m = 0; m < dim; ++m) reference[i][m] = R(table.gradient[q][0][m]) * du(w, 0, i);
        for (int a = 1; a < nodes; ++a)
          for (int i = 0; i < components; ++i)
            for (int m = 0; m < dim; ++m) reference[i][m] += R(table.gradient[q][a][m]) * du(w, a, i);
        Gradient<R> grad = zero_matrix<R, rows, 3>();
        for (int i = 0; i < components; ++i)
          for (int k = 0; k < dim; ++k)
            for (int m = 0; m < dim; ++m) grad(i, k) += reference[i][m] * inv[k][m];
        const Gradient<R> flux = Kernel::dflux(p, grad, grad);
        for (int i = 0; i < components; ++i)
          for (int m = 0; m < dim; ++m) {
            R sum = flux(i, 0) * inv[0][m];
            for (int k = 1; k < dim; ++k) sum += flux(i, k) * inv[k][m];
            reference[i][m] = volume * sum;
          }
        R* own = r + w * dofs;
        for (int a = 0; a < nodes; ++a)
          for (int i = 0; i < components; ++i)
            for (int m = 0; m < dim; ++m) own[a * components + i] += R(table.gradient[q][a][m]) * reference[i][m];
      });
      if constexpr (ring)
        health = min(health, min(det, p.x[0]));
      else
        health = min(health, det);
    }
    return health;
  }

  /// The same for a Hex8.
  template <int most, class R, class Direction>
  VSR_LARGE_FN static R trilinear_actions(const Input<R>& e, int columns, const Direction& du, R* r) {
    const auto& table = shape_table<Shape, Rule>();
    Material<R> material;
    Point<R> p = material.begin(e);
    R health = R(1e300);
    R dx[3][3][4], d[most][components][3][4], flow[most][components][3][4];
    for (int k = 0; k < 3; ++k) trilinear_derivatives([&](int a) { return e.x[a][k]; }, dx[k]);
    each_column<most>(columns, [&](int w) {
      for (int i = 0; i < components; ++i) {
        trilinear_derivatives([&](int a) { return du(w, a, i); }, d[w][i]);
        for (int m = 0; m < 3; ++m)
          for (int s = 0; s < 4; ++s) flow[w][i][m][s] = R(0.0);
      }
    });
    VSR_ROLLED
    for (int q = 0; q < points; ++q) {
      const int place[3] = {trilinear_place(0, q), trilinear_place(1, q), trilinear_place(2, q)};
      R j[3][3], inv[3][3];
      for (int m = 0; m < 3; ++m)
        for (int k = 0; k < 3; ++k) j[m][k] = dx[k][m][place[m]];
      const R det = invert_jacobian<3>(j, inv);
      material.move(e, table.value[q], p);
      each_column<most>(columns, [&](int w) {
        const auto& own = d[w];
        Gradient<R> grad = zero_matrix<R, rows, 3>();
        for (int i = 0; i < components; ++i)
          for (int k = 0; k < 3; ++k)
            grad(i, k) =
                own[i][0][place[0]] * inv[k][0] + own[i][1][place[1]] * inv[k][1] + own[i][2][place[2]] * inv[k][2];
        const Gradient<R> flux = Kernel::dflux(p, grad, grad);
        for (int i = 0; i < components; ++i)
          for (int m = 0; m < 3; ++m)  // all weights are 1
            flow[w][i][m][place[m]] += det * (flux(i, 0) * inv[0][m] + flux(i, 1) * inv[1][m] + flux(i, 2) * inv[2][m]);
      });
      health = min(health, det);
    }
    each_column<most>(columns, [&](int w) {
      for (int i = 0; i < components; ++i) trilinear_forces<components>(flow[w][i], r + w * dofs + i);
    });
    return health;
  }

 private:
  /// visit(w) for every column; where nvcc compiles, for `most` of them, with constant numbers.
  template <int most, class Visit>
  VSR_FN static void each_column([[maybe_unused]] int columns, const Visit& visit) {
    if constexpr (most == 1) {
      visit(0);
    } else {
#if defined(__CUDA_ARCH__)
      VSR_UNROLLED
      for (int w = 0; w < most; ++w) visit(w);
#else
      for (int w = 0; w < columns; ++w) visit(w);
#endif
    }
  }
};

}  // namespace voussoir::detail
