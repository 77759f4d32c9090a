#pragma once
#include <voussoir/elements/kernel/element_kernel.hpp>
#include <voussoir/elements/kernel/upper_triangle.hpp>
#include <voussoir/elements/point/general_action.hpp>
#include <voussoir/elements/point/general_pieces.hpp>
#include <voussoir/elements/point/law.hpp>
#include <voussoir/elements/point/mass_and_body_load.hpp>
#include <voussoir/elements/point/point_functions.hpp>
#include <voussoir/elements/point/point_recovery.hpp>
#include <voussoir/elements/point/point_tensors.hpp>

// Elements of nonlinear laws, and of laws with values and sources, history, unsymmetric tangents, or derivatives by
// dual numbers (law.hpp). At each point the derivatives of flux and source with respect to every entry of value and
// gradient are computed once and shared by all pairs of nodes.

namespace voussoir::detail {

/// A component of a law by its name, which body loads act on.
template <class Kernel>
VSR_FN constexpr int displacement_direction(int component) {
  const char* name = Kernel::unknowns[component];
  if (name[0] != 'u' || name[1] == 0 || name[2] != 0) return -1;
  return name[1] == 'x' ? 0 : name[1] == 'y' ? 1 : name[1] == 'z' ? 2 : -1;
}
template <class Kernel>
VSR_FN constexpr int displacement_count() {
  int count = 0;
  for (int i = 0; i < Kernel::components; ++i) count += displacement_direction<Kernel>(i) >= 0 ? 1 : 0;
  return count;
}
/// The direction in which a body load acts on a component: by its name, or, where no component has such a name and
/// there are as many as dimensions, by its place, as in PointElement. −1: none.
template <class Kernel, int dim>
VSR_FN constexpr int load_direction(int component) {
  if (dim > 1 && Kernel::components == dim && displacement_count<Kernel>() == 0) return component;
  return displacement_direction<Kernel>(component);
}
/// The only component that is not a displacement, on which a source per volume acts; −1 if there is none or several.
template <class Kernel>
VSR_FN constexpr int source_component() {
  int found = -1, count = 0;
  for (int i = 0; i < Kernel::components; ++i)
    if (displacement_direction<Kernel>(i) < 0) {
      found = i;
      ++count;
    }
  return count == 1 ? found : -1;
}
/// What body loads act on. It is computed by the compiler, since device code cannot read the names of unknowns.
template <class Kernel, int dim>
struct BodyLoadPlaces {
  int direction[Kernel::components]{};  ///< load_direction() of each component
  int source = source_component<Kernel>();

  VSR_FN constexpr BodyLoadPlaces() {
    for (int i = 0; i < Kernel::components; ++i) direction[i] = load_direction<Kernel, dim>(i);
  }
};

/// Implements the routines of GeneralElement.
template <class Kernel, class Shape, class Formulation>
struct GeneralIntegrals {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Functions = PointFunctions<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Volume = MassAndBodyLoad<Kernel, Shape, VolumeFormulation<Shape, Formulation, Element::geometry>>;
  using MassRule = typename Element::MassRule;
  using Response = LawResponse<Kernel, Element::parameter_count>;
  template <class R>
  using Input = typename Element::template Input<R>;
  template <class R>
  using Basis = typename Functions::template Basis<R>;
  template <class R>
  using Gradient = Mat<R, Element::rows, 3>;
  template <class R>
  using Value = typename Response::template Value<R>;
  template <class R>
  using Answer = typename Response::template Answer<R>;
  static constexpr int dim = Element::dim, nodes = Element::nodes, components = Element::components,
                       rows = Element::rows, points = Element::points;
  static constexpr int dofs = Element::dofs, entries = Element::entries, law_history = Element::law_history;
  static constexpr bool symmetric = Element::symmetric, hooped = Element::hooped, bbar = Element::bbar;

  template <class R>
  VSR_LARGE_FN static R tangent(const Input<R>& e, R* out) {
    constexpr int size = tangent_entries(dofs, symmetric);
    for (int i = 0; i < size; ++i) out[i] = R(0.0);
    return over_points(e, [&](int q, const Basis<R>& basis, const Point<R>& p) {
      const double* n = Points::value_at(q);
      Slopes<R> slopes;
      find_slopes(p, value_of(e.u, n), Functions::gradient_of(basis, e.u), basis.volume, slopes);
      for (int b = 0; b < nodes; ++b)
        for (int j = 0; j < components; ++j) {
          const Answer<R> change = change_by(slopes, basis, n, b, j);
          for (int a = 0; a < (symmetric ? b + 1 : nodes); ++a)
            for (int i = 0; i < (symmetric && a == b ? j + 1 : components); ++i) {
              const int row = a * components + i, column = b * components + j;
              const int at = symmetric ? upper_index<dofs>(row, column) : row * dofs + column;
              out[at] += work(basis, n, a, i, change);
            }
        }
    });
  }

  template <class R>
  VSR_FN static R residual(const Input<R>& e, R* r) {
    if constexpr (Element::stands_alone) {
      return GeneralAction<Kernel, Shape, Formulation>::template forces<false>(
          e, [](int, int) { return R(0.0); }, r);
    } else {
      for (int i = 0; i < dofs; ++i) r[i] = R(0.0);
      return over_points(e, [&](int q, const Basis<R>& basis, const Point<R>& p) {
        const double* n = Points::value_at(q);
        add_forces(basis, n, Response::answer(p, value_of(e.u, n), Functions::gradient_of(basis, e.u)), r);
      });
    }
  }

  template <class R>
  VSR_FN static R action(const Input<R>& e, const R* du, R* r) {
    if constexpr (Element::stands_alone) {
      return GeneralAction<Kernel, Shape, Formulation>::template forces<true>(
          e, [du](int a, int i) { return du[a * components + i]; }, r);
    } else {
      for (int i = 0; i < dofs; ++i) r[i] = R(0.0);
      return over_points(e, [&](int q, const Basis<R>& basis, const Point<R>& p) {
        const double* n = Points::value_at(q);
        const Answer<R> change = Response::change(p, value_of(e.u, n), Functions::gradient_of(basis, e.u),
                                                  value_of(du, n), Functions::gradient_of(basis, du));
        add_forces(basis, n, change, r);
      });
    }
  }

  template <class R>
  VSR_LARGE_FN static R advance(const Input<R>& e, R* next) {
    return over_points(e, [&](int q, const Basis<R>& basis, const Point<R>& p) {
      const double* n = Points::value_at(q);
      Response::advance(p, value_of(e.u, n), Functions::gradient_of(basis, e.u), next + q * law_history);
    });
  }

  template <class R>
  VSR_LARGE_FN static R mass(const Input<R>& e, R* upper) {
    if constexpr (!law_has_vector_density<Kernel>) {
      return Volume::mass(e, upper);
    } else {
      for (int i = 0; i < entries; ++i) upper[i] = R(0.0);
      const auto& table = shape_table<Shape, MassRule>();
      return Points::template over_points<MassRule>(e, [&](int q, R volume, const Point<R>& p) {
        const Value<R> density = Kernel::density(p);
        for (int a = 0; a < nodes; ++a)
          for (int b = a; b < nodes; ++b) {
            const R product = volume * R(table.value[q][a] * table.value[q][b]);
            for (int i = 0; i < components; ++i)
              upper[upper_index<dofs>(a * components + i, b * components + i)] += product * density[i];
          }
      });
    }
  }

  template <class R, class Load>
  VSR_LARGE_FN static R body_load(const Input<R>& e, const Load& load, R* f) {
    const auto& table = shape_table<Shape, MassRule>();
    for (int i = 0; i < dofs; ++i) f[i] = R(0.0);
    return Points::template over_points<MassRule>(e, [&](int q, R volume, const Point<R>& p) {
      constexpr BodyLoadPlaces<Kernel, dim> places;
      for (int i = 0; i < components; ++i) {
        R force = R(0.0);
        if constexpr (kernel_has_density<Kernel>)
          if (places.direction[i] >= 0) force = density_of(p, i) * pull(load, p, places.direction[i]);
        if (i == places.source) force = R(load.source);
        for (int a = 0; a < nodes; ++a) f[a * components + i] += volume * force * R(table.value[q][a]);
      }
    });
  }

  template <class R>
  VSR_LARGE_FN static R recover(const Input<R>& e, R* out) {
    return over_points(e, [&](int q, const Basis<R>& basis, const Point<R>& p) {
      const Value<R> value = value_of(e.u, Points::value_at(q));
      const Gradient<R> grad = Functions::gradient_of(basis, e.u);
      const Gradient<R> flux = Response::answer(p, value, grad).flux;
      out = write_point<Kernel>(p, basis.volume, grad, flux, out);
      if constexpr (kernel_has_energy<Kernel>) *out++ = Response::energy(p, value, grad);
      if constexpr (law_history > 0) {
        Response::advance(p, value, grad, out);
        out += law_history;
      }
    });
  }

 private:
  /// The change of the answer with each entry of the gradient and of the value, times the volume of the point.
  template <class R>
  struct Slopes {
    Answer<R> gradient[rows][3];
    Answer<R> value[Response::takes_value ? components : 1];
  };

  /// Calls visit(q, functions, point) at all points. Returns the element's health.
  template <class R, class Visit>
  VSR_FN static R over_points(const Input<R>& e, const Visit& visit) {
    Basis<R> basis[points];
    const R health = Functions::make_basis(e, basis);
    PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    R history[law_history > 0 ? law_history : 1];
    p.history = history;
    for (int q = 0; q < points; ++q) {
      material.move(e, Points::value_at(q), p);
      for (int k = 0; k < law_history; ++k) history[k] = e.history_at(q * law_history + k);
      visit(q, basis[q], p);
    }
    return health;
  }

  template <class R>
  VSR_FN static Value<R> value_of(const R* u, const double* n) {
    Value<R> value = zero_vector<R, components>();
    if constexpr (Response::takes_value || law_history > 0)
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < components; ++i) value[i] += R(n[a]) * u[a * components + i];
    return value;
  }

  /// Whether an entry of the gradient is ever different from zero.
  VSR_FN static constexpr bool varies(int i, int k) {
    return (i < components && k < dim) || ((hooped || bbar) && i == k);
  }

  template <class R>
  VSR_FN static void scale(Answer<R>& answer, R factor) {
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) answer.flux(i, k) *= factor;
    for (int i = 0; i < components; ++i) answer.source[i] *= factor;
  }

  template <class R>
  VSR_FN static void find_slopes(const Point<R>& p, const Value<R>& value, const Gradient<R>& grad, R volume,
                                 Slopes<R>& slopes) {
    const Value<R> still = zero_vector<R, components>();
    const Gradient<R> flat = zero_matrix<R, rows, 3>();
    VSR_ROLLED
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) {
        if (!varies(i, k)) continue;
        Gradient<R> unit = flat;
        unit(i, k) = R(1.0);
        slopes.gradient[i][k] = Response::change(p, value, grad, still, unit);
        scale(slopes.gradient[i][k], volume);
      }
    if constexpr (Response::takes_value) {
      for (int i = 0; i < components; ++i) {
        Value<R> unit = still;
        unit[i] = R(1.0);
        slopes.value[i] = Response::change(p, value, grad, unit, flat);
        scale(slopes.value[i], volume);
      }
    }
  }

  template <class R>
  VSR_FN static void add(Answer<R>& sum, R factor, const Answer<R>& slope) {
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) sum.flux(i, k) += factor * slope.flux(i, k);
    if constexpr (Response::has_source)
      for (int i = 0; i < components; ++i) sum.source[i] += factor * slope.source[i];
  }

  /// The change of the answer with unknown j of node b.
  template <class R>
  VSR_FN static Answer<R> change_by(const Slopes<R>& slopes, const Basis<R>& basis, const double* n, int b, int j) {
    Answer<R> sum{zero_matrix<R, rows, 3>(), zero_vector<R, components>()};
    for (int k = 0; k < dim; ++k) add(sum, basis.gradient[b][k], slopes.gradient[j][k]);
    if constexpr (hooped)
      if (j == 0) add(sum, basis.hoop[b], slopes.gradient[2][2]);
    if constexpr (bbar)
      for (int i = 0; i < 3; ++i) add(sum, basis.correction[b * components + j], slopes.gradient[i][i]);
    if constexpr (Response::takes_value) add(sum, R(n[b]), slopes.value[j]);
    return sum;
  }

  template <class R>
  VSR_FN static R work(const Basis<R>& basis, [[maybe_unused]] const double* n, int a, int i, const Answer<R>& answer) {
    R sum = Functions::work(basis, a, i, answer.flux);
    if constexpr (Response::has_source) sum += R(n[a]) * answer.source[i];
    return sum;
  }

  template <class R>
  VSR_FN static void add_forces(const Basis<R>& basis, const double* n, const Answer<R>& answer, R* r) {
    for (int a = 0; a < nodes; ++a)
      for (int i = 0; i < components; ++i) r[a * components + i] += basis.volume * work(basis, n, a, i, answer);
  }

  template <class R>
  VSR_FN static R density_of(const Point<R>& p, [[maybe_unused]] int component) {
    if constexpr (law_has_vector_density<Kernel>)
      return Kernel::density(p)[component];
    else
      return Kernel::density(p);
  }

  /// Acceleration of a body load in a direction.
  template <class R, class Load>
  VSR_FN static R pull(const Load& load, const Point<R>& p, int direction) {
    R along = R(0.0);
    for (int k = 0; k < 3; ++k) along += (p.x[k] - R(load.axis_point[k])) * R(load.axis_direction[k]);
    const R arm = p.x[direction] - R(load.axis_point[direction]) - along * R(load.axis_direction[direction]);
    return R(load.acceleration[direction]) + R(load.angular_velocity_squared) * arm;
  }
};

/// The PointElement of a general law (see general_law): an element kernel (kernel/element_kernel.hpp).
template <class Kernel, class Shape, class Formulation>
struct GeneralElement : ParameterNames<Kernel, kernel_geometry<Kernel, Shape>() == Geometry::plane>,
                        RecoveredNames<Kernel> {
  static constexpr const char* name = Kernel::name;
  static constexpr const char* shape = Shape::name;
  static constexpr Geometry geometry = kernel_geometry<Kernel, Shape>();
  static constexpr int dim = Shape::dim, nodes = Shape::nodes, components = Kernel::components;
  static constexpr int rows = kernel_rows<Kernel>();
  static constexpr int parameter_count = kernel_parameters<Kernel>() + (geometry == Geometry::plane ? 1 : 0);
  static constexpr auto& unknowns = Kernel::unknowns;
  static constexpr bool linear = kernel_linear<Kernel>();
  static constexpr bool scalar = kernel_scalar<Kernel>();
  static constexpr bool symmetric = symmetric_tangent_of<Kernel>();
  static constexpr bool reads_temperature = reads_temperature_of<Kernel>();
  using Law = Kernel;

  static constexpr bool uniform = same<Formulation, Reduced> && multilinear<Shape>;
  static constexpr bool bbar = same<Formulation, BBar>;
  static constexpr bool incompatible = same<Formulation, Incompatible>;
  static constexpr bool ring = geometry == Geometry::axisymmetric;
  static constexpr bool hooped = ring && rows == 3 && components == 2;

  static_assert(dim == 2 || dim == 3, "point elements fill an area or a volume; lines are whole-element kernels");
  static_assert(dim == 3 || geometry != Geometry::solid, "a solid kernel needs a three-dimensional shape");
  static_assert(dim == 2 || geometry == Geometry::solid, "a plane or axisymmetric kernel needs a plane shape");
  static_assert(
      !uniform,
      "the one-point Quad4 and Hex8 are for laws that declare themselves linear and define flux and dflux: their "
      "hourglass stiffness is that of the law at rest. Take Full or BBar");
  static_assert(
      !incompatible,
      "incompatible modes are for laws that declare themselves linear and define flux and dflux: the modes are "
      "eliminated in each element, which has no memory for them. Take Full or BBar");
  static_assert(!bbar || (multilinear<Shape> && components == dim && rows == 3 && kernel_symmetric<Kernel>()),
                "B-bar is for displacements of Quad4 and Hex8 and laws of small strain with all three normal strains");

  using Rule = typename FormulationRules<Shape, Formulation, geometry>::Stiffness;
  using MassRule = typename FormulationRules<Shape, Formulation, geometry>::Mass;
  static constexpr int points = Rule::points;
  static constexpr bool trilinear = same<Shape, Hex8> && same<Rule, GaussHex<2>>;
  static constexpr int modes = 0, functions = nodes;
  static constexpr int dofs = nodes * components, entries = dofs * (dofs + 1) / 2;
  static constexpr int law_history = history_numbers_of<Kernel>(), history_count = points * law_history;
  /// Whether the functions at a point depend on that point alone.
  static constexpr bool stands_alone = !bbar && !hooped;

  /// Parts of the tangent, for backends with several threads per element.
  using Pieces = GeneralPieces<PointElement<Kernel, Shape, Formulation>>;
  /// The tangent by points, for operators that store it there.
  using Tensors = PointTensors<PointElement<Kernel, Shape, Formulation>>;

  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;
  template <class R>
  using Gradient = Mat<R, rows, 3>;
  template <class R>
  VSR_FN static R tangent(const Input<R>& e, R* out) {
    return Integrals::tangent(e, out);
  }
  template <class R>
  VSR_FN static R residual(const Input<R>& e, R* r) {
    return Integrals::residual(e, r);
  }
  template <class R>
  VSR_FN static R action(const Input<R>& e, const R* du, R* r) {
    return Integrals::action(e, du, r);
  }

  /// PointElement::compact_actions(), for one direction at a time.
  static constexpr bool has_compact_action = trilinear && stands_alone;
  static constexpr bool keeps_basis = true;
  template <class R>
  using CompactFlow = GeneralFlow<R, components, LawResponse<Kernel, parameter_count>::has_source>;
  template <int room, int columns, class R, class Direction, class Scratch>
  VSR_FN static R compact_actions(const Input<R>& e, const Direction& du, const Scratch& scratch,
                                  CompactFlow<R> (&flow)[columns]) {
    R health = R(1e300);
    VSR_UNROLLED
    for (int w = 0; w < columns; ++w)
      health = min(health, GeneralAction<Kernel, Shape, Formulation>::template trilinear_flow<true, room>(
                               e, [&du, w](int a, int i) { return du(w, a, i); }, scratch, flow[w]));
    return health;
  }

  /// The history at the end of the step, point by point.
  template <class R>
  VSR_FN static R advance(const Input<R>& e, R* next) requires(law_history > 0) {
    return Integrals::advance(e, next);
  }
  template <class R>
  VSR_FN static R mass(const Input<R>& e, R* upper) requires kernel_has_density<Kernel> {
    return Integrals::mass(e, upper);
  }
  template <class R>
  VSR_FN static R lumped_mass(const Input<R>& e,
                              R* upper) requires(kernel_has_density<Kernel> && !law_has_vector_density<Kernel>) {
    return Integrals::Volume::lumped_mass(e, upper);
  }
  template <class R>
  VSR_FN static R node_masses(const Input<R>& e,
                              R (&m)[nodes]) requires(kernel_has_density<Kernel> && !law_has_vector_density<Kernel>) {
    return Integrals::Volume::node_masses(e, m);
  }
  /// The external force of a body load: ρ (g + ω² r) on displacements; the source on the only other unknown.
  template <class R, class Load>
  VSR_FN static R body_load(const Input<R>& e, const Load& load,
                            R* f) requires(((displacement_count<Kernel>() > 0 || (components == dim && dim > 1)) &&
                                            kernel_has_density<Kernel>) ||
                                           source_component<Kernel>() >= 0) {
    return Integrals::body_load(e, load, f);
  }
  /// The results of PointElement::recover(), and the history at the end of the step.
  template <class R>
  VSR_FN static R recover(const Input<R>& e, R* out) {
    return Integrals::recover(e, out);
  }

  static constexpr bool extrapolates = true;
  static constexpr void extrapolation(double* nodes_by_points) {
    PointRecovery<Kernel, Shape, Formulation>::extrapolation(nodes_by_points);
  }

  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    return least_valid<Kernel, geometry, parameter_count, R>(e);
  }

 private:
  using Integrals = GeneralIntegrals<Kernel, Shape, Formulation>;
};

}  // namespace voussoir::detail
