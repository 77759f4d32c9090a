#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace voussoir::detail {

/// Keeps the motions of nodes over time until it is known which of them moves farthest, in bounded memory: whenever
/// more than `most_values` numbers are kept, the half of the nodes that has moved less so far is dropped.
class FarthestNode {
 public:
  /// `counts` tells for each component of the fields whether it is a displacement; `hidden` marks the nodes that are
  /// not reported.
  FarthestNode(std::vector<char> counts, const std::vector<char>& hidden, std::size_t most_values);

  /// Adds a state: values of all nodes, node by node. Returns what was kept of it.
  std::vector<double> add(const std::vector<double>& values);
  /// Adds what add() returned in a run before, in the same order of states.
  void add_kept(std::vector<double> kept);
  /// Whether the motion of a node is still kept.
  bool has(std::int32_t node) const;
  std::int32_t farthest() const;  ///< the node that moves farthest of those that are kept; −1: none moves
  /// The course of one component of a node that has().
  std::vector<double> curve(std::int32_t node, std::size_t component) const;

 private:
  void give_up_half();

  std::size_t width_, most_values_;
  std::vector<char> counts_;         // of each component
  std::vector<std::int32_t> nodes_;  // that are kept, ascending
  std::vector<double> reach_;        // of each of them: the largest displacement so far
  std::vector<std::vector<double>> states_;
};

}  // namespace voussoir::detail
