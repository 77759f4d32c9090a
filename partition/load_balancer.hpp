#pragma once
#include <span>
#include <vector>

#include <voussoir/partition/partition.hpp>

namespace voussoir {

/// Turns measured times into element weights, so that the next partition is better balanced than the last.
///
/// A part that took longer than its weight predicts has more expensive elements: each element's new weight is its old
/// one times the seconds that its part took per unit of weight. Weights are scaled so that their sum stays what it was.
/// Repeating measure, weigh and divide a few times evens out the parts; `damping` below 1 follows noisy times more
/// carefully (the ratio is raised to that power).
class LoadBalancer {
 public:
  explicit LoadBalancer(double damping = 1.0);

  /// New weights for all elements, block by block, for DomainPartitioner::set_weights(). `seconds` has a positive time
  /// for each part; anything else is an Error (bad_input).
  std::vector<double> weights(const Partition& partition, std::span<const double> seconds) const;

  /// The longest time over the mean: 1 is perfect.
  static double imbalance(std::span<const double> seconds);
  /// Whether repartitioning is worthwhile: the imbalance exceeds `tolerance`.
  static bool worth_repartition(std::span<const double> seconds, double tolerance = 1.1) {
    return imbalance(seconds) > tolerance;
  }

 private:
  double damping_;
};

}  // namespace voussoir
