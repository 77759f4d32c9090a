#pragma once
#include <string>

// The version of Voussoir. Before 1.0, a new minor number may change interfaces; after it, only a new major one.

/// The version of these headers, for the preprocessor: `#if VSR_VERSION_MINOR >= 2`.
#define VSR_VERSION_MAJOR 0
#define VSR_VERSION_MINOR 1
#define VSR_VERSION_PATCH 0

namespace voussoir {

/// The version of the library that the program runs with, "0.1.0". It may be newer than the headers that the program
/// was compiled with.
std::string version();

}  // namespace voussoir
