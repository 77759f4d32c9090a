#pragma once
#include <voussoir/elements/kernel/dual.hpp>
#include <voussoir/elements/point/formulation.hpp>

// The response of a law at a point, whichever functions the law defines: flux, source or energy, with or without the
// values of the unknowns. Functions that it does not define are derived by dual numbers. The interface of laws is
// documented in kernel/point_kernel.hpp.

namespace voussoir::detail {

// Laws are probed with numbers of type double, which every law accepts.
template <class Kernel>
using ProbePoint = Point<double>;
template <class Kernel>
using ProbeValue = Vec<double, Kernel::components>;
template <class Kernel>
using ProbeGradient = Mat<double, kernel_rows<Kernel>(), 3>;

/// True for ConstantLaw (uniform_law.hpp).
template <class Kernel>
inline constexpr bool is_constant_law = false;

template <class Kernel>
inline constexpr bool law_has_flux = requires(const ProbePoint<Kernel>& p, const ProbeGradient<Kernel>& g) {
  Kernel::flux(p, g);
};
template <class Kernel>
inline constexpr bool law_has_value_flux = requires(const ProbePoint<Kernel>& p, const ProbeValue<Kernel>& u,
                                                    const ProbeGradient<Kernel>& g) {
  Kernel::flux(p, u, g);
};
template <class Kernel>
inline constexpr bool law_has_dflux = requires(const ProbePoint<Kernel>& p, const ProbeGradient<Kernel>& g) {
  Kernel::dflux(p, g, g);
};
template <class Kernel>
inline constexpr bool law_has_source = requires(const ProbePoint<Kernel>& p, const ProbeValue<Kernel>& u,
                                                const ProbeGradient<Kernel>& g) {
  Kernel::source(p, u, g);
};
template <class Kernel>
inline constexpr bool law_has_value_energy = requires(const ProbePoint<Kernel>& p, const ProbeValue<Kernel>& u,
                                                      const ProbeGradient<Kernel>& g) {
  Kernel::energy(p, u, g);
};
template <class Kernel>
inline constexpr bool law_has_vector_density = requires(const ProbePoint<Kernel>& p) {
  Kernel::density(p)[0];
};

/// Whether a law is more than a flux that is linear in the gradient and its tangent: nonlinear, with a value or a
/// source, history, an unsymmetric tangent, or derivatives by dual numbers. GeneralElement then integrates it.
template <class Kernel>
inline constexpr bool general_law =
    !kernel_linear<Kernel>() || !(law_has_flux<Kernel> && law_has_dflux<Kernel>) || law_has_source<Kernel> ||
    history_numbers_of<Kernel>() > 0 || !symmetric_tangent_of<Kernel>();

/// A number converted to a dual type, with zero derivatives.
template <class To, class From>
VSR_FN To lifted(const From& x) {
  if constexpr (same<To, From>)
    return x;
  else
    return To(lifted<decltype(To::v)>(x));
}

/// The numbers of a point converted to a dual number type. They are no part of the point that lift() makes: a struct
/// with pointers into itself would be kept in memory by compilers that otherwise find all of it in registers.
template <class Kernel, int parameter_count, class To>
struct LiftedNumbers {
  static constexpr int constant_count = kernel_constants<Kernel>(), history_count = history_numbers_of<Kernel>();
  To parameters[parameter_count > 0 ? parameter_count : 1];
  To constants[constant_count > 0 ? constant_count : 1];
  To history[history_count > 0 ? history_count : 1];

  template <class From>
  VSR_FN Point<To> lift(const Point<From>& p) {
    for (int k = 0; k < parameter_count; ++k) parameters[k] = lifted<To>(p.parameters[k]);
    for (int k = 0; k < constant_count; ++k) constants[k] = lifted<To>(p.constants[k]);
    for (int k = 0; k < history_count; ++k) history[k] = lifted<To>(p.history[k]);
    Point<To> point;
    for (int k = 0; k < 3; ++k) point.x[k] = lifted<To>(p.x[k]);
    point.parameters = parameters;
    point.constants = constants;
    point.history = history;
    point.temperature = lifted<To>(p.temperature);
    point.temperature_change = lifted<To>(p.temperature_change);
    point.time = p.time;
    point.time_step = p.time_step;
    return point;
  }
};

/// A law with all functions that an element needs.
template <class Kernel, int parameter_count>
struct LawResponse {
  static constexpr int components = Kernel::components, rows = kernel_rows<Kernel>();
  /// Whether the flux is derived from the energy.
  static constexpr bool by_energy = !law_has_flux<Kernel> && !law_has_value_flux<Kernel>;
  static constexpr bool takes_value =
      law_has_value_flux<Kernel> || law_has_source<Kernel> || (by_energy && law_has_value_energy<Kernel>);
  static constexpr bool has_source = law_has_source<Kernel> || (by_energy && law_has_value_energy<Kernel>);
  static constexpr int history = history_numbers_of<Kernel>();
  static_assert(!(by_energy && law_has_source<Kernel> && law_has_value_energy<Kernel>),
                "a law that is given by its energy has no source of its own: put it into the energy");

  template <class S>
  using Value = Vec<S, components>;
  template <class S>
  using Gradient = Mat<S, rows, 3>;
  /// The response at a point: the flux, which is multiplied by gradients of shape functions, and the source, which is
  /// multiplied by shape functions.
  template <class S>
  struct Answer {
    Gradient<S> flux;
    Value<S> source;
  };

  template <class S>
  VSR_FN static S energy(const Point<S>& p, const Value<S>& u, const Gradient<S>& g) {
    if constexpr (law_has_value_energy<Kernel>)
      return Kernel::energy(p, u, g);
    else
      return Kernel::energy(p, g);
  }

  template <class S>
  VSR_FN static Answer<S> answer(const Point<S>& p, const Value<S>& u, const Gradient<S>& g) {
    Answer<S> a;
    a.source = zero_vector<S, components>();
    if constexpr (by_energy) {
      // By value: what is passed by pointer would be kept in memory.
      LiftedNumbers<Kernel, parameter_count, S> own;
      Point<S> at = own.lift(p);
      at.parameters = at.constants = at.history = nullptr;
      a = derive(own, at, u, g);
    } else if constexpr (law_has_value_flux<Kernel>) {
      a.flux = Kernel::flux(p, u, g);
    } else {
      a.flux = Kernel::flux(p, g);
    }
    if constexpr (law_has_source<Kernel>) a.source = Kernel::source(p, u, g);
    return a;
  }

  /// The change of the response when value and gradient change by du and dg.
  template <class S>
  VSR_FN static Answer<S> change(const Point<S>& p, const Value<S>& u, const Gradient<S>& g, const Value<S>& du,
                                 const Gradient<S>& dg) {
    if constexpr (law_has_flux<Kernel> && law_has_dflux<Kernel>) {
      Answer<S> a;
      a.source = zero_vector<S, components>();
      if constexpr (law_has_source<Kernel>) {
        using D = Dual<S>;
        LiftedNumbers<Kernel, parameter_count, D> numbers;
        const Point<D> lift = numbers.lift(p);
        const Value<D> source = Kernel::source(lift, moved(u, du), moved(g, dg));
        for (int i = 0; i < components; ++i) a.source[i] = source[i].d[0];
      }
      a.flux = Kernel::dflux(p, g, dg);
      return a;
    } else {
      return differentiated(p, u, g, du, dg);
    }
  }

  /// The same by dual numbers, whatever the law defines.
  template <class S>
  VSR_FN static Answer<S> differentiated(const Point<S>& p, const Value<S>& u, const Gradient<S>& g, const Value<S>& du,
                                         const Gradient<S>& dg) {
    using D = Dual<S>;
    LiftedNumbers<Kernel, parameter_count, D> numbers;
    const Point<D> lift = numbers.lift(p);
    const Answer<D> dual = answer(lift, moved(u, du), moved(g, dg));
    Answer<S> a;
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) a.flux(i, k) = dual.flux(i, k).d[0];
    for (int i = 0; i < components; ++i) a.source[i] = dual.source[i].d[0];
    return a;
  }

  /// The history after a step that ends with this value and gradient.
  template <class S>
  VSR_FN static void advance(const Point<S>& p, const Value<S>& u, const Gradient<S>& g, S* next) {
    if constexpr (requires { Kernel::advance(p, u, g, next); })
      Kernel::advance(p, u, g, next);
    else
      Kernel::advance(p, g, next);
  }

 private:
  /// Numbers with their change.
  template <class S>
  VSR_FN static Value<Dual<S>> moved(const Value<S>& u, const Value<S>& du) {
    Value<Dual<S>> value;
    for (int i = 0; i < components; ++i) {
      value[i].v = u[i];
      value[i].d[0] = du[i];
    }
    return value;
  }
  template <class S>
  VSR_FN static Gradient<Dual<S>> moved(const Gradient<S>& g, const Gradient<S>& dg) {
    Gradient<Dual<S>> gradient;
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) {
        gradient(i, k).v = g(i, k);
        gradient(i, k).d[0] = dg(i, k);
      }
    return gradient;
  }
  /// Flux and source as derivatives of the energy.
  template <class S>
  VSR_APART_FN static Answer<S> derive(LiftedNumbers<Kernel, parameter_count, S> own, Point<S> p, Value<S> u,
                                       Gradient<S> g) {
    p.parameters = own.parameters;
    p.constants = own.constants;
    p.history = own.history;
    Answer<S> a;
    a.source = zero_vector<S, components>();
    constexpr int slopes = rows * 3 + (has_source ? components : 0);
#if defined(VSR_ENERGY_OPERATIONS)
    // Whoever compiles the law knows how many operations its energy takes. A tape of an odd length, or one that is used
    // to its end, would stay in memory (NVRTC 13).
    using D = Adjoint<S, (slopes + VSR_ENERGY_OPERATIONS + 63) / 32 * 32>;
    typename D::Tape tape;
    LiftedNumbers<Kernel, parameter_count, D> numbers;
    const Point<D> lift = numbers.lift(p);
    Value<D> value;
    Gradient<D> gradient;
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) gradient(i, k) = D::variable(g(i, k), tape);
    for (int i = 0; i < components; ++i) value[i] = has_source ? D::variable(u[i], tape) : D(u[i]);
    S derivative[slopes];
    tape.differentiate(energy(lift, value, gradient).place, derivative);
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) a.flux(i, k) = derivative[i * 3 + k];
    if constexpr (has_source)
      for (int i = 0; i < components; ++i) a.source[i] = derivative[rows * 3 + i];
#else
    using D = Dual<S, slopes>;
    LiftedNumbers<Kernel, parameter_count, D> numbers;
    const Point<D> lift = numbers.lift(p);
    Value<D> value;
    Gradient<D> gradient;
    for (int i = 0; i < components; ++i) {
      value[i] = lifted<D>(u[i]);
      if constexpr (has_source) value[i].d[rows * 3 + i] = S(1.0);
    }
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) {
        gradient(i, k) = lifted<D>(g(i, k));
        gradient(i, k).d[i * 3 + k] = S(1.0);
      }
    const D e = energy(lift, value, gradient);
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) a.flux(i, k) = e.d[i * 3 + k];
    if constexpr (has_source)
      for (int i = 0; i < components; ++i) a.source[i] = e.d[rows * 3 + i];
#endif
    return a;
  }
};

}  // namespace voussoir::detail
