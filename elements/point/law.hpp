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

/// Whether a law needs more than the gradient of its unknowns and the tangent that it writes itself: a value or a
/// source, history, an unsymmetric tangent, or derivatives. GeneralElement then integrates it.
template <class Kernel>
inline constexpr bool general_law = !(law_has_flux<Kernel> && law_has_dflux<Kernel>) || law_has_source<Kernel> ||
                                    history_numbers_of<Kernel>() > 0 || !symmetric_tangent_of<Kernel>();

/// A number converted to a dual type, with zero derivatives.
template <class To, class From>
VSR_FN To lifted(const From& x) {
  if constexpr (same<To, From>)
    return x;
  else
    return To(lifted<decltype(To::v)>(x));
}

/// A point converted to a dual number type.
template <class Kernel, int parameter_count, class To>
struct LiftedPoint {
  static constexpr int constants = kernel_constants<Kernel>(), history = history_numbers_of<Kernel>();
  To own_parameters[parameter_count > 0 ? parameter_count : 1];
  To own_constants[constants > 0 ? constants : 1];
  To own_history[history > 0 ? history : 1];
  Point<To> point;

  template <class From>
  VSR_FN explicit LiftedPoint(const Point<From>& p) {
    for (int k = 0; k < parameter_count; ++k) own_parameters[k] = lifted<To>(p.parameters[k]);
    for (int k = 0; k < constants; ++k) own_constants[k] = lifted<To>(p.constants[k]);
    for (int k = 0; k < history; ++k) own_history[k] = lifted<To>(p.history[k]);
    for (int k = 0; k < 3; ++k) point.x[k] = lifted<To>(p.x[k]);
    point.parameters = own_parameters;
    point.constants = own_constants;
    point.history = own_history;
    point.temperature = lifted<To>(p.temperature);
    point.temperature_change = lifted<To>(p.temperature_change);
    point.time = p.time;
    point.time_step = p.time_step;
  }
  LiftedPoint(const LiftedPoint&) = delete;
  LiftedPoint& operator=(const LiftedPoint&) = delete;
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
      derive(p, u, g, a);
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
    using D = Dual<S>;
    const LiftedPoint<Kernel, parameter_count, D> lift(p);
    Value<D> value;
    Gradient<D> gradient;
    for (int i = 0; i < components; ++i) {
      value[i].v = u[i];
      value[i].d[0] = du[i];
    }
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) {
        gradient(i, k).v = g(i, k);
        gradient(i, k).d[0] = dg(i, k);
      }
    Answer<S> a;
    a.source = zero_vector<S, components>();
    if constexpr (law_has_flux<Kernel> && law_has_dflux<Kernel>) {
      a.flux = Kernel::dflux(p, g, dg);
      if constexpr (law_has_source<Kernel>) {
        const Value<D> source = Kernel::source(lift.point, value, gradient);
        for (int i = 0; i < components; ++i) a.source[i] = source[i].d[0];
      }
    } else {
      const Answer<D> dual = answer(lift.point, value, gradient);
      for (int i = 0; i < rows; ++i)
        for (int k = 0; k < 3; ++k) a.flux(i, k) = dual.flux(i, k).d[0];
      for (int i = 0; i < components; ++i) a.source[i] = dual.source[i].d[0];
    }
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
  /// Flux and source as derivatives of the energy.
  template <class S>
  VSR_FN static void derive(const Point<S>& p, const Value<S>& u, const Gradient<S>& g, Answer<S>& a) {
    constexpr int slopes = rows * 3 + (has_source ? components : 0);
    using D = Dual<S, slopes>;
    const LiftedPoint<Kernel, parameter_count, D> lift(p);
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
    const D e = energy(lift.point, value, gradient);
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) a.flux(i, k) = e.d[i * 3 + k];
    if constexpr (has_source)
      for (int i = 0; i < components; ++i) a.source[i] = e.d[rows * 3 + i];
  }
};

}  // namespace voussoir::detail
