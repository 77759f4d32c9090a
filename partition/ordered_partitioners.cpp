#include <voussoir/partition/ordered_partitioners.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <voussoir/backends/error.hpp>

namespace voussoir {

std::vector<std::int32_t> OrderedPartitioner::partition(const ElementGraph& graph, int parts) const {
  const std::vector<std::int32_t> sequence = order(graph);
  double total = 0;
  for (const double w : graph.weight) total += w;
  std::vector<std::int32_t> part(static_cast<std::size_t>(graph.vertices()), 0);
  double before = 0;
  const auto count = static_cast<std::int64_t>(sequence.size());
  int current = 0;
  std::int64_t in_current = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto v = static_cast<std::size_t>(sequence[static_cast<std::size_t>(i)]);
    // The strip in which the middle of the vertex lies; none stays empty, whatever the weights.
    const double share = total > 0 ? (before + 0.5 * graph.weight[v]) / total
                                   : (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    const int wanted = std::min(parts - 1, static_cast<int>(share * parts));
    const bool must_begin = count - i <= parts - 1 - current;
    if (in_current > 0 && current < parts - 1 && (wanted > current || must_begin)) {
      ++current;
      in_current = 0;
    }
    part[v] = current;
    ++in_current;
    before += graph.weight[v];
  }
  return part;
}

namespace {

/// Breadth-first levels from a vertex; returns the last vertex of least degree.
std::int32_t farthest_vertex(const ElementGraph& graph, std::int32_t from, std::vector<std::int32_t>& mark,
                             std::int32_t stamp, int& depth) {
  std::vector<std::int32_t> level{from}, next;
  mark[static_cast<std::size_t>(from)] = stamp;
  depth = 0;
  const auto degree = [&](std::int32_t v) {
    return graph.row_start[static_cast<std::size_t>(v) + 1] - graph.row_start[static_cast<std::size_t>(v)];
  };
  for (;;) {
    next.clear();
    for (const std::int32_t v : level)
      for (auto k = graph.row_start[static_cast<std::size_t>(v)]; k < graph.row_start[static_cast<std::size_t>(v) + 1];
           ++k) {
        const std::int32_t w = graph.column[static_cast<std::size_t>(k)];
        if (mark[static_cast<std::size_t>(w)] != stamp) {
          mark[static_cast<std::size_t>(w)] = stamp;
          next.push_back(w);
        }
      }
    if (next.empty()) break;
    ++depth;
    level.swap(next);
  }
  return *std::min_element(level.begin(), level.end(), [&](std::int32_t a, std::int32_t b) {
    return degree(a) != degree(b) ? degree(a) < degree(b) : a < b;
  });
}

}  // namespace

std::vector<std::int32_t> RcmStrips::order(const ElementGraph& graph) const {
  const auto n = static_cast<std::size_t>(graph.vertices());
  std::vector<std::int32_t> sequence, mark(n, -1), found;
  std::vector<char> done(n, 0);
  std::int32_t stamp = 0;
  const auto degree = [&](std::int32_t v) {
    return graph.row_start[static_cast<std::size_t>(v) + 1] - graph.row_start[static_cast<std::size_t>(v)];
  };
  for (std::int32_t seed = 0; seed < graph.vertices(); ++seed) {
    if (done[static_cast<std::size_t>(seed)]) continue;
    // A vertex at the rim: walk to the far end until the distance grows no more.
    std::int32_t start = seed;
    for (int best = -1, round = 0; round < 8; ++round) {
      int depth = 0;
      const std::int32_t far = farthest_vertex(graph, start, mark, stamp++, depth);
      if (depth <= best) break;
      best = depth;
      start = far;
    }
    done[static_cast<std::size_t>(start)] = 1;
    std::size_t head = sequence.size();
    for (sequence.push_back(start); head < sequence.size(); ++head) {
      const auto v = static_cast<std::size_t>(sequence[head]);
      found.clear();
      for (auto k = graph.row_start[v]; k < graph.row_start[v + 1]; ++k) {
        const std::int32_t w = graph.column[static_cast<std::size_t>(k)];
        if (std::exchange(done[static_cast<std::size_t>(w)], 1) == 0) found.push_back(w);
      }
      std::sort(found.begin(), found.end(),
                [&](std::int32_t a, std::int32_t b) { return degree(a) != degree(b) ? degree(a) < degree(b) : a < b; });
      sequence.insert(sequence.end(), found.begin(), found.end());
    }
  }
  std::reverse(sequence.begin(), sequence.end());
  return sequence;
}

namespace {

constexpr int hilbert_bits = 20;  // per direction: 60 of 64 bits in space

/// Position along Hilbert's curve of a cell of a lattice with 2^hilbert_bits cells in each of `dimension` directions:
/// Skilling's transform, whose result is the transpose of the position.
std::uint64_t hilbert_position(std::array<std::uint32_t, 3> x, int dimension) {
  const auto n = static_cast<std::size_t>(dimension);
  for (std::uint32_t q = 1u << (hilbert_bits - 1); q > 1; q >>= 1) {
    const std::uint32_t low = q - 1;
    for (std::size_t i = 0; i < n; ++i) {
      if (x[i] & q) {
        x[0] ^= low;
      } else {
        const std::uint32_t t = (x[0] ^ x[i]) & low;
        x[0] ^= t;
        x[i] ^= t;
      }
    }
  }
  for (std::size_t i = 1; i < n; ++i) x[i] ^= x[i - 1];
  std::uint32_t t = 0;
  for (std::uint32_t q = 1u << (hilbert_bits - 1); q > 1; q >>= 1)
    if (x[n - 1] & q) t ^= q - 1;
  for (std::size_t i = 0; i < n; ++i) x[i] ^= t;
  std::uint64_t position = 0;
  for (int bit = hilbert_bits - 1; bit >= 0; --bit)
    for (std::size_t i = 0; i < n; ++i) position = position << 1 | (x[i] >> bit & 1u);
  return position;
}

}  // namespace

std::vector<std::int32_t> HilbertCurve::order(const ElementGraph& graph) const {
  std::array<double, 3> low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (const auto& c : graph.centroid)
    for (std::size_t i = 0; i < 3; ++i) low[i] = std::min(low[i], c[i]), high[i] = std::max(high[i], c[i]);
  double extent = 0;
  for (std::size_t i = 0; i < 3; ++i) extent = std::max(extent, high[i] - low[i]);
  if (!(extent > 0)) extent = 1;
  // Directions in which the model has no extent take no part; the lattice has cubic cells.
  std::array<std::size_t, 3> direction{};
  int dimension = 0;
  for (std::size_t i = 0; i < 3; ++i)
    if (high[i] - low[i] > 1e-9 * extent) direction[static_cast<std::size_t>(dimension++)] = i;
  dimension = std::max(dimension, 1);
  std::vector<std::uint64_t> position;
  const double cells = static_cast<double>((1u << hilbert_bits) - 1);
  for (const auto& c : graph.centroid) {
    std::array<std::uint32_t, 3> x{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(dimension); ++i)
      x[i] = static_cast<std::uint32_t>(
          std::lround(std::clamp((c[direction[i]] - low[direction[i]]) / extent, 0.0, 1.0) * cells));
    position.push_back(hilbert_position(x, dimension));
  }
  std::vector<std::int32_t> sequence(static_cast<std::size_t>(graph.vertices()));
  std::iota(sequence.begin(), sequence.end(), 0);
  std::stable_sort(sequence.begin(), sequence.end(), [&](std::int32_t a, std::int32_t b) {
    return position[static_cast<std::size_t>(a)] < position[static_cast<std::size_t>(b)];
  });
  return sequence;
}

}  // namespace voussoir
