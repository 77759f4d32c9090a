#include <voussoir/backends/detail/loading.hpp>
#include <voussoir/backends/user_library.hpp>

#include <system_error>

namespace voussoir {
namespace {

struct Loaded {
  UserLibrary library;
  std::filesystem::file_time_type written;
};

/// Libraries in the order of loading; detail::loading_mutex() guards the list.
std::vector<Loaded>& libraries() {
  static std::vector<Loaded>* const all = new std::vector<Loaded>;
  return *all;
}

}  // namespace

UserLibrary load_library(const std::filesystem::path& file, NameClash clash) {
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::canonical(file, failure);
  const auto written = failure ? std::filesystem::file_time_type() : std::filesystem::last_write_time(real, failure);
  if (failure) throw Error(ErrorCode::io, "the library cannot be loaded: " + failure.message(), file.string());
  const std::string path = real.string();
  if (!std::filesystem::is_regular_file(real, failure))
    throw Error(ErrorCode::io, "the library cannot be loaded: this is not a file", path);
  const std::lock_guard lock(detail::loading_mutex());
  for (const Loaded& loaded : libraries()) {
    if (loaded.library.path != path) continue;
    if (loaded.written == written) return loaded.library;
    throw Error(ErrorCode::misuse,
                "the library has changed since it was loaded, and a process cannot load the same path twice; build it "
                "under another name and load that with NameClash::replace",
                path);
  }
  const UserLibrary library{path, detail::load_registrations(path, clash == NameClash::replace)};
  libraries().push_back({library, written});
  return library;
}

std::vector<UserLibrary> loaded_libraries() {
  const std::lock_guard lock(detail::loading_mutex());
  std::vector<UserLibrary> list;
  for (const Loaded& loaded : libraries()) list.push_back(loaded.library);
  return list;
}

}  // namespace voussoir
