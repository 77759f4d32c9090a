#pragma once
#include <voussoir/elements/kernel/upper_triangle.hpp>
#include <voussoir/elements/point/law.hpp>

// A law whose tangent depends on nothing but its parameters (elements/law_dependence.hpp finds out), extended by what a
// constant tangent allows: a tensor, computed once per material, that gives the tangents of node pairs.

namespace voussoir::detail {

/// Whether body loads act on the components of a law in the same way by their names, as in GeneralElement, and by their
/// order, as in PointElement.
template <class Law>
VSR_FN constexpr bool names_follow_order() {
  const char axis[] = {'x', 'y', 'z'};
  bool in_order = Law::components <= 3, none = true;
  for (int i = 0; i < Law::components; ++i) {
    const char* name = Law::unknowns[i];
    const bool displacement = name[0] == 'u' && name[1] >= 'x' && name[1] <= 'z' && name[2] == 0;
    in_order = in_order && displacement && name[1] == axis[i];
    none = none && !displacement;
  }
  return Law::components == 1 ? none : in_order;
}

/// Whether a law responds to the gradient alone, so that its tangent may be the same everywhere, and lacks what
/// UniformLaw adds.
template <class Law>
inline constexpr bool may_be_uniform =
    !__is_final(Law) && !law_has_source<Law> && !law_has_value_flux<Law> && !law_has_value_energy<Law> &&
    history_numbers_of<Law>() == 0 && symmetric_tangent_of<Law>() && !kernel_has_pair_block<Law> &&
    !law_has_vector_density<Law> && (!kernel_has_density<Law> || names_follow_order<Law>());

/// Whether a law declares itself to be nonlinear.
template <class Law>
VSR_FN constexpr bool declares_nonlinear() {
  if constexpr (requires { bool(Law::linear); })
    return !Law::linear;
  else
    return false;
}

/// A law that turned out to be linear, with the declaration.
template <class Law>
struct LinearLaw : Law {
  using GivenLaw = Law;
  static constexpr bool linear = true;
  /// Whether a law whose tangent depends on this (law_dependence.hpp) is one.
  static constexpr bool found(unsigned origin) { return (origin & (1u | 2u | 16u | 32u)) == 0; }
};

/// A law with values, sources or an unsymmetric tangent whose tangent depends on nothing but its parameters.
template <class Law>
struct ConstantLaw : Law {
  using GivenLaw = Law;
  static constexpr bool linear = true;
  static constexpr bool found(unsigned origin) { return origin == 0; }
};
template <class Law>
inline constexpr bool is_constant_law<ConstantLaw<Law>> = true;

/// Whether a law is for ConstantLaw.
template <class Law>
inline constexpr bool may_be_constant =
    !__is_final(Law) && history_numbers_of<Law>() == 0 &&
    (law_has_source<Law> || law_has_value_flux<Law> || law_has_value_energy<Law> || !symmetric_tangent_of<Law>());

/// The law, with a constant tangent tensor: linear, and with the tangent of node pairs. `parameter_count` is that of
/// the element, with its thickness.
template <class Law, int parameter_count>
struct UniformLaw : Law {
  using GivenLaw = Law;
  static constexpr bool linear = true;
  static constexpr bool found(unsigned origin) { return origin == 0; }
  static constexpr int law_constants = kernel_constants<Law>(), rows = kernel_rows<Law>(), components = Law::components;
  /// Whether the flux depends only on the symmetric part of the gradient.
  static constexpr bool by_strain = kernel_symmetric<Law>();
  /// Independent entries of the gradient.
  static constexpr int slots = by_strain ? 6 : components * 3;
  /// The upper triangle of the tangent tensor follows the law's own constants.
  static constexpr int constants = law_constants + slots * (slots + 1) / 2;

  /// The place of entry (i, k) of the gradient among the slots.
  VSR_FN static constexpr int slot(int i, int k) {
    return !by_strain ? i * 3 + k : i == k ? i : i + k == 1 ? 3 : i + k == 3 ? 4 : 5;
  }
  VSR_FN static constexpr int place(int s, int t) {
    return law_constants + (s <= t ? upper_index<slots>(s, t) : upper_index<slots>(t, s));
  }

  /// The constants of the given law.
  template <class R>
  VSR_FN static void prepare_given([[maybe_unused]] const R* parameters, [[maybe_unused]] R* own) {
    if constexpr (law_constants > 0) Law::prepare(parameters, own);
  }
  template <class R>
  VSR_FN static void prepare(const R* parameters, R* own) {
    prepare_given(parameters, own);
    for (int n = law_constants; n < constants; ++n) own[n] = R(0.0);
    Point<R> p;
    // Some point: that the tangent does not depend on it does not mean that the law can be evaluated at zero.
    for (int k = 0; k < 3; ++k) p.x[k] = R(0.6 + 0.2 * k);
    p.parameters = parameters;
    p.constants = own;
    p.temperature = R(300.0);
    p.temperature_change = R(10.0);
    const Mat<R, rows, 3> none = zero_matrix<R, rows, 3>();
    for (int i = 0; i < components; ++i)
      for (int k = 0; k < 3; ++k) {
        if (by_strain && k < i) continue;
        Mat<R, rows, 3> unit = none;
        unit(i, k) = R(1.0);
        Mat<R, rows, 3> flux;
        if constexpr (law_has_flux<Law> && law_has_dflux<Law>)
          flux = Law::dflux(p, none, unit);
        else
          flux = differentiated(p, unit);
        for (int j = 0; j < components; ++j)
          for (int l = 0; l < 3; ++l)
            if (!(by_strain && l < j) && slot(j, l) <= slot(i, k)) own[place(slot(j, l), slot(i, k))] = flux(j, l);
      }
  }

  /// What dflux() reads.
  template <class R>
  VSR_FN static void prepare_for_products(const R* parameters, R* own) {
    if constexpr (keeps_tensor)
      prepare(parameters, own);
    else
      prepare_given(parameters, own);
  }

  template <class R>
  VSR_FN static Mat<R, rows, 3> flux(const Point<R>& p, const Mat<R, rows, 3>& grad) {
    if constexpr (law_has_flux<Law>)
      return Law::flux(p, grad);
    else
      return Response::answer(p, still<R>(), grad).flux;
  }
  template <class R>
  VSR_FN static Mat<R, rows, 3> dflux(const Point<R>& p, const Mat<R, rows, 3>& grad, const Mat<R, rows, 3>& change) {
    if constexpr (law_has_flux<Law> && law_has_dflux<Law>)
      return Law::dflux(p, grad, change);
    else if constexpr (keeps_tensor)
      return by_tensor(p, change);
    else
      return differentiated(p, change);
  }

  template <class R>
  VSR_FN static Mat<R, components, components> pair_block(const Point<R>& p, const Mat3<R>& outer) {
    Mat<R, components, components> block;
    for (int i = 0; i < components; ++i)
      for (int j = 0; j < components; ++j) {
        R sum = R(0.0);
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l) sum += p.constants[place(slot(i, k), slot(j, l))] * outer(k, l);
        block(i, j) = sum;
      }
    return block;
  }

 private:
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  static constexpr bool keeps_tensor = false;  // there it would take registers that are needed elsewhere
#else
  /// Whether the tensor says all of the flux, and is used for products.
  static constexpr bool keeps_tensor = rows == components;
#endif
  template <class R>
  VSR_FN static Mat<R, rows, 3> by_tensor(const Point<R>& p, const Mat<R, rows, 3>& change) {
    R strain[slots];
    for (int i = 0; i < components; ++i)
      for (int k = by_strain ? i : 0; k < 3; ++k)
        strain[slot(i, k)] = by_strain && k > i ? change(i, k) + change(k, i) : change(i, k);
    Mat<R, rows, 3> flux;
    for (int i = 0; i < components; ++i)
      for (int k = by_strain ? i : 0; k < 3; ++k) {
        R sum = p.constants[place(slot(i, k), 0)] * strain[0];
        for (int s = 1; s < slots; ++s) sum += p.constants[place(slot(i, k), s)] * strain[s];
        flux(i, k) = sum;
        if (by_strain) flux(k, i) = sum;
      }
    return flux;
  }
  /// The change of the flux by dual numbers.
  template <class R>
  VSR_FN static Mat<R, rows, 3> differentiated(const Point<R>& p, const Mat<R, rows, 3>& change) {
    return Response::change(p, still<R>(), zero_matrix<R, rows, 3>(), still<R>(), change).flux;
  }
  using Response = LawResponse<Law, parameter_count>;
  template <class R>
  VSR_FN static Vec<R, components> still() {
    return zero_vector<R, components>();
  }
};

}  // namespace voussoir::detail
