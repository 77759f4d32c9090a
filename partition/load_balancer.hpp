#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/framework/model/divided_numberer.hpp>
#include <voussoir/partition/partition.hpp>

namespace voussoir {

/// Balances work between parts and between devices from measured times.
///
/// For **parts**, it computes element weights, with which the next partition is better balanced. A part that took
/// longer than its weight predicts has more expensive elements: the new weight of each element is its old one times the
/// seconds that its part took per unit of weight. Weights are scaled so that their sum does not change. A few
/// repetitions of measuring, weighting and partitioning balance the parts.
///
/// For **devices**, it computes speeds (speeds()), with which DividedNumberer divides a model anew, or changes the
/// present division by moving as little as possible (rebalance()).
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

  // --- devices -------------------------------------------------------------------------------------------------
  /// Relative speeds of devices that took these times for these amounts of work, with mean 1; with damping, they are
  /// raised to its power. A device without work has no time, and gets the mean speed. Anything else that is not
  /// positive is an Error (bad_input).
  std::vector<double> speeds(std::span<const double> work, std::span<const double> seconds) const;

  /// A division that was changed.
  struct Rebalanced {
    std::vector<std::int32_t> part;  ///< of each node
    std::int64_t moved_nodes = 0;    ///< that are in another part than before
    double moved_weight = 0;         ///< their weight
  };
  /// Moves nodes between neighbouring parts until each has about its share of the weight, `nodes.share`. The weights
  /// that cross the boundaries are those with the smallest sum of squares that balance the parts (Hu and Blake 1999);
  /// the nodes nearest to a boundary cross it. Parts stay connected where layers of nodes do. Parts that
  /// share no boundary with others keep their nodes.
  static Rebalanced rebalance(const NodesToDivide& nodes, std::span<const std::int32_t> part);

  /// The part of each node of the domain, for DividedNumberer::Options::part_of_node, after a model on several devices
  /// was rebalanced by the times that its devices took. The present division is returned where the imbalance of the
  /// times is within `tolerance`.
  std::vector<std::int32_t> rebalanced_parts(const AnalysisModel& model, std::span<const double> seconds,
                                             double tolerance = 1.1) const;

 private:
  double damping_;
};

}  // namespace voussoir
