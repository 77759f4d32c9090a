#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

// Mesh quality from geometry alone: no material is needed, and nothing is integrated.

namespace voussoir {

/// How well shaped one element is.
struct ElementQuality {
  /// Longest over shortest edge, as the crow flies from corner to corner: 1 is best. Infinite where an edge has length
  /// 0.
  double aspect_ratio = 1;
  /// The Jacobian where it is worst, over the product of the lengths of the edges that meet there, over the value of a
  /// regular shape: 1 is best, 0 is flat or folded, below 0 an element is inside out at that corner. Taken at the
  /// corners, with the curved edges of quadratic elements. (Knupp, Algebraic mesh quality metrics, SIAM J. Sci. Comput.
  /// 23, 2001.)
  double scaled_jacobian = 1;
};

/// The quality of the elements of a mesh. Lines, springs and masses are not included.
struct MeshQuality {
  std::int64_t measured = 0;  ///< elements that count

  double largest_aspect_ratio = 1;
  ElementRef longest{-1, -1};  ///< the element that has it; block −1 where nothing was measured
  double smallest_scaled_jacobian = 1;
  ElementRef worst{-1, -1};

  /// Elements by aspect ratio: up to 2, 3, 5, 10, 30, 100, and beyond.
  static constexpr std::array<double, 6> aspect_limits{2, 3, 5, 10, 30, 100};
  std::array<std::int64_t, 7> aspect_histogram{};
  /// Elements by scaled Jacobian: not positive, up to 0.1, up to 0.2, …, up to 1.
  std::array<std::int64_t, 11> jacobian_histogram{};

  /// Elements that are flat, folded or inside out at a corner, in the order of the mesh; the first thousand.
  std::vector<ElementRef> folded;
  std::int64_t folded_count = 0;
};

/// Measures one element; both numbers are 1 for shapes that do not count.
ElementQuality element_quality(const Domain& domain, ElementRef element);

/// Measures all elements.
MeshQuality measure_quality(const Domain& domain);

}  // namespace voussoir
