#include <voussoir/backends/detail/loading.hpp>
#include <voussoir/backends/detail/plugin_loader.hpp>
#include <voussoir/backends/library_part.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace voussoir {
namespace {

/// The parts that are loaded; detail::loading_mutex() guards the list.
std::vector<std::string>& loaded_parts() {
  static std::vector<std::string>* const parts = new std::vector<std::string>;
  return *parts;
}

}  // namespace

void load_part(const std::string& file, const std::string& what) {
  const std::lock_guard lock(detail::loading_mutex());
  std::vector<std::string>& loaded = loaded_parts();
  if (std::find(loaded.begin(), loaded.end(), file) != loaded.end()) return;
  // Beside the library first, where the part that was built with it is; VOUSSOIR_PLUGIN_PATH may name another build.
  std::vector<std::filesystem::path> folders = detail::plugin_folders();
  std::reverse(folders.begin(), folders.end());
  std::string searched;
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path path = folder / file;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      searched += (searched.empty() ? "searched " : ", ") + folder.string();
      continue;
    }
    detail::load_registrations(path.string(), false);
    loaded.push_back(file);
    return;
  }
  throw Error(ErrorCode::unavailable,
              what + " needs " + file + ", which was not found (" +
                  (searched.empty() ? "the folder of libvoussoir.so is unknown" : searched) +
                  "). The file is a part of Voussoir: `make program` builds it in a source tree, and an installation "
                  "has it beside libvoussoir.so; set VOUSSOIR_PLUGIN_PATH to its folder if it is elsewhere");
}

}  // namespace voussoir
