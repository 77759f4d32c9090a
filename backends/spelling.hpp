#pragma once
#include <cstddef>
#include <string_view>

namespace voussoir {

/// How many slips of the fingers lie between two words: letters changed, added, dropped, or swapped with their
/// neighbour. Large and small letters differ.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace voussoir
