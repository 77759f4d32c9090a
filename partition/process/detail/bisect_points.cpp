#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include <voussoir/partition/process/detail/distributed_mesh.hpp>

namespace voussoir::detail {
namespace {

/// Numbers whose order is that of the doubles.
std::int64_t ordered(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value + 0.0);  // no −0
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}
double from_ordered(std::int64_t number) {
  return std::bit_cast<double>(number < 0 ? std::numeric_limits<std::int64_t>::min() - number : number);
}

class Bisection {
 public:
  Bisection(Processes& processes, const std::vector<std::array<double, 3>>& points, const std::vector<double>& weights)
      : processes_(processes), points_(points), weights_(weights), part_(points.size(), 0), key_(points.size(), 0.0) {}

  std::vector<std::int32_t> run(int parts) {
    std::vector<std::size_t> all(points_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    cut(std::move(all), 0, parts);
    return std::move(part_);
  }

 private:
  /// Divides points among `parts` parts from `first` on. All processes come here in the same order.
  void cut(std::vector<std::size_t> points, int first, int parts) {
    if (parts == 1) {
      for (const std::size_t i : points) part_[i] = first;
      return;
    }
    project(points);
    const int below = parts / 2;
    const double limit = find_limit(points, below, parts);
    const auto middle =
        std::stable_partition(points.begin(), points.end(), [&](std::size_t i) { return key_[i] < limit; });
    std::vector<std::size_t> left(points.begin(), middle), right(middle, points.end());
    points = {};
    cut(std::move(left), first, below);
    cut(std::move(right), first + below, parts - below);
  }

  /// Keys from 0 on along the longest side of the box. The other sides count a little, so that the planes of a regular
  /// mesh do not have equal keys.
  void project(const std::vector<std::size_t>& points) {
    std::array<std::int64_t, 6> box;
    box.fill(std::numeric_limits<std::int64_t>::min());
    for (const std::size_t i : points)
      for (std::size_t k = 0; k < 3; ++k) {
        box[k] = std::max(box[k], ordered(points_[i][k]));
        box[3 + k] = std::max(box[3 + k], ordered(-points_[i][k]));
      }
    processes_.maximum(box);
    if (box[0] == std::numeric_limits<std::int64_t>::min()) return;  // nobody has a point
    std::array<double, 3> low{}, extent{};
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = -from_ordered(box[3 + k]);
      extent[k] = from_ordered(box[k]) - low[k];
    }
    std::array<std::size_t, 3> order{0, 1, 2};
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return extent[a] > extent[b]; });
    const double length = extent[order[0]] > 0 ? extent[order[0]] : 1.0;
    for (const std::size_t i : points) {
      double weight = 1, key = 0;
      for (const std::size_t k : order) {
        key += weight * (points_[i][k] - low[k]) / length;
        weight *= 1e-4;
      }
      key_[i] = key;
    }
  }

  /// The key below which the weight of the first `below` of `parts` parts lies.
  double find_limit(const std::vector<std::size_t>& points, int below, int parts) {
    const auto count = [&](double limit) {
      double numbers[2] = {0, 0};
      for (const std::size_t i : points) {
        numbers[0] += key_[i] < limit ? weights_[i] : 0.0;
        numbers[1] += weights_[i];
      }
      processes_.sum(numbers);
      return std::pair(numbers[0], numbers[1]);
    };
    double low = 0, high = 1.001;
    const double wanted = std::round(count(low).second * below / parts);
    for (int iteration = 0; iteration < 60; ++iteration) {
      const double middle = 0.5 * (low + high), found = count(middle).first;
      if (found == wanted) return middle;
      (found < wanted ? low : high) = middle;
    }
    return high;
  }

  Processes& processes_;
  const std::vector<std::array<double, 3>>& points_;
  const std::vector<double>& weights_;
  std::vector<std::int32_t> part_;
  std::vector<double> key_;
};

}  // namespace

std::vector<std::int32_t> bisect_points(Processes& processes, const std::vector<std::array<double, 3>>& points,
                                        const std::vector<double>& weights, int parts) {
  return Bisection(processes, points, weights).run(parts);
}

}  // namespace voussoir::detail
