#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <system_error>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/plugin.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/partition/process/detail/part_container.hpp>

namespace voussoir::detail {
namespace {

/// "libvoussoir-hdf5.so.0.1": a file of another version is not found.
std::string hdf5_library_name() {
  const std::string all = version();
  return "libvoussoir-hdf5.so." + all.substr(0, all.find('.', all.find('.') + 1));
}

const Hdf5Container& load_hdf5_library(const std::string& library, const std::string& where) {
  const auto refuse_library = [&](const std::string& why) {
    throw Error(ErrorCode::unavailable, "files of parts in HDF5 cannot be used here: " + library + " " + why, where);
  };
  // Local: the program or an engine may have loaded another HDF5, whose functions have the same names.
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* const reason = dlerror();
    refuse_library("cannot be loaded (" + std::string(reason ? reason : "the loader gave no reason") +
                   "); install the HDF5 library that it needs, or use a .vpart file");
  }
  void* const symbol = dlsym(handle, hdf5_container_symbol);
  const Hdf5Container* const container = symbol ? reinterpret_cast<Hdf5ContainerEntry>(symbol)() : nullptr;
  if (!container || container->abi != abi_number || container->class_sizes != shared_class_sizes())
    refuse_library("belongs to another build of Voussoir; build it again");
  return *container;
}

}  // namespace

const Hdf5Container& hdf5_container(const std::filesystem::path& path) {
  static std::mutex mutex;
  static const Hdf5Container* loaded = nullptr;
  const std::lock_guard lock(mutex);
  if (loaded) return *loaded;
  const std::string where = "file '" + path.string() + "'", name = hdf5_library_name();
  // Beside libvoussoir first, where the file that was built with it is, and then in the user's folders.
  std::vector<std::string> folders = plugin_search_path();
  if (!folders.empty()) std::rotate(folders.begin(), folders.end() - 1, folders.end());
  std::string searched;
  for (const std::string& folder : folders) {
    const std::filesystem::path library = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (std::filesystem::exists(library, ignored)) {
      loaded = &load_hdf5_library(library.string(), where);
      return *loaded;
    }
    searched += (searched.empty() ? "" : ", ") + folder;
  }
  throw Error(ErrorCode::unavailable,
              "files of parts in HDF5 need " + name + ", which was not found (searched " + searched +
                  "): Voussoir was built without HDF5, or its target voussoir_hdf5 was not built. Install "
                  "libhdf5-dev and build all of it with -DVOUSSOIR_HDF5=ON, or use a .vpart file",
              where);
}

}  // namespace voussoir::detail
