#pragma once
#include <voussoir/elements/kernel/fn.hpp>

// Numbers that kernels compute with. A kernel is a template over its number type R: on a GPU thread R is double; on a
// CPU R is a Pack, the same quantity of several neighbouring elements, one per SIMD lane. The functions below exist for
// both, so that a kernel is independent of it. Conditions on R are written with select_less(), not with if.
//
// A kernel outside namespace voussoir writes voussoir::sqrt(r), or sqrt(r) after `using namespace voussoir;` in its
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

// For double alone, and templates all the same: next to a function of the same name from <math.h>, or a template from
// <algorithm>, a call is then never ambiguous. A program may say `using namespace voussoir;` and sqrt(2.0).
template <class T>
requires detail::is_double<T> VSR_FN T sqrt(T x) { return detail::root(x); }
template <class T>
requires detail::is_double<T> VSR_FN T abs(T x) { return detail::magnitude(x); }
template <class T>
requires detail::is_double<T> VSR_FN T min(const T& a, const T& b) { return a < b ? a : b; }
template <class T>
requires detail::is_double<T> VSR_FN T max(const T& a, const T& b) { return a > b ? a : b; }
/// `a` where x < y, else `b`.
VSR_FN double select_less(double x, double y, double a, double b) { return x < y ? a : b; }

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)

// As wide as one register: compilers keep wider vectors in memory. Width and calling convention depend on the
// instruction set that a file is compiled for. The namespace carries it into the names that the linker sees, so that a
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

/// One double of each of `pack_width` elements. The type has internal meaning only: it never appears in an interface
/// between libraries.
struct Pack {
  typedef double Lanes __attribute__((vector_size(pack_width * sizeof(double))));
  typedef long long Mask __attribute__((vector_size(pack_width * sizeof(double))));
  Lanes v;

  Pack() = default;
  VSR_FN Pack(double x) : v(x - Lanes{}) {}
  VSR_FN explicit Pack(Lanes x) : v(x) {}
  VSR_FN double operator[](int lane) const { return v[lane]; }
  VSR_FN void set(int lane, double x) { v[lane] = x; }

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
};

VSR_FN Pack select_less(Pack x, Pack y, Pack a, Pack b) {
  const Pack::Mask less = x.v < y.v;
  return Pack(less ? a.v : b.v);
}
VSR_FN Pack min(Pack a, Pack b) { return select_less(a, b, a, b); }
VSR_FN Pack max(Pack a, Pack b) { return select_less(a, b, b, a); }
VSR_FN Pack abs(Pack a) { return max(a, -a); }
VSR_FN Pack sqrt(Pack a) {
  Pack r;
  for (int i = 0; i < pack_width; ++i) r.v[i] = __builtin_sqrt(a.v[i]);
  return r;
}

}  // inline namespace

#endif

}  // namespace voussoir
