#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/io/gmsh/gmsh_slice.hpp>
#include <voussoir/partition/process/process_graph.hpp>
#include <voussoir/partition/process/processes.hpp>

// A mesh of which every process has a part, made from slices of a file: no process ever has the whole mesh.

namespace voussoir::detail {

/// Elements of a mesh with their batches and places in the file, as numbers that can be sent.
class ElementList {
 public:
  /// `widths` are the numbers of nodes of the elements of each batch.
  explicit ElementList(std::vector<std::int32_t> widths) : widths_(std::move(widths)) {}

  void add(std::size_t batch, std::int64_t place, Id id, std::span<const Id> nodes);
  void add(const ElementList& other, std::size_t element);
  void add(std::span<const std::int64_t> numbers);  ///< those that another list has
  std::size_t size() const { return first_.size(); }
  std::size_t batch(std::size_t element) const { return static_cast<std::size_t>(numbers_[first_[element]]); }
  std::int64_t place(std::size_t element) const { return numbers_[first_[element] + 1]; }
  Id id(std::size_t element) const { return numbers_[first_[element] + 2]; }
  std::span<const Id> nodes(std::size_t element) const;
  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  const std::vector<std::int32_t>& widths() const { return widths_; }

 private:
  std::vector<std::int32_t> widths_;
  std::vector<std::int64_t> numbers_;  // batch, place, id and nodes of each element
  std::vector<std::size_t> first_;
};

/// The nodes of a mesh, each on one process, by ranges of their ids. All functions that ask are collective.
class NodeHomes {
 public:
  /// Takes the nodes of the slices of all processes. A node that occurs twice is a SharedError (bad_input).
  NodeHomes(Processes& processes, const GmshMesh& slice);

  /// Three coordinates of each node. A node that does not exist is a SharedError (not_found).
  std::vector<double> coordinates(std::span<const Id> ids);
  /// Tells that the part of this process has these nodes; once.
  void announce(std::span<const Id> ids);
  /// What is known of a node that some part has.
  struct Place {
    std::int64_t rank = -1;           ///< among all nodes that parts have, by ascending ids; −1: no part has it
    std::vector<std::int32_t> parts;  ///< that have it, ascending
  };
  std::vector<Place> places(std::span<const Id> ids);
  /// A vertex of a graph that has a node, and how many nodes it needs to share with a neighbour.
  struct Use {
    Id node;
    std::int64_t vertex, needed;
  };
  /// All uses on all processes of the nodes that occur in the own uses, by ascending nodes and vertices. Nodes that do
  /// not exist are allowed.
  std::vector<Use> all_uses(std::vector<Use> own);
  std::int64_t announced() const { return announced_; }  ///< nodes that parts have
  std::size_t held() const { return ids_.size(); }       ///< nodes that this process looks after

 private:
  int home(Id id) const;
  std::size_t find(Id id) const;  // ids_.size() if it is not there

  Processes& processes_;
  Id lowest_ = 0;
  std::int64_t width_ = 1;  // ids per process
  std::vector<Id> ids_;     // ascending
  std::vector<double> coordinates_;
  std::vector<std::vector<std::int32_t>> parts_;
  std::vector<std::int64_t> rank_;
  std::int64_t announced_ = 0;
};

/// The part of each point of all processes, by recursive bisection along the longest side of their box: parts of equal
/// weights, the same in every run. Collective; returns the parts of the own points.
std::vector<std::int32_t> bisect_points(Processes& processes, const std::vector<std::array<double, 3>>& points,
                                        const std::vector<double>& weights, int parts);
/// The computational cost of each element, as the number of entries of its matrix.
std::vector<double> element_weights(const ElementList& elements);
/// The dual graph of the elements of all processes. Collective.
ProcessGraph distributed_graph(Processes& processes, NodeHomes& homes, const ElementList& elements,
                               const std::vector<GmshMesh::Batch>& batches);
/// Gives each part without elements one of the part that has most. There must be as many elements as processes.
/// Collective.
void fill_empty_parts(Processes& processes, std::vector<std::int32_t>& part);

/// What a process has of a mesh.
struct DistributedMesh {
  /// All groups and batches. Elements of the own part; those of other parts that touch its nodes; elements without a
  /// section that touch them; and of each batch at least one element, together with elements that use its nodes: of a
  /// batch without a section one for each batch with a section that it touches. In each batch they are in the order of
  /// the file.
  GmshMesh mesh;
  std::vector<std::vector<std::int32_t>> part;  ///< per batch and element: its part, or −1 if it is far from the own
  std::vector<std::vector<std::int64_t>> places;  ///< as in GmshSlice
  std::vector<std::int64_t> batch_sizes;          ///< as in GmshSlice
  std::vector<char> has_section;                  ///< per batch
  std::vector<Id> nodes;                          ///< of the own part, ascending
  std::vector<NodeHomes::Place> node_places;      ///< of these
  std::int64_t whole_nodes = 0;                   ///< nodes that elements with sections use
  std::int64_t most_nodes = 0;  ///< the most nodes that this process had at a time: read, looked after and used
};

/// Distributes the elements with sections (`has_section` of each batch) among all processes, by a partitioner of their
/// graph, or, if it is null, by recursive bisection of their centres. Collective. Errors are SharedErrors that name
/// `file`.
DistributedMesh distribute_mesh(Processes& processes, GmshSlice slice, const std::vector<char>& has_section,
                                const std::string& file, ProcessGraphPartitioner* partitioner = nullptr);

}  // namespace voussoir::detail
