#pragma once
#include <voussoir/elements/kernel/adjoint.hpp>
#include <voussoir/elements/kernel/dual.hpp>  // before any law: it may call voussoir::sqrt(R) for numbers with derivatives
#include <voussoir/elements/kernel/tensor.hpp>
#include <voussoir/elements/kernel/traced.hpp>

// A PointKernel defines the physics at one point of a body. It is a struct of static functions:
//
//   struct HeatConduction {
//     static constexpr const char* name = "heat";                       // first part of the element type's name
//     static constexpr int components = 1;                              // unknowns per node
//     static constexpr const char* unknowns[] = {"T"};                  // their names
//     static constexpr const char* parameters[] = {"conductivity"};     // numbers that a material supplies, in order
//
//     template <class R>   // flux from the gradient of the unknowns: its divergence enters the balance equation
//     VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) { return p[0] * grad; }
//     template <class R>   // its change when the gradient changes by dgrad
//     VSR_FN static Mat<R, 1, 3> dflux(const Point<R>& p, const Mat<R, 1, 3>& grad, const Mat<R, 1, 3>& dgrad);
//   };
//
// The residual of an element is r_a = ∫ flux · ∇N_a dV, its tangent K_ab = ∫ ∇N_a · dflux(∇N_b) dV. Without dflux the
// tangent is taken from flux by automatic differentiation (kernel/dual.hpp); a law may as well give only
//
//   energy(p, grad)                           stored energy per volume: flux and tangent are its derivatives
//
// For these the functions must be templates over R, with R(2.0) for constants and the functions of kernel/math.hpp,
// because they are called with dual numbers. A law that depends on the unknowns themselves takes their values (a
// Vec<R, components>) before the gradient, and may have a source, which is multiplied by N_a in the residual:
//
//   flux(p, value, grad)
//   source(p, value, grad)                    r_a = ∫ flux · ∇N_a + source · N_a dV. A reaction c u has the source
//                                             c u; what produces u has a negative one
//   energy(p, value, grad)                    alone: flux and source are its derivatives
//
// History: a law with memory names its history variables at each point and defines how they advance:
//
//   static constexpr const char* history[] = {"plastic_strain"};
//   advance(p, grad, next), or advance(p, value, grad, next)
//                                             writes the values after a step that ends with this gradient. p.history
//                                             has those of the last committed step, initially zero, and does not
//                                             change while a step is being solved; flux may read it too
//
// The tangent must be symmetric: A : dflux(B) = B : dflux(A). A law whose tangent is not declares
//
//   static constexpr bool symmetric = false
//
// and is solved by methods for unsymmetric systems. An unsymmetric law without this declaration, and a law that reads a
// parameter that it does not name, are an Error when a model is built with them.
//
// Optional members, used where present. None is needed for speed: a law whose tangent does not depend on the unknowns
// is found to be linear when it is registered (elements/law_dependence.hpp), and its tangent tensor is computed once
// per material; other tangents are computed once per point.
//   static constexpr Geometry geometry        what volume a 2D shape stands for (default: solid in 3D, plane in 2D). A
//                                             plane element has one more parameter than its kernel, the last:
//                                             "thickness"
//   static constexpr int gradient_rows        rows of the gradient and the flux (default: components). Plane elasticity
//                                             has two components, but three rows: its strain and stress have a third
//                                             normal component. Rows beyond `components` are zero, but for the hoop
//                                             gradient u_r / r if axisymmetric, which is entry (2, 2), counted from 0
//   static constexpr bool symmetric_gradient  flux depends only on the symmetric part and is symmetric: recovery then
//                                             reports strain and stress instead of gradient and flux
//   static constexpr bool linear = true       flux is linear in the gradient (plus a part that does not depend on it),
//                                             so dflux does not read `grad`; `false`: the law is taken as nonlinear.
//                                             Incompatible modes and the one-point formulation take only laws that
//                                             declare it and define dflux
//   static constexpr bool examine = false     the law is not run to find out what its tangent depends on: for laws that
//                                             call functions for double and Pack alone
//   static constexpr bool scalar = true       the functions branch on their arguments: R is always double
//   static constexpr bool reads_temperature = false
//                                             no function reads p.temperature (parameters follow tables all the same,
//                                             and p.temperature_change may be read). Without it, a law whose unknown is
//                                             T is solved by iteration, since p.temperature is the unknown
//   density(p)                                mass (or heat capacity) per volume; without it the element has no mass.
//                                             A law that is more than flux and dflux may return a Vec<R, components>:
//                                             a number for each unknown
//   energy(p, grad)                           stored energy per volume, for reports where flux is given
//   strain(p, grad)                           the strain to be reported, where it is not the symmetric part of the
//                                             gradient: for a law that knows the out-of-plane strain
//   pair_block(p, outer)                      the components × components tangent of a node pair from
//                                             outer = ∇N_a ⊗ ∇N_b (3 × 3); only for laws linear in the gradient. It
//                                             must be linear in `outer`, which may already be summed over an element,
//                                             and read nothing of p but parameters and constants
//   static constexpr int constants; prepare(parameters, constants)
//                                             values derived from the parameters once, not at every use (moduli,
//                                             rotated stiffness); flux, dflux and energy read them from p.constants
//   valid(parameters)                         positive unless the parameters are invalid

namespace voussoir {

/// How a shape defines a volume: directly as a solid; in a plane, times the section's thickness; axisymmetric, as the
/// plane (r, z) = (x, y) revolved about the y axis.
enum class Geometry { solid, plane, axisymmetric };

struct Traced;
struct Counted;

namespace detail {

/// A time that notes that it was read; for law_dependence.hpp.
struct TracedTime {
  bool* read = nullptr;
  TracedTime() = default;
  VSR_FN TracedTime(int) {}
  VSR_FN explicit TracedTime(bool* note) : read(note) {}
  VSR_FN operator double() const {
    if (read) *read = true;
    return 0.25;
  }
  // A double times a number, as laws write it.
  template <class T>
  friend VSR_FN T operator+(const TracedTime& t, const T& x) {
    return T(double(t)) + x;
  }
  template <class T>
  friend VSR_FN T operator-(const TracedTime& t, const T& x) {
    return T(double(t)) - x;
  }
  template <class T>
  friend VSR_FN T operator*(const TracedTime& t, const T& x) {
    return T(double(t)) * x;
  }
  template <class T>
  friend VSR_FN T operator/(const TracedTime& t, const T& x) {
    return T(double(t)) / x;
  }
  template <class T>
  friend VSR_FN T operator+(const T& x, const TracedTime& t) {
    return x + T(double(t));
  }
  template <class T>
  friend VSR_FN T operator-(const T& x, const TracedTime& t) {
    return x - T(double(t));
  }
  template <class T>
  friend VSR_FN T operator*(const T& x, const TracedTime& t) {
    return x * T(double(t));
  }
  template <class T>
  friend VSR_FN T operator/(const T& x, const TracedTime& t) {
    return x / T(double(t));
  }
  friend VSR_FN double operator-(const TracedTime& a, const TracedTime& b) { return double(a) - double(b); }
  friend VSR_FN double operator+(const TracedTime& a, const TracedTime& b) { return double(a) + double(b); }
  friend VSR_FN double operator*(const TracedTime& a, const TracedTime& b) { return double(a) * double(b); }
  friend VSR_FN double operator/(const TracedTime& a, const TracedTime& b) { return double(a) / double(b); }
};

template <class R>
struct TimeIn {
  using type = double;
};
template <>
struct TimeIn<Traced> {
  using type = TracedTime;
};
template <>
struct TimeIn<Counted> {
  using type = TracedTime;
};
template <class R, int n>
struct TimeIn<Dual<R, n>> {
  using type = typename TimeIn<R>::type;
};
template <class R, int n>
struct TimeIn<Adjoint<R, n>> {
  using type = typename TimeIn<R>::type;
};
/// The type of times where numbers are R.
template <class R>
using TimeOf = typename TimeIn<R>::type;

}  // namespace detail

/// An integration point, the first argument of the functions of a point kernel.
template <class R>
struct Point {
  Vec3<R> x;  ///< position; z = 0 in two dimensions
  /// The material parameters at the temperature of the point. A coefficient of thermal expansion (a parameter whose
  /// name begins with "expansion") is the mean one between the initial temperature and this one, so that p[k] *
  /// p.temperature_change is the thermal strain, even if the material has a table of it.
  const R* parameters;
  const R* constants;    ///< the results of the kernel's prepare()
  R temperature;         ///< the unknown T if the model has it; else that of the load, or the initial temperature
  R temperature_change;  ///< temperature minus initial temperature
  /// The law's history variables at this point, of the last committed step.
  const R* history = nullptr;
  detail::TimeOf<R> time = 0;       ///< a double: at the end of the step that is being solved
  detail::TimeOf<R> time_step = 0;  ///< a double: length of the step; 0 if the analysis has no time
  /// Parameter i of the material.
  VSR_FN R operator[](int i) const { return parameters[i]; }
};

}  // namespace voussoir
