#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace voussoir {

/// Which nodes share an element: row i has the neighbours column[row_start[i]] … of node i, itself left out.
struct NodeGraph {
  std::vector<std::int64_t> row_start;  ///< of each node in `column`; one more entry ends the list
  std::vector<std::int32_t> column;     ///< neighbours, ascending within a row
  std::int32_t nodes() const { return static_cast<std::int32_t>(row_start.size()) - 1; }  ///< number of rows
};

/// Decides the order in which nodes get their equations. Neighbours should be near: products then read memory in
/// order, envelopes are small, and devices get compact parts.
class DofNumberer {
 public:
  virtual ~DofNumberer() = default;
  virtual std::string name() const = 0;  ///< for reports
  /// False if order() uses only the number of nodes: the graph is then not built.
  virtual bool needs_graph() const { return true; }
  /// order[k] is the k-th node.
  virtual std::vector<std::int32_t> order(const NodeGraph& graph) const = 0;
};

/// The order in which the user gave the nodes.
class PlainNumberer : public DofNumberer {
 public:
  std::string name() const override { return "plain"; }
  bool needs_graph() const override { return false; }
  std::vector<std::int32_t> order(const NodeGraph& graph) const override;
};

/// Reverse Cuthill–McKee: small bandwidth, for band and profile solvers and for meshes numbered at random.
class ReverseCuthillMcKeeNumberer : public DofNumberer {
 public:
  std::string name() const override { return "reverse-cuthill-mckee"; }
  std::vector<std::int32_t> order(const NodeGraph& graph) const override;
};

}  // namespace voussoir
