#include <voussoir/framework/io/checkpoint/checkpoint_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <system_error>
#include <utility>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/detail/unfinished_file.hpp>

namespace voussoir {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t checkpoint_mark_size = 8;
constexpr std::size_t place_of_size = checkpoint_mark_size + 2 * sizeof(std::uint32_t);  // behind mark, format and 0
constexpr std::size_t head_size = place_of_size + 2 * sizeof(std::uint64_t);
constexpr const char* cannot_write = "the checkpoint cannot be written";

[[noreturn]] void checkpoint_failed(const fs::path& path, const std::string& what, int error) {
  std::string text = what + ": " + std::generic_category().message(error);
  if (error == ENOSPC || error == EFBIG || error == EDQUOT) text += "; free some space or write elsewhere";
  throw Error(ErrorCode::io, text, "file '" + path.string() + "'");
}

/// Whether all bytes were written at a place of a file; errno says why not.
bool write_at(int descriptor, std::uint64_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return true;
}

/// A file that is gone unless it gets its name.
class TemporaryCheckpoint {
 public:
  explicit TemporaryCheckpoint(const fs::path& path) : path_(path), name_(detail::unfinished_name(path)) {
    detail::remove_abandoned_files(path.has_parent_path() ? path.parent_path() : fs::path("."));
    descriptor_ = ::open(name_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor_ < 0) checkpoint_failed(path_, cannot_write, errno);
    detail::claim_unfinished(descriptor_, name_);
  }
  ~TemporaryCheckpoint() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!named_) ::unlink(name_.c_str());
    detail::forget_unfinished(name_);
  }
  TemporaryCheckpoint(const TemporaryCheckpoint&) = delete;
  TemporaryCheckpoint& operator=(const TemporaryCheckpoint&) = delete;

  void write(std::string_view bytes) {
    if (!write_at(descriptor_, at_, bytes)) checkpoint_failed(path_, cannot_write, errno);
    at_ += bytes.size();
  }
  void commit() {
    if (::fsync(descriptor_) != 0) checkpoint_failed(path_, cannot_write, errno);
    const int handle = std::exchange(descriptor_, -1);
    if (::close(handle) != 0) checkpoint_failed(path_, cannot_write, errno);
    if (::rename(name_.c_str(), path_.c_str()) != 0)
      checkpoint_failed(path_, "the checkpoint cannot be renamed from its temporary name", errno);
    named_ = true;
    // The new name is on the disk once its folder is. File systems that cannot flush folders keep names in order.
    const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
    if (const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); opened >= 0) {
      ::fsync(opened);
      ::close(opened);
    }
  }

 private:
  fs::path path_, name_;
  int descriptor_ = -1;
  std::uint64_t at_ = 0;
  bool named_ = false;
};

std::string padded(std::string_view mark) {
  std::string text(mark.substr(0, checkpoint_mark_size));
  text.resize(checkpoint_mark_size, ' ');
  return text;
}

/// The beginning of a file whose contents have this size and checksum. Its own checksum covers the mark, the format and
/// the size, too.
std::string head_of(std::string_view mark, std::uint32_t format, std::uint64_t size, std::uint64_t sum) {
  ByteWriter head;
  head.raw(padded(mark));
  head.put(format).put(std::uint32_t{0}).put(size);
  head.put(checksum(head.bytes(), sum));
  return head.take();
}

/// Bytes behind the length that the file states are an error unless it `grows`: then they were not appended completely.
std::string read_checkpoint(const fs::path& path, std::string_view mark, std::uint32_t format, bool grows) {
  const std::string name = path.string();
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ErrorCode::io, "the checkpoint cannot be read: " + std::generic_category().message(errno), name);
  std::string all((std::istreambuf_iterator<char>(file)), {});
  if (file.bad()) throw Error(ErrorCode::io, "the checkpoint cannot be read", name);
  if (all.size() < checkpoint_mark_size || all.compare(0, checkpoint_mark_size, padded(mark)) != 0)
    throw Error(ErrorCode::bad_input, "these bytes are not a checkpoint of this kind", name);
  ByteReader head(std::string_view(all).substr(checkpoint_mark_size), name);
  const auto found_format = head.get<std::uint32_t>();
  if (found_format != format)
    throw Error(ErrorCode::bad_input,
                "the checkpoint has format " + std::to_string(found_format) + ", and this program reads format " +
                    std::to_string(format) + "; continue with the version that wrote it, or start over",
                name);
  head.get<std::uint32_t>();
  const auto size = head.get<std::uint64_t>();
  head.get<std::uint64_t>();
  const std::uint64_t found_size = all.size() - head_size;
  if (found_size < size || (found_size > size && !grows)) head.fail("its length is not what it says");
  const std::string_view bytes = std::string_view(all).substr(head_size, static_cast<std::size_t>(size));
  if (!all.starts_with(head_of(mark, format, size, checksum(bytes))))
    head.fail("its checksum does not agree with its contents");
  return std::string(bytes);
}

/// Writes bytes in pieces, so that large contents need not be copied into one. Returns their checksum.
std::uint64_t write_checkpoint(const fs::path& path, std::string_view mark, std::uint32_t format,
                               std::initializer_list<std::string_view> pieces) {
  std::uint64_t size = 0, sum = checksum({});
  for (const std::string_view piece : pieces) {
    size += piece.size();
    sum = checksum(piece, sum);
  }
  TemporaryCheckpoint file(path);
  file.write(head_of(mark, format, size, sum));
  for (const std::string_view piece : pieces) file.write(piece);
  file.commit();
  return sum;
}

}  // namespace

void write_checkpoint_file(const fs::path& path, std::string_view mark, std::uint32_t format, std::string_view bytes) {
  write_checkpoint(path, mark, format, {bytes});
}

std::string read_checkpoint_file(const fs::path& path, std::string_view mark, std::uint32_t format) {
  return read_checkpoint(path, mark, format, false);
}

std::string GrowingFile::read(const fs::path& path, std::string_view mark, std::uint32_t format) {
  return read_checkpoint(path, mark, format, true);
}

void GrowingFile::write(std::string_view bytes) {
  sum_ = write_checkpoint(path_, mark_, format_, {bytes});
  size_ = bytes.size();
}

void GrowingFile::append(std::string_view bytes) {
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) checkpoint_failed(path_, cannot_write, errno);
  const std::uint64_t size = size_ + bytes.size(), sum = checksum(bytes, sum_);
  const auto say = [&](std::uint64_t has_size, std::uint64_t has_sum) {
    const std::string head = head_of(mark_, format_, has_size, has_sum);
    return write_at(descriptor, place_of_size, std::string_view(head).substr(place_of_size)) &&
           ::fsync(descriptor) == 0;
  };
  // The new bytes are on the disk before the file says that it has them.
  bool done = write_at(descriptor, head_size + size_, bytes) && ::fsync(descriptor) == 0;
  const bool said = done;
  if (done) done = say(size, sum);
  const int error = errno;
  if (!done) {
    if (said) say(size_, sum_);
    [[maybe_unused]] const int cut = ::ftruncate(descriptor, static_cast<off_t>(head_size + size_));
  }
  ::close(descriptor);
  if (!done) checkpoint_failed(path_, cannot_write, error);
  size_ = size;
  sum_ = sum;
}

std::vector<fs::path> CheckpointPair::files() const {
  return {fs::path(path_.string() + "-a"), fs::path(path_.string() + "-b")};
}

bool CheckpointPair::exists() const {
  const auto both = files();
  std::error_code ignored;
  return std::any_of(both.begin(), both.end(), [&](const fs::path& file) { return fs::exists(file, ignored); });
}

std::vector<CheckpointPair::Found> CheckpointPair::read(std::vector<std::string>& refused) const {
  std::vector<Found> all;
  for (const fs::path& file : files()) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    try {
      const std::string bytes = read_checkpoint_file(file, mark_, format_);
      ByteReader reader(bytes, file.string());
      const auto number = reader.get<std::uint64_t>();
      all.push_back({file, number, bytes.substr(sizeof number)});
    } catch (const Error& error) {
      refused.push_back(file.string() + ": " + error.text());
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.number > b.number; });
  return all;
}

void CheckpointPair::go_on_from(const Found& found) {
  number_ = found.number;
  next_ = found.path == files().front() ? 1 : 0;
}

void CheckpointPair::write(std::string_view bytes) {
  const std::string number = ByteWriter().put(number_ + 1).take();
  write_checkpoint(files()[next_], mark_, format_, {number, bytes});
  ++number_;
  next_ = 1 - next_;
}

void CheckpointPair::remove() const noexcept try {
  std::error_code ignored;
  const std::string start = path_.filename().string() + "-";
  for (const fs::path& file : files()) fs::remove(file, ignored);
  // What a killed run was writing has a temporary name.
  const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  std::vector<fs::path> unfinished;
  for (fs::directory_iterator it(folder, ignored), end; it != end && !ignored; it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(start) && name.compare(start.size() + 1, 6, ".part-") == 0) unfinished.push_back(it->path());
  }
  for (const fs::path& file : unfinished) fs::remove(file, ignored);
} catch (const std::exception&) {  // out of memory
}

}  // namespace voussoir
