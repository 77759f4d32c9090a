#pragma once
#include <voussoir/elements/kernel/pack.hpp>

// Elementary functions for the number types of kernels, in addition to those of pack.hpp. A kernel outside namespace
// voussoir calls voussoir::exp(x), or exp(x) after `using namespace voussoir;` in its function.

namespace voussoir {

namespace detail {

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)  // these know the functions of <math.h> in device code
#define VSR_LIBRARY_FN(name) ::name
#else
#define VSR_LIBRARY_FN(name) __builtin_##name
#endif
VSR_FN double library_exp(double x) { return VSR_LIBRARY_FN(exp)(x); }
VSR_FN double library_log(double x) { return VSR_LIBRARY_FN(log)(x); }
VSR_FN double library_sin(double x) { return VSR_LIBRARY_FN(sin)(x); }
VSR_FN double library_cos(double x) { return VSR_LIBRARY_FN(cos)(x); }
VSR_FN double library_tanh(double x) { return VSR_LIBRARY_FN(tanh)(x); }
VSR_FN double library_pow(double x, double exponent) { return VSR_LIBRARY_FN(pow)(x, exponent); }
#undef VSR_LIBRARY_FN

}  // namespace detail

/// Elementary functions of double, the same on CPUs and in device code.
///@{
template <class T>
requires detail::is_double<T> VSR_FN T exp(T x) { return detail::library_exp(x); }
template <class T>
requires detail::is_double<T> VSR_FN T log(T x) { return detail::library_log(x); }
template <class T>
requires detail::is_double<T> VSR_FN T sin(T x) { return detail::library_sin(x); }
template <class T>
requires detail::is_double<T> VSR_FN T cos(T x) { return detail::library_cos(x); }
template <class T>
requires detail::is_double<T> VSR_FN T tanh(T x) { return detail::library_tanh(x); }
template <class T>
requires detail::is_double<T> VSR_FN T pow(T x, double exponent) { return detail::library_pow(x, exponent); }
///@}

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)

namespace detail {

template <class Function>
VSR_FN Pack lane_by_lane(Pack x, const Function& function) {
  Pack r;
  for (int i = 0; i < pack_width; ++i) r.v[i] = function(x.v[i]);
  return r;
}

}  // namespace detail

/// Elementary functions, lane by lane.
///@{
VSR_FN Pack exp(Pack x) { return detail::lane_by_lane(x, detail::library_exp); }
VSR_FN Pack log(Pack x) { return detail::lane_by_lane(x, detail::library_log); }
VSR_FN Pack sin(Pack x) { return detail::lane_by_lane(x, detail::library_sin); }
VSR_FN Pack cos(Pack x) { return detail::lane_by_lane(x, detail::library_cos); }
VSR_FN Pack tanh(Pack x) { return detail::lane_by_lane(x, detail::library_tanh); }
VSR_FN Pack pow(Pack x, double exponent) {
  return detail::lane_by_lane(x, [exponent](double lane) { return detail::library_pow(lane, exponent); });
}
///@}

#endif

}  // namespace voussoir
