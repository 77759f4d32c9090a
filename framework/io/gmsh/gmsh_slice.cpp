#include <voussoir/framework/io/gmsh/gmsh_slice.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/gmsh/detail/mesh_builder.hpp>
#include <voussoir/framework/io/gmsh/detail/physical_names.hpp>
#include <voussoir/framework/io/gmsh/detail/sections_4.hpp>
#include <voussoir/framework/io/gmsh/detail/source.hpp>

namespace voussoir {
namespace {

using gmsh::BinarySource;
using gmsh::Cursor;
using gmsh::MeshBuilder;

/// Entries from `begin` to `end`, exclusive.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return std::max<std::int64_t>(0, end - begin); }
};

/// A file of which pieces are read.
class PieceReader {
 public:
  explicit PieceReader(const std::filesystem::path& path)
      : name_(path.filename().string()), file_(path, std::ios::binary) {
    if (!file_) throw Error(ErrorCode::io, std::string("the file cannot be opened: ") + std::strerror(errno), name_);
    file_.seekg(0, std::ios::end);
    size_ = static_cast<std::int64_t>(file_.tellg());
  }

  const std::string& name() const { return name_; }
  std::int64_t size() const { return size_; }
  std::int64_t position() const { return position_; }
  [[noreturn]] void fail(const std::string& text) const {
    throw Error(ErrorCode::bad_input, text, name_ + ", byte " + std::to_string(position_));
  }
  void move_to(std::int64_t position) { position_ = position; }
  /// Passes over `count` records of `bytes` each.
  void skip(std::int64_t count, std::int64_t bytes) {
    require(count, bytes);
    position_ += count * bytes;
  }
  std::string take(std::int64_t count, std::int64_t bytes) {
    require(count, bytes);
    std::string read(static_cast<std::size_t>(count * bytes), '\0');
    file_.seekg(static_cast<std::streamoff>(position_));
    file_.read(read.data(), static_cast<std::streamsize>(read.size()));
    if (!file_)
      throw Error(ErrorCode::io, "the file could not be read; another program may have changed it in the meantime",
                  name_);
    position_ += count * bytes;
    return read;
  }
  /// A text that must stand here, with white space in front.
  void expect(const std::string& word) {
    std::string found = take(std::min<std::int64_t>(static_cast<std::int64_t>(word.size()) + 4, size_ - position_), 1);
    const std::size_t begin = std::min(found.find_first_not_of(" \r\n\t"), found.size());
    if (found.compare(begin, word.size(), word) != 0)
      fail("'" + gmsh::printable(found.substr(begin)) + "' is found where " + word +
           " should be: the section has more or fewer records than it declares, or the file is truncated");
    position_ -= static_cast<std::int64_t>(found.size() - begin - word.size());
  }

 private:
  void require(std::int64_t count, std::int64_t bytes) const {
    if (count < 0 || count > (size_ - position_) / bytes)
      fail("the file declares " + std::to_string(count) + " records, but only " + std::to_string(size_ - position_) +
           " bytes follow; it is truncated or corrupt: save it again");
  }

  std::string name_;
  std::ifstream file_;
  std::int64_t size_ = 0, position_ = 0;
};

[[noreturn]] void refuse(const std::string& why, const std::string& name) {
  throw Error(ErrorCode::bad_input,
              "a mesh is read in slices from a binary file of version 4.1, but " + why +
                  "; save it with Mesh.MshFileVersion=4.1 and Mesh.Binary=1, or run without --slices",
              name);
}

class SliceReader {
 public:
  SliceReader(const std::filesystem::path& path, int slice, int slices)
      : file_(path), builder_(file_.name()), slice_(slice), slices_(slices) {}

  GmshSlice read() {
    read_head();
    read_nodes();
    file_.expect("$EndNodes");
    file_.expect("$Elements");
    file_.skip(1, 1);  // end of the line
    read_elements();
    file_.expect("$EndElements");
    if (!builder_.has_elements()) file_.fail("the mesh has no elements; mesh the geometry in Gmsh");
    result_.mesh = builder_.finish(MeshBuilder::Contents::slice);
    return std::move(result_);
  }

 private:
  static constexpr std::int64_t tag_bytes = sizeof(std::uint64_t), real_bytes = sizeof(double), int_bytes = 4;

  /// What precedes the nodes: format, names and entities.
  void read_head() {
    std::string head;
    std::size_t at = std::string::npos;
    constexpr std::int64_t piece = std::int64_t{1} << 20;
    while (at == std::string::npos && file_.position() < file_.size()) {
      head += file_.take(std::min(piece, file_.size() - file_.position()), 1);
      for (const char* before : {"$EndEntities", "$EndPhysicalNames", "$EndMeshFormat"})
        for (const char* end : {"\n", "\r\n"})
          if (at == std::string::npos)
            if (const std::size_t found = head.find(before + std::string(end) + "$Nodes"); found != std::string::npos)
              at = found + std::strlen(before) + std::strlen(end);
      if (at != std::string::npos && head.find('\n', at) == std::string::npos) at = std::string::npos;
      if (head.size() > 16 && !head.starts_with("$MeshFormat"))
        refuse("this file does not begin with $MeshFormat", file_.name());
      check_format(head);
    }
    if (at == std::string::npos)
      refuse("this file has no section $Nodes after its entities (is the mesh partitioned?)", file_.name());
    parse_head(std::string_view(head).substr(0, at));
    const std::size_t nodes = head.find('\n', at) + 1;
    file_.move_to(static_cast<std::int64_t>(nodes));
  }

  void check_format(const std::string& head) const {
    double version = 0;
    int kind = -1;
    if (std::sscanf(head.c_str(), "$MeshFormat %lf %d", &version, &kind) != 2 || kind < 0)
      refuse("the section $MeshFormat of this file cannot be read", file_.name());
    if (kind == 0) refuse("this is a text file", file_.name());
    if (version != 4.1) refuse("this file has another version", file_.name());
  }

  void parse_head(std::string_view head) {
    Cursor cursor(head, file_.name());
    cursor.line();
    cursor.line();  // the version, which is known
    std::uint32_t one = 0;
    if (cursor.remaining() < sizeof one) refuse("this file is truncated", file_.name());
    std::memcpy(&one, head.data() + cursor.position(), sizeof one);
    if (one != 1 && one != 0x01000000) refuse("the number 1 that indicates the byte order is missing", file_.name());
    swapped_ = one != 1;
    cursor.move_to(cursor.position() + sizeof one);
    cursor.skip_white();
    cursor.line();  // $EndMeshFormat
    while (true) {
      cursor.skip_white();
      if (cursor.at_end()) return;
      const std::string section(cursor.word());
      cursor.line();
      if (section == "$PhysicalNames") {
        gmsh::read_physical_names(cursor, builder_, 41, true);
      } else if (section == "$Entities") {
        const gmsh::Tick silent = [](std::size_t) {};
        gmsh::Sections4<BinarySource>(BinarySource(cursor, swapped_), builder_, silent, false).entities();
      } else {
        refuse("this file has the section " + gmsh::printable(section) + " before its nodes", file_.name());
      }
      cursor.skip_white();
      if (cursor.word() != "$End" + section.substr(1))
        throw Error(ErrorCode::bad_input, "the section " + section + " is damaged; save the mesh again",
                    cursor.byte_at(cursor.position()));
    }
  }

  Range share(std::int64_t total) const {
    const auto at = [&](std::int64_t k) { return total / slices_ * k + std::min<std::int64_t>(k, total % slices_); };
    return {at(slice_), at(slice_ + 1)};
  }

  /// What the slice has of a block that begins at entry `first`, by entries of the block.
  static Range within(const Range& slice, std::int64_t first, std::int64_t count) {
    return {std::clamp<std::int64_t>(slice.begin - first, 0, count),
            std::clamp<std::int64_t>(slice.end - first, 0, count)};
  }

  std::int64_t number(const std::string& bytes, std::size_t index) const {
    std::uint64_t bits;
    std::memcpy(&bits, bytes.data() + index * tag_bytes, sizeof bits);
    if (swapped_) bits = __builtin_bswap64(bits);
    if (bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      file_.fail("a number is too large to be a tag or a count; the file is corrupt: save it again");
    return static_cast<std::int64_t>(bits);
  }
  int integer(const std::string& bytes, std::size_t index) const {
    std::uint32_t bits;
    std::memcpy(&bits, bytes.data() + index * int_bytes, sizeof bits);
    return static_cast<int>(swapped_ ? __builtin_bswap32(bits) : bits);
  }
  double real(const std::string& bytes, std::size_t index) const {
    std::uint64_t bits;
    std::memcpy(&bits, bytes.data() + index * real_bytes, sizeof bits);
    if (swapped_) bits = __builtin_bswap64(bits);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value))
      file_.fail("a coordinate is not a finite number; the mesh is corrupt: generate it again");
    return value;
  }

  /// Blocks and entries of a section; the lowest and the highest tag follow, which are of no use.
  std::pair<std::int64_t, std::int64_t> section_head() {
    const std::string head = file_.take(4, tag_bytes);
    if (number(head, 1) > file_.size()) file_.fail("the section declares more records than the file has bytes");
    return {number(head, 0), number(head, 1)};
  }

  struct Block {
    int dimension, tag, third;  ///< the third is whether nodes have parameters, or the type of elements
    std::int64_t count;
  };
  Block block_head(std::int64_t left) {
    const std::string head = file_.take(3 * int_bytes + tag_bytes, 1);
    const Block block{integer(head, 0), integer(head, 1), integer(head, 2), number(head.substr(3 * int_bytes), 0)};
    if (block.dimension < 0 || block.dimension > 3 || block.count > left)
      file_.fail("a block has the dimension " + std::to_string(block.dimension) + " and " +
                 std::to_string(block.count) + " entries, where " + std::to_string(left) +
                 " are left; the file is corrupt: save it again");
    return block;
  }

  void read_nodes() {
    const auto [blocks, total] = section_head();
    result_.nodes = total;
    const Range slice = share(total);
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Block block = block_head(total - done);
      const Range own = within(slice, done, block.count);
      file_.skip(own.begin, tag_bytes);
      const std::string ids = file_.take(own.size(), tag_bytes);
      file_.skip(block.count - own.end, tag_bytes);
      const std::int64_t width = 3 + (block.third != 0 ? block.dimension : 0);
      file_.skip(own.begin, width * real_bytes);
      const std::string points = file_.take(own.size(), width * real_bytes);
      file_.skip(block.count - own.end, width * real_bytes);
      for (std::int64_t i = 0; i < own.size(); ++i) {
        builder_.node_ids().push_back(number(ids, static_cast<std::size_t>(i)));
        for (std::int64_t k = 0; k < 3; ++k)
          builder_.coordinates().push_back(real(points, static_cast<std::size_t>(i * width + k)));
      }
      done += block.count;
    }
    if (done != total) file_.fail("the blocks have fewer nodes than the section declares; save the mesh again");
  }

  void read_elements() {
    const auto [blocks, total] = section_head();
    result_.elements = total;
    const Range slice = share(total);
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Block block = block_head(total - done);
      if (block.count == 0) continue;
      const gmsh::Shape* const shape = gmsh::find_shape(block.third);
      if (!shape) file_.fail(gmsh::refusal(block.third));
      if (shape->dimension != block.dimension)
        file_.fail("elements of type " + std::string(shape->name) + " are in an entity of dimension " +
                   std::to_string(block.dimension) + "; the file is corrupt: save it again");
      const std::size_t at = builder_.batch_index(*shape, builder_.physical_tags(block.dimension, block.tag));
      result_.batch_sizes.resize(std::max(result_.batch_sizes.size(), at + 1));
      result_.places.resize(result_.batch_sizes.size());
      const Range own = within(slice, done, block.count);
      const std::int64_t width = 1 + shape->nodes;
      file_.skip(own.begin, width * tag_bytes);
      const std::string rows = file_.take(own.size(), width * tag_bytes);
      file_.skip(block.count - own.end, width * tag_bytes);
      for (std::int64_t i = 0; i < own.size(); ++i)
        take_element(*shape, builder_.batch_at(at), rows, static_cast<std::size_t>(i * width),
                     result_.batch_sizes[at] + own.begin + i, result_.places[at]);
      result_.batch_sizes[at] += block.count;
      done += block.count;
    }
    if (done != total) file_.fail("the blocks have fewer elements than the section declares; save the mesh again");
  }

  void take_element(const gmsh::Shape& shape, GmshMesh::Batch& batch, const std::string& rows, std::size_t first,
                    std::int64_t place, std::vector<std::int64_t>& places) const {
    batch.ids.push_back(number(rows, first));
    for (int k = 0; k < shape.nodes; ++k)
      batch.nodes.push_back(
          number(rows, first + 1 + static_cast<std::size_t>(shape.order[static_cast<std::size_t>(k)])));
    places.push_back(place);
  }

  PieceReader file_;
  MeshBuilder builder_;
  int slice_, slices_;
  bool swapped_ = false;
  GmshSlice result_;
};

}  // namespace

GmshSlice read_gmsh_slice(const std::filesystem::path& path, int slice, int slices) {
  if (slices < 1 || slice < 0 || slice >= slices)
    throw Error(ErrorCode::misuse, "there is no slice " + std::to_string(slice) + " of " + std::to_string(slices));
  return SliceReader(path, slice, slices).read();
}

}  // namespace voussoir
