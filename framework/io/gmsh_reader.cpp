#include <voussoir/framework/io/gmsh_reader.hpp>

#include <bit>
#include <cstring>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/detail/file_bytes.hpp>
#include <voussoir/framework/io/detail/gmsh/mesh_builder.hpp>
#include <voussoir/framework/io/detail/gmsh/sections.hpp>
#include <voussoir/framework/io/detail/gmsh/source.hpp>

namespace voussoir {
namespace {

using gmsh::BinarySource;
using gmsh::Cursor;
using gmsh::MeshBuilder;
using gmsh::printable;
using gmsh::TextSource;

/// Walks over the sections of a file.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& name, gmsh::Tick tick)
      : cursor_(bytes, name), builder_(name), tick_(std::move(tick)) {}

  GmshMesh read() {
    read_format();
    while (true) {
      cursor_.skip_white();
      if (cursor_.at_end()) break;
      const std::size_t start = cursor_.position();
      const std::string section(cursor_.word());
      if (section.size() < 2 || section[0] != '$' || section.starts_with("$End"))
        fail("'" + printable(section) +
                 "' stands where a section should begin, e.g. $Nodes; the section before has "
                 "more lines than it announces, or the file is damaged",
             start);
      // What is binary begins right after the end of this line.
      cursor_.line();
      read_section(section, start);
    }
    if (!has_nodes_) fail("the file has no section $Nodes; it is cut off, or not a mesh", cursor_.position());
    if (!has_elements_)
      fail("the file has no section $Elements; it is cut off, or the geometry was not meshed", cursor_.position());
    if (!builder_.has_elements())
      fail(
          "the mesh has no elements; mesh the geometry in Gmsh, and if it has physical groups, put the body into one "
          "of them too (or set Mesh.SaveAll=1)",
          cursor_.position());
    return builder_.finish();
  }

 private:
  [[noreturn]] void fail(const std::string& text, std::size_t position) const {
    throw Error(ErrorCode::bad_input, text, binary_ ? cursor_.byte_at(position) : cursor_.line_at(position));
  }

  void read_format() {
    cursor_.skip_white();
    if (cursor_.word() != "$MeshFormat")
      fail("this is not a Gmsh mesh: it does not begin with $MeshFormat (a geometry, .geo, must be meshed first)", 0);
    TextSource text(cursor_);
    text.begin_record();
    const std::size_t start = cursor_.position();
    const double version = text.real();
    const std::size_t version_end = cursor_.position();
    const std::int64_t kind = text.integer(), data_size = text.integer();
    if (version != 2.2 && version != 4.1)
      fail("version " + std::string(cursor_.bytes().substr(start, version_end - start)) +
               " of the format is not read; set Mesh.MshFileVersion to 4.1 or 2.2 in Gmsh and save again",
           start);
    is_4_ = version == 4.1;
    if (kind != 0 && kind != 1)
      fail("the second number of $MeshFormat must be 0 (text) or 1 (binary), not " + std::to_string(kind), start);
    if (data_size != 8)
      fail("the third number of $MeshFormat must be 8, the size of its numbers, not " + std::to_string(data_size),
           start);
    cursor_.line();
    if (kind == 1) read_byte_order();
    expect_end("$MeshFormat");
  }

  void read_byte_order() {
    binary_ = true;
    std::uint32_t one = 0;
    if (cursor_.remaining() < sizeof(one))
      fail("the file ends after its first line; save it again", cursor_.position());
    std::memcpy(&one, cursor_.bytes().data() + cursor_.position(), sizeof(one));
    if (one != 1 && one != 0x01000000)
      fail(
          "the number 1 that tells the order of bytes is not there; the file is damaged (was it copied as text?): save "
          "it again",
          cursor_.position());
    swapped_ = one != 1;
    cursor_.move_to(cursor_.position() + sizeof(one));
  }

  void read_section(const std::string& section, std::size_t start) {
    if (section == "$PhysicalNames") {
      read_names();
    } else if (section == "$Nodes") {
      once(has_nodes_, section, start);
      if (binary_)
        read_nodes(BinarySource(cursor_, swapped_));
      else
        read_nodes(TextSource(cursor_));
    } else if (section == "$Elements") {
      once(has_elements_, section, start);
      read_elements();
    } else if (is_4_ && (section == "$Entities" || section == "$PartitionedEntities")) {
      if (has_elements_)
        fail("the section " + section + " stands behind $Elements, but must stand before it; save the mesh again",
             start);
      if (binary_)
        read_entities(BinarySource(cursor_, swapped_), section);
      else
        read_entities(TextSource(cursor_), section);
    } else {
      const std::string end = "$End" + section.substr(1);
      const std::size_t at = cursor_.bytes().find(end, cursor_.position());
      if (at == std::string_view::npos)
        fail("the section " + printable(section) + " does not end with " + printable(end) + "; the file is cut off",
             start);
      cursor_.move_to(at);
    }
    expect_end(section);
  }

  void once(bool& seen, const std::string& section, std::size_t start) const {
    if (seen) fail("the file has a second section " + section + "; a mesh has one", start);
    seen = true;
  }

  void expect_end(const std::string& section) {
    cursor_.skip_white();
    const std::size_t start = cursor_.position();
    const std::string wanted = "$End" + section.substr(1);
    const std::string_view found = cursor_.word();
    if (found == wanted) return;
    if (found.empty()) fail("the file ends before " + printable(wanted) + "; it is cut off: save it again", start);
    fail("'" + printable(found) + "' stands where " + printable(wanted) +
             " should: the section has more or fewer lines than it announces",
         start);
  }

  /// Text in every kind of file.
  void read_names() {
    TextSource text(cursor_);
    const std::int64_t count = text.free_integer();
    for (std::int64_t i = 0; i < count; ++i) {
      text.begin_record();
      const std::size_t start = cursor_.position();
      const std::int64_t dimension = text.integer(), tag = text.integer();
      const std::string_view rest = cursor_.line();
      const std::size_t open = rest.find('"'), close = rest.rfind('"');
      if (dimension < 0 || dimension > 3 || tag < -INT32_MAX || tag > INT32_MAX || open == close)
        fail("a physical name is written: dimension (0 to 3), tag, and the name in double quotes", start);
      if (!builder_.name_group(static_cast<int>(dimension), static_cast<int>(tag < 0 ? -tag : tag),
                               rest.substr(open + 1, close - open - 1)))
        fail("the physical " + gmsh_dimension_name(static_cast<int>(dimension)) + " " + std::to_string(tag) +
                 " has another name already; give it one name and save the mesh again",
             start);
    }
  }

  template <class Source>
  void read_entities(Source source, const std::string& section) {
    gmsh::Sections<Source> sections(source, builder_, tick_);
    if (section == "$Entities")
      sections.entities_4();
    else
      sections.partitioned_entities_4();
  }

  template <class Source>
  void read_nodes(Source source) {
    gmsh::Sections<Source> sections(source, builder_, tick_);
    if (is_4_)
      sections.nodes_4();
    else
      sections.nodes_2(count_line());
  }

  void read_elements() {
    if (binary_) {
      gmsh::Sections<BinarySource> sections(BinarySource(cursor_, swapped_), builder_, tick_);
      if (is_4_)
        sections.elements_4();
      else
        sections.elements_2_binary(count_line());
    } else {
      gmsh::Sections<TextSource> sections(TextSource(cursor_), builder_, tick_);
      if (is_4_)
        sections.elements_4();
      else
        sections.elements_2_text(count_line());
    }
  }

  /// Version 2.2 writes its counts as text, in binary files too.
  std::int64_t count_line() {
    TextSource text(cursor_);
    const std::int64_t count = text.free_integer();
    text.end_record();
    cursor_.line();
    return count;
  }

  Cursor cursor_;
  MeshBuilder builder_;
  gmsh::Tick tick_;
  bool is_4_ = false, binary_ = false, swapped_ = false;
  bool has_nodes_ = false, has_elements_ = false;
};

void report(const ReadProgress& progress, std::size_t position, std::size_t size, const std::string& name) {
  if (progress && !progress(static_cast<double>(position) / static_cast<double>(size)))
    throw Error(ErrorCode::cancelled, "reading was stopped", name);
}

}  // namespace

std::int64_t GmshMesh::element_count() const {
  std::int64_t count = 0;
  for (const Batch& batch : batches) count += static_cast<std::int64_t>(batch.ids.size());
  return count;
}

std::string GmshMesh::label(const Group& group) const {
  if (!group.name.empty()) return group.name;
  const std::string dimension = gmsh_dimension_name(group.dimension);
  return group.tag == 0 ? dimension + "s without group" : dimension + " " + std::to_string(group.tag);
}

std::string gmsh_dimension_name(int dimension) {
  const char* const names[] = {"point", "curve", "surface", "volume"};
  return names[dimension];
}

GmshMesh read_gmsh_bytes(std::string_view bytes, const std::string& name, const ReadProgress& progress) {
  return Reader(bytes, name, [&](std::size_t position) { report(progress, position, bytes.size(), name); }).read();
}

GmshMesh read_gmsh(const std::filesystem::path& path, const ReadProgress& progress) {
  const FileBytes file(path);
  const std::string name = path.filename().string();
  return Reader(file.bytes(), name,
                [&](std::size_t position) { report(progress, position, file.bytes().size(), name); })
      .read();
}

}  // namespace voussoir
