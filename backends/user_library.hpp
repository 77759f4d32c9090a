#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace voussoir {

/// A library that load_library() has loaded.
struct UserLibrary {
  std::string path;                     ///< absolute
  std::vector<std::string> registered;  ///< "preconditioner 'mine'", "element type 'seepage.hex8'", …
};

/// What happens to registrations of a library whose names are taken.
enum class NameClash { refuse, replace };

/// Loads a shared library whose static objects register elements, solvers, preconditioners or the like
/// (VSR_REGISTER_ELEMENT, VSR_REGISTER). It stays loaded until the process ends. A library that is loaded already is
/// left alone.
///
/// `file` is a path, relative to the current folder where it does not begin with a slash; other folders are not
/// searched. Throws Error
///   - io where there is no such file,
///   - unavailable where it is no shared library, cannot be loaded, or was compiled with headers of another ABI number
///     (which is read from the file, before any of its code runs),
///   - bad_input where it registers a name that is taken, and where it registers nothing at all.
/// After an Error, nothing of the library is registered.
///
/// A process cannot load the same path twice. To load a library again after a change, build it under another file name
/// and load that with NameClash::replace: its registrations take the place of the old ones. Loading a path whose file
/// has changed since is an Error (misuse) that says so.
UserLibrary load_library(const std::filesystem::path& file, NameClash clash = NameClash::refuse);

/// All libraries that load_library() has loaded, in this order.
std::vector<UserLibrary> loaded_libraries();

}  // namespace voussoir
