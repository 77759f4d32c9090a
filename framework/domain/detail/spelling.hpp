#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace voussoir::detail {

/// Levenshtein distance: how many letters must be changed, added or dropped to make `b` of `a`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that is spelt most like a wrong one; empty where none is so near that it may be meant. Of a wrong name that
/// goes on for ever its beginning is looked at.
std::string nearest_name(std::string_view wrong, std::span<const std::string> names);

}  // namespace voussoir::detail
