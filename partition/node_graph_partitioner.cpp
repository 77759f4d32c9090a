#include <voussoir/partition/node_graph_partitioner.hpp>

#include <algorithm>
#include <utility>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/detail/division_by_shares.hpp>
#include <voussoir/partition/detail/element_vote.hpp>
#include <voussoir/partition/detail/metis_division.hpp>

namespace voussoir {
namespace {

using Parts = std::vector<std::int32_t>;

std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

/// The vertices of an ElementGraph at each node or, with other lists, at each vertex of a graph of nodes.
VertexNodes transposed(const VertexNodes& lists, std::size_t targets) {
  VertexNodes result;
  result.first.assign(targets + 1, 0);
  for (const std::int32_t n : lists.node) ++result.first[index(n) + 1];
  for (std::size_t n = 0; n < targets; ++n) result.first[n + 1] += result.first[n];
  result.node.resize(lists.node.size());
  auto next = result.first;
  for (std::size_t v = 0; v + 1 < lists.first.size(); ++v)
    for (const std::int32_t n : lists.of(static_cast<std::int32_t>(v)))
      result.node[static_cast<std::size_t>(next[index(n)]++)] = static_cast<std::int32_t>(v);
  return result;
}

/// Adds rows to a graph: vertices are neighbours if they occur in one list, once for each such list.
void add_rows(ElementGraph& graph, const VertexNodes& lists, const VertexNodes& lists_of) {
  const std::size_t count = lists_of.first.size() - 1;
  std::vector<std::int32_t> shared(count, 0), met;
  for (std::size_t v = 0; v < count; ++v) {
    met.clear();
    for (const std::int32_t list : lists_of.of(static_cast<std::int32_t>(v)))
      for (const std::int32_t other : lists.of(list))
        if (index(other) != v && shared[index(other)]++ == 0) met.push_back(other);
    std::sort(met.begin(), met.end());
    for (const std::int32_t other : met) {
      graph.column.push_back(other);
      graph.shared_nodes.push_back(std::exchange(shared[index(other)], 0));
    }
    graph.row_start.push_back(static_cast<std::int64_t>(graph.column.size()));
  }
}

/// The graph of the nodes. Nodes of a group of elements, and of elements with very many, are a single vertex: they stay
/// together, and between n of them there would be n² edges.
struct NodeVertices {
  ElementGraph graph;                        // whose vertices are nodes
  std::vector<std::int32_t> vertex_of_node;  // of the domain; −1: no element uses it

  NodeVertices(const ElementGraph& elements, const VertexNodes& nodes) {
    constexpr std::size_t most_nodes = 64;
    std::int32_t highest = -1;
    for (const std::int32_t n : nodes.node) highest = std::max(highest, n);
    vertex_of_node.assign(static_cast<std::size_t>(highest) + 1, -1);
    std::vector<std::int32_t> members(static_cast<std::size_t>(elements.vertices()), 0), own(members.size(), -1);
    for (const std::int32_t v : elements.vertex) ++members[index(v)];
    std::int32_t count = 0;
    for (std::int32_t v = 0; v < elements.vertices(); ++v) {
      if (members[index(v)] < 2 && nodes.of(v).size() <= most_nodes) continue;
      // Of a node of several groups, the first one has it. A group without a node of its own has no vertex.
      for (const std::int32_t n : nodes.of(v)) {
        if (vertex_of_node[index(n)] >= 0) continue;
        if (own[index(v)] < 0) own[index(v)] = count++;
        vertex_of_node[index(n)] = own[index(v)];
      }
    }
    for (const std::int32_t n : nodes.node)
      if (vertex_of_node[index(n)] < 0) vertex_of_node[index(n)] = count++;

    graph.weight.assign(static_cast<std::size_t>(count), 0.0);
    VertexNodes lists;  // vertices of the graph of the nodes, of each element or group
    std::vector<std::int32_t> here;
    for (std::int32_t v = 0; v < elements.vertices(); ++v) {
      here.clear();
      const double weight = elements.weight[index(v)];
      for (const std::int32_t n : nodes.of(v)) {
        here.push_back(vertex_of_node[index(n)]);
        if (own[index(v)] < 0) graph.weight[index(here.back())] += weight / static_cast<double>(nodes.of(v).size());
      }
      if (own[index(v)] >= 0) graph.weight[index(own[index(v)])] += weight;
      std::sort(here.begin(), here.end());
      lists.node.insert(lists.node.end(), here.begin(), std::unique(here.begin(), here.end()));
      lists.first.push_back(static_cast<std::int64_t>(lists.node.size()));
    }
    add_rows(graph, lists, transposed(lists, static_cast<std::size_t>(count)));
  }
};

detail::MetisMethod metis_method(NodeGraphPartitioner::Method method) {
  switch (method) {
    case NodeGraphPartitioner::Method::recursive:
      return detail::MetisMethod::recursive;
    case NodeGraphPartitioner::Method::contiguous:
      return detail::MetisMethod::contiguous;
    default:
      return detail::MetisMethod::kway;
  }
}

}  // namespace

NodeGraphPartitioner::NodeGraphPartitioner(Method method, std::vector<double> shares)
    : method_(method), shares_(std::move(shares)) {
  if (!shares_.empty()) detail::check_shares(shares_);
}

std::string NodeGraphPartitioner::name() const {
  return std::string("metis:graph=nodes") +
         (method_ == Method::recursive    ? ":recursive"
          : method_ == Method::contiguous ? ":contiguous"
                                          : "") +
         (shares_.empty() ? "" : ":shares");
}

std::vector<std::int32_t> NodeGraphPartitioner::divide(const ElementGraph& graph, const VertexNodes& nodes,
                                                       int parts) const {
  if (!MetisPartitioner::available()) return detail::divide_by_metis(graph, parts, detail::MetisMethod::kway, {});
  std::vector<double> shares(static_cast<std::size_t>(parts), 1.0);
  if (!shares_.empty()) {
    const auto own = detail::shares_of_parts(shares_, parts);
    shares.assign(own.begin(), own.end());
  }
  if (parts == 1) return Parts(static_cast<std::size_t>(graph.vertices()), 0);
  ElementGraph by_nodes;  // where faces do not connect the elements
  const ElementGraph* near = &graph;
  if (method_ == Method::contiguous && !detail::is_connected(graph)) {
    by_nodes.weight = graph.weight;
    add_rows(
        by_nodes,
        transposed(nodes, nodes.node.empty() ? 0 : index(*std::max_element(nodes.node.begin(), nodes.node.end())) + 1),
        nodes);
    if (!detail::is_connected(by_nodes))
      throw Error(
          ErrorCode::bad_input,
          "the elements are not connected, so that parts cannot all be; use metis:graph=nodes without contiguous, or "
          "connect the bodies",
          "partitioner '" + name() + "'");
    near = &by_nodes;
  }
  const NodeVertices node_vertices(graph, nodes);
  detail::KnownParts known;
  if (node_vertices.graph.vertices() < 4 * parts) {  // METIS complains and leaves parts empty
    known.of_vertex = detail::bisect_by_shares(graph, CoordinateBisection::Direction::coordinate, shares);
  } else {
    const Parts found = detail::divide_by_metis(node_vertices.graph, parts, metis_method(method_), {},
                                                shares_.empty() ? std::span<const double>{} : shares, "nodes");
    for (const std::int32_t v : node_vertices.vertex_of_node) known.of_node.push_back(v < 0 ? -1 : found[index(v)]);
  }
  return detail::parts_of_elements(graph, nodes, shares, known, *near, method_ == Method::contiguous);
}

}  // namespace voussoir
