#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/registry.hpp>
#include <voussoir/framework/model/dof_numberer.hpp>

// How the nodes of a model are distributed over the devices of a backend. Each device owns one part of the mesh, whose
// nodes are numbered contiguously.

namespace voussoir {

/// Elements with the same number of nodes, by the positions of their nodes.
struct ElementNodes {
  std::span<const std::int32_t> nodes;  ///< element by element
  int per_element = 1;                  ///< nodes of an element
};

/// The nodes of a model that have equations, as a NodeDivider sees them. Nodes are counted from 0 in the domain's
/// order.
struct NodesToDivide {
  std::vector<double> coordinates;          ///< 3 per node
  std::vector<std::int32_t> equations;      ///< of each node
  std::vector<double> weight;               ///< computational cost of each node, in any unit; see node_weights()
  std::vector<double> share;                ///< of each part: the fraction of the weight that it should have
  std::vector<std::int32_t> domain_node;    ///< index of each node in the domain; may be empty
  std::vector<ElementNodes> elements;       ///< all elements
  std::function<const NodeGraph&()> graph;  ///< which nodes share an element; made by the first call

  std::int32_t nodes() const { return static_cast<std::int32_t>(equations.size()); }  ///< number of nodes
  int parts() const { return static_cast<int>(share.size()); }                        ///< number of parts
};

/// The cost of each node: an element costs (its unknowns)², the entries of its matrix, in equal parts at its nodes.
/// `equations` has the number of equations of each node. Nodes without elements cost 1 per equation.
std::vector<double> node_weights(const std::vector<ElementNodes>& elements, std::span<const std::int32_t> equations);

/// Which of `nodes` nodes share an element.
NodeGraph node_graph(const std::vector<ElementNodes>& elements, std::int32_t nodes);

/// A method that divides nodes into parts. To add one:
///
///   VSR_REGISTER(node_dividers, "mine", "what it does in one line", NodeDivider{[](const NodesToDivide& n) { … }});
struct NodeDivider {
  /// The part of each node, from 0. Must be deterministic. Parts may be empty.
  std::function<std::vector<std::int32_t>(const NodesToDivide&)> divide;
};
/// The registry of methods: contiguous, coordinate, metis (where it is built in) and those of users.
Registry<NodeDivider>& node_dividers();

/// The halos of a division: the values of other parts that each part needs.
struct HaloCount {
  std::vector<std::int64_t> nodes;      ///< of each part: nodes of others that share an element with its own
  std::vector<std::int64_t> equations;  ///< their equations
  std::vector<int> neighbours;          ///< parts that they belong to

  std::int64_t total_equations() const;  ///< of all parts
  /// Bytes that all devices together receive before a product with `columns` vectors.
  std::int64_t bytes(int columns = 1) const { return 8 * columns * total_equations(); }
};
/// Counts the halos of a division from elements alone. The count is exact for models without multi-point equations;
/// those add the equations that they couple.
HaloCount count_halo(const std::vector<ElementNodes>& elements, std::span<const std::int32_t> part_of_node,
                     std::span<const std::int32_t> equations, int parts);
/// Number of connected pieces of each part, where two nodes of a part are connected if they share an element. 0 for a
/// part without nodes.
std::vector<int> connected_pieces(const std::vector<ElementNodes>& elements, std::span<const std::int32_t> part_of_node,
                                  int parts);

/// Numbers the nodes part by part, one part for each device of the backend. Within a part, nodes are in the order of
/// another numberer.
class DividedNumberer : public DofNumberer {
 public:
  /// How nodes are divided.
  struct Options {
    /// A name in node_dividers(), or "auto": of the methods that suit the model, the one with the smallest halos among
    /// those whose parts are connected.
    std::string method = "auto";
    /// Relative speeds of the devices: a device with twice the speed gets twice the weight. Empty: all the same.
    std::vector<double> speeds;
    /// The part of each node of the domain, by index, instead of a method; nodes without elements may have −1.
    std::vector<std::int32_t> part_of_node;
    /// Number of parts; 0: the number of devices. A backend with one device owns all parts, in the same order as
    /// several devices would, so that results can be compared.
    int parts = 0;
    std::shared_ptr<const DofNumberer> within;  ///< orders the nodes of a part; null: PlainNumberer
  };

  DividedNumberer();
  /// Speeds that are not positive and finite, and a negative number of parts, are an Error (bad_input).
  explicit DividedNumberer(Options options);

  std::string name() const override;
  bool needs_graph() const override { return within().needs_graph(); }
  /// The order within parts, without division.
  std::vector<std::int32_t> order(const NodeGraph& graph) const override { return within().order(graph); }
  const DofNumberer& within() const { return *options_.within; }  ///< orders the nodes of a part
  const Options& options() const { return options_; }             ///< as given

  /// A division of nodes.
  struct Division {
    std::vector<std::int32_t> part;  ///< of each node
    std::string method;              ///< that was used
  };
  /// Divides nodes and sets `nodes.share`. An unknown method, and given parts that do not fit, are an Error.
  Division divide(NodesToDivide& nodes, int devices) const;

 private:
  Options options_;
};

/// 1 for nodes that share an element with nodes of other parts, 0 for interior nodes.
std::vector<std::uint8_t> boundary_nodes(const std::vector<ElementNodes>& elements,
                                         std::span<const std::int32_t> part_of_node);

/// The order of nodes part by part, and the first node of each part in it, with the total.
struct PartOrder {
  std::vector<std::int32_t> order;  ///< order[k] is the k-th node
  std::vector<std::int32_t> first;  ///< parts + 1 numbers
};
/// Sorts nodes by parts, the interior nodes of each before those on its boundary, so that a product can begin with
/// contiguous rows that need no values of other devices. Otherwise nodes keep the order given.
PartOrder order_by_parts(std::span<const std::int32_t> order, std::span<const std::int32_t> part_of_node, int parts,
                         std::span<const std::uint8_t> on_boundary);

}  // namespace voussoir
