#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/detail/id_index.hpp>
#include <voussoir/framework/io/job/detail/groups.hpp>
#include <voussoir/framework/io/job/detail/sections.hpp>

namespace voussoir::job {

/// Nodes of the mesh that the job uses, in ascending ids, and where each node of the mesh is among them.
struct UsedNodes {
  UsedNodes(const GmshMesh& mesh, const std::vector<Section>& sections, double scale);

  std::vector<Id> ids;
  std::vector<double> coordinates;
  /// The place of a node by its id; −1 where no section has it.
  std::int32_t find(Id id) const { return index_.find(id); }

 private:
  IdIndex index_;
};

/// The Domain of all sections of one procedure, and the sets and surfaces that its groups become. Sets are made when
/// they are asked for, under the name of the selection.
class Body {
 public:
  Body(const Groups& groups, const UsedNodes& nodes, const std::vector<Section>& sections, Procedure procedure);

  Domain& domain() { return *domain_; }
  std::unique_ptr<Domain> take_domain() { return std::move(domain_); }
  Procedure procedure() const { return procedure_; }
  /// Names of the unknowns that some node has.
  const std::vector<std::string>& unknowns() const { return unknowns_; }
  /// Dimensions of groups that can be surfaces here, and of those that can be sets of elements.
  const std::vector<int>& face_dimensions() const { return face_dimensions_; }
  const std::vector<int>& element_dimensions() const { return element_dimensions_; }

  /// Elements of the mesh that belong to the body, of the highest dimension that it has, but to no section. Empty: all
  /// have one. Elements that are written once per group (Gmsh's version 2.2) count as one.
  std::string forgotten_group(const std::vector<Selection>& ignored) const;

  /// Whether some element of a selection has a section here, itself or as one that lies on the same corners.
  bool has_elements_of(const Selection& selection) const;

  /// The name of the node set of a selection; nodes that no element of the body uses are left out. Errors name `json`.
  std::string node_set(const Selection& selection, const Json& json);
  /// Whether elements of the body use a node of a selection.
  bool has_nodes(const Selection& selection) const { return !nodes_of(selection).empty(); }
  std::string element_set(const Selection& selection, const Json& json);
  /// The name of the surface. Every face must be that of an element; `one_sided` asks that it be on the boundary.
  std::string surface(const Selection& selection, const Json& json, bool one_sided);
  /// Area of a surface as the loads integrate it: times the thickness of a plane body, around a ring.
  /// If `counts` is given, it says which elements do.
  double area(const std::string& surface, const std::function<bool(Id)>& counts = {}) const;
  /// Makes the sets and surfaces of all groups, as far as they have members.
  void make_all_sets();

 private:
  void add_blocks(const std::vector<Section>& sections);
  void find_duplicates() const;
  void match_faces();
  std::vector<Id> nodes_of(const Selection& selection) const;
  std::vector<Id> elements_of(const Selection& selection) const;
  template <class Visit>
  void each_corner_key(const GmshMesh::Batch& batch, Visit visit) const;

  const Groups& groups_;
  const UsedNodes& nodes_;
  Procedure procedure_;
  std::unique_ptr<Domain> domain_ = std::make_unique<Domain>();
  std::vector<const Section*> section_of_;  // of each batch of the mesh, or null
  std::vector<char> has_node_;              // whether an element uses the node
  std::vector<std::string> unknowns_;
  std::vector<int> face_dimensions_, element_dimensions_;

  /// The element face that each element of a batch of the mesh lies on.
  struct MatchedFace {
    FaceRef face{-1, -1, -1};
    bool inner = false;  ///< elements on both sides
  };
  bool faces_matched_ = false;
  std::map<std::size_t, std::vector<MatchedFace>> faces_;  // by batch
};

}  // namespace voussoir::job
