#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <map>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/deck/detail/build/face_shape.hpp>
#include <voussoir/framework/io/deck/detail/build/reference_motion.hpp>

// *COUPLING: nodes that follow a reference node in some directions, or a reference node that follows others in the
// mean.

namespace voussoir::deck {
namespace {

/// What a *COUPLING joins to its reference node.
struct Coupled {
  std::vector<std::int32_t> nodes;
  std::vector<double> weights;  ///< parts of the area, of sum 1
};

Coupled coupled_nodes(Build& b, const Model& m, const CouplingCard& card, std::int32_t reference) {
  Coupled coupled;
  std::map<std::int32_t, double> weight;
  if (!card.weighted.empty()) {
    for (const auto& [nodes, w] : card.weighted)
      for (std::int32_t n : b.nodes_of(nodes, card.place)) weight[n] = w;
  } else if (card.surface.empty()) {
    for (std::int32_t n : b.nodes_of(card.nodes, card.place)) weight[n] = 1;
  } else {
    const SurfaceParts surface = surface_parts(b, m, card.surface, "*COUPLING", card.place);
    for (std::int32_t n : surface.nodes) weight[n] = surface.faces.empty() ? 1 : 0;
    for (const FaceRef& f : surface.faces) {
      const ElementBlock& block = std::as_const(*m.domain).block(f.block);
      const ShapeFace& side = shape_topology(block.type().shape()).faces[f.face];
      const FaceShape* shape = find_face_shape(side.shape);
      if (!shape)
        b.fail("elements of type " + block.type_name() + ", as element " +
                   b.deck.instances.element(block.id(f.element)) +
                   ", have no faces that *COUPLING can use; use a node-based surface",
               card.place);
      if (!card.kinematic && block.type().program().axisymmetric())
        b.fail(
            "*DISTRIBUTING on axisymmetric elements is not supported: a mean rotation is not defined there; use "
            "*KINEMATIC or *EQUATION",
            card.place);
      double x[FaceShape::most_nodes][3], area[FaceShape::most_nodes] = {};
      const auto nodes = block.nodes(f.element);
      for (int a = 0; a < shape->nodes; ++a) {
        const Vector at = position(b, nodes[side.nodes[a]]);
        std::copy(at.begin(), at.end(), x[a]);
      }
      shape->add_areas(x, area);
      const auto thickness = block.section().find("thickness");
      const double factor = shape->dim == 1 && thickness != block.section().end() ? thickness->second : 1;
      for (int a = 0; a < shape->nodes; ++a) weight[nodes[side.nodes[a]]] += factor * area[a];
    }
  }
  const Vector at = position(b, reference);
  double sum = 0;
  for (const auto& [n, w] : weight) {
    const Vector x = position(b, n);
    if (n == reference || m.components[n] == 0) continue;
    if (card.radius && std::hypot(x[0] - at[0], x[1] - at[1], x[2] - at[2]) > *card.radius) continue;
    coupled.nodes.push_back(n);
    coupled.weights.push_back(w);
    sum += w;
  }
  if (coupled.nodes.empty())
    b.fail(card.radius ? "*COUPLING has no node within its INFLUENCE RADIUS"
                       : "*COUPLING has no node that an element uses, besides its reference node",
           card.place);
  if (!(sum > 0)) b.fail("the surface of *COUPLING has no area", card.place);
  for (double& w : coupled.weights) w /= sum;
  return coupled;
}

/// The local directions of a coupling at a place.
std::array<Vector, 3> directions(Build& b, const CouplingCard& card, const Vector& at) {
  if (card.orientation.empty()) return global_axes;
  const Orientation orientation = make_orientation(b, card.orientation, card.place);
  try {
    const Orientation::Axes axes = orientation.at({at[0], at[1], at[2]});
    std::array<Vector, 3> rows;
    for (int i = 0; i < 3; ++i) rows[i] = {axes[3 * i], axes[3 * i + 1], axes[3 * i + 2]};
    return rows;
  } catch (const Error& error) {
    b.fail("*COUPLING, ORIENTATION=" + card.orientation + ": " + error.text(), card.place);
  }
}

bool in_plane(const Vector& d) { return std::abs(d[2]) < 1e-9; }

void add_kinematic(Build& b, Model& m, const CouplingCard& card, const Reference& reference, const Coupled& coupled) {
  const std::string label = "*KINEMATIC coupling at " + b.deck.where(card.place);
  for (std::int32_t n : coupled.nodes) {
    const auto axes = directions(b, card, position(b, n));
    for (int k = 0; k < 3; ++k) {
      if (card.dofs[k] && (!b.planar || in_plane(axes[k]))) follow(b, m, n, reference, axes[k], label, card.place);
      if (card.dofs[3 + k] && m.components[n] == 6 && (!b.planar || k == 2))
        follow_rotation(b, m, n, reference, axes[k], label, card.place);
    }
  }
}

/// Moments of the coupled nodes about their weighted middle, and what turns Σ w r × u into the mean rotation.
struct Cloud {
  Vector middle{};
  std::array<Vector, 3> inverse{};  ///< of T = Σ w (r·r 1 − r r), without the directions about which nothing turns
  std::vector<Vector> fixed;        ///< those directions

  Cloud(const Build& b, const Coupled& coupled) {
    for (std::size_t i = 0; i < coupled.nodes.size(); ++i) {
      const Vector x = position(b, coupled.nodes[i]);
      for (int k = 0; k < 3; ++k) middle[k] += coupled.weights[i] * x[k];
    }
    Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
    double size = 0;
    for (std::size_t i = 0; i < coupled.nodes.size(); ++i) {
      const Vector r = arm(b, coupled.nodes[i]);
      const double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
      size = std::max(size, square);
      for (int p = 0; p < 3; ++p)
        for (int q = 0; q < 3; ++q) inertia(p, q) += coupled.weights[i] * ((p == q ? square : 0) - r[p] * r[q]);
    }
    if (b.planar) {  // there is the rotation about z alone
      if (inertia(2, 2) > 1e-10 * size)
        inverse[2][2] = 1 / inertia(2, 2);
      else
        fixed.push_back(global_axes[2]);
      return;
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(inertia);
    for (int j = 0; j < 3; ++j) {
      const double value = eigen.eigenvalues()[j];
      const Eigen::Vector3d axis = eigen.eigenvectors().col(j);
      if (!(value > 1e-10 * size)) {
        fixed.push_back({axis[0], axis[1], axis[2]});
        continue;
      }
      for (int p = 0; p < 3; ++p)
        for (int q = 0; q < 3; ++q) inverse[p][q] += axis[p] * axis[q] / value;
    }
  }

  Vector arm(const Build& b, std::int32_t n) const {
    const Vector x = position(b, n);
    return {x[0] - middle[0], x[1] - middle[1], x[2] - middle[2]};
  }

  /// Whether the mean rotation about d is defined.
  bool turns(const Vector& d) const {
    return std::all_of(fixed.begin(), fixed.end(),
                       [&](const Vector& f) { return std::abs(d[0] * f[0] + d[1] * f[1] + d[2] * f[2]) < 1e-9; });
  }
  /// Adds `factor` times d · (mean rotation): each node has w u · (T⁻¹ d × r).
  void add_rotation(Equation& equation, const Build& b, const Coupled& coupled, const Vector& d, double factor) const {
    Vector turned{};
    for (int p = 0; p < 3; ++p)
      for (int q = 0; q < 3; ++q) turned[p] += inverse[p][q] * d[q];
    for (std::size_t i = 0; i < coupled.nodes.size(); ++i) {
      const Vector c = cross(turned, arm(b, coupled.nodes[i]));
      for (int k = 0; k < (b.planar ? 2 : 3); ++k)
        if (c[k] != 0) equation.add({coupled.nodes[i], k}, factor * coupled.weights[i] * c[k]);
    }
  }
};

/// For *DISTRIBUTING COUPLING, CalculiX ignores where the reference node is and applies its force at the weighted
/// centroid of the nodes; Abaqus applies it at the node. They agree only where the node is at the centroid.
void require_centred(const Build& b, const CouplingCard& card, std::int32_t node, const Coupled& coupled,
                     const Vector& centroid, double distance) {
  if (card.weighted.empty() || b.options.dialect != Dialect::calculix) return;
  double radius = 0;
  for (const std::int32_t n : coupled.nodes) {
    const Vector x = position(b, n);
    radius = std::max(radius, std::hypot(x[0] - centroid[0], x[1] - centroid[1], x[2] - centroid[2]));
  }
  if (distance <= 1e-4 * radius) return;
  b.fail(
      "*DISTRIBUTING COUPLING: the reference node " + b.node_name(node) + " is " + short_number(distance, 4) +
          " away from the weighted centroid of the coupled nodes, (" + short_number(centroid[0], 6) + ", " +
          short_number(centroid[1], 6) + ", " + short_number(centroid[2], 6) +
          "). CalculiX applies its force at the centroid, Abaqus at the node; move the node to the centroid, or choose "
          "--dialect abaqus",
      card.place);
}

/// The reference node has the weighted mean motion of the others: mean displacement and mean rotation about their
/// middle, as a rigid body of their masses would have. So forces and moments on it are shared out in equilibrium.
void add_distributing(Build& b, Model& m, const CouplingCard& card, std::int32_t node, const Coupled& coupled) {
  const std::string label = "*DISTRIBUTING coupling at " + b.deck.where(card.place);
  const Cloud cloud(b, coupled);
  const Vector at = position(b, node);
  const Vector offset{at[0] - cloud.middle[0], at[1] - cloud.middle[1], at[2] - cloud.middle[2]};
  const double size = std::hypot(offset[0], offset[1], offset[2]);
  require_centred(b, card, node, coupled, cloud.middle, size);
  const auto axes = directions(b, card, at);
  const auto undefined = [&](const std::string& what) {
    b.fail(
        "*DISTRIBUTING: the nodes of the coupling are collinear or coincide, so their mean rotation about that line "
        "is not defined, which " +
            what + " needs; name the degrees of freedom to be coupled, or use more nodes",
        card.place);
  };
  for (int k = 0; k < 3; ++k) {
    if (!card.dofs[k] || (b.planar && !in_plane(axes[k]))) continue;
    // d · (mean displacement + mean rotation × offset)
    const Vector turn = cross(offset, axes[k]);
    if (size > 0 && !cloud.turns({turn[0] / size, turn[1] / size, turn[2] / size}))
      undefined("the reference node off that line");
    Equation equation(b, m, label);
    for (int i = 0; i < (b.planar ? 2 : 3); ++i)
      if (axes[k][i] != 0) equation.add({node, i}, axes[k][i]);
    for (std::size_t n = 0; n < coupled.nodes.size(); ++n)
      for (int i = 0; i < (b.planar ? 2 : 3); ++i)
        if (axes[k][i] != 0) equation.add({coupled.nodes[n], i}, -coupled.weights[n] * axes[k][i]);
    cloud.add_rotation(equation, b, coupled, turn, -1);
    equation.finish(0, card.place);
  }
  const bool any = b.planar ? card.dofs[5] : card.dofs[3] || card.dofs[4] || card.dofs[5];
  if (!any) return;
  // Where all six are meant because none is named, what the nodes cannot say of rotations is left out.
  if (!card.dofs_given && cloud.fixed.size() == (b.planar ? 1u : 3u)) return;
  const Reference reference = reference_motion(b, m, node, -1, card.place);
  for (int k = b.planar ? 2 : 0; k < 3; ++k) {
    if (!card.dofs[3 + k]) continue;
    if (!cloud.turns(axes[k])) undefined("degree of freedom " + std::to_string(4 + k));
    Equation equation(b, m, label);
    for (int i = 0; i < 3; ++i)
      if (reference.theta[i].node >= 0 && axes[k][i] != 0) equation.add(reference.theta[i], axes[k][i]);
    cloud.add_rotation(equation, b, coupled, axes[k], -1);
    equation.finish(0, card.place);
  }
}

}  // namespace

void add_coupling(Build& b, Model& m, const CouplingCard& card) {
  std::vector<std::int32_t> nodes;
  if (card.element_set.empty()) {
    nodes = b.nodes_of(card.reference, card.place);
  } else {
    for (std::size_t e : b.elements_of({card.element_set, 0}, card.place)) {
      const std::size_t at = b.card_of(e);
      if (b.meaning[at]->family != Family::coupling)
        b.fail("*DISTRIBUTING COUPLING needs a DCOUP3D element, and " + b.element_label(e) + " is none", card.place);
      nodes.push_back(static_cast<std::int32_t>(b.node_index.find(b.deck.elements[at].nodes[e - b.card_first[at]])));
    }
  }
  if (nodes.size() != 1)
    b.fail("a coupling has a single reference node, and '" +
               (card.element_set.empty() ? card.reference.set : card.element_set) + "' has " +
               std::to_string(nodes.size()),
           card.place);
  const Coupled coupled = coupled_nodes(b, m, card, nodes.front());
  if (card.kinematic)
    add_kinematic(b, m, card, reference_motion(b, m, nodes.front(), -1, card.place), coupled);
  else
    add_distributing(b, m, card, nodes.front(), coupled);
}

}  // namespace voussoir::deck
