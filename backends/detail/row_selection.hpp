#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/multigrid.hpp>

// What backends check and list where devices take rows from each other.

namespace voussoir::detail {

/// All of `rows` are rows of the matrix.
inline void require_rows(const LevelMatrix& a, std::span<const std::int32_t> rows) {
  for (const std::int32_t row : rows)
    if (row < 0 || row >= a.rows)
      throw Error(ErrorCode::misuse, "multigrid: there is no row " + std::to_string(row) + " among " +
                                         std::to_string(a.rows) + " to take");
}

/// The arguments of DividedMultigrid::take_rows().
inline void require_row_selection(const LevelMatrix& a, const std::span<const std::int32_t>* rows,
                                  std::span<const std::int32_t> number, std::int32_t columns) {
  if (rows) require_rows(a, *rows);
  if (static_cast<std::int64_t>(number.size()) < a.columns)
    throw Error(ErrorCode::misuse, "multigrid: " + std::to_string(number.size()) + " numbers for " +
                                       std::to_string(a.columns) + " columns");
  for (const std::int32_t n : number)
    if (n >= columns)
      throw Error(ErrorCode::misuse,
                  "multigrid: there is no column " + std::to_string(n) + " among " + std::to_string(columns));
  if (a.blocks() > 0 && a.value.empty())
    throw Error(ErrorCode::misuse, "multigrid: rows are taken with values in double precision");
}

/// `count` numbers fit into `size` from `at` on.
inline void require_room(std::size_t count, std::size_t size, std::size_t at) {
  if (at > size || count > size - at)
    throw Error(ErrorCode::misuse, "multigrid: there is no room for " + std::to_string(count) + " numbers");
}

/// The indices that are marked, ascending.
inline std::vector<std::int32_t> list_marked(std::span<const std::uint8_t> marked) {
  std::vector<std::int32_t> list;
  for (std::size_t i = 0; i < marked.size(); ++i)
    if (marked[i]) list.push_back(static_cast<std::int32_t>(i));
  return list;
}

}  // namespace voussoir::detail
