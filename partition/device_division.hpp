#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <voussoir/framework/model/divided_numberer.hpp>
#include <voussoir/partition/graph_partitioner.hpp>
#include <voussoir/partition/partition.hpp>

// Divisions of nodes among devices from what the partition layer offers: METIS, any graph partitioner, a Partition.

namespace voussoir {

/// The part of each node of the domain: its owner in the partition, and −1 for nodes without elements. For
/// DividedNumberer::Options::part_of_node.
std::vector<std::int32_t> owners_of_nodes(const Partition& partition, const Domain& domain);

/// A node divider that applies a graph partitioner to the graph of the nodes. Shares that are not all equal are an
/// Error (bad_input): a GraphPartitioner makes parts of equal weight.
NodeDivider node_divider(std::shared_ptr<const GraphPartitioner> partitioner);

/// Divides nodes with METIS, with the given shares: edges are weighted by the equations that they couple. Error
/// (unavailable) without METIS. Registered as "metis" in node_dividers() where it is built in.
std::vector<std::int32_t> divide_nodes_by_metis(const NodesToDivide& nodes);

}  // namespace voussoir
