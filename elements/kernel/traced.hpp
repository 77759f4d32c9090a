#pragma once
#include <voussoir/elements/kernel/dual.hpp>

// Numbers that a law is run with to learn about the law (elements/law_dependence.hpp), not to compute anything. Like
// dual numbers they are declared before any law, which may call voussoir::sqrt(R) for them.

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)

namespace voussoir {

/// @cond

/// What a number may depend on, as bits; parameters and constants count for nothing.
struct Origin {
  static constexpr unsigned none = 0, gradient = 1, value = 2, position = 4, temperature = 8, time = 16, history = 32;
};

/// A number that is only its origin. The derivative of a constant is exactly zero (zero_of()) and stays so in products.
struct Traced {
  unsigned from = Origin::none;
  bool zero = false;

  /// What comparisons depended on: a step has no slope on either side, yet it is one.
  inline static thread_local unsigned decided = Origin::none;

  Traced() = default;
  /// A constant, whatever its value: it may be another one when the law is used.
  VSR_FN Traced(double) {}
  VSR_FN static Traced of(unsigned origin) {
    Traced r;
    r.from = origin;
    return r;
  }
  VSR_FN static Traced join(const Traced& a, const Traced& b) { return of(a.from | b.from); }
  VSR_FN static Traced make_zero() {
    Traced r;
    r.zero = true;
    return r;
  }

  friend VSR_FN Traced operator+(const Traced& a, const Traced& b) { return a.zero ? b : b.zero ? a : join(a, b); }
  friend VSR_FN Traced operator-(const Traced& a, const Traced& b) { return a + b; }
  friend VSR_FN Traced operator*(const Traced& a, const Traced& b) {
    return a.zero || b.zero ? make_zero() : join(a, b);
  }
  friend VSR_FN Traced operator/(const Traced& a, const Traced& b) { return a.zero ? a : join(a, b); }
  friend VSR_FN Traced operator-(const Traced& a) { return a; }
  VSR_FN Traced& operator+=(const Traced& b) { return *this = *this + b; }
  VSR_FN Traced& operator-=(const Traced& b) { return *this = *this - b; }
  VSR_FN Traced& operator*=(const Traced& b) { return *this = *this * b; }
  VSR_FN Traced& operator/=(const Traced& b) { return *this = *this / b; }
};

VSR_FN Traced select_less(const Traced& x, const Traced& y, const Traced& a, const Traced& b) {
  Traced::decided |= x.from | y.from;
  if (a.zero && b.zero) return a;
  return Traced::of(x.from | y.from | a.from | b.from);
}
VSR_FN Traced min(const Traced& a, const Traced& b) { return select_less(a, b, a, b); }
VSR_FN Traced max(const Traced& a, const Traced& b) { return select_less(a, b, b, a); }
VSR_FN Traced abs(const Traced& a) { return select_less(a, a, a, a); }
VSR_FN Traced sqrt(const Traced& a) { return a; }
// Of zero these are not zero, or are not known to be.
VSR_FN Traced exp(const Traced& a) { return Traced::of(a.from); }
VSR_FN Traced log(const Traced& a) { return Traced::of(a.from); }
VSR_FN Traced sin(const Traced& a) { return Traced::of(a.from); }
VSR_FN Traced cos(const Traced& a) { return Traced::of(a.from); }
VSR_FN Traced tanh(const Traced& a) { return Traced::of(a.from); }
VSR_FN Traced pow(const Traced& a, double) { return Traced::of(a.from); }

/// A number that counts what is done with it.
struct Counted {
  double v = 0;
  inline static thread_local int operations = 0;
  inline static thread_local bool compared = false;
  Counted() = default;
  VSR_FN Counted(double x) : v(x) {}
  VSR_FN static Counted result(double x) {
    ++operations;
    return Counted(x);
  }
  friend VSR_FN Counted operator+(const Counted&, const Counted&) { return result(1.0); }
  friend VSR_FN Counted operator-(const Counted&, const Counted&) { return result(1.0); }
  friend VSR_FN Counted operator*(const Counted&, const Counted&) { return result(1.0); }
  friend VSR_FN Counted operator/(const Counted&, const Counted&) { return result(1.0); }
  friend VSR_FN Counted operator-(const Counted&) { return result(1.0); }
  VSR_FN Counted& operator+=(const Counted& b) { return *this = *this + b; }
  VSR_FN Counted& operator-=(const Counted& b) { return *this = *this - b; }
  VSR_FN Counted& operator*=(const Counted& b) { return *this = *this * b; }
  VSR_FN Counted& operator/=(const Counted& b) { return *this = *this / b; }
};
VSR_FN Counted select_less(const Counted&, const Counted&, const Counted&, const Counted&) {
  Counted::compared = true;
  return Counted::result(1.0);
}
VSR_FN Counted min(const Counted& a, const Counted& b) { return select_less(a, b, a, b); }
VSR_FN Counted max(const Counted& a, const Counted& b) { return select_less(a, b, b, a); }
VSR_FN Counted abs(const Counted& a) { return max(a, -a); }
VSR_FN Counted sqrt(const Counted&) { return Counted::result(1.0); }
VSR_FN Counted exp(const Counted&) { return Counted::result(1.0); }
VSR_FN Counted log(const Counted&) { return Counted::result(1.0); }
VSR_FN Counted sin(const Counted&) { return Counted::result(1.0); }
VSR_FN Counted cos(const Counted&) { return Counted::result(1.0); }
VSR_FN Counted tanh(const Counted&) { return Counted::result(1.0); }
VSR_FN Counted pow(const Counted&, double) { return Counted::result(1.0); }

namespace detail {

template <>
struct ZeroOf<Traced> {
  VSR_FN static Traced make() { return Traced::make_zero(); }
};

}  // namespace detail

/// @endcond

}  // namespace voussoir

#endif
