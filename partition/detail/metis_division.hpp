#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/partition/graph_partitioner.hpp>

namespace voussoir::detail {

/// What METIS does with a graph.
enum class MetisMethod { kway, contiguous, recursive };

/// The part of each vertex by METIS; `shares` are relative weights of the parts, or empty for equal ones. `what` the
/// vertices are is for messages. With `contiguous`, a graph that is not connected is an Error (bad_input); without
/// METIS in this build, everything is an Error (unavailable).
std::vector<std::int32_t> divide_by_metis(const ElementGraph& graph, int parts, MetisMethod method,
                                          const MetisPartitioner::Options& settings,
                                          std::span<const double> shares = {}, const char* what = "elements");

/// The factor by which weights become the whole numbers of METIS, whose sum must stay well below the largest `int`. The
/// heaviest weight becomes 10⁴ or, where that would take the digits from light ones, the lightest positive one 10: many
/// of them may weigh as much as a heavy one. 0 if no weight is positive.
double metis_scale(std::span<const double> weights);

/// Whether a chain of neighbours connects all vertices.
bool is_connected(const ElementGraph& graph);

}  // namespace voussoir::detail
