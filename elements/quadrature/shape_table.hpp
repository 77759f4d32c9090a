#pragma once
#include <voussoir/elements/quadrature/quadrature.hpp>

// Shape functions at quadrature points are the same for all elements, so that the compiler computes them.

namespace voussoir {

/// Shape functions, their reference gradients and the weights at the points of a rule.
template <class Shape, class Rule>
struct ShapeTable {
  static_assert(Shape::dim == Rule::dim, "a shape and its quadrature rule share a reference cell");
  static constexpr int points = Rule::points,  ///< number of points
      nodes = Shape::nodes,                    ///< number of nodes
      dim = Shape::dim;                        ///< dimension of the reference cell
  double weight[points];                       ///< weights of the rule
  double value[points][nodes];                 ///< N_a at each point
  double gradient[points][nodes][dim];         ///< ∂N_a/∂ξ_k at each point

  /// Evaluates the shape functions at the points.
  static constexpr ShapeTable make() {
    ShapeTable t{};
    const auto q = Rule::make();
    for (int p = 0; p < points; ++p) {
      t.weight[p] = q.weight[p];
      Shape::values(q.xi[p], t.value[p]);
      Shape::gradients(q.xi[p], t.gradient[p]);
    }
    return t;
  }
};

/// The table of a shape and a rule; one copy per program.
template <class Shape, class Rule>
VSR_FN const ShapeTable<Shape, Rule>& shape_table() {
  static constexpr ShapeTable<Shape, Rule> table = ShapeTable<Shape, Rule>::make();
  return table;
}

/// Points and weights of a rule; one copy per program.
template <class Rule>
VSR_FN const QuadraturePoints<Rule::dim, Rule::points>& rule_points() {
  static constexpr QuadraturePoints<Rule::dim, Rule::points> points = Rule::make();
  return points;
}

}  // namespace voussoir
