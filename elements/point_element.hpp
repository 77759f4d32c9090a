#pragma once
#include <voussoir/elements/formulation.hpp>
#include <voussoir/elements/kernel/element_kernel.hpp>
#include <voussoir/elements/point_material.hpp>
#include <voussoir/elements/point_pieces.hpp>
#include <voussoir/elements/small_algebra.hpp>
#include <voussoir/elements/trilinear_coefficients.hpp>

// Whole elements made of a PointKernel, a shape and a formulation. Formulas: docs/elements.md.
//
// At an integration point every formulation comes down to functions f (the nodes' shape functions, and the modes inside
// an element that bends) with
//   gradient[f]    ∇f in space
//   hoop[f]        f/r, in a ring
//   correction[f]  what B-bar adds to the three normal strains, per component of the unknown
// and a volume. The routines below are written once, in these terms.

namespace voussoir {

/// An element kernel (kernel/element_kernel.hpp) made of a point kernel, a shape and a formulation. Every routine
/// returns the least determinant of the Jacobian over the points it visits: not positive for an element that is inside
/// out, or whose nodes run clockwise.
template <class Kernel, class Shape, class Formulation>
struct PointElement : detail::ParameterNames<Kernel, detail::kernel_geometry<Kernel, Shape>() == Geometry::plane>,
                      detail::RecoveredNames<Kernel> {
  static constexpr const char* name = Kernel::name;
  static constexpr const char* shape = Shape::name;
  static constexpr Geometry geometry = detail::kernel_geometry<Kernel, Shape>();
  static constexpr int dim = Shape::dim, nodes = Shape::nodes, components = Kernel::components;
  static constexpr int rows = detail::kernel_rows<Kernel>();
  static constexpr int parameter_count = detail::kernel_parameters<Kernel>() + (geometry == Geometry::plane ? 1 : 0);
  static constexpr auto& unknowns = Kernel::unknowns;
  static constexpr bool linear = detail::kernel_linear<Kernel>();
  static constexpr bool scalar = detail::kernel_scalar<Kernel>();

  static constexpr bool uniform = detail::same<Formulation, Reduced> && detail::multilinear<Shape>;
  static constexpr bool bbar = detail::same<Formulation, BBar>;
  static constexpr bool incompatible = detail::same<Formulation, Incompatible>;
  static constexpr bool ring = geometry == Geometry::axisymmetric;
  static constexpr bool hooped = ring && rows == 3 && components == 2;

  static_assert(dim == 2 || dim == 3, "point elements fill an area or a volume; lines are whole-element kernels");
  static_assert(dim == 3 || geometry != Geometry::solid, "a solid kernel needs a three-dimensional shape");
  static_assert(dim == 2 || geometry == Geometry::solid, "a plane or axisymmetric kernel needs a plane shape");
  static_assert(!(uniform || bbar || incompatible) || (components == dim && linear),
                "these formulations are for displacements and laws linear in the gradient");
  static_assert(!(bbar || incompatible) || detail::multilinear<Shape>, "this formulation is for Quad4 and Hex8");
  static_assert(!bbar || rows == 3, "B-bar needs all three normal strains");

  using Rule = typename detail::FormulationRules<Shape, Formulation, geometry>::Stiffness;
  using MassRule = typename detail::FormulationRules<Shape, Formulation, geometry>::Mass;
  static constexpr int points = uniform ? 1 : Rule::points;
  static constexpr bool trilinear = detail::same<Shape, Hex8> && detail::same<Rule, GaussHex<2>>;
  static constexpr int modes = incompatible ? dim : 0, functions = nodes + modes;
  static constexpr int dofs = nodes * components, entries = dofs * (dofs + 1) / 2;

  // Pieces of the matrices, for backends that share an element among threads (point_pieces.hpp).

  using Pieces = detail::PointPieces<PointElement>;
  /// Whether the tangent of nodes a and b is pair_block(Σ w ∇N_a ⊗ ∇N_b), and nothing else.
  static constexpr bool pair_integrable =
      detail::kernel_has_pair_block<Kernel> && !hooped && !bbar && !incompatible && !uniform;
  /// Whether the tangent is a sum over points of what each of them gives by itself.
  static constexpr bool point_integrable = !bbar && !incompatible && !uniform;

  /// Whether an action needs the functions at all points at once, and not from point to point.
  static constexpr bool keeps_basis = !detail::same<Formulation, Full> || !linear || hooped;

  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;
  template <class R>
  using Gradient = Mat<R, rows, 3>;

  // ---- Routines of an element kernel ----

  template <class R>
  VSR_LARGE_FN static R tangent(const Input<R>& e, R* upper) {
    Basis<R> basis[points];
    const R health = make_basis(e, basis);
    if constexpr (incompatible) {
      constexpr int all = functions * components;
      R extended[all * (all + 1) / 2];
      integrate_tangent<0, functions>(e, basis, extended);
      condense(extended, upper);
    } else {
      integrate_tangent<0, nodes>(e, basis, upper);
    }
    if constexpr (uniform) {
      const Hourglass<R> hourglass(e, basis[0]);
      hourglass.add_tangent(upper);
    }
    return health;
  }

  template <class R>
  VSR_LARGE_FN static R residual(const Input<R>& e, R* r) {
    return forces<false, 1>(e, 1, along(e.u), r);
  }

  template <class R>
  VSR_LARGE_FN static R action(const Input<R>& e, const R* du, R* r) {
    return actions<1>(e, 1, along(du), r);
  }

  /// action() for `columns` directions, `most` at most, geometry and material evaluated once: du(w, a, i) is component
  /// i at node a of direction w, whose result begins at r[w · dofs].
  template <int most, class R, class Direction>
  VSR_FN static R actions(const Input<R>& e, int columns, const Direction& du, R* r) {
    if constexpr (keeps_basis)
      return forces<true, most>(e, columns, du, r);
    else if constexpr (trilinear)
      return trilinear_actions<most>(e, columns, du, r);
    else
      return direct_actions<most>(e, columns, du, r);
  }

  // The same for processors that have no room for the arrays of actions(): few numbers are alive at a time. Where
  // has_compact_action, for a material whose numbers do not vary within the element.
  static constexpr bool has_compact_action =
      trilinear && (!keeps_basis || (incompatible && detail::kernel_has_pair_block<Kernel>));
  /// What a direction gives, before it is brought to the nodes.
  template <class R>
  struct CompactFlow {
    detail::TrilinearCoefficients<R> of[components];
    /// put(a, i, force) takes component i at node a.
    template <class Put>
    VSR_FN void forces(const Put& put) const {
      VSR_UNROLLED
      for (int c = 0; c < components; ++c) of[c].forces(1.0 / 512, [&](int a, R force) { put(a, c, force); });
    }
  };
  /// `du` as for actions(). scratch(n) is room for a number, n < room, that is free again afterwards.
  template <int room, int columns, class R, class Direction, class Scratch>
  VSR_FN static R compact_actions(const Input<R>& e, const Direction& du, const Scratch& scratch,
                                  CompactFlow<R> (&flow)[columns]) {
    using Coefficients = detail::TrilinearCoefficients<R>;
    const auto& table = shape_table<Shape, Rule>();
    Material<R> material;
    Point<R> p = material.begin(e);
    // Positions wait in the scratch, and then the directions of all columns but the first, as far as there is room.
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
    CompactModes<R, columns> modes_of;
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
        const R det = detail::trilinear_cofactors(x, i, j, k, cofactor), inverse = detail::reciprocal(det);
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
          add_flux(flux, cofactor, end, j, k, low[w], flow[w]);
        }
      }
    }
    if constexpr (incompatible) {
      // What the modes, once they are free, give in a second round over the points.
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
          const R inverse = detail::reciprocal(detail::trilinear_cofactors(x, i, j, k, cofactor));
          VSR_UNROLLED
          for (int w = 0; w < columns; ++w)
            add_flux(inverse * modes_of.flux(w, i, j, k), cofactor, end, j, k, low[w], flow[w]);
        }
      }
    }
    return R(1.0 / 512) * health;
  }

  template <class R>
  VSR_LARGE_FN static R mass(const Input<R>& e, R* upper) requires detail::kernel_has_density<Kernel> {
    for (int i = 0; i < entries; ++i) upper[i] = R(0.0);
    const auto& table = shape_table<Shape, MassRule>();
    return over_mass_points(e, [&](int q, R weight) {
      for (int a = 0; a < nodes; ++a) {
        const R row = weight * R(table.value[q][a]);
        for (int b = a; b < nodes; ++b) {
          const R m = row * R(table.value[q][b]);
          for (int i = 0; i < components; ++i) upper[index<dofs>(a * components + i, b * components + i)] += m;
        }
      }
    });
  }

  /// The mass of each node. Linear shapes: the sum of a row of the consistent mass. Quadratic ones, where that may be
  /// negative: the diagonal, scaled to the mass of the element (Hinton, Rock and Zienkiewicz 1976).
  template <class R>
  VSR_FN static R node_masses(const Input<R>& e, R (&m)[nodes]) requires detail::kernel_has_density<Kernel> {
    const auto& table = shape_table<Shape, MassRule>();
    R total = R(0.0), diagonal = R(0.0);
    for (int a = 0; a < nodes; ++a) m[a] = R(0.0);
    const R health = over_mass_points(e, [&](int q, R weight) {
      total += weight;
      for (int a = 0; a < nodes; ++a) {
        const double n = table.value[q][a];
        m[a] += weight * R(Shape::order == 1 ? n : n * n);
      }
    });
    if constexpr (Shape::order > 1) {
      for (int a = 0; a < nodes; ++a) diagonal += m[a];
      // A body without mass keeps none, instead of 0/0.
      const R scale = select_less(R(0.0), diagonal, total / max(diagonal, R(1e-300)), R(0.0));
      for (int a = 0; a < nodes; ++a) m[a] *= scale;
    }
    return health;
  }
  template <class R>
  VSR_LARGE_FN static R lumped_mass(const Input<R>& e, R* upper) requires detail::kernel_has_density<Kernel> {
    R m[nodes];
    const R health = node_masses(e, m);
    for (int i = 0; i < entries; ++i) upper[i] = R(0.0);
    for (int i = 0; i < dofs; ++i) upper[index<dofs>(i, i)] = m[i / components];
    return health;
  }

  /// Displacements: ρ (g + ω² r); a single unknown: the source.
  template <class R, class Load>
  VSR_LARGE_FN static R body_load(const Input<R>& e, const Load& load,
                                  R* f) requires(components == 1 ||
                                                 (components == dim && detail::kernel_has_density<Kernel>)) {
    const auto& table = shape_table<Shape, MassRule>();
    for (int i = 0; i < dofs; ++i) f[i] = R(0.0);
    if constexpr (components == 1) {
      return over_points<MassRule>(e, [&](int q, R volume, const Point<R>&) {
        const R source = volume * R(load.source);
        for (int a = 0; a < nodes; ++a) f[a] += source * R(table.value[q][a]);
      });
    } else {
      return over_points<MassRule>(e, [&](int q, R volume, const Point<R>& p) {
        Vec3<R> arm;
        R along = R(0.0);
        for (int k = 0; k < 3; ++k) {
          arm[k] = p.x[k] - R(load.axis_point[k]);
          along += arm[k] * R(load.axis_direction[k]);
        }
        const R weight = volume * Kernel::density(p);
        for (int i = 0; i < components; ++i) {
          const R pull =
              R(load.acceleration[i]) + R(load.angular_velocity_squared) * (arm[i] - along * R(load.axis_direction[i]));
          for (int a = 0; a < nodes; ++a) f[a * components + i] += weight * pull * R(table.value[q][a]);
        }
      });
    }
  }

  /// At each point: position, volume, strain and stress (tensor components xx yy zz xy yz xz: shear strain is not
  /// doubled) or gradient and flux (down the gradient), and stored energy per volume where the kernel knows it.
  template <class R>
  VSR_LARGE_FN static R recover(const Input<R>& e, R* out) {
    Basis<R> basis[points];
    const R health = make_basis(e, basis);
    R u[functions * components];
    for (int i = 0; i < dofs; ++i) u[i] = e.u[i];
    if constexpr (incompatible) {
      R stiffness[mode_dofs * (mode_dofs + 1) / 2];
      factorise_modes(e, basis, stiffness);
      find_modes<false>(e, basis, stiffness, u);
    }
    Material<R> material;
    Point<R> p = material.begin(e);
    for (int q = 0; q < points; ++q) {
      material.move(e, value_at(q), p);
      const Gradient<R> grad = gradient_of(basis[q], u);
      const Gradient<R> flux = Kernel::flux(p, grad);
      for (int k = 0; k < 3; ++k) *out++ = p.x[k];
      *out++ = basis[q].volume;
      if constexpr (detail::kernel_symmetric<Kernel>()) {
        Mat3<R> strain;
        if constexpr (requires { Kernel::strain(p, grad); })
          strain = Kernel::strain(p, grad);
        else
          strain = R(0.5) * (grad + transpose(grad));
        out = write_tensor(strain, out);
        out = write_tensor(flux, out);
      } else {
        for (int i = 0; i < rows; ++i)
          for (int k = 0; k < 3; ++k) *out++ = grad(i, k);
        for (int i = 0; i < rows; ++i)
          for (int k = 0; k < 3; ++k) *out++ = -flux(i, k);
      }
      if constexpr (detail::kernel_has_energy<Kernel>) *out++ = Kernel::energy(p, grad);
    }
    return health;
  }

  static constexpr bool extrapolates = true;
  /// The polynomial through the values at the points, at the nodes.
  static constexpr void extrapolation(double* nodes_by_points) {
    for (int a = 0; a < nodes; ++a) {
      double* row = nodes_by_points + a * points;
      if constexpr (points == 1) {
        row[0] = 1.0;
      } else {
        double xi[dim]{};
        for (int k = 0; k < dim; ++k) xi[k] = Shape::node(a, k);
        Rule::interpolate(xi, row);
      }
    }
  }

  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    R least = R(1.0);
    for (int row = 0; row < e.table_rows; ++row) {
      [[maybe_unused]] const R* parameters = e.table + row * (parameter_count + 1) + 1;
      if constexpr (requires { Kernel::valid(parameters); }) least = min(least, Kernel::valid(parameters));
      if constexpr (geometry == Geometry::plane) least = min(least, parameters[parameter_count - 1]);
    }
    return least;
  }

 private:
  friend Pieces;

  // ---- Points ----

  /// The functions of the element at one integration point.
  template <class R>
  struct Basis {
    R gradient[functions][dim];
    R hoop[hooped ? functions : 1];
    R correction[bbar ? functions * components : 1];
    R hoop_spread[uniform && hooped ? nodes * nodes : 1];  // ∫ (f/r − mean) (g/r − mean) dV, of a uniform ring
    R volume;
  };
  template <class R>
  using Material = detail::PointMaterial<Kernel, Shape, Formulation, R>;

  template <int n>
  VSR_FN static constexpr int index(int i, int j) {
    return detail::upper_index<n>(i, j);
  }

  /// Shape functions at point q of the formulation, for what is interpolated there.
  VSR_FN static const double* value_at(int q) {
    if constexpr (uniform)
      return shape_table<Shape, Centre>().value[0];
    else
      return shape_table<Shape, Rule>().value[q];
  }

  /// The one-point rule of squares and cubes.
  template <int d, class = void>
  struct CentreRule {
    using type = GaussQuad<1>;
  };
  template <class Unused>
  struct CentreRule<3, Unused> {
    using type = GaussHex<1>;
  };
  using Centre = typename CentreRule<dim>::type;

  template <class Table, class R>
  VSR_FN static R invert(const Input<R>& e, const Table& table, int q, R (&inv)[dim][dim]) {
    R j[dim][dim];
    for (int m = 0; m < dim; ++m)
      for (int k = 0; k < dim; ++k) j[m][k] = R(table.gradient[q][0][m]) * e.x[0][k];
    for (int a = 1; a < nodes; ++a)
      for (int m = 0; m < dim; ++m)
        for (int k = 0; k < dim; ++k) j[m][k] += R(table.gradient[q][a][m]) * e.x[a][k];
    return detail::invert_jacobian<dim>(j, inv);
  }

  template <class Table, class R>
  VSR_FN static R radius(const Input<R>& e, const Table& table, int q) {
    R r = R(table.value[q][0]) * e.x[0][0];
    for (int a = 1; a < nodes; ++a) r += R(table.value[q][a]) * e.x[a][0];
    return r;
  }

  /// Volume per area of the reference cell: thickness, or the length of the circle.
  template <class R>
  VSR_FN static R depth(const Input<R>& e, R r) {
    if constexpr (ring)
      return R(6.28318530717958647693) * r;
    else if constexpr (geometry == Geometry::plane)
      return e.table[parameter_count];
    else
      return R(1.0);
  }

  /// Calls visit(q, volume, point) at the points of a rule.
  template <class AnyRule, class R, class Visit>
  VSR_FN static R over_points(const Input<R>& e, const Visit& visit) {
    const auto& table = shape_table<Shape, AnyRule>();
    Material<R> material;
    Point<R> p = material.begin(e);
    R health = R(1e300);
    for (int q = 0; q < AnyRule::points; ++q) {
      R inv[dim][dim];
      const R det = invert(e, table, q, inv);
      material.move(e, table.value[q], p);
      health = min(health, ring ? min(det, p.x[0]) : det);
      visit(q, R(table.weight[q]) * det * depth(e, p.x[0]), p);
    }
    return health;
  }
  /// Calls visit(q, mass) at the points of the mass rule.
  template <class R, class Visit>
  VSR_FN static R over_mass_points(const Input<R>& e, const Visit& visit) {
    return over_points<MassRule>(e, [&](int q, R volume, const Point<R>& p) { visit(q, volume * Kernel::density(p)); });
  }

  /// Jacobians at the points of the stiffness rule.
  template <class R>
  struct Jacobians {
    R dx[trilinear ? 3 : 1][3][4];
    VSR_FN explicit Jacobians(const Input<R>& e) {
      if constexpr (trilinear)
        for (int k = 0; k < 3; ++k) detail::trilinear_derivatives([&](int a) { return e.x[a][k]; }, dx[k]);
    }
    VSR_FN R invert(const Input<R>& e, int q, R (&inv)[dim][dim]) const {
      if constexpr (trilinear) {
        R j[3][3];
        for (int m = 0; m < 3; ++m)
          for (int k = 0; k < 3; ++k) j[m][k] = dx[k][m][detail::trilinear_place(m, q)];
        return detail::invert_jacobian<3>(j, inv);
      } else {
        return PointElement::invert(e, shape_table<Shape, Rule>(), q, inv);
      }
    }
  };

  /// The shape functions at point q of the stiffness rule, and the volume there.
  template <class R>
  VSR_FN static R basis_at(const Input<R>& e, const Jacobians<R>& jacobians, int q, Basis<R>& b) {
    const auto& table = shape_table<Shape, Rule>();
    R inv[dim][dim];
    const R det = jacobians.invert(e, q, inv);
    R r = R(1.0);
    if constexpr (ring) r = radius(e, table, q);
    b.volume = R(table.weight[q]) * det * depth(e, r);
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

  /// Mode m is 1 − ξ_m². Its gradient is taken through the Jacobian of the element's centre and scaled by the ratio of
  /// volumes there and here, so that its integral is zero: a constant stress does no work on it, and the patch test is
  /// passed. In a ring its hoop strain, made orthogonal to constants in the same way, is zero at the 2 × 2 points.
  template <class R>
  VSR_FN static void add_modes(const Input<R>& e, Basis<R>* basis) {
    const auto& centre = shape_table<Shape, Centre>();
    const auto& rule = rule_points<Rule>();
    R inv[dim][dim];
    const R det = invert(e, centre, 0, inv);
    R r = R(1.0);
    if constexpr (ring) r = radius(e, centre, 0);
    const R volume = det * depth(e, r);
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

  // ---- Gradients, forces, tangents at a point ----

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

  /// Tangent of functions first … first + count − 1, upper triangle by rows.
  template <int first, int count, class R>
  VSR_LARGE_FN static void integrate_tangent(const Input<R>& e, const Basis<R>* basis, R* upper) {
    constexpr int n = count * components;
    Material<R> material;
    Point<R> p = material.begin(e);
    if constexpr (detail::kernel_has_pair_block<Kernel> && !hooped && !bbar) {
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
              R* row = upper + index<n>(a * components + i, b * components);
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
      material.move(e, value_at(q), p);
      Gradient<R> grad = zero_matrix<R, rows, 3>();
      if constexpr (!linear) grad = gradient_of(basis[q], e.u);
      for (int b = 0; b < count; ++b)
        for (int j = 0; j < components; ++j) {
          const Gradient<R> flux = basis[q].volume * Kernel::dflux(p, grad, unit_gradient(basis[q], first + b, j));
          for (int a = 0; a <= b; ++a)
            for (int i = 0; i < (a == b ? j + 1 : components); ++i)
              upper[index<n>(a * components + i, b * components + j)] += work(basis[q], first + a, i, flux);
        }
    }
  }

  /// A single nodal vector of the element as a Direction.
  template <class R>
  VSR_FN static auto along(const R* u) {
    return [u](int, int a, int i) { return u[a * components + i]; };
  }
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

  /// Internal forces of columns: the residual at u (`linearised` false), or the tangent times u.
  template <bool linearised, int most, class R, class Direction>
  VSR_LARGE_FN static R forces(const Input<R>& e, int columns, const Direction& du, R* r) {
    Basis<R> basis[points];
    const R health = make_basis(e, basis);
    R u[functions * components], stiffness[incompatible ? mode_dofs * (mode_dofs + 1) / 2 : 1];
    if constexpr (incompatible) factorise_modes(e, basis, stiffness);
    VSR_ROLLED
    for (int w = 0; w < (most == 1 ? 1 : columns); ++w) {
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < components; ++i) u[a * components + i] = du(w, a, i);
      if constexpr (incompatible) find_modes<linearised>(e, basis, stiffness, u);
      integrate_forces<linearised, 0, nodes>(e, basis, u, r + w * dofs);
    }
    if constexpr (uniform) {
      const Hourglass<R> hourglass(e, basis[0]);
      VSR_ROLLED
      for (int w = 0; w < (most == 1 ? 1 : columns); ++w) {
        for (int a = 0; a < nodes; ++a)
          for (int i = 0; i < components; ++i) u[a * components + i] = du(w, a, i);
        hourglass.add_forces(u, r + w * dofs);
      }
    }
    return health;
  }

  /// Forces on functions first … first + count − 1.
  template <bool linearised, int first, int count, class R>
  VSR_LARGE_FN static void integrate_forces(const Input<R>& e, const Basis<R>* basis, const R* u, R* r) {
    Material<R> material;
    Point<R> p = material.begin(e);
    for (int i = 0; i < count * components; ++i) r[i] = R(0.0);
    for (int q = 0; q < points; ++q) {
      material.move(e, value_at(q), p);
      const Gradient<R> grad = gradient_of(basis[q], u);
      Gradient<R> flux;
      if constexpr (!linearised)
        flux = Kernel::flux(p, grad);
      else if constexpr (linear)
        flux = Kernel::dflux(p, grad, grad);
      else
        flux = Kernel::dflux(p, gradient_of(basis[q], e.u), grad);
      flux = basis[q].volume * flux;
      for (int a = 0; a < count; ++a)
        for (int i = 0; i < components; ++i) r[a * components + i] += work(basis[q], first + a, i, flux);
    }
  }

  /// The tangent times du of a full, linear element, with nothing kept from point to point.
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
      const R det = invert(e, table, q, inv);
      material.move(e, table.value[q], p);
      const R volume = R(table.weight[q]) * det * depth(e, p.x[0]);
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
    for (int k = 0; k < 3; ++k) detail::trilinear_derivatives([&](int a) { return e.x[a][k]; }, dx[k]);
    each_column<most>(columns, [&](int w) {
      for (int i = 0; i < components; ++i) {
        detail::trilinear_derivatives([&](int a) { return du(w, a, i); }, d[w][i]);
        for (int m = 0; m < 3; ++m)
          for (int s = 0; s < 4; ++s) flow[w][i][m][s] = R(0.0);
      }
    });
    VSR_ROLLED
    for (int q = 0; q < points; ++q) {
      const int place[3] = {detail::trilinear_place(0, q), detail::trilinear_place(1, q),
                            detail::trilinear_place(2, q)};
      R j[3][3], inv[3][3];
      for (int m = 0; m < 3; ++m)
        for (int k = 0; k < 3; ++k) j[m][k] = dx[k][m][place[m]];
      const R det = detail::invert_jacobian<3>(j, inv);
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
      for (int i = 0; i < components; ++i) detail::trilinear_forces<components>(flow[w][i], r + w * dofs + i);
    });
    return health;
  }

  /// What a flux at an end of a line does: the first waits for the second.
  template <class R>
  VSR_FN static void add_flux(const Gradient<R>& flux, const R (&cofactor)[3][3], int end, R j, R k,
                              R (&low)[components][3], CompactFlow<R>& flow) {
    VSR_UNROLLED
    for (int c = 0; c < components; ++c) {
      R force[3];
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m)
        force[m] = flux(c, 0) * cofactor[0][m] + flux(c, 1) * cofactor[1][m] + flux(c, 2) * cofactor[2][m];
      VSR_UNROLLED
      for (int m = 0; m < 3 && end == 0; ++m) low[c][m] = force[m];
      if (end == 1) flow.of[c].add_line(low[c], force, j, k);
    }
  }

  // ---- Incompatible modes ----

  static constexpr int mode_dofs = modes * components;

  /// The modes of a Hex8 by sums over its points. With c_m the cofactors of the centre and s_m = ±1 the sign of a
  /// point, a mode's gradient is −2/√3 · s_m c_m / det, so that the modes' stiffness is made of the blocks of c_m ⊗ c_n
  /// times Σ s_m s_n / det, and the force on mode m is Σ s_m flux · c_m. All other factors cancel.
  template <class R, int columns>
  struct CompactModes {
    R stiffness[6];                  ///< Σ s_m s_n / det, an upper triangle
    Gradient<R> moment[columns][3];  ///< Σ s_m flux; after release() what the modes add to det · flux, for s_m = 1

    VSR_FN void clear() {
      for (int i = 0; i < 6; ++i) stiffness[i] = R(0.0);
      for (int w = 0; w < columns; ++w)
        for (int m = 0; m < 3; ++m) moment[w][m] = zero_matrix<R, rows, 3>();
    }
    VSR_FN void add_point(R i, R j, R k, R inverse) {
      const R sign[3] = {i, j, k};
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m) VSR_UNROLLED
      for (int n = m; n < 3; ++n) stiffness[index<3>(m, n)] += sign[m] * sign[n] * inverse;
    }
    VSR_FN void add_flux(int w, R i, R j, R k, const Gradient<R>& flux) {
      moment[w][0] = moment[w][0] + i * flux;
      moment[w][1] = moment[w][1] + j * flux;
      moment[w][2] = moment[w][2] + k * flux;
    }
    VSR_FN Gradient<R> flux(int w, R i, R j, R k) const {
      return i * moment[w][0] + j * moment[w][1] + k * moment[w][2];
    }

    /// Finds the amplitudes that leave the modes without force.
    VSR_FN void release(const Point<R>& p, const detail::TrilinearCoefficients<R> (&x)[3]) {
      R c[3][3], matrix[mode_dofs * (mode_dofs + 1) / 2];
      detail::trilinear_cofactors(x, R(0.0), R(0.0), R(0.0), c);
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m) VSR_UNROLLED
      for (int n = m; n < 3; ++n) {
        Mat3<R> outer;
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l) outer(k, l) = stiffness[index<3>(m, n)] * c[k][m] * c[l][n];
        const Mat<R, components, components> block = Kernel::pair_block(p, outer);
        VSR_UNROLLED
        for (int i = 0; i < components; ++i) VSR_UNROLLED
        for (int j = 0; j < components; ++j)
          if (n > m || j >= i) matrix[index<mode_dofs>(m * components + i, n * components + j)] = block(i, j);
      }
      detail::factorise<mode_dofs>(matrix);
      VSR_UNROLLED
      for (int w = 0; w < columns; ++w) {
        R amplitude[mode_dofs];
        VSR_UNROLLED
        for (int m = 0; m < 3; ++m) VSR_UNROLLED
        for (int i = 0; i < components; ++i)
          amplitude[m * components + i] =
              moment[w][m](i, 0) * c[0][m] + moment[w][m](i, 1) * c[1][m] + moment[w][m](i, 2) * c[2][m];
        detail::solve<mode_dofs>(matrix, amplitude);
        VSR_UNROLLED
        for (int m = 0; m < 3; ++m) {
          Gradient<R> grad;
          for (int i = 0; i < components; ++i)
            for (int k = 0; k < 3; ++k) grad(i, k) = -amplitude[m * components + i] * c[k][m];
          moment[w][m] = Kernel::dflux(p, grad, grad);
        }
      }
    }
  };

  /// The stiffness of the modes, factorised.
  template <class R>
  VSR_LARGE_FN static void factorise_modes(const Input<R>& e, const Basis<R>* basis, R* stiffness) {
    integrate_tangent<nodes, modes>(e, basis, stiffness);
    detail::factorise<mode_dofs>(stiffness);
  }

  /// The amplitudes that leave the modes without force, given the nodal values in the first part of u. The law being
  /// linear, they follow from the force that the nodal values alone leave on them.
  template <bool linearised, class R>
  VSR_LARGE_FN static void find_modes(const Input<R>& e, const Basis<R>* basis, const R* stiffness, R* u) {
    for (int i = dofs; i < functions * components; ++i) u[i] = R(0.0);
    R amplitude[mode_dofs];
    integrate_forces<linearised, nodes, modes>(e, basis, u, amplitude);
    detail::solve<mode_dofs>(stiffness, amplitude);
    for (int i = 0; i < mode_dofs; ++i) u[dofs + i] = -amplitude[i];
  }

  /// K_uu − K_ua K_aa⁻¹ K_au of the extended tangent.
  template <class R>
  VSR_LARGE_FN static void condense(const R* extended, R* upper) {
    constexpr int all = functions * components;
    R inner[mode_dofs * (mode_dofs + 1) / 2];
    R coupling[mode_dofs][dofs];
    for (int i = 0; i < mode_dofs; ++i)
      for (int j = i; j < mode_dofs; ++j) inner[index<mode_dofs>(i, j)] = extended[index<all>(dofs + i, dofs + j)];
    // With K_aa = L D Lᵀ and W = L⁻¹ K_au the correction is Wᵀ D⁻¹ W.
    detail::factorise<mode_dofs>(inner);
    for (int a = 0; a < nodes; ++a) {
      R w[mode_dofs][components];
      for (int m = 0; m < mode_dofs; ++m)
        for (int i = 0; i < components; ++i) w[m][i] = extended[index<all>(a * components + i, dofs + m)];
      VSR_UNROLLED
      for (int m = 0; m < mode_dofs; ++m) {
        VSR_UNROLLED
        for (int k = m + 1; k < mode_dofs; ++k)
          for (int i = 0; i < components; ++i) w[k][i] -= inner[index<mode_dofs>(m, k)] * w[m][i];
      }
      for (int m = 0; m < mode_dofs; ++m)
        for (int i = 0; i < components; ++i) coupling[m][a * components + i] = w[m][i];
    }
    for (int a = 0; a < nodes; ++a) {
      R scaled[mode_dofs][components];
      for (int m = 0; m < mode_dofs; ++m)
        for (int i = 0; i < components; ++i)
          scaled[m][i] = inner[index<mode_dofs>(m, m)] * coupling[m][a * components + i];
      for (int b = a; b < nodes; ++b) {
        R block[components][components];
        for (int i = 0; i < components; ++i)
          for (int j = 0; j < components; ++j) block[i][j] = scaled[0][i] * coupling[0][b * components + j];
        VSR_ROLLED
        for (int m = 1; m < mode_dofs; ++m)
          for (int i = 0; i < components; ++i)
            for (int j = 0; j < components; ++j) block[i][j] += scaled[m][i] * coupling[m][b * components + j];
        for (int i = 0; i < components; ++i)
          for (int j = 0; j < components; ++j) {
            const int row = a * components + i, column = b * components + j;
            if (column >= row) upper[index<dofs>(row, column)] = extended[index<all>(row, column)] - block[i][j];
          }
      }
    }
  }

  // ---- Hourglass control ----

  /// Motions of a uniform-strain element that strain nothing get a stiffness: γ_α = h_α − (h_α · x_k) ∂_k N is blind to
  /// constant and linear fields, so rigid motions cost nothing and the patch test is passed
  /// (Flanagan and Belytschko 1981). A ring's section could also turn about its centre for nothing, since the hoop
  /// strain of that motion is zero in the mean: there the spread of hoop strain keeps its shear stiffness 2μ.
  template <class R>
  struct Hourglass {
    static constexpr int patterns = dim == 2 ? 1 : 4;
    /// Part of the shear stiffness that an hourglass motion gets: enough to be stable, little enough not to lock.
    static constexpr double coefficient = 0.1;
    R gamma[patterns][nodes];
    R stiffness;
    R hoop[hooped ? nodes * nodes : 1];

    VSR_LARGE_FN Hourglass(const Input<R>& e, const Basis<R>& b) {
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
      Material<R> material;
      Point<R> p = material.begin(e);
      material.move(e, value_at(0), p);
      const R mu = shear_modulus(p);
      stiffness = R(coefficient / (nodes * nodes)) * mu * b.volume * squares;
      if constexpr (hooped)
        for (int i = 0; i < nodes * nodes; ++i) hoop[i] = R(2.0) * mu * b.hoop_spread[i];
    }

    VSR_FN void add_tangent(R* upper) const {
      for (int a = 0; a < nodes; ++a)
        for (int b = a; b < nodes; ++b) {
          const R k = stiffness * product(a, b);
          for (int i = 0; i < components; ++i) upper[index<dofs>(a * components + i, b * components + i)] += k;
          if constexpr (hooped) upper[index<dofs>(a * components, b * components)] += hoop[a * nodes + b];
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
    /// The mean of the law's shear moduli, asked of the law itself.
    VSR_FN static R shear_modulus(const Point<R>& p) {
      R sum = R(0.0);
      const Gradient<R> none = zero_matrix<R, rows, 3>();
      for (int i = 0; i < dim; ++i)
        for (int j = i + 1; j < dim; ++j) {
          Gradient<R> shear = none;
          shear(i, j) = shear(j, i) = R(0.5);
          sum += Kernel::dflux(p, none, shear)(i, j);
        }
      return R(dim == 2 ? 1.0 : 1.0 / 3.0) * sum;
    }
  };

  template <class R>
  VSR_FN static R* write_tensor(const Mat3<R>& t, R* out) {
    for (int i = 0; i < 3; ++i) *out++ = t(i, i);
    *out++ = t(0, 1);
    *out++ = t(1, 2);
    *out++ = t(0, 2);
    return out;
  }
};

}  // namespace voussoir
