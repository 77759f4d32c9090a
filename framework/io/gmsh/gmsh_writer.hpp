#pragma once
#include <filesystem>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

enum class GmshFormat { binary_4_1, ascii_4_1, ascii_2_2 };

/// Version and encoding of a Gmsh file.
struct GmshWriteOptions {
  bool overwrite = false;  ///< replace a file of that name; otherwise it is an Error
  GmshFormat format = GmshFormat::binary_4_1;
};

/// Writes the mesh of a domain as a Gmsh file (.msh). Every block becomes a physical group of its name; every surface,
/// too, with elements on its faces, which are numbered on from the largest element; every node set that has no surface
/// of its name, too, with point elements. Materials, supports and loads have no place in such a file.
///
/// Elements keep their numbers, mid-side nodes are put in Gmsh's order. The file appears when it is complete.
void write_gmsh(const Domain& domain, const std::filesystem::path& path, const GmshWriteOptions& options = {});

}  // namespace voussoir
