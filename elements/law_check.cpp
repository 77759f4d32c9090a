#include <voussoir/elements/law_check.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace voussoir::detail {

namespace {

constexpr std::pair<LawFunction, const char*> law_functions[] = {
    {LawFunction::prepare, "prepare"}, {LawFunction::valid, "valid"},           {LawFunction::flux, "flux"},
    {LawFunction::dflux, "dflux"},     {LawFunction::density, "density"},       {LawFunction::energy, "energy"},
    {LawFunction::strain, "strain"},   {LawFunction::pair_block, "pair_block"}, {LawFunction::source, "source"},
    {LawFunction::advance, "advance"}};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// Runs the functions of a law with other guard numbers: what a function returns depends on a guard only if the
/// function reads it.
class LawProbe {
 public:
  LawProbe(const LawFacts& law, int variant) : law_(law) {
    run_.variant = variant;
    run_.parameters.assign(2 * LawRun::guards + law.parameter_count, quiet_);
    run_.constants.assign(2 * LawRun::guards + law.constant_count, quiet_);
    // Numbers of no special ratio, so that nothing cancels.
    const double low[] = {0.23, 1.7, 0.011};
    for (int k = 0; k < law.parameter_count; ++k)
      run_.parameters[LawRun::guards + k] = low[variant % 3] * (1 + 0.173 * k);
  }

  std::string find(LawFunction function, const std::string& name) {
    run_.function = function;
    // A law may read a number only where it is hot.
    for (const double temperature : {300.0, -50.0, 900.0}) {
      if (temperature != 300 && run_.variant > 0) continue;
      usual_temperature_ = temperature;
      if (std::string text = foreign_parameter(name); !text.empty()) return text;
      if (std::string text = foreign_constant(name); !text.empty()) return text;
    }
    usual_temperature_ = 300;
    return hidden_temperature(name);
  }

 private:
  std::vector<double> run(double temperature) {
    run_.temperature = temperature;
    law_.run(run_);
    return run_.result;
  }
  std::vector<double> run() { return run(usual_temperature_); }

  /// The number, counted as the law counts, that the function reads of `numbers` although it is not one of `count`.
  std::optional<int> foreign_read(std::vector<double>& numbers, int count) {
    const std::vector<double> silent = run();
    const auto differs = [&](int first, int last, double value) {
      const auto write = [&](double x) {
        for (int k = first; k < last; ++k)
          if (k < LawRun::guards || k >= LawRun::guards + count) numbers[k] = x;
      };
      write(value);
      const bool different = !same_bits(silent, run());
      write(quiet_);
      return different;
    };
    const int size = 2 * LawRun::guards + count;
    for (const double value : {__builtin_nan(""), -37.0, 1e30}) {
      if (!differs(0, size, value)) continue;
      for (int k = 0; k < size; ++k)  // twice, since a function that leaves numbers unwritten returns anything
        if (differs(k, k + 1, value) && same_bits(silent, run()) && differs(k, k + 1, value)) return k - LawRun::guards;
    }
    return {};
  }

  std::string foreign_parameter(const std::string& function) {
    const int count = law_.parameter_count;
    const std::optional<int> index = foreign_read(run_.parameters, count);
    if (!index) return {};
    return function + "() of law '" + law_.name + "' reads parameter p[" + std::to_string(*index) + "], but " +
           (count == 0   ? std::string("the law declares none")
            : count == 1 ? std::string("the law has only p[0]")
                         : "the law has p[0] to p[" + std::to_string(count - 1) + "]") +
           "; declare it in parameters[], or correct the index";
  }

  std::string foreign_constant(const std::string& function) {
    if (law_.constant_count == 0) return {};
    std::vector<double>& constants = run_.constants;
    if (run_.function == LawFunction::prepare) {
      run();
      for (int k = 0; k < static_cast<int>(constants.size()); ++k) {
        if (k >= LawRun::guards && k < LawRun::guards + law_.constant_count) continue;
        if (std::memcmp(&constants[k], &quiet_, sizeof quiet_) == 0) continue;
        constants[k] = quiet_;
        return constant_text("prepare() of law '", "' writes constant ", k - LawRun::guards);
      }
    }
    if (const auto index = foreign_read(constants, law_.constant_count))
      return constant_text(function + "() of law '", "' reads constant ", *index);
    return {};
  }
  std::string constant_text(const std::string& before, const char* verb, int index) const {
    return before + law_.name + verb + std::to_string(index) + ", but the law declares " +
           std::to_string(law_.constant_count) + "; correct 'constants' or the index";
  }

  std::string hidden_temperature(const std::string& function) {
    if (law_.reads_temperature) return {};
    for (const double temperature : {-400.0, 0.0, 20.0, 1500.0})
      if (!same_bits(run(), run(temperature)))
        return function + "() of law '" + law_.name +
               "' reads p.temperature, but the law declares reads_temperature = false; remove that";
    return {};
  }

  static constexpr double quiet_ = 0.617;
  const LawFacts& law_;
  LawRun run_;
  double usual_temperature_ = 300;
};

}  // namespace

std::string find_law_defect(const LawFacts& law) {
  for (int variant = 0; variant < LawRun::variants; ++variant) {
    LawProbe probe(law, variant);
    for (const auto& [function, name] : law_functions)
      if (std::string text = probe.find(function, name); !text.empty()) return text;
  }
  return {};
}

}  // namespace voussoir::detail
