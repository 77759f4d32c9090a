#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/analysis/time_integrators.hpp>
#include <voussoir/framework/io/job/modal_steps.hpp>

// What a user should know of a direct integration that went through, but cannot be trusted.

namespace voussoir::detail {

/// Notes on amplitudes that change so fast that increments of this size miss a part of them: pulses between two
/// increments act too little, too much, or not at all.
std::vector<std::string> notes_on_missed_pulses(const DynamicStep& request, double increment);

/// A note where the integration has created energy, which methods of dynamics do not do where they are used rightly; ""
/// where it has not.
std::string note_on_created_energy(const EnergyBalance& energies);

/// Notes on initial displacements and velocities other than zero of unknowns that are supported, which supports do not
/// take. `name` gives the name of a node.
std::vector<std::string> notes_on_held_motions(const AnalysisModel& model, const DynamicStep& request,
                                               const std::function<std::string(std::int32_t node)>& name);

/// Notes on materials whose equivalent plastic strain has gone beyond their hardening table. `end` gives the last
/// state; it is not called for a model without plastic materials. `domain` has the materials: that of the model, or, of
/// several processes that share a model, that of the whole on process 0; the notes are those of the whole.
std::vector<std::string> notes_on_hardening(const AnalysisModel& model, const Domain& domain,
                                            const std::function<StepResult()>& end);

}  // namespace voussoir::detail
