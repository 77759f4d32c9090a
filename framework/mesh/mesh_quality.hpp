#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

// Mesh quality from geometry alone: no material is needed, and nothing is integrated.

namespace voussoir {

/// Shape measures of one element.
struct ElementQuality {
  /// Length of the longest edge over that of the shortest, measured straight from corner to corner: 1 is best. Infinite
  /// if an edge has length 0.
  double aspect_ratio = 1;
  /// The smallest scaled Jacobian over the corners: the Jacobian determinant divided by the product of the lengths of
  /// the edges that meet there, relative to a regular shape. 1 is best; at 0 the element is flat at that corner, below
  /// 0 inside out. Quadratic elements are measured with their curved edges. (Knupp, Algebraic mesh quality metrics,
  /// SIAM J. Sci. Comput. 23, 2001.)
  double scaled_jacobian = 1;
};

/// Shape measures of all elements of a mesh, except lines, springs and masses.
struct MeshQuality {
  std::int64_t measured = 0;  ///< number of elements that were measured

  double largest_aspect_ratio = 1;      ///< over all measured elements
  ElementRef longest{-1, -1};           ///< the element with the largest aspect ratio; block −1 if none was measured
  double smallest_scaled_jacobian = 1;  ///< over all measured elements
  ElementRef worst{-1, -1};  ///< the element with the smallest scaled Jacobian; block −1 if none was measured

  /// Upper limits of the classes of aspect_histogram.
  static constexpr std::array<double, 6> aspect_limits{2, 3, 5, 10, 30, 100};
  /// Number of elements with an aspect ratio up to each of aspect_limits, and beyond the last.
  std::array<std::int64_t, 7> aspect_histogram{};
  /// Number of elements by scaled Jacobian: not positive, up to 0.1, up to 0.2, …, up to 1.
  std::array<std::int64_t, 11> jacobian_histogram{};

  /// The first thousand elements, in the order of the mesh, that are flat or inside out at a corner.
  std::vector<ElementRef> folded;
  std::int64_t folded_count = 0;  ///< number of all such elements
};

/// Measures one element. Both numbers are 1 for lines, springs and masses.
ElementQuality element_quality(const Domain& domain, ElementRef element);

/// Measures all elements of a domain.
MeshQuality measure_quality(const Domain& domain);

}  // namespace voussoir
