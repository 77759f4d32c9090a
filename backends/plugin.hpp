#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/backends/abi.hpp>
#include <voussoir/backends/backend.hpp>

// Backends in separate shared libraries.
//
// A backend called NAME may be a shared library libvoussoir_NAME.so that is loaded when Backend::open("NAME") or
// Backend::open("NAME:ARGUMENT") requests it. The library exports one C function:
//
//   extern "C" const voussoir::BackendPlugin* voussoir_backend_plugin() {
//     static const voussoir::BackendPlugin plugin{voussoir::backend_plugin_abi, "NAME", "1.0", probe, open};
//     return &plugin;
//   }
//
// It is searched for in the folders of the environment variable VOUSSOIR_PLUGIN_PATH (separated by colons), then beside
// libvoussoir.so, then on the system's library path. Once loaded it stays loaded until the process ends, so
// that a backend never outlives its code. A plugin is compiled with the same compiler family and the same Voussoir
// headers as the library; it may throw Error.

namespace voussoir {

/// The ABI number of the interface between libvoussoir and its plugins, so that an incompatible plugin is rejected
/// rather than misread.
inline constexpr std::int32_t backend_plugin_abi = abi_number;

/// Whether a plugin could work on this machine.
struct BackendProbe {
  bool usable = false;  ///< whether open() would succeed on this machine now
  std::string reason;   ///< the devices that it would use, or why it cannot be used
};

/// The description of a plugin. The first three members never move, so that a plugin with another
/// ABI number can still be named in an error.
struct BackendPlugin {
  std::int32_t abi = 0;           ///< backend_plugin_abi of the headers that it was compiled with
  const char* name = nullptr;     ///< NAME of libvoussoir_NAME.so
  const char* version = nullptr;  ///< version of the plugin, for messages
  /// Looks for devices. Must be fast and without side effects.
  BackendProbe (*probe)() = nullptr;
  /// Opens a backend, which the caller owns. `argument` is the text after the colon of the specification, or "".
  Backend* (*open)(const char* argument) = nullptr;
};

/// Type of the one function that a plugin exports.
using BackendPluginEntry = const BackendPlugin* (*)();
/// Name of that function.
inline constexpr const char* backend_plugin_symbol = "voussoir_backend_plugin";

/// The folders in which plugins are searched for: those of VOUSSOIR_PLUGIN_PATH, then that of libvoussoir.so.
std::vector<std::string> plugin_search_path();

}  // namespace voussoir
