#pragma once
#include <string>
#include <vector>

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

}  // namespace voussoir::detail
