#include <voussoir/framework/io/detail/unfinished_file.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include <voussoir/framework/io/output_file.hpp>

namespace voussoir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = ".part-";

/// Eight hexadecimal digits that stand for this host: folders on a network are shared by hosts whose processes have the
/// same numbers.
const std::string& host() {
  static const std::string text = [] {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    std::uint32_t hash = 2166136261u;  // FNV-1a
    for (const char* c = name; *c; ++c) hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619u;
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", hash);
    return std::string(digits);
  }();
  return text;
}

/// The process of a temporary name of this host; 0 for any other name.
pid_t process_of(std::string_view name) {
  const std::size_t at = name.rfind(mark);
  if (at == name.npos) return 0;
  std::string_view rest = name.substr(at + mark.size());
  if (!rest.starts_with(host() + "-")) return 0;
  rest.remove_prefix(host().size() + 1);
  pid_t process = 0;
  unsigned number = 0;
  const char* const end = rest.data() + rest.size();
  const auto [after, error] = std::from_chars(rest.data(), end, process);
  if (error != std::errc() || after == end || *after != '-') return 0;
  const auto [last, wrong] = std::from_chars(after + 1, end, number);
  return wrong == std::errc() && last == end && process > 0 ? process : 0;
}

bool is_alive(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

void remove_if_abandoned(const fs::path& path) {
  // Never through a link, and never waiting for the other end of a pipe.
  const int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat opened {
  }, named{};
  if (::fstat(file, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_uid == ::geteuid() &&
      ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::lstat(path.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
      named.st_dev == opened.st_dev)
    ::unlink(path.c_str());
  ::close(file);
}

fs::path whole_path(const fs::path& name) {
  std::error_code error;
  fs::path path = fs::absolute(name, error);
  return error ? name : path;
}

struct Register {
  std::timed_mutex mutex;
  std::set<fs::path> unfinished;
  std::set<fs::path> folders_seen;
};

Register& all() {
  // Never destroyed: files may be closed while the process ends.
  static Register* const register_of_process = new Register;
  return *register_of_process;
}

}  // namespace

namespace detail {

fs::path unfinished_name(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  // A name that is as long as names may be leaves room for what is added, and is not cut inside a letter.
  std::string name = path.filename().string().substr(0, 150);
  if (name.size() == 150)
    while (!name.empty() && (static_cast<unsigned char>(name.back()) & 0x80)) name.pop_back();
  return path.parent_path() /
         (name + std::string(mark) + host() + "-" + std::to_string(::getpid()) + "-" + std::to_string(counter++));
}

void claim_unfinished(int descriptor, const fs::path& name) {
  ::flock(descriptor, LOCK_EX | LOCK_NB);  // without locks, leftovers of this file system are not removed
  const std::lock_guard lock(all().mutex);
  all().unfinished.insert(whole_path(name));
}

void forget_unfinished(const fs::path& name) {
  const std::lock_guard lock(all().mutex);
  all().unfinished.erase(whole_path(name));
}

void remove_abandoned_files(const fs::path& folder) noexcept {
  try {
    const fs::path where = fs::canonical(folder);
    {
      const std::lock_guard lock(all().mutex);
      if (!all().folders_seen.insert(where).second) return;
    }
    std::error_code ignored;
    for (auto entry = fs::directory_iterator(where, ignored); !ignored && entry != fs::directory_iterator();
         entry.increment(ignored)) {
      const pid_t process = process_of(entry->path().filename().string());
      if (process != 0 && process != ::getpid() && !is_alive(process)) remove_if_abandoned(entry->path());
    }
  } catch (const std::exception&) {
    // Leftovers stay: they are in nobody's way.
  }
}

bool& nameless_files_allowed() {
  static bool allowed = true;
  return allowed;
}

}  // namespace detail

void remove_unfinished_files() noexcept {
  try {
    // The thread that is about to end the process must not wait for one that will never go on.
    const std::unique_lock lock(all().mutex, std::chrono::milliseconds(200));
    if (!lock.owns_lock()) return;
    for (const fs::path& path : all().unfinished) ::unlink(path.c_str());
  } catch (const std::exception&) {
  }
}

}  // namespace voussoir
