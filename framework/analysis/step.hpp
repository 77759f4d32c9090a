#pragma once
#include <map>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/analysis/results.hpp>

namespace voussoir {

/// A step: load cases with factors. Prescribed values, and the constants of equations, are multiplied by
/// `prescribed_factor`.
struct Step {
  std::string name;                          ///< for results and messages
  std::map<std::string, double> load_cases;  ///< factor by name of the load case; others do not act
  double prescribed_factor = 1;              ///< of prescribed values and constants
};

/// The factors of each step, in the order of the domain's load cases. Without any step: one with all load cases at
/// factor 1. Throws Error (not_found) for a load case that does not exist.
std::vector<AnalysisState> step_states(const Domain& domain, const std::vector<Step>& steps);

/// What a balanced step has to say: unknowns, reactions, sums of loads; with `recover`, values at points and energy.
/// The integrator defines balance, so reactions contain damping and inertial forces where it has any.
StepResult make_step_result(const AnalysisModel& model, Integrator& integrator, const AnalysisState& state,
                            const SolveReport& report, bool recover);

}  // namespace voussoir
