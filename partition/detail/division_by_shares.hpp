#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/partition/graph_partitioner.hpp>

namespace voussoir::detail {

/// Throws Error (bad_input) unless there are shares and all of them are positive and finite.
void check_shares(std::span<const double> shares);
/// The shares of so many parts, the first ones; more parts than shares are an Error (bad_input).
std::span<const double> shares_of_parts(std::span<const double> shares, int parts);

/// Recursive bisection into as many parts as there are shares, of weights in their proportion.
std::vector<std::int32_t> bisect_by_shares(const ElementGraph& graph, CoordinateBisection::Direction direction,
                                           std::span<const double> shares);
/// The same by METIS, k-way. Without METIS in this build, an Error (unavailable).
std::vector<std::int32_t> divide_by_shares(const ElementGraph& graph, std::span<const double> shares);

}  // namespace voussoir::detail
