#include <voussoir/partition/mesh_partitioner.hpp>

#include <algorithm>

#include <voussoir/backends/error.hpp>

namespace voussoir {

VertexNodes vertex_nodes(const Domain& domain, const ElementGraph& graph) {
  const auto vertices = static_cast<std::size_t>(graph.vertices());
  std::vector<std::int64_t> first(vertices + 1, 0);
  std::size_t element = 0;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e)
      first[static_cast<std::size_t>(graph.vertex[element++]) + 1] += domain.block(b).nodes_per_element();
  for (std::size_t v = 0; v < vertices; ++v) first[v + 1] += first[v];
  std::vector<std::int32_t> all(static_cast<std::size_t>(first.back()));
  auto next = first;
  element = 0;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e) {
      std::int64_t& at = next[static_cast<std::size_t>(graph.vertex[element++])];
      for (const std::int32_t n : domain.block(b).nodes(e)) all[static_cast<std::size_t>(at++)] = n;
    }
  VertexNodes result;
  result.first.reserve(vertices + 1);
  for (std::size_t v = 0; v < vertices; ++v) {
    const auto begin = all.begin() + first[v];
    auto end = all.begin() + first[v + 1];
    std::sort(begin, end);
    end = std::unique(begin, end);
    result.node.insert(result.node.end(), begin, end);
    result.first.push_back(static_cast<std::int64_t>(result.node.size()));
  }
  return result;
}

std::vector<std::int32_t> MeshPartitioner::partition(const ElementGraph&, int) const {
  throw Error(ErrorCode::misuse, "it needs the nodes of the elements; use DomainPartitioner, or divide()",
              "partitioner '" + name() + "'");
}

}  // namespace voussoir
