#pragma once
#include <span>
#include <string>
#include <string_view>

namespace voussoir::detail {

/// The name that is spelt most like a wrong one; empty where none is so near that it may be meant. Of a wrong name that
/// goes on for ever its beginning is looked at.
std::string nearest_name(std::string_view wrong, std::span<const std::string> names);

}  // namespace voussoir::detail
