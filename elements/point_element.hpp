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
    return forces<false>(e, e.u, r);
  }

  template <class R>
  VSR_LARGE_FN static R action(const Input<R>& e, const R* du, R* r) {
    if constexpr (detail::same<Formulation, Full> && linear && trilinear)
      return trilinear_action(e, du, r);
    else if constexpr (detail::same<Formulation, Full> && linear && !hooped)
      return direct_action(e, du, r);
    else
      return forces<true>(e, du, r);
  }

  /// The same as action() for processors that have no room for its arrays: few numbers are alive at a time. `du(a, i)`
  /// is component i at node a, put(a, i, force) takes the result, and scratch(n) is room for a number, n < dofs, that
  /// is used up before the first result. Where has_compact_action.
  static constexpr bool has_compact_action = detail::same<Formulation, Full> && linear && trilinear;
  template <class R, class Direction, class Put, class Scratch>
  VSR_FN static R compact_action(const Input<R>& e, const Direction& du, const Put& put, const Scratch& scratch) {
    using Coefficients = detail::TrilinearCoefficients<R>;
    const auto& table = shape_table<Shape, Rule>();
    Material<R> material;
    Point<R> p = material.begin(e);
    // Positions wait in the scratch, where there is enough of it.
    constexpr bool apart = dofs >= 3 * Coefficients::count;
    Coefficients kept[3], d[components], flow[components];
    VSR_UNROLLED
    for (int k = 0; k < 3; ++k) {
      kept[k] = Coefficients::of([&](int a) { return e.x[a][k]; });
      if constexpr (apart) kept[k].store([&](int n) -> decltype(auto) { return scratch(Coefficients::count * k + n); });
    }
    VSR_UNROLLED
    for (int i = 0; i < components; ++i) {
      d[i] = Coefficients::of([&](int a) { return du(a, i); });
      flow[i].clear();
    }
    R health = R(1e300);
    VSR_UNROLLED
    for (int upper = 0; upper < 2; ++upper) {
      const R k = R(upper == 1 ? 1.0 : -1.0);
      VSR_UNROLLED
      for (int line = 0; line < 2; ++line) {
        const R j = R(line == 1 ? 1.0 : -1.0);
        Coefficients x[3];
        VSR_UNROLLED
        for (int m = 0; m < 3; ++m)
          if constexpr (apart)
            x[m].load([&](int n) -> decltype(auto) { return scratch(Coefficients::count * m + n); });
          else
            x[m] = kept[m];
        R force[2][components][3];
        VSR_UNROLLED
        for (int end = 0; end < 2; ++end) {
          const R i = R(end == 1 ? 1.0 : -1.0);
          // Cofactors instead of an inverse: of eight times the Jacobian, so that all factors but one cancel.
          const R a0 = x[0].along_x(j, k), a1 = x[1].along_x(j, k), a2 = x[2].along_x(j, k);
          const R b0 = x[0].along_y(i, k), b1 = x[1].along_y(i, k), b2 = x[2].along_y(i, k);
          const R c0 = x[0].along_z(i, j), c1 = x[1].along_z(i, j), c2 = x[2].along_z(i, j);
          const R cofactor[3][3] = {{b1 * c2 - b2 * c1, c1 * a2 - c2 * a1, a1 * b2 - a2 * b1},
                                    {b2 * c0 - b0 * c2, c2 * a0 - c0 * a2, a2 * b0 - a0 * b2},
                                    {b0 * c1 - b1 * c0, c0 * a1 - c1 * a0, a0 * b1 - a1 * b0}};
          const R det = a0 * cofactor[0][0] + a1 * cofactor[1][0] + a2 * cofactor[2][0];
          health = min(health, det);
          material.move(e, table.value[4 * upper + 2 * line + end], p);
          // det · gradient; the law is linear, so its flux is scaled instead.
          Gradient<R> grad = zero_matrix<R, rows, 3>();
          VSR_UNROLLED
          for (int c = 0; c < components; ++c) {
            const R da = d[c].along_x(j, k), db = d[c].along_y(i, k), dc = d[c].along_z(i, j);
            VSR_UNROLLED
            for (int m = 0; m < 3; ++m) grad(c, m) = da * cofactor[m][0] + db * cofactor[m][1] + dc * cofactor[m][2];
          }
          const Gradient<R> flux = detail::reciprocal(det) * Kernel::dflux(p, grad, grad);
          VSR_UNROLLED
          for (int c = 0; c < components; ++c) VSR_UNROLLED
          for (int m = 0; m < 3; ++m)
            force[end][c][m] = flux(c, 0) * cofactor[0][m] + flux(c, 1) * cofactor[1][m] + flux(c, 2) * cofactor[2][m];
        }
        VSR_UNROLLED
        for (int c = 0; c < components; ++c) flow[c].add_line(force[0][c], force[1][c], j, k);
      }
    }
    VSR_UNROLLED
    for (int c = 0; c < components; ++c) flow[c].forces(1.0 / 512, [&](int a, R force) { put(a, c, force); });
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
    if constexpr (incompatible) find_modes<false>(e, basis, u);
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
        for (int k = 0; k < 3; ++k) detail::trilinear_derivatives<3>(&e.x[0][k], dx[k]);
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

  /// Internal forces: the residual at u (`linearised` false), or the tangent times u.
  template <bool linearised, class R>
  VSR_LARGE_FN static R forces(const Input<R>& e, const R* u, R* r) {
    Basis<R> basis[points];
    const R health = make_basis(e, basis);
    if constexpr (incompatible) {
      R all[functions * components];
      for (int i = 0; i < dofs; ++i) all[i] = u[i];
      find_modes<linearised>(e, basis, all);
      integrate_forces<linearised, 0, nodes>(e, basis, all, r);
    } else {
      integrate_forces<linearised, 0, nodes>(e, basis, u, r);
    }
    if constexpr (uniform) {
      const Hourglass<R> hourglass(e, basis[0]);
      hourglass.add_forces(u, r);
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
  template <class R>
  VSR_LARGE_FN static R direct_action(const Input<R>& e, const R* du, R* r) {
    const auto& table = shape_table<Shape, Rule>();
    Material<R> material;
    Point<R> p = material.begin(e);
    R health = R(1e300);
    for (int i = 0; i < dofs; ++i) r[i] = R(0.0);
    for (int q = 0; q < points; ++q) {
      R inv[dim][dim];
      const R det = invert(e, table, q, inv);
      material.move(e, table.value[q], p);
      R reference[components][dim];
      for (int i = 0; i < components; ++i)
        for (int m = 0; m < dim; ++m) reference[i][m] = R(table.gradient[q][0][m]) * du[i];
      for (int a = 1; a < nodes; ++a)
        for (int i = 0; i < components; ++i)
          for (int m = 0; m < dim; ++m) reference[i][m] += R(table.gradient[q][a][m]) * du[a * components + i];
      Gradient<R> grad = zero_matrix<R, rows, 3>();
      for (int i = 0; i < components; ++i)
        for (int k = 0; k < dim; ++k)
          for (int m = 0; m < dim; ++m) grad(i, k) += reference[i][m] * inv[k][m];
      const R volume = R(table.weight[q]) * det * depth(e, p.x[0]);
      const Gradient<R> flux = Kernel::dflux(p, grad, grad);
      for (int i = 0; i < components; ++i)
        for (int m = 0; m < dim; ++m) {
          R sum = flux(i, 0) * inv[0][m];
          for (int k = 1; k < dim; ++k) sum += flux(i, k) * inv[k][m];
          reference[i][m] = volume * sum;
        }
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < components; ++i)
          for (int m = 0; m < dim; ++m) r[a * components + i] += R(table.gradient[q][a][m]) * reference[i][m];
      if constexpr (ring)
        health = min(health, min(det, p.x[0]));
      else
        health = min(health, det);
    }
    return health;
  }

  /// The same for a Hex8.
  template <class R>
  VSR_LARGE_FN static R trilinear_action(const Input<R>& e, const R* du, R* r) {
    const auto& table = shape_table<Shape, Rule>();
    Material<R> material;
    Point<R> p = material.begin(e);
    R health = R(1e300);
    R dx[3][3][4], d[components][3][4], flow[components][3][4];
    for (int k = 0; k < 3; ++k) detail::trilinear_derivatives<3>(&e.x[0][k], dx[k]);
    for (int i = 0; i < components; ++i) {
      detail::trilinear_derivatives<components>(du + i, d[i]);
      for (int m = 0; m < 3; ++m)
        for (int s = 0; s < 4; ++s) flow[i][m][s] = R(0.0);
    }
    VSR_ROLLED
    for (int q = 0; q < points; ++q) {
      const int place[3] = {detail::trilinear_place(0, q), detail::trilinear_place(1, q),
                            detail::trilinear_place(2, q)};
      R j[3][3], inv[3][3];
      for (int m = 0; m < 3; ++m)
        for (int k = 0; k < 3; ++k) j[m][k] = dx[k][m][place[m]];
      const R det = detail::invert_jacobian<3>(j, inv);
      material.move(e, table.value[q], p);
      Gradient<R> grad = zero_matrix<R, rows, 3>();
      for (int i = 0; i < components; ++i)
        for (int k = 0; k < 3; ++k)
          grad(i, k) = d[i][0][place[0]] * inv[k][0] + d[i][1][place[1]] * inv[k][1] + d[i][2][place[2]] * inv[k][2];
      const Gradient<R> flux = Kernel::dflux(p, grad, grad);
      for (int i = 0; i < components; ++i)
        for (int m = 0; m < 3; ++m)  // all weights are 1
          flow[i][m][place[m]] += det * (flux(i, 0) * inv[0][m] + flux(i, 1) * inv[1][m] + flux(i, 2) * inv[2][m]);
      health = min(health, det);
    }
    for (int i = 0; i < components; ++i) detail::trilinear_forces<components>(flow[i], r + i);
    return health;
  }

  // ---- Incompatible modes ----

  static constexpr int mode_dofs = modes * components;

  /// The amplitudes that leave the modes without force, given the nodal values in the first part of u. The law being
  /// linear, they follow from the force that the nodal values alone leave on them.
  template <bool linearised, class R>
  VSR_LARGE_FN static void find_modes(const Input<R>& e, const Basis<R>* basis, R* u) {
    for (int i = dofs; i < functions * components; ++i) u[i] = R(0.0);
    R stiffness[mode_dofs * (mode_dofs + 1) / 2], amplitude[mode_dofs];
    integrate_tangent<nodes, modes>(e, basis, stiffness);
    integrate_forces<linearised, nodes, modes>(e, basis, u, amplitude);
    detail::factorise<mode_dofs>(stiffness);
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
