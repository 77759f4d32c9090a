#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/detail/recorded_model.hpp>
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
  /// Of a whole model; both must outlive the object.
  StressCurves(const Job& job, const JobStep& step);
  /// Of a part, with all nodes that have curves, and their local indices or −1.
  StressCurves(const Job& part, const JobStep& step, std::vector<CurveNode> nodes, std::vector<std::int32_t> local);
  /// What is taken of the displacements of a state, here or in the process that puts the parts together.
  MotionDigest digest(const NodalField& u);
  void take(const MotionDigest& motion, double time);  ///< of a state of the whole model
  StepResponse finish(std::size_t states);             ///< after that many states

 private:
  std::string name_of(Id node) const { return "node " + job_.instances.node(node); }
  void begin(const MotionDigest& motion);
  template <class Visit>
  void visit_curves(const MotionDigest& motion, const Visit& visit) const;

  const Job& job_;
  const JobStep& step_;
  NodeMotion motion_;
  StepResponse response_;
  std::vector<CurveNode> nodes_;
  std::vector<std::int32_t> local_;
  std::vector<ResponsePeak> peaks_;  // without a place where no node has the unknown
};

}  // namespace voussoir::detail
