#include <voussoir/partition/process/part_file.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/output_file.hpp>

// A mark, a version and the number of parts; offset and size of each part, and a checksum of all that; then the parts
// as encode() makes them.

namespace voussoir {
namespace {

constexpr std::string_view file_mark = "VSRPARTS";
constexpr std::uint32_t file_version = 1;
constexpr std::size_t fixed_head = 8 + 2 * sizeof(std::uint32_t);
constexpr std::size_t per_part = 2 * sizeof(std::uint64_t);

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

}  // namespace

void write_part_file(const std::filesystem::path& path, const JobDivision& division, bool overwrite) {
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

bool PartFile::is_one(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string mark(file_mark.size(), '\0');
  file.read(mark.data(), static_cast<std::streamsize>(mark.size()));
  return file.good() && mark == file_mark;
}

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)) {
  std::ifstream file = open_parts(path_);
  if (!is_one(path_))
    throw Error(ErrorCode::bad_input,
                "this is not a file of parts; write one with 'voussoir partition FILE --parts N --output MODEL.vpart'",
                quoted(path_));
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

std::uint64_t PartFile::bytes(int part) const {
  if (part < 0 || part >= parts())
    throw Error(ErrorCode::misuse,
                "part " + std::to_string(part) + " does not exist; there are " + std::to_string(parts()),
                quoted(path_));
  return slices_[static_cast<std::size_t>(part)].size;
}

ProcessPart PartFile::read(int part) const {
  const std::uint64_t size = bytes(part);
  std::ifstream file = open_parts(path_);
  const std::string contents = read_bytes(file, slices_[static_cast<std::size_t>(part)].offset, size, path_);
  ProcessPart result = decode(contents, quoted(path_) + ", part " + std::to_string(part));
  if (result.part != part || result.parts != parts())
    throw Error(ErrorCode::bad_input, "the file is damaged: a part is not in its place; divide the job again",
                quoted(path_));
  return result;
}

}  // namespace voussoir
