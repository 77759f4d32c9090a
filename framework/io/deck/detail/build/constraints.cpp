#include <algorithm>
#include <cmath>

#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/deck/detail/build/equation.hpp>

// Everything that makes unknowns depend on each other: equations here; rigid bodies, couplings and ties in files of
// their own.

namespace voussoir::deck {
namespace {

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
      b.fail("the equation mixes temperatures (11) and displacements, which are solved separately", card.place);
    if (!is_heat_dof(term.dof) && (term.dof < 1 || term.dof > 6))
      b.fail("degree of freedom " + std::to_string(term.dof) + " does not exist; use 1 to 6, or 11 for temperature",
             card.place);
  }
  Model* m = b.model(heat ? Physics::heat : Physics::structure);
  if (!m) return;  // it belongs to a physics that no step asks for
  std::vector<std::vector<std::int32_t>> nodes;
  std::size_t count = 1;
  for (const auto& term : card.terms) {
    nodes.push_back(b.nodes_of(term.node, card.place));
    if (nodes.back().size() > 1 && count > 1 && nodes.back().size() != count)
      b.fail("the sets of the equation's terms differ in length (" + std::to_string(count) + " and " +
                 std::to_string(nodes.back().size()) + " nodes); they are paired member by member",
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
          b.fail("node " + b.node_name(node) + " has no degree of freedom " + std::to_string(d) +
                     ", which the equation refers to",
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

/// Which unknowns of nodes without elements equations use: nothing else of them exists.
void find_named_unknowns(Model& m, const std::vector<std::uint8_t>& used_by_elements) {
  for (const ConstraintEquation& e : m.domain->equations())
    for (const auto& term : e.terms)
      if (term.node >= static_cast<std::int32_t>(used_by_elements.size()) || !used_by_elements[term.node])
        for (int k = 0; k < m.components[term.node]; ++k)
          if (unknown_name(m.physics, k) == term.unknown) m.named[term.node] |= 1u << k;
}

}  // namespace

SurfaceParts surface_parts(Build& b, const Model& m, const std::string& name, const char* card, Place place) {
  const auto it = b.deck.surfaces.find(name);
  if (it == b.deck.surfaces.end())
    b.fail(ErrorCode::not_found, "there is no surface '" + name + "'" + suggestion_from(name, b.deck.surfaces), place);
  SurfaceParts parts;
  if (it->second.of_nodes) {
    for (Id id : it->second.nodes)
      if (const std::int64_t n = b.node_index.find(id); n >= 0) parts.nodes.push_back(static_cast<std::int32_t>(n));
  } else if (m.domain->has_surface(name)) {
    const auto faces = m.domain->surface(name);
    parts.faces.assign(faces.begin(), faces.end());
    for (const FaceRef& f : faces) {
      const ElementBlock& block = std::as_const(*m.domain).block(f.block);
      const auto nodes = block.nodes(f.element);
      for (int local : shape_topology(block.type().shape()).faces[f.face].nodes) parts.nodes.push_back(nodes[local]);
    }
  }
  std::sort(parts.nodes.begin(), parts.nodes.end());
  parts.nodes.erase(std::unique(parts.nodes.begin(), parts.nodes.end()), parts.nodes.end());
  if (parts.nodes.empty()) b.fail("surface '" + name + "' of " + card + " is empty", place);
  return parts;
}

void build_constraints(Build& b) {
  std::vector<std::vector<std::uint8_t>> used;
  for (const Model& m : b.models) used.push_back(m.components);
  b.job.own_nodes = static_cast<std::int32_t>(b.node_ids.size());
  // Ties may move nodes, so they are found before the lever arms of rigid bodies are measured.
  std::vector<std::vector<std::vector<TiedNode>>> tied;
  for (const Model& m : b.models)
    for (tied.emplace_back(); const TieCard& card : b.deck.ties) tied.back().push_back(find_tied_nodes(b, m, card));
  if (Model* m = b.model(Physics::structure)) {
    for (const RigidBodyCard& card : b.deck.rigid_bodies) add_rigid_body(b, *m, card);
    for (const CouplingCard& card : b.deck.couplings) add_coupling(b, *m, card);
  }
  for (const EquationCard& card : b.deck.equations) {
    const bool heat = !card.terms.empty() && is_heat_dof(card.terms.front().dof);
    const Model* m = b.model(heat ? Physics::heat : Physics::structure);
    add_equation(b, card, used[m ? m->index : 0]);
  }
  for (Model& m : b.models)
    for (std::size_t i = 0; i < b.deck.ties.size(); ++i) add_tie(b, m, b.deck.ties[i], tied[m.index][i]);
  for (Model& m : b.models) find_named_unknowns(m, used[m.index]);
  auto& turning = b.job.rotation_nodes;
  std::sort(turning.begin(), turning.end());
  turning.erase(std::unique(turning.begin(), turning.end()), turning.end());
}

}  // namespace voussoir::deck
