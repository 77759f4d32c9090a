#pragma once
#include <voussoir/elements/point/point_element.hpp>

// Internal forces of a Hex8 with 2 × 2 × 2 points, for processors with many threads and few registers: little is live
// at a time, and what two points of a line along ξ share is computed once.

namespace voussoir::detail {

/// Whether and how the forces of an element kernel are computed with few registers. This is the answer for all but the
/// elements below.
template <class Element>
struct CompactForces {
  static constexpr bool exists = false;  ///< whether there is compute()
  static constexpr int room = 0;         ///< numbers of temporary storage that it takes
};

/// The derivatives of a trilinear field along a line of two points: those along η and ζ are even ± odd.
template <class R>
struct TrilinearLine {
  R x, even_y, odd_y, even_z, odd_z;

  VSR_FN static TrilinearLine of(const TrilinearCoefficients<R>& c, R j, R k) {
    return {c.along_x(j, k), c.y + k * c.yz, c.xy + k * c.xyz, c.z + j * c.yz, c.zx + j * c.xyz};
  }
  VSR_FN R y(int end) const { return end == 0 ? even_y - odd_y : even_y + odd_y; }
  VSR_FN R z(int end) const { return end == 0 ? even_z - odd_z : even_z + odd_z; }
};

template <class Kernel, class Shape, class Formulation>
struct CompactForces<PointElement<Kernel, Shape, Formulation>> {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Response = LawResponse<Kernel, Element::parameter_count>;
  using Coefficients = TrilinearCoefficients<double>;
  static constexpr bool exists = Element::trilinear && Element::stands_alone && !Response::has_source;
  static constexpr int components = Element::components, rows = Element::rows, law_history = Element::law_history;
  static constexpr int fields = 3 + components;
  static constexpr int room = exists ? Coefficients::count * fields : 0;
  /// Whether the law is given values of the unknowns.
  static constexpr bool values =
      Response::takes_value || requires(const Point<double>& p, const Vec<double, components>& u,
                                        const Mat<double, rows, 3>& g, double* next) { Kernel::advance(p, u, g, next); };

  /// The internal forces at e.u: put(node, component, force). scratch(n) with n < room is temporary storage, which put()
  /// may overwrite. With `advances`, put_history(k, number) takes the history at the end of the step, which may stand
  /// where e.history is read: the numbers of a point are all read before the first of them is put. Returns the health.
  template <bool advances, class Input, class Scratch, class PutHistory, class Put>
  VSR_FN static auto compute(const Input& e, const Scratch& scratch, const PutHistory& put_history, const Put& put) {
    using R = std_free_number<Input>;
    const auto& table = shape_table<Shape, typename Element::Rule>();
    store_fields<R>(e, scratch);
    TrilinearCoefficients<R> flow[components];
    VSR_UNROLLED
    for (int c = 0; c < components; ++c) flow[c].clear();
    PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    R history[law_history > 0 ? law_history : 1], health = R(1e300);
    p.history = history;
    VSR_ROLLED
    for (int jk = 0; jk < 4; ++jk) {
      const R j = R(jk & 1 ? 1.0 : -1.0), k = R(jk & 2 ? 1.0 : -1.0);
      TrilinearLine<R> x[3], u[components];
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m) x[m] = line_of<R>(scratch, m, j, k);
      VSR_UNROLLED
      for (int c = 0; c < components; ++c) u[c] = line_of<R>(scratch, 3 + c, j, k);
      R low[components][3];
      VSR_UNROLLED
      for (int end = 0; end < 2; ++end) {
        const int q = 2 * jk + end;
        R cofactor[3][3];
        const R det = cofactors_of(x, end, cofactor), inverse = reciprocal(det);
        health = min(health, det);
        material.move(e, table.value[q], p);
        for (int n = 0; n < law_history; ++n) history[n] = e.history_at(q * law_history + n);
        Mat<R, rows, 3> grad = zero_matrix<R, rows, 3>();
        VSR_UNROLLED
        for (int c = 0; c < components; ++c) {
          const R a = inverse * u[c].x, b = inverse * u[c].y(end), d = inverse * u[c].z(end);
          for (int m = 0; m < 3; ++m) grad(c, m) = a * cofactor[m][0] + b * cofactor[m][1] + d * cofactor[m][2];
        }
        const Vec<R, components> value = value_at<R>(e, table.value[q]);
        const auto answer = Response::answer(p, value, grad);
        if constexpr (advances && law_history > 0) {
          R next[law_history > 0 ? law_history : 1];
          Response::advance(p, value, grad, next);
          for (int n = 0; n < law_history; ++n) put_history(q * law_history + n, next[n]);
        }
        VSR_UNROLLED
        for (int c = 0; c < components; ++c) {
          R force[3];
          VSR_UNROLLED
          for (int m = 0; m < 3; ++m)
            force[m] = answer.flux(c, 0) * cofactor[0][m] + answer.flux(c, 1) * cofactor[1][m] +
                       answer.flux(c, 2) * cofactor[2][m];
          VSR_UNROLLED
          for (int m = 0; m < 3 && end == 0; ++m) low[c][m] = force[m];
          if (end == 1) flow[c].add_line(low[c], force, j, k);
        }
      }
    }
    VSR_UNROLLED
    for (int c = 0; c < components; ++c)
      flow[c].forces(1.0 / 512, [&](int a, R force) { put(a, c, force); });
    return R(1.0 / 512) * health;
  }

 private:
  template <class Input>
  struct NumberOf;
  template <class R, int nodes, int unknowns, int parameters>
  struct NumberOf<ElementInput<R, nodes, unknowns, parameters>> {
    using type = R;
  };
  template <class Input>
  using std_free_number = typename NumberOf<Input>::type;

  template <class R, class Input, class Scratch>
  VSR_FN static void store_fields(const Input& e, const Scratch& scratch) {
    VSR_UNROLLED
    for (int m = 0; m < 3; ++m)
      TrilinearCoefficients<R>::of([&](int a) { return e.x[a][m]; }).store(place_of(scratch, m));
    VSR_UNROLLED
    for (int c = 0; c < components; ++c)
      TrilinearCoefficients<R>::of([&](int a) { return e.u[a * components + c]; }).store(place_of(scratch, 3 + c));
  }
  template <class Scratch>
  VSR_FN static auto place_of(const Scratch& scratch, int field) {
    return [&scratch, field](int n) -> decltype(auto) { return scratch(Coefficients::count * field + n); };
  }
  template <class R, class Scratch>
  VSR_FN static TrilinearLine<R> line_of(const Scratch& scratch, int field, R j, R k) {
    TrilinearCoefficients<R> c;
    c.load(place_of(scratch, field));
    return TrilinearLine<R>::of(c, j, k);
  }

  /// Cofactors of eight times the Jacobian at an end of a line, and its determinant.
  template <class R>
  VSR_FN static R cofactors_of(const TrilinearLine<R> (&x)[3], int end, R (&cofactor)[3][3]) {
    const R b[3] = {x[0].y(end), x[1].y(end), x[2].y(end)}, c[3] = {x[0].z(end), x[1].z(end), x[2].z(end)};
    VSR_UNROLLED
    for (int k = 0; k < 3; ++k) {
      const int l = (k + 1) % 3, m = (k + 2) % 3;
      cofactor[k][0] = b[l] * c[m] - b[m] * c[l];
      cofactor[k][1] = c[l] * x[m].x - c[m] * x[l].x;
      cofactor[k][2] = x[l].x * b[m] - x[m].x * b[l];
    }
    return x[0].x * cofactor[0][0] + x[1].x * cofactor[1][0] + x[2].x * cofactor[2][0];
  }

  template <class R, class Input>
  VSR_FN static Vec<R, components> value_at(const Input& e, const double* n) {
    Vec<R, components> value = zero_vector<R, components>();
    if constexpr (values)
      for (int a = 0; a < Element::nodes; ++a)
        for (int i = 0; i < components; ++i) value[i] += R(n[a]) * e.u[a * components + i];
    return value;
  }
};

}  // namespace voussoir::detail
