#include <voussoir/framework/io/output_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

/// Several writers of one process, and several processes, must not meet under one temporary name.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  // A name that is as long as names may be must leave room for what is added.
  return path.parent_path() / (path.filename().string().substr(0, 200) + ".part-" + std::to_string(::getpid()) + "-" +
                               std::to_string(counter++));
}

/// How a file that has no name is reached in order to give it one (open(2), O_TMPFILE).
std::string handle_path(int handle) { return "/proc/self/fd/" + std::to_string(handle); }

/// A file without a name in the folder of `path`; null where the system or the file system has no such thing.
std::FILE* open_nameless([[maybe_unused]] const std::filesystem::path& path) {
#ifdef O_TMPFILE
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const int handle = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (handle < 0) return nullptr;
  if (::access(handle_path(handle).c_str(), F_OK) == 0)
    if (std::FILE* file = ::fdopen(handle, "w+b")) return file;
  ::close(handle);
#endif
  return nullptr;
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored))
    throw Error(ErrorCode::io, "this is a folder; give the name of a file", "file '" + path_.string() + "'");
  if (!overwrite_ && std::filesystem::exists(path_, ignored)) fail("it cannot be written", EEXIST);
  file_ = open_nameless(path_);
  nameless_ = file_ != nullptr;
  if (nameless_) return;
  temporary_ = temporary_name(path_);
  errno = 0;
  file_ = std::fopen(temporary_.c_str(), "wbx");
  if (!file_) {
    const int error = errno;
    temporary_.clear();
    fail("it cannot be written", error);
  }
}

OutputFile::~OutputFile() {
  if (file_) std::fclose(file_);
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

void OutputFile::write(const void* data, std::size_t bytes) {
  errno = 0;
  if (std::fwrite(data, 1, bytes, file_) != bytes) fail("writing failed", errno);
  position_ += bytes;
}

void OutputFile::patch(std::uint64_t position, std::string_view text) {
  errno = 0;
  if (::fseeko(file_, static_cast<off_t>(position), SEEK_SET) != 0 ||
      std::fwrite(text.data(), 1, text.size(), file_) != text.size() || ::fseeko(file_, 0, SEEK_END) != 0)
    fail("writing failed", errno);
}

void OutputFile::flush() {
  // Buffered bytes meet the disk here, so a full one may be noticed only now.
  errno = 0;
  if (std::fflush(file_) != 0) fail("writing failed", errno);
}

void OutputFile::close() {
  errno = 0;
  const bool closed = std::fclose(file_) == 0;
  const int error = errno;
  file_ = nullptr;
  if (!closed) fail("writing failed", error);
}

void OutputFile::commit() {
  flush();
  if (nameless_) {
    const std::string handle = handle_path(::fileno(file_));
    const auto take_name = [&](const std::filesystem::path& name) {
      return ::linkat(AT_FDCWD, handle.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    // A link takes a name only where it is free. To replace a file, ours needs a name that can be changed into it.
    if (take_name(path_)) return close();
    if (errno != EEXIST || !overwrite_) fail("it cannot be given its name", errno);
    temporary_ = temporary_name(path_);
    if (!take_name(temporary_)) {
      const int error = errno;
      temporary_.clear();
      fail("it cannot be given its name", error);
    }
    close();
  } else {
    close();
    if (!overwrite_) {
      if (::link(temporary_.c_str(), path_.c_str()) == 0) {
        std::error_code ignored;
        std::filesystem::remove(temporary_, ignored);
        temporary_.clear();
        return;
      }
      if (errno == EEXIST) fail("it cannot be written", EEXIST);
      // File systems without hard links: look once more, then rename.
      std::error_code ignored;
      if (std::filesystem::exists(path_, ignored)) fail("it cannot be written", EEXIST);
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) fail("it cannot be given its name", error.value());
  temporary_.clear();
}

void OutputFile::fail(const std::string& what, int error) const {
  std::string text = what + ": " + (error ? std::generic_category().message(error) : std::string("unknown reason"));
  if (error == EEXIST) text += "; choose another name, or allow it to be overwritten (overwrite = true)";
  if (error == ENOSPC) text += "; free some space or write elsewhere";
  if (error == ENOENT) text += "; create the folder first";
  throw Error(ErrorCode::io, text, "file '" + path_.string() + "'");
}

}  // namespace voussoir
