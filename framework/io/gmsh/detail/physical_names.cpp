#include <voussoir/framework/io/gmsh/detail/physical_names.hpp>

#include <cstdint>
#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir::gmsh {

void read_physical_names(Cursor& cursor, MeshBuilder& builder, int version, bool binary) {
  const auto fail = [&](const std::string& text, std::size_t position) {
    throw Error(ErrorCode::bad_input, text, binary ? cursor.byte_at(position) : cursor.line_at(position));
  };
  TextSource text(cursor);
  const std::int64_t count = text.free_integer();
  for (std::int64_t i = 0; i < count; ++i) {
    text.begin_record();
    const std::size_t start = cursor.position();
    std::int64_t dimension = -1, tag = text.integer();
    if (version > 20 || !text.at_quote()) {
      dimension = tag;
      tag = text.integer();
    }
    const std::string_view rest = cursor.line();
    const std::size_t open = rest.find('"'), close = rest.rfind('"');
    if (dimension < (version > 20 ? 0 : -1) || dimension > 3 || tag < -INT32_MAX || tag > INT32_MAX || open == close)
      fail(version > 20
               ? "a physical name consists of dimension (0 to 3), tag, and the name in double quotes"
               : "a physical name consists of tag, or dimension (0 to 3) and tag, and the name in double quotes",
           start);
    tag = tag < 0 ? -tag : tag;
    if (!builder.name_group(static_cast<int>(dimension), static_cast<int>(tag),
                            rest.substr(open + 1, close - open - 1)))
      fail("the physical " + (dimension < 0 ? "group" : gmsh_dimension_name(static_cast<int>(dimension))) + " " +
               std::to_string(tag) + " already has another name; give it only one, and save the mesh again",
           start);
  }
}

}  // namespace voussoir::gmsh
