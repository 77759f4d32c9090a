#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/partition/element_graph.hpp>

namespace voussoir {

/// Cuts a graph of elements into parts of about equal weight with few edges between them. Derive to bring another
/// method.
class GraphPartitioner {
 public:
  virtual ~GraphPartitioner() = default;
  virtual std::string name() const = 0;  ///< for tables and messages
  /// The part, from 0, of each vertex. The caller promises 1 ≤ parts ≤ vertices. The same graph gives the same parts.
  virtual std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const = 0;
};

/// METIS, multilevel k-way: small interfaces on any mesh. Edges weigh as many nodes as they share.
///
/// G. Karypis, V. Kumar: A fast and high quality multilevel scheme for partitioning irregular graphs. SIAM J. Sci.
/// Comput. 20 (1998).
class MetisPartitioner : public GraphPartitioner {
 public:
  /// Settings passed to METIS.
  struct Options {
    int seed = 1;             ///< of METIS's random numbers: the same seed gives the same parts
    double imbalance = 0.03;  ///< how much heavier than the mean a part may be
  };
  MetisPartitioner() = default;
  explicit MetisPartitioner(const Options& options) : options_(options) {}  ///< with the given options

  /// Whether this build has METIS; partition() throws Error (unavailable) where it has not.
  static bool available();
  std::string name() const override { return "metis"; }
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override;

 private:
  Options options_;
};

/// Recursive bisection of the elements' centroids by planes: needs no graph, balances weights to one element, and makes
/// smooth cuts. If the number of parts is odd, the halves get proportional weights.
class CoordinateBisection : public GraphPartitioner {
 public:
  /// Which way planes cut.
  enum class Direction {
    coordinate,  ///< cut across the coordinate axis along which the elements spread most
    inertial     ///< cut across the principal axis of inertia: independent of how the model is turned
  };
  /// By coordinates unless said otherwise.
  explicit CoordinateBisection(Direction direction = Direction::coordinate) : direction_(direction) {}

  std::string name() const override { return direction_ == Direction::inertial ? "inertial" : "coordinate"; }
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override;

 private:
  Direction direction_;
};

/// Parts that the user gives: one for each element of the domain, block by block.
class UserPartition : public GraphPartitioner {
 public:
  /// Checked by partition().
  explicit UserPartition(std::vector<std::int32_t> part_of_element) : parts_(std::move(part_of_element)) {}

  std::string name() const override { return "user"; }
  /// Throws Error (bad_input) for a wrong number of elements, a part outside 0 … parts − 1, a part without elements,
  /// and for elements of one group in several parts.
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override;

 private:
  std::vector<std::int32_t> parts_;
};

}  // namespace voussoir
