#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/io/job/detail/actions.hpp>
#include <voussoir/framework/io/job/detail/json.hpp>
#include <voussoir/framework/io/job/job.hpp>

// Steps of transient heat in job files.

namespace voussoir::job {

/// The keys that a step of transient heat has beside those of all steps.
const std::vector<std::string>& transient_heat_keys();

/// A load of a step, its factor, and the entry of "amplitudes" that names it, if any.
struct HeatLoad {
  const Load& load;                   ///< that acts
  double factor = 1;                  ///< multiplies heat
  const Json* amplitude = nullptr;    ///< of the heat, or of the temperature of surroundings
  const Json* coefficient = nullptr;  ///< the entry of "coefficient_amplitudes", of films and radiation
};

/// Adds load cases to the domain for a load of a step of transient heat or thermal stress. An amplitude of convection
/// or radiation is that of the temperature of the surroundings: such a load becomes two load cases. An amplitude of the
/// coefficient multiplies both.
std::vector<StepLoad> add_heat_load(const HeatLoad& load, const std::string& step, Domain& domain);

/// Reads "states_every" and "states_at" of a step over time.
void read_heat_states(const Json& json, double period, StateOutput& states);

/// Reads the times, the method and the outputs of a step of transient heat. `earlier` are the steps before it. The
/// domain of `step` is there already.
DynamicStep read_transient_heat(const Json& json, const JobStep& step, const std::vector<JobStep>& earlier);

}  // namespace voussoir::job
