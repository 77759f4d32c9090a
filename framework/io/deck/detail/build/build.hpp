#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <voussoir/framework/io/deck/detail/deck.hpp>
#include <voussoir/framework/io/deck/detail/element_types.hpp>
#include <voussoir/framework/io/detail/id_index.hpp>

// How a Deck becomes a Job, in four parts that work on one Build: mesh (nodes, elements, sections) → models (Domains
// with blocks, sets, surfaces) → constraints (equations, rigid bodies, ties) → steps (supports and loads).

namespace voussoir::deck {

enum class Physics { structure, heat };

/// One of the job's domains while it is made.
struct Model {
  Physics physics = Physics::structure;
  std::size_t index = 0;  ///< in Job::domains
  Domain* domain = nullptr;
  std::vector<ElementRef> ref;           ///< of each element of the deck; block −1: not in this model
  std::vector<std::uint8_t> components;  ///< unknowns of each node: the first few of unknown_names()
  /// Nodes without elements that equations give unknowns: which, a bit each.
  std::map<std::int32_t, std::uint32_t> named;
};

/// "ux", "uy", "uz", "rx", "ry", "rz", or "T": the unknown of component k.
const std::string& unknown_name(Physics physics, int component);

/// A node's unknown.
struct Unknown {
  std::int32_t node = -1;  ///< −1: there is none
  int component = 0;
};

struct Build {
  Deck deck;
  DeckOptions options;
  Job job;

  // --- mesh ------------------------------------------------------------------------------------------------------
  IdIndex node_index;  ///< id → index; nodes are sorted by id
  std::vector<Id> node_ids;
  std::vector<double> coordinates;
  IdIndex element_index;                       ///< id → element of the deck, counted over all cards
  std::vector<std::size_t> card_first;         ///< first element of each card, and one past the last
  std::vector<std::int32_t> section_of;        ///< of each element, −1: none
  std::vector<const ElementMeaning*> meaning;  ///< of each card
  bool planar = false;                         ///< all elements lie in a plane
  std::map<std::string, std::vector<std::int32_t>, std::less<>> node_set_cache;

  // --- models ----------------------------------------------------------------------------------------------------
  std::vector<Model> models;
  /// Rotations of rigid bodies that stand for dofs which their nodes do not have: (node, dof) → unknown.
  std::map<std::pair<std::int32_t, int>, Unknown> aliases;
  std::set<std::int32_t> network_nodes;      ///< nodes whose dof 2 is the pressure of loads like P1NP
  double initial_temperature = 0;            ///< where it is the same everywhere
  std::vector<double> initial_temperatures;  ///< of each node, where it is not; otherwise empty

  [[noreturn]] void fail(ErrorCode code, const std::string& text, Place place) const {
    throw Error(code, text, deck.where(place));
  }
  [[noreturn]] void fail(const std::string& text, Place place) const { fail(ErrorCode::bad_input, text, place); }
  std::unordered_set<std::string> noted;
  /// Once for each text.
  void note(const std::string& text, Place place);

  Model* model(Physics physics);
  std::size_t card_of(std::size_t element) const;
  Id element_id(std::size_t element) const {
    const std::size_t card = card_of(element);
    return deck.elements[card].ids[element - card_first[card]];
  }
  Place element_place(std::size_t element) const;
  /// "17", or "BOLT-2.17" in a deck with instances.
  std::string node_name(std::int32_t node) const { return deck.instances.node(node_ids[node]); }
  /// "element 17 (C3D8, beam.inp:30)"
  std::string element_label(std::size_t element) const;

  /// Nodes (elements) that a target names, as indices. Names that are not there, numbers that are not there and empty
  /// sets are Errors.
  std::vector<std::int32_t> nodes_of(const Target& target, Place place);
  std::span<const std::int32_t> nodes_of_set(const std::string& set, Place place);
  std::vector<std::size_t> elements_of(const Target& target, Place place);

  /// How many displacements a node has: 2 in a plane, also where its beams are beams in space that stay in the plane.
  int translations(const Model& model, std::int32_t node) const {
    return std::min<int>(model.components[node], planar ? 2 : 3);
  }
  /// Axes of a node's transformed system, where it has one.
  bool has_axes(std::int32_t node) const {
    return !job.node_axes.system_of.empty() && job.node_axes.system_of[node] >= 0;
  }
  Orientation::Axes axes(std::int32_t node) const;
  /// The unknown that a dof of a deck means at a node (dof 1…6 or 11).
  Unknown unknown(const Model& model, std::int32_t node, int dof) const;
};

/// "; did you mean 'TOP'?" or a list of what there is.
std::string suggestion(std::string_view wrong, std::vector<std::string> names);
template <class Map>
std::string suggestion_from(std::string_view wrong, const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return suggestion(wrong, std::move(names));
}

// The parts, in the order in which they run.
void build_mesh(Build& build);
void build_models(Build& build);
void build_constraints(Build& build);
void build_steps(Build& build);

/// The material of a section, for one physics. `place` is that of the section.
std::shared_ptr<const Material> build_material(Build& build, const std::string& name, Physics physics, Place place);
/// Gives a block the numbers of its section.
void apply_section(Build& build, const Model& model, ElementBlock& block, const SectionCard& section,
                   const ElementMeaning& meaning);
/// The axes that an *ORIENTATION defines. `place` is that of the card that names it.
Orientation make_orientation(Build& build, const std::string& name, Place place);
/// The face (from 0) of an element that a label like "P2", "S3" or "F1" names.
int face_of(const Build& build, const Model& model, std::size_t element, std::string_view label, Place place);

}  // namespace voussoir::deck
