#include <voussoir/framework/io/detail/output_file.hpp>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include <voussoir/backends/error.hpp>

namespace voussoir {

OutputFile::OutputFile(std::filesystem::path path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored))
    throw Error(ErrorCode::io, "this is a folder; give the name of a file", "file '" + path_.string() + "'");
  if (!overwrite_ && std::filesystem::exists(path_, ignored)) fail("it cannot be written", EEXIST);
  // Several writers of one process, and several processes, must not meet under one temporary name.
  static std::atomic<unsigned> counter{0};
  temporary_ = path_;
  temporary_ += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  errno = 0;
  file_ = std::fopen(temporary_.c_str(), "wbx");
  if (!file_) fail("it cannot be written", errno);
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

void OutputFile::close() {
  // Buffered bytes meet the disk here, so a full one may be noticed only now.
  errno = 0;
  const bool flushed = std::fflush(file_) == 0;
  const int flush_error = errno;
  errno = 0;
  const bool closed = std::fclose(file_) == 0;
  const int close_error = errno;
  file_ = nullptr;
  if (!flushed) fail("writing failed", flush_error);
  if (!closed) fail("writing failed", close_error);
}

void OutputFile::commit() {
  close();
  std::error_code error;
  if (!overwrite_) {
    // A hard link takes the name only where it is free; rename() would silently replace.
    if (::link(temporary_.c_str(), path_.c_str()) == 0) {
      std::filesystem::remove(temporary_, error);
      temporary_.clear();
      return;
    }
    if (errno == EEXIST) fail("it cannot be written", EEXIST);
    // File systems without hard links: look once more, then rename.
    if (std::filesystem::exists(path_, error)) fail("it cannot be written", EEXIST);
  }
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
