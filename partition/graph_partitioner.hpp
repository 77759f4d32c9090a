#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/partition/element_graph.hpp>

namespace voussoir {

/// Base class of methods that divide a graph of elements into parts of about equal weight with few edges between them.
/// Derive from it to add a method.
class GraphPartitioner {
 public:
  virtual ~GraphPartitioner() = default;
  virtual std::string name() const = 0;  ///< name of the method, for tables and messages
  /// Returns the part, from 0, of each vertex. The caller ensures 1 ≤ parts ≤ vertices. Implementations must be
  /// deterministic: the same graph gives the same parts.
  virtual std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const = 0;
};

/// METIS, multilevel k-way partitioning: small interfaces on any mesh. Edges are weighted by the nodes shared.
///
/// G. Karypis, V. Kumar: A fast and high quality multilevel scheme for partitioning irregular graphs. SIAM J. Sci.
/// Comput. 20 (1998).
class MetisPartitioner : public GraphPartitioner {
 public:
  /// Settings passed to METIS.
  struct Options {
    int seed = 1;             ///< seed of METIS's random numbers; the same seed gives the same parts
    double imbalance = 0.03;  ///< by what fraction a part may be heavier than the mean
  };
  MetisPartitioner() = default;
  explicit MetisPartitioner(const Options& options) : options_(options) {}  ///< with the given options

  /// Whether this build has METIS. If not, partition() throws Error (unavailable).
  static bool available();
  std::string name() const override { return "metis"; }
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override;

 private:
  Options options_;
};

/// Recursive bisection of the elements' centroids by planes. It needs no graph, balances the weights to within one
/// element, and makes smooth cuts. For an odd number of parts, the weights of the halves are proportional to their
/// parts.
class CoordinateBisection : public GraphPartitioner {
 public:
  /// The orientation of the cutting planes.
  enum class Direction {
    coordinate,  ///< normal to the coordinate axis along which the centroids extend most
    inertial     ///< normal to the principal axis of inertia: independent of the orientation of the model
  };
  /// `direction` selects the cutting planes.
  explicit CoordinateBisection(Direction direction = Direction::coordinate) : direction_(direction) {}

  std::string name() const override { return direction_ == Direction::inertial ? "inertial" : "coordinate"; }
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override;

 private:
  Direction direction_;
};

/// A partition given by the user.
class UserPartition : public GraphPartitioner {
 public:
  /// The part of each element of the domain, block by block. partition() checks it.
  explicit UserPartition(std::vector<std::int32_t> part_of_element) : parts_(std::move(part_of_element)) {}

  std::string name() const override { return "user"; }
  /// The given parts. A wrong number of elements, a part outside 0 … parts − 1, a part without elements, and elements
  /// of one group in several parts are an Error (bad_input).
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override;

 private:
  std::vector<std::int32_t> parts_;
};

}  // namespace voussoir
