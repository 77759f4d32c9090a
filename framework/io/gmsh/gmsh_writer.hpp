#pragma once
#include <filesystem>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// Version and encoding of a Gmsh file.
enum class GmshFormat { binary_4_1, ascii_4_1, ascii_2_2 };

/// How a Gmsh file is written.
struct GmshWriteOptions {
  bool overwrite = false;                      ///< whether an existing file is replaced; otherwise it is an Error
  GmshFormat format = GmshFormat::binary_4_1;  ///< version and encoding
};

/// Writes the mesh of a domain as a Gmsh file (.msh). Blocks, surfaces and node sets become physical groups of the same
/// name: a surface with elements on its faces, numbered after the largest element number; a node set, unless a surface
/// has its name, with point elements. Materials, supports and loads are not written, since the format does not have
/// them.
///
/// Elements keep their numbers; mid-side nodes are written in Gmsh's order. The file is written atomically.
void write_gmsh(const Domain& domain, const std::filesystem::path& path, const GmshWriteOptions& options = {});

}  // namespace voussoir
