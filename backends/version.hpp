#pragma once
#include <string>

// The version of Voussoir. Before 1.0, a new minor number may change interfaces; after it, only a new major one.

#define VSR_VERSION_MAJOR 0  ///< major version of these headers, for the preprocessor
#define VSR_VERSION_MINOR 1  ///< minor version of these headers: `#if VSR_VERSION_MINOR >= 2`
#define VSR_VERSION_PATCH 0  ///< patch level of these headers

namespace voussoir {

/// The version of the library that the program runs with, "0.1.0". It may be newer than the headers that the program
/// was compiled with.
std::string version();

}  // namespace voussoir
