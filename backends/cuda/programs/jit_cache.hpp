#pragma once
#include <filesystem>
#include <mutex>
#include <string>

#include <voussoir/backends/cuda/programs/nvrtc.hpp>

namespace voussoir::cuda {

/// The name under which a compiled kernel is kept: a hash of everything that it was made of.
std::string cache_key(const CompileRequest& request, const std::string& compiler_version,
                      const std::string& library_version);

/// Compiled kernels on disk, one file each. A cache only saves time: whatever is wrong with it, nothing is thrown, and
/// the reason is kept for people who ask.
///
/// What is read here runs on the GPU with the rights of the user, so that nobody else may put it there. The folder and
/// every file in it must belong to the user, and nobody else may be able to write to them; links are not followed. Each
/// file carries a code (HMAC-SHA-256) of its content and its name, made with a secret that lies in the folder and only
/// the user can read: a file that came there in another way, unpacked from an archive or copied from another cache, is
/// not taken. Against a program that already runs with the user's rights there is no protection.
class JitCache {
 public:
  /// An empty folder keeps nothing, and so does one that is not absolute.
  explicit JitCache(std::filesystem::path folder, std::string trouble = {});
  /// The user's cache: $VOUSSOIR_CACHE_DIR, else $XDG_CACHE_HOME/voussoir, else ~/.cache/voussoir.
  static JitCache& of_user();
  /// Empty where there is none. Of a program with raised rights (set-user-ID) the environment is not trusted.
  static std::filesystem::path user_folder();

  const std::filesystem::path& folder() const { return folder_; }
  /// False where the kernel is not there, or its file is damaged.
  bool read(const std::string& key, CompiledKernel& kernel);
  void write(const std::string& key, const CompiledKernel& kernel);
  /// Why kernels are not kept or were not read; empty where all is well.
  std::string trouble() const;

 private:
  void note(const std::string& trouble);
  /// A descriptor of the folder, or −1 with a note. `create` makes what is not there.
  int open_folder(bool create);
  /// The secret of the folder; empty where it has none that only the user can read. `create` makes one, and replaces
  /// one that others could read.
  std::string secret(int folder, bool create);

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::string trouble_;
};

}  // namespace voussoir::cuda
