#pragma once
#include <filesystem>

// Files under temporary names. A result gets its own name when it is complete; until then it has none, or, where the
// file system knows no files without names, a temporary one. The name tells the host and the process that write it
// (beam.vtu.part-HOST-PROCESS-NUMBER), and the file is locked while it is written: a later run can tell what a killed
// process has left from what another one is still writing.

namespace voussoir::detail {

/// A temporary name beside `path` that no file of this or another process has.
std::filesystem::path unfinished_name(const std::filesystem::path& path);

/// Locks an unfinished file for as long as its descriptor is open, and remembers its name for
/// remove_unfinished_files().
void claim_unfinished(int descriptor, const std::filesystem::path& name);
/// The file has its final name, or is gone.
void forget_unfinished(const std::filesystem::path& name);

/// Removes files that killed processes left in the folder: plain files of this user with a temporary name of this host,
/// whose process is gone and whose lock is free. A process looks through a folder once.
void remove_abandoned_files(const std::filesystem::path& folder) noexcept;

/// Whether files without names may be used; tests turn it off to act as on file systems that have none.
bool& nameless_files_allowed();

}  // namespace voussoir::detail
