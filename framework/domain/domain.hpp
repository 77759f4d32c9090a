#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <voussoir/framework/domain/element_block.hpp>
#include <voussoir/framework/domain/load_case.hpp>

namespace voussoir {

/// A copy of one node.
struct Node {
  Id id;                           ///< the user's number
  std::array<double, 3> position;  ///< x, y, z; 0 for directions that the model does not have
};

/// A copy of one element.
struct Element {
  Id id;                      ///< the user's number
  const ElementBlock* block;  ///< that has the element; owned by the domain
  std::int32_t index;         ///< within its block
  std::vector<Id> nodes;      ///< in the order of the element's shape
};

/// An element in a set.
struct ElementRef {
  std::int32_t block;                                  ///< index of its block
  std::int32_t element;                                ///< index within the block
  bool operator==(const ElementRef&) const = default;  ///< the same element
};

/// One face of one element.
struct FaceRef {
  std::int32_t block;                               ///< index of the element's block
  std::int32_t element;                             ///< index within the block
  std::int32_t face;                                ///< from 0, in the order of the shape's topology (Abaqus's S1 is 0)
  bool operator==(const FaceRef&) const = default;  ///< the same face of the same element
};

/// One face of one element in the user's numbers.
struct ElementFace {
  Id element;  ///< the user's number
  int face;    ///< from 1: S1, S2, … of Abaqus and CalculiX decks
};

/// A value that a node's unknown must take.
struct Prescribed {
  std::int32_t node;    ///< by index
  std::string unknown;  ///< "ux", …, "rz", "T", or an unknown of a user's element
  double value;         ///< at prescribed factor 1
};

/// A displacement that a node must have along a direction.
struct ObliqueSupport {
  std::int32_t node;                ///< by index
  std::array<double, 3> direction;  ///< of length 1
  double value;                     ///< along the direction, at prescribed factor 1
};

/// A multi-point equation Σ coefficient · unknown = constant. The equations are solved for unknowns that are not
/// prescribed and have large coefficients; the order of terms and of equations does not matter.
struct ConstraintEquation {
  /// One term of the equation: a coefficient times an unknown of a node.
  struct Term {
    std::int32_t node;    ///< by index
    std::string unknown;  ///< of the node: "ux", …
    double coefficient;   ///< of the unknown
  };
  std::vector<Term> terms;  ///< their sum is `constant`
  double constant = 0;      ///< right-hand side, at prescribed factor 1
  std::string label;        ///< the user's name for it, for error messages
};

/// A node whose unknowns ux, uy, uz are the rotation of another node about x, y, z (in a plane ux is that about z).
struct RotationNode {
  std::int32_t reference;  ///< the node that it turns with
  bool hidden;             ///< the user does not know it: messages name the reference node instead
};

/// How often a domain has changed, by subject. Node sets are in none of them: supports and loads read a set when they
/// are given.
struct DomainRevisions {
  std::uint64_t nodes = 0;     ///< nodes, multi-point equations, initial and reference temperatures
  std::uint64_t elements = 0;  ///< blocks, their elements, materials and sections
  std::uint64_t supports = 0;  ///< prescribed unknowns and their values
  std::uint64_t loads = 0;     ///< load cases, and the surfaces and element sets that they name
  bool operator==(const DomainRevisions&) const = default;  ///< nothing has changed in between
};

/// The model: nodes, blocks of elements, sets, surfaces, supports, equations, load cases. Everything is kept in the
/// user's numbering and stored as arrays; all other layers use indices (from 0, in the order of adding).
class Domain {
 public:
  Domain() = default;
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  // --- nodes ---------------------------------------------------------------------------------------------------
  void add_node(Id id, double x, double y, double z = 0);  ///< throws if the id exists
  /// Many nodes at once, three coordinates each; `ids` may be empty: they are then numbered from 1 (or on). All or
  /// none: after an Error the domain has the nodes that it had before.
  void add_nodes(std::span<const Id> ids, std::span<const double> coordinates);
  /// Moves a node; sets that were defined by position keep their members.
  void move_node(Id id, std::array<double, 3> position);
  std::int32_t node_count() const { return static_cast<std::int32_t>(node_ids_.size()); }  ///< number of nodes
  Id node_id(std::int32_t index) const { return node_ids_[index]; }                        ///< the user's id of a node
  /// Throws Error (not_found) for an id that no node has.
  std::int32_t node_index(Id id) const;
  bool has_node(Id id) const { return find_node(id) >= 0; }             ///< whether a node has this id
  Node node(Id id) const;                                               ///< throws Error (not_found)
  std::span<const double> coordinates() const { return coordinates_; }  ///< 3 per node, by index

  // --- elements ------------------------------------------------------------------------------------------------
  /// A new block; the type's name is checked at once ("solid.hex8", "truss", …; see ElementLibrary).
  ElementBlock& add_block(const std::string& name, const std::string& type);
  std::size_t block_count() const { return blocks_.size(); }  ///< number of element blocks
  /// Whether there is a block of this name.
  bool has_block(const std::string& name) const { return block_index_.contains(name); }
  ElementBlock& block(std::size_t index) { return *blocks_[index]; }              ///< by index, in the order of adding
  const ElementBlock& block(std::size_t index) const { return *blocks_[index]; }  ///< by index
  /// Throws Error (not_found), listing the blocks that there are.
  ElementBlock& block(std::string_view name);
  const ElementBlock& block(std::string_view name) const;  ///< as above
  std::int64_t element_count() const;                      ///< over all blocks
  /// Throws Error (not_found) for an id that no element has.
  ElementRef element_ref(Id id) const;
  Element element(Id id) const;  ///< throws Error (not_found)

  // --- sets and surfaces ---------------------------------------------------------------------------------------
  // No set is there by itself, not even one of all nodes: supports and loads act on sets that the user made.

  /// Names a set of nodes; nodes may be added to an existing set. Kept sorted and unique.
  void add_node_set(const std::string& name, std::span<const Id> nodes);
  /// The same with a list: `add_node_set("end", {7, 8, 9})`.
  void add_node_set(const std::string& name, std::initializer_list<Id> nodes) {
    add_node_set(name, std::span<const Id>(nodes.begin(), nodes.size()));
  }
  void add_element_set(const std::string& name, std::span<const Id> elements);  ///< as add_node_set(), of elements
  /// Names a set of element faces; faces may be added to an existing surface. Kept sorted by block, element and face,
  /// and unique, so that a face that is named twice is loaded once.
  void add_surface(const std::string& name, std::span<const FaceRef> faces);
  /// The same in the user's numbers: `add_surface("top", {{12, 2}, {13, 2}})` is face S2 of elements 12 and 13.
  void add_surface(const std::string& name, std::span<const ElementFace> faces);
  /// The same with a list, as in the example.
  void add_surface(const std::string& name, std::initializer_list<ElementFace> faces) {
    add_surface(name, std::span<const ElementFace>(faces.begin(), faces.size()));
  }
  /// The faces on the boundary of the body for all of whose nodes `inside(x, y, z)` is true. A face is on the
  /// boundary if it belongs to one element only, of whatever block: inside the body a load would act on both sides and
  /// cancel. Ends of lines are no faces here, since nothing can act on them but nodal loads.
  template <class Predicate>
  void add_surface_where(const std::string& name, Predicate inside);
  /// The faces on the boundary of the body, as add_surface_where() finds them, whose nodes all belong to a node set.
  void add_surface_from_nodes(const std::string& name, const std::string& node_set);
  /// The nodes for which `inside(x, y, z)` is true.
  template <class Predicate>
  void add_node_set_where(const std::string& name, Predicate inside);

  /// Indices of a set's nodes. A name that does not exist or a set that is empty is an Error that names both.
  std::span<const std::int32_t> node_set(const std::string& name) const;
  std::span<const ElementRef> element_set(const std::string& name) const;  ///< as node_set(), of elements
  std::span<const FaceRef> surface(const std::string& name) const;         ///< as node_set(), of faces
  /// Whether there is a set (surface) of this name that is not empty.
  bool has_node_set(const std::string& name) const;
  bool has_element_set(const std::string& name) const;  ///< as has_node_set()
  bool has_surface(const std::string& name) const;      ///< as has_node_set()
  /// Names of all sets (surfaces) that are not empty, sorted.
  std::vector<std::string> node_set_names() const;
  std::vector<std::string> element_set_names() const;  ///< as node_set_names()
  std::vector<std::string> surface_names() const;      ///< as node_set_names()

  // --- supports and equations ----------------------------------------------------------------------------------
  /// Prescribes an unknown ("ux", …, or "all" for every one) at every node that the set has now; nodes that join the
  /// set later stay free. Saying the same twice with the same value is harmless; with different values it is an error
  /// when the model is numbered.
  void prescribe(const std::string& node_set, const std::string& unknown, double value = 0);
  /// The same at one node.
  void prescribe_at(Id node, const std::string& unknown, double value = 0);
  /// Prescribes the displacement of a node along a direction of any length that is not one of the global axes: an
  /// inclined roller. The direction's component along an axis that the node cannot move in must be zero.
  void prescribe_along(Id node, std::array<double, 3> direction, double value = 0);
  /// Σ coefficient · unknown(node id) = constant. A node that no element uses has the unknowns that equations name: so
  /// a reference node can lead others.
  struct EquationTerm {
    Id node;              ///< the user's number
    std::string unknown;  ///< of the node: "ux", …
    double coefficient;   ///< of the unknown
  };
  /// Adds Σ coefficient · unknown = constant. Throws Error (not_found) for a node that does not exist; contradictions
  /// between equations are found when the model is numbered. `label` is how messages call the equation.
  void add_equation(std::span<const EquationTerm> terms, double constant = 0, const std::string& label = {});
  /// The same with a list of terms.
  void add_equation(std::initializer_list<EquationTerm> terms, double constant = 0, const std::string& label = {}) {
    add_equation(std::span<const EquationTerm>(terms.begin(), terms.size()), constant, label);
  }
  /// Says that the unknowns ux, uy, uz of a node that no element uses are the rotation of the node `reference` about x,
  /// y, z (in a plane: ux is the rotation about z), which equations of rigid bodies name. The check of free motions
  /// then takes them for rotations. Messages name a hidden node by its reference node and the degrees of freedom 4
  /// to 6.
  void set_rotation_node(Id node, Id reference, bool hidden = false);
  /// Null for ordinary nodes.
  const RotationNode* rotation_node(std::int32_t node) const {
    const auto it = rotation_nodes_.find(node);
    return it == rotation_nodes_.end() ? nullptr : &it->second;
  }
  /// Takes all prescribed values off, along axes and along directions; equations stay.
  void clear_supports() {
    prescribed_.clear();
    oblique_.clear();
    changed(&DomainRevisions::supports);
  }
  const std::vector<Prescribed>& prescribed() const { return prescribed_; }         ///< in the order of adding
  const std::vector<ObliqueSupport>& oblique_supports() const { return oblique_; }  ///< in the order of adding
  const std::vector<ConstraintEquation>& equations() const { return equations_; }   ///< in the order of adding

  // --- loads ---------------------------------------------------------------------------------------------------
  /// Adds a load case; the reference stays valid until clear_loads(). Throws Error (bad_input) where the name is taken.
  LoadCase& add_load_case(const std::string& name);
  /// Throws Error (not_found), listing the load cases that there are.
  const LoadCase& load_case(const std::string& name) const;
  /// Removes all load cases: references to them end, and their names are free again.
  void clear_loads() {
    load_cases_.clear();
    changed(&DomainRevisions::loads);
  }
  std::size_t load_case_count() const { return load_cases_.size(); }  ///< number of load cases
  /// By index, in the order of adding.
  const LoadCase& load_case(std::size_t index) const { return *load_cases_[index]; }
  const std::vector<std::unique_ptr<LoadCase>>& load_cases() const { return load_cases_; }  ///< in the order of adding

  // --- temperatures --------------------------------------------------------------------------------------------
  // A body at its initial temperature T₀ has no thermal strain. With a coefficient of expansion α that depends on
  // temperature, thermal strain is α(T) (T − T_r) − α(T₀) (T₀ − T_r); with a constant one, α (T − T₀) whatever T_r is.

  /// T_r of materials that say nothing of it (Material::set_expansion_reference), and the initial temperature of nodes
  /// that are given none. 0 unless set.
  void set_reference_temperature(double value);
  double reference_temperature() const { return reference_temperature_; }  ///< 0 unless set
  /// The initial temperature of all nodes without an individual one.
  void set_initial_temperature(double value);
  /// The initial temperature of every node that the set has now.
  void set_initial_temperature(const std::string& node_set, double value);
  /// The same at one node.
  void set_initial_temperature_at(Id node, double value);
  /// The initial temperature of a node, by index.
  double initial_temperature(std::int32_t node) const;
  /// Of all nodes, in the order of the domain's nodes.
  std::vector<double> initial_temperatures() const;

  /// Counts all changes, so that an analysis knows when its model is out of date.
  std::uint64_t revision() const { return revision_; }
  /// The same by subject, so that it knows what of its model is.
  const DomainRevisions& revisions() const { return revisions_; }
  /// Expires with the domain: whoever keeps a reference to it can tell that it is gone.
  std::weak_ptr<const void> lifetime() const { return lifetime_; }

  /// For messages: "element 17 (block 'beam', solid.hex8)".
  std::string element_label(ElementRef ref) const;
  std::string node_label(std::int32_t index) const;  ///< for messages: "node 12"

 private:
  friend class ElementBlock;
  friend class LoadCase;
  std::int32_t find_node(Id id) const;
  ElementRef find_element(Id id) const;
  void register_element(Id id, ElementRef ref);
  /// What register_element() has done up to here, so that it can be undone.
  struct ElementMark {
    std::size_t runs;
    std::int32_t last_count;
    Id largest_id;
  };
  ElementMark mark_elements() const;
  /// Undoes register_element() for the ids that came after the mark.
  void forget_elements(const ElementMark& mark, std::span<const Id> ids);
  void forget_nodes(std::int32_t first);
  /// Faces that belong to one element and whose nodes are all marked.
  std::vector<FaceRef> boundary_faces(std::span<const char> inside) const;

  std::vector<Id> node_ids_;
  std::vector<double> coordinates_;
  // Ids that simply count on from the first need no table; the table is made when they do not.
  bool node_ids_consecutive_ = true;
  std::unordered_map<Id, std::int32_t> node_index_;
  std::vector<std::unique_ptr<ElementBlock>> blocks_;
  std::unordered_map<std::string, std::size_t> block_index_;  // of each name: a model may have thousands of sections
  struct ElementRun {                                         // consecutive ids of consecutive elements of one block
    Id first;
    ElementRef ref;
    std::int32_t count;
  };
  std::vector<ElementRun> element_runs_;               // ascending ids, the usual case
  std::unordered_map<Id, ElementRef> other_elements_;  // ids that came out of order
  Id largest_element_id_ = 0;
  template <class T>
  using Named = std::unordered_map<std::string, std::vector<T>>;
  Named<std::int32_t> node_sets_;
  Named<ElementRef> element_sets_;
  Named<FaceRef> surfaces_;
  std::vector<Prescribed> prescribed_;
  std::vector<ObliqueSupport> oblique_;
  std::vector<ConstraintEquation> equations_;
  std::unordered_map<std::int32_t, RotationNode> rotation_nodes_;
  std::vector<std::unique_ptr<LoadCase>> load_cases_;
  double reference_temperature_ = 0;
  std::optional<double> initial_temperature_;
  std::vector<double> initial_temperatures_;  // NaN at nodes without an individual one; may be shorter than the nodes
  /// Counts a change.
  void changed(std::uint64_t DomainRevisions::*subject) {
    ++revision_;
    ++(revisions_.*subject);
  }
  std::uint64_t revision_ = 0;
  DomainRevisions revisions_;
  std::shared_ptr<const void> lifetime_ = std::make_shared<char>();
};

template <class Predicate>
void Domain::add_surface_where(const std::string& name, Predicate inside) {
  std::vector<char> is_inside(node_ids_.size());
  for (std::size_t i = 0; i < node_ids_.size(); ++i)
    is_inside[i] = inside(coordinates_[3 * i], coordinates_[3 * i + 1], coordinates_[3 * i + 2]);
  add_surface(name, boundary_faces(is_inside));
}

template <class Predicate>
void Domain::add_node_set_where(const std::string& name, Predicate inside) {
  std::vector<Id> found;
  for (std::size_t i = 0; i < node_ids_.size(); ++i)
    if (inside(coordinates_[3 * i], coordinates_[3 * i + 1], coordinates_[3 * i + 2])) found.push_back(node_ids_[i]);
  add_node_set(name, found);
}

}  // namespace voussoir
