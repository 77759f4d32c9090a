#pragma once
#include <string_view>

namespace voussoir::deck {

/// Shape functions of a face of an element: an area (tri3, tri6, quad4, quad8) or the edge of a plane element (line2,
/// line3), with its nodes in the order of that shape.
struct FaceShape {
  static constexpr int most_nodes = 8;
  int nodes = 0;
  int dim = 0;            ///< of the reference cell: 2, or 1 for an edge
  bool triangle = false;  ///< the cell is the unit triangle; otherwise [−1, 1] in each direction

  /// Values at a point of the reference cell, and derivatives with respect to its coordinates.
  void values(const double* at, double* n) const;
  void derivatives(const double* at, double (*d)[2]) const;
  /// Adds ∫ N_a dA of a face with corners and middle nodes at x to `area`; for an edge, ∫ N_a ds.
  void add_areas(const double (*x)[3], double* area) const;
};

/// "quad8" and so on; null for names that are no shapes of faces.
const FaceShape* find_face_shape(std::string_view name);

}  // namespace voussoir::deck
