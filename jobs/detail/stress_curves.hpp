#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/detail/thermal_stress_runner.hpp>
#include <voussoir/jobs/step_receiver.hpp>

// What steps of thermal stress are made of, on one process and on several.

namespace voussoir::detail {

/// States that are solved with one matrix. Each of them has a load case with a number for every node.
constexpr std::size_t most_stress_states = 16;

/// A load case that the domain does not have yet.
LoadCase& new_stress_case(Domain& domain, std::string name);
/// Replaces temperatures of nodes where nothing conducts heat, NaN, by the initial ones.
void fill_temperatures(const Domain& domain, std::vector<double>& temperatures);
/// Applies the supports of a step at one of its times.
void apply_supports_at(const JobStep& step, const ThermalStressStep& request, double time, Domain& domain);
/// The state at a time of a step, under the load case that has its temperatures.
Step stress_step(const ThermalStressStep& request, double time, const std::string& heating);
/// What is passed on of a state; `time` is the total time.
StepState stress_state(StepResult found, double time, HeatedState heated);

/// Peaks and histories over the states of a step of thermal stress.
class StressCurves {
 public:
  StressCurves(const Job& job, const JobStep& step);  ///< both must outlive the object
  void take(const NodalField& u, double time);        ///< the displacements of a state
  StepResponse finish(std::size_t states);            ///< after that many states

 private:
  std::string name_of(std::int32_t node) const { return "node " + job_.instances.node(domain_.node_id(node)); }
  void begin(const NodalField& u);

  const Job& job_;
  const JobStep& step_;
  const Domain& domain_;
  StepResponse response_;
  std::vector<std::int32_t> nodes_;
  std::vector<char> hidden_;  // nodes that are not reported
  std::vector<ResponsePeak> peaks_;
  std::vector<std::int32_t> places_;
};

}  // namespace voussoir::detail
