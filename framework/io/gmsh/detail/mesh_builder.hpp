#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <voussoir/framework/io/gmsh/detail/shapes.hpp>
#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>

namespace voussoir::gmsh {

/// Collects what the sections of a file say and makes a GmshMesh of it.
class MeshBuilder {
 public:
  explicit MeshBuilder(std::string file) : file_(std::move(file)) {}

  /// Names a group; a dimension of −1 names the groups of all dimensions that have this tag. False where the group has
  /// another name already.
  bool name_group(int dimension, int tag, std::string_view name);
  /// The physical groups of an entity (4.1); the sign of a tag is about the direction of normals and is dropped.
  void add_entity(int dimension, int tag, std::vector<int> physical_tags);
  const std::vector<int>& physical_tags(int dimension, int entity) const;

  std::vector<Id>& node_ids() { return mesh_.node_ids; }
  std::vector<double>& coordinates() { return mesh_.coordinates; }
  bool has_elements() const { return !mesh_.batches.empty(); }
  /// The batch for elements of a shape in these physical groups (none: the group with tag 0).
  GmshMesh::Batch& batch(const Shape& shape, const std::vector<int>& physical_tags) {
    return batch_at(batch_index(shape, physical_tags));
  }
  std::size_t batch_index(const Shape& shape, const std::vector<int>& physical_tags);
  GmshMesh::Batch& batch_at(std::size_t index) { return mesh_.batches[index]; }

  enum class Contents { whole, slice };
  /// Hands the mesh over. Of a whole mesh, ids must be unique, and elements must have their nodes.
  GmshMesh finish(Contents contents = Contents::whole);

 private:
  using GroupKey = std::pair<int, int>;  // dimension, tag
  std::string file_;
  GmshMesh mesh_;
  std::map<GroupKey, std::string> names_;
  std::map<GroupKey, std::vector<int>> entities_;
  std::map<std::pair<int, std::vector<int>>, std::size_t> batch_of_;  // by shape and groups
};

}  // namespace voussoir::gmsh
