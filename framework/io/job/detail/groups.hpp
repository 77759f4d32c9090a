#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>
#include <voussoir/framework/io/job/detail/json.hpp>

namespace voussoir::job {

/// What the words of a job stand for in a mesh: batches of elements of one dimension.
struct Selection {
  std::string name;  ///< of the sets that are made of it
  int dimension = 0;
  std::vector<std::size_t> batches;  ///< of the mesh, ascending
};

/// The groups of a mesh by the names that a job may use for them:
///   "left"            the physical groups of that name;
///   "surface left"    the same, where groups of other dimensions have the same name;
///   "surface 5"       the physical group with that tag;
///   "surface tag 5"   the same, where another surface group is called "5";
///   {"surface": 5}    the same, whatever other groups are called;
///   {"surface": "5"}  the surface groups of that name, whatever tags there are;
///   "surfaces"        everything of that dimension, in a group or not;
///   "surfaces without group".
/// A word that fits several groups in different ways is an Error, not a choice.
class Groups {
 public:
  explicit Groups(const GmshMesh& mesh);

  const GmshMesh& mesh() const { return mesh_; }
  /// What one text, or a list of texts, selects. `dimensions` are those that make sense where it stands (e.g. {2} for a
  /// pressure on a solid), and `purpose` says why, for messages: "a pressure acts on". Two selections have the same
  /// name only if they have the same elements: sets are found by this name.
  Selection select(const Json& json, const std::vector<int>& dimensions, const std::string& purpose) const;
  /// All elements of one dimension.
  Selection everything(int dimension) const;
  /// Every group that has elements; tags of one dimension that share a name are one group.
  const std::vector<Selection>& all() const { return all_; }

 private:
  using GroupIndices = std::vector<std::int32_t>;  // of the mesh's groups, ascending

  Selection select_one(const Json& json, const std::vector<int>& dimensions, const std::string& purpose) const;
  Selection select_dimension(const Json& json, int dimension, const std::vector<int>& dimensions,
                             const std::string& purpose) const;
  /// What a word may mean: groups, once for each way to read it.
  std::vector<GroupIndices> readings(const std::string& word) const;
  /// The groups of {"surface": 5} or {"surface": "left"}.
  GroupIndices read_object(const Json& json) const;
  GroupIndices matching(int dimension, const std::string& name) const;
  GroupIndices matching(int dimension, double tag) const;
  /// The shortest way to write a group by its tag that nothing else can be meant by: 'surface tag 5' or {"surface": 5}.
  std::string unambiguous(const GmshMesh::Group& group) const;
  [[noreturn]] void fail_ambiguous(const Json& json, const std::vector<GroupIndices>& readings) const;
  Selection selection_of(const GroupIndices& groups, const std::string& word) const;
  /// Gives the selection a name that no selection of other elements has: the first of `names` that is free, or the
  /// first with a number behind it.
  void claim_name(Selection& selection, const std::vector<std::string>& names) const;
  void name_all();
  std::vector<std::string> known() const;

  const GmshMesh& mesh_;
  std::vector<std::vector<std::size_t>> batches_;  // of each group
  std::vector<Selection> all_;
  std::vector<GroupIndices> groups_of_all_;
  struct Content {
    int dimension;
    std::vector<std::size_t> batches;
  };
  mutable std::map<std::string, Content> taken_;  // names that were given away
};

}  // namespace voussoir::job
