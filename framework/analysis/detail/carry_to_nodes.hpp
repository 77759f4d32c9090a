#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <voussoir/framework/analysis/detail/columns.hpp>
#include <voussoir/framework/analysis/results.hpp>

namespace voussoir::detail {

/// Values at the points of an element, carried to one of its nodes: `columns` of the field, into `out`. `row` is the
/// node's row of the program's extrapolation.
inline void carry_to_node(const double* row, const PointField& field, const Columns& columns, std::int32_t element,
                          double* out) {
  const std::size_t names = field.names.size();
  for (std::size_t k = 0; k < columns.width(); ++k) out[k] = 0;
  const double* point = field.values.data() + static_cast<std::size_t>(element) * field.points * names;
  for (int p = 0; p < field.points; ++p, point += names) columns.add(row[p], point, out);
}

/// The same for all nodes of the element, node by node. `extrapolation` is that of the element's program, nodes ×
/// points.
inline void carry_to_nodes(std::span<const double> extrapolation, const PointField& field, const Columns& columns,
                           std::int32_t element, int nodes, double* out) {
  for (int a = 0; a < nodes; ++a)
    carry_to_node(extrapolation.data() + static_cast<std::size_t>(a) * field.points, field, columns, element,
                  out + static_cast<std::size_t>(a) * columns.width());
}

}  // namespace voussoir::detail
