#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/detail/deck/build.hpp>
#include <voussoir/framework/io/detail/deck/point_grid.hpp>

// Equations, rigid bodies and ties: everything that makes unknowns depend on each other.

namespace voussoir::deck {
namespace {

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

  /// Nothing where all terms cancel and nothing is left to say; returns whether something was said.
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

bool is_heat_dof(int dof) { return dof == 11 || dof == 0; }

/// How many unknowns a node without elements can have: those of the model's other nodes.
int most_components(const Model& m) {
  return m.components.empty() ? 0 : *std::max_element(m.components.begin(), m.components.end());
}

/// The unknown of a dof, also at a node that only equations use.
Unknown named_unknown(const Build& b, const Model& m, std::int32_t node, int dof, bool unused, int most) {
  const Unknown u = b.unknown(m, node, dof);
  if (u.node >= 0) return u;
  if (m.physics == Physics::heat) return unused ? Unknown{node, 0} : Unknown{};
  return unused && dof >= 1 && dof <= most ? Unknown{node, dof - 1} : Unknown{};
}

void add_equation(Build& b, const EquationCard& card, const std::vector<std::uint8_t>& used_by_elements) {
  const bool heat = !card.terms.empty() && is_heat_dof(card.terms.front().dof);
  for (const auto& term : card.terms) {
    if (is_heat_dof(term.dof) != heat)
      b.fail("the equation mixes temperatures (11) and displacements; they are never solved together", card.place);
    if (!is_heat_dof(term.dof) && (term.dof < 1 || term.dof > 6))
      b.fail("degree of freedom " + std::to_string(term.dof) + " does not exist; use 1 to 6, or 11 for temperature",
             card.place);
  }
  Model* m = b.model(heat ? Physics::heat : Physics::structure);
  if (!m) return;  // it speaks of a physics that no step asks for
  std::vector<std::vector<std::int32_t>> nodes;
  std::size_t count = 1;
  for (const auto& term : card.terms) {
    nodes.push_back(b.nodes_of(term.node, card.place));
    if (nodes.back().size() > 1 && count > 1 && nodes.back().size() != count)
      b.fail("the sets of the equation's terms differ in length (" + std::to_string(count) + " and " +
                 std::to_string(nodes.back().size()) + " nodes); they are taken member by member",
             card.place);
    count = std::max(count, nodes.back().size());
  }
  const int most = most_components(*m);
  for (std::size_t i = 0; i < count; ++i) {
    Equation equation(b, *m, "*EQUATION at " + b.deck.where(card.place));
    for (std::size_t t = 0; t < card.terms.size(); ++t) {
      const std::int32_t node = nodes[t][nodes[t].size() == 1 ? 0 : i];
      const int dof = card.terms[t].dof;
      const auto require = [&](int d) {
        const Unknown u = named_unknown(b, *m, node, d, !used_by_elements[node], most);
        if (u.node < 0)
          b.fail("node " + std::to_string(b.node_ids[node]) + " has no degree of freedom " + std::to_string(d) +
                     ", which the equation names",
                 card.place);
        return u;
      };
      if (!heat && dof <= 3 && b.has_axes(node) && !b.aliases.contains({node, dof})) {
        const Orientation::Axes axes = b.axes(node);
        const double* a = &axes[3 * (dof - 1)];
        int order[3] = {0, 1, 2};  // the largest part first, since the first term is the one that depends
        std::sort(order, order + 3, [&](int x, int y) { return std::abs(a[x]) > std::abs(a[y]); });
        for (int k : order)
          if (std::abs(a[k]) > 1e-14) equation.add(require(k + 1), card.terms[t].coefficient * a[k]);
      } else {
        equation.add(require(dof), card.terms[t].coefficient);
      }
    }
    equation.finish(card.constant, card.place);
  }
}

// --- rigid bodies ---------------------------------------------------------------------------------------------------

std::vector<std::int32_t> nodes_of_elements(Build& b, const Model& m, const std::string& set, Place place) {
  std::vector<std::int32_t> nodes;
  for (std::size_t e : b.elements_of({set, 0}, place))
    if (m.ref[e].block >= 0) {
      const auto members = m.domain->block(m.ref[e].block).nodes(m.ref[e].element);
      nodes.insert(nodes.end(), members.begin(), members.end());
    }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

/// A node that the deck does not have, at the place of another, in every model.
std::int32_t add_own_node(Build& b, std::int32_t at, Place place) {
  const Domain& domain = *b.job.domains.front();
  const Id last = domain.node_id(domain.node_count() - 1);
  if (last == std::numeric_limits<Id>::max())
    b.fail("node number " + std::to_string(last) + " is too large: none is left for the rotation of the rigid body",
           place);
  const double* x = &b.coordinates[3 * static_cast<std::size_t>(at)];
  for (Model& m : b.models) {
    m.domain->add_node(last + 1, x[0], x[1], x[2]);
    m.components.push_back(0);
  }
  if (!b.job.node_axes.system_of.empty()) b.job.node_axes.system_of.push_back(-1);
  return domain.node_count() - 1;
}

void add_rigid_body(Build& b, Model& m, const RigidBodyCard& card) {
  const std::string label = "*RIGID BODY at " + b.deck.where(card.place);
  const std::int32_t reference = b.nodes_of({{}, card.reference}, card.place).front();
  std::vector<std::int32_t> members;
  if (!card.node_set.empty()) {
    const auto set = b.nodes_of_set(card.node_set, card.place);
    members.assign(set.begin(), set.end());
  } else if (!card.element_set.empty()) {
    members = nodes_of_elements(b, m, card.element_set, card.place);
  } else {
    b.fail("*RIGID BODY names no nodes; add NSET= or ELSET=", card.place);
  }
  const std::int32_t rotation = card.rotation ? b.nodes_of({{}, *card.rotation}, card.place).front() : -1;
  std::erase_if(members, [&](std::int32_t n) { return n == reference || n == rotation || m.components[n] == 0; });
  if (members.empty())
    b.fail("the rigid body has no node that an element uses, besides its reference node", card.place);

  // Where the rotation vector lives: in the rotations of the reference node if it has any, in dofs 1 to 3 of the
  // rotation node, or in a node of our own. In a plane there is one rotation, and a plane node has no third unknown.
  const int rotations = b.planar ? 1 : 3;
  if (b.planar && rotation >= 0 && b.has_axes(rotation) && b.axes(rotation)[8] < 1 - 1e-9)
    b.fail("the *TRANSFORM of ROT NODE " + std::to_string(b.node_ids[rotation]) +
               " turns its third axis away from z, about which a plane body rotates; leave the node out of it",
           card.place);
  Unknown theta[3];
  if (rotation >= 0 && !b.planar) {
    if (m.components[rotation] != 0)
      b.fail("ROT NODE " + std::to_string(b.node_ids[rotation]) +
                 " belongs to an element; its degrees of freedom 1 to 3 are the body's rotation, so give it a node of "
                 "its own",
             card.place);
    for (int k = 0; k < 3; ++k) theta[k] = {rotation, k};
    m.components[rotation] = 3;
    b.job.rotation_nodes.push_back(rotation);
    m.domain->set_rotation_node(m.domain->node_id(rotation), m.domain->node_id(reference));
  } else if (rotation < 0 && m.components[reference] == 6) {
    for (int k = 0; k < 3; ++k) theta[k] = {reference, 3 + k};
  } else {
    const std::int32_t own = add_own_node(b, reference, card.place);
    for (int k = 0; k < rotations; ++k) theta[k] = {own, k};
    b.job.rotation_nodes.push_back(own);
    m.domain->set_rotation_node(m.domain->node_id(own), m.domain->node_id(reference), true);
  }
  for (int k = 0; k < rotations; ++k) {
    const int axis = b.planar ? 3 : k + 1;
    // A rotation node with unknowns of its own is like any other node, and so is its *TRANSFORM.
    if (rotation >= 0 && theta[k].node != rotation) b.aliases[{rotation, axis}] = theta[k];
    if (m.components[reference] != 6) b.aliases[{reference, axis + 3}] = theta[k];
  }

  const double* origin = &b.coordinates[3 * static_cast<std::size_t>(reference)];
  if (m.components[reference] == 6 && theta[0].node != reference) members.push_back(reference);
  for (std::int32_t n : members) {
    const double* x = &b.coordinates[3 * static_cast<std::size_t>(n)];
    const double r[3] = {x[0] - origin[0], x[1] - origin[1], x[2] - origin[2]};
    for (int k = 0; n != reference && k < (b.planar ? 2 : 3); ++k) {
      Equation equation(b, m, label);
      equation.add({n, k}, 1);
      equation.add({reference, k}, -1);
      if (b.planar) {
        equation.add(theta[0], k == 0 ? r[1] : -r[0]);
      } else {
        const int i = (k + 1) % 3, j = (k + 2) % 3;  // (θ × r)_k = θ_i r_j − θ_j r_i
        equation.add(theta[i], -r[j]);
        equation.add(theta[j], r[i]);
      }
      equation.finish(0, card.place);
    }
    if (m.components[n] == 6)
      for (int k = 0; k < 3; ++k) {
        Equation equation(b, m, label);
        equation.add({n, 3 + k}, 1);
        equation.add(theta[k], -1);
        equation.finish(0, card.place);
      }
  }
}

// --- ties -----------------------------------------------------------------------------------------------------------

const SurfaceCard& surface_named(const Build& b, const std::string& name, Place place) {
  const auto it = b.deck.surfaces.find(name);
  if (it == b.deck.surfaces.end())
    b.fail(ErrorCode::not_found, "there is no surface '" + name + "'" + suggestion_from(name, b.deck.surfaces), place);
  return it->second;
}

struct TiedSurface {
  std::vector<std::int32_t> nodes;
  double size = 0;  ///< the mean diagonal of its faces, 0 where it has none
};

TiedSurface tied_surface(Build& b, Model& m, const std::string& name, Place place) {
  const SurfaceCard& card = surface_named(b, name, place);
  TiedSurface surface;
  if (card.of_nodes) {
    for (Id id : card.nodes)
      if (const std::int64_t n = b.node_index.find(id); n >= 0) surface.nodes.push_back(static_cast<std::int32_t>(n));
  } else if (m.domain->has_surface(name)) {
    const auto faces = m.domain->surface(name);
    for (const FaceRef& f : faces) {
      const ElementBlock& block = std::as_const(*m.domain).block(f.block);
      const auto nodes = block.nodes(f.element);
      double low[3] = {}, high[3] = {};
      bool first = true;
      for (int local : shape_topology(block.type().shape()).faces[f.face].nodes) {
        const double* x = &b.coordinates[3 * static_cast<std::size_t>(nodes[local])];
        for (int k = 0; k < 3; ++k) {
          low[k] = first ? x[k] : std::min(low[k], x[k]);
          high[k] = first ? x[k] : std::max(high[k], x[k]);
        }
        first = false;
        surface.nodes.push_back(nodes[local]);
      }
      surface.size +=
          std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) / static_cast<double>(faces.size());
    }
  }
  std::sort(surface.nodes.begin(), surface.nodes.end());
  surface.nodes.erase(std::unique(surface.nodes.begin(), surface.nodes.end()), surface.nodes.end());
  if (surface.nodes.empty()) b.fail("surface '" + name + "' of *TIE is empty", place);
  return surface;
}

void add_tie(Build& b, Model& m, const TieCard& card) {
  const TiedSurface slave = tied_surface(b, m, card.slave, card.place);
  const TiedSurface master = tied_surface(b, m, card.master, card.place);
  // Nodes that are this near are meant to be at one place; CalculiX takes the same part of an element's size.
  const double size = std::max(slave.size, master.size);
  double tolerance = size > 0 ? 0.025 * size : 1e-6;
  if (card.tolerance) tolerance = size > 0 ? std::min(tolerance, *card.tolerance) : *card.tolerance;
  tolerance = std::max(tolerance, 1e-9 * size);
  const PointGrid grid(b.coordinates, master.nodes, tolerance);
  const std::string label = "*TIE '" + card.name + "' at " + b.deck.where(card.place);
  for (std::int32_t n : slave.nodes) {
    const double* x = &b.coordinates[3 * static_cast<std::size_t>(n)];
    const std::int32_t partner = grid.nearest(x);
    if (partner == n) continue;
    if (partner < 0) {
      double least = std::numeric_limits<double>::infinity();
      for (std::int32_t k : master.nodes) {
        const double* y = &b.coordinates[3 * static_cast<std::size_t>(k)];
        least = std::min(least, std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]));
      }
      char distance[64];
      std::snprintf(distance, sizeof distance, "%.4g (the tolerance is %.4g)", least, tolerance);
      b.fail("*TIE joins meshes that match, but node " + std::to_string(b.node_ids[n]) + " of slave surface '" +
                 card.slave + "' has no node of master surface '" + card.master + "' at its place: the nearest is at " +
                 distance + "; make the meshes match, or give a larger POSITION TOLERANCE if they should",
             card.place);
    }
    const int shared = std::min(m.components[n], m.components[partner]);
    for (int k = 0; k < shared; ++k) {
      Equation equation(b, m, label);
      equation.add({n, k}, 1);
      equation.add({partner, k}, -1);
      equation.finish(0, card.place);
    }
  }
}

}  // namespace

void build_constraints(Build& b) {
  std::vector<std::vector<std::uint8_t>> used;
  for (const Model& m : b.models) used.push_back(m.components);
  b.job.own_nodes = static_cast<std::int32_t>(b.node_ids.size());
  if (Model* m = b.model(Physics::structure))
    for (const RigidBodyCard& card : b.deck.rigid_bodies) add_rigid_body(b, *m, card);
  for (const EquationCard& card : b.deck.equations) {
    const bool heat = !card.terms.empty() && is_heat_dof(card.terms.front().dof);
    const Model* m = b.model(heat ? Physics::heat : Physics::structure);
    add_equation(b, card, used[m ? m->index : 0]);
  }
  for (Model& m : b.models)
    for (const TieCard& card : b.deck.ties) add_tie(b, m, card);
  auto& turning = b.job.rotation_nodes;
  std::sort(turning.begin(), turning.end());
  turning.erase(std::unique(turning.begin(), turning.end()), turning.end());
}

}  // namespace voussoir::deck
