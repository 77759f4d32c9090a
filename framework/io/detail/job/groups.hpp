#pragma once
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include <voussoir/framework/io/detail/job/json.hpp>
#include <voussoir/framework/io/gmsh_reader.hpp>

namespace voussoir::job {

/// What the words of a job stand for in a mesh: batches of elements of one dimension.
struct Selection {
  std::string name;  ///< of the sets that are made of it
  int dimension = 0;
  std::vector<std::size_t> batches;  ///< of the mesh, ascending
};

/// The groups of a mesh by the names that a job may use for them:
///   "left"        the physical group of that name;
///   "surface left" the same, where groups of other dimensions have the same name;
///   "surface 5"   the physical group with that tag;
///   "surfaces"    everything of that dimension, in a group or not.
class Groups {
 public:
  explicit Groups(const GmshMesh& mesh);

  const GmshMesh& mesh() const { return mesh_; }
  /// What one text, or a list of texts, selects. `dimensions` are those that make sense where it stands (e.g. {2} for a
  /// pressure on a solid), and `purpose` says why, for messages: "a pressure acts on".
  Selection select(const Json& json, const std::vector<int>& dimensions, const std::string& purpose) const;
  /// Every group that has elements, under the name that selects it.
  std::vector<Selection> all() const;

 private:
  Selection select_one(const Json& json, const std::vector<int>& dimensions, const std::string& purpose) const;
  /// Groups that a word may mean, as indices of the mesh's groups.
  std::vector<std::int32_t> candidates(const std::string& word) const;
  /// The group's name or label, with its dimension in front where other dimensions have the same name.
  std::string name_of(const GmshMesh::Group& group) const;
  std::vector<std::string> known() const;

  const GmshMesh& mesh_;
  std::vector<std::vector<std::size_t>> batches_;  // of each group
  std::unordered_set<std::string> ambiguous_;      // names that groups of several dimensions have
};

}  // namespace voussoir::job
