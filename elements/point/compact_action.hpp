#pragma once
#include <voussoir/elements/point/integration_points.hpp>
#include <voussoir/elements/point/trilinear_coefficients.hpp>

// The tangent of a Hex8 times directions, for processors with too few registers for the arrays of PointAction: few
// values are live at a time. For material parameters that do not vary within the element.

namespace voussoir::detail {

/// The result for one direction, before it is distributed to the nodes.
template <class R, int components>
struct CompactFlow {
  TrilinearCoefficients<R> of[components];

  /// Adds the flux at one of the two points of a line; the first is kept until the second arrives.
  template <int rows>
  VSR_FN void add_flux(const Mat<R, rows, 3>& flux, const R (&cofactor)[3][3], int end, R j, R k,
                       R (&low)[components][3]) {
    VSR_UNROLLED
    for (int c = 0; c < components; ++c) {
      R force[3];
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m)
        force[m] = flux(c, 0) * cofactor[0][m] + flux(c, 1) * cofactor[1][m] + flux(c, 2) * cofactor[2][m];
      VSR_UNROLLED
      for (int m = 0; m < 3 && end == 0; ++m) low[c][m] = force[m];
      if (end == 1) of[c].add_line(low[c], force, j, k);
    }
  }

  /// put(a, i, force) takes component i at node a.
  template <class Put>
  VSR_FN void forces(const Put& put) const {
    VSR_UNROLLED
    for (int c = 0; c < components; ++c) of[c].forces(1.0 / 512, [&](int a, R force) { put(a, c, force); });
  }
};

/// The modes of a Hex8 by sums over its points. With c_m the cofactors of the centre and s_m = ±1 the sign of a
/// point, a mode's gradient is −2/√3 · s_m c_m / det, so that the modes' stiffness is made of the blocks of c_m ⊗ c_n
/// times Σ s_m s_n / det, and the force on mode m is Σ s_m flux · c_m. All other factors cancel.
template <class Kernel, class R, int columns>
struct CompactModes {
  static constexpr int rows = kernel_rows<Kernel>(), components = Kernel::components;
  static constexpr int mode_dofs = 3 * components;
  using Gradient = Mat<R, rows, 3>;

  R stiffness[6];               ///< Σ s_m s_n / det, an upper triangle
  Gradient moment[columns][3];  ///< Σ s_m flux; after release() what the modes add to det · flux, for s_m = 1

  VSR_FN void clear() {
    for (int i = 0; i < 6; ++i) stiffness[i] = R(0.0);
    for (int w = 0; w < columns; ++w)
      for (int m = 0; m < 3; ++m) moment[w][m] = zero_matrix<R, rows, 3>();
  }
  VSR_FN void add_point(R i, R j, R k, R inverse) {
    const R sign[3] = {i, j, k};
    VSR_UNROLLED
    for (int m = 0; m < 3; ++m) VSR_UNROLLED
    for (int n = m; n < 3; ++n) stiffness[upper_index<3>(m, n)] += sign[m] * sign[n] * inverse;
  }
  VSR_FN void add_flux(int w, R i, R j, R k, const Gradient& flux) {
    moment[w][0] = moment[w][0] + i * flux;
    moment[w][1] = moment[w][1] + j * flux;
    moment[w][2] = moment[w][2] + k * flux;
  }
  VSR_FN Gradient flux(int w, R i, R j, R k) const { return i * moment[w][0] + j * moment[w][1] + k * moment[w][2]; }

  /// Computes the amplitudes for which the forces on the modes vanish.
  VSR_FN void release(const Point<R>& p, const TrilinearCoefficients<R> (&x)[3]) {
    R c[3][3], matrix[mode_dofs * (mode_dofs + 1) / 2];
    trilinear_cofactors(x, R(0.0), R(0.0), R(0.0), c);
    VSR_UNROLLED
    for (int m = 0; m < 3; ++m) VSR_UNROLLED
    for (int n = m; n < 3; ++n) {
      Mat3<R> outer;
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) outer(k, l) = stiffness[upper_index<3>(m, n)] * c[k][m] * c[l][n];
      const Mat<R, components, components> block = Kernel::pair_block(p, outer);
      VSR_UNROLLED
      for (int i = 0; i < components; ++i) VSR_UNROLLED
      for (int j = 0; j < components; ++j)
        if (n > m || j >= i) matrix[upper_index<mode_dofs>(m * components + i, n * components + j)] = block(i, j);
    }
    factorise<mode_dofs>(matrix);
    VSR_UNROLLED
    for (int w = 0; w < columns; ++w) {
      R amplitude[mode_dofs];
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m) VSR_UNROLLED
      for (int i = 0; i < components; ++i)
        amplitude[m * components + i] =
            moment[w][m](i, 0) * c[0][m] + moment[w][m](i, 1) * c[1][m] + moment[w][m](i, 2) * c[2][m];
      solve<mode_dofs>(matrix, amplitude);
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m) {
        Gradient grad;
        for (int i = 0; i < components; ++i)
          for (int k = 0; k < 3; ++k) grad(i, k) = -amplitude[m * components + i] * c[k][m];
        moment[w][m] = Kernel::dflux(p, grad, grad);
      }
    }
  }
};

/// The action of a full element, or of one with incompatible modes, whose law has pair_block.
template <class Kernel, class Shape, class Formulation>
struct CompactAction {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Rule = typename Element::Rule;
  template <class R>
  using Input = typename Element::template Input<R>;
  template <class R>
  using Gradient = typename Element::template Gradient<R>;
  template <class R>
  using Material = PointMaterial<Kernel, Shape, Formulation, R>;
  static constexpr int components = Element::components, rows = Element::rows;
  static constexpr bool incompatible = Element::incompatible;

  /// PointElement::compact_actions().
  template <int room, int columns, class R, class Direction, class Scratch>
  VSR_FN static R actions(const Input<R>& e, const Direction& du, const Scratch& scratch,
                          CompactFlow<R, components> (&flow)[columns]) {
    using Coefficients = TrilinearCoefficients<R>;
    const auto& table = shape_table<Shape, Rule>();
    Material<R> material;
    Point<R> p = material.begin(e);
    // Positions are kept in scratch memory, and then the directions of all columns but the first, as far as they fit.
    constexpr int fields = room / Coefficients::count;
    constexpr bool apart = fields >= 3;
    constexpr int waiting = !apart ? 0 : (fields - 3) / components < columns ? (fields - 3) / components : columns - 1;
    const auto place_of = [&](int field) {
      return [&scratch, field](int n) -> decltype(auto) { return scratch(Coefficients::count * field + n); };
    };
    Coefficients kept[3], d[columns][components];
    VSR_UNROLLED
    for (int k = 0; k < 3; ++k) {
      kept[k] = Coefficients::of([&](int a) { return e.x[a][k]; });
      if constexpr (apart) kept[k].store(place_of(k));
    }
    VSR_UNROLLED
    for (int w = 0; w < columns; ++w) VSR_UNROLLED
    for (int i = 0; i < components; ++i) {
      d[w][i] = Coefficients::of([&](int a) { return du(w, a, i); });
      if (columns - w <= waiting) d[w][i].store(place_of(3 + (columns - 1 - w) * components + i));
      flow[w].of[i].clear();
    }
    CompactModes<Kernel, R, columns> modes_of;
    if constexpr (incompatible) modes_of.clear();
    const auto positions = [&](Coefficients(&x)[3]) {
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m)
        if constexpr (apart)
          x[m].load(place_of(m));
        else
          x[m] = kept[m];
    };
    R health = R(1e300);
    VSR_UNROLLED
    for (int line = 0; line < 4; ++line) {
      const R j = R(line % 2 == 1 ? 1.0 : -1.0), k = R(line / 2 == 1 ? 1.0 : -1.0);
      Coefficients x[3];
      positions(x);
      R low[columns][components][3];
      VSR_UNROLLED
      for (int end = 0; end < 2; ++end) {
        const R i = R(end == 1 ? 1.0 : -1.0);
        // Cofactors instead of an inverse: of eight times the Jacobian, so that all factors but one cancel.
        R cofactor[3][3];
        const R det = trilinear_cofactors(x, i, j, k, cofactor), inverse = reciprocal(det);
        health = min(health, det);
        material.move(e, table.value[2 * line + end], p);
        if constexpr (incompatible) modes_of.add_point(i, j, k, inverse);
        VSR_UNROLLED
        for (int w = 0; w < columns; ++w) {
          // det · gradient; the law is linear, so its flux is scaled instead.
          Gradient<R> grad = zero_matrix<R, rows, 3>();
          VSR_UNROLLED
          for (int c = 0; c < components; ++c) {
            Coefficients own = d[w][c];
            if (columns - w <= waiting) own.load(place_of(3 + (columns - 1 - w) * components + c));
            const R da = own.along_x(j, k), db = own.along_y(i, k), dc = own.along_z(i, j);
            VSR_UNROLLED
            for (int m = 0; m < 3; ++m) grad(c, m) = da * cofactor[m][0] + db * cofactor[m][1] + dc * cofactor[m][2];
          }
          const Gradient<R> flux = inverse * Kernel::dflux(p, grad, grad);
          if constexpr (incompatible) modes_of.add_flux(w, i, j, k, flux);
          flow[w].add_flux(flux, cofactor, end, j, k, low[w]);
        }
      }
    }
    if constexpr (incompatible) {
      // The contribution of the released modes, in a second pass over the points.
      Coefficients x[3];
      positions(x);
      modes_of.release(p, x);
      VSR_UNROLLED
      for (int line = 0; line < 4; ++line) {
        const R j = R(line % 2 == 1 ? 1.0 : -1.0), k = R(line / 2 == 1 ? 1.0 : -1.0);
        positions(x);
        R low[columns][components][3];
        VSR_UNROLLED
        for (int end = 0; end < 2; ++end) {
          const R i = R(end == 1 ? 1.0 : -1.0);
          R cofactor[3][3];
          const R inverse = reciprocal(trilinear_cofactors(x, i, j, k, cofactor));
          VSR_UNROLLED
          for (int w = 0; w < columns; ++w)
            flow[w].add_flux(inverse * modes_of.flux(w, i, j, k), cofactor, end, j, k, low[w]);
        }
      }
    }
    return R(1.0 / 512) * health;
  }
};

}  // namespace voussoir::detail
