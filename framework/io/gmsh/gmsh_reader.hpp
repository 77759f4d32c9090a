#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/domain/id.hpp>

namespace voussoir {

/// The contents of a Gmsh file: nodes, and elements sorted by shape and physical groups. Elements of all dimensions are
/// kept; the user of the mesh decides which of them form the body and which define supports and loads (see
/// read_job_file()).
struct GmshMesh {
  /// A physical group. Elements that belong to none are in a group of their dimension with tag 0 and no name.
  struct Group {
    int dimension = 0;  ///< 0 points, 1 curves, 2 surfaces, 3 volumes
    int tag = 0;        ///< number of the group, unique within its dimension
    std::string name;   ///< may be empty
  };
  /// Elements of one shape that belong to the same groups.
  struct Batch {
    int dimension = 0;                 ///< dimension of the shape, 0 to 3
    std::string shape;                 ///< "hex20", as in shape_topology(); "point" for a single node
    int nodes_per_element = 1;         ///< number of nodes of the shape
    std::vector<std::int32_t> groups;  ///< indices of `GmshMesh::groups`, at least one
    std::vector<Id> ids;               ///< numbers of the elements in the file
    std::vector<Id> nodes;             ///< ids of nodes, element by element, in the order of shape_topology()
  };

  std::vector<Id> node_ids;         ///< numbers of the nodes in the file
  std::vector<double> coordinates;  ///< x, y, z of each node
  std::vector<Group> groups;        ///< sorted by dimension, then by tag
  std::vector<Batch> batches;       ///< all elements

  std::int64_t element_count() const;  ///< elements of all batches
  /// The name of a group for messages and sets: its own, or "surface 5" if it has none, or "surfaces without group".
  std::string label(const Group& group) const;
};

/// The Gmsh term for entities of a dimension: "point", "curve", "surface" or "volume".
std::string gmsh_dimension_name(int dimension);

/// Called from time to time with the fraction of the file that has been read. Returning false stops the reader with an
/// Error (cancelled).
using ReadProgress = std::function<bool(double fraction)>;

/// Reads a Gmsh mesh (.msh) of version 1, 2.0, 2.1, 2.2, 4.0 or 4.1, as text or binary of either byte order. All
/// elements are read, whether they belong to a physical group or not, and their nodes are reordered as in
/// shape_topology(). Entities of a partitioned mesh keep the groups of their parents. Other sections (periodicity,
/// parametrisations, data) are skipped.
///
/// Shapes without an element type (pyramids, third order, …), other versions, elements whose nodes are missing, and
/// truncated or corrupt files are an Error that names the line of a text file or the byte of a binary one, and says
/// what to do.
GmshMesh read_gmsh(const std::filesystem::path& path, const ReadProgress& progress = {});

/// As read_gmsh(), for the contents of a file in memory. `name` stands for the file name in messages.
GmshMesh read_gmsh_bytes(std::string_view bytes, const std::string& name, const ReadProgress& progress = {});

}  // namespace voussoir
