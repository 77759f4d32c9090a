#include <cmath>
#include <limits>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/deck/detail/build/equation.hpp>
#include <voussoir/framework/io/deck/detail/build/face_search.hpp>

// *TIE: nodes of the slave surface move with the faces of the master surface.

namespace voussoir::deck {
namespace {

/// Weights below these count for nothing, and the node is taken for one on the edge or at the corner. Without that, a
/// node on a plane of symmetry would pull, by rounding, at nodes beside the plane. A node that is moved anyway may be
/// moved there; one that stays keeps its place for every rigid motion to this accuracy.
constexpr double least_weight_moved = 1e-4, least_weight_kept = 1e-6;

std::vector<SearchFace> faces_to_search(const Build& b, const Model& m, const SurfaceParts& surface,
                                        const TieCard& card) {
  std::vector<SearchFace> faces;
  for (const FaceRef& f : surface.faces) {
    const ElementBlock& block = std::as_const(*m.domain).block(f.block);
    const ShapeFace& side = shape_topology(block.type().shape()).faces[f.face];
    SearchFace face;
    face.shape = find_face_shape(side.shape);
    if (!face.shape)
      b.fail("*TIE '" + card.name + "': elements of type " + block.type_name() + ", as element " +
                 b.deck.instances.element(block.id(f.element)) + ", have no faces to tie",
             card.place);
    face.count = face.shape->nodes;
    const auto nodes = block.nodes(f.element);
    for (int a = 0; a < face.count; ++a) face.nodes[a] = nodes[side.nodes[a]];
    faces.push_back(face);
  }
  if (surface.faces.empty())
    for (std::int32_t n : surface.nodes) {
      SearchFace point;
      point.nodes[0] = n;
      faces.push_back(point);
    }
  return faces;
}

/// The mean diagonal of a surface's faces, 0 where it has none.
double size_of(const Build& b, const std::vector<SearchFace>& faces) {
  double sum = 0;
  for (const SearchFace& f : faces) {
    double low[3]{}, high[3]{};
    for (int a = 0; a < f.count; ++a)
      for (int k = 0; k < 3; ++k) {
        const double x = b.coordinates[3 * static_cast<std::size_t>(f.nodes[a]) + k];
        low[k] = a == 0 ? x : std::min(low[k], x);
        high[k] = a == 0 ? x : std::max(high[k], x);
      }
    sum += std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) / static_cast<double>(faces.size());
  }
  return sum;
}

void move_node(Build& b, std::int32_t n, const std::array<double, 3>& to) {
  std::copy(to.begin(), to.end(), &b.coordinates[3 * static_cast<std::size_t>(n)]);
  for (Model& m : b.models) m.domain->move_node(m.domain->node_id(n), to);
}

/// Slave nodes that are not tied, for the message that names them.
struct Untied {
  std::vector<std::int32_t> nodes;
  std::int32_t farthest = -1;
  double distance = 0;

  void add(std::int32_t node, double how_far) {
    nodes.push_back(node);
    if (how_far > distance) distance = how_far, farthest = node;
  }

  void report(Build& b, const TieCard& card, std::size_t count, double tolerance, double beside) const {
    if (nodes.empty()) return;
    std::string text = "*TIE '" + card.name + "': ";
    if (nodes.size() == count)
      text += count == 1 ? "the node" : "all " + std::to_string(count) + " nodes";
    else
      text += std::to_string(nodes.size()) + " of the " + std::to_string(count) + " nodes";
    text += " of slave surface '" + card.slave + "' " + (nodes.size() == 1 ? "is" : "are") + " too far from master '" +
            card.master + "' to be tied (";
    for (std::size_t i = 0; i < nodes.size() && i < 8; ++i)
      text += (i ? ", " : nodes.size() == 1 ? "node " : "nodes ") + b.node_name(nodes[i]);
    text += nodes.size() > 8 ? ", …" : "";
    text += "); node " + b.node_name(farthest) + " is " + short_number(distance, 4) + " away, the tolerance is " +
            short_number(tolerance, 4);
    if (beside < tolerance) text += ", and " + short_number(beside, 4) + " beyond the edge of the surface";
    if (nodes.size() == count)
      b.fail(text + "; increase POSITION TOLERANCE to tie them, or check the surfaces", card.place);
    b.note(text + "; they are not tied unless a larger POSITION TOLERANCE is given", card.place);
  }
};

}  // namespace

std::vector<TiedNode> find_tied_nodes(Build& b, const Model& m, const TieCard& card) {
  const SurfaceParts slave = surface_parts(b, m, card.slave, "*TIE", card.place);
  const SurfaceParts master = surface_parts(b, m, card.master, "*TIE", card.place);
  std::vector<SearchFace> faces = faces_to_search(b, m, master, card);
  const double size = std::max(size_of(b, faces), size_of(b, faces_to_search(b, m, slave, card)));
  // Nodes that are this near are meant to be on the surface; CalculiX takes the same part of an element's size.
  const double usual = size > 0 ? 0.025 * size : 1e-6;
  const double tolerance = card.tolerance && *card.tolerance > 1e-10 ? *card.tolerance : usual;
  // CalculiX takes the usual distance along the surface, whatever is given for the distance from it.
  const double beside = b.options.dialect == Dialect::abaqus ? std::max(tolerance, usual) : usual;
  const double rounding = 1e-9 * size;
  const FaceSearch search(b.coordinates, std::move(faces));
  std::vector<TiedNode> tied;
  Untied untied;
  std::size_t count = 0, moved = 0;
  double farthest_move = 0;
  for (std::int32_t n : slave.nodes) {
    if (m.components[n] == 0) continue;
    ++count;
    double x[3];
    std::copy_n(&b.coordinates[3 * static_cast<std::size_t>(n)], 3, x);
    const Meeting meeting = search.nearest(x);
    const SearchFace& face = search.face(meeting.face);
    if (std::find(face.nodes.begin(), face.nodes.begin() + face.count, n) != face.nodes.begin() + face.count) {
      --count;  // both surfaces have the node: it is one with itself
      continue;
    }
    if (std::abs(meeting.gap) > tolerance + rounding || meeting.overhang > beside + rounding) {
      untied.add(n, meeting.distance);
      continue;
    }
    TiedNode node;
    node.node = n;
    double weight[FaceShape::most_nodes];
    std::copy_n(meeting.weight, face.count, weight);
    const bool adjust = card.adjust && face.shape;
    if (adjust) face.shape->values(meeting.at, weight);
    const double least = adjust ? least_weight_moved : least_weight_kept;
    double sum = 0;
    for (int a = 0; a < face.count; ++a) sum += std::abs(weight[a]) < least ? 0 : weight[a];
    std::array<double, 3> foot{};
    for (int a = 0; a < face.count; ++a) {
      if (std::abs(weight[a]) < least) continue;
      node.masters.emplace_back(face.nodes[a], weight[a] / sum);
      for (int k = 0; k < 3; ++k)
        foot[k] += weight[a] / sum * b.coordinates[3 * static_cast<std::size_t>(face.nodes[a]) + k];
    }
    if (adjust) {
      const double way = std::hypot(foot[0] - x[0], foot[1] - x[1], foot[2] - x[2]);
      if (way > rounding) {
        move_node(b, n, foot);
        if (way > 1e-6 * size) ++moved;
        farthest_move = std::max(farthest_move, way);
      }
    } else if (face.shape && std::abs(meeting.gap) > rounding && m.physics == Physics::structure) {
      node.gap = meeting.gap;
      node.normal = meeting.normal;
      node.masters.clear();
      for (int a = 0; a < face.count; ++a) {
        node.masters.emplace_back(face.nodes[a], weight[a]);
        node.slopes.push_back({meeting.slope[a][0], meeting.slope[a][1], meeting.slope[a][2]});
      }
    }
    tied.push_back(std::move(node));
  }
  untied.report(b, card, count, tolerance, beside);
  if (moved > 0)
    b.note("*TIE '" + card.name + "': " + std::to_string(moved) +
               (moved == 1 ? " node of its slave surface was" : " nodes of its slave surface were") +
               " moved onto the master surface, by at most " + short_number(farthest_move, 4) +
               "; ADJUST=NO leaves them in place",
           card.place);
  return tied;
}

void add_tie(Build& b, Model& m, const TieCard& card, const std::vector<TiedNode>& nodes) {
  const std::string label = "*TIE '" + card.name + "' at " + b.deck.where(card.place);
  for (const TiedNode& node : nodes) {
    int shared = m.components[node.node];
    for (const auto& [master, weight] : node.masters) shared = std::min<int>(shared, m.components[master]);
    // Rotations are tied where one node meets another; a face has none of its own.
    if (node.masters.size() > 1) shared = std::min(shared, 3);
    for (int k = 0; k < shared; ++k) {
      Equation equation(b, m, label);
      equation.add({node.node, k}, 1);
      for (std::size_t a = 0; a < node.masters.size(); ++a) {
        equation.add({node.masters[a].first, k}, -node.masters[a].second);
        if (node.gap == 0) continue;
        for (int j = 0; j < shared; ++j)
          equation.add({node.masters[a].first, j}, node.gap * node.slopes[a][k] * node.normal[j]);
      }
      equation.finish(0, card.place);
    }
  }
}

}  // namespace voussoir::deck
