#include <voussoir/framework/model/detail/node_division.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace voussoir::detail {

namespace {

/// A set of nodes and the parts that it is to be divided into.
struct Piece {
  std::span<std::int32_t> nodes;
  int first_part, parts;
};

/// How many of the first nodes have the weight `wanted`, to the nearest.
std::size_t count_of_weight(std::span<const std::int32_t> nodes, std::span<const double> weight, double wanted) {
  double sum = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const double next = sum + weight[static_cast<std::size_t>(nodes[k])];
    if (next >= wanted) return next - wanted < wanted - sum ? k + 1 : k;
    sum = next;
  }
  return nodes.size();
}

double sum_of(std::span<const std::int32_t> nodes, std::span<const double> weight) {
  double sum = 0;
  for (const std::int32_t n : nodes) sum += weight[static_cast<std::size_t>(n)];
  return sum;
}

/// Axes by extent, the longest first.
std::array<int, 3> axes_by_extent(std::span<const std::int32_t> nodes, std::span<const double> coordinates) {
  std::array<double, 3> low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (const std::int32_t n : nodes)
    for (std::size_t i = 0; i < 3; ++i) {
      const double c = coordinates[3 * static_cast<std::size_t>(n) + i];
      low[i] = std::min(low[i], c);
      high[i] = std::max(high[i], c);
    }
  std::array<int, 3> axes{0, 1, 2};
  // Extents that differ by rounding alone are the same: the first axis wins.
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) {
    const double one = high[static_cast<std::size_t>(a)] - low[static_cast<std::size_t>(a)];
    const double two = high[static_cast<std::size_t>(b)] - low[static_cast<std::size_t>(b)];
    return one > two * (1 + 1e-9);
  });
  return axes;
}

}  // namespace

std::vector<std::int32_t> divide_contiguously(const NodesToDivide& nodes) {
  std::vector<std::int32_t> part(static_cast<std::size_t>(nodes.nodes()), 0), all(part.size());
  std::iota(all.begin(), all.end(), 0);
  const double total = sum_of(all, nodes.weight);
  std::size_t begin = 0;
  double share = 0;
  for (int p = 0; p < nodes.parts(); ++p) {
    share += nodes.share[static_cast<std::size_t>(p)];
    std::size_t end = p + 1 < nodes.parts() ? count_of_weight(all, nodes.weight, share * total) : all.size();
    end = std::max(end, begin);
    std::fill(part.begin() + static_cast<std::ptrdiff_t>(begin), part.begin() + static_cast<std::ptrdiff_t>(end), p);
    begin = end;
  }
  return part;
}

std::vector<std::int32_t> divide_by_coordinates(const NodesToDivide& nodes) {
  std::vector<std::int32_t> part(static_cast<std::size_t>(nodes.nodes()), 0), all(part.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<Piece> open{{all, 0, nodes.parts()}};
  while (!open.empty()) {
    const Piece piece = open.back();
    open.pop_back();
    if (piece.parts == 1 || piece.nodes.empty()) {
      for (const std::int32_t n : piece.nodes) part[static_cast<std::size_t>(n)] = piece.first_part;
      continue;
    }
    const auto axes = axes_by_extent(piece.nodes, nodes.coordinates);
    // Ties are broken by the other coordinates and by the order, so that planes of nodes are cut at one place.
    std::sort(piece.nodes.begin(), piece.nodes.end(), [&](std::int32_t a, std::int32_t b) {
      for (const int axis : axes) {
        const double one = nodes.coordinates[3 * static_cast<std::size_t>(a) + static_cast<std::size_t>(axis)];
        const double two = nodes.coordinates[3 * static_cast<std::size_t>(b) + static_cast<std::size_t>(axis)];
        if (one != two) return one < two;
      }
      return a < b;
    });
    const int left = piece.parts / 2;
    const auto from = nodes.share.begin() + piece.first_part;
    const double of_left = std::accumulate(from, from + left, 0.0);
    const double of_all = std::accumulate(from, from + piece.parts, 0.0);
    const std::size_t cut =
        count_of_weight(piece.nodes, nodes.weight, sum_of(piece.nodes, nodes.weight) * of_left / of_all);
    open.push_back({piece.nodes.subspan(cut), piece.first_part + left, piece.parts - left});
    open.push_back({piece.nodes.first(cut), piece.first_part, left});
  }
  return part;
}

}  // namespace voussoir::detail
