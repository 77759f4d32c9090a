#include <voussoir/partition/partition_quality.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
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

/// Corners that hold a part of such elements: as many points as fix a rigid body, or one node with rotations.
int corners_needed(const ElementProgram& program) {
  int directions = 0;
  for (const std::string& name : program.unknown_names()) {
    if (name == "rx" || name == "ry" || name == "rz") return 1;
    directions += name == "ux" || name == "uy" || name == "uz";
  }
  return std::max(1, directions);
}

/// Counts single nodes that the same parts share. As in interface_classes(), a chain of elements joins nodes to faces
/// and edges.
void count_corners(const Domain& domain, const Partition& partition, std::vector<PartQuality>& parts) {
  std::vector<char> is_single(static_cast<std::size_t>(domain.node_count()), 0);
  for (const std::int32_t n : partition.interface_nodes()) is_single[static_cast<std::size_t>(n)] = 1;
  const auto alike = [&](std::int32_t a, std::int32_t b) {
    const auto of_a = partition.parts_of_node(a), of_b = partition.parts_of_node(b);
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
  };
  std::vector<std::int32_t> here;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e) {
      here.clear();
      for (const std::int32_t n : domain.block(b).nodes(e))
        if (partition.on_interface(n)) here.push_back(n);
      for (std::size_t i = 0; i < here.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (here[i] != here[j] && alike(here[i], here[j]))
            is_single[static_cast<std::size_t>(here[i])] = is_single[static_cast<std::size_t>(here[j])] = 0;
    }
  for (const std::int32_t n : partition.interface_nodes())
    if (is_single[static_cast<std::size_t>(n)])
      for (const std::int32_t p : partition.parts_of_node(n)) ++parts[static_cast<std::size_t>(p)].corners;
}

/// "part 3", "parts 0-5, 7 and 9".
std::string list_of_parts(const std::vector<int>& parts) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t end = i + 1;
    while (end < parts.size() && parts[end] == parts[end - 1] + 1) ++end;
    ranges.push_back(std::to_string(parts[i]));
    if (end > i + 1) ranges.back() += "-" + std::to_string(parts[end - 1]);
    i = end;
  }
  std::string text = parts.size() == 1 ? "part " : "parts ";
  for (std::size_t i = 0; i < ranges.size(); ++i)
    text += (i == 0 ? "" : i + 1 < ranges.size() ? ", " : " and ") + ranges[i];
  return text;
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
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementProgram& program = domain.block(b).type().program();
    const int corners = program.has_tangent() ? corners_needed(program) : 0;
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e, ++element) {
      for (const std::int32_t n : domain.block(b).nodes(e))
        if (held[static_cast<std::size_t>(n)]) piece_held[static_cast<std::size_t>(piece[element])] = 1;
      const auto p = static_cast<std::size_t>(part[element]);
      quality.parts[p].corners_needed = std::max(quality.parts[p].corners_needed, corners);
      for (std::size_t i = 0; i < 3; ++i) {
        low[p][i] = std::min(low[p][i], graph.centroid[element][i]);
        high[p][i] = std::max(high[p][i], graph.centroid[element][i]);
      }
    }
  }
  count_corners(domain, partition, quality.parts);
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

std::vector<std::string> PartitionQuality::findings(bool with_supports) const {
  std::vector<std::string> list;
  const auto name = [&](const auto& is_met, const std::string& one, const std::string& several) {
    std::vector<int> met;
    for (const PartQuality& part : parts)
      if (is_met(part)) met.push_back(part.part);
    if (!met.empty()) list.push_back(list_of_parts(met) + (met.size() == 1 ? one : several));
  };
  if (with_supports && !supported) list.emplace_back("the model has no supports, so that every part floats");
  name([](const PartQuality& part) { return part.elements == 0; }, " is empty", " are empty");
  name([](const PartQuality& part) { return part.pieces > 1; }, " is in several pieces", " are in several pieces");
  if (with_supports && supported) {
    name([](const PartQuality& part) { return part.pieces > 0 && part.floating_pieces == part.pieces; },
         " floats: no support holds it", " float: no support holds them");
    name([](const PartQuality& part) { return part.floating_pieces > 0 && part.floating_pieces < part.pieces; },
         " floats in pieces: no support holds some of them", " float in pieces: no support holds some of them");
  }
  if (parts.size() < 2) return list;
  name([](const PartQuality& part) { return part.elements > 0 && part.interface_nodes < 3; },
       " has fewer than 3 interface nodes", " have fewer than 3 interface nodes");
  for (int needed = 3; with_supports && needed > 0; --needed) {
    const std::string few =
        (needed == 1 ? std::string("no corner") : "fewer than " + std::to_string(needed) + " corners") +
        ", so that bddc and feti-dp need averages of edges and faces there";
    name(
        [&](const PartQuality& part) {
          return part.corners_needed == needed && part.floating_pieces > 0 && part.corners < needed;
        },
        " floats with " + few, " float with " + few);
  }
  return list;
}

std::string PartitionQuality::describe(bool with_supports) const {
  constexpr std::size_t most_without_range = 8;
  std::vector<std::vector<std::string>> rows{
      {"part", "elements", "weight", "nodes", "interface", "neighbours", "pieces", "floating", "corners", "aspect"}};
  const auto number = [](const char* format, double value) {
    char text[40];
    std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  const auto add = [&](const std::string& name, const PartQuality& one) {
    rows.push_back({name, std::to_string(one.elements), number("%.6g", one.weight), std::to_string(one.nodes),
                    std::to_string(one.interface_nodes), std::to_string(one.neighbours), std::to_string(one.pieces),
                    with_supports ? std::to_string(one.floating_pieces) : "-", std::to_string(one.corners),
                    number("%.2f", one.aspect)});
  };
  for (const PartQuality& one : parts) add(std::to_string(one.part), one);
  if (parts.size() > most_without_range) {
    PartQuality least = parts.front(), most = parts.front();
    const auto range = [&](const auto&... members) {
      for (const PartQuality& one : parts)
        ((least.*members = std::min(least.*members, one.*members),
          most.*members = std::max(most.*members, one.*members)),
         ...);
    };
    using Q = PartQuality;
    range(&Q::elements, &Q::weight, &Q::nodes, &Q::interface_nodes, &Q::neighbours, &Q::pieces, &Q::floating_pieces,
          &Q::corners, &Q::aspect);
    add("low", least);
    add("high", most);
  }
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c)
      text += std::string(c == 0 ? 0 : 1, ' ') + std::string(width[c] - row[c].size(), ' ') + row[c];
    text += '\n';
  }
  text += std::to_string(parts.size()) + (parts.size() == 1 ? " part" : " parts") + ", balance " +
          number("%.4f", imbalance) + ", edge cut " + std::to_string(edge_cut) + ", " +
          std::to_string(interface_nodes) + " interface nodes\n";
  for (const std::string& finding : findings(with_supports)) text += finding + '\n';
  return text;
}

CsvTable PartitionQuality::table() const {
  CsvTable table({"part", "elements", "weight", "nodes", "interface_nodes", "neighbours", "pieces", "floating_pieces",
                  "corners", "aspect"});
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
        .add(one.corners)
        .add(one.aspect);
  return table;
}

}  // namespace voussoir
