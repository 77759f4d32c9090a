#pragma once
#include <span>
#include <vector>

#include <voussoir/partition/partition.hpp>

namespace voussoir {

/// Computes element weights from measured times, so that the next partition is better balanced.
///
/// A part that took longer than its weight predicts has more expensive elements: the new weight of each element is its
/// old one times the seconds that its part took per unit of weight. Weights are scaled so that their sum does not
/// change. A few repetitions of measuring, weighting and partitioning balance the parts.
class LoadBalancer {
 public:
  /// `damping` is the exponent of the ratio of times; values below 1 reduce the effect of noisy measurements.
  explicit LoadBalancer(double damping = 1.0);

  /// New weights of all elements, block by block, for DomainPartitioner::set_weights(). `seconds` must have a positive
  /// time for each part; anything else is an Error (bad_input).
  std::vector<double> weights(const Partition& partition, std::span<const double> seconds) const;

  /// The longest time divided by the mean: 1 is perfect balance.
  static double imbalance(std::span<const double> seconds);
  /// Whether repartitioning is worthwhile: the imbalance exceeds `tolerance`.
  static bool worth_repartition(std::span<const double> seconds, double tolerance = 1.1) {
    return imbalance(seconds) > tolerance;
  }

 private:
  double damping_;
};

}  // namespace voussoir
