#include <voussoir/framework/io/vtk/pvtu_writer.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/detail/xml_text.hpp>
#include <voussoir/framework/io/output_file.hpp>

namespace voussoir {
namespace {

/// The text of a VTU file before its numbers.
std::string head_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string where = "file '" + path.string() + "'";
  if (!file) throw Error(ErrorCode::io, std::string("the file cannot be opened: ") + std::strerror(errno), where);
  std::string head;
  for (std::string line; std::getline(file, line); head += line + "\n")
    if (line.find("<AppendedData") != std::string::npos) return head;
  throw Error(ErrorCode::bad_input, "this is not a VTU file with appended numbers", where);
}

/// The value of an attribute within a tag; empty if it has none.
std::string_view attribute(std::string_view tag, const std::string& name) {
  const std::string start = " " + name + "=\"";
  const std::size_t at = tag.find(start);
  if (at == std::string_view::npos) return {};
  const std::size_t first = at + start.size();
  return tag.substr(first, tag.find('"', first) - first);
}

/// The arrays between <SECTION> and </SECTION>, as those of a list.
std::string arrays_of(std::string_view head, const std::string& section) {
  const std::size_t begin = head.find("<" + section), end = head.find("</" + section + ">");
  std::string text = "    <P" + section + ">\n";
  for (std::size_t at = begin; at != std::string_view::npos && end != std::string_view::npos;) {
    at = head.find("<DataArray ", at);
    if (at == std::string_view::npos || at > end) break;
    const std::string_view tag = head.substr(at, head.find('>', at) - at);
    text += "      <PDataArray";
    for (const char* name : {"type", "Name", "NumberOfComponents"})
      text += std::string(" ") + name + "=\"" + std::string(attribute(tag, name)) + "\"";
    for (int c = 0;; ++c) {
      const std::string name = "ComponentName" + std::to_string(c);
      const std::string_view label = attribute(tag, name);
      if (label.empty()) break;
      text += " " + name + "=\"" + std::string(label) + "\"";
    }
    text += "/>\n";
    at += tag.size();
  }
  return text + "    </P" + section + ">\n";
}

}  // namespace

void write_pvtu(const std::filesystem::path& path, const std::vector<std::string>& pieces,
                const std::filesystem::path& sample, bool overwrite) {
  if (pieces.empty()) throw Error(ErrorCode::bad_input, "the list has no pieces", "file '" + path.string() + "'");
  const std::string head = head_of(sample);
  const std::size_t at = head.find("<VTKFile");
  const std::string_view tag = std::string_view(head).substr(std::min(at, head.size()));
  std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\"";
  for (const char* name : {"byte_order", "header_type", "compressor"})
    if (const std::string_view value = attribute(tag.substr(0, tag.find('>')), name); !value.empty())
      text += std::string(" ") + name + "=\"" + std::string(value) + "\"";
  text += ">\n  <PUnstructuredGrid GhostLevel=\"0\">\n";
  for (const char* section : {"PointData", "CellData", "Points"}) text += arrays_of(head, section);
  for (const std::string& piece : pieces) text += "    <Piece Source=\"" + detail::xml_escaped(piece) + "\"/>\n";
  text += "  </PUnstructuredGrid>\n</VTKFile>\n";
  OutputFile file(path, overwrite);
  file.write(text);
  file.commit();
}

}  // namespace voussoir
