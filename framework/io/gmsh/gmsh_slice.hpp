#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>

namespace voussoir {

/// A part of the nodes and of the elements of a Gmsh file, in the order of the file, with all its groups.
struct GmshSlice {
  /// All groups and batches of the file, in the order of read_gmsh(), with the nodes and elements of this slice only.
  /// A batch may be empty, and nodes of elements may belong to other slices.
  GmshMesh mesh;
  std::vector<std::int64_t> batch_sizes;  ///< per batch: number of its elements in the whole file
  /// Per batch and element: place among the elements of the batch in the whole file, ascending.
  std::vector<std::vector<std::int64_t>> places;
  std::int64_t nodes = 0;     ///< of the whole file
  std::int64_t elements = 0;  ///< of the whole file
};

/// Reads one of `slices` slices of a binary Gmsh file of version 4.1, which are of equal size but for one node and one
/// element. Only the bytes of the slice and the list of entities are read. Other versions and text are refused
/// (bad_input, with what to do): their records have no fixed places. Errors in what is read are those of read_gmsh();
/// whether ids are unique and all nodes exist is not checked.
GmshSlice read_gmsh_slice(const std::filesystem::path& path, int slice, int slices);

}  // namespace voussoir
