#pragma once
#include <voussoir/elements/point/point_element.hpp>

// Internal forces of a Hex8 with 2 × 2 × 2 points, and of one with uniform strain, for processors with many threads and
// few registers: few values are live at a time, and terms that two points on a line along ξ share are computed once.

namespace voussoir::detail {

/// Whether and how the forces of an element kernel are computed with few registers. The primary template, for all
/// elements but those below: they are not.
template <class Element>
struct CompactForces {
  static constexpr bool exists = false;  ///< whether there is compute()
  static constexpr int room = 0;         ///< numbers of temporary storage that it takes
  static constexpr int blocks = 2;       ///< thread blocks (128 threads) that a GPU multiprocessor should hold
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

/// The coefficients of positions and unknowns of a Hex8 in temporary storage: scratch(n) with n < room. Field 0 … 2 are
/// positions; the fields that follow are unknowns.
template <class R, int components>
struct StoredFields {
  using Coefficients = TrilinearCoefficients<R>;
  static constexpr int room = Coefficients::count * (3 + components);

  template <class Input, class Unknown, class Scratch>
  VSR_FN static void store(const Input& e, const Unknown& unknown, const Scratch& scratch) {
    VSR_UNROLLED
    for (int m = 0; m < 3; ++m) Coefficients::of([&](int a) { return e.x[a][m]; }).store(place_of(scratch, m));
    VSR_UNROLLED
    for (int c = 0; c < components; ++c)
      Coefficients::of([&](int a) { return unknown(a, c); }).store(place_of(scratch, 3 + c));
  }
  template <class Scratch>
  VSR_FN static Coefficients load(const Scratch& scratch, int field) {
    Coefficients c;
    c.load(place_of(scratch, field));
    return c;
  }
  template <class Scratch>
  VSR_FN static TrilinearLine<R> line(const Scratch& scratch, int field, R j, R k) {
    return TrilinearLine<R>::of(load(scratch, field), j, k);
  }

 private:
  template <class Scratch>
  VSR_FN static auto place_of(const Scratch& scratch, int field) {
    return [&scratch, field](int n) -> decltype(auto) { return scratch(Coefficients::count * field + n); };
  }
};

/// Cofactors of eight times the Jacobian at an end of a line, and its determinant.
template <class R>
VSR_FN R line_cofactors(const TrilinearLine<R> (&x)[3], int end, R (&cofactor)[3][3]) {
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

/// Points one by one.
template <class Kernel, class Shape, class Formulation>
struct PointwiseForces {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Response = LawResponse<Kernel, Element::parameter_count>;
  static constexpr bool exists = true;
  static constexpr int components = Element::components, rows = Element::rows, law_history = Element::law_history;
  static constexpr int room = StoredFields<double, components>::room;
  static constexpr int blocks = 3;
  /// Whether the law takes the values of the unknowns.
  static constexpr bool values =
      Response::takes_value ||
      requires(const Point<double>& p, const Vec<double, components>& u, const Mat<double, rows, 3>& g, double* next) {
    Kernel::advance(p, u, g, next);
  };

  /// As CompactForces::compute().
  template <bool advances, class R, class Unknown, class Scratch, class PutHistory, class Put>
  VSR_FN static R compute(const typename Element::template Input<R>& e, const Unknown& unknown, const Scratch& scratch,
                          R scale, const PutHistory& put_history, const Put& put) {
    using Fields = StoredFields<R, components>;
    const auto& table = shape_table<Shape, typename Element::Rule>();
    Fields::store(e, unknown, scratch);
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
      for (int m = 0; m < 3; ++m) x[m] = Fields::line(scratch, m, j, k);
      VSR_UNROLLED
      for (int c = 0; c < components; ++c) u[c] = Fields::line(scratch, 3 + c, j, k);
      R low[components][3];
      VSR_UNROLLED
      for (int end = 0; end < 2; ++end) {
        const int q = 2 * jk + end;
        R cofactor[3][3];
        const R det = line_cofactors(x, end, cofactor), inverse = reciprocal(det);
        health = min(health, det);
        material.move(e, table.value[q], p);
        for (int n = 0; n < law_history; ++n) history[n] = e.history_at(q * law_history + n);
        Mat<R, rows, 3> grad = zero_matrix<R, rows, 3>();
        VSR_UNROLLED
        for (int c = 0; c < components; ++c) {
          const R a = inverse * u[c].x, b = inverse * u[c].y(end), d = inverse * u[c].z(end);
          for (int m = 0; m < 3; ++m) grad(c, m) = a * cofactor[m][0] + b * cofactor[m][1] + d * cofactor[m][2];
        }
        const Vec<R, components> value = value_at<R>(unknown, table.value[q]);
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
      flow[c].forces(R(1.0 / 512) * scale, [&](int a, R force) { put(a, c, force); });
    return R(1.0 / 512) * health;
  }

 private:
  template <class R, class Unknown>
  VSR_FN static Vec<R, components> value_at(const Unknown& unknown, const double* n) {
    Vec<R, components> value = zero_vector<R, components>();
    if constexpr (values)
      for (int a = 0; a < Element::nodes; ++a)
        for (int i = 0; i < components; ++i) value[i] += R(n[a]) * unknown(a, i);
    return value;
  }
};

/// Uniform strain with hourglass control (hourglass.hpp). With B the mean gradients of the shape functions and V the
/// volume, V B_ak are the corner forces of coefficients K_k that are summed over the points. Everything else follows
/// from these: the mean gradient, Σ B², and the forces of a flux P, which are those of Σ_k P_ik K_k. An hourglass
/// pattern h has the amplitude h · u_i − (h · x_k) grad_ik; its force on the nodes is that of a flux and of the pattern
/// itself, which is one of the coefficients.
template <class Kernel, class Shape, class Formulation>
struct UniformForces {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Response = LawResponse<Kernel, Element::parameter_count>;
  static constexpr bool exists = true;
  static constexpr int components = 3, rows = Element::rows;
  static constexpr int patterns = 4, room = 0, blocks = 4;

  /// As CompactForces::compute(). There is no history. The health is the mean determinant of the Jacobian at the
  /// points, since positions do not change: elements with a negative one at a point are refused where masses are
  /// integrated.
  template <bool advances, class R, class Unknown, class Scratch, class PutHistory, class Put>
  VSR_FN static R compute(const typename Element::template Input<R>& e, const Unknown& unknown, const Scratch&, R scale,
                          const PutHistory&, const Put& put) {
    using Coefficients = TrilinearCoefficients<R>;
    Coefficients mean[3];
    R moment[3][patterns];  // of the patterns with positions
    R volume;
    {
      Coefficients x[3];
      VSR_UNROLLED
      for (int m = 0; m < 3; ++m) {
        x[m] = Coefficients::signed_sums([&](int a) { return e.x[a][m]; });
        patterns_of(x[m], moment[m]);
      }
      volume = sum_cofactors(x, mean);
    }
    const R inverse = reciprocal(volume);
    PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    material.move(e, Points::value_at(0), p);
    Mat<R, rows, 3> grad = zero_matrix<R, rows, 3>();
    R amplitude[components][patterns];
    VSR_UNROLLED
    for (int c = 0; c < components; ++c) {
      const Coefficients u = Coefficients::signed_sums([&](int a) { return unknown(a, c); });
      for (int k = 0; k < 3; ++k) grad(c, k) = inverse * paired(mean[k], u);
      patterns_of(u, amplitude[c]);
    }
    auto flux = R(1.0 / 512) * scale * Response::answer(p, zero_vector<R, components>(), grad).flux;
    R squares = R(0.0);
    VSR_UNROLLED
    for (int k = 0; k < 3; ++k) squares += square_sum(mean[k]);
    // B = K / V, and V is volume / 512.
    const R stiffness = R(Hourglass<Kernel, Shape, Formulation, R>::coefficient / (8 * 512.0)) * scale * mean_shear(p) *
                        inverse * squares;
    VSR_UNROLLED
    for (int c = 0; c < components; ++c)
      for (int h = 0; h < patterns; ++h) {
        for (int k = 0; k < 3; ++k) amplitude[c][h] -= moment[k][h] * grad(c, k);
        amplitude[c][h] *= stiffness;
      }
    VSR_UNROLLED
    for (int c = 0; c < components; ++c)
      for (int k = 0; k < 3; ++k) {
        R back = moment[k][0] * amplitude[c][0];
        for (int h = 1; h < patterns; ++h) back += moment[k][h] * amplitude[c][h];
        flux(c, k) -= inverse * back;
      }
    VSR_UNROLLED
    for (int c = 0; c < components; ++c) {
      Coefficients flow = combined(flux(c, 0), mean[0], flux(c, 1), mean[1], flux(c, 2), mean[2]);
      flow.xy += amplitude[c][0];
      flow.yz += amplitude[c][1];
      flow.zx += amplitude[c][2];
      flow.xyz = amplitude[c][3];
      flow.put_signed_sums([&](int a, R force) { put(a, c, force); });
    }
    return R(1.0 / 4096) * volume;
  }

 private:
  /// Σ of the cofactors over all points, one set per direction, as signed sums at the corners: their transpose gives
  /// 512 V B. Returns 512 times the volume. Products of two derivatives are polynomials in the signs ξ, η, ζ = ±1 of a
  /// point, of which only terms with even powers remain in a sum over the points: eight times their factors, a third
  /// for each pair of coefficients that a point, at ±1/√3, sees less of. The coefficients of ξηζ are zero.
  template <class R>
  VSR_FN static R sum_cofactors(const TrilinearCoefficients<R> (&x)[3], TrilinearCoefficients<R> (&mean)[3]) {
    constexpr double all = 8.0, third = 8.0 / 3;
    R volume = R(0.0);
    VSR_UNROLLED
    for (int k = 0; k < 3; ++k) {
      const TrilinearCoefficients<R>&own = x[k], &l = x[(k + 1) % 3], &m = x[(k + 2) % 3];
      const R in_y = minor(l.y, l.yz, m.y, m.yz) + R(1.0 / 3) * minor(l.xy, l.xyz, m.xy, m.xyz);
      const R in_z = minor(l.yz, l.z, m.yz, m.z) + R(1.0 / 3) * minor(l.xyz, l.zx, m.xyz, m.zx);
      TrilinearCoefficients<R>& sum = mean[k];
      sum.x = R(all) * minor(l.y, l.z, m.y, m.z) + R(third) * minor(l.xy, l.zx, m.xy, m.zx);
      sum.y = R(all) * minor(l.z, l.x, m.z, m.x) + R(third) * minor(l.yz, l.xy, m.yz, m.xy);
      sum.z = R(all) * minor(l.x, l.y, m.x, m.y) + R(third) * minor(l.zx, l.yz, m.zx, m.yz);
      sum.xy = R(third) * (in_y + minor(l.zx, l.x, m.zx, m.x) + R(1.0 / 3) * minor(l.xyz, l.xy, m.xyz, m.xy));
      sum.yz = R(third) * (minor(l.z, l.zx, m.z, m.zx) + minor(l.xy, l.y, m.xy, m.y) +
                           R(1.0 / 3) * (minor(l.yz, l.xyz, m.yz, m.xyz) + minor(l.xyz, l.yz, m.xyz, m.yz)));
      sum.zx = R(third) * (in_z + minor(l.x, l.xy, m.x, m.xy) + R(1.0 / 3) * minor(l.zx, l.xyz, m.zx, m.xyz));
      sum.xyz = R(0.0);
      volume += own.x * sum.x + R(third) * (own.xy * in_y + own.zx * in_z);
    }
    return volume;
  }
  /// a d − b c.
  template <class R>
  VSR_FN static R minor(R a, R b, R c, R d) {
    return a * d - b * c;
  }

  /// Σ of the values of put_signed_sums() times the corner values of a field with these signed sums.
  template <class R>
  VSR_FN static R paired(const TrilinearCoefficients<R>& sums, const TrilinearCoefficients<R>& field) {
    return sums.x * field.x + sums.y * field.y + sums.z * field.z + sums.xy * field.xy + sums.yz * field.yz +
           sums.zx * field.zx;
  }
  /// An eighth of the sum of the squares of the values of put_signed_sums().
  template <class R>
  VSR_FN static R square_sum(const TrilinearCoefficients<R>& c) {
    return c.x * c.x + c.y * c.y + c.z * c.z + c.xy * c.xy + c.yz * c.yz + c.zx * c.zx;
  }
  /// The products of the patterns ξη, ηζ, ζξ and ξηζ with the corner values of a field.
  template <class R>
  VSR_FN static void patterns_of(const TrilinearCoefficients<R>& field, R (&product)[patterns]) {
    product[0] = field.xy;
    product[1] = field.yz;
    product[2] = field.zx;
    product[3] = field.xyz;
  }
  template <class R>
  VSR_FN static TrilinearCoefficients<R> combined(R a, const TrilinearCoefficients<R>& x, R b,
                                                  const TrilinearCoefficients<R>& y, R c,
                                                  const TrilinearCoefficients<R>& z) {
    return {a * x.x + b * y.x + c * z.x,
            a * x.y + b * y.y + c * z.y,
            a * x.z + b * y.z + c * z.z,
            a * x.xy + b * y.xy + c * z.xy,
            a * x.yz + b * y.yz + c * z.yz,
            a * x.zx + b * y.zx + c * z.zx,
            R(0.0)};
  }
  /// The mean of the shear moduli, evaluated from the law itself as Hourglass does.
  template <class R>
  VSR_FN static R mean_shear(const Point<R>& p) {
    R sum = R(0.0);
    const Mat<R, rows, 3> none = zero_matrix<R, rows, 3>();
    VSR_UNROLLED
    for (int i = 0; i < 3; ++i) {
      Mat<R, rows, 3> shear = none;
      const int j = (i + 1) % 3;
      shear(i, j) = shear(j, i) = R(0.5);
      sum += Kernel::dflux(p, none, shear)(i, j);
    }
    return R(1.0 / 3.0) * sum;
  }
};

/// Which of these a PointElement has.
template <class Element>
struct NoCompactForces {
  static constexpr bool exists = false;
  static constexpr int room = 0, blocks = 2;
};
template <class Kernel, class Shape, class Formulation>
VSR_FN constexpr int compact_forces_kind() {
  using Element = PointElement<Kernel, Shape, Formulation>;
  if (!same<Shape, Hex8> || LawResponse<Kernel, Element::parameter_count>::has_source) return 0;
  if (Element::trilinear && Element::stands_alone) return 1;
  return Element::uniform && Element::components == 3 ? 2 : 0;
}
template <int kind, class Kernel, class Shape, class Formulation>
struct CompactForcesOf {
  using type = NoCompactForces<Kernel>;
};
template <class Kernel, class Shape, class Formulation>
struct CompactForcesOf<1, Kernel, Shape, Formulation> {
  using type = PointwiseForces<Kernel, Shape, Formulation>;
};
template <class Kernel, class Shape, class Formulation>
struct CompactForcesOf<2, Kernel, Shape, Formulation> {
  using type = UniformForces<Kernel, Shape, Formulation>;
};

/// compute<advances, R>(e, unknown, scratch, scale, put_history, put) gives `scale` times the internal forces:
/// put(node, component, force); where one of them is a NaN or an infinity, those of that component at all nodes are.
/// unknown(a, i) is component i at node a, which may be read several times; e.u is not read. scratch(n) with n < room
/// is temporary storage, which put() may overwrite. With `advances`, put_history(k, number) receives the history at the
/// end of the step. It may overwrite e.history: all numbers of a point are read before the first of them is put.
/// Returns the health of the element.
template <class Kernel, class Shape, class Formulation>
struct CompactForces<PointElement<Kernel, Shape, Formulation>>
    : CompactForcesOf<compact_forces_kind<Kernel, Shape, Formulation>(), Kernel, Shape, Formulation>::type {};

}  // namespace voussoir::detail
