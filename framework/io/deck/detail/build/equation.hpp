#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <voussoir/framework/io/deck/detail/build/build.hpp>

namespace voussoir::deck {

/// Collects the terms of an equation, each unknown once, and gives them to the domain.
class Equation {
 public:
  Equation(Build& build, Model& model, std::string label) : b_(build), m_(model), label_(std::move(label)) {}

  void add(Unknown u, double coefficient) {
    const std::uint64_t key = static_cast<std::uint64_t>(u.node) * 8 + static_cast<std::uint64_t>(u.component);
    const auto [it, added] = place_.try_emplace(key, terms_.size());
    if (added)
      terms_.emplace_back(u, coefficient);
    else
      terms_[it->second].second += coefficient;
  }

  /// Adds nothing where all terms cancel; returns whether an equation was added.
  bool finish(double constant, Place place) {
    std::erase_if(terms_, [](const auto& t) { return t.second == 0; });
    if (terms_.empty()) {
      if (constant != 0) b_.fail("the terms of the equation cancel, but its constant is not zero", place);
      return false;
    }
    std::vector<Domain::EquationTerm> terms;
    for (const auto& [u, c] : terms_) {
      terms.push_back({m_.domain->node_id(u.node), unknown_name(m_.physics, u.component), c});
      // A node that no element uses has the unknowns that equations name.
      auto& components = m_.components[u.node];
      components = std::max<std::uint8_t>(components, static_cast<std::uint8_t>(u.component + 1));
    }
    m_.domain->add_equation(terms, constant, label_);
    return true;
  }

 private:
  Build& b_;
  Model& m_;
  std::string label_;
  std::vector<std::pair<Unknown, double>> terms_;
  std::unordered_map<std::uint64_t, std::size_t> place_;  // of each unknown among the terms
};

// What build_constraints() puts together, by subject.

/// A surface's faces as they are in a model; of a surface of nodes, its nodes.
struct SurfaceParts {
  std::vector<FaceRef> faces;
  std::vector<std::int32_t> nodes;  ///< of the faces or of the surface itself, sorted
};
SurfaceParts surface_parts(Build& build, const Model& model, const std::string& name, const char* card, Place place);

void add_rigid_body(Build& build, Model& model, const RigidBodyCard& card);
void add_coupling(Build& build, Model& model, const CouplingCard& card);

/// How the nodes of a slave surface meet the master surface. Finding it moves nodes (ADJUST), in all
/// models, so all ties are found before anything else is made of coordinates.
struct TiedNode {
  std::int32_t node;
  std::vector<std::pair<std::int32_t, double>> masters;
  /// For a node off the surface: gap and normal, and the slopes of the masters' shape functions (see Meeting).
  double gap = 0;
  std::array<double, 3> normal{};
  std::vector<std::array<double, 3>> slopes;
};
std::vector<TiedNode> find_tied_nodes(Build& build, const Model& model, const TieCard& card);
void add_tie(Build& build, Model& model, const TieCard& card, const std::vector<TiedNode>& nodes);

}  // namespace voussoir::deck
