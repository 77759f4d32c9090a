#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir::picture {

using Direction = std::array<double, 3>;

inline double dot(const Direction& a, const Direction& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Direction cross(const Direction& a, const Direction& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Direction unit(const Direction& a);

/// What one sees of a domain: the faces that belong to one solid element, plane elements, and lines. Quadratic faces
/// are several polygons, so that their midside nodes are corners too.
struct Surface {
  struct Polygon {
    std::array<std::int32_t, 4> nodes;
    int corners;  // 3 or 4
    std::int32_t block, element;
    unsigned sides;  // bit i: the side from corner i to the next is part of an edge of the element
  };
  struct Edge {
    std::int32_t a, b;
    bool sharp;  // the body has an edge there, or ends
  };
  struct Bar {  // a piece of a line element
    std::int32_t a, b;
    std::int32_t block, element;
  };
  std::vector<Polygon> polygons;
  std::vector<Edge> edges;
  std::vector<Bar> bars;
  /// Normals at the corners of polygons, four per polygon; the surface looks smooth where polygons meet at a small
  /// angle.
  std::vector<Direction> normals;
};

/// Polygons and bars, which do not depend on where the nodes lie; edges and normals are missing.
Surface find_polygons(const Domain& domain);

/// Finds the edges and normals of a surface anew. Nodes lie at `position`, three numbers each.
void find_edges_and_normals(Surface& surface, const std::vector<double>& position);

/// Both of them.
Surface find_surface(const Domain& domain, const std::vector<double>& position);

}  // namespace voussoir::picture
