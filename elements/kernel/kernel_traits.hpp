#pragma once
#include <voussoir/elements/kernel/fn.hpp>

// The traits of a kernel and their defaults. The interfaces are documented in element_kernel.hpp and
// point_kernel.hpp.

namespace voussoir {

namespace detail {

template <class K>
VSR_FN constexpr int parameter_count_of() {
  if constexpr (requires { int(K::parameter_count); })
    return K::parameter_count;
  else if constexpr (requires { K::parameters[0]; })
    return static_cast<int>(sizeof(K::parameters) / sizeof(K::parameters[0]));
  else
    return 0;
}

template <class K>
VSR_FN constexpr int recovered_count_of() {
  if constexpr (requires { int(K::recovered_count); })
    return K::recovered_count;
  else if constexpr (requires { K::recovered[0]; })
    return static_cast<int>(sizeof(K::recovered) / sizeof(K::recovered[0]));
  else
    return 0;
}

template <class K>
VSR_FN constexpr bool scalar_of() {
  if constexpr (requires { bool(K::scalar); })
    return K::scalar;
  else
    return false;
}

template <class K>
VSR_FN constexpr bool linear_of() {
  if constexpr (requires { bool(K::linear); })
    return K::linear;
  else
    return false;
}

template <class K>
VSR_FN constexpr int gradient_rows_of() {
  if constexpr (requires { int(K::gradient_rows); })
    return K::gradient_rows;
  else
    return K::components;
}

/// Whether a kernel may read the temperature itself: yes, unless it declares that it does not.
template <class K>
VSR_FN constexpr bool reads_temperature_of() {
  if constexpr (requires { bool(K::reads_temperature); })
    return K::reads_temperature;
  else
    return true;
}

/// Numbers of history that a kernel names: of a law, per point; of an element kernel, per element.
template <class K>
VSR_FN constexpr int history_numbers_of() {
  if constexpr (requires { int(K::history_count); })
    return K::history_count;
  else if constexpr (requires { K::history[0]; })
    return static_cast<int>(sizeof(K::history) / sizeof(K::history[0]));
  else
    return 0;
}

/// Whether the tangent is symmetric: yes, unless the kernel declares that it is not.
template <class K>
VSR_FN constexpr bool symmetric_tangent_of() {
  if constexpr (requires { bool(K::symmetric); })
    return K::symmetric;
  else
    return true;
}

/// A load or a mass declares that it has no tangent.
template <class K>
VSR_FN constexpr bool declares_no_tangent() {
  if constexpr (requires { bool(K::has_tangent); })
    return !K::has_tangent;
  else
    return false;
}

}  // namespace detail

}  // namespace voussoir
