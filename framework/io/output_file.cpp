#include <voussoir/framework/io/output_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <voussoir/framework/io/detail/unfinished_file.hpp>

namespace voussoir {
namespace {

/// How a file that has no name is reached in order to give it one (open(2), O_TMPFILE).
std::string handle_path(int handle) { return "/proc/self/fd/" + std::to_string(handle); }

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Whether something has this name: a link too, wherever it leads.
bool is_taken(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

/// Renames a file to a name that nothing has. False and errno where that fails; EEXIST where the name is taken.
bool rename_to_free_name(const std::filesystem::path& from, const std::filesystem::path& to) {
#ifdef RENAME_NOREPLACE
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return false;
#endif
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return true;
  }
  if (errno == EEXIST) return false;
  // File systems with neither: an empty file of our own takes the name, and is then replaced.
  const int claim = ::open(to.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (claim < 0) return false;
  ::close(claim);
  return ::rename(from.c_str(), to.c_str()) == 0;
}

/// A file without a name in the folder of `path`; null where the system or the file system has no such thing.
std::FILE* open_nameless([[maybe_unused]] const std::filesystem::path& path) {
#ifdef O_TMPFILE
  if (!detail::nameless_files_allowed()) return nullptr;
  const int handle = ::open(folder_of(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
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
  if (!overwrite_ && is_taken(path_)) fail("it cannot be written", EEXIST);
  detail::remove_abandoned_files(folder_of(path_));
  file_ = open_nameless(path_);
  nameless_ = file_ != nullptr;
  if (nameless_) return;
  temporary_ = detail::unfinished_name(path_);
  errno = 0;
  file_ = std::fopen(temporary_.c_str(), "w+bxe");
  if (!file_) {
    const int error = errno;
    temporary_.clear();
    fail("it cannot be written", error);
  }
  detail::claim_unfinished(::fileno(file_), temporary_);
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    forget_temporary();
  }
  if (file_) std::fclose(file_);
}

void OutputFile::forget_temporary() {
  detail::forget_unfinished(temporary_);
  temporary_.clear();
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

void OutputFile::read_back(std::uint64_t position, void* data, std::size_t bytes) {
  errno = 0;
  if (::fseeko(file_, static_cast<off_t>(position), SEEK_SET) != 0 || std::fread(data, 1, bytes, file_) != bytes ||
      ::fseeko(file_, 0, SEEK_END) != 0)
    fail("what was written cannot be read back", errno);
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

/// Gives a nameless file a temporary name: only a file with a name can replace another one.
void OutputFile::name_temporary() {
  const std::filesystem::path name = detail::unfinished_name(path_);
  const std::string handle = handle_path(::fileno(file_));
  detail::claim_unfinished(::fileno(file_), name);
  if (::linkat(AT_FDCWD, handle.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    const int error = errno;
    detail::forget_unfinished(name);
    fail("it cannot be renamed from its temporary name", error);
  }
  temporary_ = name;
}

void OutputFile::commit() {
  flush();
  if (nameless_) {
    // A link takes a name only where it is free.
    if (::linkat(AT_FDCWD, handle_path(::fileno(file_)).c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0)
      return close();
    if (errno != EEXIST || !overwrite_) fail("it cannot be renamed from its temporary name", errno);
    name_temporary();
  }
  close();  // some file systems tell of a full disk only now, and then the file must not get its name
  if (overwrite_) {
    std::error_code error;
    std::filesystem::rename(temporary_, path_, error);
    if (error) fail("it cannot be renamed from its temporary name", error.value());
  } else if (!rename_to_free_name(temporary_, path_)) {
    fail("it cannot be renamed from its temporary name", errno);
  }
  forget_temporary();
}

void OutputFile::fail(const std::string& what, int error) const {
  std::string text = what + ": " + (error ? std::generic_category().message(error) : std::string("unknown reason"));
  if (error == EEXIST)
    throw NameTaken(ErrorCode::io, text + "; choose another name, or allow it to be overwritten (overwrite = true)",
                    "file '" + path_.string() + "'");
  if (error == ENOSPC) text += "; free some space or write elsewhere";
  if (error == ENOENT) text += "; create the folder first";
  throw Error(ErrorCode::io, text, "file '" + path_.string() + "'");
}

}  // namespace voussoir
