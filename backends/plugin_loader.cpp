#include <voussoir/backends/detail/plugin_loader.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>

namespace voussoir::detail {

namespace {

constexpr std::string_view prefix = "libvoussoir_";
constexpr std::string_view suffix = ".so";

std::string file_name(const std::string& name) { return std::string(prefix) + name + std::string(suffix); }

/// Folder of the library (or program) that holds this code; empty where the system does not say.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&find_plugin), &info) == 0 || !info.dli_fname) return {};
  std::error_code ignored;
  const auto path = std::filesystem::absolute(info.dli_fname, ignored);
  return ignored ? std::filesystem::path() : path.parent_path();
}

std::string last_error() {
  const char* text = dlerror();
  return text ? text : "the loader gave no reason";
}

PluginSearch refuse(std::string file, std::string reason) {
  return {PluginSearch::Result::unloadable, std::move(file), std::move(reason), nullptr};
}

PluginSearch examine(void* library, const std::string& file, const std::string& name) {
  dlerror();
  void* symbol = dlsym(library, backend_plugin_symbol);
  if (!symbol)
    return refuse(file, file + " is not a Voussoir plugin: it does not export the function " + backend_plugin_symbol +
                            "; install one that belongs to this version of Voussoir, or remove it");
  const auto entry = reinterpret_cast<BackendPluginEntry>(symbol);
  const BackendPlugin* plugin = entry();
  if (!plugin) return refuse(file, file + " has no description (" + backend_plugin_symbol + " returned null)");
  if (plugin->abi != backend_plugin_abi) {
    const bool older = plugin->abi < backend_plugin_abi;
    return refuse(file, file + (plugin->version ? " (version " + std::string(plugin->version) + ")" : std::string()) +
                            (older ? " is too old: it" : " is too new: it") + " has plugin ABI " +
                            std::to_string(plugin->abi) + ", and this library expects " +
                            std::to_string(backend_plugin_abi) +
                            (older ? "; rebuild or update the plugin" : "; update Voussoir or rebuild the plugin"));
  }
  if (!plugin->name || name != plugin->name)
    return refuse(file, file + " contains the backend '" + (plugin->name ? plugin->name : "") + "', not '" + name +
                            "'; a plugin's file is called libvoussoir_NAME.so after its backend");
  if (!plugin->probe || !plugin->open)
    return refuse(file, file + " lacks the functions probe or open; rebuild the plugin");
  return {PluginSearch::Result::found, file, {}, plugin};
}

}  // namespace

std::vector<std::filesystem::path> plugin_folders() {
  std::vector<std::filesystem::path> list;
  // Not from the environment of whoever starts a privileged program.
  if (const char* variable = secure_getenv("VOUSSOIR_PLUGIN_PATH")) {
    const std::string paths = variable;
    std::size_t begin = 0;
    while (begin <= paths.size()) {
      const std::size_t end = std::min(paths.find(':', begin), paths.size());
      if (end > begin) list.emplace_back(paths.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (auto own = own_folder(); !own.empty()) list.push_back(std::move(own));
  return list;
}

PluginSearch find_plugin(const std::string& name) {
  const std::string file = file_name(name);
  std::string searched;
  for (const auto& folder : plugin_folders()) {
    const std::filesystem::path path = folder / file;
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      // Local: the plugin's own symbols shall not meet those of other plugins. Now: what is missing shows here.
      if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return examine(library, path.string(), name);
      return refuse(path.string(), path.string() + " cannot be loaded (" + last_error() +
                                       "); install its dependencies, or rebuild it for this machine");
    }
    searched += searched.empty() ? folder.string() : ", " + folder.string();
  }
  if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return examine(library, file, name);
  const std::string error = last_error();
  // The loader names the file that it lacks first: the plugin itself, or something that the plugin needs.
  if (error.rfind(file + ": cannot open", 0) != 0)
    return refuse(file, file + " cannot be loaded (" + error + "); install its dependencies, or rebuild it");
  return {PluginSearch::Result::missing, file,
          file + " not found (searched " + (searched.empty() ? "" : searched + " and ") +
              "the system's library folders; set VOUSSOIR_PLUGIN_PATH to the folder that has it)",
          nullptr};
}

BackendProbe probe_plugin(const PluginSearch& search) {
  if (search.result != PluginSearch::Result::found) return {false, search.reason};
  try {
    BackendProbe probe = search.plugin->probe();
    if (probe.reason.empty()) probe.reason = probe.usable ? "ready" : "the plugin gives no reason";
    return probe;
  } catch (const std::exception& error) {
    return {false, search.file + " failed while probing for devices: " + error.what()};
  }
}

std::shared_ptr<Backend> open_plugin(const PluginSearch& search, const std::string& argument) {
  Backend* backend = search.plugin->open(argument.c_str());
  if (!backend) throw Error(ErrorCode::device, search.file + " opened no backend and gave no reason");
  return std::shared_ptr<Backend>(backend);
}

std::vector<std::string> plugin_names() {
  std::vector<std::string> names;
  for (const auto& folder : plugin_folders()) {
    std::error_code ignored;
    for (std::filesystem::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored)) {
      const std::string file = it->path().filename().string();
      if (file.size() <= prefix.size() + suffix.size() || file.rfind(prefix, 0) != 0) continue;
      if (file.compare(file.size() - suffix.size(), suffix.size(), suffix) != 0) continue;
      names.push_back(file.substr(prefix.size(), file.size() - prefix.size() - suffix.size()));
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace voussoir::detail

namespace voussoir {

std::vector<std::string> plugin_search_path() {
  std::vector<std::string> list;
  for (const auto& folder : detail::plugin_folders()) list.push_back(folder.string());
  return list;
}

}  // namespace voussoir
