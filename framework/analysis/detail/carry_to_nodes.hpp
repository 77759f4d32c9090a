#pragma once
#include <cstddef>
#include <cstdint>

#include <voussoir/framework/analysis/detail/columns.hpp>
#include <voussoir/framework/analysis/detail/weighted_sums.hpp>
#include <voussoir/framework/analysis/results.hpp>

namespace voussoir::detail {

/// Values at the points of an element, carried to some of its nodes: `columns` of the field, node by node, into `out`.
/// `rows` are those of the nodes in the program's extrapolation, nodes × points.
inline void carry_to_nodes(const double* rows, const PointField& field, const Columns& columns, std::int32_t element,
                           std::size_t nodes, double* out) {
  const std::size_t names = field.names.size(), width = columns.width();
  const auto points = static_cast<std::size_t>(field.points);
  const double* const first = field.values.data() + static_cast<std::size_t>(element) * points * names;
  if (columns.contiguous()) {
    weighted_sums(
        width, nodes, points, [at = first + columns.first(), names](std::size_t p) { return at + p * names; },
        [rows, points](std::size_t node, std::size_t p) { return rows[node * points + p]; }, out);
    return;
  }
  for (std::size_t node = 0; node < nodes; ++node, rows += points, out += width) {
    for (std::size_t k = 0; k < width; ++k) out[k] = 0;
    for (std::size_t p = 0; p < points; ++p) columns.add(rows[p], first + p * names, out);
  }
}

}  // namespace voussoir::detail
