#pragma once
#include <filesystem>
#include <string>

namespace voussoir {

/// The exclusive right to write results of one name in one folder, so that two runs cannot mix their files. While it is
/// held, a hidden file .NAME.running in the folder is locked (flock) and names the process. The system releases the
/// lock when the process ends, however it ends: a lock file left by a killed process is no obstacle.
///
/// On file systems that have no locks every process gets the right, and no file is left.
class OutputLock {
 public:
  OutputLock() = default;
  ~OutputLock() { release(); }
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  /// Throws an Error (io) that names the process if another lock is held, by this process or by another one. The folder
  /// must exist.
  void acquire(const std::filesystem::path& folder, const std::string& name);
  /// Removes the lock file.
  void release() noexcept;

 private:
  int descriptor_ = -1;
  std::filesystem::path path_;
};

}  // namespace voussoir
