#include <voussoir/elements/kernel_program.hpp>

#include <voussoir/framework/domain/kernel_text.hpp>

#include <algorithm>
#include <cstddef>

namespace voussoir::detail {

KernelProgram::KernelProgram(std::string_view name, const KernelFacts& facts)
    : name_(name),
      facts_(facts),
      unknown_names_(facts.unknowns.begin(), facts.unknowns.end()),
      parameter_names_(facts.parameters.begin(), facts.parameters.end()),
      recovered_names_(facts.recovered.begin(), facts.recovered.end()) {
  facts_.unknowns = facts_.parameters = facts_.recovered = {};  // the caller's arrays do not outlive the call
  if (facts.extrapolation) {
    extrapolation_.resize(static_cast<std::size_t>(facts.nodes) * facts.points);
    facts.extrapolation(extrapolation_.data());
  }
}

KernelProgram::~KernelProgram() = default;

bool KernelProgram::linear() const {
  if (!facts_.has_tangent) return true;
  // A law that reads the temperature is not linear where the temperature is the unknown.
  const bool unknown_temperature = std::find(unknown_names_.begin(), unknown_names_.end(), "T") != unknown_names_.end();
  return facts_.linear && !(unknown_temperature && facts_.reads_temperature);
}

std::string KernelProgram::defect() const {
  for (std::size_t i = 0; i < recovered_names_.size(); ++i)
    if (std::find(recovered_names_.begin(), recovered_names_.begin() + static_cast<std::ptrdiff_t>(i),
                  recovered_names_[i]) != recovered_names_.begin() + static_cast<std::ptrdiff_t>(i))
      return "two of its results are called '" + recovered_names_[i] + "'; give a number in history[] another name";
  return facts_.defect ? facts_.defect() : std::string();
}

const KernelSource* KernelProgram::source() const { return find_kernel_source(*this); }

ElementStatus KernelProgram::zeros(int values, int count, double* out) const {
  const std::ptrdiff_t groups = (count + facts_.lanes - 1) / facts_.lanes;
  std::fill_n(out, groups * values * facts_.lanes, 0.0);
  return {};
}

}  // namespace voussoir::detail
