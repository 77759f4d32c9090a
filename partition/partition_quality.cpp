#include <voussoir/partition/partition_quality.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/element_graph.hpp>

namespace voussoir {
namespace {

/// The pieces of all parts: elements of one part that neighbours connect. Returns the lowest element of each piece.
std::vector<std::int32_t> pieces_of(const ElementGraph& graph, std::span<const std::int32_t> part) {
  std::vector<std::int32_t> piece(part.size(), -1), stack;
  for (std::int32_t seed = 0; seed < graph.vertices(); ++seed) {
    if (piece[static_cast<std::size_t>(seed)] >= 0) continue;
    piece[static_cast<std::size_t>(seed)] = seed;
    stack.push_back(seed);
    while (!stack.empty()) {
      const auto v = static_cast<std::size_t>(stack.back());
      stack.pop_back();
      for (auto k = graph.row_start[v]; k < graph.row_start[v + 1]; ++k) {
        const auto w = static_cast<std::size_t>(graph.column[static_cast<std::size_t>(k)]);
        if (piece[w] >= 0 || part[w] != part[v]) continue;
        piece[w] = seed;
        stack.push_back(static_cast<std::int32_t>(w));
      }
    }
  }
  return piece;
}

double aspect_of(const std::array<double, 3>& low, const std::array<double, 3>& high, double cell) {
  double longest = 0, shortest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < 3; ++i) {
    const double side = high[i] - low[i];
    longest = std::max(longest, side + cell);
    if (side > 1e-9 * cell) shortest = std::min(shortest, side + cell);
  }
  return longest > 0 && shortest < longest ? longest / shortest : 1;
}

}  // namespace

PartitionQuality examine_partition(const Domain& domain, const Partition& partition) {
  const auto part = partition.part_of_element();
  if (static_cast<std::int64_t>(part.size()) != domain.element_count())
    throw Error(ErrorCode::misuse, "the partition belongs to another domain: the numbers of elements differ");
  const ElementGraph graph = element_graph(domain);
  PartitionQuality quality;
  quality.imbalance = partition.balance();
  quality.edge_cut = partition.edge_cut();
  quality.interface_nodes = static_cast<std::int64_t>(partition.interface_nodes().size());
  for (int p = 0; p < partition.parts(); ++p) {
    PartQuality& one = quality.parts.emplace_back();
    one.part = p;
    one.elements = partition.element_count(p);
    one.weight = partition.weight(p);
    one.nodes = static_cast<std::int64_t>(partition.nodes(p).size());
    one.neighbours = static_cast<int>(partition.neighbours(p).size());
    one.interface_nodes = std::count_if(partition.nodes(p).begin(), partition.nodes(p).end(),
                                        [&](std::int32_t n) { return partition.on_interface(n); });
  }
  std::vector<char> held(static_cast<std::size_t>(domain.node_count()), 0);
  for (const Prescribed& support : domain.prescribed()) held[static_cast<std::size_t>(support.node)] = 1;
  for (const ObliqueSupport& support : domain.oblique_supports()) held[static_cast<std::size_t>(support.node)] = 1;

  quality.supported = !domain.prescribed().empty() || !domain.oblique_supports().empty();
  const std::vector<std::int32_t> piece = pieces_of(graph, part);
  std::vector<char> piece_held(piece.size(), 0);
  std::vector<std::array<double, 3>> low(quality.parts.size()), high(quality.parts.size());
  for (auto& corner : low) corner.fill(std::numeric_limits<double>::infinity());
  for (auto& corner : high) corner.fill(-std::numeric_limits<double>::infinity());
  std::size_t element = 0;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e, ++element) {
      for (const std::int32_t n : domain.block(b).nodes(e))
        if (held[static_cast<std::size_t>(n)]) piece_held[static_cast<std::size_t>(piece[element])] = 1;
      const auto p = static_cast<std::size_t>(part[element]);
      for (std::size_t i = 0; i < 3; ++i) {
        low[p][i] = std::min(low[p][i], graph.centroid[element][i]);
        high[p][i] = std::max(high[p][i], graph.centroid[element][i]);
      }
    }
  for (std::size_t e = 0; e < piece.size(); ++e)
    if (piece[e] == static_cast<std::int32_t>(e)) {
      PartQuality& one = quality.parts[static_cast<std::size_t>(part[e])];
      ++one.pieces;
      if (!piece_held[e]) ++one.floating_pieces;
    }
  for (std::size_t p = 0; p < quality.parts.size(); ++p) {
    // Centroids are half an element inside on each side: as if elements were cubes of the mean size.
    double volume = 1;
    int dimension = 0;
    for (std::size_t i = 0; i < 3; ++i)
      if (high[p][i] - low[p][i] > 0) volume *= high[p][i] - low[p][i], ++dimension;
    const double cell =
        dimension > 0 ? std::pow(volume / static_cast<double>(quality.parts[p].elements), 1.0 / dimension) : 1;
    quality.parts[p].aspect = aspect_of(low[p], high[p], cell);
  }
  return quality;
}

std::vector<std::string> PartitionQuality::findings() const {
  std::vector<std::string> list;
  if (!supported) list.emplace_back("the model has no supports, so that every part floats");
  for (const PartQuality& one : parts) {
    const std::string name = "part " + std::to_string(one.part);
    if (one.pieces > 1) list.push_back(name + " is in " + std::to_string(one.pieces) + " pieces");
    if (supported && one.floating_pieces > 0)
      list.push_back(name + " floats: no support holds " +
                     (one.pieces == 1
                          ? std::string("it")
                          : std::to_string(one.floating_pieces) + " of its " + std::to_string(one.pieces) + " pieces"));
    if (parts.size() > 1 && one.interface_nodes < 3)
      list.push_back(name + " has only " + std::to_string(one.interface_nodes) + " interface nodes");
  }
  return list;
}

CsvTable PartitionQuality::table() const {
  CsvTable table(
      {"part", "elements", "weight", "nodes", "interface_nodes", "neighbours", "pieces", "floating_pieces", "aspect"});
  for (const PartQuality& one : parts)
    table.row()
        .add(one.part)
        .add(one.elements)
        .add(one.weight)
        .add(one.nodes)
        .add(one.interface_nodes)
        .add(one.neighbours)
        .add(one.pieces)
        .add(one.floating_pieces)
        .add(one.aspect);
  return table;
}

}  // namespace voussoir
