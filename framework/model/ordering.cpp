// Under the sanitizers g++ takes Boost's optional edges for uninitialised; it is wrong, and warnings may be errors.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/cuthill_mckee_ordering.hpp>
#include <boost/graph/properties.hpp>
#include <limits>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/framework/model/ordering.hpp>

namespace voussoir {

namespace {

std::int64_t vertices(std::span<const std::int64_t> row_start) {
  return row_start.empty() ? 0 : static_cast<std::int64_t>(row_start.size()) - 1;
}

void check_graph(std::span<const std::int64_t> row_start, std::span<const std::int32_t> column) {
  const std::int64_t n = vertices(row_start);
  if (n > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::bad_input, "the graph has more vertices than 32-bit numbers can count", "graph");
  }
  if (n > 0 && (row_start.front() != 0 || row_start.back() != static_cast<std::int64_t>(column.size()))) {
    throw Error(ErrorCode::bad_input, "row_start must begin with 0 and end with the length of column", "graph");
  }
  for (std::int64_t v = 0; v < n; ++v) {
    if (row_start[v + 1] < row_start[v] || row_start[v + 1] > row_start[n]) {
      throw Error(ErrorCode::bad_input, "row_start must not decrease", "graph, vertex " + std::to_string(v));
    }
    for (std::int64_t k = row_start[v]; k < row_start[v + 1]; ++k) {
      if (column[k] < 0 || column[k] >= n) {
        throw Error(ErrorCode::bad_input,
                    "its neighbour " + std::to_string(column[k]) + " does not exist; there are " + std::to_string(n) +
                        " vertices, counted from 0",
                    "graph, vertex " + std::to_string(v));
      }
    }
  }
}

// Places of the vertices under an order, with the order checked on the way.
std::vector<std::int32_t> places(std::int64_t n, std::span<const std::int32_t> order) {
  if (!order.empty()) {
    if (static_cast<std::int64_t>(order.size()) != n) {
      throw Error(ErrorCode::bad_input, "the order must name each of the " + std::to_string(n) + " vertices", "graph");
    }
    return inverse_order(order);
  }
  std::vector<std::int32_t> place(static_cast<std::size_t>(n));
  for (std::int64_t v = 0; v < n; ++v) place[v] = static_cast<std::int32_t>(v);
  return place;
}

}  // namespace

std::vector<std::int32_t> reverse_cuthill_mckee(std::span<const std::int64_t> row_start,
                                                std::span<const std::int32_t> column) {
  check_graph(row_start, column);
  const std::int64_t n = vertices(row_start);
  using Graph = boost::adjacency_list<
      boost::vecS, boost::vecS, boost::undirectedS,
      boost::property<boost::vertex_color_t, boost::default_color_type, boost::property<boost::vertex_degree_t, int>>>;
  Graph graph(static_cast<std::size_t>(n));
  std::int64_t above = 0, below = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t k = row_start[v]; k < row_start[v + 1]; ++k) {
      if (column[k] > v) {
        boost::add_edge(static_cast<std::size_t>(v), static_cast<std::size_t>(column[k]), graph);
        ++above;
      } else if (column[k] < v) {
        ++below;
      }
    }
  }
  if (above != below) {
    throw Error(ErrorCode::bad_input,
                "an edge must appear in the rows of both its vertices, but " + std::to_string(above) +
                    " entries are above the diagonal and " + std::to_string(below) + " below",
                "graph");
  }
  const auto degree = boost::get(boost::vertex_degree, graph);
  for (std::int64_t v = 0; v < n; ++v) {
    boost::put(degree, static_cast<std::size_t>(v),
               static_cast<int>(boost::out_degree(static_cast<std::size_t>(v), graph)));
  }
  std::vector<Graph::vertex_descriptor> found(static_cast<std::size_t>(n));
  boost::cuthill_mckee_ordering(graph, found.rbegin(), boost::get(boost::vertex_color, graph), degree);
  return {found.begin(), found.end()};
}

std::vector<std::int32_t> inverse_order(std::span<const std::int32_t> order) {
  std::vector<std::int32_t> place(order.size(), -1);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::int64_t v = order[k];
    if (v < 0 || v >= static_cast<std::int64_t>(order.size()) || place[v] >= 0) {
      throw Error(
          ErrorCode::bad_input,
          "an order must name every vertex once, but place " + std::to_string(k) + " names " + std::to_string(v),
          "graph");
    }
    place[v] = static_cast<std::int32_t>(k);
  }
  return place;
}

std::int64_t bandwidth(std::span<const std::int64_t> row_start, std::span<const std::int32_t> column,
                       std::span<const std::int32_t> order) {
  check_graph(row_start, column);
  const std::int64_t n = vertices(row_start);
  const std::vector<std::int32_t> place = places(n, order);
  std::int64_t widest = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t k = row_start[v]; k < row_start[v + 1]; ++k) {
      widest = std::max(widest, std::abs(static_cast<std::int64_t>(place[v]) - place[column[k]]));
    }
  }
  return widest;
}

std::int64_t profile(std::span<const std::int64_t> row_start, std::span<const std::int32_t> column,
                     std::span<const std::int32_t> order) {
  check_graph(row_start, column);
  const std::int64_t n = vertices(row_start);
  const std::vector<std::int32_t> place = places(n, order);
  std::int64_t sum = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    std::int32_t first = place[v];
    for (std::int64_t k = row_start[v]; k < row_start[v + 1]; ++k) first = std::min(first, place[column[k]]);
    sum += place[v] - first + 1;
  }
  return sum;
}

}  // namespace voussoir
