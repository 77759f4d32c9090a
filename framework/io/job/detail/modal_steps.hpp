#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/io/job/detail/json.hpp>
#include <voussoir/framework/io/job/job.hpp>

// Steps of modes and of mode superposition in job files.

namespace voussoir::job {

/// The words for "analysis" of these steps.
const std::vector<std::string>& modal_analyses();
/// The procedure of such a word.
Procedure modal_procedure(const std::string& analysis);
/// The keys that a step of this procedure has beside those of all steps.
std::vector<std::string> modal_keys(Procedure procedure);

/// [[0, 0], [1, 2.5]] as a function of time. Errors name the place in the file.
Amplitude read_amplitude(const Json& json);

/// The load case of a named load, with its factor.
struct NamedLoadCase {
  std::string load;       ///< its name in the file
  std::string load_case;  ///< in the domain
};

/// Reads what a step of modes or of mode superposition asks for. `earlier` are the steps before it; files are sought in
/// `folder`. The supports of `step` are there already.
ModalRequest read_modal(const Json& json, JobStep& step, const std::vector<JobStep>& earlier,
                        const std::vector<NamedLoadCase>& loads, const std::filesystem::path& folder);

/// States of a history by "every", "interval", "number" or "times"; at most one choice, none for all that are recorded.
void read_history_states(const Json& json, double period, StateOutput& states);
/// States of direct integration by "states_interval", "states_number" or "states_change"; at most one choice.
void read_state_choice(const Json& json, double period, StateOutput& states);

}  // namespace voussoir::job
