#pragma once
#include <filesystem>
#include <string>

namespace voussoir {

/// The exclusive right to write results of one name in one folder, so that two runs cannot mix their files. While the
/// lock is held, a hidden file .NAME.running in the folder is locked (flock) and names the process. The system releases
/// the lock when the process ends, in whatever way, so that a lock file left by a killed process does no harm.
///
/// On file systems without locks every process gets the right, and no file is left.
class OutputLock {
 public:
  OutputLock() = default;
  ~OutputLock() { release(); }
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  /// Acquires the lock. If it is held already, by this or another process, throws an Error (io) that names the process.
  /// The folder must exist.
  void acquire(const std::filesystem::path& folder, const std::string& name);
  /// Releases the lock, if held, and removes the lock file.
  void release() noexcept;

 private:
  int descriptor_ = -1;
  std::filesystem::path path_;
};

}  // namespace voussoir
