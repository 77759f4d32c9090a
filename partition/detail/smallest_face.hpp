#pragma once
#include <algorithm>
#include <cstddef>
#include <string>

#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir::detail {

/// Nodes that two elements of a shape must share to be neighbours in a dual graph: those of its smallest face, and 1
/// for bars, beams and springs, whose shape is empty.
inline int smallest_face(const std::string& shape, std::size_t nodes_per_element) {
  if (shape.empty()) return 1;
  std::size_t least = nodes_per_element;
  for (const ShapeFace& face : shape_topology(shape).faces) least = std::min(least, face.nodes.size());
  return static_cast<int>(std::max<std::size_t>(1, least));
}

}  // namespace voussoir::detail
