#include <voussoir/partition/graph_partitioner.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/detail/division_by_shares.hpp>

namespace voussoir {
namespace {

using Vec3 = std::array<double, 3>;

/// The eigenvector of the largest eigenvalue of a symmetric 3 × 3 matrix, by Jacobi's rotations.
Vec3 principal_axis(std::array<Vec3, 3> a) {
  std::array<Vec3, 3> v{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int sweep = 0; sweep < 30; ++sweep)
    for (int p = 0; p < 2; ++p)
      for (int q = p + 1; q < 3; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        for (int k = 0; k < 3; ++k) {
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
        }
        for (int k = 0; k < 3; ++k) {
          const double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
        }
        for (int k = 0; k < 3; ++k) {
          const double x = v[k][p], y = v[k][q];
          v[k][p] = c * x - s * y, v[k][q] = s * x + c * y;
        }
      }
  int largest = 0;
  for (int i = 1; i < 3; ++i)
    if (a[i][i] > a[largest][largest] * (1 + 1e-9)) largest = i;
  Vec3 axis{v[0][largest], v[1][largest], v[2][largest]};
  // An axis has no sign of its own; parts are numbered the same way if its longest component is positive.
  int longest = 0;
  for (int i = 1; i < 3; ++i)
    if (std::abs(axis[i]) > std::abs(axis[longest]) * (1 + 1e-9)) longest = i;
  if (axis[longest] < 0)
    for (double& x : axis) x = -x;
  return axis;
}

struct Bisector {
  const ElementGraph& graph;
  CoordinateBisection::Direction direction;
  std::span<const double> shares;  // of the parts
  std::vector<std::int32_t> part;
  std::vector<std::array<std::int64_t, 3>> key;  // of each vertex, for sorting

  void cut(std::span<std::int32_t> members, int first_part, int parts) {
    if (parts == 1) {
      for (std::int32_t v : members) part[v] = first_part;
      return;
    }
    sort_along_longest(members);
    const int left_parts = parts / 2;
    double total = 0;
    for (std::int32_t v : members) total += graph.weight[v];
    const auto own = shares.subspan(static_cast<std::size_t>(first_part), static_cast<std::size_t>(parts));
    const double target = total * std::accumulate(own.begin(), own.begin() + left_parts, 0.0) /
                          std::accumulate(own.begin(), own.end(), 0.0);
    // The cut nearest to the target that leaves a vertex for each part on both sides.
    const auto least = static_cast<std::size_t>(left_parts),
               most = members.size() - static_cast<std::size_t>(parts - left_parts);
    std::size_t best = least;
    double before = 0, best_distance = 0;
    for (std::size_t i = 0; i <= most; ++i) {
      const double distance = std::abs(before - target);
      if (i >= least && (i == least || distance < best_distance)) best = i, best_distance = distance;
      if (i < members.size()) before += graph.weight[members[i]];
    }
    cut(members.first(best), first_part, left_parts);
    cut(members.subspan(best), first_part + left_parts, parts - left_parts);
  }

  void sort_along_longest(std::span<std::int32_t> members) {
    // Weights do not enter: the shape decides where to cut, the weight how far along.
    Vec3 mean{0, 0, 0};
    for (std::int32_t v : members)
      for (int i = 0; i < 3; ++i) mean[i] += graph.centroid[v][i] / static_cast<double>(members.size());
    std::array<Vec3, 3> spread{};
    for (std::int32_t v : members)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) spread[i][j] += (graph.centroid[v][i] - mean[i]) * (graph.centroid[v][j] - mean[j]);
    std::array<Vec3, 3> axes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    if (direction == CoordinateBisection::Direction::inertial) {
      axes[0] = principal_axis(spread);
      // Any two directions across it will do to order what lies in one plane.
      const int off = std::abs(axes[0][0]) < 0.9 ? 0 : 1;
      Vec3 e{0, 0, 0};
      e[off] = 1;
      axes[1] = cross(axes[0], e);
      axes[2] = cross(axes[0], axes[1]);
    } else {
      int longest = 0;
      for (int i = 1; i < 3; ++i)
        if (spread[i][i] > spread[longest][longest] * (1 + 1e-9)) longest = i;
      std::rotate(axes.begin(), axes.begin() + longest, axes.end());
    }
    double extent = 0;
    for (std::int32_t v : members)
      for (int i = 0; i < 3; ++i) extent = std::max(extent, std::abs(graph.centroid[v][i] - mean[i]));
    // Rounding must not decide on which side of a cut a layer of elements lies: positions are compared on a fine
    // lattice.
    const double cell = extent > 0 ? extent * 1e-7 : 1.0;
    for (std::int32_t v : members)
      for (int i = 0; i < 3; ++i) {
        double along = 0;
        for (int k = 0; k < 3; ++k) along += axes[i][k] * (graph.centroid[v][k] - mean[k]);
        key[v][i] = std::llround(along / cell);
      }
    std::sort(members.begin(), members.end(),
              [&](std::int32_t a, std::int32_t b) { return key[a] != key[b] ? key[a] < key[b] : a < b; });
  }

  static Vec3 cross(const Vec3& a, const Vec3& b) {
    Vec3 c{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    const double length = std::hypot(c[0], c[1], c[2]);
    for (double& x : c) x /= length;
    return c;
  }
};

}  // namespace

std::vector<std::int32_t> detail::bisect_by_shares(const ElementGraph& graph, CoordinateBisection::Direction direction,
                                                   std::span<const double> shares) {
  Bisector bisector{graph, direction, shares, std::vector<std::int32_t>(graph.vertices(), 0), {}};
  bisector.key.resize(graph.vertices());
  std::vector<std::int32_t> all(graph.vertices());
  std::iota(all.begin(), all.end(), 0);
  bisector.cut(all, 0, static_cast<int>(shares.size()));
  return std::move(bisector.part);
}

std::vector<std::int32_t> CoordinateBisection::partition(const ElementGraph& graph, int parts) const {
  return detail::bisect_by_shares(graph, direction_, std::vector<double>(static_cast<std::size_t>(parts), 1.0));
}

std::vector<std::int32_t> UserPartition::partition(const ElementGraph& graph, int parts) const {
  if (static_cast<std::int64_t>(parts_.size()) != graph.elements())
    throw Error(ErrorCode::bad_input, "the user's partition has " + std::to_string(parts_.size()) +
                                          " entries, but the domain has " + std::to_string(graph.elements()) +
                                          " elements; give one part for each, block by block");
  std::vector<std::int32_t> part(graph.vertices(), -1);
  std::vector<char> used(parts, 0);
  for (std::size_t e = 0; e < parts_.size(); ++e) {
    const std::string where = "entry " + std::to_string(e + 1) + " of the user's partition";
    if (parts_[e] < 0 || parts_[e] >= parts)
      throw Error(
          ErrorCode::bad_input,
          "part " + std::to_string(parts_[e]) + " does not exist; parts count from 0 to " + std::to_string(parts - 1),
          where);
    std::int32_t& p = part[graph.vertex[e]];
    if (p >= 0 && p != parts_[e])
      throw Error(
          ErrorCode::bad_input,
          "its element must stay in one part with others (a group, or a multi-point equation) that are in part " +
              std::to_string(p) + ", but is in part " + std::to_string(parts_[e]),
          where);
    p = parts_[e];
    used[p] = 1;
  }
  for (int p = 0; p < parts; ++p)
    if (!used[p])
      throw Error(ErrorCode::bad_input,
                  "the user's partition leaves part " + std::to_string(p) + " empty; request fewer parts");
  return part;
}

}  // namespace voussoir
