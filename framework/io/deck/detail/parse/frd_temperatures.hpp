#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <voussoir/framework/domain/id.hpp>

namespace voussoir::deck {

/// Temperatures of nodes in the text of a result file of CalculiX (.frd): those of the last increment of a step, or of
/// the last step. Throws Error (bad_input) that names `file` and the line.
std::vector<std::pair<Id, double>> frd_temperatures(std::string_view text, std::optional<int> step,
                                                    const std::string& file);

}  // namespace voussoir::deck
