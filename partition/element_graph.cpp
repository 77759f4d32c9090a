#include <voussoir/partition/element_graph.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/detail/smallest_face.hpp>

namespace voussoir {
ElementGraph element_graph(const Domain& domain, std::vector<double> weights) {
  const std::int64_t count = domain.element_count();
  if (count > INT32_MAX) throw Error(ErrorCode::bad_input, "more than 2^31 − 1 elements cannot be partitioned");
  if (!weights.empty() && static_cast<std::int64_t>(weights.size()) != count)
    throw Error(ErrorCode::bad_input,
                std::to_string(weights.size()) + " weights for " + std::to_string(count) + " elements");

  ElementGraph graph;
  graph.weight = weights.empty() ? std::vector<double>(count, 1.0) : std::move(weights);
  graph.vertex.resize(count);
  graph.centroid.reserve(count);
  // Elements of all blocks in a row: nodes of element e are at[e] … at[e+1] of `nodes`.
  std::vector<std::int64_t> at{0};
  std::vector<std::int32_t> nodes;
  std::vector<int> needed;
  const auto x = domain.coordinates();
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const int face = detail::smallest_face(block.type().shape(), block.nodes_per_element());
    for (std::int32_t e = 0; e < block.size(); ++e) {
      const auto global = static_cast<std::int32_t>(at.size()) - 1;
      graph.vertex[global] = global;
      if (!(graph.weight[global] >= 0) || !std::isfinite(graph.weight[global]))
        throw Error(ErrorCode::bad_input, "the weight is negative or not finite",
                    domain.element_label({static_cast<std::int32_t>(b), e}));
      std::array<double, 3> centre{0, 0, 0};
      for (std::int32_t n : block.nodes(e)) {
        nodes.push_back(n);
        for (int i = 0; i < 3; ++i) centre[i] += x[3 * static_cast<std::size_t>(n) + i] / block.nodes_per_element();
      }
      graph.centroid.push_back(centre);
      needed.push_back(face);
      at.push_back(static_cast<std::int64_t>(nodes.size()));
    }
  }

  // Elements of each node.
  std::vector<std::int64_t> first(domain.node_count() + 1, 0);
  for (std::int32_t n : nodes) ++first[n + 1];
  for (std::int32_t n = 0; n < domain.node_count(); ++n) first[n + 1] += first[n];
  std::vector<std::int32_t> user(nodes.size());
  auto cursor = first;
  for (std::int32_t e = 0; e < static_cast<std::int32_t>(count); ++e)
    for (auto i = at[e]; i < at[e + 1]; ++i) user[cursor[nodes[i]]++] = e;

  std::vector<int> shared(count, 0);
  std::vector<std::int32_t> met;
  for (std::int32_t e = 0; e < static_cast<std::int32_t>(count); ++e) {
    met.clear();
    for (auto i = at[e]; i < at[e + 1]; ++i)
      for (auto u = first[nodes[i]]; u < first[nodes[i] + 1]; ++u) {
        const std::int32_t other = user[u];
        if (other != e && shared[other]++ == 0) met.push_back(other);
      }
    std::sort(met.begin(), met.end());
    for (std::int32_t other : met) {
      if (shared[other] >= std::min(needed[e], needed[other])) {
        graph.column.push_back(other);
        graph.shared_nodes.push_back(shared[other]);
      }
      shared[other] = 0;
    }
    graph.row_start.push_back(static_cast<std::int64_t>(graph.column.size()));
  }
  return graph;
}

ElementGraph merged(const ElementGraph& graph, const std::vector<std::int32_t>& group) {
  if (static_cast<std::int64_t>(group.size()) != graph.elements() || graph.vertices() != graph.elements())
    throw Error(ErrorCode::misuse, "merged() needs a graph of single elements and a group for each");
  // New vertices in the order of their first elements.
  std::map<std::int32_t, std::int32_t> of_group;
  ElementGraph result;
  result.vertex.resize(group.size());
  std::int32_t count = 0;
  for (std::size_t e = 0; e < group.size(); ++e) {
    if (group[e] < 0) {
      result.vertex[e] = count++;
      continue;
    }
    const auto [it, is_new] = of_group.emplace(group[e], count);
    if (is_new) ++count;
    result.vertex[e] = it->second;
  }
  std::vector<std::vector<std::int32_t>> members(count);
  for (std::size_t e = 0; e < group.size(); ++e) members[result.vertex[e]].push_back(static_cast<std::int32_t>(e));

  std::vector<std::int32_t> shared(count, 0), met;
  for (std::int32_t v = 0; v < count; ++v) {
    double weight = 0, size = 0;
    std::array<double, 3> centre{0, 0, 0};
    met.clear();
    for (std::int32_t e : members[v]) {
      weight += graph.weight[e];
      size += 1;
      for (int i = 0; i < 3; ++i) centre[i] += graph.centroid[e][i];
      for (auto k = graph.row_start[e]; k < graph.row_start[e + 1]; ++k) {
        const std::int32_t w = result.vertex[graph.column[k]];
        if (w == v) continue;
        if (shared[w] == 0) met.push_back(w);
        shared[w] += graph.shared_nodes[k];
      }
    }
    for (double& c : centre) c /= size;
    std::sort(met.begin(), met.end());
    for (std::int32_t w : met) {
      result.column.push_back(w);
      result.shared_nodes.push_back(shared[w]);
      shared[w] = 0;
    }
    result.row_start.push_back(static_cast<std::int64_t>(result.column.size()));
    result.weight.push_back(weight);
    result.centroid.push_back(centre);
  }
  return result;
}

}  // namespace voussoir
