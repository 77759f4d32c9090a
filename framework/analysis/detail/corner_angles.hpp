#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

// How wide the body opens around a node: angles of plane elements at their corners, and of solids at their edges.

namespace voussoir::detail {

/// A face of the boundary (an edge, of plane models) near a node.
struct NearFace {
  std::vector<std::int32_t> corners;  ///< node indices, in the order of the face
  std::vector<std::int32_t> nodes;    ///< those of its midside nodes too
  std::array<double, 3> normal;       ///< of length 1, outwards
};

/// Elements with an area or a volume around a node, in so many rings.
std::vector<ElementRef> elements_around(const Domain& domain, std::int32_t node, int rings);

/// The part of a mesh around one node.
class Neighbourhood {
 public:
  /// Solids (dim 3) and plane elements (dim 2) at the node and one ring further, out of `pool`, which has all of them.
  Neighbourhood(const Domain& domain, std::int32_t node, const std::vector<ElementRef>& pool);

  int dim() const { return dim_; }  ///< 0 where the node has no element with an area or a volume
  /// Elements at the node.
  const std::vector<ElementRef>& elements() const { return at_node_; }
  /// Faces of the boundary that have the node.
  std::vector<const NearFace*> faces() const;
  /// How far the body bends inwards at the node, in degrees: the angle inside the body at a corner, or at the edges of
  /// a solid that meet there, less 180; 0 where it is convex or flat. Bends of a faceted curve, which its neighbours
  /// have too, are no corners.
  double re_entrant_angle() const;

 private:
  double angle_in_plane(std::int32_t node) const;
  double re_entrant_edge() const;

  const Domain& domain_;
  std::int32_t node_;
  int dim_ = 0;
  std::vector<ElementRef> at_node_, around_;
  std::vector<NearFace> faces_;  // of the boundary, that have a node of an element at the node
};

}  // namespace voussoir::detail
