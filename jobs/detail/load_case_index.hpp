#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include <voussoir/framework/io/job/job.hpp>

namespace voussoir::detail {

/// Finds the load case of a step in constant time: a job may have thousands of steps, each with its own.
class LoadCaseIndex {
 public:
  explicit LoadCaseIndex(const Job& job) {
    for (const auto& domain : job.domains) {
      auto& known = by_name_.emplace_back();
      if (domain)
        for (const auto& load_case : domain->load_cases()) known.emplace(load_case->name(), load_case.get());
    }
    job_ = &job;
  }
  /// Null where the step has none. A name that the model does not know is an Error.
  const LoadCase* find(const JobStep& step) const {
    if (step.load_case.empty()) return nullptr;
    const auto& known = by_name_[step.domain];
    const auto found = known.find(step.load_case);
    return found != known.end() ? found->second : &job_->domains[step.domain]->load_case(step.load_case);
  }

 private:
  const Job* job_;
  std::vector<std::unordered_map<std::string_view, const LoadCase*>> by_name_;
};

}  // namespace voussoir::detail
