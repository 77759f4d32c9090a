#pragma once
#include <voussoir/elements/kernel/element_kernel.hpp>
#include <voussoir/elements/kernel/point_kernel.hpp>
#include <voussoir/elements/quadrature/quadrature.hpp>
#include <voussoir/elements/quadrature/shape_table.hpp>
#include <voussoir/elements/shapes/line.hpp>
#include <voussoir/elements/shapes/quadrilateral.hpp>
#include <voussoir/elements/shapes/triangle.hpp>

// Integration over the faces of bodies, for loads. A face of a solid is a triangle or quadrilateral; a face of a plane
// or axisymmetric body is a line. The order of its nodes gives the outward normal: by the right-hand rule for a
// triangle or quadrilateral; to the right of a line traversed from its first node to its second.

namespace voussoir {

/// The quadrature rule of a face. It is exact for a pressure on a curved face and for convection on a flat face with
/// straight edges.
template <class Shape>
struct FaceRule;
template <>
struct FaceRule<Line2> {
  using Rule = GaussLine<2>;
};
template <>
struct FaceRule<Line3> {
  using Rule = GaussLine<3>;
};
template <>
struct FaceRule<Tri3> {
  using Rule = TriangleRule<3>;
};
template <>
struct FaceRule<Tri6> {
  using Rule = TriangleRule<6>;
};
template <>
struct FaceRule<Quad4> {
  using Rule = GaussQuad<2>;
};
template <>
struct FaceRule<Quad8> {
  using Rule = GaussQuad<3>;
};

/// The part of a face around an integration point.
template <class R>
struct FacePiece {
  Vec3<R> area_vector;  ///< its area times the outward normal
  R area;               ///< its area, times the thickness of a plane body or the circumference of an axisymmetric one
  R stretch;            ///< ratio of area (length) to reference area (length); zero for a degenerate face
};

/// A face of an element: its shape, quadrature rule and area at the integration points.
template <class Shape, Geometry geometry>
struct Face {
  static_assert((Shape::dim == 2) == (geometry == Geometry::solid), "faces of solids are areas, those of planes lines");
  using Rule = typename FaceRule<Shape>::Rule;  ///< the quadrature rule
  static constexpr int nodes = Shape::nodes,    ///< nodes per face
      points = Rule::points;                    ///< integration points
  /// Parameters of a load in addition to its own: the thickness of a plane body, which is the last parameter.
  static constexpr int extra_parameters = geometry == Geometry::plane ? 1 : 0;

  /// The shape function of a node at an integration point.
  VSR_FN static double value(int point, int node) { return shape_table<Shape, Rule>().value[point][node]; }

  /// The part of the face around an integration point, times its quadrature weight. `x` are the coordinates of the
  /// nodes; `thickness` is used for plane bodies only.
  template <class R>
  VSR_FN static FacePiece<R> piece(const Vec3<R>* x, int point, R thickness) {
    const auto& table = shape_table<Shape, Rule>();
    Vec3<R> tangent[Shape::dim];
    for (int k = 0; k < Shape::dim; ++k) {
      tangent[k] = zero_vector<R, 3>();
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < 3; ++i) tangent[k][i] += R(table.gradient[point][a][k]) * x[a][i];
    }
    R weight = R(table.weight[point]);
    FacePiece<R> piece;
    if constexpr (geometry == Geometry::solid) {
      piece.area_vector = cross(tangent[0], tangent[1]);
    } else {
      piece.area_vector = {{tangent[0][1], -tangent[0][0], R(0.0)}};
      if constexpr (geometry == Geometry::plane) {
        weight *= thickness;
      } else {
        R radius = R(0.0);
        for (int a = 0; a < nodes; ++a) radius += R(table.value[point][a]) * x[a][0];
        weight *= R(2.0 * 3.14159265358979323846) * radius;
      }
    }
    piece.stretch = sqrt(dot(piece.area_vector, piece.area_vector));
    piece.area = weight * piece.stretch;
    for (int i = 0; i < 3; ++i) piece.area_vector[i] *= weight;
    return piece;
  }
};

}  // namespace voussoir
