#pragma once
#include <span>
#include <string>

#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/grouped_dots.hpp>

namespace voussoir::detail {

/// Throws an Error (misuse) unless the pairs are some vectors of the backend, all alike, with one result each.
inline void require_pairs(const Backend& backend, std::span<const GroupedDots::Pair> pairs,
                          std::span<const double> results) {
  if (pairs.empty() || pairs.size() > GroupedDots::most_pairs || results.size() != pairs.size())
    throw Error(ErrorCode::misuse, "dots: takes 1 to " + std::to_string(GroupedDots::most_pairs) +
                                       " pairs with one result each, not " + std::to_string(pairs.size()) +
                                       " pairs and " + std::to_string(results.size()) + " results");
  require_own(backend, pairs.front().x, "dots");
  for (const GroupedDots::Pair& pair : pairs) {
    require_alike(pairs.front().x, pair.x, "dots");
    require_alike(pair.x, pair.y, "dots");
  }
}

}  // namespace voussoir::detail
