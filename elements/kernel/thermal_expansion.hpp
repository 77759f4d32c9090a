#pragma once
#include <voussoir/elements/kernel/element_kernel.hpp>
#include <voussoir/elements/kernel/kernel_traits.hpp>

// Thermal strain with a coefficient of expansion α that depends on temperature. A table of α refers to a reference
// temperature T_r (*EXPANSION, ZERO= of decks), and a body at its initial temperature T₀ has no thermal strain:
//
//   ε_th = α(T) (T − T_r) − α(T₀) (T₀ − T_r)
//
// Laws multiply one coefficient by T − T₀. For this product to be ε_th, they use the mean coefficient between T₀ and T:
//
//   ᾱ = ε_th / (T − T₀) = α(T) + (α(T) − α(T₀)) (T₀ − T_r) / (T − T₀)
//
// The quotient loses digits where T is near T₀, but the product ᾱ (T − T₀) does not.

namespace voussoir {

namespace detail {

/// Coefficients of thermal expansion are the parameters whose names begin with "expansion".
constexpr bool is_expansion(const char* name) {
  const char* const prefix = "expansion";
  for (int i = 0; prefix[i] != '\0'; ++i)
    if (name[i] != prefix[i]) return false;
  return true;
}

template <class K>
constexpr unsigned long long find_expansions() {
  unsigned long long bits = 0;
  if constexpr (parameter_count_of<K>() > 0)
    for (int k = 0; k < parameter_count_of<K>() && k < 64; ++k)
      if (is_expansion(K::parameters[k])) bits |= 1ull << k;
  return bits;
}
/// Bit k is set where parameter k of a kernel is a coefficient of expansion. (A variable, so that no function of the
/// host is called on a device.)
template <class K>
inline constexpr unsigned long long expansion_bits = find_expansions<K>();

}  // namespace detail

/// The parameters of an element of kernel K at temperature t, with the mean coefficients of expansion between the
/// initial temperature and t: such a coefficient times t − initial is the thermal strain.
template <class K, class R, int nodes, int components, int parameter_count>
VSR_FN void parameters_between(const ElementInput<R, nodes, components, parameter_count>& e, R initial, R t, R* out) {
  e.parameters_at(t, out);
  constexpr unsigned long long expansions = detail::expansion_bits<K>;
  if constexpr (expansions != 0) {
    if (e.table_rows <= 1) return;
    const R change = t - initial;
    const R quotient = (initial - R(e.expansion_reference)) / select_less(abs(change), R(1e-300), R(1.0), change);
    for (int k = 0; k < parameter_count && k < 64; ++k)
      if (expansions >> k & 1) out[k] += quotient * (out[k] - e.parameter_at(initial, k));
  }
}

}  // namespace voussoir
