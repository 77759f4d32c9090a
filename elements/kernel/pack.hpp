#pragma once
#include <voussoir/elements/kernel/fn.hpp>

// The number types of kernels. A kernel is a template over its number type R: in a GPU thread R is double; on a CPU R
// is a Pack, the same quantity of several neighbouring elements, one per SIMD lane. The functions below exist for both,
// so that one source serves both. Conditions on R are written with select_less(), not with if.
//
// A kernel outside namespace voussoir calls voussoir::sqrt(r), or sqrt(r) after `using namespace voussoir;` in its
// function. Both arguments of a function are of type R: max(x, R(0.0)).

namespace voussoir {

namespace detail {

template <class T>
inline constexpr bool is_double = false;
template <>
inline constexpr bool is_double<double> = true;

#if defined(__CUDACC_RTC__)  // has the functions of <math.h>, and not the compiler's own ones
VSR_FN double root(double x) { return ::sqrt(x); }
VSR_FN double magnitude(double x) { return ::fabs(x); }
#else
VSR_FN double root(double x) { return __builtin_sqrt(x); }
VSR_FN double magnitude(double x) { return __builtin_fabs(x); }
#endif

}  // namespace detail

// These are templates although they exist only for double: next to functions of the same name from <math.h>, or
// templates from <algorithm>, a call is then never ambiguous, even with `using namespace voussoir;`.

/// Square root, absolute value, minimum and maximum of double, the same on CPUs and in device code.
///@{
template <class T>
requires detail::is_double<T> VSR_FN T sqrt(T x) { return detail::root(x); }
template <class T>
requires detail::is_double<T> VSR_FN T abs(T x) { return detail::magnitude(x); }
template <class T>
requires detail::is_double<T> VSR_FN T min(const T& a, const T& b) { return a < b ? a : b; }
template <class T>
requires detail::is_double<T> VSR_FN T max(const T& a, const T& b) { return a > b ? a : b; }
///@}
/// `a` where x < y, else `b`.
VSR_FN double select_less(double x, double y, double a, double b) { return x < y ? a : b; }

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)

// A pack is as wide as one register, since compilers keep wider vectors in memory. Width and calling convention depend
// on the instruction set that a file is compiled for. The inline namespace makes it part of the symbol names, so that a
// library and a program compiled for different processors do not mix their instances of one template.
#if defined(__AVX512F__)
inline namespace pack8_avx512 {
inline constexpr int pack_width = 8;
#elif defined(__AVX__)
inline namespace pack4_avx {
inline constexpr int pack_width = 4;
#else
inline namespace pack2 {
inline constexpr int pack_width = 2;
#endif

/// One double of each of `pack_width` elements, in a SIMD register. Never part of an interface between libraries, since
/// its size depends on the instruction set.
struct Pack {
  /// The vector type of the compiler.
  typedef double Lanes __attribute__((vector_size(pack_width * sizeof(double))));
  /// The result of a comparison: all bits of a lane set or none.
  typedef long long Mask __attribute__((vector_size(pack_width * sizeof(double))));
  Lanes v;  ///< the numbers, one per lane

  Pack() = default;
  /// The same number in all lanes.
  VSR_FN Pack(double x) : v(x - Lanes{}) {}
  /// The given lanes.
  VSR_FN explicit Pack(Lanes x) : v(x) {}
  VSR_FN double operator[](int lane) const { return v[lane]; }  ///< the number in a lane
  VSR_FN void set(int lane, double x) { v[lane] = x; }          ///< changes the number in a lane

  /// Arithmetic, lane by lane.
  ///@{
  friend VSR_FN Pack operator+(Pack a, Pack b) { return Pack(a.v + b.v); }
  friend VSR_FN Pack operator-(Pack a, Pack b) { return Pack(a.v - b.v); }
  friend VSR_FN Pack operator*(Pack a, Pack b) { return Pack(a.v * b.v); }
  friend VSR_FN Pack operator/(Pack a, Pack b) { return Pack(a.v / b.v); }
  friend VSR_FN Pack operator-(Pack a) { return Pack(-a.v); }
  VSR_FN Pack& operator+=(Pack b) {
    v += b.v;
    return *this;
  }
  VSR_FN Pack& operator-=(Pack b) {
    v -= b.v;
    return *this;
  }
  VSR_FN Pack& operator*=(Pack b) {
    v *= b.v;
    return *this;
  }
  VSR_FN Pack& operator/=(Pack b) {
    v /= b.v;
    return *this;
  }
  ///@}
};

/// `a` in the lanes where x < y, `b` in the others.
VSR_FN Pack select_less(Pack x, Pack y, Pack a, Pack b) {
  const Pack::Mask less = x.v < y.v;
  return Pack(less ? a.v : b.v);
}
/// Minimum, maximum, absolute value and square root, lane by lane.
///@{
VSR_FN Pack min(Pack a, Pack b) { return select_less(a, b, a, b); }
VSR_FN Pack max(Pack a, Pack b) { return select_less(a, b, b, a); }
VSR_FN Pack abs(Pack a) { return max(a, -a); }
VSR_FN Pack sqrt(Pack a) {
  Pack r;
  for (int i = 0; i < pack_width; ++i) r.v[i] = __builtin_sqrt(a.v[i]);
  return r;
}
///@}

}  // inline namespace

#endif

}  // namespace voussoir
