#include <voussoir/partition/partition_quality.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/element_graph.hpp>
#include <voussoir/partition/equation_groups.hpp>

namespace voussoir {
namespace {

/// The pieces of all parts: elements of one part that neighbours connect, in the order of their lowest elements.
struct Pieces {
  std::vector<std::int32_t> of_element;  // the piece of each element
  std::vector<std::int32_t> part;        // the part of each piece
};

Pieces pieces_of(const ElementGraph& graph, std::span<const std::int32_t> part) {
  Pieces pieces;
  pieces.of_element.assign(part.size(), -1);
  std::vector<std::int32_t> stack;
  for (std::int32_t seed = 0; seed < graph.vertices(); ++seed) {
    if (pieces.of_element[static_cast<std::size_t>(seed)] >= 0) continue;
    const auto piece = static_cast<std::int32_t>(pieces.part.size());
    pieces.part.push_back(part[static_cast<std::size_t>(seed)]);
    pieces.of_element[static_cast<std::size_t>(seed)] = piece;
    stack.push_back(seed);
    while (!stack.empty()) {
      const auto v = static_cast<std::size_t>(stack.back());
      stack.pop_back();
      for (auto k = graph.row_start[v]; k < graph.row_start[v + 1]; ++k) {
        const auto w = static_cast<std::size_t>(graph.column[static_cast<std::size_t>(k)]);
        if (pieces.of_element[w] >= 0 || part[w] != part[v]) continue;
        pieces.of_element[w] = piece;
        stack.push_back(static_cast<std::int32_t>(w));
      }
    }
  }
  return pieces;
}

/// Corners that hold a part of such elements: as many points as fix a rigid body, or one node with rotations.
int corners_needed(const ElementProgram& program) {
  if (!program.has_tangent()) return 0;
  if (program.axisymmetric()) return 1;  // it can only move along its axis
  int directions = 0;
  for (const std::string& name : program.unknown_names()) {
    if (name == "rx" || name == "ry" || name == "rz") return 1;
    directions += name == "ux" || name == "uy" || name == "uz";
  }
  return std::max(1, directions);
}

/// Whether an equation resists a common translation of its nodes that elements use and supports do not hold. Between
/// two sides of a periodic cell, it does not, even if its reference node is held.
bool resists_translation(const ConstraintEquation& equation, const EquationGroups& groups,
                         const std::vector<char>& supported) {
  std::map<std::string_view, double> sums;
  double largest = 0;
  for (const auto& term : equation.terms) {
    const auto node = static_cast<std::size_t>(term.node);
    if (!groups.has_elements[node] || supported[node]) continue;
    sums[term.unknown] += term.coefficient;
    largest = std::max(largest, std::abs(term.coefficient));
  }
  return std::any_of(sums.begin(), sums.end(), [&](const auto& one) { return std::abs(one.second) > 1e-9 * largest; });
}

/// Whether a support holds each node, itself or another one with which equations connect it: the reference node of a
/// rigid body or of a coupling, as a rule.
std::vector<char> held_nodes(const Domain& domain) {
  std::vector<char> supported(static_cast<std::size_t>(domain.node_count()), 0);
  for (const Prescribed& support : domain.prescribed()) supported[static_cast<std::size_t>(support.node)] = 1;
  for (const ObliqueSupport& support : domain.oblique_supports()) supported[static_cast<std::size_t>(support.node)] = 1;
  const EquationGroups groups = equation_groups(domain);
  const auto& equations = domain.equations();
  std::vector<char> group_held(static_cast<std::size_t>(groups.count), 0), held = supported;
  for (std::size_t q = 0; q < equations.size(); ++q)
    for (const auto& term : equations[q].terms)
      if (supported[static_cast<std::size_t>(term.node)])
        group_held[static_cast<std::size_t>(groups.of_equation[q])] = 1;
  for (std::size_t q = 0; q < equations.size(); ++q)
    if (group_held[static_cast<std::size_t>(groups.of_equation[q])] &&
        resists_translation(equations[q], groups, supported))
      for (const auto& term : equations[q].terms) held[static_cast<std::size_t>(term.node)] = 1;
  return held;
}

/// Whether each node is a corner: an interface node that no element connects with another one of the same parts. As in
/// interface_classes(), a chain of elements joins nodes to faces and edges.
std::vector<char> corner_nodes(const Domain& domain, const Partition& partition) {
  std::vector<char> is_corner(static_cast<std::size_t>(domain.node_count()), 0);
  for (const std::int32_t n : partition.interface_nodes()) is_corner[static_cast<std::size_t>(n)] = 1;
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
            is_corner[static_cast<std::size_t>(here[i])] = is_corner[static_cast<std::size_t>(here[j])] = 0;
    }
  return is_corner;
}

/// What is asked of a piece.
struct Piece {
  bool held = false;
  int corners = 0, corners_needed = 0;
};

std::vector<Piece> examine_pieces(const Domain& domain, const Pieces& pieces, const std::vector<char>& is_corner) {
  const std::vector<char> held = held_nodes(domain);
  std::vector<Piece> result(pieces.part.size());
  std::vector<std::pair<std::int32_t, std::int32_t>> corners;  // nodes with the pieces that have them
  std::size_t element = 0;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const int needed = corners_needed(domain.block(b).type().program());
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e, ++element) {
      const std::int32_t number = pieces.of_element[element];
      Piece& piece = result[static_cast<std::size_t>(number)];
      piece.corners_needed = std::max(piece.corners_needed, needed);
      for (const std::int32_t n : domain.block(b).nodes(e)) {
        piece.held = piece.held || held[static_cast<std::size_t>(n)];
        if (is_corner[static_cast<std::size_t>(n)]) corners.emplace_back(n, number);
      }
    }
  }
  std::sort(corners.begin(), corners.end());
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  for (const auto& [node, number] : corners) ++result[static_cast<std::size_t>(number)].corners;
  return result;
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

/// The longest divided by the shortest side of the box around some nodes. Sides without length do not count.
double aspect_of(const Domain& domain, std::span<const std::int32_t> nodes) {
  std::array<double, 3> low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (const std::int32_t n : nodes)
    for (std::size_t i = 0; i < 3; ++i) {
      const double x = domain.coordinates()[3 * static_cast<std::size_t>(n) + i];
      low[i] = std::min(low[i], x);
      high[i] = std::max(high[i], x);
    }
  double longest = 0;
  for (std::size_t i = 0; i < 3; ++i) longest = std::max(longest, high[i] - low[i]);
  double shortest = longest;
  for (std::size_t i = 0; i < 3; ++i)
    if (high[i] - low[i] > 1e-9 * longest) shortest = std::min(shortest, high[i] - low[i]);
  return longest > 0 ? longest / shortest : 1;
}

}  // namespace

PartitionQuality examine_partition(const Domain& domain, const Partition& partition) {
  const auto part = partition.part_of_element();
  if (static_cast<std::int64_t>(part.size()) != domain.element_count())
    throw Error(ErrorCode::misuse, "the partition belongs to another domain: the numbers of elements differ");
  PartitionQuality quality;
  quality.imbalance = partition.balance();
  quality.edge_cut = partition.edge_cut();
  quality.interface_nodes = static_cast<std::int64_t>(partition.interface_nodes().size());
  quality.supported = !domain.prescribed().empty() || !domain.oblique_supports().empty();
  const std::vector<char> is_corner = corner_nodes(domain, partition);
  for (int p = 0; p < partition.parts(); ++p) {
    PartQuality& one = quality.parts.emplace_back();
    one.part = p;
    one.elements = partition.element_count(p);
    one.weight = partition.weight(p);
    one.nodes = static_cast<std::int64_t>(partition.nodes(p).size());
    one.neighbours = static_cast<int>(partition.neighbours(p).size());
    one.aspect = aspect_of(domain, partition.nodes(p));
    for (const std::int32_t n : partition.nodes(p)) {
      one.interface_nodes += partition.on_interface(n);
      one.corners += is_corner[static_cast<std::size_t>(n)];
    }
  }
  const Pieces pieces = pieces_of(element_graph(domain), part);
  const std::vector<Piece> examined = examine_pieces(domain, pieces, is_corner);
  for (std::size_t i = 0; i < examined.size(); ++i) {
    const Piece& piece = examined[i];
    PartQuality& one = quality.parts[static_cast<std::size_t>(pieces.part[i])];
    ++one.pieces;
    one.corners_needed = std::max(one.corners_needed, piece.corners_needed);
    if (piece.held) continue;
    ++one.floating_pieces;
    if (piece.corners < piece.corners_needed) one.corners_missed = std::max(one.corners_missed, piece.corners_needed);
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
  for (int needed = 3; needed > 0; --needed) {
    const std::string few =
        needed == 1 ? std::string("no interface node") : "fewer than " + std::to_string(needed) + " interface nodes";
    name([&](const PartQuality& part) { return part.corners_needed == needed && part.interface_nodes < needed; },
         " has " + few, " have " + few);
  }
  for (int needed = 3; with_supports && needed > 0; --needed) {
    const std::string few =
        (needed == 1 ? std::string("no corner") : "fewer than " + std::to_string(needed) + " corners") +
        ", so that bddc and feti-dp need averages of edges and faces there";
    name([&](const PartQuality& part) { return part.corners_missed == needed; }, " floats with " + few,
         " float with " + few);
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
