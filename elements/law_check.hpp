#pragma once
#include <voussoir/elements/kernel_concepts.hpp>
#include <voussoir/elements/point/formulation.hpp>

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

// What a point kernel must not do, found by running it: reading or writing numbers that are not its own, and reading
// the temperature where it says that it does not. Done once for a law, before a model is built with it, so that kernels
// themselves need no checks.

namespace voussoir::detail {

/// Runs the functions of a law on parameters and constants that stand between guard numbers. What a function returns
/// depends on a guard only if the function reads it.
template <class Law, int parameter_count>
class LawProbe {
  using R = NumberOf<Law>;
  static constexpr int constant_count = kernel_constants<Law>(), rows = kernel_rows<Law>();
  static constexpr int guards = 64;  // on each side
  using Gradient = Mat<R, rows, 3>;

 public:
  /// The first defect found, in a sentence; empty where there is none.
  static std::string find() {
    for (int variant = 0; variant < 3; ++variant) {
      LawProbe probe(variant);
      for (const char* name : {"prepare", "valid", "flux", "dflux", "density", "energy", "strain", "pair_block"}) {
        const std::string function = name;
        if (std::string text = probe.foreign_parameter(function); !text.empty()) return text;
        if (std::string text = probe.foreign_constant(function); !text.empty()) return text;
        if (std::string text = probe.hidden_temperature(function); !text.empty()) return text;
      }
    }
    return {};
  }

 private:
  explicit LawProbe(int variant)
      : parameters_(2 * guards + parameter_count, R(quiet_)), constants_(2 * guards + constant_count, R(quiet_)) {
    // Numbers of no special ratio, so that nothing cancels.
    const double low[] = {0.23, 1.7, 0.011};
    for (int k = 0; k < parameter_count; ++k) parameters_[guards + k] = R(low[variant] * (1 + 0.173 * k));
    gradient_ = zero_matrix<R, rows, 3>();
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < 3; ++j) {
        gradient_(i, j) = R((variant + 1) * (0.31 + 0.17 * i - 0.23 * j));
        other_(i, j) = R(0.7 - 0.11 * i + 0.29 * j);
      }
  }

  Point<R> point(double temperature) const {
    Point<R> p;
    for (int i = 0; i < 3; ++i) p.x[i] = R(0.4 + 0.3 * i);
    p.parameters = parameters_.data() + guards;
    p.constants = constants_.data() + guards;
    p.temperature = R(temperature);
    p.temperature_change = R(11.0);
    return p;
  }

  template <class Value>
  static void append(const Value& value, std::vector<double>& out) {
    const std::size_t count = sizeof(Value) / sizeof(double), at = out.size();
    out.resize(at + count);
    std::memcpy(out.data() + at, &value, count * sizeof(double));
  }

  /// All numbers that a function gives; none where the law does not have it.
  std::vector<double> run(const std::string& function, double temperature = 300) {
    std::vector<double> out;
    if constexpr (constant_count > 0) {
      R* const own = constants_.data() + guards;
      for (int k = 0; k < constant_count; ++k) own[k] = R(0.0);
      Law::prepare(static_cast<const R*>(parameters_.data() + guards), own);
      if (function == "prepare")
        for (int k = 0; k < constant_count; ++k) append(own[k], out);
    }
    const Point<R> p = point(temperature);
    if constexpr (requires { Law::valid(p.parameters); })
      if (function == "valid") append(R(Law::valid(p.parameters)), out);
    if (function == "flux") append(Gradient(Law::flux(p, gradient_)), out);
    if (function == "dflux") append(Gradient(Law::dflux(p, gradient_, other_)), out);
    if constexpr (requires { Law::density(p); })
      if (function == "density") append(R(Law::density(p)), out);
    if constexpr (requires { Law::energy(p, gradient_); })
      if (function == "energy") append(R(Law::energy(p, gradient_)), out);
    if constexpr (requires { Law::strain(p, gradient_); })
      if (function == "strain") append(Law::strain(p, gradient_), out);
    if constexpr (requires(const Mat3<R>& outer) { Law::pair_block(p, outer); })
      if (function == "pair_block") {
        Mat3<R> outer;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) outer(i, j) = R(0.2 + 0.3 * i - 0.1 * j);
        append(Law::pair_block(p, outer), out);
      }
    return out;
  }

  static bool same(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
  }

  /// The number, counted as the law counts, that a function reads of `numbers` although it is not one of `count`.
  std::optional<int> foreign_read(const std::string& function, std::vector<R>& numbers, int count) {
    const std::vector<double> silent = run(function);
    const auto differs = [&](int first, int last, double value) {
      const auto write = [&](double x) {
        for (int k = first; k < last; ++k)
          if (k < guards || k >= guards + count) numbers[k] = R(x);
      };
      write(value);
      const bool different = !same(silent, run(function));
      write(quiet_);
      return different;
    };
    const int size = 2 * guards + count;
    for (const double value : {__builtin_nan(""), -37.0, 1e30}) {
      if (!differs(0, size, value)) continue;
      for (int k = 0; k < size; ++k)  // twice, since a function that leaves numbers unwritten returns anything
        if (differs(k, k + 1, value) && same(silent, run(function)) && differs(k, k + 1, value)) return k - guards;
    }
    return {};
  }

  std::string foreign_parameter(const std::string& function) {
    const std::optional<int> index = foreign_read(function, parameters_, parameter_count);
    if (!index) return {};
    return function + "() of law '" + Law::name + "' reads parameter p[" + std::to_string(*index) + "], but " +
           (parameter_count == 0   ? std::string("the law names none")
            : parameter_count == 1 ? std::string("the law has p[0] alone")
                                   : "the law has p[0] to p[" + std::to_string(parameter_count - 1) + "]") +
           "; name it in parameters[], or correct the index";
  }

  std::string foreign_constant(const std::string& function) {
    if constexpr (constant_count > 0) {
      if (function == "prepare") {
        run(function);
        const double quiet = quiet_;
        for (int k = 0; k < static_cast<int>(constants_.size()); ++k) {
          if (k >= guards && k < guards + constant_count) continue;
          if (std::memcmp(&constants_[k], &quiet, sizeof quiet) == 0) continue;
          constants_[k] = R(quiet_);
          return constant_text("prepare() of law '", "' writes constant ", k - guards);
        }
      }
      if (const auto index = foreign_read(function, constants_, constant_count))
        return constant_text(function + "() of law '", "' reads constant ", *index);
    }
    return {};
  }
  static std::string constant_text(const std::string& before, const char* verb, int index) {
    return before + Law::name + verb + std::to_string(index) + ", but the law says that it has " +
           std::to_string(constant_count) + "; correct 'constants' or the index";
  }

  std::string hidden_temperature(const std::string& function) {
    if constexpr (!reads_temperature_of<Law>())
      for (const double temperature : {-400.0, 0.0, 20.0, 1500.0})
        if (!same(run(function), run(function, temperature)))
          return function + "() of law '" + Law::name +
                 "' reads p.temperature, but the law says reads_temperature = false; take that away";
    return {};
  }

  static constexpr double quiet_ = 0.617;
  std::vector<R> parameters_, constants_;
  Gradient gradient_, other_;
};

/// What is wrong with a law, found once. `parameter_count` has the thickness of a plane element in it.
template <class Law, int parameter_count>
const std::string& law_defect() {
  static const std::string text = LawProbe<Law, parameter_count>::find();
  return text;
}

}  // namespace voussoir::detail
