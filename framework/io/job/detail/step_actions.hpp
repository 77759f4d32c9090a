#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/io/job/detail/actions.hpp>
#include <voussoir/framework/io/job/detail/modal_steps.hpp>

// What acts in the steps of a job file.

namespace voussoir::job {

/// Loads that act in a step, by their places in "loads", each with its factor.
using LoadFactors = std::vector<std::pair<std::size_t, double>>;

/// Finds the loads and supports that steps name, makes load cases of the loads, and keeps track of which loads and
/// supports no step has used.
class StepActions {
 public:
  /// All must outlive the object.
  StepActions(Model& model, const std::vector<Load>& loads, const std::vector<Support>& supports);

  /// The load at a place in "loads", counted from 0.
  const Load& load(std::size_t index) const { return loads_[index]; }
  /// The support at a place in "supports", counted from 0.
  const Support& support(std::size_t index) const { return supports_[index]; }

  /// The loads that a step names in "loads", in that order; all of the body if it has no such key. Errors name loads
  /// that do not exist, belong to another body, are named twice or cannot have their factor.
  LoadFactors loads_of(const Json& step, std::size_t body) const;
  /// All loads of a body, with factor 1.
  LoadFactors all_loads(std::size_t body) const;
  /// The places of the supports that a step names in "supports", of all supports of the body if it has no such key;
  /// ascending.
  std::vector<std::size_t> supports_of(const Json& step, std::size_t body) const;
  /// The places of all supports of a body, ascending.
  std::vector<std::size_t> all_supports(std::size_t body) const;
  /// The places of the supports of that name, of which there may be several. Error at `json` if there is none, or if
  /// one belongs to another body.
  std::vector<std::size_t> find_supports(const Json& json, const std::string& name, std::size_t body) const;

  /// What the `chosen` supports of a body prescribe. Steps with the same supports share one object.
  std::shared_ptr<const Supports> use_supports(std::size_t body, const std::vector<std::size_t>& chosen);
  /// Reads "support_amplitudes" of a step over time: functions of time that multiply what supports prescribe. Error for
  /// a support that is not among the `chosen` ones, or that acts along a direction.
  std::vector<MovedSupports> read_support_amplitudes(const Json& step, std::size_t body,
                                                     const std::vector<std::size_t>& chosen) const;

  /// Adds one load case with all these loads to the domain of the body.
  void make_load_case(const std::string& name, const LoadFactors& factors, std::size_t body);
  /// Adds a load case for each load of the step called `step`, since each load has an amplitude of its own.
  std::vector<NamedLoadCase> make_separate_cases(const std::string& step, const LoadFactors& factors, std::size_t body);
  /// Adds the load cases of a step of transient heat or thermal stress, with its "amplitudes" and
  /// "coefficient_amplitudes".
  std::vector<StepLoad> make_heat_cases(const Json& json, const std::string& step, const LoadFactors& factors,
                                        std::size_t body);

  /// Adds a remark for each load and support that no step has used.
  void note_unused(std::vector<JobNote>& notes) const;

 private:
  /// The places of the entries of that name; errors call them by their `kind`, "load" or "support".
  template <class Entry>
  std::vector<std::size_t> find(const std::vector<Entry>& entries, const Json& json, const std::string& name,
                                std::size_t body, const char* kind) const;

  Model& model_;
  const std::vector<Load>& loads_;
  const std::vector<Support>& supports_;
  std::vector<char> load_used_, support_used_;
  std::map<std::pair<std::size_t, std::vector<std::size_t>>, std::shared_ptr<const Supports>> shared_supports_;
};

}  // namespace voussoir::job
