#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/partition/element_graph.hpp>

namespace voussoir {

/// An assignment of elements to parts, with the nodes, the interface and the quality that follow from it. A value type:
/// it keeps no reference to the domain and can be copied and compared.
///
/// Elements are divided; nodes are shared. A node belongs to every part that has an element at it. Nodes of two or more
/// parts form the **interface**. Data that exists once per node (a load, a mass) is assigned to a single part, the
/// **owner** of the node: the lowest of its parts. Nodes and elements are given by their indices in the domain; parts
/// are counted from 0.
class Partition {
 public:
  /// `part_of_element` has the part of each element, block by block; `weights` their weights, or is empty for 1 each.
  /// Wrong sizes, parts that do not exist and parts without elements are an Error (bad_input).
  Partition(const Domain& domain, std::vector<std::int32_t> part_of_element, int parts,
            std::vector<double> weights = {});
  /// As above, with the dual graph of the domain and its weights.
  Partition(const Domain& domain, std::vector<std::int32_t> part_of_element, int parts, const ElementGraph& graph);

  /// As the first constructor, but parts may have no elements: for runs on more processes than there are elements.
  static Partition with_empty_parts(const Domain& domain, std::vector<std::int32_t> part_of_element, int parts,
                                    std::vector<double> weights = {});

  int parts() const { return parts_; }  ///< number of parts

  // --- elements ------------------------------------------------------------------------------------------------
  /// The part of an element.
  std::int32_t part(ElementRef element) const {
    return part_of_element_[first_of_block_[element.block] + element.element];
  }
  /// The parts of all elements, block by block.
  std::span<const std::int32_t> part_of_element() const { return part_of_element_; }
  /// The weights of all elements, by which the parts are balanced, block by block.
  std::span<const double> weights() const { return weights_; }
  /// A part's elements, in the order of the domain.
  std::vector<ElementRef> elements(int part) const;
  std::int64_t element_count(int part) const { return element_count_[part]; }  ///< number of elements of a part
  double weight(int part) const { return weight_[part]; }                      ///< sum of the weights of its elements

  // --- nodes ---------------------------------------------------------------------------------------------------
  /// Nodes of a part, those on the interface included, ascending.
  std::span<const std::int32_t> nodes(int part) const { return nodes_[part]; }
  /// Nodes of two or more parts, ascending.
  std::span<const std::int32_t> interface_nodes() const { return interface_; }
  /// Parts of a node, ascending; empty for a node that no element uses.
  std::span<const std::int32_t> parts_of_node(std::int32_t node) const {
    return std::span(parts_of_nodes_).subspan(first_of_node_[node], first_of_node_[node + 1] - first_of_node_[node]);
  }
  /// Whether two or more parts share the node.
  bool on_interface(std::int32_t node) const { return first_of_node_[node + 1] - first_of_node_[node] > 1; }
  /// The lowest part of a node, or −1 for a node that no element uses.
  std::int32_t owner(std::int32_t node) const {
    return first_of_node_[node + 1] > first_of_node_[node] ? parts_of_nodes_[first_of_node_[node]] : -1;
  }

  // --- quality -------------------------------------------------------------------------------------------------
  /// Number of pairs of neighbouring elements (see ElementGraph) in different parts.
  std::int64_t edge_cut() const { return edge_cut_; }
  /// Weight of the heaviest part divided by the mean: 1 is perfect.
  double balance() const;
  /// Parts that share a node with a part, ascending.
  std::span<const std::int32_t> neighbours(int part) const { return neighbours_[part]; }

  /// A text table: a line for each part, and the quality of the partition.
  std::string describe() const;
  /// A CSV table of the parts: part, elements, weight, nodes, interface_nodes, owned_nodes, neighbours.
  CsvTable summary() const;

  /// Whether both have the same number of parts and assign each element to the same part.
  bool operator==(const Partition& other) const {
    return parts_ == other.parts_ && part_of_element_ == other.part_of_element_;
  }

 private:
  Partition(std::vector<std::int32_t> part_of_element, int parts)
      : parts_(parts), part_of_element_(std::move(part_of_element)) {}
  void build(const Domain& domain, const ElementGraph& graph, bool may_be_empty = false);

  int parts_;
  std::vector<std::int32_t> part_of_element_;
  std::vector<double> weights_;
  std::vector<std::int64_t> first_of_block_;
  std::vector<std::int64_t> element_count_;
  std::vector<double> weight_;
  std::vector<std::vector<std::int32_t>> nodes_;
  std::vector<std::int64_t> first_of_node_;
  std::vector<std::int32_t> parts_of_nodes_;
  std::vector<std::int32_t> interface_;
  std::vector<std::vector<std::int32_t>> neighbours_;
  std::int64_t edge_cut_ = 0;
};

/// A table with a row for each element: its id, block and part.
CsvTable csv_table(const Domain& domain, const Partition& partition);

}  // namespace voussoir
