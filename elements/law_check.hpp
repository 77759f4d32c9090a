#pragma once
#include <voussoir/elements/kernel_concepts.hpp>
#include <voussoir/elements/point/formulation.hpp>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

// Checks of a point kernel by running it: it must not read or write numbers that are not its own, nor read the
// temperature if it declares that it does not. They run once per law, before a model is built with it, so that kernels
// themselves need no checks. Only run_law() depends on the law; the checks are in law_check.cpp.

namespace voussoir::detail {

enum class LawFunction { prepare, valid, flux, source, dflux, density, energy, strain, pair_block, advance };

/// One run of a function of a law on parameters and constants that stand between guard numbers.
struct LawRun {
  static constexpr int guards = 2100;  ///< on each side

  LawFunction function = LawFunction::prepare;
  int variant = 0;  ///< of the gradients
  static constexpr int variants = 6;
  /// Of gradients and values: ordinary ones, and some that reach what a law keeps for large strain.
  double scale() const { return variant < 3 ? variant + 1.0 : variant == 3 ? 300.0 : variant == 4 ? -40.0 : 1e-3; }
  double temperature = 300;
  std::vector<double> parameters;
  std::vector<double> constants;  ///< prepare() writes them
  std::vector<double> result;     ///< all numbers that the function gives; none where the law does not have it

  template <class Value>
  void add(const Value& value) {
    const std::size_t count = sizeof(Value) / sizeof(double), at = result.size();
    result.resize(at + count);
    std::memcpy(result.data() + at, &value, count * sizeof(double));
  }
};

/// Calls the function selected by LawRun::function.
template <class Law, int parameter_count>
__attribute__((noinline, cold)) void run_law(LawRun& run) {
  using R = NumberOf<Law>;
  constexpr int constant_count = kernel_constants<Law>(), rows = kernel_rows<Law>();
  using Gradient = Mat<R, rows, 3>;
  std::vector<R> parameters(run.parameters.size()), constants(run.constants.size());
  for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k] = R(run.parameters[k]);
  for (std::size_t k = 0; k < constants.size(); ++k) constants[k] = R(run.constants[k]);
  run.result.clear();
  Gradient gradient, other;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 3; ++j) {
      gradient(i, j) = R(run.scale() * (0.31 + 0.17 * i - 0.23 * j));
      other(i, j) = R(0.7 - 0.11 * i + 0.29 * j);
    }

  if constexpr (constant_count > 0) {
    R* const own = constants.data() + LawRun::guards;
    for (int k = 0; k < constant_count; ++k) own[k] = R(0.0);
    Law::prepare(static_cast<const R*>(parameters.data() + LawRun::guards), own);
    if (run.function == LawFunction::prepare)
      for (int k = 0; k < constant_count; ++k) run.add(own[k]);
    for (std::size_t k = 0; k < constants.size(); ++k) std::memcpy(&run.constants[k], &constants[k], sizeof(double));
  }
  Point<R> p;
  for (int i = 0; i < 3; ++i) p.x[i] = R(0.4 + 0.3 * i);
  p.parameters = parameters.data() + LawRun::guards;
  p.constants = constants.data() + LawRun::guards;
  p.temperature = R(run.temperature);
  p.temperature_change = R(11.0);
  if constexpr (requires { Law::valid(p.parameters); })
    if (run.function == LawFunction::valid) run.add(R(Law::valid(p.parameters)));
  Vec<R, Law::components> value;
  for (int i = 0; i < Law::components; ++i) value[i] = R(run.scale() * (0.27 - 0.13 * i));
  constexpr int history_count = history_numbers_of<Law>();
  std::vector<R> history(2 * LawRun::guards + history_count), next(history_count + 1, R(0.0));
  for (std::size_t k = 0; k < history.size(); ++k) history[k] = R(0.003 * (1 + static_cast<double>(k % 7)));
  p.history = history.data() + LawRun::guards;
  p.time = 3.5;
  p.time_step = 0.25;
  if constexpr (requires { Law::flux(p, gradient); }) {
    if (run.function == LawFunction::flux) run.add(Gradient(Law::flux(p, gradient)));
  } else if constexpr (requires { Law::flux(p, value, gradient); }) {
    if (run.function == LawFunction::flux) run.add(Gradient(Law::flux(p, value, gradient)));
  }
  if constexpr (requires { Law::source(p, value, gradient); })
    if (run.function == LawFunction::source) run.add(Law::source(p, value, gradient));
  if constexpr (requires { Law::dflux(p, gradient, other); })
    if (run.function == LawFunction::dflux) run.add(Gradient(Law::dflux(p, gradient, other)));
  if constexpr (history_count > 0)
    if (run.function == LawFunction::advance) {
      LawResponse<Law, parameter_count>::advance(static_cast<const Point<R>&>(p), value, gradient, next.data());
      for (int k = 0; k < history_count; ++k) run.add(next[static_cast<std::size_t>(k)]);
    }
  if constexpr (requires { Law::density(p); })
    if (run.function == LawFunction::density) run.add(Law::density(p));
  if constexpr (requires { Law::energy(p, gradient); }) {
    if (run.function == LawFunction::energy) run.add(R(Law::energy(p, gradient)));
  } else if constexpr (requires { Law::energy(p, value, gradient); }) {
    if (run.function == LawFunction::energy) run.add(R(Law::energy(p, value, gradient)));
  }
  if constexpr (requires { Law::strain(p, gradient); })
    if (run.function == LawFunction::strain) run.add(Law::strain(p, gradient));
  if constexpr (requires(const Mat3<R>& outer) { Law::pair_block(p, outer); })
    if (run.function == LawFunction::pair_block) {
      Mat3<R> outer;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) outer(i, j) = R(0.2 + 0.3 * i - 0.1 * j);
      run.add(Law::pair_block(p, outer));
    }
}

/// The properties that a law declares, and the function that runs it.
struct LawFacts {
  const char* name;
  int parameter_count, constant_count;
  bool reads_temperature;
  void (*run)(LawRun&);
};

/// The first defect found, in a sentence; empty where there is none.
std::string find_law_defect(const LawFacts& law);

/// A law as its author wrote it, without the wrapper of point/uniform_law.hpp.
template <class Law>
struct GivenLawOf {
  using type = Law;
};
template <class Law>
requires requires { typename Law::GivenLaw; }
struct GivenLawOf<Law> {
  using type = typename Law::GivenLaw;
};

/// The first defect of a law, or "". The check runs once. `parameter_count` includes the thickness of a plane element.
template <class Law, int parameter_count>
const std::string& law_defect() {
  static const std::string text = find_law_defect({Law::name, parameter_count, kernel_constants<Law>(),
                                                   reads_temperature_of<Law>(), run_law<Law, parameter_count>});
  return text;
}

}  // namespace voussoir::detail
