#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/framework/io/deck/detail/build/reference_motion.hpp>

// *RIGID BODY: nodes that follow a reference node.

namespace voussoir::deck {
namespace {

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

/// A node that the deck does not have, in every model.
std::int32_t add_own_node(Build& b, const Vector& x, Place place) {
  const Domain& domain = *b.job.domains.front();
  const Id last = domain.node_id(domain.node_count() - 1);
  if (last == std::numeric_limits<Id>::max())
    b.fail("node number " + std::to_string(last) + " is too large: no number is left for the rotation of a rigid body",
           place);
  for (Model& m : b.models) {
    m.domain->add_node(last + 1, x[0], x[1], x[2]);
    m.components.push_back(0);
  }
  if (!b.job.node_axes.system_of.empty()) b.job.node_axes.system_of.push_back(-1);
  return domain.node_count() - 1;
}

}  // namespace

Vector position(const Build& b, std::int32_t node) {
  const double* x = &b.job.domains.front()->coordinates()[3 * static_cast<std::size_t>(node)];
  return {x[0], x[1], x[2]};
}

void Reference::add_motion(Equation& equation, const Build& b, const Vector& d, const Vector& x, double factor) const {
  for (int k = 0; k < (b.planar ? 2 : 3); ++k)
    if (d[k] != 0) equation.add({node, k}, factor * d[k]);
  // d · (θ × r) = θ · (r × d)
  const Vector turn = cross({x[0] - at[0], x[1] - at[1], x[2] - at[2]}, d);
  for (int k = 0; k < 3; ++k)
    if (theta[k].node >= 0 && turn[k] != 0) equation.add(theta[k], factor * turn[k]);
}

Reference reference_motion(Build& b, Model& m, std::int32_t node, std::int32_t rotation, Place place) {
  Reference reference{node, position(b, node), {}};
  const int first = b.planar ? 2 : 0;
  const bool turns = m.components[node] == 6;
  if (rotation >= 0 && b.planar && b.has_axes(rotation) && b.axes(rotation)[8] < 1 - 1e-9)
    b.fail("the *TRANSFORM of ROT NODE " + b.node_name(rotation) +
               " rotates its third axis away from z, about which a plane body rotates; remove the node from it",
           place);
  if (rotation >= 0 && !b.planar) {
    if (m.components[rotation] != 0)
      b.fail(
          "ROT NODE " + b.node_name(rotation) +
              " belongs to an element; its degrees of freedom 1 to 3 are the body's rotation, so use a separate node",
          place);
    for (int k = 0; k < 3; ++k) reference.theta[k] = {rotation, k};
    m.components[rotation] = 3;
    b.job.rotation_nodes.push_back(rotation);
    m.domain->set_rotation_node(m.domain->node_id(rotation), m.domain->node_id(node));
  } else if (rotation < 0 && turns) {
    for (int k = first; k < 3; ++k) reference.theta[k] = {node, 3 + k};
  } else if (const auto known = b.aliases.find({node, 6}); rotation < 0 && known != b.aliases.end()) {
    for (int k = first; k < 3; ++k) reference.theta[k] = b.aliases.at({node, 4 + k});
  } else {
    const std::int32_t own = add_own_node(b, reference.at, place);
    for (int k = first; k < 3; ++k) reference.theta[k] = {own, k - first};
    b.job.rotation_nodes.push_back(own);
    m.domain->set_rotation_node(m.domain->node_id(own), m.domain->node_id(node), true);
  }
  for (int k = first; k < 3; ++k) {
    // A rotation node with unknowns of its own is like any other node, and so is its *TRANSFORM.
    if (rotation >= 0 && reference.theta[k].node != rotation) b.aliases[{rotation, k + 1}] = reference.theta[k];
    if (!turns) b.aliases[{node, k + 4}] = reference.theta[k];
  }
  return reference;
}

void follow_rotation(Build& b, Model& m, std::int32_t n, const Reference& reference, const Vector& d,
                     const std::string& label, Place place) {
  Equation equation(b, m, label);
  for (int k = 0; k < 3; ++k) {
    if (reference.theta[k].node < 0 || d[k] == 0) continue;
    equation.add({n, 3 + k}, d[k]);
    equation.add(reference.theta[k], -d[k]);
  }
  equation.finish(0, place);
}

void follow(Build& b, Model& m, std::int32_t n, const Reference& reference, const Vector& d, const std::string& label,
            Place place) {
  Equation equation(b, m, label);
  for (int k = 0; k < (b.planar ? 2 : 3); ++k)
    if (d[k] != 0) equation.add({n, k}, d[k]);
  reference.add_motion(equation, b, d, position(b, n), -1);
  equation.finish(0, place);
}

namespace {

/// The node that a card names, itself or as the only member of a set; −1: it names none.
std::int32_t one_node(Build& b, const std::optional<Target>& target, const char* parameter, Place place) {
  if (!target) return -1;
  const auto nodes = b.nodes_of(*target, place);
  if (nodes.size() != 1)
    b.fail("*RIGID BODY, " + std::string(parameter) + ": the set '" + target->set + "' must have one node, and has " +
               std::to_string(nodes.size()),
           place);
  return nodes.front();
}

}  // namespace

void add_rigid_body(Build& b, Model& m, const RigidBodyCard& card) {
  const std::string label = "*RIGID BODY at " + b.deck.where(card.place);
  std::vector<std::int32_t> members;
  if (!card.node_set.empty()) {
    const auto set = b.nodes_of_set(card.node_set, card.place);
    members.assign(set.begin(), set.end());
  } else if (!card.element_set.empty()) {
    members = nodes_of_elements(b, m, card.element_set, card.place);
  } else {
    b.fail("*RIGID BODY has no nodes; add NSET= or ELSET=", card.place);
  }
  const std::int32_t rotation = one_node(b, card.rotation, "ROT NODE", card.place);
  std::int32_t given = one_node(b, card.reference, "REF NODE", card.place);
  std::erase_if(members, [&](std::int32_t n) { return n == given || n == rotation || m.components[n] == 0; });
  if (members.empty())
    b.fail(given >= 0 ? "the rigid body has no node that an element uses, besides its reference node"
                      : "the rigid body has no node that an element uses",
           card.place);
  // Without a reference node any node of the body will do.
  if (given < 0) {
    given = members.front();
    members.erase(members.begin());
  }
  const Reference reference = reference_motion(b, m, given, rotation, card.place);
  if (m.components[given] == 6 && reference.theta[2].node != given) members.push_back(given);
  for (std::int32_t n : members) {
    for (int k = 0; n != given && k < (b.planar ? 2 : 3); ++k)
      follow(b, m, n, reference, global_axes[k], label, card.place);
    if (m.components[n] == 6)
      for (int k = b.planar ? 2 : 0; k < 3; ++k) follow_rotation(b, m, n, reference, global_axes[k], label, card.place);
  }
}

}  // namespace voussoir::deck
