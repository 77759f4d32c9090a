#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace voussoir {

/// A library that load_library() has loaded.
struct UserLibrary {
  std::string path;                     ///< absolute path of the file
  std::vector<std::string> registered;  ///< "preconditioner 'mine'", "element type 'seepage.hex8'", …
};

/// What load_library() does if the library registers a name that is taken.
enum class NameClash {
  refuse,  ///< throw an Error (bad_input) and register nothing
  replace  ///< replace the earlier entry
};

/// Loads a shared library whose static objects register elements, solvers, preconditioners or the like
/// (VSR_REGISTER_ELEMENT, VSR_REGISTER). It stays loaded until the process ends. Loading it again has no effect.
///
/// `file` is an absolute path or one relative to the current folder; other folders are not searched. Throws an Error of
/// code
///   - io if there is no such file,
///   - unavailable if it is not a shared library, cannot be loaded, or was compiled with headers of another ABI number
///     (which is read from the file before any of its code runs),
///   - bad_input if it registers a name that is taken, or nothing at all.
/// After an Error, nothing of the library is registered.
///
/// A process cannot load the same path twice. To load a library again after a change, build it under another file name
/// and load that with NameClash::replace: its registrations take the place of the old ones. Loading a path whose file
/// has changed since is an Error (misuse) that says so.
UserLibrary load_library(const std::filesystem::path& file, NameClash clash = NameClash::refuse);

/// All libraries that load_library() has loaded, in the order of loading.
std::vector<UserLibrary> loaded_libraries();

}  // namespace voussoir
