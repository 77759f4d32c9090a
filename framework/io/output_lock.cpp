#include <voussoir/framework/io/output_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <system_error>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/detail/unfinished_file.hpp>

namespace voussoir {
namespace {

namespace fs = std::filesystem;

/// Names that are nearly as long as names may be are shortened, and told apart by a hash.
std::string lock_name(const std::string& name) {
  constexpr std::size_t longest = 150;
  if (name.size() <= longest) return "." + name + ".running";
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // not inside a letter
  std::uint64_t hash = 14695981039346656037u;                                       // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return "." + name.substr(0, end) + "-" + digits + ".running";
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

[[noreturn]] void fail(const fs::path& path, const std::string& text) {
  throw Error(ErrorCode::io, text, "file '" + path.string() + "'");
}

constexpr const char* advice = "; remove it if no run is using it, or choose another folder with --output";

/// Opens the lock file, which may belong to a killed run of another user: reading is enough for a lock. Never follows
/// a link and never waits for the other end of a pipe. Negative if the file vanished meanwhile.
int open_lock_file(const fs::path& path) {
  constexpr int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | flags, 0666);
  if (file < 0 && errno == EACCES) file = ::open(path.c_str(), O_RDONLY | flags);
  if (file < 0 && errno != ENOENT)
    fail(path, "the lock file cannot be opened: " + std::generic_category().message(errno) + advice);
  return file;
}

/// 0, or why the file could not be locked.
int lock(int file, const fs::path& path) {
  struct stat opened {};
  if (::fstat(file, &opened) != 0 || !S_ISREG(opened.st_mode)) {
    ::close(file);
    fail(path, "this has the name of a lock file and is not a regular file; move it");
  }
  int error = 0;
  do error = ::flock(file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  while (error == EINTR);
  return error;
}

/// Network file systems may have no locks, or a server of locks that cannot be reached.
bool has_no_locks(int error) { return error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK || error == EINVAL; }

/// What the holder of a lock wrote into its file: "process 4711 on host 'node7'". Files hold anything, so that only
/// what has this form is repeated.
std::string holder(int file) {
  char bytes[300];
  const ssize_t count = ::pread(file, bytes, sizeof bytes, 0);
  const char* const end = bytes + std::max<ssize_t>(count, 0);
  long process = 0;
  const auto [after, error] = std::from_chars(bytes, end, process);
  if (error != std::errc() || process <= 0 || after == end || *after != ' ') return "another process";
  const std::string_view rest(after + 1, static_cast<std::size_t>(end - after - 1));
  const std::string_view host = rest.substr(0, rest.find('\n'));
  const bool plain = !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
  std::string text =
      process == ::getpid() && host == host_name() ? "this process" : "process " + std::to_string(process);
  if (plain && host != host_name()) text += " on host '" + std::string(host) + "'";
  return text;
}

/// Whether the open file is the one that has this name: another run may have removed it meanwhile.
bool has_name(int file, const fs::path& path) {
  struct stat opened {
  }, named{};
  return ::fstat(file, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

void write_holder(int file) {
  const std::string text = std::to_string(::getpid()) + " " + host_name() + "\n";
  // Only messages of other runs need it: what fails here is of no consequence.
  if (::ftruncate(file, 0) == 0) [[maybe_unused]]
    const ssize_t written = ::pwrite(file, text.data(), text.size(), 0);
}

}  // namespace

void OutputLock::acquire(const fs::path& folder, const std::string& name) {
  release();
  const fs::path where = folder.empty() ? fs::path(".") : folder;
  const fs::path path = where / lock_name(name);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const int file = open_lock_file(path);
    if (file < 0) continue;
    const int error = lock(file, path);
    if (error == 0 && has_name(file, path)) {
      write_holder(file);
      detail::claim_unfinished(file, path);  // a signal that ends the process removes it
      descriptor_ = file;
      path_ = path;
      return;
    }
    const std::string who = error == EWOULDBLOCK ? holder(file) : "";
    if (has_no_locks(error)) ::unlink(path.c_str());
    ::close(file);
    if (has_no_locks(error)) return;
    if (error == EWOULDBLOCK)
      throw Error(ErrorCode::io,
                  who +
                      " is writing results of this name to this folder; wait until it ends, or write to another "
                      "folder with --output",
                  "results '" + name + "' in folder '" + where.string() + "'");
    if (error != 0) fail(path, "the file cannot be locked: " + std::generic_category().message(error) + advice);
  }
  fail(path, std::string("the lock file cannot be created: other runs keep replacing it") + advice);
}

void OutputLock::release() noexcept {
  if (descriptor_ < 0) return;
  // Removed while it is locked: whoever opened it before sees that it has no name any more, and makes a new one.
  if (has_name(descriptor_, path_)) ::unlink(path_.c_str());
  try {
    detail::forget_unfinished(path_);
  } catch (const std::exception&) {
    // Out of memory: the name stays in the list of what a signal removes.
  }
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace voussoir
