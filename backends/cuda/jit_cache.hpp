#pragma once
#include <filesystem>
#include <mutex>
#include <string>

#include <voussoir/backends/cuda/nvrtc.hpp>

namespace voussoir::cuda {

/// The name under which a compiled kernel is kept: a hash of everything that it was made of.
std::string cache_key(const CompileRequest& request, const std::string& compiler_version,
                      const std::string& library_version);

/// Compiled kernels on disk, one file each. A cache only saves time: whatever is wrong with it, nothing is thrown, and
/// the reason is kept for people who ask.
class JitCache {
 public:
  /// An empty folder keeps nothing.
  explicit JitCache(std::filesystem::path folder, std::string trouble = {});
  /// The user's cache: $VOUSSOIR_CACHE_DIR, else $XDG_CACHE_HOME/voussoir, else ~/.cache/voussoir.
  static JitCache& of_user();
  static std::filesystem::path user_folder();

  const std::filesystem::path& folder() const { return folder_; }
  /// False where the kernel is not there, or its file is damaged.
  bool read(const std::string& key, CompiledKernel& kernel);
  void write(const std::string& key, const CompiledKernel& kernel);
  /// Why kernels are not kept or were not read; empty where all is well.
  std::string trouble() const;

 private:
  void note(const std::string& trouble);

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::string trouble_;
};

}  // namespace voussoir::cuda
