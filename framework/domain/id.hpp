#pragma once
#include <cstdint>

namespace voussoir {

/// A number that the user gave to a node or an element.
using Id = std::int64_t;

}  // namespace voussoir
