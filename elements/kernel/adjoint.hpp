#pragma once
#include <voussoir/elements/kernel/dual.hpp>

// Numbers for reverse differentiation: a function of many variables is run once, what it does is written to a tape, and
// all its derivatives follow from one pass over the tape backwards. Dual numbers would run it with every derivative in
// each operation. Where loops are unrolled and functions inlined, as compilers for GPUs do, places on the tape are
// constants: the tape is gone, and what remains is the code of a derivative written by hand.

namespace voussoir::detail {

/// What a function did with its variables: operation n has the value's change with its (at most two) operands. -1: not
/// a variable.
template <class S, int capacity>
struct Tape {
  S slope[capacity][2];
  int operand[capacity][2];
  int size = 0;

  /// The derivatives of the result of operation `result` with respect to the first `count` variables. Not a number
  /// where the tape was too short.
  template <int count>
  VSR_FN void differentiate(int result, S (&derivative)[count]) const {
    S adjoint[capacity];
    VSR_ALL_UNROLLED
    for (int n = 0; n < capacity; ++n) adjoint[n] = S(n == result ? 1.0 : 0.0);
    VSR_ALL_UNROLLED
    for (int n = capacity - 1; n >= 0; --n)
      if (n < size) {
        if (operand[n][0] >= 0) adjoint[operand[n][0]] += slope[n][0] * adjoint[n];
        if (operand[n][1] >= 0) adjoint[operand[n][1]] += slope[n][1] * adjoint[n];
      }
    const S sound = S(size <= capacity ? 0.0 : not_a_number());
    VSR_ALL_UNROLLED
    for (int i = 0; i < count; ++i) derivative[i] = adjoint[i] + sound;
  }

 private:
  VSR_FN static double not_a_number() {
    double zero = 0;
    return zero / zero;
  }
};

}  // namespace voussoir::detail

namespace voussoir {

/// A number whose operations are written to a tape of `capacity` operations. Constants have none.
template <class S, int capacity>
struct Adjoint {
  using Tape = detail::Tape<S, capacity>;  ///< what a function did with its variables
  S v;                                     ///< value
  int place;                               ///< on the tape; -1: a constant
  Tape* tape;                              ///< null: a constant

  Adjoint() = default;
  /// A constant.
  VSR_FN Adjoint(double x) : v(x), place(-1), tape(nullptr) {}
  /// A constant.
  VSR_FN Adjoint(const S& x) requires(!detail::is_double<S>) : v(x), place(-1), tape(nullptr) {}
  /// A variable: the next on the tape.
  VSR_FN static Adjoint variable(const S& x, Tape& tape) { return make(&tape, x, -1, S(0.0), -1, S(0.0)); }

  /// Writes an operation with the slopes of its operands.
  VSR_FN static Adjoint make(Tape* tape, const S& v, int a, const S& slope_a, int b, const S& slope_b) {
    Adjoint r;
    r.v = v;
    r.tape = tape;
    r.place = -1;
    if (tape) {
      const int n = tape->size++;
      r.place = n;
      tape->slope[n][0] = slope_a;
      tape->slope[n][1] = slope_b;
      tape->operand[n][0] = a;
      tape->operand[n][1] = b;
    }
    return r;
  }
  /// A function of one number, by its value and slope.
  VSR_FN static Adjoint of(const Adjoint& a, const S& v, const S& slope) {
    return make(a.tape, v, a.place, slope, -1, S(0.0));
  }

  /// Arithmetic.
  ///@{
  friend VSR_FN Adjoint operator+(const Adjoint& a, const Adjoint& b) {
    return make(tape_of(a, b), a.v + b.v, a.place, S(1.0), b.place, S(1.0));
  }
  friend VSR_FN Adjoint operator-(const Adjoint& a, const Adjoint& b) {
    return make(tape_of(a, b), a.v - b.v, a.place, S(1.0), b.place, S(-1.0));
  }
  friend VSR_FN Adjoint operator*(const Adjoint& a, const Adjoint& b) {
    return make(tape_of(a, b), a.v * b.v, a.place, b.v, b.place, a.v);
  }
  friend VSR_FN Adjoint operator/(const Adjoint& a, const Adjoint& b) {
    const S inverse = S(1.0) / b.v, quotient = a.v * inverse;
    return make(tape_of(a, b), quotient, a.place, inverse, b.place, -(quotient * inverse));
  }
  friend VSR_FN Adjoint operator-(const Adjoint& a) { return of(a, -a.v, S(-1.0)); }
  VSR_FN Adjoint& operator+=(const Adjoint& b) { return *this = *this + b; }
  VSR_FN Adjoint& operator-=(const Adjoint& b) { return *this = *this - b; }
  VSR_FN Adjoint& operator*=(const Adjoint& b) { return *this = *this * b; }
  VSR_FN Adjoint& operator/=(const Adjoint& b) { return *this = *this / b; }
  ///@}
  /// Comparison of values, for laws with branches (static constexpr bool scalar = true).
  ///@{
  friend VSR_FN bool operator<(const Adjoint& a, const Adjoint& b) { return a.v < b.v; }
  friend VSR_FN bool operator>(const Adjoint& a, const Adjoint& b) { return b.v < a.v; }
  friend VSR_FN bool operator<=(const Adjoint& a, const Adjoint& b) { return !(b.v < a.v); }
  friend VSR_FN bool operator>=(const Adjoint& a, const Adjoint& b) { return !(a.v < b.v); }
  ///@}
  /// The tape of either; null: both are constants.
  VSR_FN static Tape* tape_of(const Adjoint& a, const Adjoint& b) { return a.tape ? a.tape : b.tape; }
};

/// Functions as for dual numbers (dual.hpp).
///@{
template <class S, int n>
VSR_FN Adjoint<S, n> select_less(const Adjoint<S, n>& x, const Adjoint<S, n>& y, const Adjoint<S, n>& a,
                                 const Adjoint<S, n>& b) {
  return Adjoint<S, n>::make(Adjoint<S, n>::tape_of(a, b), select_less(x.v, y.v, a.v, b.v), a.place,
                             select_less(x.v, y.v, S(1.0), S(0.0)), b.place, select_less(x.v, y.v, S(0.0), S(1.0)));
}
template <class S, int n>
VSR_FN Adjoint<S, n> min(const Adjoint<S, n>& a, const Adjoint<S, n>& b) {
  return select_less(a, b, a, b);
}
template <class S, int n>
VSR_FN Adjoint<S, n> max(const Adjoint<S, n>& a, const Adjoint<S, n>& b) {
  return select_less(a, b, b, a);
}
template <class S, int n>
VSR_FN Adjoint<S, n> abs(const Adjoint<S, n>& a) {
  return max(a, -a);
}
template <class S, int n>
VSR_FN Adjoint<S, n> sqrt(const Adjoint<S, n>& a) {
  const S root = sqrt(a.v);
  const auto zero = detail::base_value(S(0.0));
  return Adjoint<S, n>::of(a, root, detail::choose_less(zero, detail::base_value(root), S(0.5) / root, S(0.0)));
}
template <class S, int n>
VSR_FN Adjoint<S, n> exp(const Adjoint<S, n>& a) {
  const S value = exp(a.v);
  return Adjoint<S, n>::of(a, value, value);
}
template <class S, int n>
VSR_FN Adjoint<S, n> log(const Adjoint<S, n>& a) {
  return Adjoint<S, n>::of(a, S(log(a.v)), S(1.0) / a.v);
}
template <class S, int n>
VSR_FN Adjoint<S, n> sin(const Adjoint<S, n>& a) {
  return Adjoint<S, n>::of(a, S(sin(a.v)), S(cos(a.v)));
}
template <class S, int n>
VSR_FN Adjoint<S, n> cos(const Adjoint<S, n>& a) {
  return Adjoint<S, n>::of(a, S(cos(a.v)), -S(sin(a.v)));
}
template <class S, int n>
VSR_FN Adjoint<S, n> tanh(const Adjoint<S, n>& a) {
  const S value = tanh(a.v);
  return Adjoint<S, n>::of(a, value, S(1.0) - value * value);
}
template <class S, int n>
VSR_FN Adjoint<S, n> pow(const Adjoint<S, n>& a, double exponent) {
  return Adjoint<S, n>::of(a, S(pow(a.v, exponent)), S(exponent) * S(pow(a.v, exponent - 1)));
}
///@}

}  // namespace voussoir
