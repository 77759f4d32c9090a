#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>

#include <algorithm>
#include <cstring>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/detail/file_bytes.hpp>
#include <voussoir/framework/io/gmsh/detail/mesh_builder.hpp>
#include <voussoir/framework/io/gmsh/detail/physical_names.hpp>
#include <voussoir/framework/io/gmsh/detail/sections_2.hpp>
#include <voussoir/framework/io/gmsh/detail/sections_4.hpp>
#include <voussoir/framework/io/gmsh/detail/source.hpp>

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
      if (section.size() < 2 || section[0] != '$' || section.starts_with("$End") || section.starts_with("$END"))
        fail("'" + printable(section) +
                 "' is found where a section should begin, e.g. $Nodes; the previous section has "
                 "more lines than it declares, or the file is corrupt",
             start);
      // What is binary begins right after the end of this line.
      cursor_.line();
      read_section(section, start);
    }
    if (!has_nodes_)
      fail("the file has no section " + std::string(version_ == 10 ? "$NOD" : "$Nodes") +
               "; it is truncated, or not a mesh",
           cursor_.position());
    if (!has_elements_)
      fail("the file has no section " + std::string(version_ == 10 ? "$ELM" : "$Elements") +
               "; it is truncated, or the geometry was not meshed",
           cursor_.position());
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

  /// Finds out the version. Files of version 1 do not tell it: they begin with their nodes.
  void read_format() {
    while (true) {
      cursor_.skip_white();
      const std::size_t start = cursor_.position();
      const std::string section(cursor_.word());
      if (section == "$MeshFormat") return read_format_line();
      if (section == "$NOD" || section == "$ELM") {
        version_ = 10;
        cursor_.move_to(start);
        return;
      }
      // A comment may stand in front.
      const std::size_t end = section.size() < 2 || section[0] != '$' ? std::string_view::npos : find_end(section);
      if (end == std::string_view::npos)
        fail(
            "this is not a Gmsh mesh: it begins neither with $MeshFormat nor with $NOD (a geometry, .geo, must be "
            "meshed first)",
            start);
      cursor_.move_to(end);
      cursor_.word();
    }
  }

  void read_format_line() {
    TextSource text(cursor_);
    text.begin_record();
    const std::size_t start = cursor_.position();
    const double version = text.real();
    const std::size_t version_end = cursor_.position();
    const std::int64_t kind = text.integer(), data_size = text.integer();
    for (const int known : {10, 20, 21, 22, 40, 41})
      if (version == known / 10.0) version_ = known;
    if (version_ == 0)
      fail("version " + std::string(cursor_.bytes().substr(start, version_end - start)) +
               " of the format is not supported; set Mesh.MshFileVersion to 4.1 or 2.2 in Gmsh and save again",
           start);
    if (kind != 0 && kind != 1)
      fail("the second number of $MeshFormat must be 0 (text) or 1 (binary), not " + std::to_string(kind), start);
    if (kind == 1 && version_ == 10) fail("version 1 of the format has no binary files; save the mesh again", start);
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
          "the number 1 that indicates the byte order is missing; the file is corrupt (was it copied as text?): save "
          "it again",
          cursor_.position());
    swapped_ = one != 1;
    cursor_.move_to(cursor_.position() + sizeof(one));
  }

  void read_section(const std::string& section, std::size_t start) {
    if (section == "$PhysicalNames") {
      gmsh::read_physical_names(cursor_, builder_, version_, binary_);
    } else if (section == "$Nodes" || section == "$ParametricNodes" || (version_ == 10 && section == "$NOD")) {
      once(has_nodes_, section, start);
      if (binary_)
        read_nodes(BinarySource(cursor_, swapped_), section);
      else
        read_nodes(TextSource(cursor_), section);
    } else if (section == "$Elements" || (version_ == 10 && section == "$ELM")) {
      once(has_elements_, section, start);
      read_elements();
    } else if (version_ >= 40 && (section == "$Entities" || section == "$PartitionedEntities")) {
      if (has_elements_)
        fail("the section " + section + " follows $Elements, but must precede it; save the mesh again", start);
      if (binary_)
        read_entities(BinarySource(cursor_, swapped_), section);
      else
        read_entities(TextSource(cursor_), section);
    } else {
      const std::size_t at = find_end(section);
      if (at == std::string_view::npos)
        fail("the section " + printable(section) + " does not end with " + printable(end_of(section)) +
                 "; the file is truncated",
             start);
      cursor_.move_to(at);
    }
    expect_end(section);
  }

  /// "$EndNodes", or "$ENDNOD" of version 1.
  std::string end_of(const std::string& section) const {
    const bool capitals = section == "$NOD" || section == "$ELM" || (version_ == 10 && section != "$PhysicalNames");
    return (capitals ? "$END" : "$End") + section.substr(1);
  }
  /// Where a section that is passed over ends.
  std::size_t find_end(const std::string& section) const {
    const std::size_t at = cursor_.bytes().find("$End" + section.substr(1), cursor_.position());
    return std::min(at, cursor_.bytes().find("$END" + section.substr(1), cursor_.position()));
  }

  void once(bool& seen, const std::string& section, std::size_t start) const {
    if (seen) fail("the file has a second section " + section + "; a mesh has one", start);
    seen = true;
  }

  void expect_end(const std::string& section) {
    cursor_.skip_white();
    const std::size_t start = cursor_.position();
    const std::string wanted = end_of(section);
    const std::string_view found = cursor_.word();
    if (found == wanted || (version_ == 10 && found == "$End" + section.substr(1))) return;
    if (found.empty()) fail("the file ends before " + printable(wanted) + "; it is truncated: save it again", start);
    fail("'" + printable(found) + "' is found where " + printable(wanted) +
             " should be: the section has more or fewer lines than it declares",
         start);
  }

  template <class Source>
  gmsh::Sections4<Source> sections_4(Source source) {
    return {source, builder_, tick_, version_ == 40};
  }
  template <class Source>
  gmsh::Sections2<Source> sections_2(Source source) {
    return {source, builder_, tick_};
  }

  template <class Source>
  void read_entities(Source source, const std::string& section) {
    auto sections = sections_4(source);
    if (section == "$Entities")
      sections.entities();
    else
      sections.partitioned_entities();
  }

  template <class Source>
  void read_nodes(Source source, const std::string& section) {
    if (version_ >= 40)
      sections_4(source).nodes();
    else if (section == "$ParametricNodes")
      sections_2(source).parametric_nodes(count_line());
    else
      sections_2(source).nodes(count_line());
  }

  void read_elements() {
    if (version_ >= 40) {
      if (binary_)
        sections_4(BinarySource(cursor_, swapped_)).elements();
      else
        sections_4(TextSource(cursor_)).elements();
    } else if (binary_) {
      sections_2(BinarySource(cursor_, swapped_)).elements_binary(count_line());
    } else if (version_ == 10) {
      sections_2(TextSource(cursor_)).elements_1(count_line());
    } else {
      sections_2(TextSource(cursor_)).elements_text(count_line());
    }
  }

  /// Versions up to 2.2 write their counts as text, in binary files too.
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
  int version_ = 0;  // times ten
  bool binary_ = false, swapped_ = false;
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
