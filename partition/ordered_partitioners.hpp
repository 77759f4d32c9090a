#pragma once
#include <string>
#include <vector>

#include <voussoir/partition/graph_partitioner.hpp>

namespace voussoir {

/// Cuts an ordering of the vertices into strips of equal weight: the base class of partitioners that order first and
/// cut then.
class OrderedPartitioner : public GraphPartitioner {
 public:
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override;

 protected:
  /// All vertices, each once.
  virtual std::vector<std::int32_t> order(const ElementGraph& graph) const = 0;
};

/// Strips of the reverse Cuthill–McKee order of the elements: every part touches only the strips beside it, at the
/// price of long interfaces. Components of the graph follow one another.
///
/// E. Cuthill, J. McKee: Reducing the bandwidth of sparse symmetric matrices. Proc. 24th ACM National Conference
/// (1969).
class RcmStrips : public OrderedPartitioner {
 public:
  std::string name() const override { return "rcm"; }

 protected:
  std::vector<std::int32_t> order(const ElementGraph& graph) const override;
};

/// The other variants of METIS, beside the k-way method of MetisPartitioner.
class MetisVariant : public GraphPartitioner {
 public:
  /// What METIS does.
  enum class Kind {
    recursive,  ///< recursive bisection: often better for few parts
    contiguous  ///< k-way with connected parts; a graph that is not connected is an Error (bad_input)
  };
  /// With METIS's own imbalance of 3 % and a fixed seed. `shares` are those of UnequalParts; empty for equal parts.
  explicit MetisVariant(Kind kind, std::vector<double> shares = {});

  std::string name() const override;
  /// Without METIS in this build, an Error (unavailable).
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override;

 private:
  Kind kind_;
  std::vector<double> shares_;
};

/// Pieces of Hilbert's space-filling curve through the centroids: compact parts without a graph, and nearly the same
/// parts after a small change of the mesh or of the weights.
///
/// J. Skilling: Programming the Hilbert curve. AIP Conference Proceedings 707 (2004).
class HilbertCurve : public OrderedPartitioner {
 public:
  std::string name() const override { return "sfc"; }

 protected:
  std::vector<std::int32_t> order(const ElementGraph& graph) const override;
};

}  // namespace voussoir
