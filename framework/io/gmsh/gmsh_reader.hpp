#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/domain/id.hpp>

namespace voussoir {

/// A mesh as a Gmsh file has it: nodes, and elements that are sorted by shape and by the physical groups they belong
/// to. Points, lines, surfaces and volumes are all kept; which of them form the body and which are for supports and
/// loads is decided by the user of the mesh (see read_job_file()).
struct GmshMesh {
  /// A physical group. Elements that belong to none are in a group of their dimension with tag 0 and no name.
  struct Group {
    int dimension = 0;  ///< 0 points, 1 curves, 2 surfaces, 3 volumes
    int tag = 0;
    std::string name;  ///< may be empty
  };
  /// Elements of one shape that belong to the same groups.
  struct Batch {
    int dimension = 0;
    std::string shape;                 ///< "hex20", as in shape_topology(); "point" for a single node
    int nodes_per_element = 1;         ///< of that shape
    std::vector<std::int32_t> groups;  ///< indices of `GmshMesh::groups`, at least one
    std::vector<Id> ids;
    std::vector<Id> nodes;  ///< ids of nodes, element by element, in the order of shape_topology()
  };

  std::vector<Id> node_ids;
  std::vector<double> coordinates;  ///< three per node
  std::vector<Group> groups;        ///< by dimension, then by tag
  std::vector<Batch> batches;

  std::int64_t element_count() const;
  /// For messages and sets: the name, or "surface 5" where there is none, or "surfaces without group".
  std::string label(const Group& group) const;
};

/// "point", "curve", "surface" or "volume".
std::string gmsh_dimension_name(int dimension);

/// Called now and then with the fraction that has been read; returning false stops with Error (cancelled).
using ReadProgress = std::function<bool(double fraction)>;

/// Reads a Gmsh mesh (.msh) of version 1, 2.0, 2.1, 2.2, 4.0 or 4.1, as text or binary of either byte order. Every
/// element of the file is taken, whether it belongs to a physical group or not; the order of its nodes is turned into
/// that of shape_topology(). Partitions keep the groups of what was cut; sections about other things (periodicity,
/// parametrisations, data) are passed over.
///
/// Shapes that there are no elements for (pyramids, third order, …), versions that are not read, elements
/// whose nodes are missing, and files that are truncated or corrupt are an Error, with the line of a text file or the
/// byte of a binary one, and what to do.
GmshMesh read_gmsh(const std::filesystem::path& path, const ReadProgress& progress = {});

/// The same for the bytes of a file in memory; `name` replaces the file in messages.
GmshMesh read_gmsh_bytes(std::string_view bytes, const std::string& name, const ReadProgress& progress = {});

}  // namespace voussoir
