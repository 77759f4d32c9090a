#pragma once
#include <voussoir/elements/point/point_element.hpp>

// A Hex8 with one point and hourglass control for laws of any kind: large strains, history, derivatives by dual
// numbers. The Hex8 of PointElement<Law, Hex8, Reduced> is the same for laws that declare themselves linear.

namespace voussoir {

/// A hexahedron of 8 nodes with uniform strain: the law is evaluated once, at the mean gradient of the displacements.
///
/// Each hourglass pattern h gets γ = h − (h · x_k) ∂_k N, which vanishes for constant and linear fields (Flanagan and
/// Belytschko 1981), and the force κ γ (γ · u) with κ = coefficient · μ V Σ|∇N|² / 64 at rest. Positions are those at
/// rest: γ · u is the same as γ · (x + u), so that a rotation of the deformed element rotates its hourglass forces, and
/// a rigid motion causes none. The forces are linear in the displacements and store ½ u · f.
///
/// The law has 3 components and no source, and does not read the values of the unknowns. `shear_modulus(p)`, if the law
/// has it, is μ; otherwise μ is the mean of the shear moduli of the tangent at rest.
template <class Kernel>
struct OnePointElement : detail::ParameterNames<Kernel, false>, detail::RecoveredNames<Kernel> {
  using Whole = PointElement<Kernel, Hex8, Full>;    ///< with 2 × 2 × 2 points, for what does not depend on strain
  using Law = Kernel;                                ///< the material law
  static constexpr const char* name = Kernel::name;  ///< that of the law
  static constexpr const char* shape = Hex8::name;   ///< name of the shape
  static constexpr Geometry geometry = Geometry::solid;                        ///< a volume
  static constexpr int dim = 3,                                                ///< dimension of space
      nodes = 8,                                                               ///< nodes per element
      components = 3,                                                          ///< unknowns per node
      points = 1;                                                              ///< points with results
  static constexpr int dofs = nodes * components;                              ///< degrees of freedom per element
  static constexpr auto& unknowns = Kernel::unknowns;                          ///< names of the unknowns
  static constexpr int parameter_count = detail::kernel_parameters<Kernel>();  ///< of the law
  static constexpr bool linear = false,                                        ///< the law may be anything
      symmetric = detail::symmetric_tangent_of<Kernel>(),                      ///< of the tangent
      scalar = detail::kernel_scalar<Kernel>(),                                ///< as the law declares
      reads_temperature = detail::reads_temperature_of<Kernel>();              ///< as the law declares
  static constexpr int law_history = detail::history_numbers_of<Kernel>(),     ///< per point
      history_count = law_history;                                             ///< per element
  /// Part of the shear stiffness that an hourglass motion gets.
  static constexpr double coefficient = 0.1;

  using Response = detail::LawResponse<Kernel, parameter_count>;  ///< all functions of the law
  static_assert(Kernel::components == 3 && detail::kernel_rows<Kernel>() == 3,
                "one-point hexahedra are for displacements in space");
  static_assert(!Response::takes_value && !Response::has_source,
                "one-point hexahedra are for laws of the gradient alone");

  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// What the element is at rest: mean gradients of the shape functions, volume, hourglass vectors and stiffness.
  template <class R>
  struct Rest {
    R gradient[nodes][3];  ///< of the shape functions, mean
    R gamma[4][nodes];     ///< hourglass vectors
    R volume;              ///< of the element
    R stiffness;           ///< κ of the hourglass control
  };

  /// The tangent: an upper triangle by rows, or all of it where it is not symmetric. Returns the health.
  template <class R>
  VSR_LARGE_FN static R tangent(const Input<R>& e, R* out) {
    Rest<R> rest;
    Place<R> place;
    const R health = prepare(e, rest, place);
    const Mat3<R> grad = gradient_of(rest, e.u);
    const Vec3<R> still = zero_vector<R, 3>();
    Mat3<R> slope[3][3];
    VSR_ROLLED
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        Mat3<R> unit = zero_matrix<R, 3, 3>();
        unit(i, k) = R(1.0);
        slope[i][k] = rest.volume * Response::change(place.p, still, grad, still, unit).flux;
      }
    for (int b = 0; b < nodes; ++b)
      for (int j = 0; j < 3; ++j) {
        Mat3<R> change = rest.gradient[b][0] * slope[j][0];
        for (int k = 1; k < 3; ++k) change = change + rest.gradient[b][k] * slope[j][k];
        for (int a = 0; a < (symmetric ? b + 1 : nodes); ++a) {
          R control = rest.gamma[0][a] * rest.gamma[0][b];
          for (int h = 1; h < 4; ++h) control += rest.gamma[h][a] * rest.gamma[h][b];
          for (int i = 0; i < (symmetric && a == b ? j + 1 : 3); ++i) {
            const int row = a * 3 + i, column = b * 3 + j;
            const int at = symmetric ? detail::upper_index<dofs>(row, column) : row * dofs + column;
            out[at] = work(rest, a, i, change);
            if (i == j) out[at] += rest.stiffness * control;
          }
        }
      }
    return health;
  }

  /// Internal forces. Returns the health.
  template <class R>
  VSR_LARGE_FN static R residual(const Input<R>& e, R* r) {
    Rest<R> rest;
    Place<R> place;
    const R health = prepare(e, rest, place);
    put_forces(rest, Response::answer(place.p, zero_vector<R, 3>(), gradient_of(rest, e.u)).flux, e.u, r);
    return health;
  }

  /// The tangent times du. Returns the health.
  template <class R>
  VSR_LARGE_FN static R action(const Input<R>& e, const R* du, R* r) {
    Rest<R> rest;
    Place<R> place;
    const R health = prepare(e, rest, place);
    const Vec3<R> still = zero_vector<R, 3>();
    put_forces(rest, Response::change(place.p, still, gradient_of(rest, e.u), still, gradient_of(rest, du)).flux, du,
               r);
    return health;
  }

  /// The history at the end of the step. Returns the health.
  template <class R>
  VSR_LARGE_FN static R advance(const Input<R>& e, R* next) requires(law_history > 0) {
    Rest<R> rest;
    Place<R> place;
    const R health = prepare(e, rest, place);
    Response::advance(place.p, zero_vector<R, 3>(), gradient_of(rest, e.u), next);
    return health;
  }

  /// Results at the point, and the history at the end of the step, as of GeneralElement. Returns the health.
  template <class R>
  VSR_LARGE_FN static R recover(const Input<R>& e, R* out) {
    Rest<R> rest;
    Place<R> place;
    const R health = prepare(e, rest, place);
    const Mat3<R> grad = gradient_of(rest, e.u);
    const Vec3<R> still = zero_vector<R, 3>();
    out = detail::write_point<Kernel>(place.p, rest.volume, grad, Response::answer(place.p, still, grad).flux, out);
    if constexpr (detail::kernel_has_energy<Kernel>) *out++ = Response::energy(place.p, still, grad);
    if constexpr (law_history > 0) Response::advance(place.p, still, grad, out);
    return health;
  }
  static constexpr bool extrapolates = true;  ///< the value at the point is that at all nodes
  /// Ones.
  static constexpr void extrapolation(double* nodes_by_points) {
    for (int a = 0; a < nodes; ++a) nodes_by_points[a] = 1.0;
  }

  /// The consistent mass. Returns the health.
  template <class R>
  VSR_FN static R mass(const Input<R>& e, R* upper) requires detail::kernel_has_density<Kernel> {
    return Whole::mass(e, upper);
  }
  /// The lumped mass. Returns the health.
  template <class R>
  VSR_FN static R lumped_mass(const Input<R>& e, R* upper) requires detail::kernel_has_density<Kernel> {
    return Whole::lumped_mass(e, upper);
  }
  /// The nodal forces of a body load. Returns the health.
  template <class R, class Load>
  VSR_FN static R body_load(const Input<R>& e, const Load& load, R* f) requires detail::kernel_has_density<Kernel> {
    return Whole::body_load(e, load, f);
  }
  /// Positive unless the parameters are invalid.
  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    return Whole::valid(e);
  }

 protected:
  /// The material at the point, and its history.
  template <class R>
  struct Place {
    detail::PointMaterial<Kernel, Hex8, Full, R> material;  ///< parameters and constants of the law
    R history[law_history > 0 ? law_history : 1];           ///< at the beginning of the step
    Point<R> p;                                             ///< what the law is given
  };

  /// Corner a of the reference cube in direction k.
  VSR_FN static constexpr double corner(int a, int k) { return Hex8::node(a, k); }
  /// ξη, ηζ, ζξ and ξηζ at the nodes.
  VSR_FN static constexpr double pattern(int h, int a) {
    const double x = corner(a, 0), y = corner(a, 1), z = corner(a, 2);
    return h == 0 ? x * y : h == 1 ? y * z : h == 2 ? z * x : x * y * z;
  }

  /// Computes the geometry at rest and the material; returns what integrate_gradients() returns.
  template <class R>
  VSR_LARGE_FN static R prepare(const Input<R>& e, Rest<R>& rest, Place<R>& place) {
    const R health = integrate_gradients(e, rest);
    double centre[nodes];
    for (int a = 0; a < nodes; ++a) centre[a] = 0.125;
    place.p = place.material.begin(e);
    place.material.move(e, centre, place.p);
    for (int k = 0; k < law_history; ++k) place.history[k] = e.history_at(k);
    place.p.history = place.history;
    R squares = R(0.0);
    for (int a = 0; a < nodes; ++a)
      for (int k = 0; k < 3; ++k) squares += rest.gradient[a][k] * rest.gradient[a][k];
    rest.stiffness = R(coefficient / (nodes * nodes)) * shear_modulus(place.p) * rest.volume * squares;
    for (int h = 0; h < 4; ++h) {
      R moment[3];
      for (int k = 0; k < 3; ++k) {
        moment[k] = R(pattern(h, 0)) * e.x[0][k];
        for (int a = 1; a < nodes; ++a) moment[k] += R(pattern(h, a)) * e.x[a][k];
      }
      for (int a = 0; a < nodes; ++a)
        rest.gamma[h][a] = R(pattern(h, a)) - moment[0] * rest.gradient[a][0] - moment[1] * rest.gradient[a][1] -
                           moment[2] * rest.gradient[a][2];
    }
    return health;
  }

  /// Volume and mean gradients of the shape functions by 2 × 2 × 2 points, which is exact: ∇N times the Jacobian's
  /// determinant is a polynomial. Returns the smallest determinant.
  template <class R>
  VSR_LARGE_FN static R integrate_gradients(const Input<R>& e, Rest<R>& rest) {
    const auto& table = shape_table<Hex8, GaussHex<2>>();
    R health = R(1e300);
    rest.volume = R(0.0);
    for (int a = 0; a < nodes; ++a)
      for (int k = 0; k < 3; ++k) rest.gradient[a][k] = R(0.0);
    VSR_ROLLED
    for (int q = 0; q < 8; ++q) {
      R j[3][3];
      for (int i = 0; i < 3; ++i)
        for (int m = 0; m < 3; ++m) {
          j[i][m] = R(table.gradient[q][0][m]) * e.x[0][i];
          for (int a = 1; a < nodes; ++a) j[i][m] += R(table.gradient[q][a][m]) * e.x[a][i];
        }
      R cofactor[3][3];
      for (int i = 0; i < 3; ++i)
        for (int m = 0; m < 3; ++m) {
          const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, m1 = (m + 1) % 3, m2 = (m + 2) % 3;
          cofactor[i][m] = j[i1][m1] * j[i2][m2] - j[i1][m2] * j[i2][m1];
        }
      const R det = j[0][0] * cofactor[0][0] + j[0][1] * cofactor[0][1] + j[0][2] * cofactor[0][2];
      health = min(health, det);
      const R weight = R(table.weight[q]);
      rest.volume += weight * det;
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < 3; ++i)
          rest.gradient[a][i] +=
              weight * (R(table.gradient[q][a][0]) * cofactor[i][0] + R(table.gradient[q][a][1]) * cofactor[i][1] +
                        R(table.gradient[q][a][2]) * cofactor[i][2]);
    }
    const R inverse = R(1.0) / rest.volume;
    for (int a = 0; a < nodes; ++a)
      for (int k = 0; k < 3; ++k) rest.gradient[a][k] *= inverse;
    return health;
  }

  /// The law's shear modulus at rest: its own function, or the mean of three small shears.
  template <class R>
  VSR_FN static R shear_modulus(const Point<R>& p) {
    if constexpr (requires { Kernel::shear_modulus(p); }) {
      return Kernel::shear_modulus(p);
    } else {
      R none[law_history > 0 ? law_history : 1];
      for (int k = 0; k < law_history; ++k) none[k] = R(0.0);
      Point<R> rest = p;
      rest.history = none;
      const Mat3<R> flat = zero_matrix<R, 3, 3>();
      const Vec3<R> still = zero_vector<R, 3>();
      R sum = R(0.0);
      for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3;
        Mat3<R> shear = flat;
        shear(i, j) = shear(j, i) = R(0.5);
        sum += Response::change(rest, still, flat, still, shear).flux(i, j);
      }
      return R(1.0 / 3.0) * sum;
    }
  }

  /// Mean gradient of the displacements u.
  template <class R>
  VSR_FN static Mat3<R> gradient_of(const Rest<R>& rest, const R* u) {
    Mat3<R> grad = zero_matrix<R, 3, 3>();
    for (int a = 0; a < nodes; ++a)
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) grad(i, k) += rest.gradient[a][k] * u[a * 3 + i];
    return grad;
  }
  /// Work per volume of the flux on a unit displacement of node a in direction i.
  template <class R>
  VSR_FN static R work(const Rest<R>& rest, int a, int i, const Mat3<R>& flux) {
    return flux(i, 0) * rest.gradient[a][0] + flux(i, 1) * rest.gradient[a][1] + flux(i, 2) * rest.gradient[a][2];
  }
  /// Nodal forces r of the flux and of hourglass control at the displacements u.
  template <class R>
  VSR_FN static void put_forces(const Rest<R>& rest, const Mat3<R>& flux, const R* u, R* r) {
    R amplitude[4][3];
    for (int h = 0; h < 4; ++h)
      for (int i = 0; i < 3; ++i) {
        amplitude[h][i] = rest.gamma[h][0] * u[i];
        for (int a = 1; a < nodes; ++a) amplitude[h][i] += rest.gamma[h][a] * u[a * 3 + i];
        amplitude[h][i] *= rest.stiffness;
      }
    for (int a = 0; a < nodes; ++a)
      for (int i = 0; i < 3; ++i) {
        R force = rest.volume * work(rest, a, i, flux);
        for (int h = 0; h < 4; ++h) force += rest.gamma[h][a] * amplitude[h][i];
        r[a * 3 + i] = force;
      }
  }
};

}  // namespace voussoir
