#pragma once
#include <string>
#include <vector>

// What the formats of saved states have in common.

namespace voussoir::detail {

/// Throws Error (bad_input): a saved state cannot be restored, because of `why`.
[[noreturn]] void refuse_state(const std::string& why);
/// The same for one that is damaged.
[[noreturn]] void refuse_damaged_state(const std::string& why);

/// Numbers as the name of a state: a mark that says what they are, and text that is read back exactly.
std::string named_numbers(const std::string& mark, const std::vector<double>& numbers);
/// Reads them. Throws Error (bad_input) for a name with another mark; `analysis` is what the state should be of.
std::vector<double> numbers_of_name(const std::string& name, const std::string& mark, const std::string& analysis);

}  // namespace voussoir::detail
