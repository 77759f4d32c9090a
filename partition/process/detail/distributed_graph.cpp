#include <algorithm>
#include <numeric>

#include <voussoir/partition/detail/smallest_face.hpp>
#include <voussoir/partition/process/detail/distributed_mesh.hpp>
#include <voussoir/partition/process/detail/swap_all.hpp>

namespace voussoir::detail {
namespace {

/// Entries of a row of the graph while it is collected.
struct Neighbour {
  std::int64_t vertex;
  std::int64_t needed;
};

/// Adds the row of one element: neighbours share at least as many nodes as the smaller of both needs.
void add_row(ProcessGraph& graph, std::vector<Neighbour>& met, std::int64_t own, std::int64_t needed) {
  std::sort(met.begin(), met.end(), [](const Neighbour& a, const Neighbour& b) { return a.vertex < b.vertex; });
  for (std::size_t i = 0; i < met.size();) {
    std::size_t end = i;
    while (end < met.size() && met[end].vertex == met[i].vertex) ++end;
    const auto shared = static_cast<std::int64_t>(end - i);
    if (met[i].vertex != own && shared >= std::min(needed, met[i].needed)) {
      graph.column.push_back(met[i].vertex);
      graph.shared_nodes.push_back(static_cast<std::int32_t>(shared));
    }
    i = end;
  }
  graph.row_start.push_back(static_cast<std::int64_t>(graph.column.size()));
}

}  // namespace

std::vector<double> element_weights(const ElementList& elements) {
  std::vector<double> weights;
  weights.reserve(elements.size());
  for (std::size_t e = 0; e < elements.size(); ++e) {
    const auto nodes = static_cast<double>(elements.nodes(e).size());
    weights.push_back(nodes * nodes);
  }
  return weights;
}

ProcessGraph distributed_graph(Processes& processes, NodeHomes& homes, const ElementList& elements,
                               const std::vector<GmshMesh::Batch>& batches) {
  std::vector<std::int64_t> needed;
  for (const GmshMesh::Batch& batch : batches)
    needed.push_back(
        batch.dimension < 2 ? 1 : smallest_face(batch.shape, static_cast<std::size_t>(batch.nodes_per_element)));
  ProcessGraph graph;
  const auto counts = gather_numbers(processes, static_cast<std::int64_t>(elements.size()));
  graph.first_vertex.assign(1, 0);
  for (const std::int64_t count : counts) graph.first_vertex.push_back(graph.first_vertex.back() + count);
  const std::int64_t first = graph.first_vertex[static_cast<std::size_t>(processes.own())];
  std::vector<NodeHomes::Use> own;
  for (std::size_t e = 0; e < elements.size(); ++e)
    for (const Id node : elements.nodes(e))
      own.push_back({node, first + static_cast<std::int64_t>(e), needed[elements.batch(e)]});
  const std::vector<NodeHomes::Use> uses = homes.all_uses(std::move(own));
  std::vector<Neighbour> met;
  for (std::size_t e = 0; e < elements.size(); ++e) {
    met.clear();
    for (const Id node : elements.nodes(e)) {
      auto at = std::lower_bound(uses.begin(), uses.end(), node,
                                 [](const NodeHomes::Use& use, Id id) { return use.node < id; });
      for (; at != uses.end() && at->node == node; ++at) met.push_back({at->vertex, at->needed});
    }
    add_row(graph, met, first + static_cast<std::int64_t>(e), needed[elements.batch(e)]);
  }
  graph.weight = element_weights(elements);
  return graph;
}

void fill_empty_parts(Processes& processes, std::vector<std::int32_t>& part) {
  const auto parts = static_cast<std::size_t>(processes.count());
  std::vector<double> count(parts, 0);
  for (const std::int32_t p : part) count[static_cast<std::size_t>(p)] += 1;
  processes.sum(count);
  for (std::size_t p = 0; p < parts; ++p) {
    if (count[p] > 0) continue;
    const auto richest = static_cast<std::size_t>(std::max_element(count.begin(), count.end()) - count.begin());
    // The last process that has an element of the richest part gives its last one.
    const auto last = std::find(part.rbegin(), part.rend(), static_cast<std::int32_t>(richest));
    const bool has = last != part.rend();
    const std::int64_t giver = processes.maximum(has ? static_cast<std::int64_t>(processes.own()) : -1);
    if (giver == processes.own()) *last = static_cast<std::int32_t>(p);
    count[richest] -= 1;
    count[p] += 1;
  }
}

}  // namespace voussoir::detail
