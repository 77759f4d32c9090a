#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace voussoir {

/// How many slips of the fingers lie between two words: letters changed, added, dropped, or swapped with their
/// neighbour. Large and small letters differ.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that is spelt most like a wrong one; empty where none is near enough to be meant. Of a very long wrong name
/// only the beginning is compared.
std::string nearest_name(std::string_view wrong, std::span<const std::string> names);

}  // namespace voussoir
