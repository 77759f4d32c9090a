#include <voussoir/framework/model/divided_numberer.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/model/detail/node_division.hpp>

namespace voussoir {

namespace {

/// METIS takes seconds per million nodes; beyond this size, bisection by planes is tried alone first.
constexpr std::int32_t most_nodes_for_metis = 50'000;

Registry<NodeDivider>* make_divider_table() {
  auto* table = new Registry<NodeDivider>("node divider");
  table->add_built_in("contiguous", "ranges of the given order", {detail::divide_contiguously});
  table->add_built_in("coordinate", "recursive bisection by planes across the longest extent",
                      {detail::divide_by_coordinates});
  return table;
}

[[maybe_unused]] const bool node_dividers_made = (node_dividers(), true);

/// The parts that a method returned, or an Error that names it.
void check_parts(std::span<const std::int32_t> part, const NodesToDivide& nodes, const std::string& method) {
  const std::string where = "node divider '" + method + "'";
  if (static_cast<std::int32_t>(part.size()) != nodes.nodes())
    throw Error(ErrorCode::bad_input,
                "it returned " + std::to_string(part.size()) + " parts for " + std::to_string(nodes.nodes()) + " nodes",
                where);
  for (std::size_t n = 0; n < part.size(); ++n)
    if (part[n] < 0 || part[n] >= nodes.parts())
      throw Error(ErrorCode::bad_input,
                  "node " + std::to_string(n) + " is in part " + std::to_string(part[n]) + "; the parts are 0 to " +
                      std::to_string(nodes.parts() - 1),
                  where);
}

/// A division, and how good it is.
struct Candidate {
  DividedNumberer::Division division;
  int extra_pieces = 0;  // beyond one per part
  std::int64_t halo = 0;

  bool better_than(const Candidate& other) const {
    return extra_pieces != other.extra_pieces ? extra_pieces < other.extra_pieces : halo < other.halo;
  }
};

Candidate try_method(const std::string& method, const NodesToDivide& nodes) {
  Candidate candidate;
  candidate.division = {node_dividers().find(method).divide(nodes), method};
  check_parts(candidate.division.part, nodes, method);
  for (const int pieces : connected_pieces(nodes.elements, candidate.division.part, nodes.parts()))
    candidate.extra_pieces += std::max(pieces - 1, 0);
  candidate.halo =
      count_halo(nodes.elements, candidate.division.part, nodes.equations, nodes.parts()).total_equations();
  return candidate;
}

/// The best of several methods; the order as given wins ties.
DividedNumberer::Division best_division(const NodesToDivide& nodes) {
  Candidate best = try_method("contiguous", nodes);
  const auto consider = [&](const std::string& method) {
    Candidate other = try_method(method, nodes);
    if (other.better_than(best)) best = std::move(other);
  };
  consider("coordinate");
  if (node_dividers().find_if("metis") && (nodes.nodes() <= most_nodes_for_metis || best.extra_pieces > 0))
    consider("metis");
  return std::move(best.division);
}

}  // namespace

Registry<NodeDivider>& node_dividers() {
  static auto* const table = make_divider_table();
  return *table;
}

std::vector<double> node_weights(const std::vector<ElementNodes>& elements, std::span<const std::int32_t> equations) {
  std::vector<double> weight(equations.size(), 0.0);
  for (const ElementNodes& group : elements) {
    const auto per = static_cast<std::size_t>(group.per_element);
    for (std::size_t first = 0; first + per <= group.nodes.size(); first += per) {
      double unknowns = 0;
      for (std::size_t a = 0; a < per; ++a) unknowns += equations[static_cast<std::size_t>(group.nodes[first + a])];
      for (std::size_t a = 0; a < per; ++a)
        weight[static_cast<std::size_t>(group.nodes[first + a])] += unknowns * unknowns / static_cast<double>(per);
    }
  }
  for (std::size_t n = 0; n < weight.size(); ++n)
    if (weight[n] == 0) weight[n] = equations[n];
  return weight;
}

NodeGraph node_graph(const std::vector<ElementNodes>& elements, std::int32_t nodes) {
  std::vector<std::int64_t> start(static_cast<std::size_t>(nodes) + 1, 0);
  for (const ElementNodes& group : elements)
    for (const std::int32_t n : group.nodes) ++start[static_cast<std::size_t>(n) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::span<const std::int32_t>> uses(static_cast<std::size_t>(start.back()));
  std::vector<std::int64_t> next(start.begin(), start.end() - 1);
  for (const ElementNodes& group : elements)
    for (std::size_t i = 0; i < group.nodes.size(); ++i) {
      const auto per = static_cast<std::size_t>(group.per_element);
      uses[static_cast<std::size_t>(next[static_cast<std::size_t>(group.nodes[i])]++)] =
          group.nodes.subspan(i / per * per, per);
    }
  NodeGraph graph;
  graph.row_start.push_back(0);
  std::vector<std::int32_t> row;
  for (std::int32_t n = 0; n < nodes; ++n) {
    row.clear();
    for (auto u = start[static_cast<std::size_t>(n)]; u < start[static_cast<std::size_t>(n) + 1]; ++u)
      for (const std::int32_t m : uses[static_cast<std::size_t>(u)])
        if (m != n) row.push_back(m);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    graph.column.insert(graph.column.end(), row.begin(), row.end());
    graph.row_start.push_back(static_cast<std::int64_t>(graph.column.size()));
  }
  return graph;
}

std::int64_t HaloCount::total_equations() const {
  return std::accumulate(equations.begin(), equations.end(), std::int64_t{0});
}

HaloCount count_halo(const std::vector<ElementNodes>& elements, std::span<const std::int32_t> part_of_node,
                     std::span<const std::int32_t> equations, int parts) {
  struct Need {
    std::int32_t part, node;
    auto operator<=>(const Need&) const = default;
  };
  std::vector<Need> needs;
  for (const ElementNodes& group : elements) {
    const auto per = static_cast<std::size_t>(group.per_element);
    for (std::size_t first = 0; first + per <= group.nodes.size(); first += per) {
      const auto nodes = group.nodes.subspan(first, per);
      const std::int32_t own = part_of_node[static_cast<std::size_t>(nodes[0])];
      if (std::all_of(nodes.begin(), nodes.end(),
                      [&](std::int32_t n) { return part_of_node[static_cast<std::size_t>(n)] == own; }))
        continue;
      for (const std::int32_t n : nodes)
        for (const std::int32_t m : nodes) {
          const std::int32_t part = part_of_node[static_cast<std::size_t>(m)];
          if (part != part_of_node[static_cast<std::size_t>(n)]) needs.push_back({part, n});
        }
    }
  }
  std::sort(needs.begin(), needs.end());
  needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
  HaloCount count;
  count.nodes.assign(static_cast<std::size_t>(parts), 0);
  count.equations.assign(static_cast<std::size_t>(parts), 0);
  std::vector<std::uint8_t> met(static_cast<std::size_t>(parts) * static_cast<std::size_t>(parts), 0);
  for (const Need& need : needs) {
    const auto part = static_cast<std::size_t>(need.part), node = static_cast<std::size_t>(need.node);
    ++count.nodes[part];
    count.equations[part] += equations[node];
    met[part * static_cast<std::size_t>(parts) + static_cast<std::size_t>(part_of_node[node])] = 1;
  }
  for (std::size_t p = 0; p < static_cast<std::size_t>(parts); ++p)
    count.neighbours.push_back(std::accumulate(met.begin() + static_cast<std::ptrdiff_t>(p * parts),
                                               met.begin() + static_cast<std::ptrdiff_t>((p + 1) * parts), 0));
  return count;
}

std::vector<int> connected_pieces(const std::vector<ElementNodes>& elements, std::span<const std::int32_t> part_of_node,
                                  int parts) {
  std::vector<std::int32_t> root(part_of_node.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](std::int32_t n) {
    while (root[static_cast<std::size_t>(n)] != n) {
      auto& up = root[static_cast<std::size_t>(n)];
      up = root[static_cast<std::size_t>(up)];
      n = up;
    }
    return n;
  };
  std::vector<std::int32_t> last(static_cast<std::size_t>(parts));
  for (const ElementNodes& group : elements) {
    const auto per = static_cast<std::size_t>(group.per_element);
    for (std::size_t first = 0; first + per <= group.nodes.size(); first += per) {
      for (std::size_t a = 0; a < per; ++a)
        last[static_cast<std::size_t>(part_of_node[static_cast<std::size_t>(group.nodes[first + a])])] = -1;
      for (std::size_t a = 0; a < per; ++a) {
        const std::int32_t n = group.nodes[first + a];
        std::int32_t& before = last[static_cast<std::size_t>(part_of_node[static_cast<std::size_t>(n)])];
        if (before >= 0) {
          const std::int32_t one = find(before), two = find(n);
          root[static_cast<std::size_t>(std::max(one, two))] = std::min(one, two);
        }
        before = n;
      }
    }
  }
  std::vector<int> pieces(static_cast<std::size_t>(parts), 0);
  for (std::size_t n = 0; n < root.size(); ++n)
    if (root[n] == static_cast<std::int32_t>(n)) ++pieces[static_cast<std::size_t>(part_of_node[n])];
  return pieces;
}

DividedNumberer::DividedNumberer() : DividedNumberer(Options{}) {}

DividedNumberer::DividedNumberer(Options options) : options_(std::move(options)) {
  if (!options_.within) options_.within = std::make_shared<PlainNumberer>();
  if (options_.parts < 0)
    throw Error(ErrorCode::bad_input, std::to_string(options_.parts) + " parts; give 0 for one per device, or more");
  for (std::size_t d = 0; d < options_.speeds.size(); ++d)
    if (!(options_.speeds[d] > 0) || !std::isfinite(options_.speeds[d]))
      throw Error(ErrorCode::bad_input, "the speed is not a positive number", "device " + std::to_string(d));
}

std::string DividedNumberer::name() const {
  return "divided:" + (options_.part_of_node.empty() ? options_.method : "given") + "+" + within().name();
}

DividedNumberer::Division DividedNumberer::divide(NodesToDivide& nodes, int devices) const {
  const int parts = options_.parts > 0 ? options_.parts : devices;
  if (!options_.speeds.empty() && static_cast<int>(options_.speeds.size()) != parts)
    throw Error(ErrorCode::bad_input,
                std::to_string(options_.speeds.size()) + " speeds for " + std::to_string(parts) + " devices");
  nodes.share.assign(static_cast<std::size_t>(parts), 1.0 / parts);
  if (!options_.speeds.empty()) {
    const double sum = std::accumulate(options_.speeds.begin(), options_.speeds.end(), 0.0);
    for (std::size_t d = 0; d < nodes.share.size(); ++d) nodes.share[d] = options_.speeds[d] / sum;
  }
  if (!options_.part_of_node.empty()) {
    Division given{{}, "given"};
    for (const std::int32_t n : nodes.domain_node) {
      if (n >= static_cast<std::int32_t>(options_.part_of_node.size()))
        throw Error(
            ErrorCode::bad_input,
            "parts are given for " + std::to_string(options_.part_of_node.size()) + " nodes, but the domain has more",
            "node index " + std::to_string(n));
      given.part.push_back(std::max(options_.part_of_node[static_cast<std::size_t>(n)], 0));
    }
    check_parts(given.part, nodes, given.method);
    return given;
  }
  if (parts == 1 || nodes.nodes() == 0)
    return {std::vector<std::int32_t>(static_cast<std::size_t>(nodes.nodes()), 0), "undivided"};
  if (options_.method == "auto") return best_division(nodes);
  return std::move(try_method(options_.method, nodes).division);
}

std::vector<std::uint8_t> boundary_nodes(const std::vector<ElementNodes>& elements,
                                         std::span<const std::int32_t> part_of_node) {
  std::vector<std::uint8_t> on_boundary(part_of_node.size(), 0);
  for (const ElementNodes& group : elements) {
    const auto per = static_cast<std::size_t>(group.per_element);
    for (std::size_t first = 0; first + per <= group.nodes.size(); first += per) {
      const auto nodes = group.nodes.subspan(first, per);
      const std::int32_t own = part_of_node[static_cast<std::size_t>(nodes[0])];
      if (std::all_of(nodes.begin(), nodes.end(),
                      [&](std::int32_t n) { return part_of_node[static_cast<std::size_t>(n)] == own; }))
        continue;
      for (const std::int32_t n : nodes) on_boundary[static_cast<std::size_t>(n)] = 1;
    }
  }
  return on_boundary;
}

PartOrder order_by_parts(std::span<const std::int32_t> order, std::span<const std::int32_t> part_of_node, int parts,
                         std::span<const std::uint8_t> on_boundary) {
  // Class 2 p are the interior nodes of part p, and 2 p + 1 those on its boundary.
  const auto class_of = [&](std::size_t n) {
    return 2 * static_cast<std::size_t>(part_of_node[n]) + (on_boundary[n] ? 1 : 0);
  };
  std::vector<std::int32_t> next(2 * static_cast<std::size_t>(parts) + 1, 0);
  for (std::size_t n = 0; n < part_of_node.size(); ++n) ++next[class_of(n) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  PartOrder result;
  for (std::size_t p = 0; p <= static_cast<std::size_t>(parts); ++p) result.first.push_back(next[2 * p]);
  result.order.resize(order.size());
  for (const std::int32_t n : order)
    result.order[static_cast<std::size_t>(next[class_of(static_cast<std::size_t>(n))]++)] = n;
  return result;
}

}  // namespace voussoir
