#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Graphs of elements that are divided among processes, and engines that cut them. See element_graph.hpp for graphs that
// one process has as a whole.

namespace voussoir {

/// The dual graph of a mesh: elements that share a face (an edge in the plane) are neighbours, as in ElementGraph. Each
/// process has the rows of its own vertices, which are numbered from process to process.
struct ProcessGraph {
  std::vector<std::int64_t> first_vertex;  ///< of each process, and the number of all vertices
  std::vector<std::int64_t> row_start{0};  ///< first entry of each own vertex in `column`, and the number of entries
  std::vector<std::int64_t> column;        ///< neighbours of all own vertices, ascending in each row
  std::vector<std::int32_t> shared_nodes;  ///< nodes shared across each edge, parallel to `column`: its cost if cut
  std::vector<double> weight;              ///< computational cost of each own vertex, in any unit
};

/// Divides a graph that is distributed among processes.
class ProcessGraphPartitioner {
 public:
  virtual ~ProcessGraphPartitioner() = default;
  virtual std::string name() const = 0;  ///< for messages
  /// Returns the part, from 0, of each own vertex: parts of about equal weight with few edges between them. Parts may
  /// be empty. Collective. The same graph on the same number of processes gives the same parts in every run.
  virtual std::vector<std::int32_t> partition(const ProcessGraph& graph, int parts) = 0;
};

/// An engine that cuts graphs. Such engines are derived from this class in addition to Engine.
class GraphEngine {
 public:
  virtual ~GraphEngine() = default;
  /// Whether a partitioner of this name was built into the engine.
  virtual bool has_graph_partitioner(const std::string& name) const = 0;
  /// Creates a partitioner. One that does not exist is an Error (not_found), one that was not built in an Error
  /// (unavailable).
  virtual std::unique_ptr<ProcessGraphPartitioner> make_graph_partitioner(const std::string& name) = 0;
};

}  // namespace voussoir
