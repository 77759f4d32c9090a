#include <voussoir/framework/io/detail/file_bytes.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <vector>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what, int error) {
  throw Error(ErrorCode::io, std::string(what) + ": " + std::generic_category().message(error), path.string());
}

[[noreturn]] void fail_changed(const std::filesystem::path& path) {
  throw Error(ErrorCode::io, "the file changed while it was read; read it again once it is complete", path.string());
}

/// A descriptor that is closed on every way out.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

/// Memory for so many bytes, in large pages where the system has them: most of the time of reading would otherwise go
/// into making small ones. Null where there is not enough.
char* allocate(std::size_t size) {
  constexpr std::size_t page = std::size_t{2} << 20;
  if (size < 4 * page) return static_cast<char*>(std::malloc(size));
  const std::size_t rounded = (size + page - 1) / page * page;
  void* memory = std::aligned_alloc(page, rounded);
#ifdef MADV_HUGEPAGE
  if (memory) ::madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  return static_cast<char*>(memory);
}

/// How reading one part of a file ended: 0, an error of the system, or `too_short`.
constexpr int too_short = -1;

int read_part(int file, char* memory, std::size_t begin, std::size_t end) {
  constexpr std::size_t most = std::size_t{1} << 30;  // Linux reads at most 2 GiB at a time
  while (begin < end) {
    const ssize_t got = ::pread(file, memory + begin, std::min(end - begin, most), static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return too_short;
    begin += static_cast<std::size_t>(got);
  }
  return 0;
}

/// Copying from the page cache and making the pages is what reading costs, and several threads share it well.
int read_whole(int file, char* memory, std::size_t size) {
  constexpr std::size_t worth_a_thread = std::size_t{16} << 20;
  const std::size_t processors = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t parts = std::clamp<std::size_t>(size / worth_a_thread, 1, std::min<std::size_t>(processors, 4));
  std::vector<int> ended(parts, 0);
  std::vector<std::thread> threads;
  const auto read = [&](std::size_t part) {
    ended[part] = read_part(file, memory, size / parts * part, part + 1 == parts ? size : size / parts * (part + 1));
  };
  for (std::size_t part = 1; part < parts; ++part) {
    try {
      threads.emplace_back(read, part);
    } catch (const std::system_error&) {  // no further thread is to be had
      read(part);
    }
  }
  read(0);
  for (std::thread& thread : threads) thread.join();
  const auto bad = std::find_if(ended.begin(), ended.end(), [](int code) { return code != 0; });
  return bad == ended.end() ? 0 : *bad;
}

bool same_content(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

void FileBytes::Free::operator()(char* memory) const { std::free(memory); }

FileBytes::FileBytes(const std::filesystem::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) fail(path, "the file cannot be opened", errno);
  struct stat status {};
  if (::fstat(file.value, &status) != 0) fail(path, "the file cannot be read", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "this is a folder, not a file", EISDIR);
  // A device such as /dev/zero has no end.
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) fail(path, "this is a device, not a file", EINVAL);
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    memory_.reset(allocate(size));
    if (!memory_)
      throw Error(ErrorCode::out_of_memory, "the " + std::to_string(size) + " bytes of the file do not fit in memory",
                  path.string());
    const int ended = read_whole(file.value, memory_.get(), size);
    if (ended == too_short) fail_changed(path);
    if (ended != 0) fail(path, "the file cannot be read", ended);
    struct stat after {};
    if (::fstat(file.value, &after) != 0) fail(path, "the file cannot be read", errno);
    if (!same_content(status, after)) fail_changed(path);
    bytes_ = {memory_.get(), size};
    return;
  }
  std::array<char, 1 << 16> piece;
  while (true) {
    const ssize_t got = ::read(file.value, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "the file cannot be read", errno);
    if (got == 0) break;
    pieces_.append(piece.data(), static_cast<std::size_t>(got));
  }
  bytes_ = pieces_;
}

}  // namespace voussoir
