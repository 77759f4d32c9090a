#include <voussoir/framework/io/checkpoint/journal.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include <voussoir/framework/io/checkpoint/bytes.hpp>

namespace voussoir {
namespace {

[[noreturn]] void journal_failed(const std::filesystem::path& path, const std::string& what, int error) {
  std::string text = what + ": " + std::generic_category().message(error);
  if (error == ENOSPC || error == EFBIG || error == EDQUOT) text += "; free some space or write elsewhere";
  throw Error(ErrorCode::io, text, "file '" + path.string() + "'");
}

/// A file that is read from its beginning to its end, with gaps. A short gap is read, since a stream that moves to
/// another place reads its buffer anew.
class RecordFile {
 public:
  explicit RecordFile(const std::filesystem::path& path) : file_(path, std::ios::binary) {}
  /// Whether the file has bytes for all of `into` at this place.
  bool read(std::uint64_t at, std::string& into) {
    constexpr std::uint64_t short_gap = 1 << 16;
    if (at > at_ && at - at_ < short_gap)
      file_.ignore(static_cast<std::streamsize>(at - at_));
    else if (at != at_)
      file_.seekg(static_cast<std::streamoff>(at));
    at_ = at + into.size();
    return static_cast<bool>(file_.read(into.data(), static_cast<std::streamsize>(into.size())));
  }

 private:
  std::ifstream file_;
  std::uint64_t at_ = 0;
};

constexpr std::size_t record_head = sizeof(std::uint8_t) + sizeof(std::uint32_t) + sizeof(std::uint64_t);

}  // namespace

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Journal::open(int flags) {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = ::open(path_.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor_ < 0) journal_failed(path_, "the journal of checkpoints cannot be opened", errno);
}

void Journal::create() {
  // The file of a run before may be read by somebody: it keeps its contents, and this one is another file.
  ::unlink(path_.c_str());
  open(O_CREAT | O_EXCL);
  place_ = {};
  waiting_.clear();
}

void Journal::check(const Place& place) const {
  const std::string where = path_.string();
  std::ifstream file(path_, std::ios::binary);
  if (!file) throw Error(ErrorCode::bad_input, "the journal of the checkpoint is missing", where);
  std::uint64_t sum = Place().sum, left = place.length;
  std::string chunk;
  while (left > 0) {
    chunk.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, 1 << 20)));
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    if (static_cast<std::size_t>(file.gcount()) != chunk.size())
      throw Error(ErrorCode::bad_input, "the journal ends before the place of the checkpoint", where);
    sum = checksum(chunk, sum);
    left -= chunk.size();
  }
  if (sum != place.sum)
    throw Error(ErrorCode::bad_input, "the journal is damaged: its checksum does not agree with its contents", where);
}

void Journal::continue_at(const Place& place) {
  open(0);
  if (::ftruncate(descriptor_, static_cast<off_t>(place.length)) != 0)
    journal_failed(path_, "the journal cannot be cut off where the checkpoint was made", errno);
  place_ = place;
  waiting_.clear();
}

void Journal::append(std::uint8_t kind, std::uint32_t step, std::string_view bytes) {
  ByteWriter head;
  head.put(kind).put(step).put(static_cast<std::uint64_t>(bytes.size()));
  const std::lock_guard lock(mutex_);
  waiting_ += head.bytes();
  waiting_ += bytes;
}

std::size_t Journal::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void Journal::flush() {
  const std::lock_guard lock(mutex_);
  std::string_view left = waiting_;
  auto at = static_cast<off_t>(place_.length);
  const auto fail = [&] {
    const int error = errno;
    [[maybe_unused]] const int cut = ::ftruncate(descriptor_, static_cast<off_t>(place_.length));
    journal_failed(path_, "the journal of checkpoints cannot be written", error);
  };
  while (!left.empty()) {
    const ssize_t written = ::pwrite(descriptor_, left.data(), left.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    left.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
  if (::fsync(descriptor_) != 0) fail();
  place_.sum = checksum(waiting_, place_.sum);
  place_.length += waiting_.size();
  waiting_.clear();
}

std::vector<Journal::Record> Journal::records(const Place& place) const {
  RecordFile file(path_);
  std::vector<Record> found;
  std::string head(record_head, '\0');
  for (std::uint64_t at = 0; at < place.length;) {
    if (place.length - at < head.size()) fail_at_end("the journal is damaged: a record ends too late");
    if (!file.read(at, head)) fail_at_end("the journal ends too early");
    ByteReader reader(head, path_.string());
    Record record;
    record.kind = reader.get<std::uint8_t>();
    record.step = reader.get<std::uint32_t>();
    record.length = reader.get<std::uint64_t>();
    record.offset = at + head.size();
    if (record.length > place.length - record.offset) fail_at_end("the journal is damaged: a record ends too late");
    at = record.offset + record.length;
    found.push_back(record);
  }
  return found;
}

void Journal::read(std::span<const Record> records, const std::function<void(std::string_view bytes)>& take) const {
  RecordFile file(path_);
  std::string bytes;
  for (const Record& record : records) {
    bytes.resize(static_cast<std::size_t>(record.length));
    if (!file.read(record.offset, bytes)) fail_at_end("the journal ends too early");
    take(bytes);
  }
}

void Journal::fail_at_end(const char* text) const { throw Error(ErrorCode::bad_input, text, path_.string()); }

void Journal::remove() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  ::unlink(path_.c_str());
}

}  // namespace voussoir
