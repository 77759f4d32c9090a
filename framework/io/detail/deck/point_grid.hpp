#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace voussoir::deck {

/// Finds the nearest of many points within a radius: points in cells as wide as the radius, so that a search looks
/// at 27.
class PointGrid {
 public:
  PointGrid(std::span<const double> coordinates, std::span<const std::int32_t> points, double radius)
      : coordinates_(coordinates), radius_(radius > 0 ? radius : std::numeric_limits<double>::min()) {
    cells_.reserve(points.size());
    for (std::int32_t p : points) cells_[key(&coordinates_[3 * static_cast<std::size_t>(p)], 0, 0, 0)].push_back(p);
  }

  /// −1 where none is within the radius.
  std::int32_t nearest(const double* x) const {
    std::int32_t best = -1;
    double least = radius_;
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        for (int k = -1; k <= 1; ++k) {
          const auto cell = cells_.find(key(x, i, j, k));
          if (cell == cells_.end()) continue;
          for (std::int32_t p : cell->second) {
            const double* y = &coordinates_[3 * static_cast<std::size_t>(p)];
            const double distance = std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
            if (distance < least || (distance == least && (best < 0 || p < best))) least = distance, best = p;
          }
        }
    return best;
  }

 private:
  /// Cells that share a key by chance do no harm: distances decide.
  std::uint64_t key(const double* x, int i, int j, int k) const {
    const double cell[3] = {std::floor(x[0] / radius_) + i, std::floor(x[1] / radius_) + j,
                            std::floor(x[2] / radius_) + k};
    std::uint64_t hash = 1469598103934665603ull;
    for (double c : cell) hash = (hash ^ std::hash<double>()(c)) * 1099511628211ull;
    return hash;
  }

  std::span<const double> coordinates_;
  double radius_;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> cells_;
};

}  // namespace voussoir::deck
