#pragma once
#include <voussoir/elements/point/law.hpp>
#include <voussoir/elements/point/point_functions.hpp>
#include <voussoir/elements/point/trilinear_coefficients.hpp>

// Internal forces of a general law, and the tangent times a direction, point by point: nothing but the result is
// carried from one point to the next. For formulations whose functions at a point do not depend on other points.

namespace voussoir::detail {

/// A trilinear field by its coefficients, values included: with signs i, j, k of a Gauss point and g = 1/√3,
///   8 v = one + g (i c_ξ + j c_η + k c_ζ + ij c_ξη + jk c_ηζ + ik c_ξζ + ijk c_ξηζ).
template <class R, bool values>
struct TrilinearField {
  static constexpr double g = 0.57735026918962576451;
  TrilinearCoefficients<R> slope;
  R one;  ///< meaningful where there are values

  template <class Corner>
  VSR_FN void set(const Corner& corner) {
    slope = TrilinearCoefficients<R>::of(corner);
    if constexpr (values) {
      one = corner(0);
      for (int a = 1; a < 8; ++a) one += corner(a);
    }
  }
  VSR_FN void clear() {
    slope.clear();
    one = R(0.0);
  }
  VSR_FN R value(R i, R j, R k) const {
    const R odd = i * slope.x + j * slope.y + k * slope.z,
            even = i * j * slope.xy + j * k * slope.yz + i * k * slope.zx;
    return R(0.125) * (one + R(g) * (odd + even + i * j * k * slope.xyz));
  }
  /// Adds the work of a flux in the directions of the cell at a point, but for the distances of the points.
  VSR_FN void add_flux(const R (&force)[3], R i, R j, R k) {
    slope.x += force[0];
    slope.y += force[1];
    slope.z += force[2];
    slope.xy += j * force[0] + i * force[1];
    slope.yz += k * force[1] + j * force[2];
    slope.zx += k * force[0] + i * force[2];
    slope.xyz += j * k * force[0] + i * k * force[1] + i * j * force[2];
  }
  /// The same of a source, an eighth of it.
  VSR_FN void add_source(R source, R i, R j, R k) {
    one += source;
    const R part = R(g) * source;
    slope.x += i * part;
    slope.y += j * part;
    slope.z += k * part;
    slope.xy += i * j * part;
    slope.yz += j * k * part;
    slope.zx += i * k * part;
    slope.xyz += i * j * k * part;
  }
  /// The corner forces: put(node, force).
  template <class Put>
  VSR_FN void forces(double scale, const Put& put) const {
    const R share = values ? R(scale) * one : R(0.0);
    slope.forces(scale, [&](int a, R force) {
      if constexpr (values)
        put(a, force + share);
      else
        put(a, force);
    });
  }
};

/// Forces of a Hex8 before they are distributed to its nodes.
template <class R, int components, bool sources>
struct GeneralFlow {
  TrilinearField<R, sources> of[components];

  VSR_FN void clear() {
    for (int c = 0; c < components; ++c) of[c].clear();
  }
  /// put(a, i, force) takes component i at node a.
  template <class Put>
  VSR_FN void forces(const Put& put) const {
    VSR_UNROLLED
    for (int c = 0; c < components; ++c) of[c].forces(1.0 / 512, [&](int a, R force) { put(a, c, force); });
  }
};

template <class Kernel, class Shape, class Formulation>
struct GeneralAction {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Rule = typename Element::Rule;
  using Response = LawResponse<Kernel, Element::parameter_count>;
  template <class R>
  using Input = typename Element::template Input<R>;
  template <class R>
  using Gradient = Mat<R, Element::rows, 3>;
  template <class R>
  using Value = typename Response::template Value<R>;
  template <class R>
  using Answer = typename Response::template Answer<R>;
  static constexpr int dim = Element::dim, nodes = Element::nodes, components = Element::components,
                       rows = Element::rows, points = Element::points, dofs = Element::dofs,
                       law_history = Element::law_history;
  /// Whether the law is given values of the unknowns.
  static constexpr bool values = Response::takes_value;
  template <class R>
  using Flow = GeneralFlow<R, components, Response::has_source>;

  /// The residual at e.u (`linearised` false) or the tangent times du(a, i), of a Hex8. scratch(n) with n < room is
  /// temporary storage.
  template <bool linearised, int room, class R, class Direction, class Scratch>
  VSR_FN static R trilinear_flow(const Input<R>& e, const Direction& du, const Scratch& scratch, Flow<R>& flow) {
    using Coefficients = TrilinearCoefficients<R>;
    using Field = TrilinearField<R, values>;
    // Positions are kept in scratch memory where there is room for them.
    constexpr bool apart = room >= 3 * Coefficients::count;
    const auto place_of = [&](int field) {
      return [&scratch, field](int n) -> decltype(auto) { return scratch(Coefficients::count * field + n); };
    };
    const auto& table = shape_table<Shape, Rule>();
    Coefficients kept[3];
    Field u[components], d[components];
    VSR_UNROLLED
    for (int k = 0; k < 3; ++k) {
      kept[k] = Coefficients::of([&](int a) { return e.x[a][k]; });
      if constexpr (apart) kept[k].store(place_of(k));
    }
    VSR_UNROLLED
    for (int i = 0; i < components; ++i) {
      if constexpr (!linearised || reads_state) u[i].set([&](int a) { return e.u[a * components + i]; });
      if constexpr (linearised) d[i].set([&](int a) { return du(a, i); });
    }
    flow.clear();
    PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    R history[law_history > 0 ? law_history : 1], health = R(1e300);
    p.history = history;
    VSR_ROLLED
    for (int q = 0; q < 8; ++q) {
      const R i = R(q & 1 ? 1.0 : -1.0), j = R(q & 2 ? 1.0 : -1.0), k = R(q & 4 ? 1.0 : -1.0);
      R cofactor[3][3];
      Coefficients x[3];
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m)
        if constexpr (apart)
          x[m].load(place_of(m));
        else
          x[m] = kept[m];
      // Cofactors of eight times the Jacobian, so that all factors but one cancel.
      const R det = trilinear_cofactors(x, i, j, k, cofactor), inverse = reciprocal(det);
      health = min(health, det);
      move<R>(e, q, table.value[q], material, p, history);
      Value<R> value = zero_vector<R, components>(), value_change = zero_vector<R, components>();
      Gradient<R> grad = zero_matrix<R, rows, 3>(), change = zero_matrix<R, rows, 3>();
      VSR_UNROLLED
      for (int c = 0; c < components; ++c) {
        if constexpr (!linearised || reads_state) gradient_at(u[c].slope, i, j, k, cofactor, inverse, c, grad);
        if constexpr (linearised) gradient_at(d[c].slope, i, j, k, cofactor, inverse, c, change);
        if constexpr (values && (!linearised || reads_state)) value[c] = u[c].value(i, j, k);
        if constexpr (values && linearised) value_change[c] = d[c].value(i, j, k);
      }
      const Answer<R> answer = respond<linearised>(p, value, grad, value_change, change);
      VSR_UNROLLED
      for (int c = 0; c < components; ++c) {
        R force[3];
        for (int m = 0; m < 3; ++m)
          force[m] = answer.flux(c, 0) * cofactor[0][m] + answer.flux(c, 1) * cofactor[1][m] +
                     answer.flux(c, 2) * cofactor[2][m];
        flow.of[c].add_flux(force, i, j, k);
        if constexpr (Response::has_source) flow.of[c].add_source(R(0.125) * det * answer.source[c], i, j, k);
      }
    }
    return R(1.0 / 512) * health;
  }

  /// The residual or the tangent times du(a, i), of any shape: r[a · components + i].
  template <bool linearised, class R, class Direction>
  VSR_FN static R forces(const Input<R>& e, const Direction& du, R* r) {
    if constexpr (Element::trilinear) {
      Flow<R> flow;
      const R health = trilinear_flow<linearised, 0>(
          e, du, [&](int) -> R& { return r[0]; }, flow);
      flow.forces([&](int a, int i, R force) { r[a * components + i] = force; });
      return health;
    } else {
      return table_forces<linearised>(e, du, r);
    }
  }

 private:
  /// Whether the tangent may depend on the unknowns.
  static constexpr bool reads_state = !Element::linear;

  template <class R, class Material>
  VSR_FN static void move(const Input<R>& e, int q, const double* n, Material& material, Point<R>& p, R* history) {
    material.move(e, n, p);
    for (int k = 0; k < law_history; ++k) history[k] = e.history_at(q * law_history + k);
  }

  template <bool linearised, class R>
  VSR_FN static Answer<R> respond(const Point<R>& p, const Value<R>& value, const Gradient<R>& grad,
                                  [[maybe_unused]] const Value<R>& value_change,
                                  [[maybe_unused]] const Gradient<R>& change) {
    if constexpr (linearised)
      return Response::change(p, value, grad, value_change, change);
    else
      return Response::answer(p, value, grad);
  }

  template <class R>
  VSR_FN static void gradient_at(const TrilinearCoefficients<R>& field, R i, R j, R k, const R (&cofactor)[3][3],
                                 R inverse, int c, Gradient<R>& grad) {
    const R a = inverse * field.along_x(j, k), b = inverse * field.along_y(i, k), d = inverse * field.along_z(i, j);
    for (int m = 0; m < 3; ++m) grad(c, m) = a * cofactor[m][0] + b * cofactor[m][1] + d * cofactor[m][2];
  }

  /// Gradient and value at point q of what at(a, i) is at the nodes.
  template <class R, class At>
  VSR_FN static void field_at(int q, const R (&inv)[dim][dim], const At& at, Gradient<R>& grad, Value<R>& value) {
    const auto& table = shape_table<Shape, Rule>();
    R reference[components][dim];
    for (int i = 0; i < components; ++i) {
      for (int m = 0; m < dim; ++m) reference[i][m] = R(table.gradient[q][0][m]) * at(0, i);
      if constexpr (values) value[i] = R(table.value[q][0]) * at(0, i);
    }
    for (int a = 1; a < nodes; ++a)
      for (int i = 0; i < components; ++i) {
        for (int m = 0; m < dim; ++m) reference[i][m] += R(table.gradient[q][a][m]) * at(a, i);
        if constexpr (values) value[i] += R(table.value[q][a]) * at(a, i);
      }
    for (int i = 0; i < components; ++i)
      for (int k = 0; k < dim; ++k) {
        grad(i, k) = reference[i][0] * inv[k][0];
        for (int m = 1; m < dim; ++m) grad(i, k) += reference[i][m] * inv[k][m];
      }
  }

  template <bool linearised, class R, class Direction>
  VSR_FN static R table_forces(const Input<R>& e, const Direction& du, R* r) {
    const auto& table = shape_table<Shape, Rule>();
    PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    R history[law_history > 0 ? law_history : 1], health = R(1e300);
    p.history = history;
    for (int i = 0; i < dofs; ++i) r[i] = R(0.0);
    VSR_ROLLED
    for (int q = 0; q < points; ++q) {
      R inv[dim][dim];
      const R det = Points::invert(e, table, q, inv);
      move<R>(e, q, table.value[q], material, p, history);
      const R volume = R(table.weight[q]) * det * Points::depth(e, p.x[0]);
      Value<R> value = zero_vector<R, components>(), value_change = zero_vector<R, components>();
      Gradient<R> grad = zero_matrix<R, rows, 3>(), change = zero_matrix<R, rows, 3>();
      if constexpr (!linearised || reads_state)
        field_at(
            q, inv, [&](int a, int i) { return e.u[a * components + i]; }, grad, value);
      if constexpr (linearised) field_at(q, inv, du, change, value_change);
      const Answer<R> answer = respond<linearised>(p, value, grad, value_change, change);
      R flow[components][dim], source[components];
      for (int i = 0; i < components; ++i) {
        for (int m = 0; m < dim; ++m) {
          R sum = answer.flux(i, 0) * inv[0][m];
          for (int k = 1; k < dim; ++k) sum += answer.flux(i, k) * inv[k][m];
          flow[i][m] = volume * sum;
        }
        source[i] = volume * answer.source[i];
      }
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < components; ++i) {
          R sum = R(table.gradient[q][a][0]) * flow[i][0];
          for (int m = 1; m < dim; ++m) sum += R(table.gradient[q][a][m]) * flow[i][m];
          if constexpr (Response::has_source) sum += R(table.value[q][a]) * source[i];
          r[a * components + i] += sum;
        }
      health = min(health, Element::ring ? min(det, p.x[0]) : det);
    }
    return health;
  }
};

}  // namespace voussoir::detail
