#include <voussoir/framework/io/detail/mapped_file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what, int error) {
  throw Error(ErrorCode::io, std::string(what) + ": " + std::generic_category().message(error), path.string());
}

/// A descriptor that is closed on every way out.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) fail(path, "the file cannot be opened", errno);
  struct stat status {};
  if (::fstat(file.value, &status) != 0) fail(path, "the file cannot be read", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "this is a folder, not a file", EISDIR);
  // A device such as /dev/zero has no end.
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) fail(path, "this is a device, not a file", EINVAL);
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
    if (mapping != MAP_FAILED) {
      ::madvise(mapping, size, MADV_SEQUENTIAL);
      mapping_ = mapping;
      bytes_ = {static_cast<const char*>(mapping), size};
      return;
    }
  }
  std::array<char, 1 << 16> piece;
  while (true) {
    const ssize_t got = ::read(file.value, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "the file cannot be read", errno);
    if (got == 0) break;
    copy_.append(piece.data(), static_cast<std::size_t>(got));
  }
  bytes_ = copy_;
}

MappedFile::~MappedFile() {
  if (mapping_) ::munmap(mapping_, bytes_.size());
}

void MappedFile::forget_before(std::size_t position) const {
  constexpr std::size_t step = std::size_t{4} << 20;  // a multiple of every page size
  const std::size_t end = std::min(position, bytes_.size()) / step * step;
  if (!mapping_ || end <= forgotten_) return;
  ::madvise(static_cast<char*>(mapping_) + forgotten_, end - forgotten_, MADV_DONTNEED);
  forgotten_ = end;
}

}  // namespace voussoir
