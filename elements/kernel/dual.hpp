#pragma once
#include <voussoir/elements/kernel/math.hpp>

// Dual numbers, for automatic differentiation: a value with its derivatives along n directions. A law that is a
// template over its number type is differentiated by calling it with Dual<R> instead of R; dual numbers of dual numbers
// give second derivatives. The result is exact up to rounding: there is no step size and no truncation error.

namespace voussoir {

namespace detail {

/// The derivative of a constant.
template <class R>
struct ZeroOf {
  VSR_FN static R make() { return R(0.0); }
};

}  // namespace detail

/// A number with n derivatives.
template <class R, int n = 1>
struct Dual {
  R v;     ///< value
  R d[n];  ///< derivatives

  Dual() = default;
  /// A constant: its derivatives are zero.
  VSR_FN Dual(double x) : v(x) { clear(); }
  /// A constant: its derivatives are zero.
  VSR_FN Dual(const R& x) requires(!detail::is_double<R>) : v(x) { clear(); }
  /// Sets all derivatives to zero.
  VSR_FN void clear() {
    for (int i = 0; i < n; ++i) d[i] = detail::ZeroOf<R>::make();
  }

  /// Arithmetic, with derivatives by the rules for sums, products and quotients.
  ///@{
  friend VSR_FN Dual operator+(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v + b.v;
    for (int i = 0; i < n; ++i) r.d[i] = a.d[i] + b.d[i];
    return r;
  }
  friend VSR_FN Dual operator-(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v - b.v;
    for (int i = 0; i < n; ++i) r.d[i] = a.d[i] - b.d[i];
    return r;
  }
  friend VSR_FN Dual operator*(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v * b.v;
    for (int i = 0; i < n; ++i) r.d[i] = a.d[i] * b.v + a.v * b.d[i];
    return r;
  }
  friend VSR_FN Dual operator/(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v / b.v;
    for (int i = 0; i < n; ++i) r.d[i] = (a.d[i] - r.v * b.d[i]) / b.v;
    return r;
  }
  friend VSR_FN Dual operator-(const Dual& a) {
    Dual r;
    r.v = -a.v;
    for (int i = 0; i < n; ++i) r.d[i] = -a.d[i];
    return r;
  }
  VSR_FN Dual& operator+=(const Dual& b) { return *this = *this + b; }
  VSR_FN Dual& operator-=(const Dual& b) { return *this = *this - b; }
  VSR_FN Dual& operator*=(const Dual& b) { return *this = *this * b; }
  VSR_FN Dual& operator/=(const Dual& b) { return *this = *this / b; }
  ///@}

  /// Comparison of values, for laws with branches (static constexpr bool scalar = true).
  ///@{
  friend VSR_FN bool operator<(const Dual& a, const Dual& b) { return a.v < b.v; }
  friend VSR_FN bool operator>(const Dual& a, const Dual& b) { return b.v < a.v; }
  friend VSR_FN bool operator<=(const Dual& a, const Dual& b) { return !(b.v < a.v); }
  friend VSR_FN bool operator>=(const Dual& a, const Dual& b) { return !(a.v < b.v); }
  ///@}
};

namespace detail {

template <class R, int n>
struct ZeroOf<Dual<R, n>> {
  VSR_FN static Dual<R, n> make() {
    Dual<R, n> zero;
    zero.v = ZeroOf<R>::make();
    zero.clear();
    return zero;
  }
};

/// The number without derivatives.
template <class R>
VSR_FN R base_value(const R& x) {
  return x;
}
template <class R, int n>
VSR_FN auto base_value(const Dual<R, n>& x) {
  return base_value(x.v);
}

/// `a` where x < y, else `b`, with all derivatives.
template <class P, class R>
VSR_FN R choose_less(const P& x, const P& y, const R& a, const R& b) {
  return select_less(x, y, a, b);
}
template <class P, class R, int n>
VSR_FN Dual<R, n> choose_less(const P& x, const P& y, const Dual<R, n>& a, const Dual<R, n>& b) {
  Dual<R, n> r;
  r.v = choose_less(x, y, a.v, b.v);
  for (int i = 0; i < n; ++i) r.d[i] = choose_less(x, y, a.d[i], b.d[i]);
  return r;
}

/// A function of x from its value and its slope.
template <class R, int n>
VSR_FN Dual<R, n> chain(const Dual<R, n>& x, const R& value, const R& slope) {
  Dual<R, n> r;
  r.v = value;
  for (int i = 0; i < n; ++i) r.d[i] = slope * x.d[i];
  return r;
}

}  // namespace detail

/// `a` where x < y, else `b`, with all derivatives.
template <class R, int n>
VSR_FN Dual<R, n> select_less(const Dual<R, n>& x, const Dual<R, n>& y, const Dual<R, n>& a, const Dual<R, n>& b) {
  return detail::choose_less(detail::base_value(x), detail::base_value(y), a, b);
}
/// The smaller of two numbers, with its derivatives.
template <class R, int n>
VSR_FN Dual<R, n> min(const Dual<R, n>& a, const Dual<R, n>& b) {
  return select_less(a, b, a, b);
}
/// The larger of two numbers, with its derivatives.
template <class R, int n>
VSR_FN Dual<R, n> max(const Dual<R, n>& a, const Dual<R, n>& b) {
  return select_less(a, b, b, a);
}
/// |a|, with its derivatives; at zero, those of one side.
template <class R, int n>
VSR_FN Dual<R, n> abs(const Dual<R, n>& a) {
  return max(a, -a);
}
/// √a. At zero, where the slope is infinite, the derivatives are set to zero, so that the gradient of a norm at the
/// origin is zero and not NaN.
template <class R, int n>
VSR_FN Dual<R, n> sqrt(const Dual<R, n>& a) {
  const R root = sqrt(a.v);
  const auto zero = detail::base_value(R(0.0));
  return detail::chain(a, root, detail::choose_less(zero, detail::base_value(root), R(0.5) / root, R(0.0)));
}
/// Elementary functions by the chain rule.
///@{
template <class R, int n>
VSR_FN Dual<R, n> exp(const Dual<R, n>& a) {
  const R value = exp(a.v);
  return detail::chain(a, value, value);
}
template <class R, int n>
VSR_FN Dual<R, n> log(const Dual<R, n>& a) {
  return detail::chain(a, R(log(a.v)), R(1.0) / a.v);
}
template <class R, int n>
VSR_FN Dual<R, n> sin(const Dual<R, n>& a) {
  return detail::chain(a, R(sin(a.v)), R(cos(a.v)));
}
template <class R, int n>
VSR_FN Dual<R, n> cos(const Dual<R, n>& a) {
  return detail::chain(a, R(cos(a.v)), -R(sin(a.v)));
}
template <class R, int n>
VSR_FN Dual<R, n> tanh(const Dual<R, n>& a) {
  const R value = tanh(a.v);
  return detail::chain(a, value, R(1.0) - value * value);
}
template <class R, int n>
VSR_FN Dual<R, n> pow(const Dual<R, n>& a, double exponent) {
  return detail::chain(a, R(pow(a.v, exponent)), R(exponent) * R(pow(a.v, exponent - 1)));
}
///@}

}  // namespace voussoir
