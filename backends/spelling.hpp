#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace voussoir {

/// The number of typing errors between two words: letters replaced, inserted, deleted, or swapped with their neighbour.
/// Case-sensitive.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name with the smallest edit distance from a misspelt one, for "did you mean"; empty if none is similar. Only the
/// beginning of a very long name is compared.
std::string nearest_name(std::string_view wrong, std::span<const std::string> names);

}  // namespace voussoir
