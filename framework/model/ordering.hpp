#pragma once
#include <cstdint>
#include <span>
#include <vector>

// Orders of a graph that keep the neighbours of a vertex near it, and measures of how near they are.

namespace voussoir {

/// The reverse Cuthill-McKee order of a graph: order[k] is the k-th vertex. Each connected part starts at a
/// vertex at its rim and stays together, so a graph in several parts is welcome.
///
/// The graph is stored by rows: the neighbours of vertex v are column[row_start[v]] … column[row_start[v+1] − 1]. An
/// edge is in both rows; whether v is listed among its own neighbours does not matter. Throws Error{bad_input} at a
/// neighbour that does not exist, and at an edge that is in one row only.
std::vector<std::int32_t> reverse_cuthill_mckee(std::span<const std::int64_t> row_start,
                                                std::span<const std::int32_t> column);

/// The inverse permutation: the position of each vertex in `order`.
std::vector<std::int32_t> inverse_order(std::span<const std::int32_t> order);

/// The largest distance |place(v) − place(w)| of two neighbours. An empty order means 0, 1, 2, …
std::int64_t bandwidth(std::span<const std::int64_t> row_start, std::span<const std::int32_t> column,
                       std::span<const std::int32_t> order = {});

/// The number of entries on and below the skyline of the graph's matrix: for each vertex, its distance to the first of
/// its neighbours that come before it, plus one for the diagonal; summed up.
std::int64_t profile(std::span<const std::int64_t> row_start, std::span<const std::int32_t> column,
                     std::span<const std::int32_t> order = {});

}  // namespace voussoir
