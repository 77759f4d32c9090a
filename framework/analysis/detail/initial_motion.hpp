#pragma once
#include <string>

#include <voussoir/framework/analysis/analysis_state.hpp>
#include <voussoir/framework/analysis/results.hpp>

namespace voussoir::detail {

/// Takes the displacements or velocities of an initial state from a field of the model's unknowns: NaN, and
/// an empty field, leave x as it is. Throws Error (bad_input) for a field of another model or an infinite value;
/// `what` names the field there.
void take_initial_motion(const AnalysisModel& model, const NodalField& field, const std::string& what, Vector& x);

/// The strain energy of the displacements of a state: the work of the forces of its elements and constraint springs
/// along the straight path from zero displacements, which is the energy itself where the model is elastic.
double strain_energy_of(const AnalysisModel& model, const AnalysisState& state);

}  // namespace voussoir::detail
