#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/plugin.hpp>

namespace voussoir::detail {

/// Where a search for a plugin ended.
struct PluginSearch {
  enum class Result {
    found,      ///< loaded, and it speaks our ABI
    missing,    ///< no such file anywhere
    unloadable  ///< a file is there, but cannot be used
  };
  Result result = Result::missing;
  std::string file;                       ///< the file found, or its bare name
  std::string reason;                     ///< where it is not `found`: a sentence that says why and what to do
  const BackendPlugin* plugin = nullptr;  ///< where it is
};

/// Looks for libvoussoir_NAME.so and loads it. Never throws on account of the plugin. Loaded libraries stay loaded.
PluginSearch find_plugin(const std::string& name);

/// Asks a plugin whether it can work here; what it throws becomes the reason.
BackendProbe probe_plugin(const PluginSearch& search);

/// Opens a backend from a plugin that was found and is usable. Throws what the plugin throws.
std::shared_ptr<Backend> open_plugin(const PluginSearch& search, const std::string& argument);

/// Where plugins are searched for: the folders of VOUSSOIR_PLUGIN_PATH, then that of the library itself.
std::vector<std::filesystem::path> plugin_folders();

/// Names of all libvoussoir_NAME.so in the folders of VOUSSOIR_PLUGIN_PATH and beside the library, sorted.
std::vector<std::string> plugin_names();

}  // namespace voussoir::detail
