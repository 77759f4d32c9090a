#pragma once
#include <voussoir/framework/io/gmsh/detail/mesh_builder.hpp>
#include <voussoir/framework/io/gmsh/detail/source.hpp>

namespace voussoir::gmsh {

/// Reads the section $PhysicalNames after its first line: text in every kind of file. `version` is ten times that of
/// the format: 2.0 names a tag without its dimension. Errors name lines, or bytes of a binary file.
void read_physical_names(Cursor& cursor, MeshBuilder& builder, int version, bool binary);

}  // namespace voussoir::gmsh
