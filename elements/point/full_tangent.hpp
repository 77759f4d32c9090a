#pragma once
#include <voussoir/elements/point/point_element.hpp>

// Elements whose tangent contains the change of their law with the temperature, where T is an unknown of the element:
// of a conductivity k(T) that a table gives, or of a law that reads p.temperature,
//
//   K_ab = ∫ ∇N_a · ∂flux/∂∇u ∇N_b + ∇N_a · ∂flux/∂T N_b dV.
//
// PointElement leaves the second part out, which is not symmetric: Newton's method with it is an iteration by
// successive substitution (Picard). With this part it converges quadratically, by solvers for unsymmetric matrices. It
// is registered under a name of its own, and a model chooses by the type of a block:
//
//   static const voussoir::RegisterKernel<FullTangentElement<Heat, Hex8, Full>> full{"my_heat.hex8", "hex8",
//                                                                                     VSR_KERNEL_FILE_OR_NULL};

namespace voussoir {

namespace detail {

/// The change of parameters_between() with temperature t: that of the rows around it, zero beyond the table.
template <class K, class R, int nodes, int components, int parameter_count>
VSR_LARGE_FN void parameter_slopes_at(const ElementInput<R, nodes, components, parameter_count>& e, R initial, R t,
                                      R* out) {
  constexpr int stride = parameter_count + 1;
  for (int k = 0; k < parameter_count; ++k) out[k] = R(0.0);
  for (int row = 1; row < e.table_rows; ++row) {
    const R* low = e.table + (row - 1) * stride;
    const R* high = e.table + row * stride;
    const R inverse = R(1.0) / (high[0] - low[0]);
    for (int k = 0; k < parameter_count; ++k) {
      const R slope = select_less(t, high[0], (high[1 + k] - low[1 + k]) * inverse, R(0.0));
      out[k] = select_less(low[0], t, slope, out[k]);
    }
  }
  constexpr unsigned long long expansions = expansion_bits<K>;
  if constexpr (expansions != 0) {
    // ᾱ = α + q (α − α₀) / (t − t₀) with q = t₀ − T_r changes by α′ + q (α′ − (α − α₀) / (t − t₀)) / (t − t₀), and
    // by α′ where t is near t₀, in whose interval α is linear.
    const R change = t - initial, near = R(1e-6) * (R(1.0) + abs(t));
    const R safe = select_less(abs(change), near, R(1.0), change);
    const R quotient = select_less(abs(change), near, R(0.0), (initial - R(e.expansion_reference)) / safe);
    for (int k = 0; k < parameter_count && k < 64; ++k)
      if (expansions >> k & 1) {
        const R rise = (e.parameter_at(t, k) - e.parameter_at(initial, k)) / safe;
        out[k] += quotient * (out[k] - rise);
      }
  }
}

/// The component of a law that is the temperature; −1 where there is none.
template <class Kernel>
VSR_FN constexpr int temperature_component() {
  for (int i = 0; i < Kernel::components; ++i)
    if (Kernel::unknowns[i][0] == 'T' && Kernel::unknowns[i][1] == 0) return i;
  return -1;
}

}  // namespace detail

/// An element kernel (kernel/element_kernel.hpp): PointElement with the whole tangent.
template <class Kernel, class Shape, class Formulation>
struct FullTangentElement : detail::ParameterNames<Kernel, detail::kernel_geometry<Kernel, Shape>() == Geometry::plane>,
                            detail::RecoveredNames<Kernel> {
  using Element = PointElement<Kernel, Shape, Formulation>;              ///< the element without the additional part
  using Law = Kernel;                                                    ///< the law of the points
  static constexpr const char* name = Kernel::name;                      ///< of the law
  static constexpr const char* shape = Shape::name;                      ///< name of the shape
  static constexpr Geometry geometry = Element::geometry;                ///< solid, plane or axisymmetric
  static constexpr int dim = Element::dim;                               ///< dimensions of the shape
  static constexpr int nodes = Element::nodes;                           ///< per element
  static constexpr int components = Element::components;                 ///< unknowns per node
  static constexpr int parameter_count = Element::parameter_count;       ///< parameters that a material gives
  static constexpr int points = Element::points;                         ///< integration points
  static constexpr int dofs = Element::dofs;                             ///< degrees of freedom per element
  static constexpr auto& unknowns = Kernel::unknowns;                    ///< their names
  static constexpr bool linear = false;                                  ///< the tangent depends on the unknowns
  static constexpr bool symmetric = false;                               ///< tangents are whole matrices, by rows
  static constexpr bool scalar = Element::scalar;                        ///< as in PointElement
  static constexpr bool reads_temperature = Element::reads_temperature;  ///< as in PointElement
  /// Which of the components is the temperature.
  static constexpr int temperature = detail::temperature_component<Kernel>();
  static_assert(temperature >= 0, "an element with the whole tangent of temperature needs the unknown T");
  static_assert(detail::history_numbers_of<Kernel>() == 0, "laws with a history write their whole tangent themselves");
  static_assert(!Element::uniform && !Element::bbar && !Element::incompatible,
                "the whole tangent of temperature is for the formulations Full and Reduced of fields");

  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// The tangent with the change of the law with temperature: dofs × dofs numbers, by rows.
  template <class R>
  VSR_LARGE_FN static R tangent(const Input<R>& e, R* out) {
    R health;
    if constexpr (detail::symmetric_tangent_of<Element>()) {
      R upper[Element::entries];
      health = Element::tangent(e, upper);
      int at = 0;
      for (int i = 0; i < dofs; ++i)
        for (int j = i; j < dofs; ++j, ++at) out[i * dofs + j] = out[j * dofs + i] = upper[at];
    } else {
      health = Element::tangent(e, out);
    }
    over_slopes(e, [&](const double* n, const Basis<R>& basis, const Answer<R>& slope) {
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < components; ++i) {
          const R force = work(basis, n, a, i, slope);
          for (int b = 0; b < nodes; ++b)
            out[(a * components + i) * dofs + b * components + temperature] += force * R(n[b]);
        }
    });
    return health;
  }

  /// The same tangent times a direction.
  template <class R>
  VSR_LARGE_FN static R action(const Input<R>& e, const R* du, R* r) {
    const R health = Element::action(e, du, r);
    over_slopes(e, [&](const double* n, const Basis<R>& basis, const Answer<R>& slope) {
      R change = R(0.0);
      for (int b = 0; b < nodes; ++b) change += R(n[b]) * du[b * components + temperature];
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < components; ++i) r[a * components + i] += change * work(basis, n, a, i, slope);
    });
    return health;
  }

  /// The internal forces, those of PointElement.
  template <class R>
  VSR_FN static R residual(const Input<R>& e, R* r) {
    return Element::residual(e, r);
  }
  /// The consistent mass: the upper triangle, by rows.
  template <class R>
  VSR_FN static R mass(const Input<R>& e, R* upper) requires detail::kernel_has_density<Kernel> {
    return Element::mass(e, upper);
  }
  /// The lumped mass, in the same form.
  template <class R>
  VSR_FN static R lumped_mass(const Input<R>& e, R* upper) requires requires {
    Element::lumped_mass(e, upper);
  }
  { return Element::lumped_mass(e, upper); }
  /// The nodal forces of a body load.
  template <class R, class Load>
  VSR_FN static R body_load(const Input<R>& e, const Load& load, R* f) requires requires {
    Element::body_load(e, load, f);
  }
  { return Element::body_load(e, load, f); }
  /// The results at the points, those of PointElement.
  template <class R>
  VSR_FN static R recover(const Input<R>& e, R* out) {
    return Element::recover(e, out);
  }
  static constexpr bool extrapolates = true;  ///< results at the points are carried to the nodes by extrapolation()
  /// The matrix that does it, nodes × points.
  static constexpr void extrapolation(double* nodes_by_points) { Element::extrapolation(nodes_by_points); }
  /// Positive unless the element is inverted or has no volume.
  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    return Element::valid(e);
  }

 private:
  using Functions = detail::PointFunctions<Kernel, Shape, Formulation>;
  using Points = detail::IntegrationPoints<Kernel, Shape, Formulation>;
  using Response = detail::LawResponse<Kernel, parameter_count>;
  template <class R>
  using Basis = typename Functions::template Basis<R>;
  template <class R>
  using Answer = typename Response::template Answer<R>;

  /// Calls visit(shape functions, gradients, change of flux and source with temperature) at all points.
  template <class R, class Visit>
  VSR_FN static void over_slopes(const Input<R>& e, const Visit& visit) {
    using D = Dual<R>;
    constexpr int rows = Element::rows;
    Basis<R> basis[points];
    Functions::make_basis(e, basis);
    detail::PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    R slopes[parameter_count > 0 ? parameter_count : 1];
    for (int q = 0; q < points; ++q) {
      const double* n = Points::value_at(q);
      material.move(e, n, p);
      detail::LiftedNumbers<Kernel, parameter_count, D> numbers;
      Point<D> lift = numbers.lift(p);
      lift.temperature.d[0] = lift.temperature_change.d[0] = R(1.0);
      if (material.varies) {
        detail::parameter_slopes_at<Kernel>(e, p.temperature - p.temperature_change, p.temperature, slopes);
        for (int k = 0; k < parameter_count; ++k) numbers.parameters[k].d[0] = slopes[k];
        if constexpr (detail::kernel_constants<Kernel>() > 0)
          Kernel::prepare(static_cast<const D*>(numbers.parameters), numbers.constants);
      }
      typename Response::template Value<D> value;
      for (int i = 0; i < components; ++i) {
        value[i] = D(0.0);
        for (int a = 0; a < nodes; ++a) value[i].v += R(n[a]) * e.u[a * components + i];
      }
      const Mat<R, rows, 3> grad = Functions::gradient_of(basis[q], e.u);
      typename Response::template Gradient<D> gradient;
      for (int i = 0; i < rows; ++i)
        for (int k = 0; k < 3; ++k) gradient(i, k) = detail::lifted<D>(grad(i, k));
      const auto dual = Response::answer(lift, value, gradient);
      Answer<R> slope;
      for (int i = 0; i < rows; ++i)
        for (int k = 0; k < 3; ++k) slope.flux(i, k) = basis[q].volume * dual.flux(i, k).d[0];
      for (int i = 0; i < components; ++i) slope.source[i] = basis[q].volume * dual.source[i].d[0];
      visit(n, basis[q], slope);
    }
  }

  template <class R>
  VSR_FN static R work(const Basis<R>& basis, [[maybe_unused]] const double* n, int a, int i, const Answer<R>& answer) {
    R sum = Functions::work(basis, a, i, answer.flux);
    if constexpr (Response::has_source) sum += R(n[a]) * answer.source[i];
    return sum;
  }
};

}  // namespace voussoir
