#include <voussoir/partition/process/part_file.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/partition/process/detail/part_container.hpp>

// Our own format: a mark, a version and the number of parts; offset and size of each part, and a checksum of all that;
// then the parts as encode() makes them.

namespace voussoir {
namespace {

constexpr std::string_view file_mark = "VSRPARTS";
constexpr std::uint32_t file_version = 1;
constexpr std::size_t fixed_head = 8 + 2 * sizeof(std::uint32_t);
constexpr std::size_t per_part = 2 * sizeof(std::uint64_t);
constexpr std::string_view hdf5_mark = "\x89HDF\r\n\x1a\n";  // of every HDF5 file, as `voussoir partition` writes it

std::string quoted(const std::filesystem::path& path) { return "file '" + path.string() + "'"; }

std::ifstream open_parts(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ErrorCode::io, std::string("the file cannot be opened: ") + std::strerror(errno), quoted(path));
  return file;
}

/// Some bytes of a file.
std::string read_bytes(std::ifstream& file, std::uint64_t offset, std::uint64_t size,
                       const std::filesystem::path& path) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file || static_cast<std::uint64_t>(file.gcount()) != size)
    throw Error(ErrorCode::bad_input, "the file is damaged: it ends too early; divide the job again", quoted(path));
  return bytes;
}

bool begins_with(const std::filesystem::path& path, std::string_view mark) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(mark.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file.good() && begin == mark;
}

/// In lower case.
std::string extension_of(const std::filesystem::path& path) {
  std::string text = path.extension().string();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_hdf5_name(const std::filesystem::path& path) {
  const std::string extension = extension_of(path);
  return extension == ".h5" || extension == ".hdf5";
}

class OwnFormat final : public detail::StoredParts {
 public:
  explicit OwnFormat(std::filesystem::path path);
  int parts() const override { return static_cast<int>(slices_.size()); }
  std::uint64_t bytes(int part) const override { return slices_[static_cast<std::size_t>(part)].size; }
  std::string read(int part) const override {
    std::ifstream file = open_parts(path_);
    return read_bytes(file, slices_[static_cast<std::size_t>(part)].offset, bytes(part), path_);
  }

 private:
  struct Slice {
    std::uint64_t offset, size;
  };
  std::filesystem::path path_;
  std::vector<Slice> slices_;
};

OwnFormat::OwnFormat(std::filesystem::path path) : path_(std::move(path)) {
  std::ifstream file = open_parts(path_);
  file.seekg(0, std::ios::end);
  const auto length = static_cast<std::uint64_t>(file.tellg());
  const std::string fixed = read_bytes(file, 0, fixed_head, path_);
  ByteReader numbers(std::string_view(fixed).substr(file_mark.size()), quoted(path_));
  const auto version = numbers.get<std::uint32_t>(), parts = numbers.get<std::uint32_t>();
  if (version != file_version)
    throw Error(ErrorCode::bad_input,
                "the file has format " + std::to_string(version) + ", but this program reads format " +
                    std::to_string(file_version) + "; divide the job again",
                quoted(path_));
  const auto refuse = [&] {
    throw Error(ErrorCode::bad_input, "the file is damaged: its table of contents is wrong; divide the job again",
                quoted(path_));
  };
  const std::uint64_t table = fixed_head + std::uint64_t{parts} * per_part;
  if (parts == 0 || parts > static_cast<std::uint32_t>(std::numeric_limits<int>::max()) || table > length) refuse();
  const std::string head = read_bytes(file, 0, table + sizeof(std::uint64_t), path_);
  ByteReader contents(std::string_view(head).substr(fixed_head), quoted(path_));
  for (std::uint32_t p = 0; p < parts; ++p) {
    const auto offset = contents.get<std::uint64_t>(), size = contents.get<std::uint64_t>();
    if (offset > length || size > length - offset) refuse();
    slices_.push_back({offset, size});
  }
  if (contents.get<std::uint64_t>() != checksum(std::string_view(head).substr(0, table))) refuse();
}

void write_own_format(const std::filesystem::path& path, const JobDivision& division, bool overwrite) {
  OutputFile file(path, overwrite);
  const auto parts = static_cast<std::uint32_t>(division.parts());
  file.write(std::string(fixed_head + parts * per_part + sizeof(std::uint64_t), '\0'));
  ByteWriter head;
  head.raw(file_mark);
  head.put(file_version).put(parts);
  for (int p = 0; p < division.parts(); ++p) {
    const std::string bytes = encode(division.part(p));
    head.put(file.position()).put(static_cast<std::uint64_t>(bytes.size()));
    file.write(bytes);
  }
  head.put(checksum(head.bytes()));
  file.patch(0, head.bytes());
  file.commit();
}

}  // namespace

void write_part_file(const std::filesystem::path& path, const JobDivision& division, bool overwrite) {
  if (is_hdf5_name(path))
    detail::hdf5_container(path).write(path, division, overwrite);
  else
    write_own_format(path, division, overwrite);
}

void require_part_format(const std::filesystem::path& path) {
  if (is_hdf5_name(path)) detail::hdf5_container(path).check(path);
}

bool is_part_file_name(const std::filesystem::path& path) {
  return is_hdf5_name(path) || extension_of(path) == ".vpart";
}

bool PartFile::is_one(const std::filesystem::path& path) {
  if (!begins_with(path, hdf5_mark)) return begins_with(path, file_mark);
  try {
    detail::hdf5_container(path).open(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)) {
  open_parts(path_);  // the reason why it cannot be opened, if so
  if (begins_with(path_, hdf5_mark))
    stored_ = detail::hdf5_container(path_).open(path_);
  else if (begins_with(path_, file_mark))
    stored_ = std::make_shared<OwnFormat>(path_);
  else
    throw Error(ErrorCode::bad_input,
                "this is not a file of parts; write one with 'voussoir partition FILE --parts N --output MODEL.vpart'",
                quoted(path_));
}

int PartFile::parts() const { return stored_->parts(); }

void PartFile::require_part(int part) const {
  if (part < 0 || part >= parts())
    throw Error(ErrorCode::misuse,
                "part " + std::to_string(part) + " does not exist; there are " + std::to_string(parts()),
                quoted(path_));
}

std::uint64_t PartFile::bytes(int part) const {
  require_part(part);
  return stored_->bytes(part);
}

ProcessPart PartFile::read(int part) const {
  require_part(part);
  ProcessPart result = decode(stored_->read(part), quoted(path_) + ", part " + std::to_string(part));
  if (result.part != part || result.parts != parts())
    throw Error(ErrorCode::bad_input, "the file is damaged: a part is not in its place; divide the job again",
                quoted(path_));
  return result;
}

}  // namespace voussoir
