#include <voussoir/apps/commands/output_checks.hpp>

#include <filesystem>
#include <system_error>

#include <voussoir/backends/error.hpp>

namespace voussoir::app {
namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code problem;  // files that are not there yet are compared by their names
  if (std::filesystem::equivalent(a, b, problem)) return true;
  const auto first = std::filesystem::weakly_canonical(std::filesystem::absolute(a, problem), problem);
  const auto second = std::filesystem::weakly_canonical(std::filesystem::absolute(b, problem), problem);
  return !first.empty() && first == second;
}

}  // namespace

void check_outputs(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    for (const std::string& input : inputs)
      if (!input.empty() && same_file(outputs[i], input))
        throw Error(ErrorCode::io, "this file is read, so that it cannot be written too; choose another name",
                    outputs[i]);
    for (std::size_t j = 0; j < i; ++j)
      if (!outputs[j].empty() && same_file(outputs[i], outputs[j]))
        throw Error(ErrorCode::io, "two results cannot be written to one file; choose another name for one of them",
                    outputs[i]);
  }
}

}  // namespace voussoir::app
