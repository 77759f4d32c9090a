#pragma once
#include <span>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>

namespace voussoir::detail {

/// Values at the points of an element, carried to its nodes: `columns` of the field, node by node, into `out`.
/// `extrapolation` is that of the element's program, nodes × points.
inline void carry_to_nodes(std::span<const double> extrapolation, const PointField& field,
                           const std::vector<int>& columns, std::int32_t element, int nodes, double* out) {
  const std::size_t width = columns.size();
  for (int a = 0; a < nodes; ++a)
    for (std::size_t k = 0; k < width; ++k) {
      double value = 0;
      for (int p = 0; p < field.points; ++p)
        value += extrapolation[static_cast<std::size_t>(a) * field.points + p] * field.at(element, p, columns[k]);
      out[static_cast<std::size_t>(a) * width + k] = value;
    }
}

}  // namespace voussoir::detail
